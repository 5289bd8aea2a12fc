"""The prefix of a Protobuf value, as Confluent's serializers write it: the schema's id and the message's position."""

from __future__ import annotations

from collections.abc import Sequence

_MAX_INDEXES = 100


class PrefixError(ValueError):
    """Bytes do not begin with a schema id and the position of a message."""


def index_bytes(indexes: Sequence[int]) -> bytes:
    """Encode the position of a message in its file; the first message is one zero byte."""
    if list(indexes) == [0]:
        return b"\0"
    return b"".join(_varint(each << 1) for each in (len(indexes), *indexes))


def read_indexes(data: bytes | memoryview, at: int) -> tuple[list[int], int]:
    """Read the position of a message; returns it and where it ends. Raises `PrefixError`."""
    size, at = _read(data, at)
    if size == 0:
        return [0], at
    if not 0 < size <= _MAX_INDEXES:
        raise PrefixError(f"expected the position of a message as 1 to {_MAX_INDEXES} numbers, got {size}")
    indexes = []
    for _ in range(size):
        each, at = _read(data, at)
        indexes.append(each)
    return indexes, at


def read_prefix(data: bytes) -> tuple[int, list[int], int]:
    """Read the schema's id and the position of the message; returns them and where the value begins."""
    if len(data) < 6 or data[0]:
        found = data[:5].hex(" ") or "no bytes"
        raise PrefixError(f"expected a zero byte, a schema id of 4 bytes and the position of a message, got {found}")
    indexes, at = read_indexes(data, 5)
    return int.from_bytes(data[1:5]), indexes, at


def _varint(value: int) -> bytes:
    made = bytearray()
    while value > 0x7F:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    made.append(value)
    return bytes(made)


def _read(data: bytes | memoryview, at: int) -> tuple[int, int]:
    """A number in zigzag form."""
    value = shift = 0
    while True:
        if at >= len(data) or shift > 28:
            raise PrefixError("expected the position of a message, as numbers after the schema id")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), at
