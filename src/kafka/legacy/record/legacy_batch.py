"""Reading one message of magic 0 or 1, and those that it holds."""

from __future__ import annotations

from collections.abc import Iterator

from kafka.errors import CorruptRecordError
from kafka.legacy.protocol.message import Message
from kafka.legacy.record.default_record import RecordFields
from kafka.legacy.record.legacy_builder import LegacyRecordBase, LegacyRecordBatchBuilder
from kafka.legacy.record.varints_and_checksums import calc_crc32
from kafka.record.abc import ABCRecordBatch
from kafka.record.batch_types import Buffer
from kafka.record.codecs import CodecError, decompress


class LegacyRecord(RecordFields):
    """A message of magic 0 or 1."""

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
        """Take the fields; `crc_bytes` are those that the checksum covers."""
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
        """0 or 1."""
        return self._magic

    @property
    def headers(self) -> list[tuple[str, bytes | None]]:
        """None: these formats have no headers."""
        return []

    @property
    def checksum(self) -> int:
        return self._crc

    def validate_crc(self) -> bool:
        """Whether the checksum is that of the message."""
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
    """A message of magic 0 or 1, which iterates over the messages that it holds, or over itself."""

    __slots__ = ("_buffer", "_magic", "_message", "_offset")

    def __init__(self, buffer: Buffer, magic: int) -> None:
        """Take the bytes of one message."""
        self._buffer = memoryview(buffer)
        self._magic = magic
        self._offset, length, _, found, _ = self.HEADER_STRUCT_V0.unpack_from(self._buffer)
        if length != len(self._buffer) - self.LOG_OVERHEAD or found != magic:
            raise AssertionError(f"expected one message of magic {magic} in {len(self._buffer)} bytes")
        self._message = Message.decode(bytes(self._buffer[self.LOG_OVERHEAD :]))

    @property
    def base_offset(self) -> int:
        """Its own offset: that of the last message that it holds."""
        return int(self._offset)

    @property
    def size_in_bytes(self) -> int:
        """All included."""
        return len(self._buffer)

    @property
    def timestamp_type(self) -> int | None:
        """0 for the time of the producer, 1 for the broker's, None in magic 0."""
        return self._message.timestamp_type

    @property
    def compression_type(self) -> int:
        """The number of its codec."""
        return self._message.attributes & self.CODEC_MASK

    @property
    def magic(self) -> int:
        """0 or 1."""
        return self._magic

    def validate_crc(self) -> bool:
        """Whether its checksum is that of its bytes."""
        return self._message.crc & 0xFFFFFFFF == calc_crc32(self._buffer[self.MAGIC_OFFSET :])

    def __iter__(self) -> Iterator[LegacyRecord]:
        if not self.compression_type:
            yield self._record(self._buffer, 0, self._message)
            return
        inside = list(self._inside())
        last = int.from_bytes(inside[-1][:8], "big", signed=True)
        # A broker gives the message around them the offset of the last one (KIP-31); no builder does.
        shift = max(self.base_offset - last, 0) if self._magic else 0
        for raw in inside:
            message = Message.decode(bytes(raw[self.LOG_OVERHEAD :]))
            if message.is_compressed():
                raise AssertionError(f"MessageSet at offset {self.base_offset} appears double-compressed")
            yield self._record(raw, shift, message)

    def _inside(self) -> Iterator[memoryview]:
        """The messages that it holds."""
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
                raise CorruptRecordError(f"A message inside that at offset {self.base_offset} is cut off")
            yield data[at:end]
            at = end

    def _record(self, raw: memoryview, shift: int, message: Message) -> LegacyRecord:
        """One message as a record; the broker's time of the message around it counts for it too."""
        own = message.timestamp
        timestamp = self._message.timestamp if self.timestamp_type == self.LOG_APPEND_TIME else own
        offset = int.from_bytes(raw[:8], "big", signed=True) + shift
        crc = message.crc & 0xFFFFFFFF
        covered = raw[self.MAGIC_OFFSET :]
        return LegacyRecord(
            self._magic, offset, timestamp, self.timestamp_type, message.key, message.value, crc, covered
        )
