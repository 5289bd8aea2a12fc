"""Reads and writes the formats before Kafka 0.11: magic 0 and 1 messages, including compressed messages."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence

from kafka.errors import UnsupportedForMessageFormatError
from kafka.record.batch_headers import CorruptMessageSet, offsets_of_messages, wrapper_value
from kafka.record.batch_types import Buffer, Compression
from kafka.record.codecs import compress
from kafka.record.decode_state import Collector, Cursor
from kafka.record.layout import (
    CODEC_MASK,
    LENGTH_AT,
    LOG_APPEND_TIME,
    LOG_OVERHEAD,
    MAGIC_AT,
    MAX_OFFSET,
    MESSAGE_ATTRIBUTES_AT,
    MESSAGE_CHECKED_FROM,
    MESSAGE_CRC_AT,
    MESSAGE_TIMESTAMP_AT,
    MIN_MESSAGE_SIZE,
    smallest_size,
)
from kafka.record.read_status import STATUS_TEXT

_MAX_RUN = 4 * 1024 * 1024
"""Maximum total number of bytes in messages that are read together."""


_OFFSET = struct.Struct(">q")


def take_messages(cursor: Cursor, size: int, check_crcs: bool, into: Collector) -> bool:
    """Check and add the message at the cursor's position and similar ones after it, or a compressed message.

    Args:
        size: total size of the message, which is known to be complete.
        check_crcs: whether to verify the checksum of each message.

    Returns:
        False if nothing was added, because there is no room or the message is not needed.
    """
    view, position = cursor.view, cursor.position
    offset = int.from_bytes(view[position : position + 8], "big", signed=True)
    magic, attributes = view[position + MAGIC_AT], view[position + MESSAGE_ATTRIBUTES_AT]
    if not 0 <= offset <= MAX_OFFSET:
        raise cursor.corrupt(f"its offset is {offset}")
    if check_crcs and not _is_sound(view, position, size):
        raise cursor.corrupt("its checksum and its bytes differ", offset)
    if attributes & CODEC_MASK:
        return _take_wrapper(cursor, size, magic, attributes, offset, into)
    if offset >= cursor.stop_offset:
        cursor.finished = True
        return False
    if not into.has_room(size, 1):
        return False
    end, count, last = position + size, 1, offset
    if position >= cursor.singly_until:
        end, count, last = _run(cursor, end, magic, attributes, offset, check_crcs, into)
    status = into.add_messages(view, position, end, count, magic, 0, False, 0, _kind(magic, attributes))
    if status and count > 1:
        cursor.singly_until = end
        return take_messages(cursor, size, check_crcs, into)
    if status:
        raise cursor.corrupt(STATUS_TEXT[status])
    cursor.advance(end, last)
    return True


def _run(
    cursor: Cursor, end: int, magic: int, attributes: int, offset: int, check_crcs: bool, into: Collector
) -> tuple[int, int, int]:
    """Find the run of valid messages that are similar to the one that ends at ``end``.

    Returns:
        The end of the last message, the number of messages including the first, and the offset of the last one.
    """
    view, start, count = cursor.view, cursor.position, 1
    while (size := _size_of_next(view, end, magic, attributes)) and offset + 1 < cursor.stop_offset:
        following = int.from_bytes(view[end : end + 8], "big", signed=True)
        if not offset < following < cursor.stop_offset or (check_crcs and not _is_sound(view, end, size)):
            break
        if end + size - start > _MAX_RUN or not into.is_within(end + size - start, count + 1):
            break
        end, count, offset = end + size, count + 1, following
    return end, count, offset


def _size_of_next(view: memoryview, at: int, magic: int, attributes: int) -> int:
    """Return the size of the message at a position, or 0 if it is truncated or of a different kind."""
    left = len(view) - at
    if left < MIN_MESSAGE_SIZE or view[at + MAGIC_AT] != magic:
        return 0
    if (view[at + MESSAGE_ATTRIBUTES_AT] ^ attributes) & (CODEC_MASK | LOG_APPEND_TIME):
        return 0
    size = LOG_OVERHEAD + int.from_bytes(view[at + LENGTH_AT : at + LOG_OVERHEAD], "big", signed=True)
    return size if smallest_size(magic) <= size <= left else 0


def _is_sound(view: memoryview, position: int, size: int) -> bool:
    """Return whether the checksum of a message is correct."""
    stored = view[position + MESSAGE_CRC_AT : position + MESSAGE_CHECKED_FROM]
    return zlib.crc32(view[position + MESSAGE_CHECKED_FROM : position + size]) == int.from_bytes(stored)


def _kind(magic: int, attributes: int) -> int:
    """Return the type of a message's timestamp."""
    return -1 if magic == 0 else attributes >> 3 & 1


def _take_wrapper(cursor: Cursor, size: int, magic: int, attributes: int, offset: int, into: Collector) -> bool:
    """Add a compressed message. In magic 1, the offsets inside are relative to the first inner message (KIP-31)."""
    view, position, end = cursor.view, cursor.position, cursor.position + size
    if offset < cursor.start_offset:
        cursor.advance(end, offset)
        return True
    try:
        value = wrapper_value(view, position, size, magic)
        records = cursor.compressed(attributes & CODEC_MASK, end - len(value), end)
        if not into.has_room(records.bound, 1):
            return False
        source: Buffer = cursor.decompress(records, into.scratch(min(records.bound, cursor.max_size)))
        offsets = offsets_of_messages(memoryview(source))
    except CorruptMessageSet as error:
        raise cursor.corrupt(str(error), offset) from error
    if not 0 <= offsets[-1] <= MAX_OFFSET:
        raise cursor.corrupt(f"its last inner offset is {offsets[-1]}", offset)
    shift = offset - offsets[-1] if magic == 1 else 0
    if offsets[0] + shift >= cursor.stop_offset:
        cursor.finished = True
        return False
    kind = _kind(magic, attributes)
    time_at = position + MESSAGE_TIMESTAMP_AT
    time = int.from_bytes(view[time_at : time_at + 8], "big", signed=True) if kind == 1 else 0
    if not -MAX_OFFSET <= time <= MAX_OFFSET:
        raise cursor.corrupt(f"its timestamp is {time}", offset)
    status = into.add_messages(source, 0, len(source), len(offsets), magic, shift, kind == 1, time, kind)
    if status:
        raise cursor.corrupt(STATUS_TEXT[status], offset)
    cursor.advance(end, offset)
    return True


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
        offset: the offset field.
        timestamp_ms: milliseconds since the epoch; ignored for magic 0.
        key: the key; None for null.
        value: the value; None for null.
        headers: must be empty.
        attributes: the codec, for a message that contains compressed messages.

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
    """Return a key or value preceded by its length."""
    return (b"\xff\xff\xff\xff",) if data is None else (len(data).to_bytes(4, "big"), data)


def finish_messages(
    magic: int, messages: memoryview, count: int, base_offset: int, compression: Compression, level: int | None
) -> bytes:
    """Return a message set for messages that were encoded with the offsets 0, 1, ...

    In a compressed set, the inner messages keep these offsets in magic 1 (KIP-31), and get the actual offsets in magic
    0; the outer message gets the last message's offset and the latest timestamp.

    Args:
        magic: 0 or 1.
        messages: the encoded messages.
        count: number of messages.
        base_offset: the offset of the first message.
        compression: the codec, not zstd.
        level: the codec's level; None for the default level.

    Raises:
        UnsupportedCompressionTypeError: the codec is zstd.
    """
    if not compression:
        return bytes(_moved(messages, base_offset))
    timestamp = max(_timestamps(messages)) if magic else -1
    inside = messages if magic else memoryview(_moved(messages, base_offset))
    value = bytes(compress(compression, inside, level=level, magic=magic))
    return encode_message(magic, base_offset + count - 1, timestamp, None, value, attributes=int(compression))


def _starts(messages: memoryview) -> list[int]:
    """Return the start of each message."""
    starts = []
    at = 0
    while at < len(messages):
        starts.append(at)
        at += LOG_OVERHEAD + int.from_bytes(messages[at + LENGTH_AT : at + LOG_OVERHEAD], "big")
    return starts


def _timestamps(messages: memoryview) -> list[int]:
    """Return the timestamps of magic 1 messages."""
    return [_OFFSET.unpack_from(messages, at + MESSAGE_TIMESTAMP_AT)[0] for at in _starts(messages)]


def _moved(messages: memoryview, base_offset: int) -> bytearray:
    """Return a copy of the messages with offsets starting at `base_offset`; checksums do not cover offsets."""
    copy = bytearray(messages)
    for index, at in enumerate(_starts(messages)):
        _OFFSET.pack_into(copy, at, base_offset + index)
    return copy
