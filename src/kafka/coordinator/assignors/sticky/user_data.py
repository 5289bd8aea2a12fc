"""What a member with the sticky assignor adds to its subscription: the partitions that it had, and when."""

from __future__ import annotations

from collections.abc import Iterable

from kafka import structs
from kafka.coordinator.consumer_protocol import partitions_by_topic
from kafka.errors import WireFormatError
from kafka.wire.fields import array, int32, string
from kafka.wire.message import Message
from kafka.wire.structs import Struct


class TopicPartition(Struct):
    """An element of `StickyAssignorUserData.previous_assignment`."""

    topic: str = string()
    partitions: list[int] = array(int32)


class StickyAssignorUserData(Message, versions=(0, 1)):
    """The user data of the assignor "sticky". Nothing on the wire tells their version; Kafka before 2.1 wrote 0."""

    previous_assignment: list[TopicPartition] = array(TopicPartition)
    generation: int = int32(since=1, default=-1, ignorable=True)

    @property
    def partitions(self) -> list[structs.TopicPartition]:
        """The partitions one by one."""
        return [
            structs.TopicPartition(entry.topic, number)
            for entry in self.previous_assignment
            for number in entry.partitions
        ]


def encode_user_data(partitions: Iterable[structs.TopicPartition], generation: int) -> bytes:
    """Write what a member had, in version 1."""
    grouped = partitions_by_topic(partitions)
    previous = [TopicPartition(topic=topic, partitions=numbers) for topic, numbers in grouped.items()]
    return StickyAssignorUserData(previous_assignment=previous, generation=generation).encode(1)


def decode_user_data(data: bytes | None) -> StickyAssignorUserData:
    """Read what a member had, in either version; what cannot be read counts as nothing, as in Java's clients."""
    for version in (1, 0):
        try:
            return StickyAssignorUserData.decode_prefix(data or b"", version)[0]
        except WireFormatError:
            continue
    return StickyAssignorUserData()
