"""Encodes the defaults of record fields, which are JSON values in the schema."""

from __future__ import annotations

import struct
from typing import Any

from kafka.formats.avro.schema import (
    NO_DEFAULT,
    Array,
    AvroSchemaError,
    Enum,
    Field,
    Fixed,
    Map,
    Primitive,
    Record,
    Schema,
    Union,
)

_MAX_DEPTH = 100
_MAX_VALUES = 10_000
_RANGES = {"int": 1 << 31, "long": 1 << 63}


class _UnfitError(Exception):
    """A JSON value does not fit the type."""


def encoded_default(field: Field) -> tuple[Schema, bytes]:
    """Encode a field's default.

    Returns:
        The type that the default is encoded as (for a union, the first branch that it fits), and the bytes.

    Raises:
        AvroSchemaError: the default does not fit the field.
    """
    branches = field.type.branches if isinstance(field.type, Union) else (field.type,)
    budget = _Budget(field.name)
    for branch in branches:
        out = bytearray()
        try:
            _encode(branch, field.default, out, budget)
        except _UnfitError:
            continue
        return branch, bytes(out)
    raise AvroSchemaError(
        f"Expected the default of field {field.name!r} as a value of {field.type.label}, got {field.default!r:.60}"
    )


def zigzag(value: int) -> bytes:
    """Encode an int or a long."""
    bits = value << 1 if value >= 0 else (~value << 1) | 1
    out = bytearray()
    while bits >= 128:
        out.append(bits & 127 | 128)
        bits >>= 7
    out.append(bits)
    return bytes(out)


class _Budget:
    """Limits the number of values in a default, because defaults of nested records can grow exponentially."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.left = _MAX_VALUES
        self.depth = 0

    def __enter__(self) -> None:
        self.depth += 1
        self.left -= 1
        if self.left < 0:
            raise AvroSchemaError(f"Expected at most {_MAX_VALUES:,} values in the default of field {self.name!r}")

    def __exit__(self, *exc: object) -> None:
        self.depth -= 1


def _encode(schema: Schema, value: Any, out: bytearray, budget: _Budget) -> None:
    """Append the encoding of a JSON value."""
    with budget:
        if budget.depth > _MAX_DEPTH:
            raise _UnfitError
        _encode_value(schema, value, out, budget)


def _encode_value(schema: Schema, value: Any, out: bytearray, budget: _Budget) -> None:
    if isinstance(schema, Primitive):
        out += _primitive(schema.kind, value)
    elif isinstance(schema, Fixed):
        data = _bytes(value)
        if len(data) != schema.size:
            raise _UnfitError
        out += data
    elif isinstance(schema, Enum):
        if value not in schema.symbols:
            raise _UnfitError
        out += zigzag(schema.symbols.index(value))
    elif isinstance(schema, Array):
        _encode_items(schema, value, out, budget)
    elif isinstance(schema, Map):
        if not isinstance(value, dict):
            raise _UnfitError
        if value:
            out += zigzag(len(value))
        for key, each in value.items():
            out += _primitive("string", key)
            _encode(schema.values, each, out, budget)
        out += b"\0"
    elif isinstance(schema, Record):
        _encode_fields(schema, value, out, budget)
    else:
        _encode_branch(schema, value, out, budget)


def _encode_items(schema: Array, value: Any, out: bytearray, budget: _Budget) -> None:
    if not isinstance(value, list):
        raise _UnfitError
    if value:
        out += zigzag(len(value))
    for each in value:
        _encode(schema.items, each, out, budget)
    out += b"\0"


def _encode_fields(schema: Record, value: Any, out: bytearray, budget: _Budget) -> None:
    if not isinstance(value, dict):
        raise _UnfitError
    for field in schema.fields:
        given = value.get(field.name, field.default)
        if given is NO_DEFAULT:
            raise _UnfitError
        _encode(field.type, given, out, budget)


def _encode_branch(schema: Union, value: Any, out: bytearray, budget: _Budget) -> None:
    """Append the index of the first branch that the value fits, followed by the value."""
    for number, branch in enumerate(schema.branches):
        encoded = bytearray(zigzag(number))
        try:
            _encode(branch, value, encoded, budget)
        except _UnfitError:
            continue
        out += encoded
        return
    raise _UnfitError


def _primitive(kind: str, value: Any) -> bytes:
    if kind == "null" and value is None:
        return b""
    if kind == "boolean" and isinstance(value, bool):
        return b"\1" if value else b"\0"
    if kind in _RANGES and type(value) is int and -_RANGES[kind] <= value < _RANGES[kind]:
        return zigzag(value)
    if kind in ("float", "double") and isinstance(value, (int, float, str)) and not isinstance(value, bool):
        return _floating(kind, value)
    if kind == "string" and isinstance(value, str):
        return _with_length(value.encode("utf-8", "surrogatepass"))
    if kind == "bytes":
        return _with_length(_bytes(value))
    raise _UnfitError


def _floating(kind: str, value: float | str) -> bytes:
    """Encode a number; accepts strings for NaN and infinities, like Java."""
    if isinstance(value, str) and value not in ("NaN", "Infinity", "-Infinity"):
        raise _UnfitError
    try:
        return struct.pack("<f" if kind == "float" else "<d", float(value))
    except OverflowError as error:
        raise _UnfitError from error


def _with_length(data: bytes) -> bytes:
    return zigzag(len(data)) + data


def _bytes(value: Any) -> bytes:
    """Convert a string of the characters 0 to 255 to bytes."""
    if not isinstance(value, str):
        raise _UnfitError
    try:
        return value.encode("latin-1")
    except UnicodeEncodeError as error:
        raise _UnfitError from error
