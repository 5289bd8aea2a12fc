"""Reading the formats before Kafka 0.11: messages of magic 0 and 1, and those that hold compressed ones."""

from __future__ import annotations

import zlib

from kafka.record.batch import CorruptMessageSet, offsets_of_messages, wrapper_value
from kafka.record.collector import Collector
from kafka.record.reader import STATUS_TEXT
from kafka.record.types import Buffer
from kafka.record.walk import MAX_OFFSET, Walk

_CODEC_MASK, _LOG_APPEND_TIME = 0x07, 0x08
_MAX_RUN = 4 * 1024 * 1024
"""How many bytes of messages are read together at the most."""


def take_messages(walk: Walk, size: int, into: Collector) -> bool:
    """Check and take the message at the walk's position, and those like it that follow; or a compressed one.

    Args:
        size: of the message, all included; it is known to be whole.

    Returns:
        False if nothing was taken: there is no room, or it is not wanted.
    """
    view, position = walk.view, walk.position
    offset = int.from_bytes(view[position : position + 8], "big", signed=True)
    magic, attributes = view[position + 16], view[position + 17]
    if not 0 <= offset <= MAX_OFFSET:
        raise walk.corrupt(f"its offset is {offset}")
    if not _is_sound(walk, position, size):
        raise walk.corrupt("its checksum and its bytes differ", offset)
    if attributes & _CODEC_MASK:
        return _take_wrapper(walk, size, magic, attributes, offset, into)
    if offset >= walk.stop_offset:
        walk.finished = True
        return False
    if not into.has_room(size, 1):
        return False
    end, count, last = _run(walk, position + size, magic, attributes, offset, into)
    status = into.add_messages(view, position, end, count, magic, 0, False, 0, _kind(magic, attributes))
    if status:
        raise walk.corrupt(STATUS_TEXT[status])
    walk.advance(end, last)
    return True


def _run(walk: Walk, end: int, magic: int, attributes: int, offset: int, into: Collector) -> tuple[int, int, int]:
    """Find how far sound messages like the one that ends at ``end`` go on.

    Returns:
        Where the last one ends, how many they are with the first, and the offset of the last one.
    """
    view, start, count = walk.view, walk.position, 1
    while (size := _size_of_next(walk, end, magic, attributes)) and offset + 1 < walk.stop_offset:
        following = int.from_bytes(view[end : end + 8], "big", signed=True)
        if not offset < following < walk.stop_offset or not _is_sound(walk, end, size):
            break
        if end + size - start > _MAX_RUN or not into.is_within(end + size - start, count + 1):
            break
        end, count, offset = end + size, count + 1, following
    return end, count, offset


def _size_of_next(walk: Walk, at: int, magic: int, attributes: int) -> int:
    """The size of the message at a position, if it is whole and of the same kind; else 0."""
    view = walk.view
    left = len(view) - at
    if left < 26 or view[at + 16] != magic or (view[at + 17] ^ attributes) & (_CODEC_MASK | _LOG_APPEND_TIME):
        return 0
    size = int.from_bytes(view[at + 8 : at + 12], "big", signed=True) + 12
    return size if 26 + 8 * magic <= size <= left else 0


def _is_sound(walk: Walk, position: int, size: int) -> bool:
    """Whether the checksum of a message is right, or nobody wants to know."""
    view = walk.view
    if not walk.check_crcs:
        return True
    return zlib.crc32(view[position + 16 : position + size]) == int.from_bytes(view[position + 12 : position + 16])


def _kind(magic: int, attributes: int) -> int:
    """The type of a message's timestamp."""
    return -1 if magic == 0 else attributes >> 3 & 1


def _take_wrapper(walk: Walk, size: int, magic: int, attributes: int, offset: int, into: Collector) -> bool:
    """Take a compressed message; those inside count their offsets from the first of them in magic 1 (KIP-31)."""
    position, end = walk.position, walk.position + size
    if offset < walk.start_offset:
        walk.advance(end, offset)
        return True
    try:
        value = wrapper_value(walk.view, position, size, magic)
        packed = walk.pack(attributes & _CODEC_MASK, end - len(value), end)
        if not into.has_room(packed.bound, 1):
            return False
        source: Buffer = walk.unpack(packed, into)
        offsets = offsets_of_messages(memoryview(source))
    except CorruptMessageSet as error:
        raise walk.corrupt(str(error), offset) from error
    shift = offset - offsets[-1] if magic == 1 else 0
    if offsets[0] + shift >= walk.stop_offset:
        walk.finished = True
        return False
    kind = _kind(magic, attributes)
    time = int.from_bytes(walk.view[position + 18 : position + 26], "big", signed=True) if kind == 1 else 0
    status = into.add_messages(source, 0, len(source), len(offsets), magic, shift, kind == 1, time, kind)
    if status:
        raise walk.corrupt(STATUS_TEXT[status], offset)
    walk.advance(end, offset)
    return True
