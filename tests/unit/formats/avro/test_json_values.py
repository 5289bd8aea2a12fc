"""Values of random schemas survive a round trip through JSON."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka.formats.avro.errors import AvroEncodeError
from kafka.formats.avro.json_values import json_writer, loaded, object_of
from kafka.formats.avro.object_decoder import AvroObjectDecoder, AvroObjectEncoder
from kafka.formats.avro.schema import parse
from unit.formats.avro.values import LOGICAL, PRIMITIVES, schemas

_ALIKE = ({"int", "long"}, {"float", "double"})
"""Branches whose values are equal when read back."""


def kind_of(schema: Any) -> str:
    kind: str = schema["type"] if isinstance(schema, dict) else schema
    return kind


@st.composite
def unions(draw: Any) -> tuple[Any, st.SearchStrategy[Any]]:
    """A union of primitive, logical and nested types; values name their branch."""
    chosen: dict[str, tuple[Any, Any]] = {}
    for schema, values in draw(st.lists(st.sampled_from(PRIMITIVES + LOGICAL), min_size=1, max_size=5)):
        kinds = {kind_of(schema), *chosen}
        if kind_of(schema) not in chosen and not any(pair <= kinds for pair in _ALIKE):
            chosen[kind_of(schema)] = (schema, values)
    inner, values = draw(st.sampled_from(PRIMITIVES))
    for name in draw(st.lists(st.sampled_from(["map", "array", "A", "B", "long"]), max_size=3, unique=True)):
        if name == "map":
            keys = st.sampled_from(["map", "bytes", "A", "f"])
            chosen[name] = ({"type": "map", "values": inner}, st.dictionaries(keys, values, max_size=2))
        elif name == "array":
            chosen[name] = ({"type": "array", "items": inner}, st.lists(values, max_size=2))
        elif name != "long":
            field = draw(st.sampled_from(["f", "A", "bytes"]))
            record = {"type": "record", "name": name, "fields": [{"name": field, "type": inner}]}
            chosen[name] = (record, st.fixed_dictionaries({field: values}))
    named = [st.tuples(st.just(name), values) for name, (_, values) in chosen.items()]
    return [schema for schema, _ in chosen.values()], st.one_of(named)


def check(data: Any) -> None:
    schema, values = data.draw(st.one_of(schemas(), unions()))
    if isinstance(schema, list):  # in a list, and twice
        schema, values = {"type": "array", "items": schema}, st.lists(values, max_size=3)
    parsed = parse(schema)
    encoder = AvroObjectEncoder(parsed)
    encoded = encoder.encode(data.draw(values))
    text = json_writer(parsed)(AvroObjectDecoder(parsed, return_record_name=True).decode(encoded))
    json.loads(text, parse_constant=pytest.fail)
    assert encoder.encode(object_of(parsed, loaded(text))) == encoded, text


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_json_round_trip(data: Any) -> None:
    check(data)


@pytest.mark.exhaustive
@settings(max_examples=10_000, deadline=None)
@given(st.data())
def test_json_round_trip_with_10000_schemas(data: Any) -> None:
    check(data)


def test_a_record_whose_only_field_is_named_like_a_decimals_branch_is_written_with_its_name() -> None:
    decimals = {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}
    record = {"type": "record", "name": "A", "fields": [{"name": "bytes", "type": "double"}]}
    parsed = parse([decimals, record])
    encoder, decoder = AvroObjectEncoder(parsed), AvroObjectDecoder(parsed, return_record_name=True)
    for number, text in ((0.1, '{"A":{"bytes":0.1}}'), (0.125, '{"bytes":0.125}')):  # does not fit the decimal type
        encoded = encoder.encode(("A", {"bytes": number}))
        assert json_writer(parsed)(decoder.decode(encoded)) == text
        assert encoder.encode(object_of(parsed, loaded(text))) == encoded


def record(*fields: tuple[str, Any], name: str = "R") -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": [{"name": each, "type": type_} for each, type_ in fields]}


def logical(kind: str, name: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "logicalType": name, **more}


MAPS = {"type": "map", "values": {"type": "map", "values": "int"}}
PRICE = logical("bytes", "decimal", precision=4, scale=2)


@pytest.mark.parametrize(
    ("schema", "value", "text"),
    [
        ("null", None, '{"null":null}'),
        ("boolean", True, "true"),
        ("int", -7, "-7"),
        ("long", 2**62, str(2**62)),
        ("double", 0.5, "0.5"),
        ("double", float("nan"), '"NaN"'),
        ("float", float("-inf"), '"-Infinity"'),
        ("string", 'é"', '"é\\""'),
        ("bytes", b"\x01\xff", '"01ff"'),
        ({"type": "fixed", "name": "F", "size": 2}, b"ab", '"6162"'),
        ({"type": "enum", "name": "E", "symbols": ["A", "B"]}, "B", '"B"'),
        (logical("int", "date"), date(2026, 1, 31), '"2026-01-31"'),
        (PRICE, Decimal("1.50"), '"1.50"'),
        ({"type": "array", "items": "bytes"}, [b"a", b""], '["61",""]'),
        ({"type": "array", "items": "long"}, [1, 2], "[1,2]"),
        ({"type": "map", "values": "double"}, {"a": 1.0, "b": float("inf")}, '{"a":1.0,"b":"Infinity"}'),
        ({"type": "map", "values": "string"}, {"a": "b"}, '{"a":"b"}'),
        (record(("id", "long"), ("data", "bytes")), {"id": 1, "data": b"a"}, '{"id":1,"data":"61"}'),
        (["null", "string"], None, '{"null":null}'),
        (record(("note", ["null", "string"])), {"note": None}, '{"note":null}'),
        (record(("note", ["null", "string"])), {"note": "a"}, '{"note":"a"}'),
        (record(("data", ["null", "bytes"])), {"data": None}, '{"data":null}'),
        (record(("data", ["null", "bytes"])), {"data": b"a"}, '{"data":"61"}'),
        (
            record(("inner", ["null", record(("x", "int"), ("y", "int"), name="I")])),
            {"inner": ("I", {"x": 1, "y": 2})},
            '{"inner":{"x":1,"y":2}}',
        ),
        (record(("inner", ["null", record(("x", "int"), name="I")])), {"inner": {"x": 1}}, '{"inner":{"x":1}}'),
        (record(("inner", ["null", record(("I", "int"), name="I")])), {"inner": {"I": 1}}, '{"inner":{"I":1}}'),
        (record(("m", ["null", {"type": "map", "values": "int"}])), {"m": {"map": 1}}, '{"m":{"map":1}}'),
        (record(("m", ["null", {"type": "map", "values": "int"}])), {"m": {"a": 1}}, '{"m":{"a":1}}'),
        (record(("m", ["null", MAPS])), {"m": {"map": {"a": 1}}}, '{"m":{"map":{"a":1}}}'),
        (record(("m", ["null", MAPS])), {"m": {"map": {}}}, '{"m":{"map":{"map":{}}}}'),
        (record(("m", ["null", MAPS])), {"m": {"map": {"a": 1}, "b": {}}}, '{"m":{"map":{"a":1},"b":{}}}'),
        (record(("v", ["null", "string", "bytes"])), {"v": "ab"}, '{"v":"ab"}'),
        (record(("v", ["null", "string", "bytes"])), {"v": b"ab"}, '{"v":{"bytes":"6162"}}'),
        (record(("v", ["string", "null"])), {"v": None}, '{"v":null}'),
        (record(("v", ["int", "double"])), {"v": 2.0}, '{"v":2.0}'),
        (
            record(("v", [record(("x", "int"), name="A"), record(("x", "int"), name="B")])),
            {"v": ("B", {"x": 1})},
            '{"v":{"B":{"x":1}}}',
        ),
    ],
    ids=str,
)
def test_each_type_has_its_json(schema: Any, value: Any, text: str) -> None:
    parsed = parse(schema)
    assert json_writer(parsed)(value) == text
    if value == value:  # not NaN
        encode = AvroObjectEncoder(parsed).encode
        assert encode(object_of(parsed, loaded(text))) == encode(value)


def test_records_of_their_own_type_and_threads_share_a_writer() -> None:
    node = record(("value", "bytes"), ("next", ["null", "R"]))
    write = json_writer(parse(node))
    value = {"value": b"a", "next": {"value": b"b", "next": None}}
    text = '{"value":"61","next":{"value":"62","next":null}}'
    assert [write(value) for _ in range(3)] == [text] * 3


def test_a_value_without_a_branch_is_an_error() -> None:
    with pytest.raises(AvroEncodeError, match=r"a value of union \[int, string\], got list"):
        json_writer(parse(record(("v", ["int", "string"]))))({"v": [1]})
