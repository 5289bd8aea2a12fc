"""Which transactions of a partition were aborted, for consumers that read what is committed (KIP-98).

Counterpart: Kafka's transaction index, a part of it beside each segment.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import NamedTuple


class AbortedTransaction(NamedTuple):
    """A transaction that was aborted, in one partition."""

    producer_id: int
    first_offset: int
    last_offset: int
    """The offset of its marker."""
    last_stable_offset: int
    """Where the log was stable up to, once the marker was written."""


def aborted_between(indexes: Iterable[list[AbortedTransaction]], offset: int, end: int) -> Iterator[AbortedTransaction]:
    """The aborted transactions with records from `offset` on that began before `end`.

    `indexes` are those of the segments from the one with `offset` on, each in the order of the markers.
    """
    for index in indexes:
        for one in index[bisect_left(index, offset, key=_last_offset) :]:
            if one.first_offset < end:
                yield one
            if one.last_stable_offset >= end:
                # Whatever ends later has begun at the last stable offset or later.
                return


def _last_offset(one: AbortedTransaction) -> int:
    return one.last_offset
