"""Infers the Arrow type of JSON values, for bounded reads, whose values a sample can represent."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Iterable
from typing import Any, Literal

import pyarrow as pa

from kafka.formats.json.encodings import in_utf8
from kafka.formats.json.errors import JsonSchemaError, place

_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d(:?\d\d)?)")
_LONG = 1 << 63
_TEXT = pa.json_()


def infer_type(
    values: Iterable[bytes | str | None],
    *,
    mixed: Literal["error", "json"] = "error",
    times: bool = False,
) -> pa.DataType:
    """Return a type that all values have, to read them with `JsonColumnDecoder`.

    Whole numbers are int64, with others among them double; those beyond 64 bits are double too, which rounds them. All
    fields are nullable: what each value of a sample has, later values may lack.
    A field that is always null is of the type null. Objects are structs with the fields of all of them, in the order
    in which they came.

    Args:
        values: the sample; None is skipped.
        mixed: how to treat a field with values of several types: as an error, or as `pyarrow.json_()`, whose values are
            JSON text.
        times: whether strings that are all dates, or all timestamps with an offset, are of these types.

    Raises:
        JsonSchemaError: a value is no JSON, there is no value, or one field has values of several types.
    """
    found: _Found | None = None
    for number, value in enumerate(values):
        if value is None:
            continue
        found = found or _Found()
        found.add(_parsed(number, value), times)
    if found is None:
        raise JsonSchemaError("There are no values to infer a schema from: give one")
    return found.type("", mixed == "json")


def _parsed(number: int, value: bytes | str) -> Any:
    """Return a value as objects; a number beyond a double's range is one all the same."""
    try:
        if isinstance(value, bytes):
            value = in_utf8(value) or value
        return json.loads(value)
    except (ValueError, RecursionError) as error:
        raise JsonSchemaError(f"Value {number} of the sample is no JSON: {error}") from error


class _Found:
    """The types of the values at one place."""

    def __init__(self) -> None:
        self._kinds: dict[str, int] = {}
        self._fields: dict[str, _Found] = {}
        self._items: _Found | None = None

    def add(self, value: Any, times: bool) -> None:
        """Add a value."""
        kind = _kind(value, times)
        if kind is not None:
            self._kinds[kind] = self._kinds.get(kind, 0) + 1
        if isinstance(value, dict):
            for name, each in value.items():
                self._fields.setdefault(name, _Found()).add(each, times)
        elif isinstance(value, list):
            self._items = self._items or _Found()
            for each in value:
                self._items.add(each, times)

    def type(self, path: str, takes_mixed: bool) -> pa.DataType:
        """Return the type that all values have."""
        kinds = set(self._kinds)
        if kinds == {"whole", "double"}:
            kinds = {"double"}
        if len(kinds) > 1 and kinds <= {"string", "date", "timestamp"}:
            kinds = {"string"}
        if len(kinds) > 1:
            if takes_mixed:
                return _TEXT
            counted = ", ".join(f"{name} ({count})" for name, count in sorted(self._kinds.items()))
            raise JsonSchemaError(f"{place(path)}the values have several types: {counted}")
        kind = kinds.pop() if kinds else "null"
        if kind == "object":
            fields = [(name, each.type(f"{path}.{name}", takes_mixed)) for name, each in self._fields.items()]
            return pa.struct(fields)
        if kind == "array":
            return pa.list_(self._items.type(f"{path}[]", takes_mixed) if self._items else pa.null())
        return _TYPES[kind]


_TYPES: dict[str, pa.DataType] = {
    "null": pa.null(),
    "boolean": pa.bool_(),
    "whole": pa.int64(),
    "double": pa.float64(),
    "string": pa.string(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
}


def _kind(value: Any, times: bool) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "whole" if -_LONG <= value < _LONG else "double"
    if isinstance(value, float):
        return "double"
    if isinstance(value, str):
        return _kind_of_text(value) if times else "string"
    return "object" if isinstance(value, dict) else "array"


def _kind_of_text(text: str) -> str:
    """Return whether a text is a date that exists, a timestamp that exists, or just a string."""
    try:
        if _DATE.fullmatch(text):
            datetime.date.fromisoformat(text)
            return "date"
        if _TIMESTAMP.fullmatch(text):
            datetime.datetime.fromisoformat(f"{text[:10]}T{text[11:].upper()}")
            return "timestamp"
    except ValueError:
        pass
    return "string"
