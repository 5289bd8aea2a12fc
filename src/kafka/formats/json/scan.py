"""Scans the bytes of JSON values, and reads numbers from the buffers of Arrow arrays.

The plain variant uses this module. Compiled modules inline the same functions from `scan.pxd`. Callers check the
bounds.
"""

from __future__ import annotations

import math
import re
import struct
import sys
from typing import Protocol

from kafka.record.batch_types import Buffer

_SPACE = frozenset(b" \t\n\r")
_END_OF_TEXT = re.compile(rb'["\\\x00-\x1f]')
_POWERS = tuple(float(f"1e{power}") for power in range(23))


class Place(Protocol):
    """The attributes of a cursor that `next_byte` uses."""

    data: Buffer
    at: int
    end: int


def next_byte(cursor: Place) -> int:
    """Move to the next byte that is not white space and return it; -1 at the end of the value."""
    data, at, end = cursor.data, cursor.at, cursor.end
    while at < end and data[at] in _SPACE:
        at += 1
    cursor.at = at
    return data[at] if at < end else -1


def text_end(data: Buffer, at: int, end: int) -> int:
    """Find the next quote, backslash or control character, or the end. Return twice its position, plus one if there are
    non-ASCII bytes before it.
    """
    found = _END_OF_TEXT.search(data, at, end)
    stop = found.start() if found else end
    return stop * 2 + (not bytes(data[at:stop]).isascii())


def same_bytes(data: Buffer, at: int, other: Buffer, start: int, size: int) -> bool:
    """Return whether `size` bytes of both buffers are the same."""
    return data[at : at + size] == other[start : start + size]


def scaled_double(digits: int, exponent: int) -> float:
    """Return `digits` (at most 2**53) times ten to the power of -22 to 22. Both are exact, so rounding happens once."""
    return digits * _POWERS[exponent] if exponent >= 0 else digits / _POWERS[-exponent]


def exact_double(data: Buffer, start: int, size: int) -> float:
    """Convert the text of a valid number, like Python's float()."""
    return float(bytes(data[start : start + size]))


def signed_at(data: Buffer, at: int, width: int) -> int:
    """Return the signed integer of 1, 2, 4 or 8 bytes at a position."""
    return int.from_bytes(data[at : at + width], sys.byteorder, signed=True)


def unsigned_at(data: Buffer, at: int, width: int) -> int:
    """Return the unsigned integer of 1, 2, 4 or 8 bytes at a position."""
    return int.from_bytes(data[at : at + width], sys.byteorder)


def double_at(data: Buffer, at: int) -> float:
    """Return the double at a position."""
    value: float = struct.unpack_from("=d", data, at)[0]
    return value


def float_at(data: Buffer, at: int) -> float:
    """Return the float at a position, as a double."""
    value: float = struct.unpack_from("=f", data, at)[0]
    return value


def as_float(value: float) -> float:
    """Round a double to a float, and return it as a double."""
    try:
        rounded: float = struct.unpack("=f", struct.pack("=f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return rounded
