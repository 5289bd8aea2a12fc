"""The assignors of groups of the type "consumer" (KIP-848), which compute target assignments.

Counterpart: Kafka's UniformAssignor and RangeAssignor, without racks. "uniform" moves as few partitions as possible; if
several members could keep one, it may choose another member than Kafka.
"""

from collections.abc import Callable, Mapping
from typing import Final
from uuid import UUID

TopicPartition = tuple[UUID, int]
Subscriptions = Mapping[str, frozenset[UUID]]
"""The topics that each member subscribes to."""
Assignments = dict[str, set[TopicPartition]]
Assignor = Callable[[Subscriptions, Mapping[UUID, int], Mapping[str, set[TopicPartition]]], Assignments]
"""Called with the subscriptions, the number of partitions of each topic, and the previous assignments."""


def assign_uniform(
    wanted: Subscriptions, counts: Mapping[UUID, int], before: Mapping[str, set[TopicPartition]]
) -> Assignments:
    """Assign as evenly as the subscriptions allow; members keep their partitions where possible."""
    held: Assignments = {member: set() for member in wanted}
    free = {(topic, number) for topic, count in counts.items() for number in range(count)}
    for member in sorted(wanted):
        kept = {tp for tp in before.get(member, set()) if tp in free and tp[0] in wanted[member]}
        held[member] = kept
        free -= kept
    for tp in sorted(free):
        takers = [member for member in held if tp[0] in wanted[member]]
        if takers:
            held[min(takers, key=lambda member: (len(held[member]), member))].add(tp)
    while _move_one(wanted, held):
        pass
    return held


def _move_one(wanted: Subscriptions, held: Assignments) -> bool:
    """Move one partition to a member with at least two fewer, which reduces the sum of squares; False if none can."""
    for giver in sorted(held, key=lambda member: (-len(held[member]), member)):
        for tp in sorted(held[giver], reverse=True):
            takers = [member for member in held if tp[0] in wanted[member] and len(held[giver]) - len(held[member]) > 1]
            if takers:
                held[giver].remove(tp)
                held[min(takers, key=lambda member: (len(held[member]), member))].add(tp)
                return True
    return False


def assign_range(
    wanted: Subscriptions, counts: Mapping[UUID, int], before: Mapping[str, set[TopicPartition]]
) -> Assignments:
    """Assign consecutive partitions of each topic, so that topics with equal partition counts are co-partitioned."""
    held: Assignments = {member: set() for member in wanted}
    for topic, count in counts.items():
        members = sorted(member for member in wanted if topic in wanted[member])
        number = 0
        for place, member in enumerate(members):
            share = count // len(members) + (place < count % len(members))
            held[member] |= {(topic, each) for each in range(number, number + share)}
            number += share
    return held


ASSIGNORS: Final[Mapping[str, Assignor]] = {"uniform": assign_uniform, "range": assign_range}
"""Assignors by name; the first is the default."""
