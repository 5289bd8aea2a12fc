"""Reading the formats before Kafka 0.11: messages of magic 0 and 1, and those that hold compressed ones."""

from __future__ import annotations

import zlib

from kafka.record.batch_headers import CorruptMessageSet, offsets_of_messages, wrapper_value
from kafka.record.collector import Collector
from kafka.record.cursor import Cursor
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
from kafka.record.types import Buffer

_MAX_RUN = 4 * 1024 * 1024
"""How many bytes of messages are read together at the most."""


def take_messages(cursor: Cursor, size: int, check_crcs: bool, into: Collector) -> bool:
    """Check and take the message at the cursor's position, and those like it that follow; or a compressed one.

    Args:
        size: of the message, all included; it is known to be whole.
        check_crcs: whether to compare each message with its checksum.

    Returns:
        False if nothing was taken: there is no room, or it is not wanted.
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
    """Find how far sound messages like the one that ends at ``end`` go on.

    Returns:
        Where the last one ends, how many they are with the first, and the offset of the last one.
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
    """The size of the message at a position, if it is whole and of the same kind; else 0."""
    left = len(view) - at
    if left < MIN_MESSAGE_SIZE or view[at + MAGIC_AT] != magic:
        return 0
    if (view[at + MESSAGE_ATTRIBUTES_AT] ^ attributes) & (CODEC_MASK | LOG_APPEND_TIME):
        return 0
    size = LOG_OVERHEAD + int.from_bytes(view[at + LENGTH_AT : at + LOG_OVERHEAD], "big", signed=True)
    return size if smallest_size(magic) <= size <= left else 0


def _is_sound(view: memoryview, position: int, size: int) -> bool:
    """Whether the checksum of a message is that of its bytes."""
    stored = view[position + MESSAGE_CRC_AT : position + MESSAGE_CHECKED_FROM]
    return zlib.crc32(view[position + MESSAGE_CHECKED_FROM : position + size]) == int.from_bytes(stored)


def _kind(magic: int, attributes: int) -> int:
    """The type of a message's timestamp."""
    return -1 if magic == 0 else attributes >> 3 & 1


def _take_wrapper(cursor: Cursor, size: int, magic: int, attributes: int, offset: int, into: Collector) -> bool:
    """Take a compressed message; those inside count their offsets from the first of them in magic 1 (KIP-31)."""
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
