"""Avro values as objects: for any schema, the results match fastavro's."""

from __future__ import annotations

import datetime
import decimal
import io
import json
import threading
import uuid
from typing import Any

import fastavro
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kafka.formats.avro.defaults import zigzag
from kafka.formats.avro.errors import AvroDecodeError
from kafka.formats.avro.object_decoder import AvroObjectDecoder
from kafka.formats.avro.resolution import AvroResolutionError
from kafka.formats.avro.schema import AvroDuration, parse
from unit.formats.avro.values import EPOCH, evolved, has_text_and_bytes, rounded, schemas


def encoded(schema: Any, value: Any) -> bytes:
    """Encode a value with fastavro."""
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(json.loads(json.dumps(schema))), value, strict=True)
    return out.getvalue()


def decoded(reader: Any, data: bytes, writer: Any = None) -> Any:
    if writer is None:
        return AvroObjectDecoder(parse(json.dumps(reader))).decode(data)
    return AvroObjectDecoder(parse(json.dumps(writer)), parse(json.dumps(reader))).decode(data)


def check_what_was_written(data: Any) -> None:
    schema, strategy = data.draw(schemas())
    value = data.draw(strategy)
    assert decoded(schema, encoded(schema, value)) == value


def check_an_older_schema(data: Any) -> None:
    writer, strategy = data.draw(schemas())
    value = data.draw(strategy)
    assume(not has_text_and_bytes(writer))
    reader = data.draw(evolved(writer))
    payload = encoded(writer, value)
    write, read = (fastavro.parse_schema(json.loads(json.dumps(each))) for each in (writer, reader))
    expected = fastavro.schemaless_reader(io.BytesIO(payload), write, read)
    assert decoded(reader, payload, writer) == rounded(reader, expected)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_objects_are_read_back(data: Any) -> None:
    check_what_was_written(data)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_values_of_an_older_schema_match_fastavro(data: Any) -> None:
    check_an_older_schema(data)


@pytest.mark.exhaustive
@pytest.mark.timeout(3600)
@settings(max_examples=5_000, deadline=None)
@given(st.data())
def test_objects_of_5000_schemas_are_read_back(data: Any) -> None:
    check_what_was_written(data)


@pytest.mark.exhaustive
@pytest.mark.timeout(3600)
@settings(max_examples=5_000, deadline=None)
@given(st.data())
def test_values_of_5000_older_schemas_match_fastavro(data: Any) -> None:
    check_an_older_schema(data)


def fixed(size: int, **more: Any) -> dict[str, Any]:
    return {"type": "fixed", "name": "F", "size": size, **more}


LONG_DAY = {"type": "long", "logicalType": "timestamp-micros"}


@pytest.mark.parametrize(
    ("schema", "data", "value"),
    [
        (fixed(16, logicalType="uuid"), bytes(range(16)), uuid.UUID("00010203-0405-0607-0809-0a0b0c0d0e0f")),
        (fixed(3, logicalType="decimal", precision=6, scale=2), b"\xff\xff\x85", decimal.Decimal("-1.23")),
        ({"type": "bytes", "logicalType": "decimal", "precision": 3}, b"\x0a\0\0\0\0\7", decimal.Decimal(7)),
        (
            {"type": "bytes", "logicalType": "decimal", "precision": 200, "scale": 199},
            zigzag(60) + b"\x01" + bytes(59),
            decimal.Decimal(256**59).scaleb(-199, decimal.Context(prec=300)),
        ),
        (fixed(12, logicalType="duration"), b"\1\0\0\0\2\0\0\0\xff\xff\xff\xff", AvroDuration(1, 2, (1 << 32) - 1)),
        ({"type": "long", "logicalType": "timestamp-nanos"}, b"\2", 1),
        (LONG_DAY, zigzag(-62_135_596_800_000_000), datetime.datetime.min.replace(tzinfo=datetime.UTC)),
        (LONG_DAY, zigzag(253_402_300_799_999_999), datetime.datetime.max.replace(tzinfo=datetime.UTC)),
        ({"type": "int", "logicalType": "date"}, zigzag(-719_162), datetime.date.min),
        ({"type": "int", "logicalType": "date"}, zigzag(2_932_896), datetime.date.max),
        (
            {"type": "long", "logicalType": "local-timestamp-millis"},
            b"\1",
            datetime.datetime(1969, 12, 31, 23, 59, 59, 999_000),
        ),
        ({"type": "array", "items": "int"}, b"\x03\x04\x02\x04\0", [1, 2]),
        ({"type": "map", "values": "int"}, b"\x01\x06\x02a\x02\0", {"a": 1}),
        ({"type": "record", "name": "R", "fields": []}, b"", {}),
        (["int", "long"], b"\2\x02", 1),
        (fixed(0), b"", b""),
    ],
)
def test_rare_forms(schema: Any, data: bytes, value: Any) -> None:
    found = decoded(schema, data)
    assert found == value
    assert type(found) is type(value)


NODE = {
    "type": "record",
    "name": "N",
    "fields": [{"name": "v", "type": "int"}, {"name": "next", "type": ["null", "N"]}],
}


def test_a_recursive_record_is_read_with_another_version() -> None:
    value = {"v": 1, "next": {"v": 2, "next": {"v": 3, "next": None}}}
    reader = json.loads(json.dumps(NODE))
    reader["fields"][0]["type"] = "double"
    reader["fields"].append({"name": "tags", "type": {"type": "array", "items": "string"}, "default": ["x"]})
    data = encoded(NODE, value)
    assert decoded(NODE, data) == value
    made = decoded(reader, data, NODE)
    assert made == {
        "v": 1.0,
        "next": {"v": 2.0, "next": {"v": 3.0, "next": None, "tags": ["x"]}, "tags": ["x"]},
        "tags": ["x"],
    }
    made["tags"].append("y")
    assert decoded(reader, data, NODE)["next"]["tags"] == made["next"]["tags"] == ["x"]


def test_a_record_that_cannot_be_resolved_in_one_branch_is_resolved_anew_in_the_next() -> None:
    """Results inside a pair of records that does not resolve refer to that pair."""
    writer = {
        "type": "record",
        "name": "A",
        "fields": [
            {"name": "b", "type": {"type": "record", "name": "B", "fields": [{"name": "a", "type": ["null", "A"]}]}},
            {"name": "x", "type": "string"},
        ],
    }
    reader = json.loads(json.dumps(writer))
    reader["fields"][1]["type"] = "int"
    with pytest.raises(AvroResolutionError, match="the writer's string cannot be read as the reader's int"):
        decoded(reader, b"", writer)
    wrapped = ["null", writer, {"type": "map", "values": "B"}]
    as_read = ["null", reader, {"type": "map", "values": "B"}]
    assert decoded(as_read, b"\4\2\2k\0\0", wrapped) == {"k": {"a": None}}
    with pytest.raises(
        AvroDecodeError, match=r"At \['k'\]\.a, byte 5: At {}.a.x: the writer.s string cannot be read as"
    ):
        decoded(as_read, b"\4\2\2k\2\0\2x\0", wrapped)


def test_nesting_of_values_is_limited() -> None:
    deep = zigzag(1) + b"\2" + zigzag(1) + b"\0"
    assert decoded(NODE, deep) == {"v": 1, "next": {"v": 1, "next": None}}
    with pytest.raises(AvroDecodeError) as caught:
        decoded(NODE, b"\2\2" * 5_000 + b"\2\0")
    assert caught.value.reason == "expected at most 300 arrays, maps and records within one another"
    assert caught.value.position == 600


def test_a_bad_value_is_reported_with_position_and_reason() -> None:
    item = {"type": "record", "name": "Item", "fields": [{"name": "price", "type": "boolean"}]}
    order = {"type": "record", "name": "Order", "fields": [{"name": "items", "type": {"type": "array", "items": item}}]}
    schema = {"type": "record", "name": "Event", "fields": [{"name": "order", "type": order}]}
    decoder = AvroObjectDecoder(parse(schema))
    with pytest.raises(AvroDecodeError) as caught:
        decoder.decode(b"\0\0\0\0\7\x08\0\1\0\2\0", 5)
    error = caught.value
    assert str(error) == "At order.items[3].price, byte 9: expected a boolean, 0 or 1, got the byte 2"
    assert (error.path, error.position) == ("order.items[3].price", 9)


@pytest.mark.parametrize(
    ("schema", "data", "says"),
    [
        ("int", b"", "At byte 0: expected an integer of at most 10 bytes"),
        ("int", b"\2\2", "At byte 1: 1 bytes remain after the value"),
        ("int", b"\x80\x80\x80\x80\x20", "expected a number from -2147483648 to 2147483647, got 4294967296"),
        ({"type": "int", "logicalType": "time-millis"}, b"\x01", "expected a number from 0 to 86399999, got -1"),
        (
            {"type": "int", "logicalType": "date"},
            zigzag(2_932_897),
            "At byte 0: expected a date of the years 1 to 9999",
        ),
        (LONG_DAY, zigzag(253_402_300_800_000_000), "At byte 0: expected a timestamp of the years 1 to 9999"),
        (LONG_DAY, zigzag(-62_135_596_800_000_001), "At byte 0: expected a timestamp of the years 1 to 9999"),
        (LONG_DAY, zigzag(-(1 << 63)), "At byte 0: expected a timestamp of the years 1 to 9999"),
        ("boolean", b"\2", "expected a boolean, 0 or 1, got the byte 2"),
        ("boolean", b"", "the data end within a value"),
        ("float", b"123", "the data end within a value"),
        ("double", b"1234567", "the data end within a value"),
        ("string", b"\x04\xff\xfe", "At byte 1: expected a string in UTF-8, got b'\\xff\\xfe'"),
        ("bytes", b"\x10a", "expected a length of at most the 1 bytes that are left, got 8"),
        ({"type": "string", "logicalType": "uuid"}, b"\2x", "At byte 0: expected a UUID, got 'x'"),
        (["int", "string"], b"\4", "expected the number of one of 2 branches of a union, got 2"),
        ({"type": "enum", "name": "E", "symbols": ["A"]}, b"\2", "expected the number of one of 1 symbols, got 1"),
        (
            {"type": "array", "items": "int"},
            b"\x10\2",
            "expected a block whose items fit into the 1 bytes that are left",
        ),
        (
            {"type": "array", "items": "null"},
            b"\xfe\xff\xff\xff\x0f",
            "expected at most 1000000 items without bytes",
        ),
        ({"type": "map", "values": "boolean"}, b"\2\2a\7\0", "At ['a'], byte 3: expected a boolean"),
        ({"type": "map", "values": "boolean"}, b"\2\2\xff\7\0", "At {key}, byte 2: expected a string in UTF-8"),
        (
            {"type": "bytes", "logicalType": "decimal", "precision": 2},
            b"\2\x64",
            "expected a decimal of at most 2 digits",
        ),
        (fixed(16, logicalType="uuid"), bytes(15), "the data end within a value"),
        (fixed(12, logicalType="duration"), bytes(11), "the data end within a value"),
        (fixed(4), bytes(3), "the data end within a value"),
    ],
)
def test_invalid_values_are_errors(schema: Any, data: bytes, says: str) -> None:
    with pytest.raises(AvroDecodeError) as caught:
        decoded(schema, data)
    assert says in str(caught.value)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_corrupted_bytes_return_a_value_or_an_error(data: Any) -> None:
    schema, strategy = data.draw(schemas())
    damaged = bytearray(encoded(schema, data.draw(strategy)))
    for _ in range(data.draw(st.integers(1, 3))):
        if damaged:
            damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(damaged)))
    payload = bytes(damaged[:cut]) + data.draw(st.binary(max_size=3))
    try:
        decoded(schema, payload)
    except AvroDecodeError as error:
        assert 0 <= error.position <= len(payload)  # noqa: PT017


A = {"type": "record", "name": "x.A", "fields": [{"name": "f", "type": "int"}]}
B = {"type": "record", "name": "x.B", "fields": [{"name": "f", "type": "int"}]}


@pytest.mark.parametrize(
    ("schema", "value"), [([A, B], ("x.B", {"f": 1})), (["null", A], {"f": 1}), (["null", A], None), (A, {"f": 1})]
)
def test_records_of_unions_come_with_their_names_on_request(schema: Any, value: Any) -> None:
    parsed = fastavro.parse_schema(json.loads(json.dumps(schema)))
    data = encoded(schema, value)
    for reader in (None, schema):
        read = None if reader is None else fastavro.parse_schema(json.loads(json.dumps(reader)))
        expected = fastavro.schemaless_reader(io.BytesIO(data), parsed, read, return_record_name=True)
        ours = AvroObjectDecoder(parse(schema), reader and parse(reader), return_record_name=True).decode(data)
        assert ours == expected


@pytest.mark.parametrize(
    ("writer", "reader", "data", "value"),
    [
        ("bytes", "string", b"\4hi", "hi"),
        ("string", "bytes", b"\4hi", b"hi"),
        ("int", ["null", "double"], b"\4", 2.0),
        ("int", "float", zigzag(16_777_217), 16_777_216.0),
        ("long", ["float", "long"], b"\4", 2),
        (["null", "int"], "long", b"\2\4", 2),
        (
            {"type": "long", "logicalType": "timestamp-millis"},
            LONG_DAY,
            b"\2",
            EPOCH + datetime.timedelta(microseconds=1_000),
        ),
        (
            LONG_DAY,
            {"type": "long", "logicalType": "timestamp-millis"},
            b"\xa1\x1f",
            EPOCH + datetime.timedelta(milliseconds=-3),
        ),
        (
            {"type": "enum", "name": "E", "symbols": ["A", "B"]},
            {"type": "enum", "name": "E", "symbols": ["B", "C"], "default": "C"},
            b"\0",
            "C",
        ),
    ],
)
def test_rules_of_resolution(writer: Any, reader: Any, data: bytes, value: Any) -> None:
    found = decoded(reader, data, writer)
    assert found == value
    assert type(found) is type(value)


def test_a_branch_or_symbol_without_a_counterpart_is_an_error_of_its_values() -> None:
    assert decoded("long", b"\0\4", ["int", "string"]) == 2
    with pytest.raises(AvroDecodeError, match="the writer's string cannot be read as the reader's long"):
        decoded("long", b"\2\2x", ["int", "string"])
    enums = [{"type": "enum", "name": "E", "symbols": symbols} for symbols in (["B"], ["A", "B"])]
    assert decoded(enums[0], b"\2", enums[1]) == "B"
    with pytest.raises(AvroDecodeError, match="the reader's enum has neither the symbol A nor a default"):
        decoded(enums[0], b"\0", enums[1])


def test_a_value_begins_at_start() -> None:
    decoder = AvroObjectDecoder(parse("string"))
    assert decoder.decode(b"\0\0\0\0\1\4hi", 5) == "hi"
    assert decoder.decode(memoryview(bytearray(b"\4hi"))) == "hi"
    for start in (-1, 4):
        with pytest.raises(AvroDecodeError, match=f"expected a value from byte {start} on, got 3 bytes"):
            decoder.decode(b"\4hi", start)


def test_several_threads_use_one_decoder() -> None:
    reader = {
        "type": "record",
        "name": "R",
        "fields": [{"name": "l", "type": {"type": "array", "items": "int"}, "default": [1, 2]}],
    }
    decoder = AvroObjectDecoder(parse({"type": "record", "name": "R", "fields": []}), parse(reader))
    found: list[Any] = []

    def decode() -> None:
        found.extend(decoder.decode(b"") for _ in range(500))

    threads = [threading.Thread(target=decode) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert found == [{"l": [1, 2]}] * 2_000
