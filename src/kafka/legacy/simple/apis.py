"""Conversion between the payload tuples of `SimpleClient` and today's requests, responses and record batches."""

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
"""By version of Produce; 2 from version 3 on."""

Answer = Callable[[Any], Any]
"""Makes the payload of an answer for the one that was asked with, so that names come back as they were given."""


class Api(NamedTuple):
    """One kind of exchange about partitions.

    Attributes:
        message: the class of its request.
        request: makes the request of payloads and the version that it will be sent in.
        answers: reads a response: topic, partition, and what makes the payload of the answer.
        max_version: the newest version that names topics and holds one group.
        channel: the connection to the leader that it goes over: one for what a broker may take its time with.
    """

    message: type[Request[Any]]
    request: Callable[[Sequence[Any], int], Request[Any]]
    answers: Callable[[Any], Iterator[tuple[str, int, Answer]]]
    max_version: int | None = None
    channel: str = ""


def text(name: Any) -> Any:
    """Return a name as text: 0.9 took bytes as well, and so do its programs' payloads."""
    return bytes(name).decode() if isinstance(name, (bytes, bytearray)) else name


def _grouped(
    payloads: Iterable[Any],
    struct: Callable[..., Any],
    entry: Callable[[Any], Any],
    name: str = "name",
    entries: str = "partitions",
) -> list[Any]:
    """Payloads as the topics of a request; `AssertionError` where a partition comes twice."""
    return [
        struct(**{name: text(topic), entries: [entry(payload) for payload in found.values()]})
        for topic, found in group_by_topic_and_partition(payloads).items()
    ]


def produce(payloads: Iterable[Any], acks: int, timeout_ms: int) -> Api:
    """Append messages, which are encoded at once.

    More than one acknowledgement means all of them, which is what today's brokers can wait for.
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
    """What makes an answer's payload: the topic and partition of the question, then what was answered."""
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
    """Find an offset by the time of each payload; `make` gives the answer of a partition."""

    def partition(payload: Any, version: int) -> ListOffsetsPartition:
        asked = ListOffsetsPartition(partition_index=payload.partition, timestamp=payload.time)
        if version == 0:  # which gives as many offsets of segments as are wanted
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
    """The answer of a broker before 0.10.1: the offsets of segments that began before the time, and the end."""


def _first_offsets(each: Any) -> Answer:
    if each.old_style_offsets:
        return _with(OffsetsOfSegments, each.error_code, tuple(each.old_style_offsets))
    return _with(tuples.OffsetResponsePayload, each.error_code, (each.offset,) if each.offset >= 0 else ())


FIRST_OFFSETS = list_offsets(_first_offsets)
"""The offsets of payloads whose times are taken as they are."""
OFFSETS_WITH_TIMES = list_offsets(
    lambda each: _with(tuples.ListOffsetResponsePayload, each.error_code, each.timestamp, each.offset)
)


def offset_commit(group: str) -> Api:
    """Commit a group's offsets without being its member."""

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
    """Read a group's offsets.

    Arguments:
        payloads: what will be asked.
        none_is_an_error: whether there being no offset is an error, as it was of those in ZooKeeper.
    """

    def request(payloads: Sequence[Any], _: int) -> OffsetFetchRequest:
        topics = _grouped(payloads, OffsetFetchRequestTopic, lambda p: p.partition, entries="partition_indexes")
        return OffsetFetchRequest(group_id=group, topics=topics)

    def answers(response: Any) -> Iterator[tuple[str, int, Answer]]:
        if response.error_code:  # of all of it
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
    """Encode the messages of a payload as one batch; None if there are none.

    Messages that hold others are taken apart, as brokers take one batch at a time, compressed as a whole: by the codec
    of the first of them. A message without a timestamp, as magic 0 has none, gets the present time.
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
    """The records that a compressed message holds."""
    if value is None:
        raise ProtocolError("a message that names a codec has no value, which would hold other messages")
    columns = decode_batches(decompress(codec, memoryview(value)))
    for index, timestamp in enumerate(columns.timestamps):
        yield timestamp, columns.key(index), columns.value(index)


class Messages(list[OffsetAndMessage]):
    """The messages of an answer.

    Attributes:
        next_offset: where to go on: also behind what brokers keep for transactions, which is no message.
    """

    next_offset = 0


def messages_of(data: Buffer, topic: str, partition: int, start_offset: int) -> Messages:
    """Decode what a broker answered to Fetch, without what is below the offset that was asked for.

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
    """A `kafka.protocol.message.Message` as brokers of the time sent it, whose batch has been checked already."""
    message = Message(value, key)
    message._validated_crc = message.crc
    return message
