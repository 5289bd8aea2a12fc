"""Magic 0 and magic 1 messages as objects, and message sets."""

from __future__ import annotations

import io
import time
from collections.abc import Iterable
from typing import Any, ClassVar, Self

from kafka.legacy.protocol.parser import KafkaBytes
from kafka.legacy.protocol.schema_types import AbstractType, Bytes, Int8, Int32, Int64, Schema, Struct
from kafka.record.batch_types import Compression
from kafka.record.codecs import decompress
from kafka.record.legacy_messages import encode_message

_CRC_SIZE = 4
_LOG_OVERHEAD = 12


def _signed(number: int) -> int:
    """Convert an unsigned 32-bit number to the signed one with the same bytes."""
    return number - (1 << 32) if number >> 31 else number


class Message(Struct):
    """A message. A compressed message contains other messages."""

    SCHEMAS: ClassVar[list[Schema]] = [
        Schema(("crc", Int32), ("magic", Int8), ("attributes", Int8), ("key", Bytes), ("value", Bytes)),
        Schema(
            ("crc", Int32),
            ("magic", Int8),
            ("attributes", Int8),
            ("timestamp", Int64),
            ("key", Bytes),
            ("value", Bytes),
        ),
    ]
    SCHEMA = SCHEMAS[1]
    CODEC_MASK = 0x07
    CODEC_GZIP = int(Compression.GZIP)
    CODEC_SNAPPY = int(Compression.SNAPPY)
    CODEC_LZ4 = int(Compression.LZ4)
    CODEC_ZSTD = int(Compression.ZSTD)
    TIMESTAMP_TYPE_MASK = 0x08
    HEADER_SIZE = 22
    """Size of the header in magic 1: checksum, magic, attributes, timestamp, and the sizes of the key and value."""

    def __init__(
        self,
        value: bytes | None,
        key: bytes | None = None,
        magic: int = 0,
        attributes: int = 0,
        crc: int = 0,
        timestamp: int | None = None,
    ) -> None:
        """Set the fields of a message; in magic 1 the timestamp defaults to the current time."""
        for name, data in (("value", value), ("key", key)):
            if data is not None and not isinstance(data, bytes):
                raise AssertionError(f"{name} must be bytes")
        if magic == 0 and timestamp is not None:
            raise AssertionError("timestamp not supported in v0")
        if magic > 0 and timestamp is None:
            timestamp = int(time.time() * 1000)
        self.timestamp = timestamp
        self.crc = crc
        self.magic = magic
        self.attributes = attributes
        self.key = key
        self.value = value
        self._validated_crc: int | None = None

    @property
    def timestamp_type(self) -> int | None:
        """0 for the producer's time, 1 for the broker's; None if the message has no timestamp."""
        return None if self.magic == 0 else int(bool(self.attributes & self.TIMESTAMP_TYPE_MASK))

    def _encode_self(self, recalc_crc: bool = True) -> bytes:
        if self.magic not in (0, 1):
            raise ValueError(f"Unrecognized message version: {self.magic}")
        whole = encode_message(self.magic, 0, self.timestamp or 0, self.key, self.value, attributes=self.attributes)[
            _LOG_OVERHEAD:
        ]
        if recalc_crc:
            self.crc = _signed(int.from_bytes(whole[:_CRC_SIZE], "big"))
        return Int32.encode(self.crc) + whole[_CRC_SIZE:]

    @classmethod
    def decode(cls, data: Any) -> Self:
        """Decode a message from bytes or a stream. Raises `ValueError` if the data does not contain a message."""
        stream = io.BytesIO(data) if isinstance(data, bytes) else data
        crc, magic, attributes = (field.decode(stream) for field in cls.SCHEMAS[0].fields[:3])
        if magic not in (0, 1):
            raise ValueError(f"Unrecognized message version: {magic}")
        rest = [field.decode(stream) for field in cls.SCHEMAS[magic].fields[3:]]
        return cls(rest[-1], rest[-2], magic, attributes, crc, rest[0] if magic else None)

    def validate_crc(self) -> bool:
        """Return whether the checksum is correct."""
        if self._validated_crc is None:
            whole = Message(self.value, self.key, self.magic, self.attributes, 0, self.timestamp)
            whole._encode_self()
            self._validated_crc = whole.crc
        return self.crc == self._validated_crc

    def is_compressed(self) -> bool:
        """Return whether the value contains other messages."""
        return self.attributes & self.CODEC_MASK != 0

    def decompress(self) -> list[tuple[Any, Any, Any]]:
        """Return the messages in the value, in the form of `MessageSet.decode`."""
        raw = decompress(self.attributes & self.CODEC_MASK, memoryview(self.value or b""))
        return MessageSet.decode(bytes(raw), bytes_to_read=len(raw))

    def __hash__(self) -> int:
        return hash(self._encode_self(recalc_crc=False))

    def __eq__(self, other: object) -> bool:
        """Compare all fields, including the checksum."""
        return isinstance(other, Message) and all(
            getattr(self, name) == getattr(other, name) for name in self.SCHEMA.names
        )


class PartialMessage(bytes):
    """Represents a message that was cut off at the end of a response."""

    def __repr__(self) -> str:
        return f"PartialMessage({bytes(self)!r})"


class MessageSet(AbstractType):
    """A sequence of messages, each preceded by its offset and size."""

    ITEM: ClassVar[Schema] = Schema(("offset", Int64), ("message", Bytes))
    HEADER_SIZE = _LOG_OVERHEAD
    """Size of the offset and the message size."""

    @classmethod
    def encode(cls, items: Any, prepend_size: bool = True) -> bytes:
        """Encode messages, given as pairs of offset and bytes, or as triples of offset, size and `Message`.

        A stream that starts with the size of a set is copied as an encoded set.
        """
        if isinstance(items, (io.BytesIO, KafkaBytes)):
            encoded = items.read(Int32.decode(items))  # type: ignore[arg-type]  # both have read()
        else:
            encoded = b"".join(cls._encode_item(item) for item in items)
        return Bytes.encode(encoded) if prepend_size else encoded

    @staticmethod
    def _encode_item(item: Any) -> bytes:
        offset, message = item[0], item[-1]
        return Int64.encode(offset) + Bytes.encode(message.encode() if isinstance(message, Message) else message)

    @classmethod
    def decode(cls, data: Any, bytes_to_read: int | None = None) -> list[tuple[Any, Any, Any]]:
        """Decode triples of offset, size and `Message`. An incomplete message is (None, None, PartialMessage()).

        Args:
            data: the set, or a stream positioned at its start.
            bytes_to_read: the set's size; None: the size precedes the set.
        """
        stream = io.BytesIO(data) if isinstance(data, bytes) else data
        raw = io.BytesIO(stream.read(Int32.decode(stream) if bytes_to_read is None else bytes_to_read))
        size = len(raw.getbuffer())
        items: list[tuple[Any, Any, Any]] = []
        while raw.tell() < size:
            try:
                offset, message = Int64.decode(raw), Bytes.decode(raw)
                items.append((offset, len(message or b""), Message.decode(message)))
            except ValueError:
                items.append((None, None, PartialMessage()))
                break
        return items

    @classmethod
    def repr(cls, messages: Any) -> str:
        """Format messages, given as a list or as a stream."""
        if isinstance(messages, (KafkaBytes, io.BytesIO)):
            position = messages.tell()
            decoded = cls.decode(messages)
            messages.seek(position)
            messages = decoded
        return str([cls.ITEM.repr((m[0], m[-1])) for m in messages])


class Records(Bytes):
    """The records of a partition: bytes, or the messages of a set, as in the first releases."""

    @classmethod
    def encode(cls, value: Any) -> bytes:
        if value is None or isinstance(value, (bytes, bytearray, memoryview)):
            return super().encode(value)
        return MessageSet.encode(_listed(value))

    @classmethod
    def repr(cls, value: Any) -> str:
        return super().repr(value) if value is None or isinstance(value, bytes) else MessageSet.repr(value)


def _listed(value: Any) -> Any:
    """Convert messages to a list; return a stream unchanged."""
    return list(value) if isinstance(value, Iterable) and not isinstance(value, (io.BytesIO, KafkaBytes)) else value
