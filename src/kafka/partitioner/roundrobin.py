"""The round-robin partitioner: one partition after the other."""

from __future__ import annotations

from collections.abc import Sequence


class RoundRobinPartitioner:
    """Goes over the available partitions in turn, whatever the key.

    Works as a callable, ``(key_bytes, all_partitions, available)``, and through `partition` as in kafka-python 1.x.

    Arguments:
        partitions: the partitions to go over where a call does not name any.
    """

    def __init__(self, partitions: Sequence[int] | None = None) -> None:
        self.partitions = list(partitions or ())
        self._last: int | None = None

    def __call__(
        self,
        key: bytes | None,
        all_partitions: Sequence[int] | None = None,
        available: Sequence[int] | None = None,
    ) -> int:
        """Return the next partition above the last one returned, from the beginning after the highest.

        Raises `ValueError` if there are no partitions to choose from.
        """
        choices = sorted(available or all_partitions or self.partitions)
        if not choices:
            raise ValueError("expected at least one partition to choose from, got none")
        last = self._last
        picked = choices[0] if last is None else next((p for p in choices if p > last), choices[0])
        self._last = picked
        return picked

    def partition(
        self,
        key: bytes | None,
        all_partitions: Sequence[int] | None = None,
        available_partitions: Sequence[int] | None = None,
    ) -> int:
        """The same as calling the object."""
        return self(key, all_partitions, available_partitions)
