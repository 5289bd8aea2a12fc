"""Random schemas of Avro with values of them, later versions of the schemas, and bytes that were changed."""

from __future__ import annotations

import string
from decimal import Context, Decimal
from random import Random
from typing import Any

from fuzz.inputs import changed
from kafka.formats.avro.schema import AvroDuration

PRIMITIVES = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
_INT, _LONG = 1 << 31, 1 << 63
_LOGICAL: tuple[tuple[str, str, int], ...] = (
    ("int", "date", 2_932_896),
    ("int", "time-millis", 0),
    ("long", "time-micros", 0),
    ("long", "timestamp-millis", 253_402_300_799_999),
    ("long", "timestamp-micros", 253_402_300_799_999_999),
    ("long", "timestamp-nanos", _LONG - 1),
    ("long", "local-timestamp-millis", 0),
    ("long", "local-timestamp-micros", 0),
)
"""Underlying type, name, and a number at which something ends."""
_WIDER = {"int": ("long", "float", "double"), "long": ("float", "double"), "float": ("double",)}


class Schemas:
    """Makes one schema; names do not come twice."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._names = 0

    def schema(self, depth: int = 3, inside: tuple[str, ...] = ()) -> Any:
        """Make a type; records may contain themselves where they may be null."""
        rng = self._rng
        kinds = ["primitive", "primitive", "logical", "decimal", "fixed", "enum"]
        if depth:
            kinds += ["record", "record", "record", "array", "map", "optional", "union"]
        kind = rng.choice(kinds)
        if kind == "primitive":
            return rng.choice(PRIMITIVES)
        if kind == "logical":
            type_, name, _ = rng.choice(_LOGICAL)
            return rng.choice(({"type": type_, "logicalType": name}, {"type": "string", "logicalType": "uuid"}))
        if kind == "decimal":
            precision = rng.choice((1, 3, 18, 38, 70))
            digits = {"logicalType": "decimal", "precision": precision, "scale": rng.choice((0, 1, precision))}
            return rng.choice(({"type": "bytes"}, {"type": "fixed", "name": self._name(), "size": 30})) | digits
        if kind == "fixed":
            size, logical = rng.choice(((0, ""), (3, ""), (12, "duration"), (16, "uuid")))
            made = {"type": "fixed", "name": self._name(), "size": size}
            return {**made, "logicalType": logical} if logical else made
        if kind == "enum":
            symbols = rng.sample(string.ascii_uppercase, rng.randrange(1, 5))
            return {"type": "enum", "name": self._name(), "symbols": symbols}
        if kind in ("array", "map"):
            inner = self.schema(depth - 1, inside)
            if inner == "null" and rng.random() < 0.9:  # a million of them take no bytes, and much time
                inner = "string"
            return {"type": kind, "items" if kind == "array" else "values": inner}
        if kind == "optional":
            return self._optional(depth, inside)
        if kind == "union":
            return rng.sample(PRIMITIVES, rng.randrange(2, 5))
        name = self._name()
        count = rng.randrange(5)
        fields = [{"name": f"f{number}", "type": self.schema(depth - 1, (*inside, name))} for number in range(count)]
        return {"type": "record", "name": name, "fields": fields}

    def _optional(self, depth: int, inside: tuple[str, ...]) -> Any:
        if inside and self._rng.random() < 0.3:
            return ["null", self._rng.choice(inside)]
        inner = self.schema(depth - 1, inside)
        return inner if isinstance(inner, list) or inner == "null" else self._rng.sample(["null", inner], 2)

    def _name(self) -> str:
        self._names += 1
        return f"n{self._names}"


def later(rng: Random, schema: Any) -> Any:
    """A later version of a schema: wider numbers, optional types, fields that are gone, new or in another order."""
    if isinstance(schema, str):
        wider = _WIDER.get(schema)
        if wider and rng.random() < 0.4:
            return rng.choice(wider)
        return ["null", schema] if schema in PRIMITIVES[1:] and rng.random() < 0.2 else schema
    if isinstance(schema, list):
        return schema
    if schema["type"] == "array":
        return {**schema, "items": later(rng, schema["items"])}
    if schema["type"] == "map":
        return {**schema, "values": later(rng, schema["values"])}
    if schema["type"] == "enum":
        return {
            **schema,
            "symbols": [*schema["symbols"][1:], "NEW"],
            **({"default": "NEW"} if rng.random() < 0.5 else {}),
        }
    if schema["type"] != "record":
        return schema
    fields = [{**field, "type": later(rng, field["type"])} for field in schema["fields"] if rng.random() < 0.8]
    for number in range(rng.randrange(2)):
        type_, default = rng.choice(
            (("int", 7), ({"type": "array", "items": "long"}, [1, 2]), (["null", "string"], None))
        )
        fields.append({"name": f"new{number}", "type": type_, "default": default})
    rng.shuffle(fields)
    return {**schema, "fields": fields}


def named(schema: Any, found: dict[str, Any] | None = None) -> dict[str, Any]:
    """The records of a schema by their names."""
    found = {} if found is None else found
    if isinstance(schema, list):
        for each in schema:
            named(each, found)
    elif isinstance(schema, dict):
        if schema["type"] == "record":
            found[schema["name"]] = schema
        for inner in (
            *(field["type"] for field in schema.get("fields", ())),
            schema.get("items"),
            schema.get("values"),
        ):
            if inner is not None:
                named(inner, found)
    return found


def value(rng: Random, schema: Any, records: dict[str, Any], depth: int = 0) -> Any:
    """A value of a type."""
    if isinstance(schema, list):
        branch = "null" if depth > 6 and "null" in schema else rng.choice(schema)
        return None if branch == "null" else value(rng, branch, records, depth + 1)
    kind = schema["type"] if isinstance(schema, dict) else schema
    if kind in records:
        kind, schema = "record", records[kind]
    if kind == "record":
        return {field["name"]: value(rng, field["type"], records, depth + 1) for field in schema["fields"]}
    if kind == "array":
        return [value(rng, schema["items"], records, depth + 1) for _ in range(rng.randrange(4))]
    if kind == "map":
        return {_text(rng): value(rng, schema["values"], records, depth + 1) for _ in range(rng.randrange(4))}
    if kind == "enum":
        return rng.choice(schema["symbols"])
    return _single(rng, kind, schema if isinstance(schema, dict) else {})


def _single(rng: Random, kind: str, schema: dict[str, Any]) -> Any:
    logical = schema.get("logicalType", "")
    if logical == "decimal":
        digits = Decimal(rng.randrange(-(10 ** schema["precision"]) + 1, 10 ** schema["precision"]))
        return digits.scaleb(-schema["scale"], Context(prec=80))
    if logical == "duration":
        return AvroDuration(*(rng.choice((0, 1, _INT - 1, _INT, 2 * _INT - 1)) for _ in range(3)))
    if logical == "uuid" and kind == "string":
        return "01234567-89ab-cdef-0123-456789abcdef"
    if logical.startswith("time-"):
        return rng.randrange(86_400_000)
    if kind == "fixed":
        return rng.randbytes(schema["size"])
    if kind in ("int", "long"):
        most = _INT if kind == "int" else _LONG
        ends = [end for _, name, end in _LOGICAL if name == logical]
        near = [*ends, 0, 1, -1, most - 1, -most, rng.randrange(-most, most)]
        return max(-most, min(rng.choice(near) + rng.choice((0, 0, 1)), most - 1))
    if kind in ("float", "double"):
        return rng.choice((0.0, -1.5, float("inf"), float("nan"), rng.random()))
    made: dict[str, Any] = {"null": None, "boolean": rng.random() < 0.5, "string": _text(rng)}
    return made[kind] if kind in made else rng.randbytes(rng.choice((0, 1, 5, 70)))


def _text(rng: Random) -> str:
    return "".join(rng.choice("ab\0\x7f\u00e9\u20ac\U0001f600") for _ in range(rng.choice((0, 1, 4, 70))))


def payload(rng: Random, good: list[bytes]) -> bytes:
    """Bytes to decode: a value, mostly with some changes, or any bytes."""
    if not good or rng.random() < 0.1:
        return rng.randbytes(rng.randrange(20))
    return changed(rng, rng.choice(good))
