"""Finds the invalid part of a value that could not be decoded, for the error message."""

from __future__ import annotations

from typing import Any, NamedTuple

_VARINT, _FIXED64, _BYTES, _START, _END, _FIXED32 = range(6)
_MAX_DEPTH = 100
_SCALARS = {
    1: _FIXED64,
    2: _FIXED32,
    6: _FIXED64,
    7: _FIXED32,
    15: _FIXED32,
    16: _FIXED64,
    9: _BYTES,
    11: _BYTES,
    12: _BYTES,
}
"""Wire types by field type; all other field types are varints."""
_STRING, _GROUP, _MESSAGE = 9, 10, 11


class Damage(NamedTuple):
    """The first place at which bytes are not a valid message. `str` returns a description."""

    path: str
    """The field's path; empty for the whole message."""
    position: int
    """The offset of the first invalid byte."""
    reason: str
    """What was expected and found."""

    def __str__(self) -> str:
        return f"{f'At {self.path}, byte' if self.path else 'At byte'} {self.position}: {self.reason}"


class _Damage(Exception):
    """Bytes cannot be read; the arguments are those of `Damage`."""


def damage(descriptor: Any, data: bytes) -> Damage | None:
    """Return the first place at which a message cannot be read, with the reason; None if the message is valid.

    Args:
        descriptor: the message's descriptor.
        data: the value.
    """
    try:
        _message(descriptor, data, 0, len(data), "", 0)
    except _Damage as error:
        return Damage(*error.args)
    return None


def _message(descriptor: Any, data: bytes, at: int, end: int, path: str, depth: int) -> None:
    if depth > _MAX_DEPTH:
        raise _Damage(path, at, f"expected messages nested at most {_MAX_DEPTH} deep")
    counts: dict[int, int] = {}
    while at < end:
        start = at
        key, at = _varint(data, at, end, path)
        number, kind = key >> 3, key & 7
        field = descriptor.fields_by_number.get(number)
        if not 0 < number < 1 << 29 or kind > _FIXED32:
            raise _Damage(path, start, f"expected a field, got number {number} of wire type {kind}")
        where = path if field is None else f"{path}.{field.name}".lstrip(".")
        if field is not None and field.is_repeated:
            where = f"{where}[{counts.setdefault(number, 0)}]"
            counts[number] += 1
        at = _field(field, kind, data, at, end, where, depth)


def _field(field: Any, kind: int, data: bytes, at: int, end: int, path: str, depth: int) -> int:
    if field is not None and field.type != _GROUP:
        expected = _SCALARS.get(field.type, _VARINT)
        is_packed = kind == _BYTES and field.is_repeated and expected != _BYTES
        if kind != expected and not is_packed:
            field = None  # treat it as an unknown field
    if kind == _VARINT:
        return _varint(data, at, end, path)[1]
    if kind in (_FIXED64, _FIXED32):
        size = 8 if kind == _FIXED64 else 4
        if end - at < size:
            raise _Damage(path, at, f"expected {size} bytes, got {end - at}")
        return at + size
    if kind == _BYTES:
        size, at = _varint(data, at, end, path)
        if size > end - at:
            raise _Damage(path, at, f"expected {size} bytes, got {end - at}")
        if field is not None and field.type == _STRING:
            try:
                data[at : at + size].decode()
            except UnicodeDecodeError as error:
                raise _Damage(path, at + error.start, "expected text in UTF-8") from None
        elif field is not None and field.type == _MESSAGE:
            _message(field.message_type, data, at, at + size, path, depth + 1)
        return at + size
    if kind == _END:
        raise _Damage(path, at, "got the end of a group that has not begun")
    return _group(data, at, end, path, depth)


def _group(data: bytes, at: int, end: int, path: str, depth: int) -> int:
    """Skip a group."""
    if depth > _MAX_DEPTH:
        raise _Damage(path, at, f"expected messages nested at most {_MAX_DEPTH} deep")
    while True:
        key, at = _varint(data, at, end, path)
        if key & 7 == _END:
            return at
        at = _field(None, key & 7, data, at, end, path, depth + 1)


def _varint(data: bytes, at: int, end: int, path: str) -> tuple[int, int]:
    value = 0
    for position in range(10):
        if at + position >= end:
            raise _Damage(path, at, "the value ends within a number")
        byte = data[at + position]
        value |= (byte & 0x7F) << 7 * position
        if byte < 0x80:
            if value >> 64:
                break
            return value, at + position + 1
    raise _Damage(path, at, "expected a number of at most 64 bits")
