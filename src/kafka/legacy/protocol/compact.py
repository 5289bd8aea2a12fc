"""The types of flexible versions (KIP-482): numbers and sizes of variable length, and tagged fields."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, BinaryIO, ClassVar

from kafka.legacy.protocol.types import AbstractType, Array, String, read_exactly


def _to_varint(value: int) -> bytes:
    """Write a number that is not negative in seven bits a byte, the lowest first."""
    written = bytearray()
    while value > 0x7F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    written.append(value)
    return bytes(written)


def _from_varint(data: BinaryIO, width: int) -> int:
    """Read what `_to_varint` wrote."""
    value = 0
    for shift in range(0, width, 7):
        byte = read_exactly(data, 1, "a varint")[0]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & ((1 << width) - 1)
    raise ValueError(f"a varint has more than {width} bits")


class UnsignedVarInt32(AbstractType):
    """A number from 0 to 2³² - 1 in one to five bytes."""

    @classmethod
    def encode(cls, value: int) -> bytes:
        return _to_varint(value & 0xFFFFFFFF)

    @classmethod
    def decode(cls, data: BinaryIO) -> int:
        return _from_varint(data, 32)


class VarInt32(AbstractType):
    """A signed number in one to five bytes, small absolute values in few (zigzag)."""

    _width: ClassVar[int] = 32

    @classmethod
    def encode(cls, value: int) -> bytes:
        return _to_varint((value << 1 ^ value >> cls._width - 1) & (1 << cls._width) - 1)

    @classmethod
    def decode(cls, data: BinaryIO) -> int:
        value = _from_varint(data, cls._width)
        return value >> 1 ^ -(value & 1)


class VarInt64(VarInt32):
    """A signed number in one to ten bytes."""

    _width = 64


class CompactString(String):
    """Text with its size, as a varint, before it (KIP-482)."""

    def encode(self, value: Any) -> bytes:
        if value is None:
            return UnsignedVarInt32.encode(0)
        data = self._bytes(value)
        return UnsignedVarInt32.encode(len(data) + 1) + data

    def decode(self, data: BinaryIO) -> str | None:
        size = UnsignedVarInt32.decode(data) - 1
        return None if size < 0 else read_exactly(data, size, "string").decode(self.encoding)


class CompactBytes(AbstractType):
    """Bytes with their size, as a varint, before them (KIP-482)."""

    @classmethod
    def encode(cls, value: Any) -> bytes:
        return UnsignedVarInt32.encode(0) if value is None else UnsignedVarInt32.encode(len(value) + 1) + value

    @classmethod
    def decode(cls, data: BinaryIO) -> bytes | None:
        size = UnsignedVarInt32.decode(data) - 1
        return None if size < 0 else read_exactly(data, size, "Bytes")


class CompactArray(Array):
    """Values of one type, with their number, as a varint, before them (KIP-482)."""

    def encode(self, items: Iterable[Any] | None) -> bytes:
        if items is None:
            return UnsignedVarInt32.encode(0)
        encoded = [self.array_of.encode(item) for item in items]
        return b"".join([UnsignedVarInt32.encode(len(encoded) + 1), *encoded])

    def decode(self, data: BinaryIO) -> list[Any] | None:
        count = UnsignedVarInt32.decode(data) - 1
        return None if count == -1 else [self.array_of.decode(data) for _ in range(count)]


class TaggedFields(AbstractType):
    """Tagged fields (KIP-482), as a dict of bytes by tag."""

    @classmethod
    def encode(cls, value: dict[int, bytes] | None) -> bytes:
        fields: list[tuple[int, Any]] = sorted((value or {}).items())
        written = [UnsignedVarInt32.encode(len(fields))]
        for tag, data in fields:
            if not isinstance(data, bytes) or tag < 0:
                raise ValueError(f"expected bytes under a tag from 0 on, got {data!r} under {tag}")
            written += [UnsignedVarInt32.encode(tag), UnsignedVarInt32.encode(len(data)), data]
        return b"".join(written)

    @classmethod
    def decode(cls, data: BinaryIO) -> dict[int, bytes]:
        found: dict[int, bytes] = {}
        last = -1
        for _ in range(UnsignedVarInt32.decode(data)):
            tag = UnsignedVarInt32.decode(data)
            if tag <= last:
                raise ValueError(f"Invalid or out-of-order tag {tag}")
            last = tag
            found[tag] = read_exactly(data, UnsignedVarInt32.decode(data), "a tagged field")
        return found
