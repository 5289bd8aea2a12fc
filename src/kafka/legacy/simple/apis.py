"""Converts between the payload tuples of `SimpleClient` and today's requests, responses and record batches."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from kafka.errors import ProtocolError
from kafka.legacy import payloads as tuples
from kafka.legacy.payloads import OffsetAndMessage, group_by_topic_and_partition
from kafka.legacy.protocol.message import Message
from kafka.record import BatchBuilder, Buffer, Compression, decode_batches
from kafka.record.codecs import decompress
from kafka.record.layout import CODEC_MASK
from kafka.wire.api.fetch import FetchPartition, FetchRequest, FetchTopic
from kafka.wire.api.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kafka.wire.api.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafka.wire.api.offset_fetch import OffsetFetchRequest, OffsetFetchRequestTopic
from kafka.wire.api.produce import PartitionProduceData, ProduceRequest, TopicProduceData

if TYPE_CHECKING:
    from kafka.wire import Request


_UNKNOWN_PARTITION = 3
_MAGIC_OF_PRODUCE = {0: 0, 1: 0, 2: 1}
"""The magic for each version of Produce; version 3 and later use magic 2."""

Answer = Callable[[Any], Any]
"""Creates a response payload for a request payload; topic names have the same type in both."""


class Api(NamedTuple):
    """A type of request that concerns partitions.

    Attributes:
        message: the class of the request.
        request: creates the request from payloads, in a given version.
        answers: parses a response; yields the topic, the partition, and a function that creates the response payload.
        max_version: the newest version that contains topic names and a single group.
        channel: the connection to the leader; requests that a broker may delay use a separate one.
    """

    message: type[Request[Any]]
    request: Callable[[Sequence[Any], int], Request[Any]]
    answers: Callable[[Any], Iterator[tuple[str, int, Answer]]]
    max_version: int | None = None
    channel: str = ""


def text(name: Any) -> Any:
    """Return a name as text; 0.9 also accepted names as bytes in payloads."""
    return bytes(name).decode() if isinstance(name, (bytes, bytearray)) else name


def _grouped(
    payloads: Iterable[Any],
    struct: Callable[..., Any],
    entry: Callable[[Any], Any],
    name: str = "name",
    entries: str = "partitions",
) -> list[Any]:
    """Group payloads by topic, as a request contains them. Raises `AssertionError` for a duplicate partition."""
    return [
        struct(**{name: text(topic), entries: [entry(payload) for payload in found.values()]})
        for topic, found in group_by_topic_and_partition(payloads).items()
    ]


def produce(payloads: Iterable[Any], acks: int, timeout_ms: int) -> Api:
    """Append messages, which are encoded immediately.

    A request for more than one acknowledgement waits for all in-sync replicas, because today's brokers do not support
    other numbers.
    """
    batches = {(text(p.topic), p.partition): record_batch(p.messages) for p in payloads}

    def records(payload: Any, magic: int) -> bytes | None:
        return batches[text(payload.topic), payload.partition] if magic == 2 else record_batch(payload.messages, magic)

    def request(payloads: Sequence[Any], version: int) -> ProduceRequest:
        magic = _MAGIC_OF_PRODUCE.get(version, 2)
        topics = _grouped(
            payloads,
            TopicProduceData,
            lambda p: PartitionProduceData(index=p.partition, records=records(p, magic)),
            entries="partition_data",
        )
        return ProduceRequest(acks=-1 if acks > 1 else acks, timeout_ms=timeout_ms, topic_data=topics)

    def answers(response: Any) -> Iterator[tuple[str, int, Answer]]:
        for topic in response.responses:
            for each in topic.partition_responses:
                code, offset = each.error_code, each.base_offset
                yield topic.name, each.index, _with(tuples.ProduceResponsePayload, code, offset)

    return Api(ProduceRequest, request, answers, 12)


def _with(kind: Callable[..., Any], *rest: Any) -> Answer:
    """Return a function that creates a response payload from the request's topic and partition and the given values."""
    return lambda asked: kind(asked.topic, asked.partition, *rest)


def fetch(max_wait_ms: int, min_bytes: int) -> Api:
    """Read messages."""

    def request(payloads: Sequence[Any], _: int) -> FetchRequest:
        topics = _grouped(
            payloads,
            FetchTopic,
            lambda p: FetchPartition(
                partition=p.partition, fetch_offset=p.offset, partition_max_bytes=min(p.max_bytes, 2**31 - 1)
            ),
            name="topic",
        )
        return FetchRequest(max_wait_ms=max_wait_ms, min_bytes=min_bytes, topics=topics)

    def answers(response: Any) -> Iterator[tuple[str, int, Answer]]:
        for topic in response.responses:
            for each in topic.partitions:
                yield topic.topic, each.partition_index, _fetched(each)

    return Api(FetchRequest, request, answers, 12, "fetch")


def _fetched(each: Any) -> Answer:
    def answer(asked: Any) -> Any:
        messages = messages_of(each.records or b"", text(asked.topic), asked.partition, asked.offset)
        return tuples.FetchResponsePayload(asked.topic, asked.partition, each.error_code, each.high_watermark, messages)

    return answer


def list_offsets(make: Callable[[Any], Answer]) -> Api:
    """Look up an offset by the time in each payload; `make` returns the function that creates a response payload."""

    def partition(payload: Any, version: int) -> ListOffsetsPartition:
        asked = ListOffsetsPartition(partition_index=payload.partition, timestamp=payload.time)
        if version == 0:  # version 0 returns several segment offsets
            asked.max_num_offsets = getattr(payload, "max_offsets", 1)
        return asked

    def request(payloads: Sequence[Any], version: int) -> ListOffsetsRequest:
        topics = _grouped(payloads, ListOffsetsTopic, lambda payload: partition(payload, version))
        return ListOffsetsRequest(replica_id=-1, topics=topics)

    def answers(response: Any) -> Iterator[tuple[str, int, Answer]]:
        for topic in response.topics:
            for each in topic.partitions:
                yield topic.name, each.partition_index, make(each)

    return Api(ListOffsetsRequest, request, answers)


class OffsetsOfSegments(tuples.OffsetResponsePayload):
    """The response of a broker before 0.10.1: start offsets of segments that begin before the time, and the log end."""


def _first_offsets(each: Any) -> Answer:
    if each.old_style_offsets:
        return _with(OffsetsOfSegments, each.error_code, tuple(each.old_style_offsets))
    return _with(tuples.OffsetResponsePayload, each.error_code, (each.offset,) if each.offset >= 0 else ())


FIRST_OFFSETS = list_offsets(_first_offsets)
"""Looks up the first offset at or after each payload's time; brokers before 0.10.1 return segment offsets."""
OFFSETS_WITH_TIMES = list_offsets(
    lambda each: _with(tuples.ListOffsetResponsePayload, each.error_code, each.timestamp, each.offset)
)


def offset_commit(group: str) -> Api:
    """Commit offsets for a group without being a member."""

    def request(payloads: Sequence[Any], _: int) -> OffsetCommitRequest:
        topics = _grouped(
            payloads,
            OffsetCommitRequestTopic,
            lambda p: OffsetCommitRequestPartition(
                partition_index=p.partition, committed_offset=p.offset, committed_metadata=text(p.metadata)
            ),
        )
        return OffsetCommitRequest(group_id=group, topics=topics)

    def answers(response: Any) -> Iterator[tuple[str, int, Answer]]:
        for topic in response.topics:
            for each in topic.partitions:
                yield topic.name, each.partition_index, _with(tuples.OffsetCommitResponsePayload, each.error_code)

    return Api(OffsetCommitRequest, request, answers, 9)


def offset_fetch(group: str, payloads: Sequence[Any], none_is_an_error: bool) -> Api:
    """Fetch a group's offsets.

    Arguments:
        payloads: the payloads that will be sent.
        none_is_an_error: whether a missing offset is an error, as it was for offsets in ZooKeeper.
    """

    def request(payloads: Sequence[Any], _: int) -> OffsetFetchRequest:
        topics = _grouped(payloads, OffsetFetchRequestTopic, lambda p: p.partition, entries="partition_indexes")
        return OffsetFetchRequest(group_id=group, topics=topics)

    def answers(response: Any) -> Iterator[tuple[str, int, Answer]]:
        if response.error_code:  # an error for the whole response
            refused = _with(tuples.OffsetFetchResponsePayload, -1, "", response.error_code)
            yield from ((text(payload.topic), payload.partition, refused) for payload in payloads)
        for topic in response.topics:
            for each in topic.partitions:
                code = each.error_code
                offset = each.committed_offset
                if not code and offset < 0 and none_is_an_error:
                    code = _UNKNOWN_PARTITION
                answer = _with(tuples.OffsetFetchResponsePayload, offset, each.metadata or "", code)
                yield topic.name, each.partition_index, answer

    return Api(OffsetFetchRequest, request, answers, 7)


# Messages of 0.9 to 1.4, and record batches

_Record = tuple[int, bytes | None, bytes | None]
"""Timestamp (-1: none), key and value."""


def record_batch(messages: Iterable[Any], magic: int = 2) -> bytes | None:
    """Encode the messages of a payload as one batch; return None if there are none.

    Compressed messages are unpacked, because brokers accept only one batch at a time. The batch uses the codec of the
    first compressed message. Messages without a timestamp, as in magic 0, get the current time.
    """
    codec = Compression.NONE
    records: list[_Record] = []
    for message in messages:
        own = Compression(message.attributes & CODEC_MASK)
        codec = codec or own
        records += _inside(own, message.value) if own else [(_timestamp(message), message.key, message.value)]
    if not records:
        return None
    now = int(time.time() * 1000)
    builder = BatchBuilder(magic, codec)
    for timestamp, key, value in records:
        builder.append(now if timestamp < 0 else timestamp, key, value)
    return builder.build()


def _timestamp(message: Any) -> int:
    timestamp = getattr(message, "timestamp", None)
    return -1 if timestamp is None else int(timestamp)


def _inside(codec: Compression, value: bytes | None) -> Iterator[_Record]:
    """Yield the records inside a compressed message."""
    if value is None:
        raise ProtocolError("a compressed message has no value")
    columns = decode_batches(decompress(codec, memoryview(value)))
    for index, timestamp in enumerate(columns.timestamps):
        yield timestamp, columns.key(index), columns.value(index)


class Messages(list[OffsetAndMessage]):
    """The messages in a response.

    Attributes:
        next_offset: the offset to fetch next, after any control records, which are not messages.
    """

    next_offset = 0


def messages_of(data: Buffer, topic: str, partition: int, start_offset: int) -> Messages:
    """Decode the records in a Fetch response, omitting those before the requested offset.

    Raises:
        CorruptRecordException: a batch is damaged.
    """
    columns = decode_batches(data, topic=topic, partition=partition, start_offset=start_offset)
    messages = Messages(
        OffsetAndMessage(offset, message_of(columns.key(index), columns.value(index)))
        for index, offset in enumerate(columns.offsets)
    )
    messages.next_offset = columns.next_offset
    return messages


def message_of(key: bytes | None, value: bytes | None) -> Any:
    """Return a `kafka.protocol.message.Message` with a valid checksum; the checksum of its batch has been verified."""
    message = Message(value, key)
    message._validated_crc = message.crc
    return message
