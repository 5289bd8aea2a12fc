"""Parsing of Avro schemas, and the errors for invalid ones."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kafka.formats.avro.schema import (
    MAX_DEPTH,
    MAX_PRECISION,
    Array,
    AvroSchemaError,
    Enum,
    Fixed,
    Logical,
    Map,
    Primitive,
    Record,
    Union,
    parse,
    parse_named,
)


def record(*fields: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "record", "name": "R", "fields": list(fields), **more}


@pytest.mark.parametrize("text", ["string", '"string"', b"string", '{"type": "string"}', {"type": {"type": "string"}}])
def test_a_primitive_type_in_each_form(text: Any) -> None:
    schema = parse(text)
    assert isinstance(schema, Primitive)
    assert schema.kind == "string"


def test_names_inherit_the_enclosing_namespace() -> None:
    inner = {"type": "enum", "name": "Colour", "symbols": ["RED"]}
    again = {"name": "again", "type": "Colour"}
    other = {"name": "other", "type": {"type": "fixed", "name": "x.Hash", "size": 2, "aliases": ["Old", "y.Older"]}}
    schema = parse(record({"name": "colour", "type": inner}, again, other, namespace="shop", aliases=["Former"]))
    assert isinstance(schema, Record)
    assert (schema.name, schema.short_name, schema.aliases) == ("shop.R", "R", ("shop.Former",))
    colour, second, hash_ = (field.type for field in schema.fields)
    assert isinstance(colour, Enum)
    assert colour.name == "shop.Colour"
    assert second is colour
    assert isinstance(hash_, Fixed)
    assert (hash_.name, hash_.aliases) == ("x.Hash", ("x.Old", "y.Older"))


def test_a_record_may_contain_itself_and_schemas_may_refer_to_others() -> None:
    node, named = parse_named(json.dumps(record({"name": "next", "type": ["null", "R"]})))
    assert isinstance(node, Record)
    optional = node.fields[0].type
    assert isinstance(optional, Union)
    assert optional.branches[1] is node
    referring = parse({"type": "map", "values": {"type": "array", "items": "R"}}, named)
    assert isinstance(referring, Map)
    assert isinstance(referring.values, Array)
    assert referring.values.items is node


@pytest.mark.parametrize(
    ("given", "logical"),
    [
        ({"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2}, Logical("decimal", 4, 2)),
        ({"type": "bytes", "logicalType": "decimal", "precision": 4}, Logical("decimal", 4, 0)),
        ({"type": "bytes", "logicalType": "decimal", "precision": 2, "scale": 4}, None),
        ({"type": "bytes", "logicalType": "decimal"}, None),
        ({"type": "fixed", "name": "F", "size": 2, "logicalType": "decimal", "precision": 4}, Logical("decimal", 4, 0)),
        ({"type": "fixed", "name": "F", "size": 2, "logicalType": "decimal", "precision": 5}, None),
        ({"type": "fixed", "name": "F", "size": 16, "logicalType": "uuid"}, Logical("uuid")),
        ({"type": "fixed", "name": "F", "size": 15, "logicalType": "uuid"}, None),
        ({"type": "fixed", "name": "F", "size": 12, "logicalType": "duration"}, Logical("duration")),
        ({"type": "long", "logicalType": "timestamp-micros"}, Logical("timestamp-micros")),
        ({"type": "int", "logicalType": "timestamp-micros"}, None),
        ({"type": "string", "logicalType": "colour"}, None),
    ],
)
def test_logical_types_that_do_not_fit_are_ignored(given: Any, logical: Logical | None) -> None:
    schema = parse(given)
    assert isinstance(schema, (Primitive, Fixed))
    assert schema.logical == logical


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("{", "Expected an Avro schema in JSON, got '{'"),
        ("strin", "Expected an Avro schema in JSON, got 'strin'"),
        (7, "expected a type (a name, an object or a list), got 7"),
        ({"typ": "int"}, "expected an object with a 'type', got {'typ': 'int'}"),
        ({"type": "Money"}, "expected a primitive type or a type defined before, got 'Money'"),
        ({"type": "array"}, "expected 'items' in the array"),
        ({"type": "map"}, "expected 'values' in the map"),
        (["int", "int"], "a union must not contain int twice"),
        (["int", ["string"]], "a union must not contain a union directly"),
        ({"type": "record", "name": "R"}, "expected 'fields' in the record"),
        ({"type": "record", "name": "R", "fields": 3}, "expected the fields of record R as a list, got 3"),
        ({"type": "record", "fields": []}, "expected a name for the record, got None"),
        ({"type": "record", "name": "a b", "fields": []}, "expected a name of letters, digits and _"),
        ({"type": "record", "name": "int", "fields": []}, "'int' is the name of a primitive type"),
        (record({"type": "int"}), "expected a field name of letters, digits and _ in record R, got None"),
        (record({"name": "x"}), "at x: expected 'type' in the field"),
        (record({"name": "x", "type": "int"}, {"name": "x", "type": "int"}), "record R has two fields 'x'"),
        (record({"name": "x", "type": "int", "order": "up"}), "at x: expected the order as one of ascending"),
        (record({"name": "x", "type": record()}), "at x: R is defined twice"),
        (record({"name": "x", "type": {"type": "array", "items": "Y"}}), "at x[]: expected a primitive type"),
        ({"type": "enum", "name": "E", "symbols": ["A", "A"]}, "expected different symbols in enum E"),
        ({"type": "enum", "name": "E", "symbols": ["1"]}, "expected the symbols of enum E as a list of names"),
        ({"type": "enum", "name": "E", "symbols": ["A"], "default": "B"}, "expected the default of enum E among"),
        ({"type": "fixed", "name": "F", "size": -1}, "expected the size of fixed F as a number of bytes, got -1"),
        ({"type": "fixed", "name": "F", "size": True}, "expected the size of fixed F as a number of bytes, got True"),
    ],
)
def test_an_invalid_schema_is_an_error_that_names_the_place(given: Any, says: str) -> None:
    with pytest.raises(AvroSchemaError) as caught:
        parse(given)
    assert says in str(caught.value)


def test_schemas_nested_too_deeply_are_rejected() -> None:
    schema: Any = "int"
    for _ in range(MAX_DEPTH + 1):
        schema = {"type": "array", "items": schema}
    with pytest.raises(AvroSchemaError, match=f"at most {MAX_DEPTH} levels"):
        parse(schema)
    with pytest.raises(AvroSchemaError, match="Expected an Avro schema in JSON"):
        parse('{"type": ' * 100_000)


def test_a_decimal_with_a_huge_precision_is_bytes() -> None:
    made = {"type": "bytes", "logicalType": "decimal", "precision": MAX_PRECISION}
    assert parse(made).label == "bytes (decimal)"
    assert parse({**made, "precision": 10**30, "scale": 10**29}).label == "bytes"
