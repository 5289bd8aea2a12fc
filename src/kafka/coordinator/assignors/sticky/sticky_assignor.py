"""`StickyPartitionAssignor`, with kafka-python's names. Compatible with members that use Java's ``StickyAssignor``."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from types import MethodType
from typing import Any, ClassVar, NamedTuple

from kafka._old_names import of_a_package
from kafka.coordinator.assignors.abstract import AbstractPartitionAssignor, PartitionCounts, Subscription, by_member_id
from kafka.coordinator.consumer_protocol import make_assignment, make_subscription, partitions_by_topic
from kafka.errors import WireFormatError
from kafka.structs import TopicPartition
from kafka.wire.api.consumer_protocol import ConsumerProtocolAssignment, ConsumerProtocolSubscription
from kafka.wire.fields import array, int32, string
from kafka.wire.message import Message
from kafka.wire.structs import Struct


class StickyAssignorMemberMetadataV1(NamedTuple):
    """A member's previous assignment, as reported by the member.

    Arguments:
        subscription: the topics that the member subscribes to.
        partitions: the member's previous partitions.
        generation: the generation of the previous assignment; -1 if not reported.
    """

    subscription: list[str]
    partitions: list[TopicPartition]
    generation: int


class _OfClassOrInstance(classmethod):  # type: ignore[type-arg]  # not subscriptable at run time
    """A method that is bound to the instance (kafka-python 3) or, if called on the class, to the class itself (2.x)."""

    def __get__(self, instance: Any, owner: type[Any] | None = None) -> MethodType:
        return MethodType(self.__func__, owner if instance is None else instance)


class StickyPartitionAssignor(AbstractPartitionAssignor):
    """Distributes partitions evenly, and leaves as many as possible with their previous owners (KIP-54).

    An instance remembers its member's assignment and reports it to the leader when the member joins again. Two
    consumers therefore cannot share an instance. The protocol is eager: a member revokes all its partitions during a
    rebalance. Stickiness means that it gets the same partitions back, so that it can keep state for them. Java:
    ``StickyAssignor``, but without rack awareness.
    """

    DEFAULT_GENERATION_ID: ClassVar[int] = -1
    name = "sticky"
    version = 0
    member_assignment: list[TopicPartition] | None = None
    generation: int = DEFAULT_GENERATION_ID

    @classmethod
    def assign(
        cls, cluster: PartitionCounts, members: Mapping[str, Subscription] | Iterable[Any]
    ) -> Mapping[str, ConsumerProtocolAssignment]:
        """Distribute the partitions; see `AbstractPartitionAssignor.assign`."""
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
        """Read a member's previous assignment from its `Subscription`."""
        had = decode_user_data(metadata.user_data)
        return StickyAssignorMemberMetadataV1(list(metadata.topics), had.partitions, had.generation)

    @_OfClassOrInstance
    def metadata(self: Any, topics: Iterable[str]) -> ConsumerProtocolSubscription:
        """Return the topics, and this member's previous partitions."""
        told: ConsumerProtocolSubscription = self._metadata(topics, self.member_assignment, self.generation)
        return told

    @classmethod
    def _metadata(
        cls,
        topics: Iterable[str],
        member_assignment_partitions: Iterable[TopicPartition] | None,
        generation: int = DEFAULT_GENERATION_ID,
    ) -> ConsumerProtocolSubscription:
        """Return the subscription of a member with these previous partitions.

        The name is kafka-python's, for subclasses that call this method.
        """
        if member_assignment_partitions is None:
            return make_subscription(topics)
        return make_subscription(topics, encode_user_data(member_assignment_partitions, generation))

    @_OfClassOrInstance
    def on_assignment(self: Any, assignment: ConsumerProtocolAssignment, generation: int | None = None) -> None:
        """Remember this member's assignment, and its generation."""
        self.member_assignment = assignment.partitions()
        if generation is not None:
            self.generation = generation

    @_OfClassOrInstance
    def on_generation_assignment(self: Any, generation: int) -> None:
        """Remember the generation, which kafka-python 2.x passes separately from the assignment."""
        self.generation = generation


class PreviousTopic(Struct):
    """An element of `StickyAssignorUserData.previous_assignment`."""

    topic: str = string()
    partitions: list[int] = array(int32)


class StickyAssignorUserData(Message, versions=(0, 1)):
    """The user data of a member with the sticky assignor: its previous partitions and their generation.

    The data does not contain a version number; Kafka before 2.1 wrote version 0.
    """

    previous_assignment: list[PreviousTopic] = array(PreviousTopic)
    generation: int = int32(since=1, default=-1, ignorable=True)

    @property
    def partitions(self) -> list[TopicPartition]:
        """The partitions as a flat list."""
        return [
            TopicPartition(entry.topic, number) for entry in self.previous_assignment for number in entry.partitions
        ]


def encode_user_data(partitions: Iterable[TopicPartition], generation: int) -> bytes:
    """Encode a member's previous partitions, in version 1."""
    grouped = partitions_by_topic(partitions)
    previous = [PreviousTopic(topic=topic, partitions=numbers) for topic, numbers in grouped.items()]
    return StickyAssignorUserData(previous_assignment=previous, generation=generation).encode(1)


def decode_user_data(data: bytes | None) -> StickyAssignorUserData:
    """Decode a member's previous partitions, in either version; unreadable data counts as empty, as in Java."""
    for version in (1, 0):
        try:
            return StickyAssignorUserData.decode_prefix(data or b"", version)[0]
        except WireFormatError:
            continue
    return StickyAssignorUserData()


Held = dict[str, list[TopicPartition]]
"""Partitions by member."""


def owners_of(claims: Mapping[str, tuple[Sequence[TopicPartition], int]]) -> dict[TopicPartition, str]:
    """Return the previous owner of each partition.

    A member that missed rebalances still claims partitions that others have received since, so the claim with the
    latest generation wins. If two members claim a partition in the same generation, the partition counts as unowned.

    Arguments:
        claims: the partitions that each member claims to have owned, and the generation of each claim.
    """
    latest: dict[TopicPartition, tuple[int, str | None]] = {}
    for member_id, (partitions, generation) in claims.items():
        for tp in dict.fromkeys(partitions):
            known = latest.get(tp)
            if known is None or known[0] < generation:
                latest[tp] = (generation, member_id)
            elif known[0] == generation:
                latest[tp] = (generation, None)
    return {tp: member_id for tp, (_, member_id) in latest.items() if member_id is not None}


def still_held(
    claims: Mapping[str, tuple[Sequence[TopicPartition], int]],
    wanted: Mapping[str, frozenset[str]],
    counts: Mapping[str, Sequence[int]],
) -> Held:
    """Return the partitions that each member can keep, in the order in which it reported them.

    These are existing partitions of topics that the member still subscribes to.

    Arguments:
        claims: as in `owners_of`.
        wanted: the topics of each member.
        counts: the existing partitions, by topic.
    """
    owners = owners_of(claims)
    existing = {topic: frozenset(numbers) for topic, numbers in counts.items()}
    return {
        member_id: [
            tp
            for tp in dict.fromkeys(partitions)
            if owners.get(tp) == member_id
            and tp.topic in wanted[member_id]
            and tp.partition in existing.get(tp.topic, ())
        ]
        for member_id, (partitions, _) in claims.items()
    }


def assign_uniform(held: Held, partitions: Sequence[TopicPartition]) -> Held:
    """Assign partitions if all members subscribe to the same topics. Returns the partitions of each member.

    Arguments:
        held: the partitions that each member can keep; those with low numbers are kept first.
        partitions: all partitions, in the order in which they are distributed.
    """
    least, larger_shares = divmod(len(partitions), len(held))
    assigned: Held = {}
    for member_id in sorted(held):
        share = least
        if larger_shares and len(held[member_id]) > least:
            larger_shares -= 1
            share += 1
        assigned[member_id] = sorted(held[member_id], key=lambda tp: (tp.partition, tp.topic))[:share]
    kept = {tp for owned in assigned.values() for tp in owned}
    too_few = deque(member_id for member_id, owned in assigned.items() if len(owned) < least)
    enough = deque(member_id for member_id, owned in assigned.items() if len(owned) == least)
    for tp in partitions:
        if tp in kept:
            continue
        member_id = too_few.popleft() if too_few else enough.popleft()
        assigned[member_id].append(tp)
        if len(assigned[member_id]) < least:
            too_few.append(member_id)
        elif len(assigned[member_id]) == least:
            enough.append(member_id)
    return assigned


def assign_mixed(held: Held, wanted: Mapping[str, frozenset[str]], counts: Mapping[str, Sequence[int]]) -> Held:
    """Assign partitions if members subscribe to different topics. Returns the partitions of each member.

    Arguments:
        held: the partitions that each member can keep.
        wanted: the topics of each member.
        counts: the existing partitions, by topic.
    """
    sharing = _Sharing(held, wanted, counts)
    sharing.deal_out()
    sharing.balance()
    sharing.give_back()
    return sharing.assigned()


class _Sharing:
    """Assigns partitions to members that subscribe to different topics.

    The result is balanced as KIP-54 requires: no partition could move to a member with at least two partitions fewer.
    Among the balanced results, it is close to the previous assignment. Unassigned partitions go to the members with the
    fewest partitions. Then partitions move from the members with the most, each directly to its final owner. Finally,
    moved partitions return to their previous owners where a swap allows it. Java's algorithm gives the same guarantees,
    but may assign individual partitions differently.
    """

    def __init__(self, held: Held, wanted: Mapping[str, frozenset[str]], counts: Mapping[str, Sequence[int]]) -> None:
        self._previous = {tp: member_id for member_id, owned in held.items() for tp in owned}
        self._loads = {member_id: len(owned) for member_id, owned in held.items()}
        self._partitions = {topic: [TopicPartition(topic, number) for number in counts[topic]] for topic in counts}
        self._eligible = {
            topic: [member_id for member_id in sorted(held) if topic in wanted[member_id]] for topic in counts
        }
        self._topics = sorted(counts, key=lambda topic: (len(self._eligible[topic]), topic))
        """Topics with the fewest subscribers come first, because they leave the least choice."""
        self._held: dict[str, dict[str, set[TopicPartition]]] = {
            topic: {member_id: set() for member_id in self._eligible[topic]} for topic in counts
        }
        for tp, member_id in self._previous.items():
            self._held[tp.topic][member_id].add(tp)

    def deal_out(self) -> None:
        """Give each unassigned partition to the member with the fewest partitions."""
        for topic in self._topics:
            least_first = [(self._loads[member_id], member_id) for member_id in self._eligible[topic]]
            heapq.heapify(least_first)
            for tp in self._partitions[topic]:
                if tp in self._previous or not least_first:
                    continue
                load, member_id = heapq.heappop(least_first)
                self._held[topic][member_id].add(tp)
                self._loads[member_id] = load + 1
                heapq.heappush(least_first, (load + 1, member_id))

    def balance(self) -> None:
        """Move partitions until none could move to a member with at least two partitions fewer.

        Each move reduces the sum of the squared loads, so this terminates.
        """
        moved = True
        while moved:
            moved = False
            for topic in self._topics:
                moved = self._balance_topic(topic) or moved

    def _balance_topic(self, topic: str) -> bool:
        """Move partitions of a topic from the most to the least loaded members. Returns whether any moved.

        Loads change, so heap entries with an outdated load are skipped: a newer entry replaces them.
        """
        loads, held = self._loads, self._held[topic]
        least_first = [(loads[member_id], member_id) for member_id in held]
        most_first = [(-loads[member_id], member_id) for member_id, owned in held.items() if owned]
        heapq.heapify(least_first)
        heapq.heapify(most_first)
        moved = False
        while True:
            while least_first and least_first[0][0] != loads[least_first[0][1]]:
                heapq.heappop(least_first)
            while most_first and (-most_first[0][0] != loads[most_first[0][1]] or not held[most_first[0][1]]):
                heapq.heappop(most_first)
            if not most_first or -most_first[0][0] - least_first[0][0] < 2:
                return moved
            giver, taker = most_first[0][1], least_first[0][1]
            self._move(self._to_be_moved(held[giver], giver, taker), giver, taker)
            moved = True
            for member_id in (giver, taker):
                heapq.heappush(least_first, (loads[member_id], member_id))
                heapq.heappush(most_first, (-loads[member_id], member_id))

    def _to_be_moved(self, owned: set[TopicPartition], giver: str, taker: str) -> TopicPartition:
        """Return the partition to move, preferring those that ``taker`` owned before, then those new to ``giver``."""
        return max(owned, key=lambda tp: (self._previous.get(tp) == taker, self._previous.get(tp) != giver, tp))

    def _move(self, tp: TopicPartition, giver: str, taker: str) -> None:
        self._held[tp.topic][giver].remove(tp)
        self._held[tp.topic][taker].add(tp)
        self._loads[giver] -= 1
        self._loads[taker] += 1

    def give_back(self) -> None:
        """Swap two partitions if one returns to its previous owner and the other does not leave its previous owner."""
        least = {topic: min((self._loads[each] for each in self._eligible[topic]), default=0) for topic in self._topics}
        new: dict[str, set[TopicPartition]] = {member_id: set() for member_id in self._loads}
        away: list[tuple[TopicPartition, str]] = []
        for topic in self._topics:
            for holder, owned in self._held[topic].items():
                for tp in owned:
                    if self._previous.get(tp) != holder:
                        new[holder].add(tp)
                        if tp in self._previous:
                            away.append((tp, holder))
        for tp, holder in sorted(away):
            owner = self._previous[tp]
            if tp not in new[holder] or self._loads[owner] - least[tp.topic] > 1:
                continue
            fits = [
                other
                for other in new[owner]
                if holder in self._held[other.topic] and self._loads[holder] - least[other.topic] <= 1
            ]
            if fits:
                other = max(fits, key=lambda each: (self._previous.get(each) == holder, each))
                self._move(tp, holder, owner)
                self._move(other, owner, holder)
                new[holder].discard(tp)
                new[owner].discard(other)
                if self._previous.get(other) != holder:
                    new[holder].add(other)

    def assigned(self) -> Held:
        """Return the result, ordered by topic and partition."""
        result: Held = {member_id: [] for member_id in self._loads}
        for topic in sorted(self._held):
            for member_id, owned in self._held[topic].items():
                result[member_id].extend(sorted(owned))
        return result


def __getattr__(name: str) -> Any:
    return of_a_package(__name__, name, {"StickyAssignorUserDataV1": "kafka.legacy.coordinator.protocol_structs"})
