"""Reading and writing the strings of Kafka's oldest messages, as `kafka.util` had it for clients of 0.9 and 1.x."""

from __future__ import annotations

import struct
import zlib
from typing import Any

from kafka.errors import BufferUnderflowError

MAX_INT = 1 << 31
TO_SIGNED = 1 << 32


def crc32(data: bytes) -> int:
    """The CRC of data as the signed number that old messages carry."""
    unsigned = zlib.crc32(data)
    return unsigned - TO_SIGNED if unsigned >= MAX_INT else unsigned


def write_int_string(s: bytes | None) -> bytes:
    """Put the length before a string, in four bytes; -1 stands for None. Raises `TypeError` for what is not bytes."""
    return _write(">i", s)


def write_short_string(s: bytes | None) -> bytes:
    """Put the length before a string, in two bytes; -1 stands for None.

    Raises `TypeError` for what is not bytes, `struct.error` for more than 32,767 of them.
    """
    return _write(">h", s)


def read_int_string(data: bytes, cur: int) -> tuple[bytes | None, int]:
    """Read what `write_int_string` writes, from a position; gives the string and the position behind it.

    Raises `BufferUnderflowError` where the data end before it.
    """
    return _read(">i", data, cur)


def read_short_string(data: bytes, cur: int) -> tuple[bytes | None, int]:
    """Read what `write_short_string` writes, likewise."""
    return _read(">h", data, cur)


def relative_unpack(fmt: str, data: bytes, cur: int) -> tuple[tuple[Any, ...], int]:
    """Unpack a format of `struct` from a position; gives the values and the position behind them.

    Raises `BufferUnderflowError` where the data end before them.
    """
    end = cur + struct.calcsize(fmt)
    if len(data) < end:
        raise BufferUnderflowError(f"Not enough data left: {end} bytes are needed, {len(data)} are there")
    return struct.unpack(fmt, data[cur:end]), end


def kafka_bytestring(s: str | bytes) -> bytes:
    """Bytes as they are, text in UTF-8; raises `TypeError` for anything else."""
    if isinstance(s, bytes):
        return s
    if isinstance(s, str):
        return s.encode()
    raise TypeError(s)


def _write(length: str, s: bytes | None) -> bytes:
    if s is None:
        return struct.pack(length, -1)
    if not isinstance(s, bytes):
        raise TypeError(f'Expected "{type(s)}" to be bytes\ndata={s!r}')
    return struct.pack(length, len(s)) + s


def _read(length: str, data: bytes, cur: int) -> tuple[bytes | None, int]:
    (size,), start = relative_unpack(length, data, cur)
    if size == -1:
        return None, start
    end = start + size
    if size < 0 or len(data) < end:
        raise BufferUnderflowError(f"Not enough data left: a string of {size} bytes begins at {start} of {len(data)}")
    return data[start:end], end
