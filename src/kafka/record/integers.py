"""The integers in batches: zigzag varints and big-endian integers, for the plain variant.

`integers.pxd` provides the same functions to compiled modules, as inline C functions.
"""

from __future__ import annotations

from kafka.record.batch_types import Buffer


def varint_size(value: int) -> int:
    """Return the size of a zigzag varint in bytes."""
    return max(((value << 1) ^ (value >> 63)).bit_length() + 6, 7) // 7


def put_varint(out: memoryview, at: int, value: int) -> int:
    """Write a zigzag varint at a position with enough room; return the position after it."""
    bits = (value << 1) ^ (value >> 63)
    while bits >= 128:
        out[at] = bits & 127 | 128
        bits >>= 7
        at += 1
    out[at] = bits
    return at + 1


def read_varint(data: Buffer, at: int, end: int) -> tuple[int, int]:
    """Read a zigzag varint of at most 64 bits; return the value and the next position (-1 if invalid)."""
    bits = shift = 0
    while at < end:
        byte = data[at]
        at += 1
        if byte < 128:
            if shift == 63 and byte > 1:
                return 0, -1
            bits |= byte << shift
            return (bits >> 1) ^ -(bits & 1), at
        if shift == 63:
            return 0, -1
        bits |= (byte & 127) << shift
        shift += 7
    return 0, -1


def read_int16(data: Buffer, at: int) -> int:
    """Read an int16. The caller must have checked that enough bytes remain, as for the functions below."""
    return int.from_bytes(data[at : at + 2], "big", signed=True)


def read_int32(data: Buffer, at: int) -> int:
    """Read an int32; see `read_int16`."""
    return int.from_bytes(data[at : at + 4], "big", signed=True)


def read_int64(data: Buffer, at: int) -> int:
    """Read an int64; see `read_int16`."""
    return int.from_bytes(data[at : at + 8], "big", signed=True)
