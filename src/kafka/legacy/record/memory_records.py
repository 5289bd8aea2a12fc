"""Record batches in memory, and a batch that is being built."""

from __future__ import annotations

from typing import Any

from kafka.errors import CorruptRecordError, IllegalStateError, UnsupportedVersionError
from kafka.legacy.record.default_batch import DefaultRecordBatch, DefaultRecordBatchBuilder, Headers
from kafka.legacy.record.default_record import DefaultRecordMetadata
from kafka.legacy.record.legacy_batch import LegacyRecordBatch, LegacyRecordBatchBuilder, LegacyRecordMetadata
from kafka.record import layout
from kafka.record.abc import ABCRecords
from kafka.record.batch_types import Buffer


class MemoryRecords(ABCRecords):
    """Batches from one partition, of any magic, as received from a broker or created by a builder."""

    LENGTH_OFFSET = layout.LENGTH_AT
    LOG_OVERHEAD = layout.LOG_OVERHEAD
    MAGIC_OFFSET = layout.MAGIC_AT
    MIN_SLICE = layout.smallest_size(0)

    __slots__ = ("_buffer", "_position")

    def __init__(self, bytes_data: Buffer) -> None:
        """Read batches from bytes, ignoring an incomplete one at the end."""
        self._buffer = memoryview(bytes_data)
        self._position = 0

    def size_in_bytes(self) -> int:
        """Return the number of bytes."""
        return len(self._buffer)

    def valid_bytes(self) -> int:
        """Return the number of bytes in complete batches."""
        position = self._position
        while (end := self._end_of_next(position)) > position:
            position = end
        return position

    def _end_of_next(self, position: int) -> int:
        """Return the end of the batch at a position, or the position itself if the batch is incomplete."""
        if len(self._buffer) - position < self.LOG_OVERHEAD:
            return position
        start = position + self.LENGTH_OFFSET
        length = int.from_bytes(self._buffer[start : position + self.LOG_OVERHEAD], "big", signed=True)
        end = position + self.LOG_OVERHEAD + length
        return end if position < end <= len(self._buffer) else position

    def has_next(self) -> bool:
        """Return whether there is another batch."""
        return self._end_of_next(self._position) > self._position

    def next_batch(self) -> DefaultRecordBatch | LegacyRecordBatch | None:
        """Return the next batch; None after the last one.

        Raises:
            CorruptRecordError: the batch is smaller than the minimum size.
        """
        if not self.has_next():
            return None
        start, end = self._position, self._end_of_next(self._position)
        if end - start < self.MIN_SLICE:
            least = self.MIN_SLICE - self.LOG_OVERHEAD
            raise CorruptRecordError(f"Record size is less than the minimum record overhead ({least})")
        self._position = end
        batch = self._buffer[start:end]
        magic = batch[self.MAGIC_OFFSET]
        return LegacyRecordBatch(batch, magic) if magic <= 1 else DefaultRecordBatch(batch)

    def __iter__(self) -> MemoryRecords:
        return self

    def __next__(self) -> DefaultRecordBatch | LegacyRecordBatch:
        batch = self.next_batch()
        if batch is None:
            raise StopIteration
        return batch

    next = __next__


class MemoryRecordsBuilder:
    """Builds a batch of any magic until it is closed."""

    __slots__ = (
        "_base_sequence",
        "_batch_size",
        "_buffer",
        "_builder",
        "_bytes_written",
        "_magic",
        "_next_offset",
        "_producer_epoch",
        "_producer_id",
    )

    def __init__(
        self,
        magic: int,
        compression_type: int,
        batch_size: int,
        offset: int = 0,
        transactional: bool = False,
        producer_id: int = -1,
        producer_epoch: int = -1,
        base_sequence: int = -1,
    ) -> None:
        """Create a batch of up to `batch_size` bytes before compression; its first record has the given offset."""
        if magic not in (0, 1, 2):
            raise AssertionError("Not supported magic")
        if compression_type not in (0, 1, 2, 3, 4):
            raise AssertionError("Not valid compression type")
        self._builder: DefaultRecordBatchBuilder | LegacyRecordBatchBuilder | None
        self._producer_id: int | None = None
        self._producer_epoch: int | None = None
        self._base_sequence: int | None = None
        if magic == 2:
            self._builder = DefaultRecordBatchBuilder(magic, compression_type, False, -1, -1, -1, batch_size)
            self._builder.set_producer_state(producer_id, producer_epoch, base_sequence, transactional)
            self._producer_id, self._producer_epoch = producer_id, producer_epoch
            self._base_sequence = base_sequence
        elif transactional or producer_id != -1:
            raise AssertionError(f"Idempotent messages are not supported for magic {magic}")
        else:
            self._builder = LegacyRecordBatchBuilder(magic, compression_type, batch_size)
        self._batch_size = batch_size
        self._buffer = b""
        self._next_offset = offset
        self._magic = magic
        self._bytes_written = 0

    @property
    def _closed(self) -> bool:
        return self._builder is None

    def _check_closed(self) -> None:
        if not self._closed:
            raise AssertionError("the batch is still open: close() it first")

    def skip(self, offsets_to_skip: int) -> None:
        """Leave a gap in the offsets before the next record."""
        self._next_offset += offsets_to_skip

    def append(
        self, timestamp: int | None, key: Any, value: Any, headers: Headers | None = None
    ) -> DefaultRecordMetadata | LegacyRecordMetadata | None:
        """Add a record. Return None if it does not fit, or if the batch is closed."""
        if self._builder is None:
            return None
        metadata = self._builder.append(self._next_offset, timestamp, key, value, headers)
        if metadata is not None:
            self._next_offset += 1
        return metadata

    def set_producer_state(
        self, producer_id: int, producer_epoch: int, base_sequence: int, is_transactional: bool
    ) -> None:
        """Set the producer that the batch belongs to.

        Raises:
            UnsupportedVersionError: the format is older than magic 2.
            IllegalStateError: the batch is closed.
        """
        if self._magic < 2:
            raise UnsupportedVersionError("Producer State requires Message format v2+")
        if not isinstance(self._builder, DefaultRecordBatchBuilder):
            raise IllegalStateError("Trying to set producer state of an already closed batch")
        self._builder.set_producer_state(producer_id, producer_epoch, base_sequence, is_transactional)
        self._producer_id, self._producer_epoch = producer_id, producer_epoch
        self._base_sequence = base_sequence

    @property
    def producer_id(self) -> int | None:
        """The producer's id; -1 if the producer is not idempotent, None before magic 2."""
        return self._producer_id

    @property
    def producer_epoch(self) -> int | None:
        """The producer's epoch; -1 if the producer is not idempotent, None before magic 2."""
        return self._producer_epoch

    @property
    def base_sequence(self) -> int | None:
        """The first sequence number; -1 if the producer is not idempotent, None before magic 2."""
        return self._base_sequence

    def records(self) -> MemoryRecords:
        """Return the records of the closed batch."""
        self._check_closed()
        return MemoryRecords(self._buffer)

    def close(self) -> None:
        """Encode the batch; no more records can be added to it."""
        if self._builder is not None:
            self._bytes_written = self._builder.size()
            self._buffer = bytes(self._builder.build())
            self._builder = None

    def size_in_bytes(self) -> int:
        """Return the size of the batch in bytes: before compression, or after it once the batch is closed."""
        return len(self._buffer) if self._builder is None else self._builder.size()

    def compression_rate(self) -> float:
        """Return the ratio of compressed to uncompressed size of the closed batch."""
        self._check_closed()
        return self.size_in_bytes() / self._bytes_written

    def is_full(self) -> bool:
        """Return whether no more records can be added."""
        return self._builder is None or self._builder.size() >= self._batch_size

    def next_offset(self) -> int:
        """Return the offset of the next record."""
        return self._next_offset

    def buffer(self) -> bytes:
        """Return the bytes of the closed batch."""
        self._check_closed()
        return self._buffer
