"""Which partitions the members of a group had before, by what they tell of themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kafka.structs import TopicPartition

Held = dict[str, list[TopicPartition]]
"""Partitions by member."""


def owners_of(claims: Mapping[str, tuple[Sequence[TopicPartition], int]]) -> dict[TopicPartition, str]:
    """Who had each partition.

    A member that missed rebalances still claims what others have got since: the claim of the latest generation holds.
    Where two of one generation claim a partition, nobody can tell who is right, and nobody is taken for its owner.

    Arguments:
        claims: by member, the partitions it says it had, and in which generation.
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
