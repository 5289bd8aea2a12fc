"""Building messages of magic 0 and 1."""

from __future__ import annotations

import struct
import time
from typing import Any

from kafka.errors import UnsupportedCodecError
from kafka.legacy.record.default_builder import check_bytes
from kafka.record import layout
from kafka.record.abc import ABCRecordBatchBuilder
from kafka.record.batch_types import Compression
from kafka.record.codecs import compress
from kafka.record.legacy_messages import encode_message


class LegacyRecordBase:
    """Constants of magic 0 and 1."""

    HEADER_STRUCT_V0 = struct.Struct(">qiIbb")
    """Offset, size, checksum, magic, attributes."""
    HEADER_STRUCT_V1 = layout.MESSAGE_HEADER
    """The same, and the timestamp."""
    LOG_OVERHEAD = layout.LOG_OVERHEAD
    CRC_OFFSET = layout.MESSAGE_CRC_AT
    MAGIC_OFFSET = layout.MAGIC_AT
    RECORD_OVERHEAD_V0 = layout.smallest_size(0) - layout.LOG_OVERHEAD
    RECORD_OVERHEAD_V1 = layout.smallest_size(1) - layout.LOG_OVERHEAD
    KEY_OFFSET_V0 = layout.KEY_SIZE_AT_0
    KEY_OFFSET_V1 = layout.KEY_SIZE_AT_1
    KEY_LENGTH = VALUE_LENGTH = 4

    CODEC_MASK = layout.CODEC_MASK
    CODEC_NONE = int(Compression.NONE)
    CODEC_GZIP = int(Compression.GZIP)
    CODEC_SNAPPY = int(Compression.SNAPPY)
    CODEC_LZ4 = int(Compression.LZ4)
    TIMESTAMP_TYPE_MASK = layout.LOG_APPEND_TIME

    LOG_APPEND_TIME = 1
    CREATE_TIME = 0
    NO_TIMESTAMP = -1


class LegacyRecordMetadata:
    """What a builder tells of a message that it took."""

    __slots__ = ("_crc", "_offset", "_size", "_timestamp")

    def __init__(self, offset: int, crc: int, size: int, timestamp: int) -> None:
        """Take the message's offset in its batch, checksum, size in bytes, and timestamp in milliseconds."""
        self._offset = offset
        self._crc = crc
        self._size = size
        self._timestamp = timestamp

    @property
    def offset(self) -> int:
        """In its batch."""
        return self._offset

    @property
    def crc(self) -> int:
        """Its checksum."""
        return self._crc

    @property
    def size(self) -> int:
        """In bytes."""
        return self._size

    @property
    def timestamp(self) -> int:
        """In milliseconds since the epoch; -1 in magic 0."""
        return self._timestamp

    def __repr__(self) -> str:
        return (
            f"LegacyRecordMetadata(offset={self._offset!r}, crc={self._crc!r}, size={self._size!r}, "
            f"timestamp={self._timestamp!r})"
        )


class LegacyRecordBatchBuilder(ABCRecordBatchBuilder, LegacyRecordBase):
    """Messages of magic 0 or 1 that will be sent together."""

    __slots__ = ("_batch_size", "_buffer", "_compression_type", "_magic")

    def __init__(self, magic: int, compression_type: int, batch_size: int) -> None:
        """Begin a batch of at most `batch_size` bytes before compression; its first message may be larger."""
        self._magic = magic
        self._compression_type = compression_type
        self._batch_size = batch_size
        self._buffer = bytearray()

    def append(
        self, offset: int, timestamp: int | None, key: Any, value: Any, headers: Any = None
    ) -> LegacyRecordMetadata | None:
        """Add a message; None if there is no room for it.

        Args:
            offset: in the batch.
            timestamp: in milliseconds since the epoch, None for the present time; magic 0 has none.
            key: bytes-like or None.
            value: bytes-like or None.
            headers: must be empty.

        Raises:
            TypeError: an argument has another type.
        """
        if headers:
            raise AssertionError("Headers not supported in v0/v1")
        if type(offset) is not int:
            raise TypeError(offset)
        if self._magic == 0:
            timestamp = self.NO_TIMESTAMP
        elif timestamp is None:
            timestamp = int(time.time() * 1000)
        elif type(timestamp) is not int:
            raise TypeError(f"`timestamp` should be int, but {type(timestamp)} provided")
        check_bytes(key, "key")
        check_bytes(value, "value")
        size = self.size_in_bytes(offset, timestamp, key, value)
        if offset != 0 and len(self._buffer) + size >= self._batch_size:
            return None
        message = encode_message(self._magic, offset, timestamp, key, value)
        self._buffer += message
        crc = int.from_bytes(message[self.CRC_OFFSET : self.MAGIC_OFFSET], "big")
        return LegacyRecordMetadata(offset, crc, size, timestamp)

    def build(self) -> bytearray:
        """Return the messages; with a codec one message that holds them, whose offset and time the broker sets.

        Raises:
            UnsupportedCodecError: the codec does not go with the magic.
        """
        if not self._compression_type:
            return self._buffer
        if self._compression_type not in (self.CODEC_GZIP, self.CODEC_SNAPPY, self.CODEC_LZ4):
            raise UnsupportedCodecError(f"Unrecognized compression type: {self._compression_type}")
        inside = compress(Compression(self._compression_type), bytes(self._buffer), magic=self._magic)
        return bytearray(encode_message(self._magic, 0, 0, None, inside, attributes=self._compression_type))

    def size(self) -> int:
        """How many bytes the messages have so far, before compression."""
        return len(self._buffer)

    def size_in_bytes(self, offset: int, timestamp: int | None, key: Any, value: Any, headers: Any = None) -> int:
        """How many bytes a message has."""
        if headers:
            raise AssertionError("Headers not supported in v0/v1")
        return self.LOG_OVERHEAD + self.record_size(self._magic, key, value)

    @classmethod
    def record_size(cls, magic: int, key: Any, value: Any) -> int:
        """How many bytes a message has behind its offset and size."""
        return cls.record_overhead(magic) + len(key or b"") + len(value or b"")

    @classmethod
    def record_overhead(cls, magic: int) -> int:
        """How many bytes a message without key and value has behind its offset and size."""
        if magic not in (0, 1):
            raise AssertionError("Not supported magic")
        return cls.RECORD_OVERHEAD_V1 if magic else cls.RECORD_OVERHEAD_V0

    @classmethod
    def estimate_size_in_bytes(cls, magic: int, compression_type: int | None, key: Any, value: Any) -> int:
        """How many bytes a message has at the most, with the one that holds it if it is compressed."""
        size = cls.LOG_OVERHEAD + cls.record_size(magic, key, value)
        return size + cls.record_overhead(magic) if compression_type else size
