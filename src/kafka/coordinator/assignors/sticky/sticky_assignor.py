"""`StickyPartitionAssignor`, as kafka-python has it; members of Java's ``StickyAssignor`` are in one group with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MethodType
from typing import Any, ClassVar, NamedTuple

from kafka._old_names import of_a_package
from kafka.coordinator.assignors.abstract import AbstractPartitionAssignor, PartitionCounts, Subscription, by_member_id
from kafka.coordinator.assignors.sticky.balancing import assign_mixed, assign_uniform, still_held
from kafka.coordinator.consumer_protocol import make_assignment, make_subscription, partitions_by_topic
from kafka.errors import WireFormatError
from kafka.structs import TopicPartition
from kafka.wire.api.consumer_protocol import ConsumerProtocolAssignment, ConsumerProtocolSubscription
from kafka.wire.fields import array, int32, string
from kafka.wire.message import Message
from kafka.wire.structs import Struct


class StickyAssignorMemberMetadataV1(NamedTuple):
    """What a member reported.

    Arguments:
        subscription: the topics that it wants.
        partitions: those that it had.
        generation: in which generation; -1 if it does not say.
    """

    subscription: list[str]
    partitions: list[TopicPartition]
    generation: int


class _OfClassOrInstance(classmethod):  # type: ignore[type-arg]
    """A method that works on an instance (kafka-python 3) or, called on the class, on the class itself (2.x)."""

    def __get__(self, instance: Any, owner: type[Any] | None = None) -> MethodType:
        return MethodType(self.__func__, owner if instance is None else instance)


class StickyPartitionAssignor(AbstractPartitionAssignor):
    """Spreads partitions evenly and leaves as many as it can with the member that had them (KIP-54).

    It remembers what its own member got, and tells that to the leader when the member joins again; so two consumers
    cannot share an instance. A member gives up all its partitions while its group rebalances, as the protocol is
    eager; what returns is the same, with what it has cached for it. Java: ``StickyAssignor``, without its use of racks.
    """

    DEFAULT_GENERATION_ID: ClassVar[int] = -1
    name = "sticky"
    version = 0
    java_name = "StickyAssignor"
    member_assignment: list[TopicPartition] | None = None
    generation: int = DEFAULT_GENERATION_ID

    @classmethod
    def assign(
        cls, cluster: PartitionCounts, members: Mapping[str, Subscription] | Iterable[Any]
    ) -> Mapping[str, ConsumerProtocolAssignment]:
        """Spread the partitions; see `AbstractPartitionAssignor.assign`."""
        told = {member_id: cls.parse_member_metadata(each) for member_id, each in by_member_id(members).items()}
        wanted = {member_id: frozenset(each.subscription) for member_id, each in told.items()}
        counts = {
            topic: sorted(numbers)
            for topic in sorted(frozenset().union(*wanted.values()))
            if (numbers := cluster.partitions_for_topic(topic))
        }
        held = still_held({name: (each.partitions, each.generation) for name, each in told.items()}, wanted, counts)
        if len(set(wanted.values())) == 1:
            assigned = assign_uniform(held, [TopicPartition(topic, n) for topic in counts for n in counts[topic]])
        else:
            assigned = assign_mixed(held, wanted, counts)
        return {member_id: make_assignment(partitions_by_topic(sorted(each))) for member_id, each in assigned.items()}

    @classmethod
    def parse_member_metadata(cls, metadata: Any) -> StickyAssignorMemberMetadataV1:
        """What a member reported, from its `Subscription`."""
        had = decode_user_data(metadata.user_data)
        return StickyAssignorMemberMetadataV1(list(metadata.topics), had.partitions, had.generation)

    @_OfClassOrInstance
    def metadata(self: Any, topics: Iterable[str]) -> ConsumerProtocolSubscription:
        """The topics, and what this member had."""
        told: ConsumerProtocolSubscription = self._metadata(topics, self.member_assignment, self.generation)
        return told

    @classmethod
    def _metadata(
        cls,
        topics: Iterable[str],
        member_assignment_partitions: Iterable[TopicPartition] | None,
        generation: int = DEFAULT_GENERATION_ID,
    ) -> ConsumerProtocolSubscription:
        """What a member that had these partitions reports. The name is kafka-python's, for derived assignors."""
        if member_assignment_partitions is None:
            return make_subscription(topics)
        return make_subscription(topics, encode_user_data(member_assignment_partitions, generation))

    @_OfClassOrInstance
    def on_assignment(self: Any, assignment: ConsumerProtocolAssignment, generation: int | None = None) -> None:
        """Remember what this member got, and in which generation."""
        self.member_assignment = assignment.partitions()
        if generation is not None:
            self.generation = generation

    @_OfClassOrInstance
    def on_generation_assignment(self: Any, generation: int) -> None:
        """Remember the generation, which kafka-python 2.x told apart from the assignment."""
        self.generation = generation


def __getattr__(name: str) -> Any:
    return of_a_package(__name__, name, {"StickyAssignorUserDataV1": "kafka.legacy.coordinator.protocol_structs"})


class PreviousTopic(Struct):
    """An element of `StickyAssignorUserData.previous_assignment`."""

    topic: str = string()
    partitions: list[int] = array(int32)


class StickyAssignorUserData(Message, versions=(0, 1)):
    """What a member with the sticky assignor adds to its subscription: the partitions that it had, and when.

    Nothing on the wire tells the version; Kafka before 2.1 wrote 0.
    """

    previous_assignment: list[PreviousTopic] = array(PreviousTopic)
    generation: int = int32(since=1, default=-1, ignorable=True)

    @property
    def partitions(self) -> list[TopicPartition]:
        """The partitions one by one."""
        return [
            TopicPartition(entry.topic, number) for entry in self.previous_assignment for number in entry.partitions
        ]


def encode_user_data(partitions: Iterable[TopicPartition], generation: int) -> bytes:
    """Write what a member had, in version 1."""
    grouped = partitions_by_topic(partitions)
    previous = [PreviousTopic(topic=topic, partitions=numbers) for topic, numbers in grouped.items()]
    return StickyAssignorUserData(previous_assignment=previous, generation=generation).encode(1)


def decode_user_data(data: bytes | None) -> StickyAssignorUserData:
    """Read what a member had, in either version; what cannot be read counts as nothing, as in Java's clients."""
    for version in (1, 0):
        try:
            return StickyAssignorUserData.decode_prefix(data or b"", version)[0]
        except WireFormatError:
            continue
    return StickyAssignorUserData()
