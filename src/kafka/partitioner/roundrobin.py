"""The round-robin partitioner: one partition after the other."""

from __future__ import annotations

from collections.abc import Sequence


class RoundRobinPartitioner:
    """Goes over the available partitions in turn, in the order in which they are given, whatever the key.

    Works as a callable, ``(key_bytes, all_partitions, available)``, and through `partition`, as in kafka-python 0.9 to
    1.4. Where the partitions change, it goes on at the same place of the new ones.

    Arguments:
        partitions: the partitions to go over where a call does not name any.
    """

    def __init__(self, partitions: Sequence[int] | None = None) -> None:
        self.partitions = list(partitions or ())
        self._next = 0

    def __call__(
        self,
        key: bytes | None,
        all_partitions: Sequence[int] | None = None,
        available_partitions: Sequence[int] | None = None,
    ) -> int:
        """Return the next partition; raises `ValueError` if there are none to choose from."""
        choices = available_partitions or all_partitions or self.partitions
        if not choices:
            raise ValueError("expected at least one partition to choose from, got none")
        at = self._next if self._next < len(choices) else 0
        self._next = at + 1
        return choices[at]

    def partition(
        self,
        key: bytes | None,
        all_partitions: Sequence[int] | None = None,
        available_partitions: Sequence[int] | None = None,
        *,
        partitions: Sequence[int] | None = None,
    ) -> int:
        """The same as calling the object; `partitions` is the name that 0.9 and 1.0 have for all of them."""
        return self(key, all_partitions or partitions, available_partitions)
