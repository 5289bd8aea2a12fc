"""Builds magic 0 and 1 messages, and reads one message with the messages inside it."""

from __future__ import annotations

import struct
import time
from collections.abc import Iterator
from typing import Any

from kafka._compression import Compression
from kafka.errors import CorruptRecordError, UnsupportedCodecError
from kafka.legacy.protocol.message import Message
from kafka.legacy.record.default_batch import check_bytes
from kafka.legacy.record.default_record import RecordFields
from kafka.legacy.record.varints_and_checksums import calc_crc32
from kafka.record import layout
from kafka.record.abc import ABCRecordBatch, ABCRecordBatchBuilder
from kafka.record.batch_types import Buffer
from kafka.record.codecs import CodecError, compress, decompress
from kafka.record.legacy_messages import encode_message


class LegacyRecordBase:
    """Constants for magic 0 and 1."""

    HEADER_STRUCT_V0 = struct.Struct(">qiIbb")
    """Offset, size, checksum, magic, attributes."""
    HEADER_STRUCT_V1 = layout.MESSAGE_HEADER
    """The fields of version 0, followed by the timestamp."""
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
    """The result of adding a message to a builder."""

    __slots__ = ("_crc", "_offset", "_size", "_timestamp")

    def __init__(self, offset: int, crc: int, size: int, timestamp: int) -> None:
        """Set the message's offset in its batch, its checksum, its size in bytes, and its timestamp in milliseconds."""
        self._offset = offset
        self._crc = crc
        self._size = size
        self._timestamp = timestamp

    @property
    def offset(self) -> int:
        """The offset in the batch."""
        return self._offset

    @property
    def crc(self) -> int:
        """The checksum."""
        return self._crc

    @property
    def size(self) -> int:
        """Size in bytes."""
        return self._size

    @property
    def timestamp(self) -> int:
        """The timestamp in milliseconds since 1970; -1 in magic 0."""
        return self._timestamp

    def __repr__(self) -> str:
        return (
            f"LegacyRecordMetadata(offset={self._offset!r}, crc={self._crc!r}, size={self._size!r}, "
            f"timestamp={self._timestamp!r})"
        )


class LegacyRecordBatchBuilder(ABCRecordBatchBuilder, LegacyRecordBase):
    """Magic 0 or 1 messages to be sent together."""

    __slots__ = ("_batch_size", "_buffer", "_compression_type", "_magic")

    def __init__(self, magic: int, compression_type: int, batch_size: int) -> None:
        """Create a batch of up to `batch_size` bytes before compression; its first message may be larger."""
        self._magic = magic
        self._compression_type = compression_type
        self._batch_size = batch_size
        self._buffer = bytearray()

    def append(
        self, offset: int, timestamp: int | None, key: Any, value: Any, headers: Any = None
    ) -> LegacyRecordMetadata | None:
        """Add a message. Return None if it does not fit.

        Args:
            offset: the offset in the batch.
            timestamp: in milliseconds since 1970; None: the current time. Magic 0 has no timestamps.
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
        """Return the messages; with a codec, one message that contains them, whose offset and time the broker sets."""
        if not self._compression_type:
            return self._buffer
        if self._compression_type not in (self.CODEC_GZIP, self.CODEC_SNAPPY, self.CODEC_LZ4):
            raise UnsupportedCodecError(f"Unrecognized compression type: {self._compression_type}")
        inside = compress(Compression(self._compression_type), bytes(self._buffer), magic=self._magic)
        return bytearray(encode_message(self._magic, 0, 0, None, inside, attributes=self._compression_type))

    def size(self) -> int:
        """Return the current size of the messages before compression, in bytes."""
        return len(self._buffer)

    def size_in_bytes(self, offset: int, timestamp: int | None, key: Any, value: Any, headers: Any = None) -> int:
        """Return the size of a message in bytes."""
        if headers:
            raise AssertionError("Headers not supported in v0/v1")
        return self.LOG_OVERHEAD + self.record_size(self._magic, key, value)

    @classmethod
    def record_size(cls, magic: int, key: Any, value: Any) -> int:
        """Return the size of a message without its offset and size fields, in bytes."""
        return cls.record_overhead(magic) + len(key or b"") + len(value or b"")

    @classmethod
    def record_overhead(cls, magic: int) -> int:
        """Return the size in bytes of a message without its key and value, and without its offset and size fields."""
        if magic not in (0, 1):
            raise AssertionError("Not supported magic")
        return cls.RECORD_OVERHEAD_V1 if magic else cls.RECORD_OVERHEAD_V0

    @classmethod
    def estimate_size_in_bytes(cls, magic: int, compression_type: int | None, key: Any, value: Any) -> int:
        """Return the maximum size of a message in bytes, including, if compressed, the message that contains it."""
        size = cls.LOG_OVERHEAD + cls.record_size(magic, key, value)
        return size + cls.record_overhead(magic) if compression_type else size


class LegacyRecord(RecordFields):
    """A magic 0 or 1 message."""

    __slots__ = ("_crc", "_crc_bytes", "_magic")

    def __init__(
        self,
        magic: int,
        offset: int,
        timestamp: int | None,
        timestamp_type: int | None,
        key: bytes | None,
        value: bytes | None,
        crc: int,
        crc_bytes: Buffer,
    ) -> None:
        """Set the fields; `crc_bytes` are the bytes that the checksum covers."""
        self._magic = magic
        self._offset = offset
        self._timestamp = timestamp
        self._timestamp_type = timestamp_type
        self._key = key
        self._value = value
        self._crc = crc
        self._crc_bytes = crc_bytes

    @property
    def magic(self) -> int:
        """The format, 0 or 1."""
        return self._magic

    @property
    def headers(self) -> list[tuple[str, bytes | None]]:
        """Always empty: these formats have no headers."""
        return []

    @property
    def checksum(self) -> int:
        return self._crc

    def validate_crc(self) -> bool:
        """Return whether the checksum is correct."""
        return self._crc == calc_crc32(self._crc_bytes)

    @property
    def size_in_bytes(self) -> int:
        return LegacyRecordBatchBuilder.estimate_size_in_bytes(self._magic, None, self._key, self._value)

    def __repr__(self) -> str:
        return (
            f"LegacyRecord(magic={self._magic!r} offset={self._offset!r}, timestamp={self._timestamp!r}, "
            f"timestamp_type={self._timestamp_type!r}, key={self._key!r}, value={self._value!r}, crc={self._crc!r})"
        )


class LegacyRecordBatch(ABCRecordBatch, LegacyRecordBase):
    """A magic 0 or 1 message. Iteration yields the messages it contains, or the message itself."""

    __slots__ = ("_buffer", "_magic", "_message", "_offset")

    def __init__(self, buffer: Buffer, magic: int) -> None:
        """Parse the bytes of one message."""
        self._buffer = memoryview(buffer)
        self._magic = magic
        self._offset, length, _, found, _ = self.HEADER_STRUCT_V0.unpack_from(self._buffer)
        if length != len(self._buffer) - self.LOG_OVERHEAD or found != magic:
            raise AssertionError(f"expected one message of magic {magic} in {len(self._buffer)} bytes")
        self._message = Message.decode(bytes(self._buffer[self.LOG_OVERHEAD :]))

    @property
    def base_offset(self) -> int:
        """The message's own offset; for a compressed message, this is the offset of the last message in it."""
        return int(self._offset)

    @property
    def size_in_bytes(self) -> int:
        """Total size in bytes."""
        return len(self._buffer)

    @property
    def timestamp_type(self) -> int | None:
        """0 for the producer's time, 1 for the broker's; None in magic 0."""
        return self._message.timestamp_type

    @property
    def compression_type(self) -> int:
        """The codec's number."""
        return self._message.attributes & self.CODEC_MASK

    @property
    def magic(self) -> int:
        """The format, 0 or 1."""
        return self._magic

    def validate_crc(self) -> bool:
        """Return whether the checksum is correct."""
        return self._message.crc & 0xFFFFFFFF == calc_crc32(self._buffer[self.MAGIC_OFFSET :])

    def __iter__(self) -> Iterator[LegacyRecord]:
        if not self.compression_type:
            yield self._record(self._buffer, 0, self._message)
            return
        inside = list(self._inside())
        last = int.from_bytes(inside[-1][:8], "big", signed=True)
        # Brokers give the outer message the offset of its last inner message (KIP-31); builders do not.
        shift = max(self.base_offset - last, 0) if self._magic else 0
        for raw in inside:
            message = Message.decode(bytes(raw[self.LOG_OVERHEAD :]))
            if message.is_compressed():
                raise AssertionError(f"MessageSet at offset {self.base_offset} appears double-compressed")
            yield self._record(raw, shift, message)

    def _inside(self) -> Iterator[memoryview]:
        """Yield the messages inside this one."""
        if self._message.value is None:
            raise CorruptRecordError("Value of compressed message is None")
        try:
            data = memoryview(decompress(self.compression_type, memoryview(self._message.value)))
        except CodecError as error:
            raise CorruptRecordError(f"Cannot decompress the message at offset {self.base_offset}: {error}") from error
        at = 0
        while at < len(data):
            end = at + self.LOG_OVERHEAD + int.from_bytes(data[at + 8 : at + self.LOG_OVERHEAD], "big", signed=True)
            if not at + self.LOG_OVERHEAD < end <= len(data):
                raise CorruptRecordError(f"A message inside the one at offset {self.base_offset} is incomplete")
            yield data[at:end]
            at = end

    def _record(self, raw: memoryview, shift: int, message: Message) -> LegacyRecord:
        """Return a message as a record, with the outer message's timestamp if the broker set the timestamp."""
        own = message.timestamp
        timestamp = self._message.timestamp if self.timestamp_type == self.LOG_APPEND_TIME else own
        offset = int.from_bytes(raw[:8], "big", signed=True) + shift
        crc = message.crc & 0xFFFFFFFF
        covered = raw[self.MAGIC_OFFSET :]
        return LegacyRecord(
            self._magic, offset, timestamp, self.timestamp_type, message.key, message.value, crc, covered
        )
