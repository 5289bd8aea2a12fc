"""The synchronous producer, with the names, arguments and defaults of kafka-python."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar

from kafka.config import option_table, parse_producer
from kafka.net import LoopThread
from kafka.net.worker import WorkerThread
from kafka.producer import lifetime
from kafka.producer.core import ProducerCore
from kafka.producer.intake.appender import Append, RecordSender
from kafka.producer.intake.blocked import Blocked, NeedsMemory, NeedsTopic
from kafka.producer.options import client_configs
from kafka.producer.outcome.future import FutureRecordMetadata

if TYPE_CHECKING:
    import types

    from kafka.producer.arrow.sender import FutureArrowResult


class KafkaProducer(RecordSender):
    """Sends records to a cluster. Thread-safe: one producer for many threads is better than many.

    Every option is a keyword argument; `kafka.config` lists them with defaults and units. By default a record is
    acknowledged by every in-sync replica (``acks='all'``), is never written twice (idempotence, KIP-98), and is tried
    until `delivery_timeout_ms` is over. Records of a partition stay in the order in which they were sent.

    `send` only buffers. A record that cannot be delivered fails its future; if nobody looks at that, it is logged, and
    `flush` raises it.

    Arguments:
        configs: options, see `kafka.config.ProducerOptions`, `ConnectionOptions` and `SecurityOptions`.

    Raises `KafkaConfigurationError` for options that are unknown or do not go together, `NoBrokersAvailable` if no
    bootstrap server answers within `bootstrap_timeout_ms`.
    """

    DEFAULT_CONFIG: ClassVar[dict[str, Any]] = {
        name: row.default for name, row in option_table().items() if "producer" in row.clients
    }

    def __init__(self, **configs: Any) -> None:
        config = parse_producer(client_configs(configs))
        self.config: dict[str, Any] = {
            field.name: getattr(part, field.name)
            for part in (config.connection, config.producer)
            for field in dataclasses.fields(part)
        }
        self._thread = LoopThread.shared()
        callbacks = WorkerThread(f"kafka-callbacks-{config.connection.client_id}")
        self._core = ProducerCore(config, self._thread.loop, callbacks=callbacks)
        self._appender = self._core.appender
        lifetime.keep(self._core, self._thread)
        try:
            self._thread.run(self._core.start())
        except BaseException:
            lifetime.drop(self._core)
            raise

    def send_arrow(self, topic: str, data: Any) -> FutureArrowResult:
        """Send every row of an Arrow table or batch as a record, without making an object a row.

        The rows are encoded here and now; what does not fit into `buffer_memory` waits, as in `send`. Rows of one
        partition keep their order, also among records sent before and after.

        Arguments:
            topic: where the records go.
            data: a `pyarrow.Table` or `RecordBatch`, anything with ``__arrow_c_stream__`` (a polars or pandas
                DataFrame, a `RecordBatchReader`) or ``__arrow_c_array__``, or a dict of columns. Its columns are
                `value` (binary or text) and, optionally, `key` (likewise), `headers` (list of structs of `key` and
                `value`), `partition` (integer; null lets the partitioner choose) and `timestamp` (timestamp, or
                milliseconds since 1970-01-01 UTC). What `poll_arrow()` gives besides is passed over, so that its
                batches can be sent as they are. Serializers and a user's partitioner do not apply.

        Returns a future of an `ArrowResult`, for all rows together. Raises as `send`; `ImportError` without pyarrow.
        """
        from kafka.producer.arrow.sender import ArrowSender

        if topic not in self._core.buffer.topics:
            self._thread.run(self._core.find_topic(topic))
        return ArrowSender(self._core, self._thread.loop, topic, data).send_blocking()

    def flush(self, timeout: float | None = None) -> None:
        """Send everything that is buffered now, without lingering, and wait until it is delivered or has failed.

        Arguments:
            timeout: longest wait in seconds; None waits for as long as it takes, `delivery_timeout_ms` at the most.

        Raises `KafkaTimeoutError` when the time is up. If records have failed since the last call and nobody has looked
        at their futures, raises the first of these failures, with the number of all.
        """
        self._thread.run(self._core.flush(timeout, WorkerThread.is_current()))

    def close(self, timeout: float | None = None, null_logger: bool = False) -> None:
        """Send what is buffered, wait for it, and close the connections. A second call does nothing.

        Arguments:
            timeout: longest wait for deliveries in seconds; records that are not acknowledged by then fail with
                `KafkaTimeoutError`. None waits for as long as it takes, `delivery_timeout_ms` at the most.
            null_logger: no effect; kept for kafka-python's sake.
        """
        try:
            self._thread.run(self._core.close(timeout, WorkerThread.is_current()))
        finally:
            lifetime.release(self._core)

    def partitions_for(self, topic: str) -> set[int]:
        """All partitions of a topic, waiting for its metadata if need be. Raises as `send`."""
        return set(range(self._thread.run(self._core.find_topic(topic))))

    def bootstrap_connected(self) -> bool:
        """Whether the cluster has been found; always true of a producer that was made, as that raises otherwise."""
        return bool(self._core.cluster.metadata.brokers())

    def metrics(self, raw: bool = False) -> dict[str, dict[str, float]]:
        """Numbers about this producer, by group and name.

        Arguments:
            raw: no effect; kept for kafka-python's sake.
        """
        return self._core.metrics.snapshot()

    @classmethod
    def max_usable_produce_magic(cls, api_version: tuple[int, ...]) -> int:
        """The newest format of record batches that brokers of a version take: 0, 1 or 2."""
        return 2 if api_version >= (0, 11) else 1 if api_version >= (0, 10) else 0

    def __enter__(self) -> KafkaProducer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: types.TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        core = getattr(self, "_core", None)
        if core is not None:
            lifetime.drop(core)

    def _send_when_possible(
        self,
        reason: Blocked,
        topic: str,
        value: Any,
        key: Any,
        headers: Any,
        partition: int | None,
        timestamp_ms: int | None,
    ) -> FutureRecordMetadata:
        """Wait for the topic or for memory."""
        append: Append = self._core.appender.append
        blocked = reason
        while True:
            try:
                if isinstance(blocked, NeedsTopic):
                    self._thread.run(self._core.find_topic(blocked.topic, blocked.partition))
                    return append(topic, value, key, headers, partition, timestamp_ms)
                assert isinstance(blocked, NeedsMemory)
                self._core.acquire_blocking(blocked.amount)
                return self._core.buffer.append(blocked.record, blocked.amount)
            except Blocked as again:
                blocked = again.with_traceback(None)
