"""Encoding of the formats before Kafka 0.11: messages of magic 0 and 1, and the message that holds compressed ones."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence

from kafka.errors import UnsupportedForMessageFormatError
from kafka.record.codecs import compress
from kafka.record.layout import LENGTH_AT, LOG_OVERHEAD, MESSAGE_TIMESTAMP_AT
from kafka.record.types import Buffer, Compression

_OFFSET = struct.Struct(">q")


def encode_message(
    magic: int,
    offset: int,
    timestamp_ms: int,
    key: Buffer | None,
    value: Buffer | None,
    headers: Sequence[object] | None = None,
    attributes: int = 0,
) -> bytes:
    """Encode one message.

    Args:
        magic: 0 or 1.
        offset: as it shall stand there.
        timestamp_ms: milliseconds since the epoch; magic 0 has none.
        key: None for null.
        value: None for null.
        headers: must be empty.
        attributes: the codec of a message that holds others.

    Raises:
        UnsupportedForMessageFormatError: there are headers.
    """
    if headers:
        raise UnsupportedForMessageFormatError(
            f"Headers need magic 2 (Kafka 0.11 and later), this batch has magic {magic}: send the record without them"
        )
    fields = struct.pack(">bb", magic, attributes)
    if magic:
        fields += _OFFSET.pack(timestamp_ms)
    body = b"".join((fields, *_nullable(key), *_nullable(value)))
    return struct.pack(">qiI", offset, 4 + len(body), zlib.crc32(body)) + body


def _nullable(data: Buffer | None) -> tuple[Buffer, ...]:
    """A key or value with its length before it."""
    return (b"\xff\xff\xff\xff",) if data is None else (len(data).to_bytes(4, "big"), data)


def finish_messages(
    magic: int, messages: memoryview, count: int, base_offset: int, compression: Compression, level: int | None
) -> bytes:
    """Return the message set of messages that were encoded with the offsets 0, 1, ...

    Compressed, those inside keep these offsets in magic 1 (KIP-31), and have the real ones in magic 0; the message
    around them has the last one's offset and the latest timestamp.

    Args:
        magic: 0 or 1.
        messages: the encoded messages.
        count: how many there are.
        base_offset: the first one's offset.
        compression: the codec, not zstd.
        level: the codec's level, None for its default.

    Raises:
        UnsupportedCompressionTypeError: zstd.
    """
    if not compression:
        return bytes(_moved(messages, base_offset))
    timestamp = max(_timestamps(messages)) if magic else -1
    inside = messages if magic else memoryview(_moved(messages, base_offset))
    value = bytes(compress(compression, inside, level=level, magic=magic))
    return encode_message(magic, base_offset + count - 1, timestamp, None, value, attributes=int(compression))


def _starts(messages: memoryview) -> list[int]:
    """Where each message begins."""
    starts = []
    at = 0
    while at < len(messages):
        starts.append(at)
        at += LOG_OVERHEAD + int.from_bytes(messages[at + LENGTH_AT : at + LOG_OVERHEAD], "big")
    return starts


def _timestamps(messages: memoryview) -> list[int]:
    """The timestamps of messages of magic 1."""
    return [_OFFSET.unpack_from(messages, at + MESSAGE_TIMESTAMP_AT)[0] for at in _starts(messages)]


def _moved(messages: memoryview, base_offset: int) -> bytearray:
    """A copy of the messages with offsets that begin at `base_offset`; no checksum covers them."""
    copy = bytearray(messages)
    for index, at in enumerate(_starts(messages)):
        _OFFSET.pack_into(copy, at, base_offset + index)
    return copy
