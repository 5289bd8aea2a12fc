"""Avro values as columns: for any schema, columns contain the values that fastavro wrote."""

from __future__ import annotations

import datetime
import decimal
import io
import json
from typing import Any

import fastavro
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka.formats.avro.column_decoder import AvroColumnDecoder
from kafka.formats.avro.defaults import zigzag
from kafka.formats.avro.resolution import AvroResolutionError
from kafka.formats.avro.schema import AvroSchemaError, parse
from unit.formats.avro.values import EPOCH, as_column, evolved, rounded, schemas


def encoded(schema: Any, value: Any) -> bytes:
    """Encode a value with fastavro."""
    out = io.BytesIO()
    fastavro.schemaless_writer(out, schema, value, strict=True)
    return out.getvalue()


def decoded(writer: Any, reader: Any, values: list[bytes | None]) -> tuple[pa.Array, list[Any]]:
    decoder = AvroColumnDecoder(parse(json.dumps(reader)))
    decoder.use(None, parse(json.dumps(writer)))
    return decoder.decode(pa.array(values, pa.binary()), framed=False)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.data())
def test_columns_contain_the_written_values(data: Any) -> None:
    schema, strategy = data.draw(schemas())
    values = data.draw(st.lists(strategy, max_size=5))
    parsed = fastavro.parse_schema(json.loads(json.dumps(schema)))
    column, bad = decoded(schema, schema, [encoded(parsed, value) for value in values])
    column.validate(full=True)
    assert bad == []
    assert column.to_pylist() == [as_column(schema, value) for value in values]


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.data())
def test_values_of_an_older_schema_get_the_readers_types(data: Any) -> None:
    writer, strategy = data.draw(schemas())
    values = data.draw(st.lists(strategy, max_size=4))
    reader = data.draw(evolved(writer))
    write, read = (fastavro.parse_schema(json.loads(json.dumps(each))) for each in (writer, reader))
    column, bad = decoded(writer, reader, [encoded(write, value) for value in values])
    column.validate(full=True)
    expected = [fastavro.schemaless_reader(io.BytesIO(encoded(write, value)), write, read) for value in values]
    assert bad == []
    assert column.to_pylist() == [as_column(reader, rounded(reader, value)) for value in expected]


def one(reader: Any, data: bytes, writer: Any = None) -> Any:
    """Decode a single value to a row; return the cause for a bad value."""
    column, bad = decoded(reader if writer is None else writer, reader, [data])
    column.validate(full=True)
    return bad[0].cause if bad else column.to_pylist()[0]


def fixed(size: int, **more: Any) -> dict[str, Any]:
    return {"type": "fixed", "name": "F", "size": size, **more}


@pytest.mark.parametrize(
    ("schema", "data", "value"),
    [
        (fixed(16, logicalType="uuid"), bytes(range(16)), "00010203-0405-0607-0809-0a0b0c0d0e0f"),
        (fixed(3, logicalType="decimal", precision=6, scale=2), b"\xff\xff\x85", decimal.Decimal("-1.23")),
        ({"type": "bytes", "logicalType": "decimal", "precision": 3}, b"\x0a\0\0\0\0\7", decimal.Decimal(7)),
        ({"type": "bytes", "logicalType": "decimal", "precision": 3}, b"\x08\xff\xff\xff\xf9", decimal.Decimal(-7)),
        ({"type": "bytes", "logicalType": "decimal", "precision": 3}, b"\0", decimal.Decimal(0)),
        (["int", "long"], b"\2\x02", 1),
        (["long", "int", "null"], b"\2\x02", 1),
        (["float", "double"], b"\0\0\0\x80?", 1.0),
        (["long", "int", "null"], b"\4", None),
        (["null", "float", "double"], b"\0", None),
        (["null", "float", "double"], b"\2\0\0\x80?", 1.0),
        (["null"], b"\0", None),
        (["string"], b"\0\x02x", "x"),
        ({"type": "array", "items": "null"}, b"\x06\0", [None, None, None]),
        ({"type": "array", "items": "int"}, b"\x03\x04\x02\x04\0", [1, 2]),
        ({"type": "map", "values": "int"}, b"\x01\x06\x02a\x02\0", [("a", 1)]),
        ({"type": "record", "name": "R", "fields": []}, b"", {}),
        (fixed(0), b"", b""),
    ],
)
def test_rare_forms(schema: Any, data: bytes, value: Any) -> None:
    assert one(schema, data) == value


def test_a_duration_is_months_days_and_nanoseconds() -> None:
    duration = (1).to_bytes(4, "little") + (2).to_bytes(4, "little") + (3_000).to_bytes(4, "little")
    assert one(fixed(12, logicalType="duration"), duration) == pa.MonthDayNano([1, 2, 3_000_000_000])
    assert "2,147,483,648 months" in one(fixed(12, logicalType="duration"), b"\xff" * 12)


@pytest.mark.parametrize(
    ("schema", "data", "cause"),
    [
        ("int", b"", "expected an integer of at most 10 bytes"),
        ("int", b"\x80" * 12, "expected an integer of at most 10 bytes"),
        ("int", b"\x80\x80\x80\x80\x20", "expected a number from -2147483648 to 2147483647, got 4294967296"),
        ({"type": "int", "logicalType": "time-millis"}, b"\x01", "expected a number from 0 to 86399999, got -1"),
        ("boolean", b"\2", "expected a boolean, 0 or 1, got the byte 2"),
        ("double", b"1234567", "the data end within a value"),
        ("string", b"\x04\xff\xfe", "expected a string in UTF-8, got b'\\xff\\xfe'"),
        ("bytes", b"\x10a", "expected a length of at most the 1 bytes that are left, got 8"),
        ("bytes", b"\x01", "expected a length of at most the 0 bytes that are left, got -1"),
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
        ({"type": "array", "items": "int"}, b"\x03\x90\x03\x02", "expected the size in bytes of a block"),
        (
            {"type": "array", "items": "int"},
            b"\xff" * 9 + b"\x01\0",
            "expected a block of at most 2147483647 items, got the count -9223372036854775808",
        ),
        ({"type": "array", "items": "boolean"}, b"\4\0\7\0", "[1]: expected a boolean, 0 or 1, got the byte 7"),
        ({"type": "map", "values": "boolean"}, b"\2\2a\7\0", "{}: expected a boolean, 0 or 1, got the byte 7"),
        (
            {"type": "bytes", "logicalType": "decimal", "precision": 2},
            b"\2\x64",
            "expected a decimal of at most 2 digits",
        ),
        ("int", b"\2\2", "1 bytes remain after the value"),
        (
            {"type": "record", "name": "R", "fields": [{"name": "a", "type": {"type": "array", "items": "int"}}]},
            b"\2\x80",
            "a[0]: expected an integer of at most 10 bytes",
        ),
    ],
)
def test_a_bad_value_is_reported_with_position_and_reason(schema: Any, data: bytes, cause: str) -> None:
    assert one(schema, data).startswith(cause)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.data())
def test_a_bad_value_does_not_affect_others(data: Any) -> None:
    schema, strategy = data.draw(schemas())
    values = data.draw(st.lists(strategy, min_size=1, max_size=6))
    parsed = fastavro.parse_schema(json.loads(json.dumps(schema)))
    payloads = [encoded(parsed, value) for value in values]
    broken = set()
    for row in range(len(payloads)):
        if data.draw(st.booleans()):
            damaged = bytearray(payloads[row])
            for _ in range(data.draw(st.integers(1, 3))):
                if damaged:
                    damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
            cut = data.draw(st.integers(0, len(damaged)))
            payloads[row] = bytes(damaged[:cut]) + data.draw(st.binary(max_size=3))
            broken.add(row)
    column, bad = decoded(schema, schema, list(payloads))
    column.validate(full=True)
    assert len(column) == len(values)
    assert {each.row for each in bad} <= broken
    rows = list(column)
    for row, value in enumerate(values):
        if row not in broken:
            assert rows[row].as_py() == as_column(schema, value)
    for each in bad:
        assert not rows[each.row].is_valid or pa.types.is_null(column.type)


def test_each_value_is_read_with_the_schema_of_its_id() -> None:
    reader = {
        "type": "record",
        "name": "Order",
        "fields": [{"name": "id", "type": "long"}, {"name": "note", "type": ["null", "string"], "default": None}],
    }
    versions = {
        1: {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "int"}]},
        300: {
            "type": "record",
            "name": "Order",
            "fields": [{"name": "note", "type": "string"}, {"name": "id", "type": "long"}],
        },
        4: {"type": "record", "name": "Order", "fields": [{"name": "note", "type": "string"}]},
    }
    asked: list[int] = []

    def find(schema_id: int) -> Any:
        asked.append(schema_id)
        return parse(versions[schema_id])

    framed = [
        b"\0\0\0\0\1\2",
        b"\0\0\0\1\x2c\x02x\4",
        None,
        b"\0\0\0\0\4\x02x",
        b"\0\0\0\0\1\6",
        b"\1\0\0\0\1\6",
        b"\0\0\0",
        b"\0\0\0\0\x09\6",
        b"\0\0\0\0\4\x02x",
    ]
    decoder = AvroColumnDecoder(parse(reader))
    column, bad = decoder.decode(pa.array(framed, pa.binary()), framed=True, find=find)
    assert column.to_pylist() == [
        {"id": 1, "note": None},
        {"id": 2, "note": "x"},
        None,
        None,
        {"id": 3, "note": None},
        *[None] * 4,
    ]
    assert [(each.row, each.schema_id) for each in bad] == [(3, 4), (5, None), (6, None), (7, 9), (8, 4)]
    assert "the reader's field 'id' is missing from the writer's record Order, and has no default" in bad[0].cause
    assert bad[1].cause == "expected a zero byte and a schema id of 4 bytes first, got 01 00 00 00 01"
    assert asked == [1, 300, 4, 9]
    assert len(decoder.decode(pa.array(framed[:2], pa.binary()), framed=True)[1]) == 0
    unknown, (each, *_) = decoder.decode(pa.array(framed[7:], pa.binary()).slice(0, 1), framed=True)
    assert unknown.null_count == 1
    assert each.cause == "there is no schema with the id 9"


def test_other_errors_of_a_lookup_propagate_and_leave_the_decoder_usable() -> None:
    def fail(schema_id: int) -> Any:
        raise ConnectionError("the registry is gone")

    decoder = AvroColumnDecoder(parse("int"))
    decoder.use(1, parse("int"))
    values = pa.array([b"\0\0\0\0\1\2", b"\0\0\0\0\2\2"], pa.binary())
    with pytest.raises(ConnectionError):
        decoder.decode(values, framed=True, find=fail)
    assert decoder.decode(values[:1], framed=True)[0].to_pylist() == [1]


RESOLVED = [
    ("bytes", "string", b"\4hi", "hi"),
    ("string", "bytes", b"\4hi", b"hi"),
    ("int", ["null", "double"], b"\4", 2.0),
    ("long", ["float", "long"], b"\4", {"member0": None, "member1": 2}),
    (["null", "int"], "long", b"\2\4", 2),
    (
        {"type": "long", "logicalType": "timestamp-millis"},
        {"type": "long", "logicalType": "timestamp-micros"},
        b"\2",
        EPOCH + datetime.timedelta(microseconds=1_000),
    ),
    (
        {"type": "int", "logicalType": "time-millis"},
        {"type": "long", "logicalType": "time-micros"},
        b"\2",
        datetime.time(0, 0, 0, 1000),
    ),
    (
        {"type": "long", "logicalType": "timestamp-micros"},
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
    (
        {"type": "enum", "name": "E", "symbols": ["A", "B"]},
        {"type": "enum", "name": "E", "symbols": ["B", "A"]},
        b"\2",
        "B",
    ),
    (
        {"type": "enum", "name": "x.Old", "symbols": ["A"]},
        {"type": "enum", "name": "New", "aliases": ["x.Old"], "symbols": ["A"]},
        b"\0",
        "A",
    ),
]


def test_the_smallest_number_of_a_logical_type_is_read() -> None:
    """Also with a change of units: the smallest number of milliseconds whose microseconds fit into a long."""
    smallest = b"\xff" * 9 + b"\1"
    millis, micros = ({"type": "long", "logicalType": f"timestamp-{unit}"} for unit in ("millis", "micros"))
    column, bad = decoded(millis, millis, [smallest])
    assert (column.cast(pa.int64()).to_pylist(), bad) == ([-(1 << 63)], [])
    least = -((1 << 63) // 1000)
    column, bad = decoded(millis, micros, [zigzag(least), zigzag(least - 1)])
    assert column.cast(pa.int64()).to_pylist() == [least * 1000, None]
    assert [each.row for each in bad] == [1]


@pytest.mark.parametrize(("writer", "reader", "data", "value"), RESOLVED)
def test_rules_of_resolution(writer: Any, reader: Any, data: bytes, value: Any) -> None:
    assert one(reader, data, writer) == value


def test_fields_are_found_by_alias_and_unwanted_ones_are_skipped() -> None:
    tree = {"type": "record", "name": "Tree", "fields": [{"name": "sub", "type": {"type": "array", "items": "Tree"}}]}
    writer = {
        "type": "record",
        "name": "W",
        "fields": [
            {"name": "tree", "type": tree},
            {"name": "old", "type": "int"},
            {
                "name": "gone",
                "type": {"type": "map", "values": ["null", "double", {"type": "fixed", "name": "F", "size": 2}]},
            },
            {"name": "last", "type": "string"},
        ],
    }
    reader = {
        "type": "record",
        "name": "R",
        "fields": [{"name": "last", "type": "string"}, {"name": "new", "type": "long", "aliases": ["old"]}],
    }
    value = {
        "tree": {"sub": [{"sub": [{"sub": []}]}, {"sub": []}]},
        "old": 5,
        "gone": {"a": None, "b": 1.0, "c": b"xy"},
        "last": "z",
    }
    data = encoded(fastavro.parse_schema(json.loads(json.dumps(writer))), value)
    assert one(reader, data, writer) == {"last": "z", "new": 5}


def test_recursive_records_are_not_columns_and_skipped_up_to_a_limit() -> None:
    node = {"type": "record", "name": "N", "fields": [{"name": "next", "type": ["null", "N"]}]}
    with pytest.raises(AvroSchemaError, match="Record N contains itself at next"):
        AvroColumnDecoder(parse(node))
    outer = {"type": "record", "name": "O", "fields": [{"name": "n", "type": node}]}
    empty = {"type": "record", "name": "O", "fields": []}
    assert one(empty, b"\2" * 50 + b"\0", outer) == {}
    assert (
        one(empty, b"\2" * 5_000 + b"\0", outer)
        == "n: expected at most 300 arrays, maps and records within one another"
    )


@pytest.mark.parametrize(
    ("writer", "reader", "says"),
    [
        ("string", "int", "the writer's string cannot be read as the reader's int"),
        ("double", "float", "the writer's double cannot be read as the reader's float"),
        ("string", ["null", "int"], "the writer's string matches no branch of the reader's union [null, int]"),
        (["null", "string"], "int", "the writer's null cannot be read as the reader's int"),
        (fixed(3), fixed(4), "the writer's fixed F cannot be read as the reader's fixed F"),
        (
            {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 1},
            {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2},
            "the writer's decimal has 1 digits after the decimal point, the reader's 2",
        ),
    ],
)
def test_unresolvable_types_are_errors_of_the_plan(writer: Any, reader: Any, says: str) -> None:
    with pytest.raises(AvroResolutionError) as caught:
        decoded(writer, reader, [])
    assert says in str(caught.value)


def test_an_unresolvable_branch_is_an_error_of_its_values() -> None:
    column, bad = decoded(["int", "string"], "long", [b"\0\4", b"\2\2x"])
    assert column.to_pylist() == [2, None]
    assert bad[0].cause == "the writer's string cannot be read as the reader's long"


def test_a_default_that_does_not_fit_is_an_error_where_it_is_needed() -> None:
    reader = {"type": "record", "name": "R", "fields": [{"name": "x", "type": "int", "default": "seven"}]}
    assert one(reader, b"\4") == {"x": 2}
    with pytest.raises(AvroSchemaError, match="Expected the default of field 'x' as a value of int, got 'seven'"):
        decoded({"type": "record", "name": "R", "fields": []}, reader, [])
    bytes_default = {"type": "record", "name": "R", "fields": [{"name": "x", "type": "bytes", "default": "\u00ff"}]}
    assert one(bytes_default, b"", {"type": "record", "name": "R", "fields": []}) == {"x": b"\xff"}


def test_decimals_with_too_many_digits_are_rejected() -> None:
    with pytest.raises(AvroSchemaError, match="a decimal of 77 digits, and columns have at most 76"):
        AvroColumnDecoder(parse({"type": "bytes", "logicalType": "decimal", "precision": 77}))


def test_slices_of_arrays_are_read_from_their_start() -> None:
    decoder = AvroColumnDecoder(parse("int"))
    decoder.use(None, parse("int"))
    values = pa.array([b"\2", None, b"\4", b"\6"], pa.binary())
    assert decoder.decode(values[1:3], framed=False)[0].to_pylist() == [None, 2]
    assert decoder.decode(values[:0], framed=False)[0].to_pylist() == []
    assert decoder.decode(pa.array([], pa.binary()), framed=False)[0].to_pylist() == []
