"""A place in a partition's log."""

from typing import NamedTuple


class FetchPosition(NamedTuple):
    """Where reading goes on.

    Arguments:
        offset: of the next record.
        leader_epoch: of the last record before it, -1 if none was read (KIP-320).
    """

    offset: int
    leader_epoch: int = -1
