"""Reading one batch of magic 2, record by record."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from kafka.errors import CorruptRecordError
from kafka.legacy.record.default_builder import DefaultRecordBatchBuilder
from kafka.legacy.record.default_record import ControlRecord, DefaultRecord, DefaultRecordBase
from kafka.legacy.record.varints_and_checksums import calc_crc32c
from kafka.record import decode_batches
from kafka.record.abc import ABCRecordBatch
from kafka.record.batch_types import Buffer


class DefaultRecordBatch(DefaultRecordBase, ABCRecordBatch):
    """A batch of magic 2, which iterates over its records once."""

    __slots__ = ("_buffer", "_header", "_records")

    def __init__(self, buffer: Buffer) -> None:
        """Take the bytes of one batch."""
        self._buffer = bytearray(buffer)
        self._header = self.HEADER_STRUCT.unpack_from(self._buffer)
        self._records: Iterator[DefaultRecord] | None = None

    @property
    def base_offset(self) -> int:
        """The offset from which its records count."""
        return int(self._header[0])

    @property
    def size_in_bytes(self) -> int:
        """By its header."""
        return int(self._header[1]) + self.AFTER_LEN_OFFSET

    @property
    def leader_epoch(self) -> int:
        """Of the leader that wrote it."""
        return int(self._header[2])

    @property
    def magic(self) -> int:
        """2."""
        return int(self._header[3])

    @property
    def crc(self) -> int:
        """Its checksum."""
        return int(self._header[4])

    @property
    def attributes(self) -> int:
        """Codec, type of timestamps, and whether it belongs to a transaction or ends one."""
        return int(self._header[5])

    @property
    def last_offset_delta(self) -> int:
        """The last offset, counted from the base offset."""
        return int(self._header[6])

    @property
    def last_offset(self) -> int:
        """The last offset."""
        return self.base_offset + self.last_offset_delta

    @property
    def next_offset(self) -> int:
        """The offset behind it."""
        return self.last_offset + 1

    @property
    def compression_type(self) -> int:
        """The number of its codec."""
        return self.attributes & self.CODEC_MASK

    @property
    def timestamp_type(self) -> int:
        """0 for the time of the producer, 1 for the broker's."""
        return int(bool(self.attributes & self.TIMESTAMP_TYPE_MASK))

    @property
    def is_transactional(self) -> bool:
        """Whether it belongs to a transaction."""
        return bool(self.attributes & self.TRANSACTIONAL_MASK)

    @property
    def is_control_batch(self) -> bool:
        """Whether it ends a transaction."""
        return bool(self.attributes & self.CONTROL_MASK)

    @property
    def first_timestamp(self) -> int:
        """From which the others count."""
        return int(self._header[7])

    @property
    def max_timestamp(self) -> int:
        """The latest."""
        return int(self._header[8])

    @property
    def producer_id(self) -> int:
        """The id of an idempotent producer; -1 without one."""
        return int(self._header[9])

    def has_producer_id(self) -> bool:
        """Whether an idempotent producer wrote it."""
        return self.producer_id > self.NO_PRODUCER_ID

    @property
    def producer_epoch(self) -> int:
        """The epoch of an idempotent producer; -1 without one."""
        return int(self._header[10])

    @property
    def base_sequence(self) -> int:
        """The sequence number of its first record; -1 without an idempotent producer."""
        return int(self._header[11])

    @property
    def has_sequence(self) -> bool:
        """Whether it has a sequence number."""
        return self.base_sequence != self.NO_SEQUENCE

    @property
    def last_sequence(self) -> int:
        """The sequence number of its last record, which begins again at 0 behind 2³¹ - 1."""
        if not self.has_sequence:
            return self.NO_SEQUENCE
        return (self.base_sequence + self.last_offset_delta) % (self.MAX_INT + 1)

    @property
    def records_count(self) -> int:
        """How many records it says it has."""
        return int(self._header[12])

    def validate_crc(self) -> bool:
        """Whether its checksum is that of its bytes; to be asked before iterating."""
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
        """Read all records, those that end a transaction too, and their own timestamps even if the broker's count."""
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
