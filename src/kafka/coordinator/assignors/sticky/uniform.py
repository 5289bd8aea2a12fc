"""Sticky assignment where all members want the same topics: any partition may go to anyone.

Then the numbers are fixed (each member gets the average, rounded down, and as many as are left over one more), and so
is how few partitions move. Java: the assignment for equal subscriptions in ``AbstractStickyAssignor``, without racks;
the answers are the same, except for which of several members that had too many keeps one more: there, hashes decide.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from kafka.coordinator.assignors.sticky.ownership import Held
from kafka.structs import TopicPartition


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
