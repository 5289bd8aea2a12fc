"""A segment of a partition's log: a file of record batches, its sparse index, and its aborted transactions.

Consumers that read only committed records need the aborted transactions (KIP-98). Kafka stores them in a separate file
per segment, the transaction index.
"""

import os
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from kafka.broker.disk_files import FilePool
from kafka.broker.log.batch_head import HEAD_SIZE, BatchHead, read_head


class SparseIndex:
    """A sparse index of a segment: about one entry per `interval` bytes, each at the start of a batch.

    An entry contains the batch's base offset, its position, and the largest timestamp in the batches before it. None of
    these values ever decreases, so each can be searched by bisection. The first entry is at position 0.
    """

    __slots__ = ("_next_position", "earlier_timestamps", "interval", "offsets", "positions")

    def __init__(self, interval: int) -> None:
        self.interval = interval
        self.offsets = array("q")
        self.positions = array("q")
        self.earlier_timestamps = array("q")
        self._next_position = 0

    def __len__(self) -> int:
        return len(self.positions)

    def add(self, offset: int, position: int, earlier_timestamp: int) -> None:
        """Add an entry for the batch at `position` if the previous entry is far enough back.

        `earlier_timestamp` is the largest timestamp in the batches before that batch.
        """
        if position >= self._next_position:
            self.offsets.append(offset)
            self.positions.append(position)
            self.earlier_timestamps.append(earlier_timestamp)
            self._next_position = position + self.interval

    def position_of(self, offset: int) -> int:
        """Return the position from which to search for the batch that contains `offset`."""
        entry = bisect_right(self.offsets, offset) - 1
        return self.positions[entry] if entry >= 0 else 0

    def position_of_time(self, timestamp: int) -> int:
        """Return the position from which to search for the first batch with a record at or after `timestamp`."""
        entry = bisect_left(self.earlier_timestamps, timestamp) - 1
        return self.positions[entry] if entry >= 0 else 0

    def boundary_before(self, position: int) -> int:
        """Return the last indexed batch start at or before `position`."""
        entry = bisect_right(self.positions, position) - 1
        return self.positions[entry] if entry >= 0 else 0

    def restore(self, offsets: "array[int]", positions: "array[int]", earlier_timestamps: "array[int]") -> None:
        """Load the entries from a checkpoint."""
        self.offsets, self.positions, self.earlier_timestamps = offsets, positions, earlier_timestamps
        self._next_position = positions[-1] + self.interval if positions else 0


class AbortedTransaction(NamedTuple):
    """An aborted transaction in a partition."""

    producer_id: int
    first_offset: int
    last_offset: int
    """The offset of the transaction's marker."""
    last_stable_offset: int
    """The last stable offset after the marker was written."""


def aborted_between(indexes: Iterable[list[AbortedTransaction]], offset: int, end: int) -> Iterator[AbortedTransaction]:
    """Yield the aborted transactions that began before `end` and have records at or after `offset`.

    `indexes` are the transaction indexes of the segments, starting with the segment that contains `offset`. Each is in
    the order of the markers.
    """
    for index in indexes:
        for one in index[bisect_left(index, offset, key=_last_offset) :]:
            if one.first_offset < end:
                yield one
            if one.last_stable_offset >= end:
                # Transactions that end later began at the last stable offset or later.
                return


def _last_offset(one: AbortedTransaction) -> int:
    return one.last_offset


NO_TIMESTAMP: Final = -1
_WALK_WINDOW: Final = 16 * 1024


class Segment:
    """A segment: the batches from `base_offset` up to, but not including, `next_offset`."""

    __slots__ = (
        "_files",
        "_first_timestamp",
        "aborted",
        "base_offset",
        "index",
        "max_timestamp",
        "next_offset",
        "path",
        "size",
        "synced_size",
        "written_ms",
    )

    def __init__(self, folder: Path, base_offset: int, files: FilePool, index_interval: int) -> None:
        self.path = folder / f"{base_offset:020d}.log"
        self.base_offset = base_offset
        self.next_offset = base_offset
        self.size = 0
        self.synced_size = 0
        """Number of bytes that are certain to survive a machine failure."""
        self.written_ms = 0
        """Wall clock time of the last write."""
        self._first_timestamp: int | None = None
        self.max_timestamp = NO_TIMESTAMP
        self.index = SparseIndex(index_interval)
        self.aborted: list[AbortedTransaction] = []
        """The aborted transactions whose markers are in this segment."""
        self._files = files

    @property
    def checkpoint_path(self) -> Path:
        """The path of this segment's checkpoint."""
        return self.path.with_suffix(".index")

    @property
    def fd(self) -> int:
        """The descriptor of the open file; use it at once."""
        return self._files.open(self.path)

    @property
    def newest_ms(self) -> int:
        """The largest timestamp, or the time of the last write if no record has a timestamp (magic 0)."""
        return self.max_timestamp if self.max_timestamp >= 0 else self.written_ms

    @property
    def first_timestamp(self) -> int:
        """The largest timestamp in the first batch; -1 if there is no batch."""
        if self._first_timestamp is None:
            if not self.size:
                return NO_TIMESTAMP
            self._first_timestamp = read_head(self.read(0, HEAD_SIZE)).max_timestamp
        return self._first_timestamp

    def note(self, head: BatchHead, now_ms: int) -> None:
        """Index a batch that was appended to the file."""
        self.index.add(head.base_offset, self.size, self.max_timestamp)
        self.size += head.size
        self.next_offset = head.last_offset + 1
        self.max_timestamp = max(self.max_timestamp, head.max_timestamp)
        self.written_ms = now_ms

    def heads(self, position: int) -> Iterator[tuple[int, BatchHead]]:
        """Yield the position and head of each batch, starting with the batch at `position`."""
        window, start = b"", position
        while position + HEAD_SIZE <= self.size:
            if position - start + HEAD_SIZE > len(window):
                window, start = os.pread(self.fd, _WALK_WINDOW, position), position
            head = read_head(window, position - start)
            yield position, head
            position += head.size

    def position_of(self, offset: int) -> int:
        """Return the position of the batch that contains `offset`, or of the next batch if `offset` is in a gap."""
        for position, head in self.heads(self.index.position_of(offset)):
            if head.last_offset >= offset:
                return position
        return self.size

    def end_of_read(self, position: int, max_bytes: int, at_least_one: bool, size: int | None = None) -> int:
        """Return the end position for reading whole batches, at most `max_bytes` in total, from `position`.

        With `at_least_one` the first batch is included even if it is larger. Long reads end at an index entry, so that
        the next read does not need to search. `size` is the end of the last batch that may be read; it defaults to the
        segment's size.
        """
        end_of_all = self.size if size is None else size
        limit = position + max_bytes
        if limit >= end_of_all:
            return end_of_all
        boundary = self.index.boundary_before(limit)
        if boundary > position:
            return boundary
        end = position
        for at, head in self.heads(position):
            if at + head.size > limit:
                return at + head.size if at_least_one and at == position else end
            end = at + head.size
        return end

    def offset_at(self, position: int) -> int:
        """Return the base offset of the batch at `position`, or the next offset at the segment's end."""
        if position >= self.size:
            return self.next_offset
        return read_head(self.read(position, position + HEAD_SIZE)).base_offset

    def read(self, position: int, end: int) -> bytes:
        """Read the bytes from `position` to `end`."""
        return os.pread(self.fd, end - position, position)

    def remove(self) -> None:
        """Delete the segment's files."""
        self._files.forget(self.path)
        self.path.unlink(missing_ok=True)
        self.checkpoint_path.unlink(missing_ok=True)
