"""What the synchronous and the asyncio consumer have in common: everything that does not wait."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, overload

from kafka.cluster.client_health import not_started
from kafka.cluster.polled_client import InnerName
from kafka.config import ConsumerConfig, option_table
from kafka.config.table import values_of
from kafka.consumer.arguments import check_offset, check_offsets, check_partition
from kafka.consumer.buffer.partition_state import PartitionState, current_lag
from kafka.consumer.commit.commit_future import CommitFuture
from kafka.consumer.core import ConsumerCore
from kafka.consumer.monitoring import consumer_html
from kafka.consumer.position.offset_requests import EARLIEST, LATEST
from kafka.consumer.subscription.subscription_state import Listener
from kafka.display import check_matplotlib
from kafka.errors import AssertedStateError, IllegalStateError
from kafka.health import Health
from kafka.structs import (
    ConsumerGroupMetadata,
    OffsetAndMetadata,
    OffsetAndTimestamp,
    SubscriptionPattern,
    TopicPartition,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kafka.consumer._async.poll_loop import AsyncPollLoop
    from kafka.consumer._sync.poll_loop import PollLoop
    from kafka.metrics.kafka_metric import KafkaMetric

ASSIGNMENT_WAIT_MS = 5_000
"""How long `assignment()` and `paused()` look topics up: programs ask them at any time, and expect no wait."""
CLOSE_TIMEOUT_MS = 30_000
"""How long closing may take where the caller does not say."""

COLUMNS_BYTES = 8 * 1024 * 1024
"""How many fetched bytes one call opens for columns; more stay in the buffer while these are worked on."""


def found_or_none(
    found: Mapping[TopicPartition, OffsetAndTimestamp],
) -> dict[TopicPartition, OffsetAndTimestamp | None]:
    """The result of a lookup by time, with None where no record is as late."""
    return {tp: each if each.offset >= 0 else None for tp, each in found.items()}


class BaseConsumer:
    """The methods that do not wait. All but `wakeup`, `health` and `metrics` belong to the thread that polls."""

    DEFAULT_CONFIG: ClassVar[dict[str, Any]] = {
        name: row.default for name, row in option_table().items() if "consumer" in row.clients
    }
    _closed = InnerName(lambda consumer: consumer._started and consumer._core.closed)
    """Whether it is closed, for programs that ask kafka-python's consumer."""
    _listener_types: ClassVar[tuple[type, ...]]
    _core: ConsumerCore
    _poll_loop: "PollLoop | AsyncPollLoop"
    _servers_given: Any
    _parsed: ConsumerConfig
    _api_timeout_ms: float
    _look_up_timeout_ms: float

    @property
    def _started(self) -> bool:
        return "_poll_loop" in self.__dict__

    @property
    def config(self) -> dict[str, Any]:
        """The options in effect, by name, without those of `kafka.config.SecurityOptions`.

        ``bootstrap_servers`` is as it was given; ``api_version`` is that of the brokers once one is connected.
        """
        config = self._core.config
        options = values_of(config.connection, config.fetch, config.group, config.consumer)
        return {**options, "bootstrap_servers": self._servers_given, "api_version": self._core.client.release}

    def subscribe(
        self,
        topics: Iterable[str] | SubscriptionPattern | None = (),
        pattern: str | re.Pattern[str] | SubscriptionPattern | None = None,
        listener: Listener | None = None,
    ) -> None:
        """Have the group assign partitions; replaces an earlier subscription. Nothing is sent before the next `poll()`.

        Without a ``group_id`` the consumer takes all partitions of the topics.

        Arguments:
            topics: names of topics; None where there is a pattern.
            pattern: instead of names, a regular expression that names have to begin with a match of; topics that are
                created later are found as metadata are refreshed (``metadata_max_age_ms``). A `SubscriptionPattern`,
                also in the place of topics, is matched by the coordinator; it needs ``group_protocol='consumer'``.
            listener: told when partitions come and go.

        Raises `IllegalStateError` after `assign`, or where both or none of topics and a pattern are given; `TypeError`
        for a listener that is none; `IllegalArgumentError` for a name or a pattern that cannot be one.
        """
        self._check_open()
        if listener is not None and not isinstance(listener, self._listener_types):
            kinds = " or ".join(kind.__name__ for kind in self._listener_types)
            raise TypeError(f"a listener is a {kinds}, not {type(listener).__name__}")
        if isinstance(topics, SubscriptionPattern):
            if pattern is not None:
                raise IllegalStateError("subscribe() takes one pattern, not two")
            pattern, topics = topics, ()
        group = self._core.config.group
        if isinstance(pattern, SubscriptionPattern) and (group.group_protocol != "consumer" or group.group_id is None):
            raise IllegalStateError(
                "a SubscriptionPattern is matched by the coordinator of a group with group_protocol='consumer'; a "
                "Python regular expression works with every protocol: subscribe(pattern='...')"
            )
        self._core.subscription.subscribe(() if topics is None else topics, pattern, listener)
        self._core.subscribed()

    def subscription(self) -> set[str] | None:
        """The topics subscribed to, or that match the pattern now; None without a subscription."""
        return self._core.subscription.subscription

    def assignment(self) -> set[TopicPartition]:
        """The partitions that this consumer reads now.

        A subscription of a group gives them during `poll()`; without a group they are there as soon as the metadata of
        the topics are, which are looked up for this, once and for at most five seconds, where the call may wait.
        """
        self._take_ahead(ASSIGNMENT_WAIT_MS)
        return self._core.subscription.assigned_partitions()

    def commit_async(
        self,
        offsets: Mapping[TopicPartition, OffsetAndMetadata] | None = None,
        callback: Callable[[Mapping[TopicPartition, OffsetAndMetadata], Any], Any] | None = None,
    ) -> CommitFuture:
        """Commit offsets to the group without waiting.

        Arguments:
            offsets: as for `commit`.
            callback: called as ``callback(offsets, None or the error)`` from within a later `poll()`, `commit()` or
                `close()`, which waits for the commit; None: ``default_offset_commit_callback``.

        It is sent once. Where it fails for a cause that passes, the outcome is a `RetriableCommitFailedError`: commit
        again, what was processed by then.

        Returns the outcome to come, to wait for with ``get()`` or, on an event loop, with ``await``. A failure that has
        no callback and was not asked for is logged.
        """
        self._check_open()
        chosen = self._core.consumed_offsets() if offsets is None else self._core.given_offsets(check_offsets(offsets))
        return self._core.commits.commit_later(chosen, callback, self._api_timeout_ms)

    def group_metadata(self) -> ConsumerGroupMetadata:
        """This consumer's membership in its group, for `KafkaProducer.send_offsets_to_transaction` (KIP-447).

        Ask for it after the `poll()` whose records the offsets are of, and before the next: the coordinator then
        refuses the offsets if the group has given the partitions to another member meanwhile, also where this one has
        lost its membership. Its ``generation_id`` is -1 before the group is joined, and for partitions assigned by
        hand, where there is no membership to check; in the protocol of KIP-848 it is the member's epoch. Without a
        ``group_id`` that of the metadata is None.
        """
        self._check_open()
        return self._core.commits.group_metadata()

    def seek(self, partition: TopicPartition, offset: int) -> None:
        """Read on from ``offset`` at the next `poll()`.

        Raises `IllegalStateError` for a partition that is not assigned, `IllegalArgumentError` for an offset that is no
        int64 from 0.
        """
        self._core.seek(self._assigned(partition), check_offset(offset))

    def seek_to_beginning(self, *partitions: TopicPartition) -> None:
        """Read on from the start of the log, of all assigned partitions if none are given; looked up when needed."""
        self._reset(partitions, EARLIEST)

    def seek_to_end(self, *partitions: TopicPartition) -> None:
        """Read on from the end of the log, of all assigned partitions if none are given; looked up when needed."""
        self._reset(partitions, LATEST)

    def pause(self, *partitions: TopicPartition) -> None:
        """Hand out nothing of these partitions until `resume`, without leaving the group or losing the position."""
        for state in [self._assigned(tp) for tp in partitions]:
            self._core.pause(state)

    def resume(self, *partitions: TopicPartition) -> None:
        """Hand out these partitions again."""
        for state in [self._assigned(tp) for tp in partitions]:
            self._core.resume(state)

    def paused(self) -> set[TopicPartition]:
        """The partitions that are paused."""
        self._take_ahead(ASSIGNMENT_WAIT_MS)
        return {state.tp for state in self._core.subscription.states() if state.paused}

    def highwater(self, partition: TopicPartition) -> int | None:
        """The offset after the last record that consumers may see, as the last fetch told; None before the first.

        Arguments:
            partition: one that is assigned.
        """
        return self._assigned(partition).fetching.highwater

    def current_lag(self, partition: TopicPartition) -> int | None:
        """How many offsets the position is behind the end that the last fetch told. Java: ``currentLag`` (KIP-695).

        It asks no broker. With ``isolation_level="read_committed"`` the end is the last stable offset, else the high
        watermark. Not every offset has a record. What is written while the partition is paused, or its buffer full, is
        not counted before the next fetch. None where the position or the end is not known yet, as before the first
        answer to a fetch.

        Arguments:
            partition: one that is assigned.

        Raises `IllegalStateError` for a partition that is not assigned.
        """
        return current_lag(self._assigned(partition), self._parsed.fetch.isolation_level == "read_committed")

    @overload
    def metrics(self, raw: Literal[False] = False) -> dict[str, dict[str, float]]: ...
    @overload
    def metrics(self, raw: bool) -> dict[Any, Any]: ...
    def metrics(self, raw: bool = False) -> dict[Any, Any]:
        """Present values by group and name; nothing with ``metrics_enabled=False``. Any thread may call this.

        Arguments:
            raw: True gives `KafkaMetric` objects by their `MetricName` instead, those of single topics and partitions
                too.
        """
        return self._core.metrics.registered() if raw else self._core.metrics.snapshot()

    def register_metric_for_subscription(self, metric: "KafkaMetric") -> None:
        """Push a metric of the program's own to brokers along with the client's, where they subscribe to it (KIP-1076).

        Its name there is "org.apache.kafka", group and name with dots; a `kafka.metrics.stats.Total` is a sum, all else
        a gauge. One with the `MetricName` of a metric of the client is passed over. Any thread may call this.

        Raises `TypeError` for what is no `KafkaMetric`.
        """
        self._core.telemetry.register(metric)

    def unregister_metric_from_subscription(self, metric: "KafkaMetric") -> None:
        """Push it no longer. Any thread may call this.

        Arguments:
            metric: what `register_metric_for_subscription` was given.
        """
        self._core.telemetry.unregister(metric)

    def health(self) -> Health:
        """How the consumer is, see `Health`. Any thread may call this, at any time; it neither waits nor raises."""
        if not self._started:
            return not_started(self._parsed.connection.client_id)
        return self._core.health.report(self._core.closed)

    def wakeup(self) -> None:
        """Have the `poll()` or the iteration that is waiting, or else the next one, raise `WakeupError`.

        It raises once, and takes nothing: no position moves, and the next call goes on. An iteration has handed out the
        records that it holds before. Any thread may call this, also a signal's handler. Java: ``wakeup``.
        """
        self._core.events.wake()

    def enforce_rebalance(self, reason: str | None = None) -> None:
        """Have the group rebalance with the next `poll()`, for example because an assignor would decide otherwise now.

        In a group of the protocol of KIP-848 it does nothing but warn, as the coordinator assigns (KIP-568, KIP-800).

        Arguments:
            reason: for the logs of both sides.

        Raises `IllegalStateError` without a ``group_id``.
        """
        self._check_open()
        self._core.enforce_rebalance(reason or "the program asked for a rebalance")

    def _repr_html_(self) -> str:
        """What a notebook shows of the consumer: its health, and where it reads. In any thread; asks no broker."""
        return self._shown_as(type(self).__name__)

    def plot_lag(self) -> "Figure":
        """How far the consumer is behind, as a figure that notebooks show: a bar for each partition assigned.

        The ends are those that fetches have told, so it asks no broker. Of many partitions the twenty that lag most are
        drawn; the title has the sum of all. Needs the extra "plot".

        Raises `ImportError` without matplotlib.
        """
        check_matplotlib("plot_lag()")
        from kafka.display.figures import lag_figure

        self._check_open()
        known = self.health().lag
        states = sorted(self._core.subscription.states(), key=lambda state: state.tp)
        lags = {f"{state.tp.topic}-{state.tp.partition}": known.get(state.tp) for state in states}
        return lag_figure(self._parsed.connection.client_id or type(self).__name__, lags)

    def _shown_as(self, kind: str) -> str:
        options, read = self._parsed, self._core.subscription if self._started else None
        return consumer_html(kind, self.health(), options.connection, options.group.group_id, read)

    def __getstate__(self) -> object:
        raise TypeError(
            f"a {type(self).__name__} owns connections and positions, so it cannot be pickled or copied: create one "
            "where it is needed, for example in each process"
        )

    def _take_ahead(self, timeout_ms: float | None = None) -> None:
        """Without a group the partitions are there before the first `poll()`, as far as the topics are known.

        Arguments:
            timeout_ms: how long the topics may be looked up, where the call may wait; None: `default_api_timeout_ms`.
        """
        if not self._poll_loop.poll_guard.is_polling:
            self._core.take_ahead()

    def _topics_unknown(self) -> bool:
        """Whether topics are to be looked up, once for each subscription, so that `_take_ahead` can take them."""
        return not self._poll_loop.poll_guard.is_polling and self._core.topics_unknown()

    def _assigned(self, tp: TopicPartition) -> PartitionState:
        self._check_open()
        self._take_ahead()
        return self._core.subscription.assigned(check_partition(tp))

    def _reset(self, partitions: Iterable[TopicPartition], timestamp: int) -> None:
        self._check_open()
        wanted = list(partitions)
        if not wanted:
            self._take_ahead()
        states = [self._assigned(tp) for tp in wanted] if wanted else self._core.subscription.states()
        if not states:
            raise AssertedStateError("no partitions are assigned to seek in")
        for state in states:
            self._core.reset(state, timestamp)

    def _check_open(self) -> None:
        if self._core.closed:
            raise IllegalStateError("the consumer is closed")
