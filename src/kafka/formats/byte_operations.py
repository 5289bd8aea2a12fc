"""Reads and writes little-endian floating-point numbers, and checks that bytes are UTF-8.

The plain variant uses this module. Compiled modules inline the same functions from `byte_operations.pxd`. Callers check
the bounds.
"""

from __future__ import annotations

import math
import struct

from kafka.record.batch_types import Buffer

_DIGITS = 24
"""Number of binary digits in a float's significand."""


def float_at(data: Buffer, at: int) -> float:
    """Return the float at a position."""
    return float(struct.unpack_from("<f", data, at)[0])


def double_at(data: Buffer, at: int) -> float:
    """Return the double at a position."""
    return float(struct.unpack_from("<d", data, at)[0])


def whole_as_float(value: int) -> float:
    """Return the 32-bit float nearest to an integer, rounded only once, as in Java."""
    size = abs(value)
    spare = size.bit_length() - _DIGITS
    if spare <= 0:
        return float(value)
    rest, half = size & ((1 << spare) - 1), 1 << (spare - 1)
    kept = size >> spare
    if rest > half or (rest == half and kept & 1):
        kept += 1
    return math.copysign(float(kept << spare), value)


def put_float(out: memoryview, at: int, value: float) -> None:
    """Write a number as a float; numbers beyond its range become infinite."""
    try:
        struct.pack_into("<f", out, at, value)
    except OverflowError:
        struct.pack_into("<f", out, at, math.copysign(math.inf, value))


def put_double(out: memoryview, at: int, value: float) -> None:
    """Write a double."""
    struct.pack_into("<d", out, at, value)


def is_utf8(data: Buffer, start: int, size: int) -> bool:
    """Return whether bytes are UTF-8 without surrogates."""
    try:
        str(data[start : start + size], "utf-8")
    except UnicodeDecodeError:
        return False
    return True
