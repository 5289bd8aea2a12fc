"""Puts a record into a batch, in the thread that calls `send()`.

The producer's hot path: one dictionary lookup and two calls per record. The compiled variant takes no lock. A future is
a view of its batch, the clock is read only for the record's timestamp, nothing is logged, and only the first record of
a batch wakes the loop. Compiled with Cython; the plain variant behaves the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, cast

from kafka.errors import AssertedArgumentError, MessageSizeTooLargeError
from kafka.partitioner.murmur2 import murmur2
from kafka.producer.appending.append import append_locked
from kafka.producer.appending.checks import (
    Blocked,
    NeedsTopic,
    PartitionGone,
    PreparedRecord,
    checked_bytes,
    checked_number,
    checked_partition,
    checked_timestamp,
    checked_topic,
    encoded_headers,
    serialized,
)
from kafka.producer.future import FutureRecordMetadata
from kafka.record.builder import MAX_TIMESTAMP

try:
    import cython
except ImportError:  # the plain variant does not need Cython
    from kafka import _cython as cython

if cython.compiled:
    from cython.cimports.cpython.time import time_ns as c_time_ns
    from cython.cimports.kafka.producer.appending.append import append_unlocked
else:
    from time import time_ns as c_time_ns

    from kafka.producer.appending.append import append_unlocked

if TYPE_CHECKING:
    from kafka.partitioner.abc import KnownPartitions
    from kafka.partitioner.partitioner_adapter import Pick
    from kafka.producer.appending.record_buffer import RecordBuffer
    from kafka.producer.batch.queues import TopicQueues
    from kafka.serializer import AdaptedSerializer

Append = Callable[..., FutureRecordMetadata]
"""The type of `RecordAppender.append`, which is untyped in the compiled variant."""
_MAX_TIMESTAMP = cython.declare(cython.longlong, MAX_TIMESTAMP)
RECORD_OVERHEAD = 61 + 21
"""Maximum number of bytes that a batch of one record needs in addition to the key, value and headers."""


@cython.cclass
class RecordAppender:
    """Serializes records, chooses their partitions, and appends them to the open batches of a buffer.

    Arguments:
        buffer: the unsent records.
        key_serializer, value_serializer: None if keys or values are already bytes.
        pick: the user's partitioner; None for the default partitioner.
        cluster: returns the metadata to pass to the user's partitioner.
        max_record_size: maximum size in bytes of a batch with one record (`max_request_size`).
        now_ns: returns the wall-clock time in nanoseconds, for timestamps.
        ignore_keys: whether the default partitioner ignores keys.
    """

    _buffer: Any
    _topics: dict[str, Any]
    _lock: Any
    _key_serializer: Any
    _value_serializer: Any
    _pick: Any
    _cluster: Any
    _max_record_size: cython.Py_ssize_t
    _now_ns: Any
    _c_clock: cython.bint
    _ignore_keys: cython.bint

    def __init__(
        self,
        buffer: RecordBuffer,
        key_serializer: AdaptedSerializer | None,
        value_serializer: AdaptedSerializer | None,
        pick: Pick | None,
        cluster: Callable[[], KnownPartitions],
        max_record_size: int,
        now_ns: Callable[[], int] = time.time_ns,
        ignore_keys: bool = False,
    ) -> None:
        self._buffer = buffer
        self._key_serializer = key_serializer
        self._value_serializer = value_serializer
        self._pick = pick
        self._cluster = cluster
        self._max_record_size = max_record_size
        self._now_ns = now_ns
        self._c_clock = now_ns is time.time_ns
        self._ignore_keys = ignore_keys
        self.rebind()

    def rebind(self) -> None:
        """Use the buffer's current lock and topics, which are replaced after a fork and when the producer is closed."""
        self._topics = self._buffer.topics
        self._lock = self._buffer.lock

    @cython.ccall
    def append(
        self,
        topic: Any,
        value: Any = None,
        key: Any = None,
        headers: Any = None,
        partition: Any = None,
        timestamp_ms: Any = None,
    ) -> FutureRecordMetadata:
        """Append one record.

        Arguments:
            topic: name of the topic.
            value, key: input of the serializers; bytes or None without serializers.
            headers: pairs of text and bytes.
            partition: None lets the partitioner choose.
            timestamp_ms: milliseconds since 1970-01-01 UTC; None for now.

        Raises `Blocked` if the record has to wait, `IllegalArgumentError` or `TypeError` if it is invalid, and errors
        from the serializers and the partitioner.
        """
        try:
            found: Any = self._topics.get(topic)
        except TypeError:  # not hashable, so not a topic name
            found = None
        if found is None:
            raise self._unknown(topic, partition)
        topic = found.topic  # a plain str, even if the caller passed a subclass such as a member of a StrEnum
        if self._key_serializer is not None:
            key_bytes = serialized(self._key_serializer, "key", topic, key, headers)
        else:
            key_bytes = key
        if key_bytes is not None and type(key_bytes) is not bytes:
            key_bytes = checked_bytes("key", topic, key_bytes, self._key_serializer)
        if self._value_serializer is not None:
            value_bytes = serialized(self._value_serializer, "value", topic, value, headers)
        else:
            value_bytes = value
        if value_bytes is not None and type(value_bytes) is not bytes:
            value_bytes = checked_bytes("value", topic, value_bytes, self._value_serializer)
        if key_bytes is None and value_bytes is None:
            raise self._nothing(topic)
        size: cython.Py_ssize_t = RECORD_OVERHEAD
        size += 0 if key_bytes is None else len(key_bytes)
        size += 0 if value_bytes is None else len(value_bytes)
        header_size: cython.Py_ssize_t = -1
        if type(headers) is int:  # kafka-python 1.0: send(topic, value, key, partition)
            partition, headers = headers, None
        if headers:
            headers, header_size = encoded_headers(topic, headers)
            size += len(headers)
        else:
            headers = None
        timestamp: cython.longlong
        if timestamp_ms is None:
            timestamp = c_time_ns() if self._c_clock else self._now_ns()
            timestamp //= 1_000_000
        else:
            if type(timestamp_ms) is not int:
                timestamp_ms = checked_timestamp(topic, timestamp_ms)
            try:
                timestamp = timestamp_ms
            except OverflowError:  # raised in the compiled variant
                timestamp = checked_timestamp(topic, timestamp_ms)
            if timestamp < -1 or timestamp > _MAX_TIMESTAMP:
                checked_timestamp(topic, timestamp_ms)
        named: cython.bint = partition is not None
        generation: cython.Py_ssize_t = found.generation  # read first, because the topic may be recreated at any time
        number = self._partition(found, partition, key, key_bytes, value, value_bytes, size)
        future: FutureRecordMetadata | None = None
        if size > self._max_record_size:
            record = PreparedRecord(topic, number, timestamp, key_bytes, value_bytes, headers, header_size, size)
            return self._buffer.refuse_record(record, self._too_large(topic, size))
        if cython.compiled:  # no other thread can have run since the partition was chosen
            future = append_unlocked(
                found.queues, number, timestamp, key_bytes, value_bytes, headers, header_size, named
            )
            if future is not None:
                return future
        queue: Any = found.queues[number]
        with self._lock:
            batch: Any = queue.open
            if batch is not None and found.generation == generation:
                future = append_locked(batch, timestamp, key_bytes, value_bytes, headers, header_size, named)
        if future is not None:
            return future
        record = PreparedRecord(
            topic, number, timestamp, key_bytes, value_bytes, headers, header_size, size, named, generation
        )
        try:
            future = self._buffer.open_batch(queue, record, batch)
            self._buffer.wake()
        except BaseException:
            self._buffer.wake()  # an interrupt may have prevented the sender from being notified
            raise
        return future

    @cython.cfunc
    def _partition(
        self,
        found: TopicQueues,
        partition: Any,
        key: Any,
        key_bytes: bytes | None,
        value: Any,
        value_bytes: bytes | None,
        size: int,
    ) -> int:
        """Return the partition chosen by the caller, the user's partitioner or the default partitioner."""
        if partition is not None:
            if type(partition) is not int:
                partition = checked_number(found.topic, partition, "partition")
            if partition >= found.count:
                raise NeedsTopic(found.topic, partition)
            return checked_partition(found.topic, partition, found.count, "partition")
        if self._pick is not None:
            generation = found.generation
            picked = self._pick(found.topic, key, key_bytes, value, value_bytes, self._cluster())
            if found.generation != generation:
                raise PartitionGone
            return checked_partition(found.topic, picked, found.count, "the partitioner's choice")
        if key_bytes is None or self._ignore_keys:
            return found.pick_sticky(size)
        hashed: cython.longlong = murmur2(key_bytes)
        count: cython.longlong = found.count
        return (hashed & 0x7FFFFFFF) % count

    def _unknown(self, topic: Any, partition: Any) -> Exception:
        """Return the reason why a record for an unknown topic must wait or can never be accepted."""
        refusal: Exception | None = self._buffer.refusal
        if refusal is not None:
            return refusal
        number = None if partition is None else checked_number(topic, partition, "partition")
        return NeedsTopic(checked_topic(topic), number)

    def _nothing(self, topic: str) -> AssertedArgumentError:
        return AssertedArgumentError(
            f"a record for topic {topic!r} needs a key or value: a value of None deletes the earlier values of its key"
        )

    def _too_large(self, topic: str, size: int) -> MessageSizeTooLargeError:
        return MessageSizeTooLargeError(
            f"a record of about {size} bytes for topic {topic!r} is larger than max_request_size "
            f"({self._max_record_size}); raise it here, max.message.bytes of the topic and the consumers' fetch sizes"
        )


class WaitingProducer(Protocol):
    """The interface of the class that inherits from `RecordSender`."""

    def _send_when_possible(self, reason: Blocked, *record: Any) -> FutureRecordMetadata:
        """Wait until a blocked record can be sent, and send it."""

    def _send_intercepted(self, *record: Any) -> FutureRecordMetadata:
        """Send a record after passing it through the interceptors."""


@cython.cclass
class RecordSender:
    """A producer's `send()`, compiled with its appender to avoid a Python frame and repeated argument parsing.

    The subclass has to be a `WaitingProducer`.
    """

    _appender = cython.declare(RecordAppender, visibility="public")
    _is_intercepted = cython.declare(cython.bint, visibility="public")

    @cython.annotation_typing(False)  # a topic may be a subclass of str
    def send(
        self,
        topic: str,
        value: Any = None,
        key: Any = None,
        headers: Sequence[tuple[str, bytes | None]] | None = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
    ) -> FutureRecordMetadata:
        """Buffer a record, and return a future that resolves to a `RecordMetadata` once the record is acknowledged.

        Arguments:
            topic: name of the topic.
            value: bytes, or input of the value serializer; None with a key is a tombstone.
            key: bytes, or input of the key serializer; records with the same key go to the same partition.
            headers: pairs of text and bytes.
            partition: the partition to send to; None lets the partitioner choose.
            timestamp_ms: milliseconds since 1970-01-01 UTC; None means now.

        Waits only if the topic is not known yet or `buffer_memory` is used up, and raises `KafkaTimeoutError` if the
        wait exceeds `max_block_ms`. Raises `IllegalArgumentError` or `TypeError` for an invalid record,
        `TopicAuthorizationFailedError`, `IllegalStateError` once the producer is closed, and errors from the
        serializers. The future of a record larger than `max_request_size` fails with `MessageSizeTooLargeError`.
        """
        producer: WaitingProducer = cast("WaitingProducer", self)
        if self._is_intercepted:
            return producer._send_intercepted(topic, value, key, headers, partition, timestamp_ms)
        try:
            return self._appender.append(topic, value, key, headers, partition, timestamp_ms)
        except Blocked as reason:
            blocked = reason.with_traceback(None)  # the traceback's frames would keep the producer alive
        return producer._send_when_possible(blocked, topic, value, key, headers, partition, timestamp_ms)
