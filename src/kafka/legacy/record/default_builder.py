"""Building a batch of magic 2 of records with any offsets."""

from __future__ import annotations

import struct
import time
from collections.abc import Sequence
from typing import Any

from kafka.errors import UnsupportedCodecError
from kafka.legacy.record.default_record import DefaultRecordBase, DefaultRecordMetadata
from kafka.legacy.record.varints_and_checksums import calc_crc32c, encode_varint, size_of_varint
from kafka.record import layout
from kafka.record.abc import ABCRecordBatchBuilder
from kafka.record.batch_headers import ProducerState, finish_batch
from kafka.record.batch_types import Buffer, Compression
from kafka.record.codecs import compress
from kafka.record.record_headers import encode_headers

Headers = Sequence[tuple[str, bytes | None]]
_NULL = -1


def check_bytes(data: Any, what: str) -> None:
    """Raise TypeError unless a key or value is bytes-like or None."""
    if data is not None and not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"Not supported type for {what}: {type(data)}")


class DefaultRecordBatchBuilder(DefaultRecordBase, ABCRecordBatchBuilder):
    """A batch of magic 2 that is being filled."""

    MAX_RECORD_OVERHEAD = 21
    """Maximum bytes of a record without its key, value and headers: size, timestamp, offset, attributes."""

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
        """Begin a batch of at most `batch_size` bytes before compression; its first record may be larger."""
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
        """Tell which producer the batch belongs to."""
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
        """-1 without an idempotent producer."""
        return self._producer_id

    @property
    def producer_epoch(self) -> int:
        """-1 without an idempotent producer."""
        return self._producer_epoch

    @property
    def base_sequence(self) -> int:
        """The sequence number of the first record; -1 without an idempotent producer."""
        return self._base_sequence

    def append(
        self, offset: int, timestamp: int | None, key: Any, value: Any, headers: Headers | None = None
    ) -> DefaultRecordMetadata | None:
        """Add a record; None if there is no room for it.

        Args:
            offset: in the batch.
            timestamp: in milliseconds since the epoch, None for the present time.
            key: bytes-like or None.
            value: bytes-like or None.
            headers: pairs of a str and bytes or None.

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
        """Return the batch; compressed if that makes it smaller.

        Raises:
            UnsupportedCodecError: there is no such codec.
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
        """The batch with its header, in which offsets may have gaps and the leader's epoch is left to the broker."""
        state = ProducerState(self._producer_id, self._producer_epoch, self._base_sequence, self._is_transactional)
        first, count = self._first_timestamp or 0, self._num_records
        whole = memoryview(bytearray(self._buffer))
        batch = bytearray(finish_batch(whole, count, 0, first, self._max_timestamp, codec, None, state, compressed))
        struct.pack_into(">i", batch, layout.EPOCH_AT, 0)
        struct.pack_into(">i", batch, layout.LAST_OFFSET_DELTA_AT, self._last_offset)
        struct.pack_into(">I", batch, self.CRC_OFFSET, calc_crc32c(memoryview(batch)[self.ATTRIBUTES_OFFSET :]))
        return batch

    def size(self) -> int:
        """How many bytes the batch has so far, before compression."""
        return len(self._buffer)

    @classmethod
    def header_size_in_bytes(cls) -> int:
        """How many bytes the header has."""
        return layout.HEADER_SIZE

    @classmethod
    def size_in_bytes(
        cls, offset_delta: int, timestamp_delta: int, key: Any, value: Any, headers: Headers | None = None
    ) -> int:
        """How many bytes a record has in a batch."""
        body = cls.size_of_body(offset_delta, timestamp_delta, key, value, headers or ())
        return body + size_of_varint(body)

    @classmethod
    def size_of_body(cls, offset_delta: int, timestamp_delta: int, key: Any, value: Any, headers: Headers) -> int:
        """How many bytes a record has behind its size."""
        deltas = size_of_varint(offset_delta) + size_of_varint(timestamp_delta)
        return 1 + deltas + cls.size_of(key, value, headers)

    @classmethod
    def size_of(cls, key: Any, value: Any, headers: Headers) -> int:
        """How many bytes key, value and headers have with their sizes."""
        total = len(encode_headers(list(headers))[0])
        for data in (key, value):
            total += 1 if data is None else size_of_varint(len(data)) + len(data)
        return total

    @classmethod
    def estimate_size_in_bytes(cls, key: Any, value: Any, headers: Headers) -> int:
        """How many bytes a batch of one record has at the most."""
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
    """Encode a record. `BatchBuilder` does so for offsets that count from 0; here they may be any."""
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
