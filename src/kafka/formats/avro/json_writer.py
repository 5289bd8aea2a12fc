"""Avro values in JSON, by their schema; `json_values` reads them again.

A value of a union is the JSON of its branch alone, `{"note": "a"}`. Where that would be read as another branch, the
branch stands around it, as in Avro's own JSON: `{"note": {"bytes": "6162"}}`. That form is read everywhere. A value
that is null as a whole is always written so, `{"null": null}`: null alone says that a record has no value.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal
from functools import partial
from typing import Any, TypeAlias
from uuid import UUID

from kafka.formats.avro.errors import AvroEncodeError
from kafka.formats.avro.json_scalars import scalar_json
from kafka.formats.avro.json_values import branch_name, chosen
from kafka.formats.avro.schema import Array, AvroDuration, Enum, Fixed, Map, Primitive, Record, Schema, Union

_Write: TypeAlias = Callable[[Any], Any]
_Writers: TypeAlias = dict[Schema, "_Write | None"]
"""Converts a value of a type to JSON; None: the value is its JSON."""

_AS_THEY_ARE = ("null", "boolean", "int", "long", "string")
_NULL = {"null": None}
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def json_writer(schema: Schema) -> Callable[[Any], str]:
    """Make the function that writes values as JSON, on one line without spaces. It is thread-safe.

    It takes values as `AvroObjectDecoder` returns them, with `return_record_name` or without.

    Arguments:
        schema: the type of the values: the reader's, or the writer's where there is no other.
    """
    write = _writer(schema, {})

    def text(value: Any) -> str:
        return _ENCODER.encode(_NULL if value is None else value if write is None else write(value))

    return text


def _writer(schema: Schema, known: _Writers) -> _Write | None:
    if schema not in known:
        if isinstance(schema, Record):
            return _record(schema, known)
        known[schema] = _made(schema, known)
    return known[schema]


def _made(schema: Primitive | Fixed | Enum | Array | Map | Union, known: _Writers) -> _Write | None:
    if isinstance(schema, Union):
        return _union(schema, known)
    if isinstance(schema, Array):
        items = _writer(schema.items, known)
        return None if items is None else lambda value: [items(each) for each in value]
    if isinstance(schema, Map):
        values = _writer(schema.values, known)
        return None if values is None else lambda value: {key: values(each) for key, each in value.items()}
    if isinstance(schema, Enum) or (
        isinstance(schema, Primitive) and _is_plain(schema) and schema.kind in _AS_THEY_ARE
    ):
        return None
    return partial(scalar_json, schema)


def _record(schema: Record, known: _Writers) -> _Write:
    fields: list[tuple[str, _Write | None]] = []

    def write(value: Any) -> Any:
        return {name: value[name] if each is None else each(value[name]) for name, each in fields}

    known[schema] = write  # before its fields, which may be of this type
    fields.extend([(field.name, _writer(field.type, known)) for field in schema.fields])
    return write


def _union(schema: Union, known: _Writers) -> _Write | None:
    branches = [(branch, _writer(branch, known)) for branch in schema.branches]
    others = [pair for pair in branches if pair[0].kind != "null"]
    if len(others) != 1 or not _is_read_again(others[0][0], set()):
        return lambda value: _json_of_branch(schema, branches, value)
    [(other, write)] = others
    if write is None and not isinstance(other, (Record, Map)):
        return None

    def optional(value: Any) -> Any:
        if value is None:
            return None
        if type(value) is tuple:  # the name of a record, and the record
            value = value[1]
        made = value if write is None else write(value)
        if type(made) is dict and len(made) == 1:  # which may look like the name of a branch
            found = chosen(schema, made)
            if found is None or found[1] is not made:
                return {branch_name(other): made}
        return made

    return optional


def _is_read_again(schema: Schema, seen: set[Schema]) -> bool:
    """Whether the JSON of every value of a type fits the type: decimals may have more digits than their type."""
    if schema in seen:
        return True
    seen.add(schema)
    if isinstance(schema, Record):
        return all(_is_read_again(field.type, seen) for field in schema.fields)
    if isinstance(schema, Union):
        return all(_is_read_again(branch, seen) for branch in schema.branches)
    if isinstance(schema, Array):
        return _is_read_again(schema.items, seen)
    if isinstance(schema, Map):
        return _is_read_again(schema.values, seen)
    return _is_plain(schema)


def _json_of_branch(schema: Union, branches: list[tuple[Schema, _Write | None]], value: Any) -> Any:
    if type(value) is tuple:  # the name of a record, and the record
        name, value = value
        found = [pair for pair in branches if isinstance(pair[0], Record) and pair[0].name == name]
    else:
        found = [pair for pair in branches if _is_of(pair[0], value)]
        found = [pair for pair in found if isinstance(pair[0], Map)] or found  # records of a union come with their name
    if not found:
        raise AvroEncodeError("", f"expected a value of {schema.label:.200}, got {type(value).__name__}")
    branch, write = found[0]
    made = value if write is None else write(value)
    read = chosen(schema, made)
    if read is not None and any(read[0] is each for each, _ in found) and read[1] is made:
        return made
    return {branch_name(branch): made}


def _is_plain(schema: Primitive | Fixed | Enum) -> bool:
    return isinstance(schema, Enum) or schema.logical is None


def _is_of(schema: Schema, value: Any) -> bool:
    """Whether a decoded value is of a type."""
    if isinstance(schema, (Record, Map)):
        return isinstance(value, dict) and (isinstance(schema, Map) or value.keys() == {f.name for f in schema.fields})
    if isinstance(schema, Enum):
        return isinstance(value, str) and value in schema.symbols
    if isinstance(schema, Array):
        return isinstance(value, list)
    if isinstance(schema, Union):
        return False
    if schema.logical is not None:
        return _is_logical(schema.logical.name, value)
    if isinstance(schema, Fixed):
        return isinstance(value, bytes) and len(value) == schema.size
    kinds = {"null": type(None), "boolean": bool, "float": float, "double": float, "bytes": bytes, "string": str}
    return type(value) is kinds.get(schema.kind, int)


def _is_logical(name: str, value: Any) -> bool:
    if name.endswith("-nanos"):
        return type(value) is int
    if isinstance(value, datetime):
        return name.startswith("timestamp-" if value.tzinfo is not None else "local-timestamp-")
    kinds = {"decimal": Decimal, "uuid": UUID, "duration": AvroDuration, "date": date}
    return type(value) is kinds.get(name, time)
