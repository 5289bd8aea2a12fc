"""Values of random schemas are the same bytes again after they were JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka.formats.avro.json_values import loaded, object_of
from kafka.formats.avro.json_writer import json_writer
from kafka.formats.avro.object_decoder import AvroObjectDecoder
from kafka.formats.avro.object_encoder import AvroObjectEncoder
from kafka.formats.avro.schema import parse
from unit.formats.avro_values import LOGICAL, PRIMITIVES, schemas

_ALIKE = ({"int", "long"}, {"float", "double"})
"""Branches whose values are the same when they are read."""


def kind_of(schema: Any) -> str:
    kind: str = schema["type"] if isinstance(schema, dict) else schema
    return kind


@st.composite
def unions(draw: Any) -> tuple[Any, st.SearchStrategy[Any]]:
    """A union of simple and logical types, and of records, maps and arrays of such; values name their branch."""
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
    if isinstance(schema, list):  # in a list, and beside itself
        schema, values = {"type": "array", "items": schema}, st.lists(values, max_size=3)
    parsed = parse(schema)
    encoder = AvroObjectEncoder(parsed)
    encoded = encoder.encode(data.draw(values))
    text = json_writer(parsed)(AvroObjectDecoder(parsed, return_record_name=True).decode(encoded))
    json.loads(text, parse_constant=pytest.fail)
    assert encoder.encode(object_of(parsed, loaded(text))) == encoded, text


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_values_come_back_from_json(data: Any) -> None:
    check(data)


@pytest.mark.exhaustive
@settings(max_examples=10_000, deadline=None)
@given(st.data())
def test_values_of_10000_schemas_come_back_from_json(data: Any) -> None:
    check(data)


def test_a_record_whose_only_field_is_named_like_a_decimals_branch_is_written_with_its_name() -> None:
    decimals = {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}
    record = {"type": "record", "name": "A", "fields": [{"name": "bytes", "type": "double"}]}
    parsed = parse([decimals, record])
    encoder, decoder = AvroObjectEncoder(parsed), AvroObjectDecoder(parsed, return_record_name=True)
    for number, text in ((0.1, '{"A":{"bytes":0.1}}'), (0.125, '{"bytes":0.125}')):  # which is no such decimal
        encoded = encoder.encode(("A", {"bytes": number}))
        assert json_writer(parsed)(decoder.decode(encoded)) == text
        assert encoder.encode(object_of(parsed, loaded(text))) == encoded
