"""The partitioners of 0.9 to 1.4, which are made with a topic's partitions and see a record's key alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kafka.legacy.deprecation import warn_deprecated
from kafka.legacy.python2_hash import python2_hash
from kafka.partitioner.murmur2 import murmur2 as murmur2_of_bytes


class Partitioner:
    """The base class of such partitioners. A subclass has `partition`, as in 0.9, or is callable itself, as in 1.4.

    Arguments:
        partitions: the partitions to choose from where a call does not name any.
    """

    def __init__(self, partitions: Sequence[int] | None = None) -> None:
        self.partitions = partitions

    def __call__(
        self,
        key: Any,
        all_partitions: Sequence[int] | None = None,
        available_partitions: Sequence[int] | None = None,
    ) -> int:
        """Choose among available partitions, or else all, by `partition`."""
        return self.partition(key, available_partitions or all_partitions)

    def partition(self, key: Any, partitions: Sequence[int] | None = None) -> int:
        """Return the partition of a key."""
        raise NotImplementedError("partition function has to be implemented")

    def _choices(self, partitions: Sequence[int] | None) -> Sequence[int]:
        choices = partitions or self.partitions
        if not choices:
            raise ValueError("expected at least one partition to choose from, got none")
        return choices


class Murmur2Partitioner(Partitioner):
    """By murmur2 of the key, as Java's."""

    def __call__(
        self, key: Any, partitions: Sequence[int] | None = None, available: Sequence[int] | None = None
    ) -> int:
        """Choose among available partitions, or else all."""
        return self.partition(key, available or partitions)

    def partition(self, key: Any, partitions: Sequence[int] | None = None) -> int:
        """Return the partition of a key."""
        choices = self._choices(partitions)
        return choices[(murmur2(key) & 0x7FFFFFFF) % len(choices)]


class LegacyPartitioner(Partitioner):
    """By ``hash(key)`` of 64-bit Python 2.7, so that keys stay where old producers put them.

    Present Pythons hash text and bytes anew in each process: with their `hash`, a key had no partition of its own. New
    programs take `Murmur2Partitioner`, or none.
    """

    def __init__(self, partitions: Sequence[int] | None = None) -> None:
        warn_deprecated("HashedPartitioner is deprecated: use Murmur2Partitioner")
        super().__init__(partitions)

    def partition(self, key: Any, partitions: Sequence[int] | None = None) -> int:
        """Return the partition of a key."""
        choices = self._choices(partitions)
        return choices[python2_hash(key) % len(choices)]


HashedPartitioner = LegacyPartitioner


def murmur2(key: Any) -> int:
    """The unsigned murmur2 hash of bytes; what else is given is hashed as its text."""
    return murmur2_of_bytes(key if isinstance(key, bytes | bytearray | memoryview) else str(key).encode())
