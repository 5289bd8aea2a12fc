"""Schemas of JSON values, given as Arrow, Spark or SQL types or as a JSON Schema."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest

from kafka.formats.json.errors import JsonSchemaError
from kafka.formats.json.schema import arrow_type

UTC = pa.timestamp("us", "UTC")


def fields(**types: pa.DataType) -> pa.DataType:
    return pa.struct(list(types.items()))


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("year int", fields(year=pa.int32())),
        ("a TINYINT, b: SmallInt,c bigint", fields(a=pa.int8(), b=pa.int16(), c=pa.int64())),
        ("a byte, b short, c long, d integer", fields(a=pa.int8(), b=pa.int16(), c=pa.int64(), d=pa.int32())),
        ("a float, b real, c double", fields(a=pa.float32(), b=pa.float32(), c=pa.float64())),
        (
            "a decimal, b dec(5), c numeric(38 , 10)",
            fields(a=pa.decimal128(10, 0), b=pa.decimal128(5, 0), c=pa.decimal128(38, 10)),
        ),
        (
            "a string, b varchar(10), c char(3), d binary",
            fields(a=pa.string(), b=pa.string(), c=pa.string(), d=pa.binary()),
        ),
        (
            "a date, b timestamp, c timestamp_ntz, d timestamp_ltz",
            fields(a=pa.date32(), b=UTC, c=pa.timestamp("us"), d=UTC),
        ),
        ("a boolean, b void, c variant, d time(6)", fields(a=pa.bool_(), b=pa.null(), c=pa.json_(), d=pa.time64("us"))),
        (
            "items array<struct<a: bigint, b: string>>, m map<string,double>",
            fields(items=pa.list_(fields(a=pa.int64(), b=pa.string())), m=pa.map_(pa.string(), pa.float64())),
        ),
        ("`a b` int, `c``d` string", pa.struct([("a b", pa.int32()), ("c`d", pa.string())])),
        (
            "a int NOT NULL, b string comment 'it\\'s, <b>'",
            pa.struct([pa.field("a", pa.int32(), False), pa.field("b", pa.string())]),
        ),
        ("s struct<a int not null>", fields(s=pa.struct([pa.field("a", pa.int32(), nullable=False)]))),
        ("s struct<>", fields(s=pa.struct([]))),
        (
            "date date, timestamp timestamp, array array<int>",
            fields(date=pa.date32(), timestamp=UTC, array=pa.list_(pa.int32())),
        ),
        ("bigint", pa.int64()),
        ("decimal(5,2)", pa.decimal128(5, 2)),
        (" array < array<int> > ", pa.list_(pa.list_(pa.int32()))),
        ("struct<a: int>", fields(a=pa.int32())),
        ("map<string, int>", pa.map_(pa.string(), pa.int32())),
    ],
)
def test_sql_columns(text: str, type_: pa.DataType) -> None:
    assert arrow_type(text) == type_


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "The schema is empty"),
        ("a int,", "Expected a column in the schema at character 6, got 'the end'"),
        ("a inte", "Expected a type in the schema at character 2, got 'inte'"),
        ("a int b int", "Expected a comma or the end in the schema at character 6, got 'b int'"),
        ("a array<int", "Expected '>' in the schema at character 11"),
        ("a array", "Expected '<' in the schema at character 7"),
        ("a map<string>", "Expected ',' in the schema at character 12"),
        ("a decimal(39)", "Expected a decimal of 1 to 38 digits in the schema"),
        ("a decimal(2,3)", "Expected a decimal of 1 to 38 digits in the schema"),
        ("a decimal(x)", "Expected one number or two in parentheses"),
        ("a decimal(", "Expected"),
        ("a int(3)", "Expected a type without parentheses"),
        ("a int comment b", "Expected a comment in quotes"),
        (", int", "Expected the name of a column in the schema at character 0"),
        ("a ; int", "Expected a name, a type or punctuation in the schema at character 1"),
        ("a interval", "Expected a type"),
        ("a " + "array<" * 200 + "int" + ">" * 200, "Expected at most 100 types within each other"),
    ],
)
def test_invalid_sql_schemas(text: str, error: str) -> None:
    with pytest.raises(JsonSchemaError) as raised:
        arrow_type(text)
    assert str(raised.value).startswith(error)


def test_spark_types() -> None:
    types = pytest.importorskip("pyspark.sql.types")
    inner = types.StructType(
        [types.StructField("a", types.LongType(), nullable=False), types.StructField("b", types.DecimalType(12, 3))]
    )
    schema = (
        types.StructType()
        .add("id", types.IntegerType(), nullable=False)
        .add("l", types.ArrayType(inner, containsNull=False))
        .add("m", types.MapType(types.StringType(), types.DoubleType(), valueContainsNull=False))
        .add("t", types.TimestampType())
        .add("n", types.TimestampNTZType())
        .add("s", types.StringType())
        .add("d", types.DateType())
        .add("x", types.BinaryType())
        .add("y", types.ByteType())
    )
    struct = pa.struct([pa.field("a", pa.int64(), nullable=False), ("b", pa.decimal128(12, 3))])
    expected = pa.struct(
        [
            pa.field("id", pa.int32(), nullable=False),
            pa.field("l", pa.list_(pa.field("item", struct, nullable=False))),
            pa.field("m", pa.map_(pa.string(), pa.field("value", pa.float64(), nullable=False))),  # type: ignore[call-overload]
            *(
                ("t", UTC),
                ("n", pa.timestamp("us")),
                ("s", pa.string()),
                ("d", pa.date32()),
                ("x", pa.binary()),
                ("y", pa.int8()),
            ),
        ]
    )
    for given in (schema, schema.json(), schema.jsonValue()):
        assert arrow_type(given) == expected
    assert arrow_type(types.ArrayType(types.StringType())) == pa.list_(pa.string())
    assert arrow_type(types.LongType()) == pa.int64()


@pytest.mark.parametrize(
    ("schema", "error"),
    [
        ({"type": "struct", "fields": [{"name": "a", "type": "interval day"}]}, "At a: 'interval day' is not a type"),
        ({"type": "struct", "fields": [{"name": "a"}]}, "expected a Spark type in JSON"),
        (
            {"type": "struct", "fields": [{"name": "a", "type": {"type": "udt"}}]},
            "At a: JSON values cannot be read as Spark's type 'udt'",
        ),
        ({"type": "array", "elementType": 3}, "At []: expected a Spark type in JSON, got 3"),
    ],
)
def test_invalid_spark_types(schema: Any, error: str) -> None:
    with pytest.raises(JsonSchemaError) as raised:
        arrow_type(schema)
    assert str(raised.value).startswith(error)


def required(name: str, type_: pa.DataType) -> pa.Field:
    return pa.field(name, type_, nullable=False)


@pytest.mark.parametrize(
    ("schema", "type_"),
    [
        ({"type": "integer"}, pa.int64()),
        ({"type": "number"}, pa.float64()),
        ({"type": ["integer", "number"]}, pa.float64()),
        ({"type": "string", "format": "date-time"}, UTC),
        ({"type": "string", "format": "date"}, pa.date32()),
        ({"type": "string", "format": "uuid", "pattern": "x"}, pa.string()),
        ({"type": "string", "contentEncoding": "base64"}, pa.binary()),
        ({"type": "integer", "format": "int32"}, pa.int32()),
        ({"type": "integer", "connect.type": "int8"}, pa.int8()),
        ({"type": "number", "connect.type": "float32"}, pa.float32()),
        ({"type": "null"}, pa.null()),
        ({}, pa.json_()),
        ({"description": "anything"}, pa.json_()),
        ({"type": "object"}, pa.json_()),
        ({"type": "object", "additionalProperties": False}, pa.struct([])),
        ({"enum": ["a", "b", None]}, pa.string()),
        ({"const": 1}, pa.int64()),
        ({"type": "array"}, pa.list_(pa.json_())),
        ({"type": "array", "items": {"type": "string"}}, pa.list_(pa.field("item", pa.string(), nullable=False))),
        ({"items": {"type": ["string", "null"]}}, pa.list_(pa.string())),
        (
            {"type": "object", "additionalProperties": {"type": "number"}},
            pa.map_(pa.string(), pa.field("value", pa.float64(), nullable=False)),  # type: ignore[call-overload]
        ),
        ({"patternProperties": {"^x": {"type": ["null", "number"]}}}, pa.map_(pa.string(), pa.float64())),
        (
            {
                "$schema": "http://json-schema.org/draft-07/schema#",
                "type": "object",
                "properties": {
                    "a": {"type": "integer"},
                    "b": {"type": ["string", "null"]},
                    "c": True,
                    "d": {"type": "boolean"},
                },
                "required": ["a", "b", "c"],
                "additionalProperties": False,
            },
            pa.struct([required("a", pa.int64()), ("b", pa.string()), ("c", pa.json_()), ("d", pa.bool_())]),
        ),
        (
            {
                "properties": {
                    "x": {"$ref": "#/$defs/a~1b"},
                    "y": {"anyOf": [{"$ref": "#/$defs/a~1b"}, {"type": "null"}]},
                },
                "required": ["x", "y"],
                "$defs": {"a/b": {"type": "object", "properties": {"z": {"type": "number"}}}},
            },
            pa.struct([required("x", fields(z=pa.float64())), ("y", fields(z=pa.float64()))]),
        ),
        (
            {
                "allOf": [{"$ref": "#/definitions/base"}, {"properties": {"b": {"type": "string"}}, "required": ["b"]}],
                "definitions": {
                    "base": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
                },
            },
            pa.struct([required("a", pa.int64()), required("b", pa.string())]),
        ),
        ({"oneOf": [{"const": "a"}, {"const": "b"}]}, pa.string()),
        ({"type": "string", "nullable": True}, pa.string()),
    ],
)
def test_json_schemas(schema: Any, type_: pa.DataType) -> None:
    assert arrow_type(schema) == type_
    assert arrow_type(json.dumps(schema)) == type_


def test_a_json_schema_refers_to_others_by_name() -> None:
    schema = {
        "type": "object",
        "properties": {"c": {"$ref": "customer.json"}, "n": {"$ref": "customer.json#/properties/name"}},
    }
    customer = {"type": "object", "properties": {"name": {"type": "string"}}}
    for given in (customer, json.dumps(customer)):
        assert arrow_type(schema, {"customer.json": given}) == fields(c=fields(name=pa.string()), n=pa.string())


@pytest.mark.parametrize(
    ("schema", "error"),
    [
        ({"type": ["string", "integer"]}, "a column has one type, but the schema allows integer, string"),
        ({"properties": {"a": {"enum": ["x", 1]}}}, "At a: a column has one type"),
        (
            {"oneOf": [{"type": "string"}, {"type": "integer"}]},
            "a column has one type, but the schema has branches of several: int64, string",
        ),
        ({"type": "array", "items": [{"type": "string"}]}, "a list has items of one type"),
        ({"type": "array", "prefixItems": []}, "a list has items of one type"),
        ({"patternProperties": {"a": {"type": "string"}, "b": {"type": "number"}}}, "a map has values of one type"),
        ({"type": "text"}, "JSON Schema has no type 'text'"),
        ({"properties": {"a": False}}, "At a: expected a JSON Schema, got False"),
        ({"$ref": "#/definitions/none"}, "the schema refers to #/definitions/none, which it does not contain"),
        ({"$ref": "other.json"}, "the schema refers to other.json, which is not among its references"),
        ({"properties": {"next": {"$ref": "#"}}}, "At next.next: # is recursive"),
        (
            {"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}]}}},
            "#/$defs/a is recursive",
        ),
    ],
)
def test_json_schemas_without_a_column_type(schema: Any, error: str) -> None:
    with pytest.raises(JsonSchemaError) as raised:
        arrow_type(schema)
    assert str(raised.value).startswith(error)


def test_other_arguments_are_rejected() -> None:
    with pytest.raises(JsonSchemaError, match=r"Expected an Arrow schema or type, .* got int"):
        arrow_type(3)
    with pytest.raises(JsonSchemaError, match="The schema is not JSON"):
        arrow_type("{type: object}")
    assert arrow_type(pa.schema([("a", pa.int8())])) == fields(a=pa.int8())
    assert arrow_type(pa.list_(pa.int8())) == pa.list_(pa.int8())
