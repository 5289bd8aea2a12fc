"""Schemas and values that claim far more data than they contain are rejected before memory grows."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest

from kafka.formats import Avro, AvroDecodeError, AvroSchemaError, Json, JsonSchemaError
from kafka.formats.avro.arrow_types import target_of
from kafka.formats.avro.compatibility import incompatibilities
from kafka.formats.avro.object_decoder import AvroObjectDecoder, AvroObjectEncoder
from kafka.formats.avro.schema import parse
from kafka.formats.avro.size_limits import MAX_COLUMNS, MAX_VALUES

pytestmark = pytest.mark.timeout(60)
LEVELS = 60


def field(name: str, kind: Any) -> dict[str, Any]:
    return {"name": name, "type": kind}


def doubling(*fields: dict[str, Any], levels: int = LEVELS, **more: Any) -> dict[str, Any]:
    """A record that contains two of the next lower one: 2 ** levels of the lowest."""
    made: dict[str, Any] = {"type": "record", "name": "R0", "fields": list(fields)}
    for number in range(1, levels + 1):
        inner = [{"name": "a", "type": made, **more}, {"name": "b", "type": f"R{number - 1}", **more}]
        made = {"type": "record", "name": f"R{number}", "fields": inner}
    return made


def test_records_of_many_values_in_no_bytes() -> None:
    avro = Avro(doubling())
    with pytest.raises(AvroSchemaError, match=r"Record R\d+ has .* values in as few as 0 bytes"):
        avro.decode(b"")
    with pytest.raises(AvroSchemaError, match="bytes"):
        Avro({"type": "record", "name": "S", "fields": [field("n", "int"), field("r", doubling())]}).decode(b"\0")
    with pytest.raises(AvroSchemaError, match="bytes"):
        Avro(["null", doubling()]).decode(b"\2")
    nulls = [{"name": f"f{number}", "type": "null"} for number in range(MAX_VALUES - 1)]
    assert len(Avro({"type": "record", "name": "N", "fields": nulls}).decode(b"")) == MAX_VALUES - 1


def test_records_of_as_many_values_as_bytes_are_read() -> None:
    value = Avro(doubling({"name": "x", "type": "boolean"}, levels=12)).decode(b"\1" * 4096)
    for _ in range(12):
        value = value["b"]
    assert value == {"x": True}
    with pytest.raises(AvroDecodeError, match="the data end within a value"):
        Avro(doubling({"name": "x", "type": "boolean"})).decode(b"\1" * 100)


def test_too_many_columns() -> None:
    avro = Avro(doubling({"name": "x", "type": "boolean"}))
    with pytest.raises(AvroSchemaError, match=rf"needs more than a trillion columns.* limit is {MAX_COLUMNS:,}"):
        _ = avro.arrow_type
    with pytest.raises(AvroSchemaError, match="columns, including nested ones"):
        avro.decode_rows(pa.array([b""], pa.binary()))
    optional = [{"name": name, "type": ["null", "R"]} for name in "ab"]
    tree = {"type": "record", "name": "R", "fields": optional}
    with pytest.raises(AvroSchemaError, match="contains itself"):
        _ = Avro(tree).arrow_type


@pytest.mark.parametrize("default", [{}, {"a": {}, "b": {}}], ids=str)
def test_defaults_of_defaults(default: Any) -> None:
    made = Avro(doubling({"name": "x", "type": "int", "default": 0}, levels=3, default=default))
    assert made.encode({}) == bytes(8)
    schema = json.dumps(doubling({"name": "x", "type": "int", "default": 0}, default=default))
    with pytest.raises(AvroSchemaError, match="Expected at most 10,000 values in the default of field"):
        Avro(schema)
    with pytest.raises(AvroSchemaError, match="Expected at most 10,000 values in the default of field"):
        AvroObjectDecoder(parse('{"type": "record", "name": "R60", "fields": []}'), parse(schema))


def test_exponential_schemas_are_compared() -> None:
    one, other = (parse(json.dumps(doubling({"name": "x", "type": kind}))) for kind in ("int", "string"))
    assert incompatibilities(one, one) == []
    assert incompatibilities(one, other)


def test_chains_of_names_are_no_deeper_than_can_be_planned() -> None:
    chain: list[Any] = [{"type": "record", "name": "R0", "fields": []}]
    for number in range(1, 3000):
        fields = [{"name": "n", "type": f"R{number - 1}"}]
        chain.append({"type": "record", "name": f"R{number}", "fields": fields})
    for plan in (AvroObjectDecoder, target_of):
        with pytest.raises(AvroSchemaError, match=r"too many types within one another|needs .* columns"):
            plan(parse(json.dumps(chain)))
    value = ("R2", {"n": {"n": {}}})
    assert AvroObjectEncoder(parse(json.dumps(chain))).encode(value) == b"\4", "it is planned from the first name on"


EMPTY = ["null", {"type": "fixed", "name": "F", "size": 0}, {"type": "record", "name": "E", "fields": []}]


@pytest.mark.parametrize("items", EMPTY, ids=str)
def test_items_without_bytes_are_limited_in_a_value(items: Any) -> None:
    """The limit applies to the value, not to each array: four bytes per million items would become terabytes."""
    avro = Avro({"type": "array", "items": {"type": "array", "items": items}})
    million = b"\x80\x89\x7a\0"
    assert [len(each) for each in avro.decode(b"\2" + million + b"\0")] == [1_000_000]
    cause = "expected at most 1000000 items without bytes in a value, got 1000000 more"
    with pytest.raises(AvroDecodeError, match=cause):
        avro.decode(b"\4" + million * 2 + b"\0")
    few = b"\2\2\0\0"
    column, bad = avro.decode_rows(pa.array([few, b"\4\2\0" + million + b"\0", few], pa.binary()))
    assert [(each.row, each.cause.endswith(cause)) for each in bad] == [(1, True)]
    assert [len(each) for each in column.to_pylist()[::2]] == [1, 1]


def test_an_exponential_json_schema() -> None:
    definitions: dict[str, Any] = {"d0": {"type": "string"}}
    for number in range(1, LEVELS + 1):
        reference = {"$ref": f"#/$defs/d{number - 1}"}
        definitions[f"d{number}"] = {"type": "object", "properties": {"a": reference, "b": reference}}
    with pytest.raises(JsonSchemaError, match="more than 100,000 columns"):
        Json({"$ref": f"#/$defs/d{LEVELS}", "$defs": definitions})
