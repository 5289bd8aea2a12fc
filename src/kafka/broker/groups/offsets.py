"""The offsets of one group: what is committed, and what transactions have still to decide (KIP-98)."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

PartitionKey: TypeAlias = tuple[str, int]
"""A topic's name and a partition's number."""


@dataclass(frozen=True, slots=True)
class CommittedOffset:
    """An offset that a group committed for a partition."""

    offset: int
    leader_epoch: int
    metadata: str


Offsets: TypeAlias = Mapping[PartitionKey, CommittedOffset]


class _Written(NamedTuple):
    """An offset, and when it was written in the order of all."""

    order: int
    offset: CommittedOffset


class GroupOffsets:
    """A group's offsets. Of two for a partition that which was written last counts, whichever was decided last."""

    def __init__(self) -> None:
        self.committed: dict[PartitionKey, CommittedOffset] = {}
        self._orders: dict[PartitionKey, int] = {}
        self._pending: dict[int, dict[PartitionKey, _Written]] = {}
        self._next_order = 0

    def __bool__(self) -> bool:
        return bool(self.committed) or any(self._pending.values())

    def is_pending(self, partition: PartitionKey) -> bool:
        """Whether an open transaction has an offset for the partition."""
        return any(partition in offsets for offsets in self._pending.values())

    def has_pending(self, producer_id: int) -> bool:
        """Whether the producer has a transaction with offsets."""
        return producer_id in self._pending

    def commit(self, offsets: Offsets) -> None:
        """Take offsets that were committed at once."""
        for partition, offset in offsets.items():
            self.committed[partition] = offset
            self._orders[partition] = self._order()

    def commit_pending(self, producer_id: int, offsets: Offsets) -> None:
        """Take offsets that the transaction of a producer decides upon."""
        pending = self._pending.setdefault(producer_id, {})
        for partition, offset in offsets.items():
            pending[partition] = _Written(self._order(), offset)

    def end_pending(self, producer_id: int, committed: bool) -> None:
        """End the transaction of a producer."""
        for partition, written in self._pending.pop(producer_id, {}).items():
            if committed and written.order > self._orders.get(partition, -1):
                self.committed[partition] = written.offset
                self._orders[partition] = written.order

    def delete(self, partitions: Iterable[PartitionKey]) -> None:
        """Forget what is committed or pending for partitions."""
        for partition in partitions:
            self.committed.pop(partition, None)
            self._orders.pop(partition, None)
            for pending in self._pending.values():
                pending.pop(partition, None)

    def partitions(self) -> set[PartitionKey]:
        """Every partition with an offset, committed or pending."""
        return set(self.committed).union(*self._pending.values())

    def in_order(self) -> Iterator[tuple[int | None, PartitionKey, CommittedOffset]]:
        """All offsets in the order in which they were written, each with the producer whose transaction has it."""
        rows: list[tuple[int, int | None, PartitionKey, CommittedOffset]] = [
            (self._orders[partition], None, partition, offset) for partition, offset in self.committed.items()
        ]
        for producer_id, pending in self._pending.items():
            rows += [(one.order, producer_id, partition, one.offset) for partition, one in pending.items()]
        for _, producer, partition, offset in sorted(rows, key=lambda row: row[0]):
            yield producer, partition, offset

    def _order(self) -> int:
        self._next_order += 1
        return self._next_order
