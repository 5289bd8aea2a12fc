"""Little-endian floating-point numbers. For the plain variant; `floats.pxd` has the same for compiled modules."""

from __future__ import annotations

import math
import struct

from kafka.record.types import Buffer


def float_at(data: Buffer, at: int) -> float:
    """Return the float at a position; its bytes are known to be there."""
    return float(struct.unpack_from("<f", data, at)[0])


def double_at(data: Buffer, at: int) -> float:
    """Return the double at a position; its bytes are known to be there."""
    return float(struct.unpack_from("<d", data, at)[0])


def put_float(out: memoryview, at: int, value: float) -> None:
    """Write a number as a float where room for it is known to be; numbers beyond its range become infinite."""
    try:
        struct.pack_into("<f", out, at, value)
    except OverflowError:
        struct.pack_into("<f", out, at, math.copysign(math.inf, value))


def put_double(out: memoryview, at: int, value: float) -> None:
    """Write a double where room for it is known to be."""
    struct.pack_into("<d", out, at, value)
