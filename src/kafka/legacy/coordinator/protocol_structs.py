"""`kafka.coordinator.protocol` and `kafka.coordinator.subscription`: the data that members of a group exchange.

A module of its own, because the old import paths of these classes need none of the client.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from kafka.coordinator.consumer_protocol import PROTOCOL_TYPE
from kafka.legacy.protocol.schema_types import Array, Bytes, Int16, Int32, Schema, String, Struct
from kafka.structs import TopicPartition


class ConsumerProtocolMemberMetadata_v0(Struct):  # noqa: N801  # kafka-python's name
    """The subscription that a member sends when it joins; fields of later versions are ignored."""

    SCHEMA = Schema(("version", Int16), ("topics", Array(String("utf-8"))), ("user_data", Bytes))
    ALIASES = MappingProxyType({"subscription": "topics"})
    group_instance_id = None
    """The id of a static member; current assignors read it."""


class ConsumerProtocolMemberAssignment_v0(Struct):  # noqa: N801  # kafka-python's name
    """The assignment that a member receives from the leader."""

    SCHEMA = Schema(
        ("version", Int16),
        ("assignment", Array(("topic", String("utf-8")), ("partitions", Array(Int32)))),
        ("user_data", Bytes),
    )

    def partitions(self) -> list[TopicPartition]:
        """Return the assigned partitions of all topics."""
        return [TopicPartition(topic, number) for topic, numbers in self.assignment for number in numbers]


class StickyAssignorUserDataV1(Struct):
    """User data in the subscription of a member with the sticky assignor."""

    SCHEMA = Schema(
        ("previous_assignment", Array(("topic", String("utf-8")), ("partitions", Array(Int32)))),
        ("generation", Int32),
    )


class ConsumerProtocol_v0:  # noqa: N801  # kafka-python's name
    """The protocol type "consumer"."""

    PROTOCOL_TYPE = PROTOCOL_TYPE
    ASSIGNMENT_STRATEGIES = ("range", "roundrobin")
    METADATA = ConsumerProtocolMemberMetadata_v0
    ASSIGNMENT = ConsumerProtocolMemberAssignment_v0


class _Versions(list[type[ConsumerProtocol_v0]]):
    """The protocol versions by number, as in 2.x, with the attributes of the first version, as in 1.x."""

    PROTOCOL_TYPE = PROTOCOL_TYPE
    ASSIGNMENT_STRATEGIES = ConsumerProtocol_v0.ASSIGNMENT_STRATEGIES
    METADATA = ConsumerProtocolMemberMetadata_v0
    ASSIGNMENT = ConsumerProtocolMemberAssignment_v0


ConsumerProtocol = _Versions([ConsumerProtocol_v0])
ConsumerProtocolMemberMetadata = ConsumerProtocolMemberMetadata_v0
ConsumerProtocolMemberAssignment = ConsumerProtocolMemberAssignment_v0


class Subscription:
    """The subscription of a member, as an assignor receives it.

    Arguments:
        metadata: the metadata that the member sent when it joined.
        group_instance_id: the id of a static member.
    """

    __slots__ = ("_metadata", "group_instance_id")

    def __init__(self, metadata: Any, group_instance_id: str | None) -> None:
        self._metadata = metadata
        self.group_instance_id = group_instance_id

    @property
    def version(self) -> int:
        """The version of the metadata."""
        version: int = self._metadata.version
        return version

    @property
    def topics(self) -> list[str]:
        """The topics that the member subscribes to."""
        topics: list[str] = self._metadata.topics
        return topics

    @property
    def subscription(self) -> list[str]:
        """The subscribed topics; the attribute's name in 1.x."""
        return self.topics

    @property
    def user_data(self) -> bytes | None:
        """User data added by the member's assignor."""
        data: bytes | None = self._metadata.user_data
        return data

    def encode(self) -> bytes:
        """Return the metadata as bytes."""
        encoded: bytes = self._metadata.encode()
        return encoded

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Subscription):
            return False
        return bool(self._metadata == other._metadata) and self.group_instance_id == other.group_instance_id

    def __hash__(self) -> int:
        return hash((self._metadata, self.group_instance_id))
