"""`AIOKafkaProducer`, and `BatchBuilder` for batches that programs build themselves."""

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import Any, Generic, NamedTuple, Self, Unpack

from kafka.aio.errors import IllegalOperation, ProducerClosed
from kafka.aio.options import NOT_GIVEN, AIOProducerConfigs, producer_options, start
from kafka.aio.structs import RecordMetadata, as_offsets
from kafka.cluster.kafka_python_client import InnerName
from kafka.errors import AssertedArgumentError, TransactionAbortedError
from kafka.health import Health
from kafka.producer._async.transaction_calls import AsyncTransactionBlock
from kafka.producer.async_producer import AsyncKafkaProducer
from kafka.producer.delivery.record_metadata import RecordMetadata as WrittenAt
from kafka.producer.future import FutureRecordMetadata
from kafka.record import BatchBuilder as RecordBatchBuilder
from kafka.record.record_headers import encode_headers
from kafka.record.records import Key, Value
from kafka.serializer import adapt_serializer
from kafka.structs import TopicPartition


class Appended(NamedTuple):
    """The result of `BatchBuilder.append` for a record.

    Arguments:
        offset: the record's index in the batch.
        crc: always None, because batches have a checksum, but records do not.
        size: the record's size in bytes.
        timestamp: the record's timestamp in milliseconds since 1970; None for the time of sending.
    """

    offset: int
    crc: int | None
    size: int
    timestamp: int | None


class BatchRecord(NamedTuple):
    """A record in a batch, before serialization."""

    timestamp: int | None
    key: Any
    value: Any
    headers: Sequence[tuple[str, bytes | None]]


class BatchBuilder:
    """A batch of records that is built by the program; see `AIOKafkaProducer.create_batch`.

    Arguments:
        batch_size: maximum size in bytes, before compression; the first record may exceed it.
        key_serializer, value_serializer: the producer's serializers.
    """

    def __init__(self, batch_size: int, key_serializer: Any = None, value_serializer: Any = None) -> None:
        self._limit = batch_size
        self._serializers = adapt_serializer(key_serializer, "key"), adapt_serializer(value_serializer)
        self._sizes = RecordBatchBuilder(size_limit=batch_size)
        self._records: list[BatchRecord] = []
        self._closed = False

    def append(
        self, *, timestamp: int | None, key: Any, value: Any, headers: Sequence[tuple[str, bytes | None]] = ()
    ) -> Appended | None:
        """Add a record. Returns None, without adding the record, if there is no room or the batch is closed."""
        if self._closed:
            return None
        before = self._sizes.size_in_bytes
        key_bytes, value_bytes = (
            given if serializer is None else serializer("", given)
            for serializer, given in zip(self._serializers, (key, value), strict=True)
        )
        encoded = encode_headers(headers)[0] if headers else None
        if self._sizes.append_if_room(timestamp or 0, key_bytes, value_bytes, encoded) < 0:
            return None
        self._records.append(BatchRecord(timestamp, key, value, headers))
        return Appended(len(self._records) - 1, None, self._sizes.size_in_bytes - before, timestamp)

    def records(self) -> list[BatchRecord]:
        """Return the records in the batch."""
        return self._records

    def record_count(self) -> int:
        """Return the number of records."""
        return len(self._records)

    def size(self) -> int:
        """Return the size in bytes, before compression."""
        return self._sizes.size_in_bytes

    def close(self) -> None:
        """Close the batch, which then accepts no more records."""
        self._closed = True

    def closed(self) -> bool:
        """Return whether the batch is closed."""
        return self._closed


__all__ = ["AIOKafkaProducer", "_missing"]

_missing = NOT_GIVEN

Headers = Sequence[tuple[str, bytes | None]]


class _Producer(AsyncKafkaProducer[Key, Value]):
    """Gives `AIOKafkaProducer` access to internals."""

    @property
    def is_started(self) -> bool:
        """Whether `start` has been called."""
        return self._core is not None

    def send_now(self) -> None:
        """Send buffered records without lingering, because the caller waits for them."""
        self._started().send_now()

    @property
    def batch_size(self) -> int:
        """Maximum size of a batch in bytes."""
        return self._parsed.producer.batch_size

    def html(self, kind: str) -> str:
        """Return the client's health as HTML, for notebooks.

        Arguments:
            kind: the class name to display for the client.
        """
        return self._shown_as(kind)


class _Sending(NamedTuple):
    """The attributes of aiokafka's sender that programs read.

    Arguments:
        sender_task: completes when the producer is stopped; None before the producer is started.
    """

    sender_task: "asyncio.Future[None] | None"


class AIOKafkaProducer(Generic[Key, Value]):
    """aiokafka's producer: an `AsyncKafkaProducer` whose `send` returns `asyncio.Future` objects.

    Arguments:
        configs: see `AIOProducerConfigs`. ``acks`` and ``enable_idempotence`` have this package's defaults: all
            replicas, and no duplicates.
    """

    _closed = InnerName(lambda producer: producer._stopped)
    """This and `_sender` are attributes of aiokafka's producer that frameworks read."""
    _sender = InnerName(lambda producer: _Sending(producer._running))

    def __init__(self, **configs: Unpack[AIOProducerConfigs]) -> None:
        self._options = producer_options(configs)
        self._producer: _Producer[Key, Value] = _Producer(**self._options)
        self._is_transactional = self._options.get("transactional_id") is not None
        self._stopped = False
        self._running: asyncio.Future[None] | None = None

    # Starting and stopping --------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Connect to the cluster, and initialize transactions if configured. Raises `KafkaConnectionError`."""
        await start(self._producer.start(), self._options)
        self._running = asyncio.get_running_loop().create_future()
        try:
            if self._is_transactional:
                await self._producer.init_transactions()
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Flush the buffered records and close the connections. Stopping a stopped producer has no effect."""
        self._stopped = True
        try:
            await self._producer.stop()
        finally:
            if self._running is not None and not self._running.done():
                self._running.set_result(None)

    def health(self) -> Health:
        """Return the producer's state; see `Health`. Any thread may call this; it neither waits nor raises."""
        return self._producer.health()

    def _repr_html_(self) -> str:
        """Return the producer's health as HTML, for notebooks. Any thread may call this; it sends no request."""
        return self._producer.html(type(self).__name__)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def flush(self) -> None:
        """Send all buffered records, and wait until they are delivered or have failed."""
        await self._producer.flush()

    async def partitions_for(self, topic: str) -> set[int]:
        """Return the numbers of all partitions of a topic; wait for its metadata if they are unknown.

        Arguments:
            topic: the name of the topic.
        """
        return await self._producer.partitions_for(topic)

    # Sending ----------------------------------------------------------------------------------------------------------

    async def send(
        self,
        topic: str,
        value: Value | None = None,
        key: Key | None = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
        headers: Headers | None = None,
    ) -> "asyncio.Future[RecordMetadata]":
        """Buffer a record, waiting while the buffer is full; return a future for its metadata.

        Arguments:
            topic: the topic.
            value: the value, for ``value_serializer``; None is a tombstone.
            key: the key, for ``key_serializer``; it determines the partition if ``partition`` is None.
            partition: the partition; None lets the partitioner choose.
            timestamp_ms: the timestamp in milliseconds since 1970; None for the current time.
            headers: pairs of a name and a value, which is bytes or None.

        With ``acks=0``, the future's result is None.
        """
        return self._future(await self._append(topic, value, key, partition, timestamp_ms, headers))

    async def send_and_wait(
        self,
        topic: str,
        value: Value | None = None,
        key: Key | None = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
        headers: Headers | None = None,
    ) -> RecordMetadata:
        """Send a record, and wait until it is acknowledged; return its metadata.

        Arguments:
            topic: the topic.
            value: the value, for ``value_serializer``; None is a tombstone.
            key: the key, for ``key_serializer``; it determines the partition if ``partition`` is None.
            partition: the partition; None lets the partitioner choose.
            timestamp_ms: the timestamp in milliseconds since 1970; None for the current time.
            headers: pairs of a name and a value, which is bytes or None.

        With ``acks=0``, the result is None.
        """
        future = self._future(await self._append(topic, value, key, partition, timestamp_ms, headers))
        self._producer.send_now()
        written: RecordMetadata = await future
        return written

    async def _append(
        self,
        topic: str,
        value: Any,
        key: Any,
        partition: int | None,
        timestamp_ms: int | None,
        headers: Headers | None,
    ) -> FutureRecordMetadata:
        if self._stopped:
            raise ProducerClosed("the producer is stopped")
        if value is None and key is None:
            raise AssertedArgumentError("a record needs a key or a value")
        sent = await self._producer.send(topic, value, key, headers, partition, timestamp_ms)
        if sent.is_done and (error := sent.exception) is not None:  # for example, because the record is too large
            raise error
        return sent

    def _future(self, sent: FutureRecordMetadata) -> "asyncio.Future[Any]":
        made: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        sent.add_callback(partial(_succeed, made, sent)).add_errback(partial(_fail, made))
        return made

    def create_batch(self) -> BatchBuilder:
        """Return an empty batch of at most ``max_batch_size`` bytes, for `send_batch`."""
        options = self._options
        return BatchBuilder(self._producer.batch_size, options.get("key_serializer"), options.get("value_serializer"))

    async def send_batch(self, batch: BatchBuilder, topic: str, *, partition: int) -> "asyncio.Future[RecordMetadata]":
        """Send the records in a batch to a partition, in order; return a future for the first record's metadata.

        Arguments:
            batch: a batch from `create_batch`; this call closes it.
            topic: the topic.
            partition: the partition.

        The future is done when all records are delivered, or when the first one has failed.
        """
        batch.close()
        sent = [
            await self._append(topic, record.value, record.key, partition, record.timestamp, record.headers)
            for record in batch.records()
        ]
        if not sent:
            raise AssertedArgumentError("the batch is empty")
        first, last = self._future(sent[0]), self._future(sent[-1])
        return first if len(sent) == 1 else asyncio.ensure_future(_first_of(first, last))

    # Transactions -----------------------------------------------------------------------------------------------------

    async def begin_transaction(self) -> None:
        """Begin a transaction: the records sent from here on belong to it, until it is committed or aborted.

        Raises `IllegalOperation` without the option ``transactional_id``.
        """
        self._check_transactional()
        await self._producer.begin_transaction()

    async def commit_transaction(self) -> None:
        """Wait until all records of the transaction are delivered, and commit it.

        Raises `IllegalOperation` without the option ``transactional_id``.
        """
        self._check_transactional()
        await self._producer.commit_transaction()

    async def abort_transaction(self) -> None:
        """Discard the records that are not sent yet, and abort the transaction.

        Raises `IllegalOperation` without the option ``transactional_id``.
        """
        self._check_transactional()
        await self._producer.abort_transaction()

    def transaction(self) -> AsyncTransactionBlock:
        """Return a context manager that commits the transaction, or aborts it if the block raises an error."""
        self._check_transactional()
        return self._producer.transaction()

    async def send_offsets_to_transaction(self, offsets: Mapping[TopicPartition, Any], group_id: str) -> None:
        """Commit the offsets of a consumer group as part of the transaction.

        Arguments:
            offsets: for each partition, the offset of the next record to read, as for `AIOKafkaConsumer.commit`.
            group_id: the consumer group.
        """
        self._check_transactional()
        if not group_id or not isinstance(group_id, str):
            raise ValueError(f"group_id: expected a name, got {group_id!r}")
        await self._producer.send_offsets_to_transaction(as_offsets(offsets), group_id)

    def _check_transactional(self) -> None:
        if not self._is_transactional:
            raise IllegalOperation("transactions need the option transactional_id, which is not set")


def _succeed(made: "asyncio.Future[Any]", sent: FutureRecordMetadata, written: WrittenAt) -> None:
    if made.done():
        return
    if written.offset < 0:  # acks=0
        made.set_result(None)
        return
    by_broker = sent.place()[0].log_append_time >= 0
    topic, partition, topic_partition, offset, timestamp = written[:5]
    made.set_result(RecordMetadata(topic, partition, topic_partition, offset, timestamp, int(by_broker), None))


def _fail(made: "asyncio.Future[Any]", error: BaseException) -> None:
    if not made.done():
        made.set_exception(error)
        if isinstance(error, TransactionAbortedError):
            made.exception()  # the caller aborted; this keeps asyncio from logging an unretrieved exception


async def _first_of(first: "asyncio.Future[Any]", last: "asyncio.Future[Any]") -> Any:
    found, _ = await asyncio.gather(first, last)
    return found
