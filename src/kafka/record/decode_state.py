"""The state of decoding: the position in the batches of one partition, and the columns being filled."""

from __future__ import annotations

from kafka.errors import CorruptRecordException, DecompressionLimitError, UnsupportedCompressionTypeError
from kafka.record.batch_runs import BatchRun
from kafka.record.batch_types import ROW_BYTES, Buffer
from kafka.record.codecs import CodecError, CompressedRecords, SizeLimitError, compressed_records
from kafka.record.columns import Columns, Run
from kafka.record.layout import MAX_OFFSET
from kafka.record.legacy_reader import read_messages
from kafka.record.memory import allocate
from kafka.record.reader import ColumnReader

_SMALL = 64 * 1024


class Cursor:
    """The position of decoding in the batches of a partition, its bounds, and errors that name the position.

    The arguments are those of `kafka.record.decode.BatchDecoder`.

    Attributes:
        view: all bytes of the partition.
        position: start of the next batch, in bytes.
        next_offset: the offset after the last decoded batch.
        finished: whether there is nothing left to decode.
        singly_until: batches before this position are decoded one by one, because one of them is damaged.
    """

    def __init__(
        self,
        data: Buffer,
        topic: str,
        partition: int,
        start_offset: int,
        stop_offset: int | None,
        max_size: int,
    ) -> None:
        self.view = memoryview(data).cast("B")
        self.topic = topic
        self.partition = partition
        self.start_offset = start_offset
        self.stop_offset = MAX_OFFSET if stop_offset is None else min(stop_offset, MAX_OFFSET)
        self.max_size = max_size
        self.position = 0
        self.next_offset = start_offset
        self.finished = False
        self.singly_until = 0

    def advance(self, end: int, last_offset: int) -> None:
        """Move past a batch."""
        self.position = end
        self.next_offset = max(self.next_offset, min(last_offset + 1, self.stop_offset))
        self.finished = last_offset + 1 >= self.stop_offset

    def corrupt(self, what: str, offset: int | None = None) -> CorruptRecordException:
        """Return an error that names the position of the damage."""
        return CorruptRecordException(
            f"{self._failure(what, self._offset(offset))}. Fetching it again helps if it was damaged on the way; "
            "seek past it if not."
        )

    def _failure(self, what: str, offset: int) -> str:
        return (
            f"Cannot decode the batch of {self.topic}-{self.partition} with offset {offset} at byte {self.position} "
            f"of {len(self.view)}: {what}"
        )

    def _offset(self, known: int | None = None) -> int:
        """Return the first offset of the batch."""
        if known is not None:
            return known
        return int.from_bytes(self.view[self.position : self.position + 8], "big", signed=True)

    def compressed(self, codec: int, start: int, end: int) -> CompressedRecords:
        """Check the compressed records between two positions.

        Raises:
            CorruptRecordException: the records are recognizably damaged.
            DecompressionLimitError: the decompressed records would exceed the limit.
            UnsupportedCompressionTypeError: the codec does not exist.
        """
        try:
            return compressed_records(codec, self.view[start:end], self.max_size)
        except CodecError as error:
            raise self._from_codec(error) from error
        except UnsupportedCompressionTypeError as error:
            raise UnsupportedCompressionTypeError(str(self.corrupt(str(error)))) from error

    def decompress(self, records: CompressedRecords, scratch: memoryview | None) -> Buffer:
        """Decompress records, into `scratch` if it is large enough.

        Raises:
            CorruptRecordException: the records are damaged.
            DecompressionLimitError: the decompressed records exceed the limit.
        """
        try:
            return records.decompress(self.max_size, scratch)
        except CodecError as error:
            raise self._from_codec(error) from error

    def _from_codec(self, error: CodecError) -> CorruptRecordException:
        """Convert a codec's error to an error that names the position."""
        if not isinstance(error, SizeLimitError):
            return self.corrupt(f"it cannot be decompressed ({error})")
        offset = self._offset()
        return DecompressionLimitError(
            f"{self._failure(f'its records may have {self.max_size} bytes decompressed, and have more', offset)} "
            f"({error}). Raise the limit (a consumer's max_decompressed_batch_bytes) "
            "if you trust who wrote it; seek past it if not.",
            topic=self.topic,
            partition=self.partition,
            offset=offset,
            limit=self.max_size,
        )


class Collector:
    """Columns that are being filled.

    Args:
        start_offset: records before this offset are left out.
        stop_offset: records at or after this offset are left out.
        max_bytes: approximate maximum memory of the columns.
        max_column: maximum size of all keys, or of all values, in bytes.
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
        """Whether no batch has been added yet."""
        return self._reader is None

    @property
    def room(self) -> int:
        """The approximate number of bytes that still fit."""
        return min(self._max_bytes - self._cost, self._max_column - self._size)

    def has_room(self, size: int, rows: int) -> bool:
        """Return whether a batch with this size and number of rows fits; the first batch always fits."""
        return self._reader is None or self.is_within(size, rows)

    def is_within(self, size: int, rows: int) -> bool:
        """Return whether this number of additional bytes and rows is within the bounds."""
        return self._size + size <= self._max_column and self._cost + size + ROW_BYTES * rows <= self._max_bytes

    def reserve(self, size: int, rows: int) -> None:
        """Allocate memory for the expected contents, before the first batch is added."""
        if self._reader is None:
            self._reader = ColumnReader(rows, size, *self._offsets)

    def scratch(self, size: int) -> memoryview:
        """Return memory of at least ``size`` bytes for the next batch; the same memory is reused for later batches."""
        if self._scratch is None or len(self._scratch) < size:
            self._scratch = self._source = None  # released so that the pool can reuse the memory
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
        """Add the records of a magic 2 batch; see `ColumnReader.read`. Return its status."""
        reader = self._ready(source, end - start, count)
        rows = reader.rows
        status = reader.read(start, end, count, base_offset, last_delta, base_timestamp, fixed_timestamp)
        if not status:
            self._added(rows, end - start, leader_epoch, int(fixed_timestamp))
        return status

    def add_run(self, source: Buffer, start: int, stop: int, run: BatchRun) -> int:
        """Add consecutive magic 2 batches; see `ColumnReader.read_run`. Return its status."""
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
        """Add magic 0 or 1 messages; see `read_messages`. Return its status."""
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
        """Return the reader, with room for a batch and `source` as its input."""
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
