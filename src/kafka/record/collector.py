"""Gathers the records of batches, one batch after the other, into columns up to a bound."""

from __future__ import annotations

from kafka.record.columns import Columns, Run
from kafka.record.legacy_reader import read_messages
from kafka.record.memory import allocate
from kafka.record.reader import ColumnReader
from kafka.record.runs import BatchRun
from kafka.record.types import ROW_BYTES, Buffer

_SMALL = 64 * 1024


class Collector:
    """Columns that are being filled.

    Args:
        start_offset: records below it are left out.
        stop_offset: records at or above it are left out.
        max_bytes: about how much memory the columns may take.
        max_column: how many bytes of keys, or of values, the columns can have.
    """

    __slots__ = ("_cost", "_max_bytes", "_max_column", "_offsets", "_reader", "_runs", "_scratch", "_size", "_source")

    def __init__(self, start_offset: int, stop_offset: int, max_bytes: int, max_column: int) -> None:
        self._offsets = start_offset, stop_offset
        self._max_bytes = max_bytes
        self._max_column = max_column
        self._reader: ColumnReader | None = None
        self._runs: list[Run] = []
        self._source: Buffer | None = None
        self._scratch: memoryview | None = None
        self._size = 0
        self._cost = 0

    @property
    def is_empty(self) -> bool:
        """Whether there was no batch yet."""
        return self._reader is None

    @property
    def room(self) -> int:
        """About how many bytes more it takes."""
        return min(self._max_bytes - self._cost, self._max_column - self._size)

    def has_room(self, size: int, rows: int) -> bool:
        """Whether it takes a batch with so many bytes and rows; the first one always."""
        return self._reader is None or self.is_within(size, rows)

    def is_within(self, size: int, rows: int) -> bool:
        """Whether so many bytes and rows more are within the bounds."""
        return self._size + size <= self._max_column and self._cost + size + ROW_BYTES * rows <= self._max_bytes

    def reserve(self, size: int, rows: int) -> None:
        """Take memory, before the first batch is added, for what is expected to be added."""
        if self._reader is None:
            self._reader = ColumnReader(rows, size, *self._offsets)

    def scratch(self, size: int) -> memoryview:
        """Memory of at least ``size`` bytes for the batch that is added next; it is used again for the one after."""
        if self._scratch is None or len(self._scratch) < size:
            self._scratch = self._source = None  # so that the pool can give the memory of it
            self._scratch = allocate(max(size, _SMALL))
        return self._scratch

    def add(
        self,
        source: Buffer,
        start: int,
        end: int,
        count: int,
        base_offset: int,
        last_delta: int,
        base_timestamp: int,
        fixed_timestamp: bool,
        leader_epoch: int,
    ) -> int:
        """Add the records of a batch of magic 2; see `ColumnReader.read`. Returns its status."""
        reader = self._ready(source, end - start, count)
        rows = reader.rows
        status = reader.read(start, end, count, base_offset, last_delta, base_timestamp, fixed_timestamp)
        if not status:
            self._added(rows, end - start, leader_epoch, int(fixed_timestamp))
        return status

    def add_run(self, source: Buffer, start: int, stop: int, run: BatchRun) -> int:
        """Add neighbouring batches of magic 2; see `ColumnReader.read_run`. Returns its status."""
        reader = self._ready(source, run.size, run.records)
        rows = reader.rows
        status = reader.read_run(start, stop)
        if not status:
            self._added(rows, run.size, run.leader_epoch, int(run.fixed_timestamp))
        return status

    def add_messages(
        self,
        source: Buffer,
        start: int,
        end: int,
        count: int,
        magic: int,
        shift: int,
        fixed_timestamp: bool,
        timestamp: int,
        timestamp_type: int,
    ) -> int:
        """Add messages of magic 0 or 1; see `read_messages`. Returns its status."""
        reader = self._ready(source, end - start, count)
        reader.keep_checksums()
        rows = reader.rows
        status = read_messages(reader, start, end, magic, shift, fixed_timestamp, timestamp)
        if not status:
            self._added(rows, end - start, -1, timestamp_type)
        return status

    def finish(self, topic: str, partition: int, next_offset: int, bytes_consumed: int, leader_epoch: int) -> Columns:
        """Return the columns; nothing can be added afterwards."""
        reader = self._reader if self._reader is not None else ColumnReader(0, 0, *self._offsets)
        self._source = self._scratch = None
        return Columns(reader.finish(), self._runs, topic, partition, next_offset, bytes_consumed, leader_epoch)

    def _ready(self, source: Buffer, size: int, rows: int) -> ColumnReader:
        """The reader, with room for a batch, and with its bytes as the source."""
        self.reserve(size, rows)
        reader = self._reader
        assert reader is not None
        reader.reserve(rows, size)
        if source is not self._source:
            self._source = source
            reader.source(source)
        return reader

    def _added(self, first_row: int, size: int, leader_epoch: int, timestamp_type: int) -> None:
        assert self._reader is not None
        self._size += size
        self._cost += size + ROW_BYTES * (self._reader.rows - first_row)
        last = self._runs[-1] if self._runs else None
        if last is None or (last.leader_epoch, last.timestamp_type) != (leader_epoch, timestamp_type):
            self._runs.append(Run(first_row, leader_epoch, timestamp_type))
