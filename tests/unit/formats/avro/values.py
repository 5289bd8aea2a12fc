"""Random Avro schemas with values, and the expected columns as Python objects."""

from __future__ import annotations

import datetime
import decimal
import string
import struct
import uuid
from typing import Any

from hypothesis import strategies as st

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_LONG = st.integers(-(1 << 63), (1 << 63) - 1)
_INT = st.integers(-(1 << 31), (1 << 31) - 1)
_TEXT = st.text(max_size=12).filter(lambda text: not any(0xD800 <= ord(c) < 0xE000 for c in text))
_NAMES = [f"n{number}" for number in range(40)]


def _moments(unit: int) -> st.SearchStrategy[datetime.datetime]:
    """Datetimes with a precision of `unit` units per second."""
    return st.integers(-2_000_000_000 * unit, 4_000_000_000 * unit).map(
        lambda count: EPOCH + datetime.timedelta(microseconds=count * (1_000_000 // unit))
    )


def _decimals(precision: int, scale: int) -> st.SearchStrategy[decimal.Decimal]:
    most = 10**precision - 1
    return st.integers(-most, most).map(lambda number: decimal.Decimal(number).scaleb(-scale, decimal.Context(prec=80)))


@st.composite
def schemas(draw: Any, depth: int = 3, names: list[str] | None = None) -> tuple[Any, st.SearchStrategy[Any]]:
    """A schema that is not recursive, and a strategy for its values."""
    left = list(_NAMES) if names is None else names
    kinds = ["primitive", "logical", "fixed", "enum"]
    if depth > 0:
        kinds += ["array", "map", "record", "record", "optional", "union"]
    kind = draw(st.sampled_from(kinds))
    if kind == "primitive":
        return draw(st.sampled_from(PRIMITIVES))
    if kind == "logical":
        return draw(st.sampled_from(LOGICAL))
    if kind == "fixed":
        size = draw(st.integers(0, 20))
        return {"type": "fixed", "name": left.pop(), "size": size}, st.binary(min_size=size, max_size=size)
    if kind == "enum":
        symbols = draw(st.lists(st.sampled_from(string.ascii_uppercase), min_size=1, max_size=5, unique=True))
        return {"type": "enum", "name": left.pop(), "symbols": symbols}, st.sampled_from(symbols)
    if kind == "array":
        items, values = draw(schemas(depth - 1, left))
        return {"type": "array", "items": items}, st.lists(values, max_size=4)
    if kind == "map":
        values_schema, values = draw(schemas(depth - 1, left))
        return {"type": "map", "values": values_schema}, st.dictionaries(_TEXT, values, max_size=4)
    if kind == "optional":
        inner, values = draw(
            schemas(depth - 1, left).filter(lambda made: not isinstance(made[0], list) and made[0] != "null")
        )
        return draw(st.permutations(["null", inner])), st.one_of(st.none(), values)
    if kind == "union":
        return draw(_unions(depth, left))
    name = left.pop()
    fields, strategies = [], {}
    for number in range(draw(st.integers(0, 4))):
        field, values = draw(schemas(depth - 1, left))
        fields.append({"name": f"f{number}", "type": field})
        strategies[f"f{number}"] = values
    return {"type": "record", "name": name, "fields": fields}, st.fixed_dictionaries(strategies)


PRIMITIVES: list[tuple[Any, st.SearchStrategy[Any]]] = [
    ("null", st.none()),
    ("boolean", st.booleans()),
    ("int", _INT),
    ("long", _LONG),
    ("float", st.floats(width=32, allow_nan=False)),
    ("double", st.floats(allow_nan=False)),
    ("bytes", st.binary(max_size=12)),
    ("string", _TEXT),
]
LOGICAL: list[tuple[Any, st.SearchStrategy[Any]]] = [
    ({"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}, _decimals(9, 2)),
    ({"type": "bytes", "logicalType": "decimal", "precision": 38, "scale": 0}, _decimals(38, 0)),
    ({"type": "bytes", "logicalType": "decimal", "precision": 60, "scale": 20}, _decimals(60, 20)),
    ({"type": "string", "logicalType": "uuid"}, st.uuids()),
    ({"type": "int", "logicalType": "date"}, st.dates()),
    (
        {"type": "int", "logicalType": "time-millis"},
        st.times().map(lambda t: t.replace(microsecond=t.microsecond // 1000 * 1000)),
    ),
    ({"type": "long", "logicalType": "time-micros"}, st.times()),
    ({"type": "long", "logicalType": "timestamp-millis"}, _moments(1_000)),
    ({"type": "long", "logicalType": "timestamp-micros"}, _moments(1_000_000)),
    ({"type": "long", "logicalType": "local-timestamp-millis"}, _moments(1_000).map(lambda t: t.replace(tzinfo=None))),
    (
        {"type": "long", "logicalType": "local-timestamp-micros"},
        _moments(1_000_000).map(lambda t: t.replace(tzinfo=None)),
    ),
]

_BRANCHES = ["null", "boolean", "long", "double", "bytes", "string"]


@st.composite
def _unions(draw: Any, depth: int, names: list[str]) -> tuple[Any, st.SearchStrategy[Any]]:
    """A union of primitive types."""
    chosen = draw(st.lists(st.sampled_from(_BRANCHES), min_size=1, max_size=4, unique=True))
    if {"long", "double"} <= set(chosen):
        chosen.remove("long")  # fastavro writes integers as the first of the two
    by_name = dict(PRIMITIVES)
    return chosen, st.one_of([by_name[name] for name in chosen])


def has_text_and_bytes(schema: Any) -> bool:
    """Whether a union has both string and bytes; fastavro decodes such values as the first, others unchanged."""
    if isinstance(schema, list):
        return {"bytes", "string"} <= {each for each in schema if isinstance(each, str)}
    if not isinstance(schema, dict):
        return False
    inner = [field["type"] for field in schema.get("fields", ())]
    return any(map(has_text_and_bytes, [*inner, *(schema[key] for key in ("items", "values") if key in schema)]))


def rounded(schema: Any, value: Any) -> Any:
    """Round a value read by fastavro to 32-bit floats, because it does not convert integers that became floats."""
    if schema == "float":
        return struct.unpack("<f", struct.pack("<f", value))[0]
    kind = schema["type"] if isinstance(schema, dict) else ""
    if kind == "array":
        return [rounded(schema["items"], each) for each in value]
    if kind == "map":
        return {key: rounded(schema["values"], each) for key, each in value.items()}
    if kind == "record":
        return {field["name"]: rounded(field["type"], value[field["name"]]) for field in schema["fields"]}
    return value


def as_column(schema: Any, value: Any) -> Any:
    """The expected column value for a value."""
    if isinstance(schema, list):
        return _branch_as_column(schema, value)
    kind = schema["type"] if isinstance(schema, dict) else schema
    if kind == "array":
        return [as_column(schema["items"], each) for each in value]
    if kind == "map":
        return [(key, as_column(schema["values"], each)) for key, each in value.items()]
    if kind == "record":
        return {field["name"]: as_column(field["type"], value[field["name"]]) for field in schema["fields"]}
    return str(value) if isinstance(value, uuid.UUID) else value


def _branch_as_column(branches: list[Any], value: Any) -> Any:
    others = [branch for branch in branches if branch != "null"]
    if value is None and "null" in branches:
        return None
    if len(others) == 1:
        return as_column(others[0], value)
    fits = {"boolean": bool, "long": int, "double": float, "bytes": bytes, "string": str}
    member = next(number for number, branch in enumerate(others) if type(value) is fits[branch])
    return {f"member{number}": value if number == member else None for number in range(len(others))}


_WIDER = {"int": ["long", "float", "double"], "long": ["float", "double"], "float": ["double"]}


@st.composite
def evolved(draw: Any, schema: Any) -> Any:
    """A later version of a schema: wider numbers, optional types, and removed, new or reordered fields."""
    if isinstance(schema, list):
        return schema
    if isinstance(schema, str):
        if schema in _WIDER and draw(st.booleans()):
            return draw(st.sampled_from(_WIDER[schema]))
        return ["null", schema] if schema != "null" and draw(st.integers(0, 3)) == 0 else schema
    kind = schema["type"]
    if kind == "array":
        return {**schema, "items": draw(evolved(schema["items"]))}
    if kind == "map":
        return {**schema, "values": draw(evolved(schema["values"]))}
    if kind != "record":
        return schema
    fields = [{**field, "type": draw(evolved(field["type"]))} for field in schema["fields"] if draw(st.integers(0, 4))]
    for number in range(draw(st.integers(0, 2))):
        type_, default = draw(st.sampled_from(_DEFAULTS))
        fields.append({"name": f"new{number}", "type": type_, "default": default})
    return {**schema, "fields": draw(st.permutations(fields))}


_DEFAULTS: list[tuple[Any, Any]] = [
    ("int", 7),
    (["null", "string"], None),
    (["string", "null"], "x"),
    ({"type": "array", "items": "long"}, [1, 2]),
    ({"type": "map", "values": "boolean"}, {"a": True}),
    ("double", 1.5),
]
