"""Arrow columns as Avro values: the bytes match fastavro's, and decode to the same columns."""

from __future__ import annotations

import datetime
import decimal
import io
import json
import uuid
from typing import Any

import fastavro
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka.formats.avro.arrow_types import avro_schema_of
from kafka.formats.avro.column_decoder import AvroColumnDecoder
from kafka.formats.avro.column_encoder import AvroColumnEncoder
from kafka.formats.avro.defaults import zigzag
from kafka.formats.avro.errors import AvroEncodeError
from kafka.formats.avro.object_decoder import AvroObjectEncoder
from kafka.formats.avro.resolution import AvroResolutionError
from kafka.formats.avro.schema import AvroSchemaError, parse
from unit.formats.avro.values import schemas


def by_fastavro(schema: Any, value: Any) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(json.loads(json.dumps(schema))), value, strict=True)
    return out.getvalue()


def decoded(schema: Any, values: Any) -> Any:
    decoder = AvroColumnDecoder(parse(json.dumps(schema)))
    decoder.use(None, parse(json.dumps(schema)))
    column, bad = decoder.decode(values, framed=False)
    assert bad == []
    return column


def check_a_schema(data: Any) -> None:
    schema, strategy = data.draw(schemas())
    payloads = [by_fastavro(schema, value) for value in data.draw(st.lists(strategy, max_size=5))]
    column = decoded(schema, pa.array(payloads, pa.binary()))
    encoder = AvroColumnEncoder(parse(json.dumps(schema)))
    encoder.check(column.type)
    made = encoder.encode(column)
    made.validate(full=True)
    assert made.to_pylist() == payloads
    cut = data.draw(st.integers(0, len(payloads)))
    assert encoder.encode(column[cut:]).to_pylist() == payloads[cut:]
    derived = avro_schema_of(column.type, "Derived")
    again = decoded(derived, AvroColumnEncoder(parse(json.dumps(derived))).encode(column))
    assert again.to_pylist() == column.to_pylist()


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.data())
def test_columns_of_any_schema_match_fastavro(data: Any) -> None:
    check_a_schema(data)


@pytest.mark.exhaustive
@pytest.mark.timeout(3600)
@settings(max_examples=10_000, deadline=None)
@given(st.data())
def test_columns_of_10000_schemas_match_fastavro(data: Any) -> None:
    check_a_schema(data)


def fixed(size: int, **more: Any) -> dict[str, Any]:
    return {"type": "fixed", "name": "F", "size": size, **more}


def of(kind: str, logical: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "logicalType": logical, **more}


def record(*fields: tuple[str, Any], **defaults: Any) -> dict[str, Any]:
    made = []
    for field, type_ in fields:
        made.append({"name": field, "type": type_, **({"default": defaults[field]} if field in defaults else {})})
    return {"type": "record", "name": "R", "fields": made}


def encoded(schema: Any, rows: Any, prefix: bytes = b"") -> Any:
    return AvroColumnEncoder(parse(json.dumps(schema))).encode(rows, prefix)


ENUM = {"type": "enum", "name": "E", "symbols": ["RED", "GREEN"]}
NOON = datetime.datetime(2026, 1, 1, 12, 0, 0, 5_000, tzinfo=datetime.UTC)
SAME = [
    ("int", pa.array([1, -5], pa.int8())),
    ("int", pa.array([1, -5], pa.int64())),
    ("long", pa.array([1, 1 << 62], pa.uint64())),
    ("double", pa.array([1, -5], pa.int32())),
    ("float", pa.array([1.5, 2.0], pa.float64())),
    ("double", pa.array([1.5, 2.0], pa.float32())),
    ("double", pa.array([1.5, 2.0], pa.float16())),
    ("boolean", pa.array([True, False, True])[1:]),
    ("string", pa.array(["a", "b" * 200], pa.large_string())),
    ("string", pa.array(["a", "b" * 200], pa.string_view())),
    ("string", pa.array(["a", "b", "a"]).dictionary_encode()),
    ("bytes", pa.array([b"ab", b"cd"], pa.binary(2))),
    ("bytes", pa.array([b"ab", b""], pa.large_binary())),
    (fixed(2), pa.array([b"ab", b"cd"], pa.binary())),
    (fixed(2), pa.array([b"ab", b"cd"], pa.binary(2))),
    (ENUM, pa.array(["GREEN", "RED"])),
    (ENUM, pa.array(["GREEN", "RED"]).dictionary_encode()),
    (of("int", "date"), pa.array([datetime.date(1960, 1, 2)], pa.date32())),
    (of("int", "date"), pa.array([datetime.date(1960, 1, 2)], pa.date64())),
    (of("int", "date"), pa.array([5, -7], pa.int32())),
    (of("int", "time-millis"), pa.array([datetime.time(1, 2, 3)], pa.time32("s"))),
    (of("int", "time-millis"), pa.array([datetime.time(1, 2, 3, 4_000)], pa.time64("us"))),
    (of("long", "time-micros"), pa.array([datetime.time(1, 2, 3, 4_000)], pa.time32("ms"))),
    (of("long", "timestamp-millis"), pa.array([NOON], pa.timestamp("us", "UTC"))),
    (of("long", "timestamp-millis"), pa.array([NOON], pa.timestamp("ms", "Europe/Berlin"))),
    (of("long", "timestamp-micros"), pa.array([NOON], pa.timestamp("ms", "UTC"))),
    (of("long", "local-timestamp-micros"), pa.array([NOON.replace(tzinfo=None)], pa.timestamp("ms"))),
    (of("bytes", "decimal", precision=9, scale=2), pa.array([decimal.Decimal("-1.28")], pa.decimal128(5, 2))),
    (of("bytes", "decimal", precision=9, scale=2), pa.array([decimal.Decimal("-1.5")], pa.decimal128(5, 1))),
    (of("bytes", "decimal", precision=3, scale=0), pa.array([decimal.Decimal(-128)], pa.decimal32(3, 0))),
    (of("bytes", "decimal", precision=3, scale=0), pa.array([decimal.Decimal(-129)], pa.decimal256(60, 0))),
    (fixed(4, logicalType="decimal", precision=6, scale=2), pa.array([decimal.Decimal("-1.28")], pa.decimal128(5, 2))),
    ({"type": "array", "items": "int"}, pa.array([[1], [], [2, 3]], pa.large_list(pa.int32()))),
    ({"type": "array", "items": "int"}, pa.array([[1, 2], [3, 4]], pa.list_(pa.int32(), 2))[1:]),
    ({"type": "array", "items": ["null", "int"]}, pa.array([[1], [None, 2]])[1:]),
    (["null", {"type": "array", "items": "int"}], pa.array([[1], None, [], [2, 3]], pa.list_view(pa.int32()))),
    (["null", {"type": "array", "items": "int"}], pa.array([[1], None, [2, 3]], pa.large_list_view(pa.int32()))[1:]),
    ({"type": "array", "items": "int"}, pa.ListViewArray.from_arrays([3, 0, 1], [2, 2, 0], pa.array([1, 2, 3, 4, 5]))),
    (["null", "int"], pa.RunEndEncodedArray.from_arrays(pa.array([2, 4]), pa.array([7, None], pa.int32()))[1:]),
    (["null", "int"], pa.array([None, 1, None])),
    (["int", "null"], pa.array([None, 1, None])[1:]),
    (["null", "int"], pa.array([1, 2])),
    (["null", "int"], pa.nulls(2)),
    (["int", "long"], pa.array([1, 2], pa.int32())),
    (["null", "double", "string"], pa.array([1.5, None])),
    (["null", "double", "string"], pa.array(["x", None])),
    (["bytes", "string"], pa.array(["x", "y"])),
    (record(("a", "int"), ("b", ["null", "string"])), pa.table({"b": ["x", None], "a": [1, 2]})),
    (record(("a", "int"), ("b", ["null", "string"])), pa.table({"a": [1, 2]})),
    (record(("a", record(("b", "int")) | {"name": "S"})), pa.table({"a": [{"b": 1}, {"b": 2}]})[1:]),
]


@pytest.mark.parametrize(("schema", "rows"), SAME)
def test_columns_of_other_types_are_encoded_as_their_values(schema: Any, rows: Any) -> None:
    objects = AvroObjectEncoder(parse(schema))
    assert encoded(schema, rows).to_pylist() == [objects.encode(each) for each in rows.to_pylist()]


@pytest.mark.parametrize(
    ("schema", "rows", "values"),
    [
        (
            of("bytes", "decimal", precision=3, scale=0),
            pa.array([decimal.Decimal(-128)], pa.decimal128(3, 0)),
            [b"\4\xff\x80"],
        ),
        (
            fixed(12, logicalType="duration"),
            pa.array([pa.MonthDayNano([1, 2, 3_000_000])]),
            [b"\1\0\0\0\2\0\0\0\3\0\0\0"],
        ),
        (fixed(16, logicalType="uuid"), pa.array([str(uuid.UUID(int=7))]), [uuid.UUID(int=7).bytes]),
        (fixed(16, logicalType="uuid"), pa.array([uuid.UUID(int=7).bytes], pa.uuid()), [uuid.UUID(int=7).bytes]),
        (of("long", "timestamp-millis"), pa.array([-1], pa.timestamp("us", "UTC")), [b"\1"]),
        (of("long", "timestamp-nanos"), pa.array([1], pa.timestamp("us", "UTC")), [zigzag(1_000)]),
        ("int", pa.array([1, None, 2]), [b"\2", None, b"\4"]),
        (record(), pa.table({"a": [1, 2]}).select([]), [b"", b""]),
        (record(("a", "int"), ("b", "bytes"), b="\u00ff"), pa.table({"a": [1]}), [b"\2\2\xff"]),
        ({"type": "map", "values": "int"}, pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int32())), [b"\2\2a\2\0"]),
    ],
)
def test_rare_forms(schema: Any, rows: Any, values: list[bytes | None]) -> None:
    assert encoded(schema, rows).to_pylist() == values


def test_a_prefix_precedes_each_value() -> None:
    rows = pa.record_batch({"a": [1, 2]})
    prefix = b"\0\0\0\0\7"
    assert encoded(record(("a", "int")), rows, prefix).to_pylist() == [prefix + b"\2", prefix + b"\4"]
    chunks = pa.chunked_array([pa.array([1]), pa.array([None, 3])])
    assert encoded("int", chunks, prefix).to_pylist() == [prefix + b"\2", None, prefix + b"\6"]
    assert encoded("int", pa.chunked_array([], pa.int32()), prefix).to_pylist() == []
    assert encoded(record(("a", "int")), pa.Table.from_batches([rows, rows])).to_pylist() == [b"\2", b"\4"] * 2


ITEMS = record(("items", {"type": "array", "items": record(("price", "int")) | {"name": "I"}}))


@pytest.mark.parametrize(
    ("schema", "rows", "says"),
    [
        (
            ITEMS,
            pa.table({"items": [[{"price": 1}], [{"price": 1}, {"price": 1 << 40}]]}),
            "At row 1, items[1].price: expected a number from -2147483648 to 2147483647, got 1099511627776",
        ),
        (record(("a", "int")), pa.table({"a": [1, None]}), "At row 1, a: expected a value, got null"),
        (ENUM, pa.array(["RED", "BLUE"]), "At row 1: expected one of the symbols RED, GREEN, got 'BLUE'"),
        ("float", pa.array([1e39]), "At row 0: expected a number that 32 bits can hold, got 1e+39"),
        ("string", pa.array([b"\xff"]), "At row 0: expected a string in UTF-8, got b'\\xff'"),
        (fixed(2), pa.array([b"ab", b"a"]), "At row 1: expected 2 bytes, got 1"),
        (fixed(16, logicalType="uuid"), pa.array(["x"]), "At row 0: expected a UUID, got b'x'"),
        (of("int", "time-millis"), pa.array([86_400_000]), "At row 0: expected a number from 0 to 86399999"),
        (
            of("long", "timestamp-nanos"),
            pa.array([1 << 60], pa.timestamp("ms", "UTC")),
            "At row 0: expected a number from -9223372036854 to 9223372036854, got 1152921504606846976",
        ),
        (
            of("bytes", "decimal", precision=2, scale=0),
            pa.array([decimal.Decimal(100)], pa.decimal128(3, 0)),
            "At row 0: expected a decimal of at most 2 digits, got 3",
        ),
        (
            fixed(12, logicalType="duration"),
            pa.array([pa.MonthDayNano([-1, 2, 3])]),
            "At row 0: expected a duration of months, days and milliseconds that are not negative",
        ),
        (record(("a", ["string", "double"])), pa.table({"a": [1.5, None]}), "At row 1, a: expected a value, got null"),
        (
            {"type": "map", "values": "int"},
            pa.array([[("a", None)]], pa.map_(pa.string(), pa.int32())),
            "At row 0, {}: expected a value",
        ),
    ],
)
def test_a_value_that_does_not_fit_is_reported(schema: Any, rows: Any, says: str) -> None:
    with pytest.raises(AvroEncodeError) as caught:
        encoded(schema, rows)
    assert str(caught.value).startswith(says)


@pytest.mark.parametrize(
    ("schema", "type_", "says"),
    [
        ("int", pa.string(), "a column of string cannot be written as int"),
        ("string", pa.int32(), "a column of int32 cannot be written as string"),
        ("boolean", pa.int32(), "a column of int32 cannot be written as boolean"),
        ("long", pa.float64(), "a column of double cannot be written as long"),
        ("long", pa.timestamp("ms", "UTC"), "a column of timestamp[ms, tz=UTC] cannot be written as long"),
        (
            of("long", "timestamp-millis"),
            pa.timestamp("ms"),
            "cannot be written as long (timestamp-millis): cast it to a timestamp with a time zone, such as UTC",
        ),
        (
            of("long", "local-timestamp-millis"),
            pa.timestamp("ms", "UTC"),
            "(local-timestamp-millis): it has a time zone",
        ),
        (
            of("bytes", "decimal", precision=5, scale=1),
            pa.decimal128(5, 2),
            "it has 2 digits after the decimal point, not 1",
        ),
        (fixed(2), pa.binary(3), "a column of fixed_size_binary[3] cannot be written as fixed F"),
        (["null", "int"], pa.string(), "a column of string cannot be written as int"),
        (["int", "boolean"], pa.string(), "a column of string cannot be written as union [int, boolean]"),
        (["int", "boolean"], pa.null(), "a column of null cannot be written as union [int, boolean]"),
        ({"type": "array", "items": "int"}, pa.int32(), "a column of int32 cannot be written as array"),
        (
            {"type": "array", "items": "int"},
            pa.list_(pa.string()),
            "At []: a column of string cannot be written as int",
        ),
        ({"type": "map", "values": "int"}, pa.map_(pa.int32(), pa.int32()), "At {key}: a column of int32"),
        (record(("a", "int")), pa.struct([("b", pa.int32())]), "the columns lack the field 'a' of record R"),
        (
            record(("a", "int")),
            pa.schema([("a", pa.int32()), ("b", pa.int32())]),
            "record R has no field for the columns 'b': leave them out",
        ),
        (record(("a", "int")), pa.struct([("a", pa.int32()), ("a", pa.int32())]), "two fields have the same name"),
        (
            record(("a", record(("b", "int")) | {"name": "S"})),
            pa.schema([("a", pa.struct([("b", pa.bool_())]))]),
            "At a.b: a column",
        ),
    ],
)
def test_types_that_do_not_fit_are_rejected_without_values(schema: Any, type_: Any, says: str) -> None:
    with pytest.raises(AvroResolutionError) as caught:
        AvroColumnEncoder(parse(json.dumps(schema))).check(type_)
    assert says in str(caught.value)


@pytest.mark.parametrize("ends", [[0, 5, 3], [0, -4, 3], [0, 7, 3]])
def test_positions_outside_a_column_are_rejected(ends: list[int]) -> None:
    """The first and last positions, the only ones that Arrow checks, are valid."""
    buffers = [None, pa.array(ends, pa.int32()).buffers()[1]]
    text = pa.Array.from_buffers(pa.string(), 2, [*buffers, pa.py_buffer(b"abc")])
    lists = pa.Array.from_buffers(pa.list_(pa.int32()), 2, buffers, children=[pa.array([1, 2, 3], pa.int32())])
    for schema, rows in (
        ("string", text),
        (fixed(16, logicalType="uuid"), text),
        ({"type": "array", "items": "int"}, lists),
    ):
        with pytest.raises((ValueError, pa.ArrowInvalid)):
            encoded(schema, rows)


def test_unsigned_numbers_beyond_long_are_rejected() -> None:
    with pytest.raises(
        AvroResolutionError, match="expected numbers up to 9223372036854775807, got 18446744073709551615"
    ):
        encoded("long", pa.array([(1 << 64) - 1], pa.uint64()))


def test_a_schema_is_derived_from_columns() -> None:
    columns = pa.schema(
        [
            pa.field("id", pa.uint32(), nullable=False),
            pa.field("name", pa.dictionary(pa.int8(), pa.string())),
            pa.field("price", pa.decimal128(9, 2)),
            pa.field("at", pa.timestamp("s", "UTC"), nullable=False),
            pa.field("on", pa.timestamp("us")),
            pa.field("tags", pa.list_(pa.field("item", pa.large_string(), nullable=False)), nullable=False),
            pa.field("who", pa.struct([pa.field("hash", pa.binary(4), nullable=False)]), nullable=False),
            pa.field("key", pa.uuid(), nullable=False),
            pa.field("nothing", pa.null()),
        ]
    )
    assert avro_schema_of(columns, "shop.Order") == {
        "type": "record",
        "name": "shop.Order",
        "fields": [
            {"name": "id", "type": "long"},
            {"name": "name", "type": ["null", "string"], "default": None},
            {
                "name": "price",
                "type": ["null", {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}],
                "default": None,
            },
            {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
            {
                "name": "on",
                "type": ["null", {"type": "long", "logicalType": "local-timestamp-micros"}],
                "default": None,
            },
            {"name": "tags", "type": {"type": "array", "items": "string"}},
            {
                "name": "who",
                "type": {
                    "type": "record",
                    "name": "shop.Order_who",
                    "fields": [{"name": "hash", "type": {"type": "fixed", "name": "shop.Order_who_hash", "size": 4}}],
                },
            },
            {"name": "key", "type": {"type": "fixed", "name": "shop.Order_key", "size": 16, "logicalType": "uuid"}},
            {"name": "nothing", "type": "null"},
        ],
    }
    AvroColumnEncoder(parse(avro_schema_of(columns, "shop.Order"))).check(columns)


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        (pa.schema([("a b", pa.int32())]), "Expected names of letters, digits and _, got the column 'a b': rename it"),
        (pa.schema([("a", pa.struct([("b", pa.duration("s"))]))]), r"a\.b: Avro has no type for duration\[s\]"),
        (pa.duration("s"), "The column: Avro has no type for duration"),
        (pa.map_(pa.int32(), pa.int32()), "Avro has no type for map"),
    ],
)
def test_types_without_an_avro_counterpart(columns: Any, says: str) -> None:
    with pytest.raises(AvroSchemaError, match=says):
        avro_schema_of(columns, "R")
