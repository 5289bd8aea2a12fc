"""The bytes that members of a "consumer" group exchange through the coordinator, which does not look into them.

They begin with a version of two bytes. A reader takes what it knows of a newer version: fields are only ever added at
the end.
"""

import struct
from collections.abc import Iterable, Mapping, Sequence

from kafka.errors import WireFormatError
from kafka.structs import TopicPartition
from kafka.wire.api import consumer_protocol as wire
from kafka.wire.api.consumer_protocol import ConsumerProtocolAssignment, ConsumerProtocolSubscription

PROTOCOL_TYPE = "consumer"
"""The protocol type of consumers' groups, as against Connect's and others."""

ASSIGNMENT_VERSION = 0
"""Written for assignments: all versions have the same layout, and the oldest members read this one."""

_VERSION = struct.Struct(">h")


def make_subscription(topics: Iterable[str], user_data: bytes | None = None) -> ConsumerProtocolSubscription:
    """What a member tells the leader when it joins."""
    return ConsumerProtocolSubscription(topics=sorted(topics), user_data=user_data)


def make_assignment(topics: Mapping[str, Sequence[int]], user_data: bytes | None = None) -> ConsumerProtocolAssignment:
    """The assignment of one member, from the partitions it gets by topic."""
    assigned = [
        wire.ConsumerProtocolAssignmentTopicPartition(topic=topic, partitions=list(partitions))
        for topic, partitions in topics.items()
    ]
    return ConsumerProtocolAssignment(assigned_partitions=assigned, user_data=user_data)


def assigned_partitions(assignment: ConsumerProtocolAssignment) -> list[TopicPartition]:
    """The partitions in an assignment, one by one."""
    return [
        TopicPartition(entry.topic, partition)
        for entry in assignment.assigned_partitions
        for partition in entry.partitions
    ]


def partitions_by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    """Partition numbers by topic, in the order given."""
    grouped: dict[str, list[int]] = {}
    for topic, partition in partitions:
        grouped.setdefault(topic, []).append(partition)
    return grouped


def encode_subscription(subscription: ConsumerProtocolSubscription) -> bytes:
    """A subscription as bytes, in the oldest version that holds all it says."""
    if subscription.rack_id is not None:
        version = 3
    elif subscription.generation_id != -1:
        version = 2
    else:
        version = 1
    return _VERSION.pack(version) + subscription.encode(version)


def decode_subscription(data: bytes) -> ConsumerProtocolSubscription:
    """The subscription in another member's bytes; raises `WireFormatError`."""
    version = _read_version(data, "subscription")
    if version > ConsumerProtocolSubscription.MAX_VERSION:
        return _decode_newer_subscription(data)
    return ConsumerProtocolSubscription.decode(data[2:], version)


def encode_assignment(assignment: ConsumerProtocolAssignment) -> bytes:
    """An assignment as bytes."""
    return _VERSION.pack(ASSIGNMENT_VERSION) + assignment.encode(ASSIGNMENT_VERSION)


def decode_assignment(data: bytes) -> ConsumerProtocolAssignment:
    """The assignment in the leader's bytes; no bytes are an empty assignment. Raises `WireFormatError`."""
    if not data:
        return ConsumerProtocolAssignment()
    version = _read_version(data, "assignment")
    return ConsumerProtocolAssignment.decode(data[2:], min(version, ConsumerProtocolAssignment.MAX_VERSION))


def _read_version(data: bytes, what: str) -> int:
    if len(data) < 2:
        raise WireFormatError(f"a group {what} begins with a version of 2 bytes, but there are {len(data)} bytes")
    version: int = _VERSION.unpack_from(data)[0]
    if version < 0:
        raise WireFormatError(f"a group {what} has the version {version}; versions begin at 0")
    return version


def _decode_newer_subscription(data: bytes) -> ConsumerProtocolSubscription:
    """Read the topics of a version that is not known here: they come first in every version."""
    (count,) = struct.unpack_from(">i", data, 2) if len(data) >= 6 else (0,)
    at, topics = 6, []
    for _ in range(count):
        if at + 2 > len(data):
            raise WireFormatError(f"a group subscription of {len(data)} bytes ends within its {count} topics")
        (length,) = _VERSION.unpack_from(data, at)
        topics.append(data[at + 2 : at + 2 + length].decode())
        at += 2 + length
    return ConsumerProtocolSubscription(topics=topics)
