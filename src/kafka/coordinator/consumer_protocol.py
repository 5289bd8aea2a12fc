"""The messages that members of a "consumer" group exchange through the coordinator, which does not interpret them.

Messages begin with a two-byte version. Newer versions only append fields, which readers of older versions ignore.
"""

import struct
from collections.abc import Iterable, Mapping, Sequence

from kafka.errors import WireFormatError
from kafka.structs import TopicPartition
from kafka.wire.api import consumer_protocol as wire
from kafka.wire.api.consumer_protocol import ConsumerProtocolAssignment, ConsumerProtocolSubscription

PROTOCOL_TYPE = "consumer"
"""The protocol type of consumer groups; Connect and other kinds of group have their own."""

ASSIGNMENT_VERSION = 0
"""The version written for assignments: all versions have the same layout, and the oldest members accept this one."""

_VERSION = struct.Struct(">h")


def make_subscription(topics: Iterable[str], user_data: bytes | None = None) -> ConsumerProtocolSubscription:
    """Create the subscription that a member sends to the leader."""
    return ConsumerProtocolSubscription(topics=sorted(topics), user_data=user_data)


def make_assignment(topics: Mapping[str, Sequence[int]], user_data: bytes | None = None) -> ConsumerProtocolAssignment:
    """Create a member's assignment from its partitions by topic."""
    assigned = [
        wire.ConsumerProtocolAssignmentTopicPartition(topic=topic, partitions=list(partitions))
        for topic, partitions in topics.items()
    ]
    return ConsumerProtocolAssignment(assigned_partitions=assigned, user_data=user_data)


def assigned_partitions(assignment: ConsumerProtocolAssignment) -> list[TopicPartition]:
    """List the partitions in an assignment."""
    return [
        TopicPartition(entry.topic, partition)
        for entry in assignment.assigned_partitions
        for partition in entry.partitions
    ]


def partitions_by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    """Group partition numbers by topic, in the given order."""
    grouped: dict[str, list[int]] = {}
    for topic, partition in partitions:
        grouped.setdefault(topic, []).append(partition)
    return grouped


def encode_subscription(subscription: ConsumerProtocolSubscription) -> bytes:
    """Encode a subscription in the oldest version that can represent it."""
    if subscription.rack_id is not None:
        version = 3
    elif subscription.generation_id != -1:
        version = 2
    else:
        version = 1
    return _VERSION.pack(version) + subscription.encode(version)


def decode_subscription(data: bytes) -> ConsumerProtocolSubscription:
    """Decode another member's subscription. Raises `WireFormatError`."""
    version = _read_version(data, "subscription")
    if version > ConsumerProtocolSubscription.MAX_VERSION:
        known, _ = ConsumerProtocolSubscription.decode_prefix(data[2:], ConsumerProtocolSubscription.MAX_VERSION)
        return known
    return ConsumerProtocolSubscription.decode(data[2:], version)


def encode_assignment(assignment: ConsumerProtocolAssignment) -> bytes:
    """Encode an assignment."""
    return _VERSION.pack(ASSIGNMENT_VERSION) + assignment.encode(ASSIGNMENT_VERSION)


def decode_assignment(data: bytes) -> ConsumerProtocolAssignment:
    """Decode the assignment from the leader; empty bytes mean an empty assignment. Raises `WireFormatError`."""
    if not data:
        return ConsumerProtocolAssignment()
    version = _read_version(data, "assignment")
    if version > ConsumerProtocolAssignment.MAX_VERSION:
        known, _ = ConsumerProtocolAssignment.decode_prefix(data[2:], ConsumerProtocolAssignment.MAX_VERSION)
        return known
    return ConsumerProtocolAssignment.decode(data[2:], version)


def _read_version(data: bytes, what: str) -> int:
    if len(data) < 2:
        raise WireFormatError(f"expected a 2-byte version at the start of a group {what}, got {len(data)} bytes")
    version: int = _VERSION.unpack_from(data)[0]
    if version < 0:
        raise WireFormatError(f"a group {what} has the version {version}; versions begin at 0")
    return version
