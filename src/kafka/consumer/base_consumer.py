"""The base class of the synchronous and the asyncio consumer, with all methods that do not wait."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, overload

from kafka.cluster.client_health import not_started
from kafka.cluster.kafka_python_client import InnerName
from kafka.config import ConsumerConfig, option_table
from kafka.config.table import values_of
from kafka.consumer.arguments import check_offset, check_offsets, check_partition
from kafka.consumer.buffer.partition_state import PartitionState, current_lag
from kafka.consumer.commit.commit_future import CommitFuture
from kafka.consumer.core import ConsumerCore
from kafka.consumer.monitoring import consumer_html
from kafka.consumer.position.special_timestamps import EARLIEST, LATEST
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
"""How long `assignment()` and `paused()` may look up topics. Programs call them at any time, expecting no delay."""
CLOSE_TIMEOUT_MS = 30_000
"""Default timeout of `close`."""

COLUMNS_BYTES = 8 * 1024 * 1024
"""The number of fetched bytes that one call decodes to columns; the rest stays in the buffer until the next call."""


def found_or_none(
    found: Mapping[TopicPartition, OffsetAndTimestamp],
) -> dict[TopicPartition, OffsetAndTimestamp | None]:
    """Return the result of a timestamp lookup: None for a partition without a record at or after its timestamp."""
    return {tp: each if each.offset >= 0 else None for tp, each in found.items()}


class BaseConsumer:
    """The methods that do not wait. All but `wakeup`, `health` and `metrics` must be called in the polling thread."""

    DEFAULT_CONFIG: ClassVar[dict[str, Any]] = {
        name: row.default for name, row in option_table().items() if "consumer" in row.clients
    }
    """The options of the client by keyword argument, with their defaults, as in kafka-python."""
    _closed = InnerName(lambda consumer: consumer._started and consumer._core.closed)
    """Whether the consumer is closed, for programs that read this attribute of kafka-python's consumer."""
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
        """The options in effect, by name, except those of `kafka.config.SecurityOptions`.

        ``bootstrap_servers`` has its original form; ``api_version`` is the brokers' version once one is connected.
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
        """Subscribe to topics; the group assigns their partitions. Replaces any earlier subscription.

        No request is sent before the next `poll()`.

        Without a ``group_id``, the consumer takes all partitions of the topics.

        Arguments:
            topics: topic names; None if there is a pattern.
            pattern: instead of names, a regular expression that matches the beginning of names; topics that are created
                later are found when the metadata is refreshed (``metadata_max_age_ms``). The coordinator evaluates a
                `SubscriptionPattern`, which may also be passed as ``topics``; it requires
                ``group_protocol='consumer'``.
            listener: called when partitions are assigned and revoked.

        Raises `IllegalStateError` after `assign`, or if both or neither of topics and pattern are given; `TypeError`
        for an invalid listener; `IllegalArgumentError` for an invalid name or pattern.
        """
        self._check_open()
        if listener is not None and not isinstance(listener, self._listener_types):
            kinds = " or ".join(kind.__name__ for kind in self._listener_types)
            raise TypeError(f"a listener must be a {kinds}, not {type(listener).__name__}")
        if isinstance(topics, SubscriptionPattern):
            if pattern is not None:
                raise IllegalStateError("subscribe() takes one pattern, not two")
            pattern, topics = topics, ()
        group = self._core.config.group
        if isinstance(pattern, SubscriptionPattern) and (group.group_protocol != "consumer" or group.group_id is None):
            raise IllegalStateError(
                "a SubscriptionPattern is evaluated by the coordinator of a group with group_protocol='consumer'; a "
                "Python regular expression works with every protocol: subscribe(pattern='...')"
            )
        self._core.subscription.subscribe(() if topics is None else topics, pattern, listener)
        self._core.subscribed()

    def subscription(self) -> set[str] | None:
        """Return the subscribed topics, or those that currently match the pattern; None without a subscription."""
        return self._core.subscription.subscription

    def assignment(self) -> set[TopicPartition]:
        """Return the partitions that are assigned to this consumer.

        With a group, `poll()` assigns them. Without a group, they are assigned as soon as the metadata for the topics
        is known. If this call may wait, it looks up the metadata, once and for at most five seconds.
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
            offsets: as in `commit`.
            callback: called as ``callback(offsets, None or the error)`` from within a later `poll()`, `commit()` or
                `close()`, which waits for the commit; None: ``default_offset_commit_callback``.

        The commit is sent once. A transient error results in a `RetriableCommitFailedError`; the program can then
        commit the offsets that it has processed by that time.

        Returns a future of the result; wait for it with ``get()`` or, on an event loop, with ``await``. A failure is
        logged if there is no callback and the result is never retrieved.
        """
        self._check_open()
        chosen = self._core.consumed_offsets() if offsets is None else self._core.given_offsets(check_offsets(offsets))
        return self._core.commits.commit_later(chosen, callback, self._api_timeout_ms)

    def group_metadata(self) -> ConsumerGroupMetadata:
        """Return this consumer's group membership, for `KafkaProducer.send_offsets_to_transaction` (KIP-447).

        Call it after the `poll()` that returned the records, and before the next one. The coordinator then refuses
        their offsets if the group has assigned the partitions to another member in the meantime, even if this one has
        lost its membership. ``generation_id`` is -1 before the group is joined, and for manually assigned partitions,
        which have no membership to check; with the KIP-848 protocol, it is the member's epoch. Without a ``group_id``,
        the group id is None.
        """
        self._check_open()
        return self._core.commits.group_metadata()

    def seek(self, partition: TopicPartition, offset: int) -> None:
        """Make the next `poll()` read from ``offset``.

        Raises `IllegalStateError` for a partition that is not assigned, and `IllegalArgumentError` for an offset that
        is not a non-negative int64.
        """
        self._core.seek(self._assigned(partition), check_offset(offset))

    def seek_to_beginning(self, *partitions: TopicPartition) -> None:
        """Read from the start of the log, which is looked up when needed. Default: all assigned partitions."""
        self._reset(partitions, EARLIEST)

    def seek_to_end(self, *partitions: TopicPartition) -> None:
        """Read from the end of the log, which is looked up when needed. Default: all assigned partitions."""
        self._reset(partitions, LATEST)

    def pause(self, *partitions: TopicPartition) -> None:
        """Stop returning records from these partitions until `resume`. The membership and the positions are kept."""
        for state in [self._assigned(tp) for tp in partitions]:
            self._core.pause(state)

    def resume(self, *partitions: TopicPartition) -> None:
        """Return records from these partitions again, after `pause`, from their positions on. Java: ``resume()``."""
        for state in [self._assigned(tp) for tp in partitions]:
            self._core.resume(state)

    def paused(self) -> set[TopicPartition]:
        """Return the assigned partitions that `pause` has paused and `resume` has not resumed. Java: ``paused()``."""
        self._take_ahead(ASSIGNMENT_WAIT_MS)
        return {state.tp for state in self._core.subscription.states() if state.paused}

    def highwater(self, partition: TopicPartition) -> int | None:
        """Return the offset after the last record that consumers may see, as of the last fetch; None before any fetch.

        Arguments:
            partition: an assigned partition.
        """
        return self._assigned(partition).fetching.highwater

    def current_lag(self, partition: TopicPartition) -> int | None:
        """Return the number of offsets between the position and the end, as of the last fetch (KIP-695).

        Sends no request. With ``isolation_level="read_committed"`` the end is the last stable offset, otherwise the
        high watermark. Not every offset has a record. Records written while the partition is paused or its buffer is
        full are only counted after the next fetch. The result is None if the position or the end is unknown, such as
        before the first fetch response. Java: ``currentLag``.

        Arguments:
            partition: an assigned partition.

        Raises `IllegalStateError` for a partition that is not assigned.
        """
        return current_lag(self._assigned(partition), self._parsed.fetch.isolation_level == "read_committed")

    @overload
    def metrics(self, raw: Literal[False] = False) -> dict[str, dict[str, float]]: ...
    @overload
    def metrics(self, raw: bool) -> dict[Any, Any]: ...
    def metrics(self, raw: bool = False) -> dict[Any, Any]:
        """Return the current metric values by group and name; empty with ``metrics_enabled=False``. Thread-safe.

        Arguments:
            raw: True returns `KafkaMetric` objects by their `MetricName` instead, including those of individual topics
                and partitions.
        """
        return self._core.metrics.registered() if raw else self._core.metrics.snapshot()

    def register_metric_for_subscription(self, metric: "KafkaMetric") -> None:
        """Push a metric of the program to brokers along with the client's own, if they subscribe to it (KIP-1076).

        Brokers receive it under a name that consists of "org.apache.kafka", the group and the name, joined by dots. A
        `kafka.metrics.stats.Total` is pushed as a sum, any other metric as a gauge. A metric with the same `MetricName`
        as one of the client's own metrics is ignored. Any thread may call this.

        Raises `TypeError` for anything but a `KafkaMetric`.
        """
        self._core.telemetry.register(metric)

    def unregister_metric_from_subscription(self, metric: "KafkaMetric") -> None:
        """Stop pushing a metric. Any thread may call this.

        Arguments:
            metric: the metric passed to `register_metric_for_subscription`.
        """
        self._core.telemetry.unregister(metric)

    def health(self) -> Health:
        """Return the state of the consumer; see `Health`.

        Any thread may call this at any time; it neither waits nor raises.
        """
        if not self._started:
            return not_started(self._parsed.connection.client_id)
        return self._core.health.report(self._core.closed)

    def wakeup(self) -> None:
        """Make the current `poll()` or iteration raise `WakeupError`, or the next one if there is none.

        The error is raised once and leaves the positions unchanged; the next call continues. An iteration first returns
        the records that it has loaded. Any thread may call this, and so may a signal handler. Java: ``wakeup``.
        """
        self._core.events.wake()

    def enforce_rebalance(self, reason: str | None = None) -> None:
        """Make the group rebalance with the next `poll()`, for example if an assignor would decide differently now.

        With the KIP-848 group protocol, this only logs a warning, because the coordinator assigns the partitions
        (KIP-568, KIP-800).

        Arguments:
            reason: the reason to log, on the client and the broker.

        Raises `IllegalStateError` without a ``group_id``.
        """
        self._check_open()
        self._core.enforce_rebalance(reason or "the program asked for a rebalance")

    def _repr_html_(self) -> str:
        """Return HTML for notebooks that shows health and positions. Thread-safe; sends no requests."""
        return self._shown_as(type(self).__name__)

    def plot_lag(self) -> "Figure":
        """Plot the lag of each assigned partition as a bar chart for notebooks.

        The lag is as of the last fetches, so this sends no requests. Only the twenty partitions with the largest lag
        are drawn; the title contains the total. Requires the extra "plot".

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
        """Without a group, assign the partitions of known topics before the first `poll()`.

        Arguments:
            timeout_ms: how long to look up the topics, if the call may wait; None: `default_api_timeout_ms`.
        """
        if not self._poll_loop.poll_guard.is_polling:
            self._core.take_ahead()

    def _topics_unknown(self) -> bool:
        """Return whether to look up topics for `_take_ahead`, which happens once for each subscription."""
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
            raise AssertedStateError("no partitions are assigned, so there is none to seek in")
        for state in states:
            self._core.reset(state, timestamp)

    def _check_open(self) -> None:
        if self._core.closed:
            raise IllegalStateError("the consumer is closed")
