"""Numbers in the buffers of Arrow arrays. For the plain variant; `numbers_at.pxd` has the same for compiled modules."""

from __future__ import annotations

import math
import struct
import sys

from kafka.record.batch_types import Buffer


def signed_at(data: Buffer, at: int, width: int) -> int:
    """Return the signed number of 1, 2, 4 or 8 bytes at a position."""
    return int.from_bytes(data[at : at + width], sys.byteorder, signed=True)


def unsigned_at(data: Buffer, at: int, width: int) -> int:
    """Return the unsigned number of 1, 2, 4 or 8 bytes at a position."""
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
    """Return the float next to a double, as a double."""
    try:
        rounded: float = struct.unpack("=f", struct.pack("=f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return rounded
