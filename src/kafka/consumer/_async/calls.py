"""The consumer's calls that wait or run user code, such as listeners and callbacks."""

import functools
import math
import weakref
from collections.abc import Callable, Collection, Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Generic, Self, TypeVar
from uuid import UUID

from kafka.config import ConsumerConfig
from kafka.consumer._async.offset_calls import AsyncOffsetCalls
from kafka.consumer._async.poll_loop import AsyncPollLoop
from kafka.consumer.arguments import check_max_records, check_partitions, check_timeout, check_topic_name
from kafka.consumer.base_consumer import CLOSE_TIMEOUT_MS, COLUMNS_BYTES
from kafka.consumer.buffer.fetch_buffer import NO_LIMIT
from kafka.consumer.buffer.polled_batch import PolledBatch
from kafka.consumer.core import LEAVE_WAIT_MS
from kafka.consumer.records.build_records import ConsumerRecords, Deserializers, Materializer, RecordCursor
from kafka.consumer.records.typed_columns import ReadAs, TypedColumns, settled_async
from kafka.formats.column_io import SchemaNeeded
from kafka.interceptor.client_interceptors import ConsumerInterceptors
from kafka.record import Columns, ConsumerRecord
from kafka.record.records import Key, Value
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    import pyarrow


Result = TypeVar("Result")
RecordMap = dict[TopicPartition, list[ConsumerRecord]]


class AsyncConsumerCalls(AsyncOffsetCalls, Generic[Key, Value]):
    """The calls of `AsyncKafkaConsumer` that wait or run user code."""

    def _make_parts(self, config: ConsumerConfig) -> None:
        options = config.consumer
        self._parsed = config
        self._deserializers = Deserializers(options.key_deserializer, options.value_deserializer)
        self._materializer = Materializer(
            self._deserializers.key, self._deserializers.value, options.on_deserialization_error
        )
        self._cursor = RecordCursor(self._materializer)
        self._api_timeout_ms: float = options.default_api_timeout_ms
        self._look_up_timeout_ms: float = config.look_up_timeout_ms

    def _make_poll_loop(self, config: ConsumerConfig) -> None:
        self._poll_loop = AsyncPollLoop(config)
        self._core = self._poll_loop.core
        self._events = self._core.events
        if self._core.interceptors is not None:
            self._cursor.on_consume = self._core.interceptors.on_consume
        self._clock = self._core.clock
        self._finish = functools.partial(_close_parts, self._core.interceptors, self._deserializers)
        weakref.finalize(self, self._poll_loop.abandon).atexit = False

    # Records ----------------------------------------------------------------------------------------------------------

    async def poll(
        self,
        timeout_ms: float = 0,
        max_records: int | None = None,
        update_offsets: bool = True,
        *,
        max_records_per_partition: int | None = None,
    ) -> ConsumerRecords[Key, Value]:
        """Return fetched records; wait for some if there are none.

        Arguments:
            timeout_ms: how long to wait for records; 0 does not wait. Group membership is maintained even with 0;
                rebalance listeners run within this call.
            max_records: maximum number of records; None: ``max_poll_records``.
            update_offsets: False leaves the positions unchanged: the next call returns the same records.
            max_records_per_partition: maximum number of records from each partition, within ``max_records``; None: no
                such limit. Further records stay in the buffer for later calls, which return records from other
                partitions first.

        Returns `ConsumerRecords`, a dict of `TopicPartition` to lists of `ConsumerRecord`, empty after a timeout. Its
        `items`, `keys` and `values` work as in a dict; iteration and `len` cover the records of all partitions: ``for
        record in consumer.poll(1000)``.

        Raises `NoOffsetForPartitionError`, `OffsetOutOfRangeError`, `CorruptRecordError`, `RecordDeserializationError`,
        `TopicRecreatedError`, `TopicAuthorizationFailedError`, `GroupAuthorizationFailedError`, and exceptions of
        listeners.
        """
        most = self._core.config.consumer.max_poll_records if max_records is None else check_max_records(max_records)
        make = self._records if update_offsets else self._records_to_return_again
        max_each = NO_LIMIT if max_records_per_partition is None else _max_each(max_records_per_partition)
        return await self._hand_over(make, timeout_ms, most, max_each=max_each)

    def _records(self, polled: PolledBatch) -> ConsumerRecords[Key, Value]:
        """Build the records of a polled batch, and pass them through the interceptors, if there are any of both."""
        records = self._materializer.batch(polled)
        if records and self._core.interceptors is not None:
            records = self._core.interceptors.on_consume(records)
        return ConsumerRecords(records)

    def _records_to_return_again(self, polled: PolledBatch) -> ConsumerRecords[Key, Value]:
        made = self._records(polled)
        polled.roll_back()
        return made

    async def getmany(
        self,
        *partitions: TopicPartition,
        timeout_ms: float = 0,
        max_records: int | None = None,
        max_records_per_partition: int | None = None,
    ) -> ConsumerRecords[Key, Value]:
        """Like `poll`, under the name that other asyncio clients use.

        Arguments:
            partitions: return only records from these assigned partitions; without any, from all.
            timeout_ms: how long to wait for records; 0 does not wait.
            max_records: maximum number of records; None: ``max_poll_records``.
            max_records_per_partition: maximum number of records from each partition, as in `poll`.
        """
        if not partitions and type(self).poll is not AsyncConsumerCalls.poll:  # a subclass or a tracer has its own
            if max_records_per_partition is None:  # which the poll() of a subclass need not accept
                return await self.poll(timeout_ms, max_records)
            return await self.poll(timeout_ms, max_records, max_records_per_partition=max_records_per_partition)
        most = self._core.config.consumer.max_poll_records if max_records is None else check_max_records(max_records)
        wanted = {self._assigned(tp).tp for tp in partitions} if partitions else None
        max_each = NO_LIMIT if max_records_per_partition is None else _max_each(max_records_per_partition)
        return await self._hand_over(self._records, timeout_ms, most, wanted=wanted, max_each=max_each)

    async def getone(self, *partitions: TopicPartition) -> ConsumerRecord[Key, Value]:
        """Wait for the next record without a time limit, and return it.

        Arguments:
            partitions: as in `getmany`.
        """
        while partitions:
            for records in (await self.getmany(*partitions, timeout_ms=math.inf, max_records=1)).values():
                return records[0]
        while True:
            async for record in self:
                return record
            self._check_open()

    async def poll_columns(
        self, timeout_ms: float = 0, max_records: int | None = None, *, max_records_per_partition: int | None = None
    ) -> dict[TopicPartition, Columns]:
        """Like `poll`, but return columns instead of records; positions move past them.

        Arguments:
            timeout_ms: how long to wait for records; 0 does not wait.
            max_records: maximum number of records; None: all fetched records, about 8 MiB of columns at a time.
            max_records_per_partition: maximum number of records from each partition, as in `poll`.
        """
        most = NO_LIMIT if max_records is None else check_max_records(max_records)

        def columns(polled: PolledBatch) -> dict[TopicPartition, Columns]:
            return {piece.state.tp: piece.columns for piece in polled.pieces}

        max_each = NO_LIMIT if max_records_per_partition is None else _max_each(max_records_per_partition)
        return await self._hand_over(columns, timeout_ms, most, COLUMNS_BYTES, one_each=True, max_each=max_each)

    async def poll_arrow(
        self,
        timeout_ms: float = 0,
        max_records: int | None = None,
        *,
        max_records_per_partition: int | None = None,
        key: "ReadAs | None" = None,
        value: "ReadAs | None" = None,
        error_columns: bool = False,
    ) -> "pyarrow.RecordBatch":
        """Like `poll_columns`, but return one Arrow batch.

        The batch contains many rows from one partition or a few rows from several, and is empty after a timeout.

        Arguments:
            timeout_ms: how long to wait for records; 0 does not wait.
            max_records: maximum number of rows; None: all fetched records.
            max_records_per_partition: maximum number of rows from each partition, as in `poll`.
            key: decodes keys to a typed column: the result of ``reader()`` of a schema registry client, an `Avro`,
                `Json` or `Protobuf` object, or "string", "bytes", "short", "int", "long", "float" or "double". None:
                bytes.
            value: the same for values.
            error_columns: add the columns ``key_error`` and ``value_error``, structs of ``cause`` and ``bytes``. They
                explain why a typed key or value could not be decoded and is null. Otherwise
                ``on_deserialization_error`` applies; if that is a function, the row contains the key and value of the
                record that the function returns.

        Columns: topic, partition, offset, timestamp (ms, UTC), timestamp_type, key, value, headers. No Python object is
        created for each record. Requires the extra "arrow".

        Raises `RecordDeserializationError` for a key or value that cannot be decoded, once all rows before it have been
        returned; `SchemaRegistryError` if a registry does not answer, in which case the next call tries again.
        """
        most = NO_LIMIT if max_records is None else check_max_records(max_records)
        max_each = NO_LIMIT if max_records_per_partition is None else _max_each(max_records_per_partition)
        typed = TypedColumns(key, value, error_columns, self._parsed.consumer.on_deserialization_error)
        while True:
            try:
                batch: "pyarrow.RecordBatch" = await self._hand_over(
                    typed.of_hand_out, timeout_ms, most, COLUMNS_BYTES, max_each=max_each
                )
            except SchemaNeeded as needed:
                await settled_async(needed.look_up())
            else:
                return batch

    def __aiter__(self) -> Self:
        """Iterate over records, endlessly or until none has arrived for ``consumer_timeout_ms``."""
        self._check_open()
        return self

    async def __anext__(self) -> ConsumerRecord[Key, Value]:
        """Return the next record.

        Raises `StopAsyncIteration` if none arrived within ``consumer_timeout_ms``, or if the consumer is closed, and
        `IllegalStateError` if nothing is subscribed to or assigned.
        """
        cursor = self._cursor
        if self._events.pending and not await self._see_to_events():
            raise StopAsyncIteration
        while True:
            for record in cursor.rest:
                cursor.state.last_record = record
                self._clock.progressed = True
                return record
            if not await self._load():
                raise StopAsyncIteration

    async def _see_to_events(self) -> bool:
        """Handle events before the next record. Returns False if the consumer is closed."""
        caller = self._poll_loop.poll_guard
        with caller:
            try:
                caller.is_polling = True
                if self._core.closed:
                    return False
                self._core.check_wanted()
                await self._poll_loop.process_events()
                return True
            finally:
                caller.is_polling = False

    async def _load(self) -> bool:
        """Load more records into the exhausted cursor.

        Returns False if there are none or the consumer is closed.
        """
        core, cursor, options = self._core, self._cursor, self._core.config.consumer
        caller = self._poll_loop.poll_guard
        with caller:
            try:
                caller.is_polling = True
                while True:
                    if core.closed:
                        break
                    core.check_wanted()
                    if cursor.load():
                        return True
                    take = functools.partial(core.buffer.take, options.max_poll_records)
                    polled = await self._poll_loop.wait_for(check_timeout(options.consumer_timeout_ms), take)
                    if not polled.count:
                        return False
                    cursor.begin(polled)
            finally:
                caller.is_polling = False
        return False

    async def _hand_over(
        self,
        make: Callable[[PolledBatch], Result],
        timeout_ms: float,
        max_records: int,
        max_bytes: int = NO_LIMIT,
        one_each: bool = False,
        wanted: Collection[TopicPartition] | None = None,
        max_each: int = NO_LIMIT,
    ) -> Result:
        """Return the result of calling ``make`` with the next polled batch.

        Positions move once the result is complete and about to be returned.
        """
        polled: PolledBatch | None = None
        caller = self._poll_loop.poll_guard
        timeout_ms = timeout_ms if type(timeout_ms) is int and timeout_ms >= 0 else check_timeout(timeout_ms)
        take = functools.partial(self._core.buffer.take, max_records, max_bytes, one_each, wanted, max_each)
        try:
            with caller:
                try:
                    caller.is_polling = True
                    with await self._poll_loop.wait_for(timeout_ms, take) as polled:
                        made = make(polled)
                        polled.commit()  # must be within the block, or another thread could get the same records
                finally:
                    caller.is_polling = False
        except BaseException:
            if polled is not None:
                polled.undo()
            raise
        polled.before_commit = None  # no interrupt can come between here and the return; see `PolledBatch`
        return made

    # The cluster ------------------------------------------------------------------------------------------------------

    async def partitions_for_topic(self, topic: str) -> set[int]:
        """Return the partition numbers of a topic, asking the cluster if necessary; empty if there is no such topic."""
        self._check_open()
        name = check_topic_name(topic)
        return await self._poll_loop.run(self._core.cluster.partitions_for_topic(name), self._api_timeout_ms)

    async def topics(self) -> set[str]:
        """Return the names of all topics that the cluster shows to this client, except internal ones."""
        self._check_open()
        return await self._poll_loop.run(self._core.cluster.all_topics(), self._api_timeout_ms)

    async def bootstrap_connected(self) -> bool:
        """Return whether the client is connected to a broker."""
        return await self._poll_loop.run(self._core.cluster.is_connected())

    async def bootstrap(self, timeout_ms: float | None = None, refresh: bool = False) -> None:
        """Wait until the cluster is found; with ``api_version``, the constructor does not wait for that.

        Arguments:
            timeout_ms: how long to wait; None: no limit.
            refresh: request the metadata again, even if it is known.

        Raises `KafkaTimeoutError` with the error of each server in its message.
        """
        self._check_open()
        limit_ms = None if timeout_ms is None else check_timeout(timeout_ms)
        await self._poll_loop.run(self._core.cluster.find(limit_ms, refresh))

    async def client_instance_id(self, timeout_ms: float | None = None) -> UUID:
        """Return the id that brokers assigned to this client for its metrics; it never changes (KIP-714, Kafka 3.7).

        Arguments:
            timeout_ms: how long to wait for the id; None: ``default_api_timeout_ms``.

        Raises `UnsupportedVersionError` if no broker accepts client metrics, `KafkaTimeoutError`, and
        `IllegalStateError` with ``enable_metrics_push=False``.
        """
        self._check_open()
        limit_ms = self._limit(timeout_ms)
        return await self._poll_loop.run(self._core.telemetry.client_instance_id(limit_ms), limit_ms)

    # Lifecycle --------------------------------------------------------------------------------------------------------

    async def unsubscribe(self) -> None:
        """Unsubscribe from all topics, unassign all partitions, and leave the group.

        Waits up to 5 seconds for an automatic commit, and one second for the coordinator. Both continue in the
        background after that, and `close` waits for them.
        """
        self._check_open()
        await self._poll_loop.give_up_partitions(self._api_timeout_ms)
        self._core.unsubscribe()
        await self._poll_loop.run(self._core.leave_group(), LEAVE_WAIT_MS)

    async def assign(self, partitions: Iterable[TopicPartition]) -> None:
        """Assign exactly these partitions, without the group. Partitions that stay assigned keep their positions.

        Waits for an automatic commit of the current positions, as `unsubscribe` does.

        Raises `IllegalStateError` after `subscribe`, `TypeError` and `IllegalArgumentError` for invalid partitions.
        """
        self._check_open()
        self._core.subscription.check_unsubscribed()  # checked before the listener is called
        wanted = check_partitions(partitions)
        await self._poll_loop.give_up_partitions(self._api_timeout_ms)
        self._core.assign(wanted)

    async def close(self, autocommit: bool = True, timeout_ms: float | None = None) -> None:
        """Commit if commits are automatic, wait for `commit_async`, leave the group, and close connections.

        Deserializers and interceptors are closed, too. Closing a closed consumer does nothing. A call from another
        thread or task waits for the first call, unless that would deadlock: a listener or callback that runs within
        `close` may call it, also in a task that it creates.

        Arguments:
            autocommit: False skips the last automatic commit.
            timeout_ms: how long closing may take; None: 30 seconds.

        Raises `KafkaTimeoutError` if another thread or task is still closing the consumer after that time.
        """
        limit = CLOSE_TIMEOUT_MS if timeout_ms is None else check_timeout(timeout_ms)
        if self._started:
            await self._poll_loop.close(autocommit, limit, self._finish)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the consumer. After an exception, nothing is committed automatically, so the records are read again."""
        await self.close(autocommit=kind is None)


def _max_each(given: int) -> int:
    return check_max_records(given, "max_records_per_partition")


def _close_parts(interceptors: ConsumerInterceptors | None, deserializers: Deserializers) -> None:
    """Close the user's objects. Not a method, because a reference from the finalizer would keep the consumer alive."""
    if interceptors is not None:
        interceptors.close()
    deserializers.close()
