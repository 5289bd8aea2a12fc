"""Builds a magic 2 batch from records with arbitrary offsets, and reads a batch record by record."""

from __future__ import annotations

import struct
import time
from collections.abc import Iterator, Sequence
from typing import Any

from kafka._compression import Compression
from kafka.errors import CorruptRecordError, UnsupportedCodecError
from kafka.legacy.record.default_record import ControlRecord, DefaultRecord, DefaultRecordBase, DefaultRecordMetadata
from kafka.legacy.record.varints_and_checksums import calc_crc32c, encode_varint, size_of_varint
from kafka.record import decode_batches, layout
from kafka.record.abc import ABCRecordBatch, ABCRecordBatchBuilder
from kafka.record.batch_headers import ProducerState, finish_batch
from kafka.record.batch_types import Buffer
from kafka.record.codecs import compress
from kafka.record.record_headers import encode_headers

Headers = Sequence[tuple[str, bytes | None]]
_NULL = -1


def check_bytes(data: Any, what: str) -> None:
    """Raise `TypeError` unless a key or value is bytes-like or None."""
    if data is not None and not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"Not supported type for {what}: {type(data)}")


class DefaultRecordBatchBuilder(DefaultRecordBase, ABCRecordBatchBuilder):
    """A magic 2 batch that is being filled."""

    MAX_RECORD_OVERHEAD = 21
    """Maximum size of a record's size, timestamp, offset and attributes in bytes, without key, value and headers."""

    __slots__ = (
        "_base_sequence",
        "_batch_size",
        "_buffer",
        "_compression_type",
        "_first_timestamp",
        "_is_transactional",
        "_last_offset",
        "_magic",
        "_max_timestamp",
        "_num_records",
        "_producer_epoch",
        "_producer_id",
    )

    def __init__(
        self,
        magic: int,
        compression_type: int,
        is_transactional: bool,
        producer_id: int,
        producer_epoch: int,
        base_sequence: int,
        batch_size: int,
    ) -> None:
        """Create a batch of up to `batch_size` bytes before compression; its first record may be larger."""
        if magic < 2:
            raise AssertionError(f"expected magic 2, got {magic}")
        self._magic = magic
        self._compression_type = compression_type & self.CODEC_MASK
        self._batch_size = batch_size
        self._is_transactional = bool(is_transactional)
        self._producer_id = producer_id
        self._producer_epoch = producer_epoch
        self._base_sequence = base_sequence
        self._first_timestamp: int | None = None
        self._max_timestamp = 0
        self._last_offset = 0
        self._num_records = 0
        self._buffer = bytearray(self.HEADER_STRUCT.size)

    def set_producer_state(
        self, producer_id: int, producer_epoch: int, base_sequence: int, is_transactional: bool
    ) -> None:
        """Set the producer that the batch belongs to."""
        if is_transactional and producer_id == -1:
            raise AssertionError("Cannot write transactional messages without a valid producer ID")
        if producer_id != -1 and producer_epoch == -1:
            raise AssertionError("Invalid negative producer epoch")
        if producer_id != -1 and base_sequence == -1:
            raise AssertionError("Invalid negative sequence number")
        self._producer_id = producer_id
        self._producer_epoch = producer_epoch
        self._base_sequence = base_sequence
        self._is_transactional = is_transactional

    @property
    def producer_id(self) -> int:
        """The producer's id; -1 if the producer is not idempotent."""
        return self._producer_id

    @property
    def producer_epoch(self) -> int:
        """The producer's epoch; -1 if the producer is not idempotent."""
        return self._producer_epoch

    @property
    def base_sequence(self) -> int:
        """The sequence number of the first record; -1 if the producer is not idempotent."""
        return self._base_sequence

    def append(
        self, offset: int, timestamp: int | None, key: Any, value: Any, headers: Headers | None = None
    ) -> DefaultRecordMetadata | None:
        """Add a record. Return None if it does not fit.

        Args:
            offset: the offset in the batch.
            timestamp: in milliseconds since 1970; None: the current time.
            key: bytes-like or None.
            value: bytes-like or None.
            headers: pairs of a str name and a bytes value or None.

        Raises:
            TypeError: an argument has another type.
        """
        if type(offset) is not int:
            raise TypeError(offset)
        if timestamp is None:
            timestamp = int(time.time() * 1000)
        elif type(timestamp) is not int:
            raise TypeError(timestamp)
        check_bytes(key, "key")
        check_bytes(value, "value")
        first = timestamp if self._first_timestamp is None else self._first_timestamp
        record = _encode_record(offset, timestamp - first, key, value, headers or ())
        if self._num_records and len(record) + len(self._buffer) > self._batch_size:
            return None
        self._max_timestamp = max(timestamp, self._max_timestamp) if self._num_records else timestamp
        self._first_timestamp = first
        self._num_records += 1
        self._last_offset = offset
        self._buffer += record
        return DefaultRecordMetadata(offset, len(record), timestamp)

    def build(self) -> bytearray:
        """Return the batch, compressed if that makes it smaller.

        Raises:
            UnsupportedCodecError: the codec does not exist.
        """
        codec, compressed = Compression.NONE, None
        records = bytes(memoryview(self._buffer)[layout.HEADER_SIZE :])
        if self._compression_type not in tuple(Compression):
            raise UnsupportedCodecError(f"Unrecognized compression type: {self._compression_type}")
        if self._compression_type:
            smaller = compress(Compression(self._compression_type), records)
            if len(smaller) < len(records):
                codec, compressed = Compression(self._compression_type), smaller
        return self._finished(codec, compressed)

    def _finished(self, codec: Compression, compressed: Buffer | None) -> bytearray:
        """Return the batch with its header. Offsets may have gaps; the broker sets the leader epoch."""
        state = ProducerState(self._producer_id, self._producer_epoch, self._base_sequence, self._is_transactional)
        first, count = self._first_timestamp or 0, self._num_records
        whole = memoryview(bytearray(self._buffer))
        batch = bytearray(finish_batch(whole, count, 0, first, self._max_timestamp, codec, None, state, compressed))
        struct.pack_into(">i", batch, layout.EPOCH_AT, 0)
        struct.pack_into(">i", batch, layout.LAST_OFFSET_DELTA_AT, self._last_offset)
        struct.pack_into(">I", batch, self.CRC_OFFSET, calc_crc32c(memoryview(batch)[self.ATTRIBUTES_OFFSET :]))
        return batch

    def size(self) -> int:
        """Return the current size of the batch before compression, in bytes."""
        return len(self._buffer)

    @classmethod
    def header_size_in_bytes(cls) -> int:
        """Return the size of the header in bytes."""
        return layout.HEADER_SIZE

    @classmethod
    def size_in_bytes(
        cls, offset_delta: int, timestamp_delta: int, key: Any, value: Any, headers: Headers | None = None
    ) -> int:
        """Return the size of a record in a batch, in bytes."""
        body = cls.size_of_body(offset_delta, timestamp_delta, key, value, headers or ())
        return body + size_of_varint(body)

    @classmethod
    def size_of_body(cls, offset_delta: int, timestamp_delta: int, key: Any, value: Any, headers: Headers) -> int:
        """Return the size of a record without its size field, in bytes."""
        deltas = size_of_varint(offset_delta) + size_of_varint(timestamp_delta)
        return 1 + deltas + cls.size_of(key, value, headers)

    @classmethod
    def size_of(cls, key: Any, value: Any, headers: Headers) -> int:
        """Return the size of the key, value and headers, including their size fields, in bytes."""
        total = len(encode_headers(list(headers))[0])
        for data in (key, value):
            total += 1 if data is None else size_of_varint(len(data)) + len(data)
        return total

    @classmethod
    def estimate_size_in_bytes(cls, key: Any, value: Any, headers: Headers) -> int:
        """Return the maximum size in bytes of a batch that contains only this record."""
        return layout.HEADER_SIZE + cls.MAX_RECORD_OVERHEAD + cls.size_of(key, value, headers)

    def __str__(self) -> str:
        return (
            f"DefaultRecordBatchBuilder(magic={self._magic}, base_offset=0, last_offset_delta={self._last_offset}, "
            f"first_timestamp={self._first_timestamp or 0}, max_timestamp={self._max_timestamp}, "
            f"is_transactional={self._is_transactional}, producer_id={self._producer_id}, "
            f"producer_epoch={self._producer_epoch}, base_sequence={self._base_sequence}, "
            f"records_count={self._num_records})"
        )


def _encode_record(offset: int, delta: int, key: Any, value: Any, headers: Headers) -> bytearray:
    """Encode a record with any offset. `BatchBuilder` encodes only consecutive offsets that start at 0."""
    body = bytearray(1)
    encode_varint(delta, body.append)
    encode_varint(offset, body.append)
    for data in (key, value):
        encode_varint(_NULL if data is None else len(data), body.append)
        body += b"" if data is None else data
    body += encode_headers(list(headers))[0]
    record = bytearray()
    encode_varint(len(body), record.append)
    return record + body


class DefaultRecordBatch(DefaultRecordBase, ABCRecordBatch):
    """A magic 2 batch. Its records can be iterated over once."""

    __slots__ = ("_buffer", "_header", "_records")

    def __init__(self, buffer: Buffer) -> None:
        """Parse the header of one batch."""
        self._buffer = bytearray(buffer)
        self._header = self.HEADER_STRUCT.unpack_from(self._buffer)
        self._records: Iterator[DefaultRecord] | None = None

    @property
    def base_offset(self) -> int:
        """The offset to which the records' offsets are relative."""
        return int(self._header[0])

    @property
    def size_in_bytes(self) -> int:
        """Size of the batch in bytes, according to its header."""
        return int(self._header[1]) + self.AFTER_LEN_OFFSET

    @property
    def leader_epoch(self) -> int:
        """The epoch of the leader that wrote the batch."""
        return int(self._header[2])

    @property
    def magic(self) -> int:
        """The format of the batch, 2."""
        return int(self._header[3])

    @property
    def crc(self) -> int:
        """The checksum."""
        return int(self._header[4])

    @property
    def attributes(self) -> int:
        """The attributes: codec, timestamp type, and flags for transactional and control batches."""
        return int(self._header[5])

    @property
    def last_offset_delta(self) -> int:
        """The last offset, relative to the base offset."""
        return int(self._header[6])

    @property
    def last_offset(self) -> int:
        """The last offset."""
        return self.base_offset + self.last_offset_delta

    @property
    def next_offset(self) -> int:
        """The offset after the last one."""
        return self.last_offset + 1

    @property
    def compression_type(self) -> int:
        """The codec's number."""
        return self.attributes & self.CODEC_MASK

    @property
    def timestamp_type(self) -> int:
        """0 for the producer's time, 1 for the broker's."""
        return int(bool(self.attributes & self.TIMESTAMP_TYPE_MASK))

    @property
    def is_transactional(self) -> bool:
        """Whether the batch belongs to a transaction."""
        return bool(self.attributes & self.TRANSACTIONAL_MASK)

    @property
    def is_control_batch(self) -> bool:
        """Whether the batch contains control records, which end a transaction."""
        return bool(self.attributes & self.CONTROL_MASK)

    @property
    def first_timestamp(self) -> int:
        """The timestamp to which the records' timestamps are relative."""
        return int(self._header[7])

    @property
    def max_timestamp(self) -> int:
        """The latest timestamp."""
        return int(self._header[8])

    @property
    def producer_id(self) -> int:
        """The id of an idempotent producer; -1 if the producer is not idempotent."""
        return int(self._header[9])

    def has_producer_id(self) -> bool:
        """Return whether an idempotent producer wrote the batch."""
        return self.producer_id > self.NO_PRODUCER_ID

    @property
    def producer_epoch(self) -> int:
        """The epoch of an idempotent producer; -1 if the producer is not idempotent."""
        return int(self._header[10])

    @property
    def base_sequence(self) -> int:
        """The sequence number of the first record; -1 if the producer is not idempotent."""
        return int(self._header[11])

    @property
    def has_sequence(self) -> bool:
        """Whether the batch has a sequence number."""
        return self.base_sequence != self.NO_SEQUENCE

    @property
    def last_sequence(self) -> int:
        """The sequence number of the last record; sequence numbers wrap around to 0 after 2³¹ - 1."""
        if not self.has_sequence:
            return self.NO_SEQUENCE
        return (self.base_sequence + self.last_offset_delta) % (self.MAX_INT + 1)

    @property
    def records_count(self) -> int:
        """Number of records, according to the header."""
        return int(self._header[12])

    def validate_crc(self) -> bool:
        """Return whether the checksum is correct. Call this before iterating."""
        if self._records is not None:
            raise AssertionError("Validate should be called before iteration")
        return self.crc == calc_crc32c(memoryview(self._buffer)[self.ATTRIBUTES_OFFSET :])

    def __iter__(self) -> DefaultRecordBatch:
        if self._records is None:
            self._records = self._read()
        return self

    def __next__(self) -> DefaultRecord:
        """Return the next record.

        Raises:
            CorruptRecordError: the records are damaged.
        """
        if self._records is None:
            self._records = self._read()
        return next(self._records)

    next = __next__

    def _read(self) -> Iterator[DefaultRecord]:
        """Yield all records, including control records, with their own timestamps instead of the broker's."""
        plain = bytearray(self._buffer)
        ordinary = self.attributes & ~(self.CONTROL_MASK | self.TIMESTAMP_TYPE_MASK)
        struct.pack_into(">h", plain, self.ATTRIBUTES_OFFSET, ordinary)
        columns = decode_batches(plain, check_crcs=False)
        if columns.bytes_consumed != len(plain):
            raise CorruptRecordError(f"{len(plain) - columns.bytes_consumed} unconsumed bytes after the batch")
        make = ControlRecord if self.is_control_batch else DefaultRecord
        for record in columns.to_records():
            timestamp = record.timestamp or 0
            size = DefaultRecordBatchBuilder.size_of_body(
                record.offset - self.base_offset,
                timestamp - self.first_timestamp,
                record.key,
                record.value,
                record.headers,
            )
            shown = self.max_timestamp if self.timestamp_type == self.LOG_APPEND_TIME else timestamp
            yield make(size, record.offset, shown, self.timestamp_type, record.key, record.value, record.headers)

    def __str__(self) -> str:
        return (
            f"DefaultRecordBatch(magic={self.magic}, base_offset={self.base_offset}, "
            f"last_offset_delta={self.last_offset_delta}, first_timestamp={self.first_timestamp}, "
            f"max_timestamp={self.max_timestamp}, is_transactional={self.is_transactional}, "
            f"producer_id={self.producer_id}, producer_epoch={self.producer_epoch}, "
            f"base_sequence={self.base_sequence}, records_count={self.records_count})"
        )
