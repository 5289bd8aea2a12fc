"""JSON values as columns: values must have the exact type, and errors name position and reason."""

from __future__ import annotations

import base64
import datetime
import decimal
import json
import struct
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kafka.formats.json.codec_options import DecodeOptions
from kafka.formats.json.column_decoder import JsonColumnDecoder
from kafka.formats.json.errors import JsonSchemaError

UTC = datetime.UTC


def one(schema: Any, value: str | bytes, **options: Any) -> Any:
    """Decode a single value to a row; return the cause for a bad value."""
    data = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
    column, bad = JsonColumnDecoder(schema, DecodeOptions(**options)).decode(pa.array([data], pa.binary()))
    column.validate(full=True)
    if bad:
        assert column.to_pylist() == [None]
        return bad[0].cause
    return column.to_pylist()[0]


def lists(type_: pa.DataType) -> pa.DataType:
    return pa.list_(type_)


@pytest.mark.parametrize(
    ("type_", "text", "value"),
    [
        (pa.bool_(), "true", True),
        (pa.bool_(), " false ", False),
        (pa.int8(), "-128", -128),
        (pa.int16(), "32767", 32767),
        (pa.int32(), "-2147483648", -(2**31)),
        (pa.int64(), "-9223372036854775808", -(2**63)),
        (pa.int64(), "9223372036854775807", 2**63 - 1),
        (pa.uint8(), "255", 255),
        (pa.uint16(), "65535", 65535),
        (pa.uint32(), "4294967295", 2**32 - 1),
        (pa.uint64(), "18446744073709551615", 2**64 - 1),
        (pa.int64(), "-0", 0),
        (pa.int64(), "1.0", 1),
        (pa.int64(), "1e2", 100),
        (pa.int64(), "-12.50e1", -125),
        (pa.int64(), "120e-1", 12),
        (pa.int8(), "0.00000000000000000000000000000127e32", 127),
        (pa.uint64(), "1844674407370955161500e-2", 2**64 - 1),
        (pa.int64(), "0e99999999999999999999", 0),
        (pa.float64(), "1", 1.0),
        (pa.float64(), "9007199254740993", 9007199254740992.0),
        (pa.float64(), "1e-400", 0.0),
        (pa.float32(), "0.1", struct.unpack("f", struct.pack("f", 0.1))[0]),
        (pa.float32(), "3.4028235e38", 3.4028234663852886e38),
        (pa.decimal128(5, 2), "123.45", decimal.Decimal("123.45")),
        (pa.decimal128(5, 2), "-123.450", decimal.Decimal("-123.45")),
        (pa.decimal128(5, 2), "1.2e1", decimal.Decimal("12.00")),
        (pa.decimal128(38, 0), "9" * 38, decimal.Decimal("9" * 38)),
        (pa.decimal256(76, 10), "-" + "9" * 66 + "." + "9" * 10, decimal.Decimal("-" + "9" * 66 + "." + "9" * 10)),
        (pa.string(), '"a\\u00e9\\ud83d\\ude00\\n\\/"', "aé😀\n/"),
        (pa.string(), '"é😀"', "é😀"),
        (pa.string(), '"' + "x" * 5000 + '\\t"', "x" * 5000 + "\t"),
        (pa.binary(), '"AAEC/w=="', b"\x00\x01\x02\xff"),
        (pa.binary(), '""', b""),
        (pa.binary(2), '"\\u0041AE="', b"\x00\x01"),
        (pa.date32(), '"2024-02-29"', datetime.date(2024, 2, 29)),
        (pa.date32(), '"0001-01-01"', datetime.date(1, 1, 1)),
        (pa.time32("s"), '"23:59:59.9"', datetime.time(23, 59, 59)),
        (pa.time32("ms"), '"23:59"', datetime.time(23, 59)),
        (pa.time64("us"), '"01:02:03.000004999"', datetime.time(1, 2, 3, 4)),
        (
            pa.timestamp("us", "UTC"),
            '"2026-01-31T23:59:59.123456Z"',
            datetime.datetime(2026, 1, 31, 23, 59, 59, 123456, UTC),
        ),
        (pa.timestamp("ms", "UTC"), '"2026-01-31 23:59+02:30"', datetime.datetime(2026, 1, 31, 21, 29, tzinfo=UTC)),
        (
            pa.timestamp("s", "UTC"),
            '"1969-12-31T23:59:59.5-0000"',
            datetime.datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC),
        ),
        (
            pa.timestamp("us", "UTC"),
            '"1969-12-31t23:59:59.5z"',
            datetime.datetime(1969, 12, 31, 23, 59, 59, 500000, UTC),
        ),
        (pa.timestamp("us"), '"9999-12-31T23:59:59.999999"', datetime.datetime(9999, 12, 31, 23, 59, 59, 999999)),
        (lists(pa.int64()), "[1, null ,2]", [1, None, 2]),
        (lists(lists(pa.string())), '[[],["a"],null]', [[], ["a"], None]),
        (pa.map_(pa.string(), pa.int64()), '{"a":1,"\\u0062":null}', [("a", 1), ("b", None)]),
        (pa.map_(pa.string(), pa.int64()), "{ }", []),
        (lists(pa.null()), "[null,null]", [None, None]),
        (pa.struct([]), "{}", {}),
        (pa.struct([]), '{"a":{"b":[1,"]"]}}', {}),
        (pa.json_(), ' {"a" : [1e5]} ', '{"a" : [1e5]}'),
    ],
)
def test_values_of_each_type(type_: pa.DataType, text: str, value: Any) -> None:
    assert one(type_, text) == value


@pytest.mark.parametrize(
    ("type_", "text", "cause"),
    [
        (pa.bool_(), "1", "expected true or false, got 1, at byte 0"),
        (pa.bool_(), '"true"', 'expected true or false, got the string "true", at byte 0'),
        (pa.bool_(), "truth", "expected true or false, got truth, at byte 0"),
        (pa.int8(), "128", "expected a whole number from -128 to 127, got 128, at byte 0"),
        (pa.int8(), "-129", "expected a whole number from -128 to 127, got -129, at byte 0"),
        (pa.uint8(), "-1", "expected a whole number from 0 to 255, got -1, at byte 0"),
        (
            pa.uint64(),
            "18446744073709551616",
            "expected a whole number from 0 to 18446744073709551615, got 18446744073709551616",
        ),
        (pa.int32(), "2147483648", "expected a whole number of 32 bits, got 2147483648, at byte 0"),
        (pa.int64(), "9223372036854775808", "expected a whole number of 64 bits, got 9223372036854775808, at byte 0"),
        (pa.int64(), "-9223372036854775809", "expected a whole number of 64 bits, got -9223372036854775809, at byte 0"),
        (pa.int64(), " 1.5", "expected a whole number of 64 bits, got 1.5, at byte 1"),
        (pa.int64(), "1e-1", "expected a whole number of 64 bits, got 1e-1, at byte 0"),
        (pa.int64(), "1e400", "expected a whole number of 64 bits, got 1e400, at byte 0"),
        (
            pa.int64(),
            "1e99999999999999999999",
            "expected a whole number of 64 bits, got 1e99999999999999999999, at byte 0",
        ),
        (pa.int64(), '"1"', 'expected a whole number of 64 bits, got the string "1", at byte 0'),
        (pa.int64(), "012", "expected a number without leading zeros, at byte 0"),
        (pa.int64(), "-x", "expected a digit, got x, at byte 1"),
        (pa.int64(), "1.", "expected a digit behind the point, got the end of the value, at byte 2"),
        (pa.int64(), "1e+", "expected the digits of an exponent, got the end of the value, at byte 3"),
        (pa.int64(), "1 2", "expected the end of the value, got 2, at byte 2"),
        (pa.int64(), "", "expected a whole number of 64 bits, got the end of the value, at byte 0"),
        (pa.float64(), "1e400", "expected a number within the range of a double, got 1e400, at byte 0"),
        (pa.float64(), "NaN", "expected a number, got NaN, at byte 0"),
        (pa.float64(), "-Infinity", "expected a number, got -Infinity, at byte 0"),
        (pa.float64(), '"NaN"', 'expected a number, got the string "NaN", at byte 0'),
        (pa.float32(), "3.5e38", "expected a number within the range of a float, got 3.5e38, at byte 0"),
        (
            pa.decimal128(5, 2),
            "1.234",
            "expected a decimal of 5 digits, 2 of them behind the point, got 1.234, at byte 0",
        ),
        (
            pa.decimal128(5, 2),
            "1000",
            "expected a decimal of 5 digits, 2 of them behind the point, got 1000, at byte 0",
        ),
        (pa.decimal128(38, 0), "1" + "0" * 38, "expected a decimal of 38 digits, 0 of them behind the point, got 1000"),
        (pa.string(), "1", "expected a string, got 1, at byte 0"),
        (pa.string(), "{}", "expected a string, got an object, at byte 0"),
        (pa.string(), '"abc', "expected the closing quote of a string, got the end of the value, at byte 4"),
        (pa.string(), '"a\nb"', "expected a control character in a string to be escaped, got the byte 0x0a, at byte 2"),
        (pa.string(), '"a\\x"', 'expected one of "\\/bfnrtu behind a backslash, at byte 2'),
        (pa.string(), '"\\u12"', "expected four hexadecimal digits behind \\u, at byte 1"),
        (pa.string(), b'"\xff"', "expected a string in UTF-8, at byte 1"),
        (pa.string(), '"ab\\ud800"', "expected a string of characters, got half of a pair of surrogates, at byte 3"),
        (pa.string(), '"ab\ud800"', "expected a string of characters, got half of a pair of surrogates, at byte 1"),
        (pa.binary(), '"A"', 'expected a string in base64, got the string "A", at byte 0'),
        (pa.binary(), '"AA E="', 'expected a string in base64, got the string "AA E=", at byte 0'),
        (pa.binary(3), '"AAE="', 'expected 3 bytes in base64, got the string "AAE=", at byte 0'),
        (pa.date32(), '"2023-02-29"', 'expected a date such as 2026-01-31, got the string "2023-02-29", at byte 0'),
        (pa.date32(), '"2100-02-29"', "expected a date such as 2026-01-31, got"),
        (pa.date32(), '"2023-2-2"', "expected a date such as 2026-01-31, got"),
        (pa.date32(), "20230201", "expected a date such as 2026-01-31, got 20230201, at byte 0"),
        (pa.time32("s"), '"24:00:00"', "expected a time of day such as 23:59:59.999, got"),
        (pa.time32("s"), '"12:00:00Z"', "expected a time of day such as 23:59:59.999, got"),
        (
            pa.timestamp("us", "UTC"),
            '"2026-01-31T12:00:00"',
            "expected a timestamp such as 2026-01-31T23:59:59.999Z, got",
        ),
        (pa.timestamp("us"), '"2026-01-31T12:00:00Z"', "expected a timestamp without an offset, such as"),
        (pa.timestamp("us", "UTC"), '"2026-01-31T12:00:00+24:00"', "expected a timestamp such as"),
        (pa.timestamp("us", "UTC"), '"2026-01-31T12:00:60Z"', "expected a timestamp such as"),
        (pa.timestamp("us", "UTC"), '"2026-01-31T12:00:00.Z"', "expected a timestamp such as"),
        (
            pa.timestamp("us", "UTC"),
            "1700000000",
            "expected a timestamp such as 2026-01-31T23:59:59.999Z, got 1700000000",
        ),
        (pa.timestamp("ns", "UTC"), '"1677-01-01T00:00:00Z"', "expected a time between the years 1678 and 2262"),
        (lists(pa.int64()), "[1,]", "[1]: expected a whole number of 64 bits, got ']', at byte 3"),
        (lists(pa.int64()), "[1 2]", "expected a comma or ']', got 2, at byte 3"),
        (lists(pa.int64()), "{}", "expected an array, got an object, at byte 0"),
        (pa.map_(pa.string(), pa.int64()), '{"a":1,"a":2}', "expected each key of an object once, at byte 0"),
        (
            pa.map_(pa.string(), pa.int64()),
            '{"a":"x"}',
            "['a']: expected a whole number of 64 bits, got the string \"x\", at byte 5",
        ),
        (pa.map_(pa.string(), pa.int64()), "{1:1}", "expected a key in quotes, got 1, at byte 1"),
        (lists(pa.null()), "[1]", "[0]: expected null, got 1, at byte 1"),
        (
            lists(pa.field("item", pa.int64(), nullable=False)),
            "[null]",
            "[0]: expected a whole number of 64 bits, got null, at byte 1",
        ),
        (pa.struct([]), "null", "expected an object, got null, at byte 0"),
        (pa.json_(), '["\ud800"]', "expected strings of characters, got half of a pair of surrogates, at byte 0"),
        (pa.json_(), "[1,}", "expected a value, got '}', at byte 3"),
        (pa.struct([]), '{"a":[' + "[" * 2000, "expected at most 1000 nested arrays and objects, at byte 1005"),
    ],
)
def test_a_bad_value_is_reported_with_position_and_reason(type_: pa.DataType, text: str | bytes, cause: str) -> None:
    assert one(type_, text).startswith(cause)


ORDER = pa.schema(
    [
        pa.field("id", pa.int64(), nullable=False),
        pa.field(
            "items",
            pa.list_(pa.struct([pa.field("sku", pa.string(), nullable=False), pa.field("price", pa.float64())])),
        ),
        pa.field("tags", pa.map_(pa.string(), pa.string())),
    ]
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"id":1}', {"id": 1, "items": None, "tags": None}),
        ('{"tags":{},"id":1,"items":[]}', {"id": 1, "items": [], "tags": []}),
        ('{"\\u0069d":1,"Id":2}', {"id": 1, "items": None, "tags": None}),
        ('{"x":{"id":9},"id":1,"y":[{"id":"z"}]}', {"id": 1, "items": None, "tags": None}),
        ('{"\\ud800":1,"id":1}', {"id": 1, "items": None, "tags": None}),
        (
            '{"id":1,"items":[{"sku":"a","price":1},null]}',
            {"id": 1, "items": [{"sku": "a", "price": 1.0}, None], "tags": None},
        ),
        ("{}", "id: expected a whole number of 64 bits, but the field is missing, at byte 1"),
        ('{"id":null}', "id: expected a whole number of 64 bits, got null, at byte 6"),
        (
            '{"id":1,"items":[{"sku":"a"},{"price":2}]}',
            "items[1].sku: expected a string, but the field is missing, at byte 39",
        ),
        (
            '{"id":1,"items":[{"sku":"a","price":"2"}]}',
            'items[0].price: expected a number, got the string "2", at byte 36',
        ),
        ('{"id":1,"id":1}', "id: expected each key once, got this one again, at byte 13"),
        ('{"id":1}{"id":2}', "expected the end of the value, got an object, at byte 8"),
        ('{"id":1} x', "expected the end of the value, got x, at byte 9"),
        ('{"id":1,}', "expected a key in quotes, got '}', at byte 8"),
        ('{"id" 1}', "expected a colon, got 1, at byte 6"),
        ('{"id":1', "expected a comma or '}', got the end of the value, at byte 7"),
        ('["id"]', "expected an object, got an array, at byte 0"),
        ('{"id":1,"other":[1}}', "expected a comma or ']', got '}', at byte 18"),
    ],
)
def test_objects(text: str, value: Any) -> None:
    assert one(ORDER, text) == value


def test_keys_are_found_among_many_in_any_order() -> None:
    names = [f"n{number}" for number in range(60)] + ["", 'q"', "b\\", "t\t", "é", '1":1,"n1']
    schema = pa.schema([pa.field(name, pa.int64()) for name in names])
    for order in (names, names[::-1], names[30:] + names[:30]):
        document = {name: number for number, name in enumerate(order)}
        for ascii_only in (True, False):
            assert one(schema, json.dumps({"none": 0, **document}, ensure_ascii=ascii_only)) == document
    few = pa.schema([pa.field(name, pa.int64()) for name in names[-6:]])
    assert one(few, json.dumps(dict.fromkeys(names, 7))) == dict.fromkeys(names[-6:], 7)


def test_a_bad_row_does_not_affect_others() -> None:
    good = {"id": 1, "items": [{"sku": "a", "price": 1.5}], "tags": {"k": "v"}}
    bad = [
        '{"id":1,"items":[{"sku":"b","price":2},{"sku":1}]}',
        '{"tags":{"a":"b","c":1}}',
        "null",
        "[",
        '{"id":1,"id":2}',
    ]
    values: list[bytes | None] = [json.dumps(good).encode(), None]
    for text in bad:
        values += [text.encode(), json.dumps(good).encode()]
    column, failures = JsonColumnDecoder(ORDER).decode(pa.array(values, pa.binary()))
    column.validate(full=True)
    row = {**good, "tags": [("k", "v")]}
    assert column.to_pylist() == [row, None, *[None, row] * len(bad)]
    assert [each.row for each in failures] == [2, 4, 6, 8, 10]


def test_a_decoder_is_reusable_and_accepts_slices_and_large_batches() -> None:
    decoder = JsonColumnDecoder("a int, s string")
    values = pa.array([b'{"a":%d,"s":"%d"}' % (number, number) for number in range(3000)], pa.binary())
    for part in (values, values.slice(1000, 500), values.slice(3000), pa.array([], pa.binary())):
        column, bad = decoder.decode(part)
        column.validate(full=True)
        assert (bad, column.to_pylist()) == ([], [json.loads(each) for each in part.to_pylist()])


def test_framed_values_begin_with_a_schema_id() -> None:
    values = [b"\0\0\0\0\7" + b'{"a":1}', b'{"a":1}', b"\0\0\0\1\0" + b'{"a":"x"}', b"", b"\0\0\0\0"]
    column, bad = JsonColumnDecoder("a int").decode(pa.array(values, pa.binary()), framed=True)
    assert column.to_pylist() == [{"a": 1}, None, None, None, None]
    assert [(each.row, each.schema_id) for each in bad] == [(1, None), (2, 256), (3, None), (4, None)]
    assert bad[1].cause == 'a: expected a whole number of 32 bits, got the string "x", at byte 5'
    assert bad[2].cause == "expected a zero byte and a schema id of 4 bytes first, got no bytes"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be", "utf-32-le"])
def test_other_unicode_encodings_are_read(encoding: str) -> None:
    assert one("a int, s string", '{"a":1,"s":"é"}'.encode(encoding)) == {"a": 1, "s": "é"}
    assert one("a int", '{"a":"x"}'.encode(encoding)).startswith("a: expected a whole number of 32 bits")


@pytest.mark.parametrize(
    ("options", "schema", "text", "value"),
    [
        (
            {"unknown_fields": "error"},
            "a int",
            '{"a":1,"b\\u0061":2}',
            "the schema has no field 'b\\\\u0061', at byte 7",
        ),
        ({"unknown_fields": "error"}, "s struct<a: int>", '{"s":{"x":1}}', "s: the schema has no field 'x', at byte 6"),
        ({"unknown_fields": "error"}, "a int", '{"a":1}', {"a": 1}),
        (
            {"duplicate_keys": "last"},
            "a int, s struct<b: int>",
            '{"a":1,"s":{"b":1},"s":null,"a":2}',
            {"a": 2, "s": None},
        ),
        ({"duplicate_keys": "last"}, "a int not null, b int", '{"a":1,"a":2}', {"a": 2, "b": None}),
        (
            {"duplicate_keys": "last"},
            "m map<string, array<int>>",
            '{"m":{"a":[1,2],"b":[3],"a":[4]}}',
            {"m": [("b", [3]), ("a", [4])]},
        ),
        ({"duplicate_keys": "last"}, "a int", '{"a":"x","a":1}', "a: expected a whole number of 32 bits"),
        ({"null_document": "null"}, "a int not null", "null", None),
        (
            {"non_finite_numbers": "allow"},
            "array<double>",
            '[Infinity,-Infinity,"Infinity","-Infinity"]',
            [float("inf"), -float("inf")] * 2,
        ),
        ({"non_finite_numbers": "allow"}, "array<float>", '[Infinity,"-Infinity"]', [float("inf"), -float("inf")]),
        (
            {"non_finite_numbers": "allow"},
            "array<double>",
            "[1e999]",
            "[0]: expected a number within the range of a double",
        ),
        (
            {"non_finite_numbers": "allow"},
            "array<double>",
            '["NaN ]',
            "[0]: expected a number, got a string without an end",
        ),
        ({"non_finite_numbers": "allow"}, "array<double>", '["null"]', '[0]: expected a number, got the string "null"'),
        ({"non_finite_numbers": "allow"}, "array<bigint>", "[NaN]", "[0]: expected a whole number of 64 bits, got NaN"),
        (
            {"lone_surrogates": "replace"},
            "array<string>",
            '["a\\ud800b","\\udc00\\ud800","\ud900"]',
            ["a\ufffdb", "\ufffd\ufffd", "\ufffd"],
        ),
        ({"lone_surrogates": "replace"}, "map<string, int>", '{"\\ud800":1}', [("\ufffd", 1)]),
        ({"epoch_unit": "ms"}, "array<timestamp>", "[1500, -1, 1e3]", [1_500_000, -1_000, 1_000_000]),
        ({"epoch_unit": "ns"}, "array<timestamp>", "[1999, -1, -1000, -1001]", [1, -1, -1, -2]),
        ({"epoch_unit": "s"}, "array<timestamp_ntz>", "[1]", [1_000_000]),
        (
            {"epoch_unit": "s"},
            "array<timestamp>",
            "[9223372036855]",
            "[0]: expected a whole number of units since 1970",
        ),
        ({"epoch_unit": "s"}, "array<timestamp>", "[1.5]", "[0]: expected a whole number of units since 1970"),
        ({"epoch_unit": "s"}, "array<timestamp>", '["1970-01-01T00:00:01Z"]', [1_000_000]),
    ],
)
def test_choices(options: dict[str, Any], schema: str, text: str, value: Any) -> None:
    data = text.encode("utf-8", "surrogatepass")
    column, bad = JsonColumnDecoder(schema, DecodeOptions(**options)).decode(pa.array([data], pa.binary()))
    column.validate(full=True)
    if isinstance(value, str):
        assert bad[0].cause.startswith(value)
        return
    assert bad == []
    if "epoch_unit" in options:
        column = column.cast(pa.list_(pa.int64()))
    assert column.to_pylist() == [value]


def test_nan_is_accepted_if_allowed() -> None:
    values = one("array<double>", '[NaN,"NaN"]', non_finite_numbers="allow")
    assert [value != value for value in values] == [True, True]


def test_invalid_option_values_are_rejected() -> None:
    with pytest.raises(ValueError, match="duplicate_keys must be 'error' or 'last', got 'first'"):
        DecodeOptions(duplicate_keys="first")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        (pa.duration("s"), "JSON has no values of the type duration"),
        (pa.struct([pa.field("a", pa.list_(pa.month_day_nano_interval()))]), "At a[]: JSON has no values of the type"),
        (pa.struct([pa.field("a", pa.int8()), pa.field("a", pa.int8())]), "two fields have the name 'a'"),
        (pa.map_(pa.int64(), pa.int64()), "a map has keys of int64, but JSON's keys are strings"),
        (pa.decimal128(5, -2), "a decimal has from 0 to all 5 of its digits after the decimal point, got -2"),
        (pa.dictionary(pa.int8(), pa.string()), "JSON has no values of the type dictionary"),
    ],
)
def test_unsupported_types_are_rejected_when_planning(schema: Any, text: str) -> None:
    with pytest.raises(JsonSchemaError) as raised:
        JsonColumnDecoder(schema)
    assert text in str(raised.value)


def test_large_types_and_views() -> None:
    inner = pa.struct([pa.field("a", pa.large_string()), pa.field("b", pa.large_list(pa.string_view()))])
    schema = pa.schema([pa.field("s", inner), pa.field("v", pa.binary_view())])
    column, bad = JsonColumnDecoder(schema).decode(
        pa.array([b'{"s":{"a":"x","b":["y",null]},"v":"AA=="}'], pa.binary())
    )
    assert (column.type, bad) == (pa.struct(list(schema)), [])
    assert column.to_pylist() == [{"s": {"a": "x", "b": ["y", None]}, "v": b"\0"}]


@st.composite
def numbers(draw: Any, largest_exponent: int) -> str:
    """A number in one of JSON's forms."""
    text = draw(st.sampled_from(["", "-"])) + str(draw(st.one_of(st.integers(0, 20), st.integers(0, 10**26))))
    size = draw(st.integers(0, 25))
    if size:
        text += "." + str(draw(st.integers(0, 10**size - 1))).zfill(size) + "0" * draw(st.integers(0, 3))
    if draw(st.booleans()):
        exponent = draw(st.integers(-largest_exponent, largest_exponent))
        text += draw(st.sampled_from("eE")) + draw(st.sampled_from(["%d", "%+d", "%04d"])) % exponent
    return text


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(st.one_of(st.floats(allow_nan=False, allow_infinity=False).map(repr), numbers(320)))
@example("9007199254740993")
@example("9007199254740993.0000000000000000000000000000000000001")
@example("1e23")
@example("2.2250738585072011e-308")
@example("1.7976931348623158e308")
@example("0." + "0" * 300 + "1234567890123456789012345")
@example("8.5e-23")
def test_doubles_are_rounded_once(text: str) -> None:
    expected = float(text)
    found = one(pa.float64(), text)
    if expected in (float("inf"), -float("inf")):
        assert "range of a double" in found
    else:
        assert struct.pack("d", found) == struct.pack("d", expected)


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(numbers(40), st.integers(0, 30))
def test_whole_numbers_and_decimals_are_exact(text: str, scale: int) -> None:
    value = decimal.Context(prec=200).create_decimal(text)
    is_long = value == value.to_integral_value() and -(2**63) <= value < 2**63
    found = one(pa.int64(), text)
    assert found == int(value) if is_long else "whole number of 64 bits" in found
    scaled = value.scaleb(scale, decimal.Context(prec=200))
    fits = scaled == scaled.to_integral_value() and abs(scaled) < 10**38
    found = one(pa.decimal128(38, scale), text)
    assert found == value if fits else f"{scale} of them behind the point" in found


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(
    st.datetimes(datetime.datetime(1, 1, 2), datetime.datetime(9999, 12, 30)),
    st.one_of(st.none(), st.integers(-1439, 1439)),
    st.sampled_from(["T", " "]),
)
def test_timestamps_match_python(moment: datetime.datetime, minutes: int | None, between: str) -> None:
    if minutes is None:
        assert one(pa.timestamp("us"), json.dumps(moment.isoformat(between))) == moment
        return
    moment = moment.replace(tzinfo=datetime.timezone(datetime.timedelta(minutes=minutes)))
    column, bad = JsonColumnDecoder(pa.timestamp("us", "UTC")).decode(
        pa.array([json.dumps(moment.isoformat(between)).encode()], pa.binary())
    )
    expected = (moment - datetime.datetime(1970, 1, 1, tzinfo=UTC)) // datetime.timedelta(microseconds=1)
    assert (column.cast(pa.int64()).to_pylist(), bad) == ([expected], [])


@pytest.mark.parametrize("number", [-(2**63), -(2**63) + 1, -1, 0, 10**18, 2**63 - 1])
def test_the_first_and_last_nanosecond(number: int) -> None:
    seconds, nanos = divmod(number, 10**9)
    moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=seconds)
    column, bad = JsonColumnDecoder(pa.timestamp("ns")).decode(
        pa.array([f'"{moment.isoformat()}.{nanos:09d}"'.encode()], pa.binary())
    )
    assert (column.cast(pa.int64()).to_pylist(), bad) == ([number], [])
    for beyond in ("1677-09-21T00:12:43.145224191", "2262-04-11T23:47:16.854775808"):
        assert "for nanoseconds" in one(pa.timestamp("ns"), f'"{beyond}"')


@given(st.binary(max_size=40))
def test_base64(data: bytes) -> None:
    assert one(pa.binary(), json.dumps(base64.b64encode(data).decode())) == data


def test_random_columns_match_pythons_json() -> None:
    """Documents with missing, null and unknown fields in any order."""
    import random

    rng = random.Random(7)
    schema = "a bigint, b double, c string, d array<bigint>, e struct<f: boolean, g: map<string, bigint>>"
    documents = []
    for _ in range(500):
        fields: dict[str, Any] = {
            "a": rng.randrange(-(2**63), 2**63),
            "b": rng.choice([rng.random(), rng.random() * 1e300, float(rng.randrange(1000))]),
            "c": rng.choice(["", "x" * rng.randrange(40), '\n"é\\', "😀"]),
            "d": [rng.randrange(1000) for _ in range(rng.randrange(4))],
            "e": {"f": rng.random() < 0.5, "g": {str(number): number for number in range(rng.randrange(30))}},
            "zz": [{"a": [1, {"b": "]"}]}],
        }
        names = [name for name in fields if rng.random() < 0.8]
        rng.shuffle(names)
        documents.append({name: None if rng.random() < 0.1 else fields[name] for name in names})
    style = {"ensure_ascii": False}
    column, bad = JsonColumnDecoder(schema).decode(
        pa.array([json.dumps(each, **style).encode() for each in documents], pa.binary())
    )
    column.validate(full=True)
    assert bad == []
    for row, document in zip(column.to_pylist(), documents, strict=True):
        expected = {name: document.get(name) for name in "abcde"}
        if expected["e"] is not None:
            expected["e"] = {"f": expected["e"]["f"], "g": list(expected["e"]["g"].items())}
        assert row == expected
