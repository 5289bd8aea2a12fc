"""Requests and responses of the clients of kafka-python 0.9 and 1.x: named tuples, with the names of 1.x.

In 0.9 the names of requests and responses did not end in ``Payload``; `kafka.common` has both.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol, Self, TypeVar

from kafka import structs


class MetadataRequest(NamedTuple):
    """Requests metadata for topics."""

    topics: list[str]


class MetadataResponse(NamedTuple):
    """The brokers and topics of a cluster."""

    brokers: list[Any]
    topics: list[Any]


class ConsumerMetadataRequest(NamedTuple):
    """Requests the coordinators of groups."""

    groups: list[str]


class ConsumerMetadataResponse(NamedTuple):
    """The coordinator of a group."""

    error: int
    nodeId: int  # noqa: N815  # kafka-python's name
    host: str
    port: int


class ProduceRequestPayload(NamedTuple):
    """Messages for a partition."""

    topic: str
    partition: int
    messages: list[Any]


class ProduceResponsePayload(NamedTuple):
    """The offset of the first message written."""

    topic: str
    partition: int
    error: int
    offset: int


class FetchRequestPayload(NamedTuple):
    """Requests messages from a partition, starting at an offset."""

    topic: str
    partition: int
    offset: int
    max_bytes: int


class FetchResponsePayload(NamedTuple):
    """Messages from a partition."""

    topic: str
    partition: int
    error: int
    highwaterMark: int  # noqa: N815  # kafka-python's name
    messages: list[Any]


class OffsetRequestPayload(NamedTuple):
    """Requests up to ``max_offsets`` offsets before a time in milliseconds; -1 for the end, -2 for the beginning."""

    topic: str
    partition: int
    time: int
    max_offsets: int


class ListOffsetRequestPayload(NamedTuple):
    """Requests the first offset at or after a time in milliseconds; -1 for the end, -2 for the beginning."""

    topic: str
    partition: int
    time: int


class OffsetResponsePayload(NamedTuple):
    """Offsets of a partition, newest first."""

    topic: str
    partition: int
    error: int
    offsets: list[int]


class ListOffsetResponsePayload(NamedTuple):
    """An offset in a partition, and the timestamp of the message at that offset."""

    topic: str
    partition: int
    error: int
    timestamp: int
    offset: int


class OffsetCommitRequestPayload(NamedTuple):
    """An offset to commit for a partition."""

    topic: str
    partition: int
    offset: int
    metadata: str | bytes | None


class OffsetCommitResponsePayload(NamedTuple):
    """The result of a commit."""

    topic: str
    partition: int
    error: int


class OffsetFetchRequestPayload(NamedTuple):
    """Requests the committed offset for a partition."""

    topic: str
    partition: int


class OffsetFetchResponsePayload(NamedTuple):
    """The committed offset for a partition; -1 if there is none."""

    topic: str
    partition: int
    offset: int
    metadata: str | bytes | None
    error: int


class TopicMetadata(NamedTuple):
    """Topic metadata in 0.9."""

    topic: str
    error: int
    partitions: list[Any]


class PartitionMetadata(NamedTuple):
    """Partition metadata in 0.9 and 1.0; the class in `kafka.structs` also has leader epochs."""

    topic: str
    partition: int
    leader: int
    replicas: list[int]
    isr: list[int]
    error: int


class _IdAndAddress(NamedTuple):
    nodeId: int  # noqa: N815  # kafka-python's name
    host: str
    port: int


class BrokerMetadata(_IdAndAddress):
    """Broker metadata in 0.9 and 1.0: a tuple of three items. `rack` is an additional attribute."""

    rack: str | None = None

    def __new__(cls, nodeId: int, host: str, port: int, rack: str | None = None) -> Self:  # noqa: N803
        broker = super().__new__(cls, nodeId, host, port)
        broker.rack = rack
        return broker

    def __getnewargs__(self) -> tuple[Any, ...]:
        return (*self, self.rack)


class Message(NamedTuple):
    """A message: magic byte, attributes, key and value."""

    magic: int
    attributes: int
    key: bytes | None
    value: Any


class OffsetAndMessage(NamedTuple):
    """A message and its offset."""

    offset: int
    message: Message


class KafkaMessage(NamedTuple):
    """A message returned by the `KafkaConsumer` of 0.9."""

    topic: str
    partition: int
    offset: int
    key: Any
    value: Any


# Names in 0.9
TopicAndPartition = structs.TopicPartition
ProduceRequest = ProduceRequestPayload
ProduceResponse = ProduceResponsePayload
FetchRequest = FetchRequestPayload
FetchResponse = FetchResponsePayload
OffsetRequest = OffsetRequestPayload
OffsetResponse = OffsetResponsePayload
OffsetCommitRequest = OffsetCommitRequestPayload
OffsetCommitResponse = OffsetCommitResponsePayload
OffsetFetchRequest = OffsetFetchRequestPayload
OffsetFetchResponse = OffsetFetchResponsePayload


class _OfAPartition(Protocol):
    @property
    def topic(self) -> str: ...

    @property
    def partition(self) -> int: ...


_Payload = TypeVar("_Payload", bound=_OfAPartition)


def group_by_topic_and_partition(tuples: Iterable[_Payload]) -> dict[str, dict[int, _Payload]]:
    """Group payloads in a dict of dicts, by topic and partition. Raises `AssertionError` for a duplicate partition."""
    found: dict[str, dict[int, _Payload]] = defaultdict(dict)
    for payload in tuples:
        if payload.partition in found[payload.topic]:
            name = type(payload).__name__
            raise AssertionError(f"Duplicate {name}s for {payload.topic} {payload.partition}")
        found[payload.topic][payload.partition] = payload
    return found
