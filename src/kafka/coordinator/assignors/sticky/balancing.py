"""Sticky assignment where members want different topics.

The result is as balanced as KIP-54 asks: no partition could go to a member with at least two partitions fewer. Among
such results it is one near to what was before: what is free goes to those with least, then partitions move from those
with most, each straight to where it stays, and last, partitions that moved go back where an exchange allows it. Java
promises the same of its own algorithm for this case, whose answers may differ in the single partition.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Mapping, Sequence

from kafka.structs import TopicPartition

Held = dict[str, list[TopicPartition]]
"""Partitions by member."""


def owners_of(claims: Mapping[str, tuple[Sequence[TopicPartition], int]]) -> dict[TopicPartition, str]:
    """Return the previous owner of each partition.

    A member that missed rebalances still claims partitions that others have received since, so the claim of the latest
    generation holds. If two members of one generation claim a partition, it is unknown who is right, and the partition
    counts as unowned.

    Arguments:
        claims: by member, the partitions it says it owned, and in which generation.
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
    """What each member had and may have again, in the order it tells: of topics it wants, partitions that exist.

    Arguments:
        claims: as in `owners_of`.
        wanted: the topics of each member.
        counts: the partitions that exist, by topic.
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
    """The partitions of each member.

    Arguments:
        held: what each member had; it keeps those with low numbers.
        partitions: all there are, in the order in which they are dealt out.
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
    """The partitions of each member.

    Arguments:
        held: what each member had, of topics that it wants.
        wanted: the topics of each member.
        counts: the partitions that exist, by topic.
    """
    sharing = _Sharing(held, wanted, counts)
    sharing.deal_out()
    sharing.balance()
    sharing.give_back()
    return sharing.assigned()


class _Sharing:
    """The partitions of members while they are being shared out."""

    def __init__(self, held: Held, wanted: Mapping[str, frozenset[str]], counts: Mapping[str, Sequence[int]]) -> None:
        self._previous = {tp: member_id for member_id, owned in held.items() for tp in owned}
        self._loads = {member_id: len(owned) for member_id, owned in held.items()}
        self._partitions = {topic: [TopicPartition(topic, number) for number in counts[topic]] for topic in counts}
        self._eligible = {
            topic: [member_id for member_id in sorted(held) if topic in wanted[member_id]] for topic in counts
        }
        self._topics = sorted(counts, key=lambda topic: (len(self._eligible[topic]), topic))
        """Those with fewest members who want them first, as they leave least choice."""
        self._held: dict[str, dict[str, set[TopicPartition]]] = {
            topic: {member_id: set() for member_id in self._eligible[topic]} for topic in counts
        }
        for tp, member_id in self._previous.items():
            self._held[tp.topic][member_id].add(tp)

    def deal_out(self) -> None:
        """Give each unassigned partition to the member with the fewest."""
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
        """Move partitions until none could go to a member with at least two fewer.

        Each move makes the sum of the squares of the loads smaller, so this ends.
        """
        moved = True
        while moved:
            moved = False
            for topic in self._topics:
                moved = self._balance_topic(topic) or moved

    def _balance_topic(self, topic: str) -> bool:
        """Move partitions of a topic from those with most to those with least; True if any moved.

        A heap's entry whose load is no longer its member's has been replaced by another one.
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
        """The partition whose move costs least: one that the taker had, then one that the giver did not have."""
        return max(owned, key=lambda tp: (self._previous.get(tp) == taker, self._previous.get(tp) != giver, tp))

    def _move(self, tp: TopicPartition, giver: str, taker: str) -> None:
        self._held[tp.topic][giver].remove(tp)
        self._held[tp.topic][taker].add(tp)
        self._loads[giver] -= 1
        self._loads[taker] += 1

    def give_back(self) -> None:
        """Swap partitions if one returns to its previous owner, and the other was not with its previous owner."""
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
        """The result, in the order of topics and partitions."""
        result: Held = {member_id: [] for member_id in self._loads}
        for topic in sorted(self._held):
            for member_id, owned in self._held[topic].items():
                result[member_id].extend(sorted(owned))
        return result
