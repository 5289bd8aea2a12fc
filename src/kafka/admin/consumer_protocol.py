"""What the members of groups of the classic protocol say and are told, in the format of consumers."""

import struct
from typing import Any, NamedTuple

from kafka.errors import WireFormatError
from kafka.structs import MemberInformation, TopicPartition
from kafka.wire import Message
from kafka.wire.api.consumer_protocol import ConsumerProtocolAssignment, ConsumerProtocolSubscription


class MemberSubscription(NamedTuple):
    """What a member of a consumer group subscribes to."""

    version: int
    subscription: list[str]
    user_data: bytes | None

    @property
    def topics(self) -> list[str]:
        """The same as ``subscription``."""
        return self.subscription


class MemberAssignment(NamedTuple):
    """What a member of a consumer group was assigned: pairs of a topic and its partitions."""

    version: int
    assignment: list[tuple[str, list[int]]]
    user_data: bytes | None

    def partitions(self) -> list[TopicPartition]:
        """The partitions one by one."""
        return [TopicPartition(topic, partition) for topic, each in self.assignment for partition in each]

    @property
    def topic_partitions(self) -> list[TopicPartition]:
        """The same as `partitions`."""
        return self.partitions()


def classic_member(member: Any, protocol_type: str) -> MemberInformation:
    """A member as in kafka-python 2.x."""
    subscription: object = member.member_metadata
    assignment: object = member.member_assignment
    if protocol_type == "consumer":
        subscription = _subscription(member.member_metadata)
        assignment = _assignment(member.member_assignment)
    return MemberInformation(member.member_id, member.client_id, member.client_host, subscription, assignment)


def _decode(cls: type[Message], data: bytes) -> tuple[int, Any]:
    """A message of the consumer protocol, which carries its version in front; later versions add at the end only."""
    if len(data) < 2:
        raise WireFormatError("no version")
    (version,) = struct.unpack_from(">h", data)
    return version, cls.decode_prefix(data, min(version, cls.MAX_VERSION), 2)[0]


def decoded(cls: type[Message], data: bytes) -> Any:
    """As `_decode`; the bytes where they are of a protocol of the application's own, or newer than this client."""
    try:
        return _decode(cls, data)[1]
    except WireFormatError:
        return data


def _subscription(data: bytes) -> MemberSubscription | bytes:
    try:
        version, decoded = _decode(ConsumerProtocolSubscription, data)
    except WireFormatError:  # a protocol of the application's own, or newer than this client: hand out the bytes
        return data
    return MemberSubscription(version, list(decoded.topics), decoded.user_data)


def _assignment(data: bytes) -> MemberAssignment | bytes:
    try:
        version, decoded = _decode(ConsumerProtocolAssignment, data)
    except WireFormatError:  # as above; empty while the group rebalances
        return data
    pairs = [(each.topic, list(each.partitions)) for each in decoded.assigned_partitions]
    return MemberAssignment(version, pairs, decoded.user_data)
