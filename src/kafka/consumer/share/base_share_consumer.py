"""The base class of the synchronous and the asyncio share consumer, with all methods that do not wait."""

from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Literal, overload

from kafka.cluster.client_health import not_started
from kafka.config import ShareConfig, option_table
from kafka.config.table import values_of
from kafka.consumer.monitoring import consumer_html
from kafka.consumer.records.build_records import Deserializers
from kafka.consumer.share.core import ShareCore
from kafka.consumer.share.materializer import ShareConsumerRecord, ShareMaterializer
from kafka.consumer.share.piece import AcknowledgeType, Piece
from kafka.errors import IllegalArgumentError, IllegalStateError
from kafka.health import Health
from kafka.record import ConsumerRecord
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    from kafka.metrics.kafka_metric import KafkaMetric

CLOSE_TIMEOUT_MS = 30_000
"""Default timeout of `close`."""

CommitCallback = Callable[[dict[TopicPartition, set[int]], Exception | None], Any]
"""Called with the acknowledged offsets by partition, and the error or None."""


class BaseShareConsumer:
    """The methods that do not wait. All except `wakeup` and `metrics` must be called in the polling thread."""

    DEFAULT_CONFIG: ClassVar[dict[str, Any]] = {
        name: row.default for name, row in option_table().items() if "share consumer" in row.clients
    }
    """The options of the client by keyword argument, with their defaults, as in kafka-python."""
    _core: ShareCore
    _servers_given: Any
    _config: ShareConfig

    def _make_parts(self, config: ShareConfig) -> None:
        self._config = config
        options = config.share
        self._deserializers = Deserializers(options.key_deserializer, options.value_deserializer)
        self._materializer = ShareMaterializer(self._deserializers.key, self._deserializers.value)
        self._api_timeout_ms: float = options.default_api_timeout_ms
        self._callback: CommitCallback | None = None
        self._in_a_call = False
        self._rest: Iterator[ShareConsumerRecord] = iter(())
        self._current: Piece | None = None
        self._loaded: deque[Piece] = deque()

    @property
    def _started(self) -> bool:
        return "_runner" in self.__dict__

    @property
    def config(self) -> dict[str, Any]:
        """The options in effect, by name, except those of `kafka.config.SecurityOptions`."""
        config = self._core.config
        options = values_of(config.connection, config.share)
        return {**options, "bootstrap_servers": self._servers_given, "api_version": self._core.client.release}

    def subscription(self) -> set[str]:
        """Return the names of the subscribed topics; an empty set before `subscribe` and after `unsubscribe`."""
        return set(self._core.subscription.topics)

    @overload
    def acknowledge(self, record: ConsumerRecord, type: AcknowledgeType | int = AcknowledgeType.ACCEPT) -> None: ...
    @overload
    def acknowledge(
        self, topic: str, partition: int, offset: int, type: AcknowledgeType | int = AcknowledgeType.ACCEPT
    ) -> None: ...
    def acknowledge(self, *given: Any, **named: Any) -> None:
        """Acknowledge a record from the last `poll()`. The next `poll()` or a commit sends the acknowledgement.

        Instead of a record, you can pass its place: ``acknowledge(topic, partition, offset, type)``. This form can also
        acknowledge the record named by a `RecordDeserializationError`; without that, the record is released.

        Arguments:
            record: the record.
            topic, partition, offset: the place of the record, instead of ``record``.
            type: what is to become of the record.

        Raises `IllegalStateError` if ``share_acknowledgement_mode`` is 'implicit', and for a record that this
        consumer does not have, or has already acknowledged; `IllegalArgumentError` for an unknown type.
        """
        self._check_mine()
        if self._core.is_implicit:
            raise IllegalStateError(
                "acknowledge() requires share_acknowledgement_mode='explicit': with 'implicit' the next poll() "
                "accepts all records"
            )
        by_place = "topic" in named or (given and isinstance(given[0], str))
        topic, partition, offset, said = (_by_place if by_place else _by_record)(*given, **named)
        self._core.in_flight.acknowledge(topic, partition, offset, _checked_type(said))

    def commit_async(self) -> None:
        """Send acknowledgements without waiting. With 'implicit', accept all returned records.

        The result is passed to the callback set with `set_acknowledgement_commit_callback`.
        """
        self._check_mine()
        self._settle()
        self._core.send_acknowledgements()

    def set_acknowledgement_commit_callback(self, callback: CommitCallback | None) -> None:
        """Set a ``callback(offsets, error)`` that receives the result of acknowledgements for each partition.

        Arguments:
            callback: receives a dict of `TopicPartition` to sets of offsets, and an error or None. It runs within
                `poll()`, `commit()` and `close()`, and may not call the consumer. None: no callback. For
                `AsyncKafkaShareConsumer` it may be a coroutine function.
        """
        self._check_mine()
        if callback is not None and not callable(callback):
            raise TypeError(f"callback must be a callable or None, not {callback!r}")
        self._callback = callback
        self._core.fetcher.wants_outcomes = callback is not None
        if callback is None:
            self._core.fetcher.outcomes.clear()

    def acquisition_lock_timeout_ms(self) -> int | None:
        """Return how long records are locked for this consumer, as last reported by a broker; None if not reported."""
        return self._core.fetcher.lock_timeout_ms

    @overload
    def metrics(self, raw: Literal[False] = False) -> dict[str, dict[str, float]]: ...
    @overload
    def metrics(self, raw: bool) -> dict[Any, Any]: ...
    def metrics(self, raw: bool = False) -> dict[Any, Any]:
        """Return the current metric values by group and name; empty with ``metrics_enabled=False``. Thread-safe.

        Arguments:
            raw: True returns `KafkaMetric` objects by their `MetricName` instead.
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
            return not_started(self._config.connection.client_id)
        return self._core.health()

    def wakeup(self) -> None:
        """Make the current `poll()` or iteration raise `WakeupError`, or the next one if there is none.

        The error is raised once and no records are lost; the next call returns them. Records returned earlier are
        accepted, or must be acknowledged, as with any other call. Any thread may call this, and so may a signal
        handler. Java: ``wakeup``.
        """
        self._core.events.wake()

    def _repr_html_(self) -> str:
        """Return HTML for notebooks that shows health and topics. Thread-safe; sends no requests."""
        options, read = self._config, self._core.subscription if self._started else None
        return consumer_html(type(self).__name__, self.health(), options.connection, options.share.group_id, read)

    def __getstate__(self) -> object:
        raise TypeError(
            f"a {type(self).__name__} owns connections and locks, so it cannot be pickled or copied: create one where "
            "it is needed, for example in each process"
        )

    # Internals --------------------------------------------------------------------------------------------------------

    def _settle(self) -> None:
        """In implicit mode, accept the returned records, but not those that iteration has yet to return."""
        self._stop_iteration()
        core = self._core
        core.in_flight.put_back(core.decoded)
        if core.is_implicit:
            core.in_flight.accept_all()

    def _stop_iteration(self) -> None:
        """Stop iteration; the caller puts back the records that iteration has taken but not returned."""
        self._rest = iter(())
        self._current = None
        self._loaded.clear()

    def _check_mine(self) -> None:
        """Raise `IllegalStateError` if the consumer is closed or another call is in progress."""
        self._core.check_open()
        if self._in_a_call:
            raise IllegalStateError(
                "a share consumer was called during another of its calls, by another task or thread or by a "
                "callback: the records it has received would be acknowledged too early"
            )


def _by_record(record: ConsumerRecord, type: Any = AcknowledgeType.ACCEPT) -> tuple[str, int, int, Any]:
    if not isinstance(record, ConsumerRecord):
        raise TypeError(f"acknowledge() takes a record, or topic, partition and offset, not {record!r:.100}")
    return record.topic, record.partition, record.offset, type


def _by_place(topic: str, partition: int, offset: int, type: Any = AcknowledgeType.ACCEPT) -> tuple[str, int, int, Any]:
    return topic, partition, offset, type


def _checked_type(given: AcknowledgeType | int) -> AcknowledgeType:
    try:
        return AcknowledgeType(given)
    except ValueError:
        known = ", ".join(f"AcknowledgeType.{kind.name}" for kind in AcknowledgeType)
        raise IllegalArgumentError(f"an acknowledgement type must be one of {known}, not {given!r}") from None
