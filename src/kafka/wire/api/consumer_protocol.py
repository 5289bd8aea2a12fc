"""Messages that members of a consumer group exchange through its coordinator (protocol type "consumer")."""

from __future__ import annotations

from kafka import structs
from kafka.wire.fields import array, binary, int32, string
from kafka.wire.message import Message
from kafka.wire.structs import Struct


class TopicPartition(Struct):
    """An element of `ConsumerProtocolSubscription.owned_partitions`."""

    topic: str = string(since=1)
    partitions: list[int] = array(int32, since=1)


class ConsumerProtocolSubscription(Message, versions=(0, 3)):
    """The metadata that a consumer sends when it joins its group."""

    topics: list[str] = array(string)
    user_data: bytes | None = binary(nullable=True, default=None)
    owned_partitions: list[TopicPartition] = array(TopicPartition, since=1, ignorable=True)
    generation_id: int = int32(since=2, default=-1, ignorable=True)
    rack_id: str | None = string(since=3, nullable=True, default=None, ignorable=True)


class ConsumerProtocolAssignmentTopicPartition(Struct):
    """An element of `ConsumerProtocolAssignment.assigned_partitions`."""

    topic: str = string()
    partitions: list[int] = array(int32)


class ConsumerProtocolAssignment(Message, versions=(0, 3)):
    """The assignment of a member, from the leader of its consumer group."""

    assigned_partitions: list[ConsumerProtocolAssignmentTopicPartition] = array(
        ConsumerProtocolAssignmentTopicPartition
    )
    user_data: bytes | None = binary(nullable=True, default=None)

    @property
    def assignment(self) -> list[tuple[str, list[int]]]:
        """The topics with their partitions, under the name that assignors for kafka-python up to 2.3 use."""
        return [(entry.topic, list(entry.partitions)) for entry in self.assigned_partitions]

    def partitions(self) -> list[structs.TopicPartition]:
        """Return the partitions as a flat list, for assignors for kafka-python up to 2.3."""
        return [structs.TopicPartition(topic, number) for topic, numbers in self.assignment for number in numbers]
