"""A place in a partition's log."""

from typing import NamedTuple


class FetchPosition(NamedTuple):
    """Where reading goes on.

    Arguments:
        offset: of the next record.
        leader_epoch: of the last record before it, or that a broker or a commit has told with the offset; -1 if it is
            not known (KIP-320).
    """

    offset: int
    leader_epoch: int = -1
