"""Objects as Avro values: for any schema, the bytes match fastavro's."""

from __future__ import annotations

import array
import dataclasses
import datetime
import decimal
import enum
import io
import json
import threading
import uuid
from collections import OrderedDict
from types import MappingProxyType
from typing import Any

import fastavro
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka.formats.avro.defaults import zigzag
from kafka.formats.avro.errors import AvroEncodeError
from kafka.formats.avro.object_decoder import AvroObjectDecoder, AvroObjectEncoder
from kafka.formats.avro.schema import AvroDuration, AvroSchemaError, parse
from unit.formats.avro.values import schemas


def by_fastavro(schema: Any, value: Any, **options: Any) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(json.loads(json.dumps(schema))), value, **options)
    return out.getvalue()


def encoded(schema: Any, value: Any, **options: Any) -> bytes:
    return AvroObjectEncoder(parse(json.dumps(schema)), **options).encode(value)


def check_a_schema(data: Any) -> None:
    schema, strategy = data.draw(schemas())
    value = data.draw(strategy)
    made = encoded(schema, value)
    assert made == by_fastavro(schema, value)
    assert AvroObjectDecoder(parse(json.dumps(schema))).decode(made) == value


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(st.data())
def test_bytes_match_fastavro(data: Any) -> None:
    check_a_schema(data)


@pytest.mark.exhaustive
@pytest.mark.timeout(3600)
@settings(max_examples=10_000, deadline=None)
@given(st.data())
def test_bytes_of_10000_schemas_match_fastavro(data: Any) -> None:
    check_a_schema(data)


class Color(enum.StrEnum):
    RED = "RED"


def fixed(size: int, **more: Any) -> dict[str, Any]:
    return {"type": "fixed", "name": "F", "size": size, **more}


def record(name: str, *fields: tuple[str, Any], **defaults: Any) -> dict[str, Any]:
    made = []
    for field, type_ in fields:
        made.append({"name": field, "type": type_, **({"default": defaults[field]} if field in defaults else {})})
    return {"type": "record", "name": name, "fields": made}


A = record("x.A", ("f", "int"))
B = record("x.B", ("f", "int"), ("g", "int"), g=7)
C = record("C", ("h", ["null", "string"]))
E = {"type": "enum", "name": "E", "symbols": ["RED", "GREEN"]}
NODE = record("N", ("v", "int"), ("next", ["null", "N"]))
MOMENT = datetime.datetime(2026, 5, 1, 12, 30, 1, 999_999, tzinfo=datetime.timezone(datetime.timedelta(hours=2)))


def of(kind: str, logical: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "logicalType": logical, **more}


SAME = [
    (NODE, {"v": 1, "next": {"v": 2, "next": None}}),
    (A, OrderedDict(f=1)),
    (A, {"f": 1, "more": 2}),
    (B, {"f": 1}),
    (C, {}),
    (["null", "string"], ("string", "x")),
    (["null", "string"], ("null", None)),
    (["int", "string", A], ("x.A", {"f": 1})),
    (["int", "string", A], ("string", "x")),
    ([A, B], {"f": 1}),
    ([A, B], {"f": 1, "g": 2}),
    ([A, B], {"f": 1, "-type": "x.B"}),
    ([B, C], {"h": "x"}),
    ([C, {"type": "map", "values": "string"}], {"h": "x"}),
    (["float", "double"], 1.5),
    (["float", "string"], 1.5),
    (["int", "long"], 1 << 40),
    (["string", E], "RED"),
    ([E, "string"], "RED"),
    ([E, "string"], "BLUE"),
    (["null", of("int", "date"), "string"], datetime.date(2026, 1, 2)),
    (["long", "double", "null"], 2.0),
    (["null", {"type": "array", "items": "int"}, {"type": "array", "items": "string"}][:2], [1]),
    ([{"type": "map", "values": "int"}, {"type": "array", "items": "int"}, "null"], [1, 2]),
    ([fixed(2), "bytes"], b"abc"),
    ([fixed(2), "bytes"], b"ab"),
    (["null", of("bytes", "decimal", precision=4, scale=2), "string"], decimal.Decimal("1.5")),
    (["null", of("string", "uuid"), "int"], uuid.UUID(int=5)),
    (["null", "boolean", "int"], True),
    (E, Color.RED),
    ("string", Color.RED),
    ({"type": "array", "items": "int"}, (1, 2)),
    ({"type": "array", "items": "int"}, array.array("i", [1, 2])),
    ({"type": "array", "items": "double"}, np.array([1.0, 2.5])),
    ({"type": "array", "items": "null"}, [None, None]),
    ("bytes", bytearray(b"xy")),
    ("double", 3),
    ("double", np.float32(0.5)),
    ("long", np.int64(-5)),
    ("float", float("inf")),
    (of("long", "timestamp-millis"), MOMENT),
    (of("long", "timestamp-micros"), MOMENT),
    (of("long", "timestamp-micros"), datetime.datetime(1850, 1, 1, 0, 0, 0, 1, tzinfo=datetime.UTC)),
    (of("long", "timestamp-millis"), datetime.datetime(2026, 7, 1, 3)),
    (of("long", "timestamp-millis"), -5),
    (of("long", "local-timestamp-micros"), datetime.datetime(2026, 7, 1, 3)),
    (of("long", "local-timestamp-millis"), MOMENT),
    (of("int", "date"), "2026-02-03"),
    (of("int", "date"), MOMENT),
    (of("int", "date"), 3),
    (of("int", "time-millis"), datetime.time(23, 59, 59, 999_999)),
    (of("long", "time-micros"), datetime.time(23, 59, 59, 999_999)),
    (of("long", "time-micros"), 5),
    (of("string", "uuid"), "00000000-0000-0000-0000-000000000005"),
    (of("bytes", "decimal", precision=4, scale=2), decimal.Decimal("-1.28")),
    (of("bytes", "decimal", precision=4, scale=2), decimal.Decimal("0E+9")),
    (of("bytes", "decimal", precision=4, scale=2), b"\x05"),
    (of("bytes", "decimal", precision=6, scale=2), decimal.Decimal("1E+3")),
    (fixed(4, logicalType="decimal", precision=6, scale=2), decimal.Decimal("-1.28")),
]


@pytest.mark.parametrize(("schema", "value"), SAME)
def test_rare_forms_match_fastavro(schema: Any, value: Any) -> None:
    assert encoded(schema, value) == by_fastavro(schema, value)


@dataclasses.dataclass
class Item:
    f: int


KIND = {"type": "enum", "name": "Kind", "symbols": ["A", "B"]}


class Kind(enum.Enum):
    A = "A"
    B = 2


class Slotted:
    __attrs_attrs__ = ()
    __slots__ = ("f", "g")

    def __init__(self) -> None:
        self.f, self.g = 1, 2


@pytest.mark.parametrize(
    ("schema", "value", "data"),
    [
        (KIND, Kind.A, b"\0"),
        (KIND, Kind.B, b"\2"),
        (["null", KIND], Kind.B, b"\2\2"),
        (A, Item(3), b"\6"),
        (B, Item(3), b"\6\x0e"),
        (["null", A], Item(3), b"\2\6"),
        (["null", A, B], Item(3), b"\2\6"),
        (["null", A, B], Slotted(), b"\4\2\4"),
        (A, MappingProxyType({"f": 1}), b"\2"),
        (fixed(16, logicalType="uuid"), uuid.UUID(int=5), bytes(15) + b"\5"),
        (fixed(16, logicalType="uuid"), bytes(16), bytes(16)),
        (fixed(12, logicalType="duration"), AvroDuration(1, 2, 3), b"\1\0\0\0\2\0\0\0\3\0\0\0"),
        (fixed(12, logicalType="duration"), bytes(range(12)), bytes(range(12))),
        (["null", fixed(12, logicalType="duration"), "int"], AvroDuration(0, 0, 9), b"\2" + bytes(8) + b"\x09\0\0\0"),
        (["null", fixed(16, logicalType="uuid"), "int"], uuid.UUID(int=0), b"\2" + bytes(16)),
        (of("bytes", "decimal", precision=4, scale=2), decimal.Decimal("1.500"), b"\4\0\x96"),
        (of("bytes", "decimal", precision=4, scale=2), 3, b"\4\1\x2c"),
        (of("long", "timestamp-nanos"), datetime.datetime(1970, 1, 1, 0, 0, 0, 1, tzinfo=datetime.UTC), zigzag(1000)),
        (record("R", ("b", "bytes"), b="\u00ff"), {}, b"\2\xff"),
        (record("R", ("u", ["string", "null"]), u="x"), {}, b"\0\2x"),
        (["string", "null", "int"], ("int", 3), b"\4\6"),
        ("bytes", memoryview(b"xy"), b"\4xy"),
    ],
)
def test_other_accepted_objects(schema: Any, value: Any, data: bytes) -> None:
    assert encoded(schema, value) == data


ITEMS = record(
    "Event", ("order", record("Order", ("items", {"type": "array", "items": record("I", ("price", "int"))})))
)


class FirstMoment(datetime.datetime):
    """A datetime that is in the year 0 in UTC."""

    def astimezone(self, tz: datetime.tzinfo | None = None) -> FirstMoment:
        raise ValueError("year 0 is out of range")


LOOP: dict[str, Any] = {"v": 1}
LOOP["next"] = LOOP


@pytest.mark.parametrize(
    ("schema", "value", "says"),
    [
        (
            ITEMS,
            {"order": {"items": [{"price": 1}, {"price": "x"}]}},
            "At order.items[1].price: expected an int, got 'x' (str)",
        ),
        ("int", 1 << 31, "Expected a number from -2147483648 to 2147483647, got 2147483648 (int)"),
        ("long", -(1 << 63) - 1, "Expected a number from -9223372036854775808 to 9223372036854775807"),
        ("int", True, "Expected an int, got True (bool)"),
        ("int", 1.0, "Expected an int, got 1.0 (float)"),
        ("boolean", 1, "Expected a bool, got 1 (int)"),
        ("null", 0, "Expected None, got 0 (int)"),
        ("double", "1.5", "Expected a float, got '1.5' (str)"),
        ("double", 10**400, "Expected a float, got an int of 1329 bits"),
        ("int", 10**400, "Expected a number from -2147483648 to 2147483647, got an int of 1329 bits"),
        ("float", 1e39, "Expected a number that 32 bits can hold, got 1e+39 (float)"),
        ("float", True, "Expected a float, got True (bool)"),
        ("string", b"x", "Expected a str, got b'x' (bytes)"),
        ("string", "\ud800", "Expected a string without lone surrogates"),
        ("bytes", "x", "Expected bytes, got 'x' (str)"),
        (fixed(2), b"abc", "Expected 2 bytes, got 3"),
        (fixed(2), "ab", "Expected 2 bytes, got 'ab' (str)"),
        (E, "BLUE", "Expected one of the symbols RED, GREEN, got 'BLUE' (str)"),
        ({"type": "array", "items": "int"}, "12", "Expected a list, got '12' (str)"),
        ({"type": "array", "items": "int"}, {"a": 1}, "Expected a list, got an object of type dict"),
        ({"type": "map", "values": "int"}, [1], "Expected a dict, got an object of type list"),
        ({"type": "map", "values": "int"}, {1: 1}, "Expected keys of type str, got 1 (int)"),
        ({"type": "map", "values": "int"}, {"\ud800": 1}, "At {key}: expected a string without lone surrogates"),
        ({"type": "map", "values": "int"}, {"a": None}, "At ['a']: expected an int, got None"),
        (A, None, "Expected a dict for record x.A, got None"),
        (A, "x", "Expected a dict for record x.A, got 'x' (str)"),
        (A, {}, "At f: the field is missing, and has no default"),
        (["null", "int"], "x", "Expected an int, got 'x' (str)"),
        (["null", "int"], ("string", "x"), "Expected null or int as the name of a branch, got 'string' (str)"),
        (["null", "int"], ("null", 3), "Expected None, got 3 (int)"),
        (["int", "string"], 1.5, "Expected a value of union [int, string], got 1.5 (float)"),
        (["int", "string"], ("bytes", b""), "Expected one of int, string as the name of a branch, got 'bytes'"),
        ([A, B], {"f": 1, "-type": "y"}, "Expected a value of union [record x.A, record x.B]"),
        (of("int", "date"), "2026-13-01", "Expected a date, got '2026-13-01' (str)"),
        (of("int", "date"), None, "Expected a date, got None"),
        (of("int", "time-millis"), "12:00", "Expected a time, got '12:00' (str)"),
        (of("int", "time-millis"), 86_400_000, "Expected a number from 0 to 86399999, got 86400000 (int)"),
        (of("long", "timestamp-millis"), "2026", "Expected a datetime, got '2026' (str)"),
        (of("long", "timestamp-millis"), 1 << 63, "Expected a number from"),
        (of("long", "timestamp-nanos"), MOMENT.replace(year=2300), "Expected a datetime of the years 1678 to 2261"),
        (of("long", "timestamp-micros"), FirstMoment(1, 1, 1), "Expected a datetime of the years 1 to 9999 in UTC too"),
        (of("string", "uuid"), "x", "Expected a UUID, got 'x' (str)"),
        (of("string", "uuid"), 5, "Expected a UUID, got 5 (int)"),
        (
            of("bytes", "decimal", precision=4, scale=2),
            decimal.Decimal("1.234"),
            "Expected a decimal of at most 4 digits, 2 of them behind the point, got 1.234",
        ),
        (of("bytes", "decimal", precision=4, scale=2), decimal.Decimal(100), "Expected a decimal of at most 4 digits"),
        (of("bytes", "decimal", precision=4, scale=2), decimal.Decimal("NaN"), "Expected a decimal of at most 4"),
        (of("bytes", "decimal", precision=4, scale=2), decimal.Decimal("1E+999999"), "Expected a decimal of at most 4"),
        (of("bytes", "decimal", precision=4, scale=2), 1.5, "Expected a decimal of at most 4 digits"),
        (fixed(12, logicalType="duration"), (1, 2), "Expected an AvroDuration of three numbers"),
        (fixed(12, logicalType="duration"), (1, 2, 1 << 32), "Expected an AvroDuration of three numbers"),
        (NODE, LOOP, "At "),
    ],
)
def test_errors_name_field_and_value(schema: Any, value: Any, says: str) -> None:
    with pytest.raises(AvroEncodeError) as caught:
        encoded(schema, value)
    assert str(caught.value).startswith(says)


def test_a_recursive_value_is_an_error() -> None:
    with pytest.raises(AvroEncodeError, match="expected at most 300 arrays, maps and records within one another"):
        encoded(NODE, LOOP)
    tree = record("T", ("l", {"type": "array", "items": ["null", "T", "string"]}))
    value: dict[str, Any] = {"l": []}
    value["l"].append(value)
    with pytest.raises(AvroEncodeError):
        encoded(tree, value)


STRICT = [
    ({"f": 1, "g": 2, "more": 3}, "strict", "Expected no fields beside those of record x.B, got ['more']"),
    ({"f": 1, "more": 2}, "strict_allow_default", "Expected no fields beside those of record x.B, got ['more']"),
    ({"f": 1}, "strict", "At g: the field is missing"),
    ({"g": 1}, "strict_allow_default", "At f: the field is missing"),
]


@pytest.mark.parametrize(("value", "option", "says"), STRICT)
def test_strict_requires_exactly_the_fields(value: Any, option: str, says: str) -> None:
    with pytest.raises(AvroEncodeError) as caught:
        encoded(B, value, **{option: True})
    assert str(caught.value) == says
    with pytest.raises(ValueError, match=r"more fields|missing"):
        by_fastavro(B, value, **{option: True})


def test_strict_may_allow_defaults() -> None:
    assert encoded(B, {"f": 1}, strict_allow_default=True) == b"\2\x0e"
    assert encoded(B, {"f": 1, "g": 2, "-type": "x.B"}, strict=True) == b"\2\4"


def test_a_default_that_does_not_fit_is_an_error_of_the_schema() -> None:
    with pytest.raises(AvroSchemaError, match="Expected the default of field 'f' as a value of int, got 'x'"):
        encoded(record("R", ("f", "int"), f="x"), {"f": 1})


def test_a_prefix_precedes_the_value_and_an_error_leaves_the_encoder_usable() -> None:
    encoder = AvroObjectEncoder(parse("string"))
    assert encoder.encode("hi", b"\0\0\0\0\1") == b"\0\0\0\0\1\4hi"
    with pytest.raises(AvroEncodeError):
        encoder.encode(1, b"\0\0\0\0\1")
    long = "x" * 3_000_000
    assert encoder.encode(long) == zigzag(3_000_000) + long.encode()
    assert encoder.encode("hé") == b"\6h\xc3\xa9"


def test_exceptions_from_values_propagate() -> None:
    class Bad(dict[str, Any]):
        def get(self, key: str, default: Any = None) -> Any:
            raise LookupError("gone")

    encoder = AvroObjectEncoder(parse(A))
    with pytest.raises(LookupError, match="gone"):
        encoder.encode(Bad())
    assert encoder.encode({"f": 1}) == b"\2"


def test_several_threads_use_one_encoder() -> None:
    encoder = AvroObjectEncoder(parse({"type": "array", "items": "string"}))
    wrong: list[Any] = []

    class Slow(str):
        __slots__ = ()

    def encode(number: int) -> None:
        value = [Slow(number)] * 50
        expected = encoder.encode(value)
        wrong.extend(made for made in (encoder.encode(value) for _ in range(300)) if made != expected)

    threads = [threading.Thread(target=encode, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not wrong
