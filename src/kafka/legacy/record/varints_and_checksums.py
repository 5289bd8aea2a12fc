"""Numbers of variable length and checksums, with kafka-python's signatures."""

from __future__ import annotations

import zlib
from collections.abc import Callable

import crc32c

from kafka.record.batch_types import Buffer
from kafka.record.integers import put_varint, read_varint, varint_size

_MOST_BYTES = 10


def encode_varint(value: int, write: Callable[[int], object]) -> int:
    """Write a zigzag number byte by byte; return how many there were."""
    out = memoryview(bytearray(_MOST_BYTES))
    size = put_varint(out, 0, value)
    for byte in out[:size]:
        write(byte)
    return size


def decode_varint(buffer: Buffer, pos: int = 0) -> tuple[int, int]:
    """Read a zigzag number; return it and the position behind it.

    Raises:
        ValueError: it has more than 64 bits.
        IndexError: it is cut off.
    """
    value, end = read_varint(buffer, pos, len(buffer))
    if end >= 0:
        return value, end
    if len(buffer) - pos < _MOST_BYTES:
        raise IndexError(f"a varint at byte {pos} is cut off")
    raise ValueError("Out of int64 range")


def size_of_varint(value: int) -> int:
    """How many bytes a zigzag number takes."""
    return varint_size(value)


def crc32c_c(memview: Buffer) -> int:
    """CRC-32C by the library; kafka-python has this where the library is installed."""
    checksum: int = crc32c.crc32c(memview)
    return checksum


crc32c_py = crc32c_c
"""kafka-python's own CRC-32C, in Python; the library is always there."""


def calc_crc32c(memview: Buffer, _crc32c: Callable[[Buffer], int] = crc32c_c) -> int:
    """Return the checksum of a batch of magic 2."""
    return _crc32c(memview)


def calc_crc32(memview: Buffer) -> int:
    """Return the checksum of a message of magic 0 or 1."""
    return zlib.crc32(memview)
