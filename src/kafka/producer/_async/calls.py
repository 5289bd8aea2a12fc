"""The methods of a producer other than `send()`; the producer's runner determines how they wait."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NoReturn, overload

from kafka._variant import is_free_threaded
from kafka.producer._async.transaction_calls import AsyncTransactionCalls
from kafka.producer.appending.appender import Append
from kafka.producer.appending.checks import (
    Blocked,
    NeedsMemory,
    NeedsTopic,
    PartitionGone,
    checked_timeout_ms,
    checked_timeout_s,
)
from kafka.producer.batch.memory_pool import Reservation
from kafka.producer.future import FutureRecordMetadata

if TYPE_CHECKING:
    from uuid import UUID

    from kafka.display.progress_bar import Tell
    from kafka.formats.column_io import WriteAs
    from kafka.metrics.kafka_metric import KafkaMetric
    from kafka.producer.arrow_future import ArrowData, FutureArrowResult


class AsyncProducerCalls(AsyncTransactionCalls):
    """Methods of `AsyncKafkaProducer`, which provides the core and the runner."""

    async def send_arrow(
        self,
        topic: str,
        data: ArrowData,
        *,
        key: WriteAs | None = None,
        value: WriteAs | None = None,
        progress: bool | Tell = False,
    ) -> FutureArrowResult:
        """Send each row of an Arrow table or batch as a record, without creating an object per row.

        Rows that do not fit into `buffer_memory` wait, as in `send`. Rows for the same partition keep their order, also
        relative to records sent before and after them.

        Arguments:
            topic: topic to send to.
            data: a `pyarrow.Table` or `RecordBatch`, anything with ``__arrow_c_stream__`` (a polars or pandas
                DataFrame, a DuckDB relation, a `RecordBatchReader`) or ``__arrow_c_array__``, or a dict of columns. Its
                columns are `value` (binary or text) and, optionally, `key` (likewise), `headers` (list of structs of
                `key` and `value`), `partition` (integer; null lets the partitioner choose) and `timestamp` (timestamp,
                or milliseconds since 1970-01-01 UTC). Other columns of `poll_arrow()` are ignored, so its batches can
                be sent unchanged. Serializers and custom partitioners are not used.
            key: encodes the column `key`, of any type: the result of a schema registry client's ``writer()``, an
                `Avro`, `Json` or `Protobuf` object, or "string", "bytes", "short", "int", "long", "float" or "double".
            value: encodes the column `value` in the same way. Without that column, all columns not named above become
                fields of the value.
            progress: True shows a progress bar (needs Rich); a function is called with the number of rows accepted so
                far and the total. Accepted rows are being sent, but may not be acknowledged yet. If the function
                raises, the remaining rows are not sent.

        Returns a future of an `ArrowResult` for all rows together. Raises the same errors as `send`, `ImportError`
        without pyarrow, and `TypeError` or `ValueError` for data that cannot be sent as records or does not match the
        schema; in these cases, nothing is sent.
        """
        from kafka.display.progress_bar import ProgressReport
        from kafka.producer.arrow_encoder import ArrowEncoder, typed_rows
        from kafka.producer.arrow_future import FutureArrowResult

        core = self._started()
        if topic not in core.buffer.topics:
            core.check_may_wait_for(topic)
            await self._runner.run(core, core.find_topic(topic))
        typed = key is not None or value is not None
        rows_given = await self._runner.work(typed_rows, data, key, value) if typed else data
        encoder = ArrowEncoder(core, topic, rows_given)
        chunks = encoder.chunks()
        taken = 0
        with ProgressReport(progress, encoder.rows, "sending") as report:
            while True:
                chunk = await self._runner.work(next, chunks, None)
                if chunk is None:
                    break
                for rows in chunk:
                    reserved = Reservation()
                    try:
                        with encoder.progress():
                            await self._runner.acquire(core, len(rows.data), reserved)
                        encoder.enqueue(rows, reserved)
                    finally:
                        core.buffer.give_back(reserved)
                    taken += rows.rows
                    report.reached(taken)
        return FutureArrowResult(core, self._runner.loop, encoder.batches)

    async def flush(self, timeout: float | None = None) -> None:
        """Send all buffered records now, without lingering, and wait until they are delivered or have failed.

        All callbacks have run when this method returns. When called from a callback, it does not wait for later ones.

        Arguments:
            timeout: maximum wait in seconds. None waits at most `delivery_timeout_ms` for records, and as long again
                for callbacks.

        Raises `KafkaTimeoutError` when the time is up, `IllegalArgumentError` for a negative timeout. If records have
        failed since the last call, and the program neither holds their futures nor has checked them, raises the first
        of these failures, with the total number of failures.
        """
        core = self._started()
        await self._runner.run(core, core.flush(checked_timeout_s(timeout), self._runner.in_callback()))
        if is_free_threaded():
            await self._runner.run(core, core.raise_unseen())

    async def purge(self, in_queue: bool = True, in_flight: bool = False) -> int:
        """Drop unacknowledged records, like librdkafka's ``purge``; the producer remains usable.

        Their futures fail immediately with `RecordPurgedError`, their callbacks run, and their memory is freed.
        `flush()` neither waits for them nor raises their failure, and nothing is logged. A `send()` that still waits
        for memory or metadata is not affected. Purging records of a transaction makes the transaction fail, so that it
        is not committed without them; abort it.

        Arguments:
            in_queue: drop records that were never sent.
            in_flight: drop records that were sent but not acknowledged. The broker may still write them. With
                idempotence, later records for the same partitions are sent in a new epoch, once the outstanding
                requests have been answered or have timed out.

        Returns the number of dropped records.
        """
        core = self._started()
        return await self._runner.run(core, core.purge(in_queue, in_flight))

    async def close(self, timeout: float | None = None, null_logger: bool = False) -> None:
        """Send all buffered records, wait for them and their callbacks, and close the connections. Idempotent.

        Arguments:
            timeout: maximum wait for deliveries in seconds; records not acknowledged by then fail with
                `KafkaTimeoutError`. None waits at most `delivery_timeout_ms`.
            null_logger: ignored; accepted for compatibility with kafka-python.
        """
        timeout = checked_timeout_s(timeout)
        if self._core is not None:
            await self._runner.close(self._core, timeout)

    async def partitions_for(self, topic: str) -> set[int]:
        """Return all partitions of a topic, waiting for its metadata if necessary. Raises the same errors as `send`."""
        core = self._started()
        return set(range(await self._runner.run(core, core.find_topic(topic))))

    async def client_instance_id(self, timeout_ms: float | None = None) -> UUID:
        """Return the id that brokers assigned to this producer for its metrics; it never changes (KIP-714, Kafka 3.7).

        Arguments:
            timeout_ms: maximum wait in milliseconds; None for ``request_timeout_ms``.

        Raises `UnsupportedVersionError` if no broker accepts client metrics, `KafkaTimeoutError` when the time is up,
        and `IllegalStateError` with ``enable_metrics_push=False``.
        """
        core = self._started()
        given_ms = checked_timeout_ms(timeout_ms)
        limit_ms = core.config.connection.request_timeout_ms if given_ms is None else given_ms
        return await self._runner.run(core, core.telemetry.client_instance_id(limit_ms))

    def register_metric_for_subscription(self, metric: KafkaMetric) -> None:
        """Push one of the program's metrics to brokers that subscribe to it, along with the client's (KIP-1076).

        Brokers see it as "org.apache.kafka", the group and the name, joined by dots. A `kafka.metrics.stats.Total` is
        pushed as a sum, any other metric as a gauge. A metric with the `MetricName` of one of the client's metrics is
        ignored. Any thread may call this.

        Raises `TypeError` for an object that is not a `KafkaMetric`.
        """
        self._started().telemetry.register(metric)

    def unregister_metric_from_subscription(self, metric: KafkaMetric) -> None:
        """Stop pushing a metric. Any thread may call this.

        Arguments:
            metric: a metric passed to `register_metric_for_subscription`.
        """
        self._started().telemetry.unregister(metric)

    def bootstrap_connected(self) -> bool:
        """Return whether the cluster has been found: a bootstrap server has answered. No request is sent."""
        return self._core is not None and bool(self._core.cluster.metadata.brokers())

    @overload
    def metrics(self, raw: Literal[False] = False) -> dict[str, dict[str, float]]: ...
    @overload
    def metrics(self, raw: bool) -> dict[Any, Any]: ...
    def metrics(self, raw: bool = False) -> dict[Any, Any]:
        """Return the producer's metrics by group and name; an empty dict with `metrics_enabled=False`.

        Arguments:
            raw: if True, return `KafkaMetric` objects by `MetricName` instead.
        """
        metrics = self._started().metrics
        return metrics.registered() if raw else metrics.snapshot()

    @classmethod
    def max_usable_produce_magic(cls, api_version: tuple[int, ...]) -> int:
        """Return the newest record batch format (0, 1 or 2) that brokers of a version accept.

        Arguments:
            api_version: the brokers' release, such as ``(0, 11)``.
        """
        return 2 if api_version >= (0, 11) else 1 if api_version >= (0, 10) else 0

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"{type(self).__name__} objects own connections and unsent records, so they cannot be pickled or copied: "
            "make one where it is needed, for example in each process"
        )

    async def _send_when_possible(self, reason: Blocked, *record: Any) -> FutureRecordMetadata:
        """Wait for the topic or the memory that a record needs, and append the record.

        Arguments:
            record: the arguments of `send`, in order.
        """
        core = self._started()
        append: Append = core.appender.append
        blocked = reason
        while True:
            try:
                if isinstance(blocked, NeedsTopic):
                    core.check_may_wait_for(blocked.topic)
                    await self._runner.run(core, core.find_topic(blocked.topic, blocked.partition))
                    return append(*record)
                if isinstance(blocked, PartitionGone):
                    return append(*record)
                assert isinstance(blocked, NeedsMemory)
                reserved = Reservation()
                try:
                    await self._runner.acquire(core, blocked.amount, reserved)
                    return core.buffer.append(blocked.record, reserved)
                finally:
                    core.buffer.give_back(reserved)
            except Blocked as again:
                blocked = again.with_traceback(None)  # the traceback's frames would keep the producer alive

    async def _send_intercepted(self, *record: Any) -> FutureRecordMetadata:
        """Pass a record through the interceptors, send the result, and notify the interceptors of the outcome.

        Arguments:
            record: the arguments of `send`, in order.
        """
        core = self._started()
        interception = core.interceptors
        assert interception is not None
        sent = interception.on_send(record)
        append: Append = core.appender.append
        try:
            try:
                future = append(*sent)
            except Blocked as reason:
                blocked = reason.with_traceback(None)
                future = await self._send_when_possible(blocked, *sent)
        except Exception as error:
            interception.not_taken(sent, error)
            raise
        interception.watch(future)
        return future
