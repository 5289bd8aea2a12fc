"""Varints and checksums, with kafka-python's signatures."""

from __future__ import annotations

import zlib
from collections.abc import Callable

import crc32c

from kafka.record.batch_types import Buffer
from kafka.record.integers import put_varint, read_varint, varint_size

_MOST_BYTES = 10


def encode_varint(value: int, write: Callable[[int], object]) -> int:
    """Write a zigzag varint byte by byte; return the number of bytes."""
    out = memoryview(bytearray(_MOST_BYTES))
    size = put_varint(out, 0, value)
    for byte in out[:size]:
        write(byte)
    return size


def decode_varint(buffer: Buffer, pos: int = 0) -> tuple[int, int]:
    """Read a zigzag varint; return its value and the position after it.

    Raises:
        ValueError: the varint has more than 64 bits.
        IndexError: the varint is incomplete.
    """
    value, end = read_varint(buffer, pos, len(buffer))
    if end >= 0:
        return value, end
    if len(buffer) - pos < _MOST_BYTES:
        raise IndexError(f"a varint at byte {pos} is cut off")
    raise ValueError("Out of int64 range")


def size_of_varint(value: int) -> int:
    """Return the size of a zigzag varint in bytes."""
    return varint_size(value)


def crc32c_c(memview: Buffer) -> int:
    """Return the CRC-32C, computed by the crc32c library, which is optional in kafka-python."""
    checksum: int = crc32c.crc32c(memview)
    return checksum


crc32c_py = crc32c_c
"""kafka-python's CRC-32C in Python, for use without the library; here, the library is always available."""


def calc_crc32c(memview: Buffer, _crc32c: Callable[[Buffer], int] = crc32c_c) -> int:
    """Return the checksum of a magic 2 batch."""
    return _crc32c(memview)


def calc_crc32(memview: Buffer) -> int:
    """Return the checksum of a magic 0 or 1 message."""
    return zlib.crc32(memview)
