"""Whether one Avro schema can read values of another, and all reasons if not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kafka.formats.avro.compatibility import incompatibilities
from kafka.formats.avro.schema import parse

pytestmark = pytest.mark.once


def kinds(reader: Any, writer: Any) -> list[str]:
    return [each.kind for each in incompatibilities(parse(json.dumps(reader)), parse(json.dumps(writer)))]


def record(*fields: dict[str, Any], name: str = "R", **more: Any) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": list(fields), **more}


def field(name: str, type_: Any = "int", **more: Any) -> dict[str, Any]:
    return {"name": name, "type": type_, **more}


ENUM = {"type": "enum", "name": "E", "symbols": ["A", "B"]}
FIXED = {"type": "fixed", "name": "F", "size": 4}
TREE = record(field("next", ["null", "R"]), field("value"))
WIDE_TREE = record(field("next", ["null", "R"]), field("value", "long"))


@pytest.mark.parametrize(
    ("reader", "writer"),
    [
        ("int", "int"),
        ("long", "int"),
        ("double", "long"),
        ("bytes", "string"),
        (["null", "int"], "int"),
        (["null", "long"], "int"),
        (["null", "int"], ["int", "null"]),
        ("int", ["int"]),
        (record(field("a"), field("b", default=1)), record(field("a"))),
        (record(field("a")), record(field("a"), field("b"))),
        (record(field("new", aliases=["old"])), record(field("old"))),
        (record(name="other.R"), record(name="ns.R")),
        (record(name="New", aliases=["R"]), record()),
        ({"type": "array", "items": "long"}, {"type": "array", "items": "int"}),
        ({**ENUM, "symbols": ["B", "A", "C"]}, ENUM),
        ({**ENUM, "symbols": ["A"], "default": "A"}, ENUM),
        (WIDE_TREE, TREE),
    ],
)
def test_compatible_schemas(reader: Any, writer: Any) -> None:
    assert kinds(reader, writer) == []


@pytest.mark.parametrize(
    ("reader", "writer", "expected"),
    [
        ("int", "long", ["TYPE_MISMATCH"]),
        ("string", "int", ["TYPE_MISMATCH"]),
        ("int", ["int", "string"], ["TYPE_MISMATCH"]),
        (["null", "int"], "string", ["MISSING_UNION_BRANCH"]),
        (["null", "int"], ["null", "string"], ["MISSING_UNION_BRANCH"]),
        (record(field("a"), field("b")), record(field("a")), ["READER_FIELD_MISSING_DEFAULT_VALUE"]),
        (record(field("a"), field("b")), record(), ["READER_FIELD_MISSING_DEFAULT_VALUE"] * 2),
        (record(field("a", "string")), record(field("a")), ["TYPE_MISMATCH"]),
        (record(name="New"), record(), ["NAME_MISMATCH"]),
        ({"type": "map", "values": "int"}, {"type": "map", "values": "long"}, ["TYPE_MISMATCH"]),
        ({**ENUM, "symbols": ["A"]}, ENUM, ["MISSING_ENUM_SYMBOLS"]),
        ({**FIXED, "size": 8}, FIXED, ["FIXED_SIZE_MISMATCH"]),
        (record(field("f", ["null", record(field("x"), name="I")])), record(field("f", record(name="I"))),
         ["READER_FIELD_MISSING_DEFAULT_VALUE"]),
        (TREE, WIDE_TREE, ["TYPE_MISMATCH"]),
    ],
)  # fmt: skip
def test_incompatible_schemas(reader: Any, writer: Any, expected: list[str]) -> None:
    assert kinds(reader, writer) == expected


def test_reasons_have_a_path() -> None:
    reader = record(field("a"), field("list", {"type": "array", "items": record(field("x", "int"), name="I")}))
    writer = record(field("a"), field("list", {"type": "array", "items": record(field("x", "string"), name="I")}))
    (reason,) = incompatibilities(parse(json.dumps(reader)), parse(json.dumps(writer)))
    assert reason.path == "/fields/1/type/items/fields/0/type"
    assert "reader type: INT not compatible with writer type: STRING" in reason.detail


def test_repeated_types_are_compared_once() -> None:
    """Otherwise, the number of comparisons would be two to the power of the depth."""
    inner: Any = field("x")["type"]
    for depth in range(60):
        inner = record(
            field("a", inner), field("b", inner if isinstance(inner, str) else inner["name"]), name=f"R{depth}"
        )
    assert kinds(inner, inner) == []
    assert set(kinds(json.loads(json.dumps(inner).replace('"int"', '"string"')), inner)) == {"TYPE_MISMATCH"}


def test_assumptions_about_recursive_types_are_not_cached() -> None:
    """A branch that is tried and fails leaves no wrong result for a type inside it."""
    inner = {"type": "record", "name": "Inner", "fields": [field("up", ["null", "Outer"])]}
    writer = record(field("inner", inner), field("v", "string"), name="Outer")
    reader = record(field("inner", inner), field("v", "int"), name="Outer")
    both = {"type": "record", "name": "Top", "fields": [field("a", reader), field("b", "Inner")]}
    written = {"type": "record", "name": "Top", "fields": [field("a", writer), field("b", "Inner")]}
    assert kinds(both, written)
