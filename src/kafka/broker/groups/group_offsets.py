"""A group's offsets: committed offsets, offsets in open transactions (KIP-98), and the file that stores them.

Each entry of the file is a commit, a deletion, or the end of a transaction. The file takes the place of Kafka's topic
__consumer_offsets. It is rewritten when most of it is out of date.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from kafka.broker.log.entry_file import EntryFile

PartitionKey: TypeAlias = tuple[str, int]
"""Topic name and partition number."""


@dataclass(frozen=True, slots=True)
class CommittedOffset:
    """An offset that a group has committed for a partition."""

    offset: int
    leader_epoch: int
    metadata: str


Offsets: TypeAlias = Mapping[PartitionKey, CommittedOffset]


class _Written(NamedTuple):
    """An offset, and its place in the order of all writes."""

    order: int
    offset: CommittedOffset


class GroupOffsets:
    """The offsets of a group.

    If a partition has several offsets, the one written last counts, even if its transaction ended first.
    """

    def __init__(self) -> None:
        self.committed: dict[PartitionKey, CommittedOffset] = {}
        self._orders: dict[PartitionKey, int] = {}
        self._pending: dict[int, dict[PartitionKey, _Written]] = {}
        self._next_order = 0

    def __bool__(self) -> bool:
        return bool(self.committed) or any(self._pending.values())

    def is_pending(self, partition: PartitionKey) -> bool:
        """Return whether an open transaction contains an offset for the partition."""
        return any(partition in offsets for offsets in self._pending.values())

    def has_pending(self, producer_id: int) -> bool:
        """Return whether the producer has an open transaction with offsets."""
        return producer_id in self._pending

    def commit(self, offsets: Offsets) -> None:
        """Add offsets that are committed immediately."""
        for partition, offset in offsets.items():
            self.committed[partition] = offset
            self._orders[partition] = self._order()

    def commit_pending(self, producer_id: int, offsets: Offsets) -> None:
        """Add offsets that take effect when the producer's transaction is committed."""
        pending = self._pending.setdefault(producer_id, {})
        for partition, offset in offsets.items():
            pending[partition] = _Written(self._order(), offset)

    def end_pending(self, producer_id: int, committed: bool) -> None:
        """Commit or drop the pending offsets of a producer's transaction."""
        for partition, written in self._pending.pop(producer_id, {}).items():
            if committed and written.order > self._orders.get(partition, -1):
                self.committed[partition] = written.offset
                self._orders[partition] = written.order

    def delete(self, partitions: Iterable[PartitionKey]) -> None:
        """Delete the committed and pending offsets for partitions."""
        for partition in partitions:
            self.committed.pop(partition, None)
            self._orders.pop(partition, None)
            for pending in self._pending.values():
                pending.pop(partition, None)

    def partitions(self) -> set[PartitionKey]:
        """Return all partitions that have an offset, committed or pending."""
        return set(self.committed).union(*self._pending.values())

    def in_order(self) -> Iterator[tuple[int | None, PartitionKey, CommittedOffset]]:
        """Yield all offsets in the order of writing, each with the producer id of its open transaction (or None)."""
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


_SMALLEST_REWRITE: Final = 4 * 1024 * 1024


class OffsetJournal:
    """The offset journal in `path`. With `sync` each commit is synced to disk before the response is sent."""

    def __init__(self, path: Path, sync: bool) -> None:
        self._file = EntryFile(path, sync, "group")

    def load(self) -> dict[str, GroupOffsets]:
        """Open the file and return its offsets by group. Must be called once, before other methods."""
        groups: dict[str, GroupOffsets] = {}
        for entry in self._file.load():
            _apply(entry, groups.setdefault(entry["group"], GroupOffsets()))
        groups = {group: offsets for group, offsets in groups.items() if offsets}
        self._file.replace_if_damaged(_of_groups(groups))
        return groups

    # -- appending: if one of these raises OSError, nothing has changed -----------------------------------------------

    def commit(self, group: str, offsets: Offsets) -> None:
        """Append a group's commit."""
        self._file.append({"group": group, "offsets": _rows(offsets)})

    def delete(self, group: str, partitions: list[tuple[str, int]]) -> None:
        """Append the deletion of a group's offsets for some partitions."""
        if partitions:
            self._file.append({"group": group, "offsets": [list(one) for one in partitions]})

    def commit_pending(self, group: str, producer_id: int, offsets: Offsets) -> None:
        """Append a group's commit within a producer's transaction."""
        self._file.append({"group": group, "producer": producer_id, "offsets": _rows(offsets)})

    def end_pending(self, group: str, producer_id: int, committed: bool) -> None:
        """Append the end of a producer's transaction in a group."""
        self._file.append({"group": group, "producer": producer_id, "committed": committed})

    # -- compaction ---------------------------------------------------------------------------------------------------

    @property
    def is_wasteful(self) -> bool:
        """Whether the file has grown to a multiple of its size at the last rewrite."""
        return self._file.is_wasteful(_SMALLEST_REWRITE)

    def rewrite(self, groups: Mapping[str, GroupOffsets]) -> None:
        """Replace the file with one that contains only these offsets."""
        self._file.rewrite(_of_groups(groups))

    def discard_unsynced(self) -> None:
        """Discard data that a machine failure could lose. Do not use the journal afterwards."""
        self._file.discard_unsynced()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _apply(entry: Any, offsets: GroupOffsets) -> None:
    producer_id = entry.get("producer")
    if "committed" in entry:
        offsets.end_pending(producer_id, entry["committed"])
        return
    given = {(topic, number): CommittedOffset(*rest) for topic, number, *rest in entry["offsets"] if rest}
    if producer_id is not None:
        offsets.commit_pending(producer_id, given)
        return
    offsets.commit(given)
    offsets.delete((topic, number) for topic, number, *rest in entry["offsets"] if not rest)


def _of_groups(groups: Mapping[str, GroupOffsets]) -> Iterator[Mapping[str, Any]]:
    for group, offsets in groups.items():
        for producer_id, rows in groupby(offsets.in_order(), key=lambda row: row[0]):
            entry = {"group": group} if producer_id is None else {"group": group, "producer": producer_id}
            yield {**entry, "offsets": [_row(partition, offset) for _, partition, offset in rows]}


def _rows(offsets: Offsets) -> list[list[Any]]:
    return [_row(partition, offset) for partition, offset in offsets.items()]


def _row(partition: tuple[str, int], offset: CommittedOffset) -> list[Any]:
    return [*partition, offset.offset, offset.leader_epoch, offset.metadata]
