"""`AsyncKafkaConsumer`: the consumer on the caller's own event loop, without a thread."""

import functools
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

from kafka.config import parse_consumer
from kafka.consumer.commit.committed import CommittedOffset
from kafka.consumer.drive.async_driver import AsyncDriver
from kafka.consumer.face import (
    CLOSE_TIMEOUT_MS,
    COLUMNS_BYTES,
    ConsumerFace,
    check_max_records,
    check_offsets,
    check_times,
    found_or_none,
)
from kafka.consumer.handover.fetch_buffer import NO_LIMIT
from kafka.consumer.handover.hand_out import HandOut
from kafka.consumer.position.timestamps import EARLIEST, LATEST
from kafka.consumer.records.consumer_records import ConsumerRecords
from kafka.consumer.records.iteration import RecordCursor
from kafka.consumer.records.materialize import Materializer
from kafka.consumer.subscription.subscription_state import AsyncConsumerRebalanceListener, ConsumerRebalanceListener
from kafka.errors import IllegalStateError
from kafka.record import Columns, ConsumerRecord, decode_batches
from kafka.serializer import adapt_deserializer
from kafka.structs import OffsetAndMetadata, OffsetAndTimestamp, TopicPartition

if TYPE_CHECKING:
    import pyarrow


class AsyncKafkaConsumer(ConsumerFace):
    """Reads records from topics, in asyncio. Options and methods are those of `KafkaConsumer`; what waits is awaited.

    Fetching, heartbeats and commits run on the loop that `start` is called on. `async with` starts and closes it;
    rebalance listeners may be `ConsumerRebalanceListener` or, with coroutines, `AsyncConsumerRebalanceListener`.

    Arguments:
        topics: topics to subscribe to; without any, call `subscribe` or `assign`.
        configs: options, see `KafkaConsumer`.

    Before `start` each method raises `IllegalStateError`.

    Raises `KafkaConfigurationError` for an option that is unknown or wrong.
    """

    _listener_types = (ConsumerRebalanceListener, AsyncConsumerRebalanceListener)

    def __init__(self, *topics: str, **configs: Any) -> None:
        self._config = parse_consumer(configs)
        self._topics = topics
        options = self._config.consumer
        self._materializer = Materializer(
            adapt_deserializer(options.key_deserializer), adapt_deserializer(options.value_deserializer)
        )
        self._api_timeout_ms: float = options.default_api_timeout_ms
        self._cursor = RecordCursor(self._materializer)

    # Life -------------------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Find the cluster, and subscribe to the topics given; raises `NoBrokersAvailable`."""
        if self._started:
            raise IllegalStateError("the consumer has been started already")
        self._driver = AsyncDriver(self._config)
        self._core = self._driver.core
        try:
            await self._core.start()
            if self._topics:
                self.subscribe(self._topics)
        except BaseException:
            await self._driver.close(autocommit=False, timeout_ms=1_000)
            raise

    async def close(self, autocommit: bool = True, timeout_ms: float | None = None) -> None:
        """Commit if that is automatic, leave the group, close the connections; the second call does nothing.

        Arguments:
            autocommit: False leaves the last automatic commit out.
            timeout_ms: how long it may take; None: 30 seconds.
        """
        if self._started:
            await self._driver.close(autocommit, CLOSE_TIMEOUT_MS if timeout_ms is None else timeout_ms)

    async def stop(self) -> None:
        """As `close`, under the name that other asyncio clients have."""
        await self.close()

    async def __aenter__(self) -> "AsyncKafkaConsumer":
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close(autocommit=kind is None)

    # Records ----------------------------------------------------------------------------------------------------------

    async def poll(
        self, timeout_ms: float = 0, max_records: int | None = None, update_offsets: bool = True
    ) -> ConsumerRecords:
        """See `KafkaConsumer.poll`."""
        most = check_max_records(max_records, self._config.consumer.max_poll_records)
        with self._driver.one_caller, await self._take(timeout_ms, most) as hand_out:
            records = ConsumerRecords(self._materializer.batch(hand_out))
            if not update_offsets:
                hand_out.roll_back()
            return records

    async def getmany(
        self, *partitions: TopicPartition, timeout_ms: float = 0, max_records: int | None = None
    ) -> ConsumerRecords:
        """As `poll`, under the name that other asyncio clients have.

        Raises `IllegalStateError` where partitions are given: pause the others instead.
        """
        if partitions:
            raise IllegalStateError("getmany() takes no partitions here; pause() those that are not wanted")
        return await self.poll(timeout_ms, max_records)

    async def getone(self) -> ConsumerRecord:
        """The next record, however long that takes."""
        while True:
            async for record in self:
                return record
            self._check_open()

    async def poll_columns(
        self, timeout_ms: float = 0, max_records: int | None = None
    ) -> dict[TopicPartition, Columns]:
        """See `KafkaConsumer.poll_columns`."""
        most = check_max_records(max_records, NO_LIMIT)
        with self._driver.one_caller, await self._take(timeout_ms, most, COLUMNS_BYTES, one_each=True) as hand_out:
            return {piece.state.tp: piece.columns for piece in hand_out.pieces}

    async def poll_arrow(self, timeout_ms: float = 0, max_records: int | None = None) -> "pyarrow.RecordBatch":
        """See `KafkaConsumer.poll_arrow`."""
        from kafka.record.arrow import concat_arrow

        most = check_max_records(max_records, NO_LIMIT)
        with self._driver.one_caller, await self._take(timeout_ms, most, COLUMNS_BYTES) as hand_out:
            batches = [piece.columns.to_arrow() for piece in hand_out.pieces]
            return concat_arrow(batches) if batches else decode_batches(b"").to_arrow()

    def __aiter__(self) -> "AsyncKafkaConsumer":
        """Records one by one, for ever, or until there has been none for ``consumer_timeout_ms``."""
        return self

    async def __anext__(self) -> ConsumerRecord:
        """The next record; raises `StopAsyncIteration` when there was none for ``consumer_timeout_ms``."""
        core = self._core
        if not core.attention:
            cursor = self._cursor
            for record in cursor.rest:
                cursor.state.last_record = record
                core.clock.progressed = True
                return record
        return await self._next_record()

    # Offsets ----------------------------------------------------------------------------------------------------------

    async def commit(
        self, offsets: Mapping[TopicPartition, OffsetAndMetadata] | None = None, timeout_ms: float | None = None
    ) -> None:
        """See `KafkaConsumer.commit`."""
        self._check_open()
        chosen = self._core.consumed() if offsets is None else check_offsets(offsets)
        await self._core.commits.commit(chosen, self._limit(timeout_ms))
        await self._driver.run_callbacks()

    async def committed(
        self, partition: TopicPartition, metadata: bool = False, timeout_ms: float | None = None
    ) -> CommittedOffset | OffsetAndMetadata | None:
        """See `KafkaConsumer.committed`."""
        self._check_open()
        found = (await self._core.commits.committed([partition], self._limit(timeout_ms))).get(partition)
        if found is None:
            return None
        return found if metadata else CommittedOffset(found)

    async def position(self, partition: TopicPartition, timeout_ms: float | None = None) -> int:
        """See `KafkaConsumer.position`."""
        state = self._assigned(partition)
        if state.position is not None:
            return state.position.offset
        return await self._core.position(partition, self._limit(timeout_ms))

    async def beginning_offsets(
        self, partitions: Iterable[TopicPartition], timeout_ms: float | None = None
    ) -> dict[TopicPartition, int]:
        """See `KafkaConsumer.beginning_offsets`."""
        found = await self._look_up(dict.fromkeys(partitions, EARLIEST), timeout_ms)
        return {tp: each.offset for tp, each in found.items()}

    async def end_offsets(
        self, partitions: Iterable[TopicPartition], timeout_ms: float | None = None
    ) -> dict[TopicPartition, int]:
        """See `KafkaConsumer.end_offsets`."""
        found = await self._look_up(dict.fromkeys(partitions, LATEST), timeout_ms)
        return {tp: each.offset for tp, each in found.items()}

    async def offsets_for_times(
        self, timestamps: Mapping[TopicPartition, int], timeout_ms: float | None = None
    ) -> dict[TopicPartition, OffsetAndTimestamp | None]:
        """See `KafkaConsumer.offsets_for_times`."""
        return found_or_none(await self._look_up(check_times(timestamps), timeout_ms))

    # The cluster and the assignment -----------------------------------------------------------------------------------

    async def partitions_for_topic(self, topic: str) -> set[int] | None:
        """See `KafkaConsumer.partitions_for_topic`."""
        self._check_open()
        return await self._core.cluster.partitions_for_topic(topic)

    async def topics(self) -> set[str]:
        """See `KafkaConsumer.topics`."""
        self._check_open()
        return await self._core.cluster.all_topics()

    async def assign(self, partitions: Iterable[TopicPartition]) -> None:
        """See `KafkaConsumer.assign`."""
        self._check_open()
        wanted = list(partitions)
        await self._driver.give_up(self._api_timeout_ms)
        self._core.assign(wanted)

    async def unsubscribe(self) -> None:
        """See `KafkaConsumer.unsubscribe`."""
        self._check_open()
        await self._driver.give_up(self._api_timeout_ms)
        self._core.unsubscribe()
        await self._core.leave_group(self._api_timeout_ms)

    # Inside -----------------------------------------------------------------------------------------------------------

    if not TYPE_CHECKING:  # a checker would take it to allow every name

        def __getattr__(self, name: str) -> Any:
            if name in ("_core", "_driver"):
                raise IllegalStateError("the consumer has not been started: await start(), or use 'async with'")
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def _started(self) -> bool:
        return "_driver" in self.__dict__

    def _limit(self, timeout_ms: float | None) -> float:
        return self._api_timeout_ms if timeout_ms is None else timeout_ms

    async def _look_up(
        self, timestamps: Mapping[TopicPartition, int], timeout_ms: float | None
    ) -> dict[TopicPartition, OffsetAndTimestamp]:
        self._check_open()
        return await self._core.lookup.lookup(timestamps, self._limit(timeout_ms))

    async def _take(
        self, timeout_ms: float, max_records: int, max_bytes: int = NO_LIMIT, one_each: bool = False
    ) -> HandOut:
        take = functools.partial(self._core.buffer.take, max_records, max_bytes, one_each)
        return await self._driver.wait_for(timeout_ms, take)

    async def _next_record(self) -> ConsumerRecord:
        """As `__anext__`, where something has to be done first."""
        core, cursor, options = self._core, self._cursor, self._core.config.consumer
        with self._driver.one_caller:
            while not core.closed:
                if core.attention:
                    await self._driver.attend()
                for record in cursor.rest:
                    cursor.state.last_record = record
                    return record
                if cursor.load():
                    continue
                hand_out = await self._take(options.consumer_timeout_ms, options.max_poll_records)
                if not hand_out:
                    break
                cursor.begin(hand_out)
        raise StopAsyncIteration
