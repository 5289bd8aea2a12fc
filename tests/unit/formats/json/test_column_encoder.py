"""Columns as JSON values: the output matches Python's json, and is read back unchanged."""

from __future__ import annotations

import base64
import datetime
import decimal
import json
import math
import struct
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kafka.formats.json.codec_options import DecodeOptions, EncodeOptions
from kafka.formats.json.column_decoder import JsonColumnDecoder
from kafka.formats.json.column_encoder import JsonColumnEncoder, JsonEncodeError
from kafka.formats.json.errors import JsonSchemaError
from unit.formats.json.types import columns


def encoded(array: Any, **options: Any) -> list[str | None]:
    values = JsonColumnEncoder(array.type, EncodeOptions(**options)).encode(array)
    values.validate(full=True)
    return [None if each is None else each.decode() for each in values.to_pylist()]


def one(value: Any, type_: pa.DataType, **options: Any) -> str | None:
    return encoded(pa.array([value], type_), **options)[0]


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(columns(), st.sampled_from(["write", "omit"]))
def test_written_values_are_read_back(array: pa.Array, nulls: Any) -> None:
    values = JsonColumnEncoder(array.type, EncodeOptions(nulls=nulls)).encode(array)
    column, bad = JsonColumnDecoder(array.type).decode(values)
    column.validate(full=True)
    assert bad == []
    assert column.equals(array)


def as_json(value: Any, type_: pa.DataType) -> Any:
    """Convert a value to objects for Python's json."""
    if value is None:
        return None
    if pa.types.is_struct(type_):
        return {each.name: as_json(value[each.name], each.type) for each in type_}
    if pa.types.is_list(type_):
        return [as_json(each, type_.value_type) for each in value]
    if pa.types.is_map(type_):
        return {key: as_json(each, type_.item_type) for key, each in value}
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(columns())
def test_values_match_pythons_json(array: pa.Array) -> None:
    """For all types that it supports: not for times, decimals and 32-bit floats."""
    found = encoded(array)
    for text, value in zip(found, array.to_pylist(), strict=True):
        if value is None:
            assert text is None
            continue
        try:
            expected = json.dumps(as_json(value, array.type), separators=(",", ":"), ensure_ascii=False)
        except TypeError:
            json.loads(text or "")
            continue
        if "float" in str(array.type):
            assert json.loads(text or "") == json.loads(expected)
        else:
            assert text == expected


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(
    st.one_of(
        st.floats(allow_nan=False, allow_infinity=False),
        st.builds(lambda a, b: a / 10**b, st.integers(-(10**16), 10**16), st.integers(0, 12)),
    )
)
@example(0.0)
@example(-0.0)
@example(1e15)
@example(999999999999999.9)
@example(0.001)
@example(0.0009999)
@example(1e16)
@example(1e22)
@example(5e-324)
@example(123456.7890625)
def test_doubles_are_written_like_python(value: float) -> None:
    assert one(value, pa.float64()) == repr(value)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False, width=32))
@example(struct.unpack("f", struct.pack("f", 0.1))[0])
@example(16777216.0)
@example(struct.unpack("f", struct.pack("f", 3.4028235e38))[0])
def test_floats_have_the_fewest_digits_that_read_back(value: float) -> None:
    text = one(value, pa.float32())
    assert text is not None
    assert struct.pack("f", float(text)) == struct.pack("f", value)
    digits = text.partition("e")[0].lstrip("-").replace(".", "").strip("0")
    assert len(digits) <= 9
    shorter = f"{value:.{max(len(digits) - 2, 0)}e}"
    if value and math.isfinite(float(shorter)) and len(digits) > 1 and abs(float(shorter)) < 3.4e38:
        assert struct.pack("f", float(shorter)) != struct.pack("f", value)


@pytest.mark.parametrize(
    ("value", "type_", "text"),
    [
        (-(2**63), pa.int64(), "-9223372036854775808"),
        (2**64 - 1, pa.uint64(), "18446744073709551615"),
        (-128, pa.int8(), "-128"),
        (1.5, pa.float16(), "1.5"),
        (0.1, pa.float32(), "0.1"),
        (1e10, pa.float32(), "1e+10"),
        (decimal.Decimal("-0.05"), pa.decimal128(5, 2), "-0.05"),
        (decimal.Decimal(7), pa.decimal128(5, 0), "7"),
        (decimal.Decimal("1.2"), pa.decimal256(60, 3), "1.200"),
        ('a"\\/\b\f\n\r\t\x00\x1f\x7f\u2028é😀', pa.string(), '"a\\"\\\\/\\b\\f\\n\\r\\t\\u0000\\u001f\x7f\u2028é😀"'),
        (b"\0\1\xff", pa.binary(), '"AAH/"'),
        (b"ab", pa.binary(2), '"YWI="'),
        (datetime.date(1, 1, 1), pa.date32(), '"0001-01-01"'),
        (datetime.date(9999, 12, 31), pa.date32(), '"9999-12-31"'),
        (datetime.date(2000, 2, 29), pa.date64(), '"2000-02-29"'),
        (datetime.time(1, 2, 3), pa.time32("s"), '"01:02:03"'),
        (datetime.time(1, 2, 3, 4000), pa.time64("ns"), '"01:02:03.004"'),
        (datetime.time(1, 2, 3, 4), pa.time64("us"), '"01:02:03.000004"'),
        (datetime.datetime(1969, 12, 31, 23, 59, 59, 999000), pa.timestamp("ms"), '"1969-12-31T23:59:59.999"'),
        (-1, pa.timestamp("ns", "America/New_York"), '"1969-12-31T23:59:59.999999999Z"'),
        (0, pa.timestamp("s", "UTC"), '"1970-01-01T00:00:00Z"'),
        ([1, None], pa.list_(pa.int8(), 2), "[1,null]"),
        ({"a": "x"}, pa.struct([("a", pa.dictionary(pa.int8(), pa.string()))]), '{"a":"x"}'),
        (["x"], pa.large_list(pa.string_view()), '["x"]'),
        ({"é\n": None}, pa.struct([("é\n", pa.null())]), '{"é\\n":null}'),
        ({}, pa.struct([]), "{}"),
        ([("k\n", 1)], pa.map_(pa.string(), pa.int8()), '{"k\\n":1}'),
    ],
)
def test_forms(value: Any, type_: pa.DataType, text: str) -> None:
    assert one(value, type_) == text


def test_json_text_is_written_unchanged() -> None:
    texts = pa.array([' {"a": [1e5]} ', None, "1"], pa.string())
    array = pa.ExtensionArray.from_storage(pa.json_(), texts)
    assert encoded(array) == [' {"a": [1e5]} ', None, "1"]
    struct_array = pa.StructArray.from_arrays([array], names=["j"])
    assert encoded(struct_array) == ['{"j": {"a": [1e5]} }', '{"j":null}', '{"j":1}']
    for text, cause in (
        ("[1,]", "expected a value, got ']', at byte 3"),
        ("1 2", "expected the end of the value, got 2, at byte 2"),
        ("", "expected a value"),
    ):
        broken = pa.ExtensionArray.from_storage(pa.json_(), pa.array(["1", text], pa.string()))
        with pytest.raises(JsonEncodeError) as raised:
            encoded(broken)
        assert str(raised.value).startswith(f"Row 1 cannot be written as JSON: the text is not JSON: {cause}")


def test_nulls_are_written_or_omitted() -> None:
    array = pa.array([{"a": None, "b": {"c": None}}, {"a": 1, "b": None}, None])
    assert encoded(array) == ['{"a":null,"b":{"c":null}}', '{"a":1,"b":null}', None]
    assert encoded(array, nulls="omit") == ['{"b":{}}', '{"a":1}', None]
    assert encoded(pa.array([[None, 1]]), nulls="omit") == ["[null,1]"]


@pytest.mark.parametrize("type_", [pa.float64(), pa.float32()])
def test_unrepresentable_numbers(type_: pa.DataType) -> None:
    values = [float("nan"), float("inf"), -float("inf"), 1.5]
    array = pa.array([[each] for each in values], pa.list_(type_))
    with pytest.raises(
        JsonEncodeError, match=r"Row 0 cannot be written as JSON: \[0\]: JSON has no number NaN"
    ) as raised:
        encoded(array)
    assert (raised.value.row, raised.value.cause) == (0, "[0]: JSON has no number NaN")
    assert encoded(array, non_finite_numbers="null") == ["[null]", "[null]", "[null]", "[1.5]"]
    assert encoded(array, non_finite_numbers="allow") == ["[NaN]", "[Infinity]", "[-Infinity]", "[1.5]"]
    column, bad = JsonColumnDecoder(array.type, DecodeOptions(non_finite_numbers="allow")).decode(
        JsonColumnEncoder(array.type, EncodeOptions(non_finite_numbers="allow")).encode(array)
    )
    assert bad == []
    assert [repr(each) for each in column.to_pylist()] == [repr(each) for each in array.to_pylist()]


@pytest.mark.parametrize(
    ("array", "error"),
    [
        (
            pa.array([{"a": [{"b": 1.0}, {"b": float("nan")}]}]),
            "Row 0 cannot be written as JSON: a[1].b: JSON has no number NaN",
        ),
        (
            pa.array([None, 2932897], pa.date32()),
            "Row 1 cannot be written as JSON: expected a date between the years 1 and 9999, got 2932897 days",
        ),
        (
            pa.array([-719163], pa.date32()),
            "Row 0 cannot be written as JSON: expected a date between the years 1 and 9999",
        ),
        (
            pa.array([2**62], pa.timestamp("s")),
            "Row 0 cannot be written as JSON: expected a date between the years 1 and 9999",
        ),
        (
            pa.array([-(2**63)], pa.timestamp("us")),
            "Row 0 cannot be written as JSON: expected a date between the years 1 and 9999",
        ),
        (
            pa.array([[("k", float("nan"))]], pa.map_(pa.string(), pa.float64())),
            "Row 0 cannot be written as JSON: {0}: JSON has no number NaN",
        ),
    ],
)
def test_a_row_that_cannot_be_written_is_named(array: pa.Array, error: str) -> None:
    encoder = JsonColumnEncoder(array.type)
    with pytest.raises(JsonEncodeError) as raised:
        encoder.encode(array)
    assert str(raised.value).startswith(error)


@pytest.mark.parametrize(
    ("type_", "error"),
    [
        (pa.struct([("a", pa.duration("s"))]), "At a: JSON has no values of the type duration"),
        (pa.map_(pa.int64(), pa.int64()), "a map has keys of int64"),
        (pa.struct([pa.field("a", pa.int8()), pa.field("a", pa.int8())]), "two fields have the name 'a'"),
        (pa.list_(pa.decimal128(5, -2)), "At []: decimals with a negative scale are not supported"),
    ],
)
def test_unsupported_types_are_rejected_when_planning(type_: pa.DataType, error: str) -> None:
    with pytest.raises(JsonSchemaError) as raised:
        JsonColumnEncoder(type_)
    assert str(raised.value).startswith(error)


def test_record_batches_and_nullable_columns() -> None:
    batch = pa.record_batch({"a": [1, 2], "b": ["x", None]}).slice(1)
    required = pa.schema([pa.field("a", pa.int64(), nullable=False), pa.field("b", pa.string())])
    for schema in ("a bigint, b string", required, batch.schema):
        assert JsonColumnEncoder(schema).encode(batch).to_pylist() == [b'{"a":2,"b":null}']
        assert JsonColumnEncoder(schema).encode(batch.cast(required)).to_pylist() == [b'{"a":2,"b":null}']
    with pytest.raises(
        ValueError, match="Expected rows of the type struct<a: int32, b: string>, got struct<a: int64, b: string>"
    ):
        JsonColumnEncoder("a int, b string").encode(batch)


def test_invalid_arrays_are_rejected() -> None:
    ends = pa.py_buffer(struct.pack("iii", 0, 1000, 2))
    broken = pa.Array.from_buffers(pa.string(), 2, [None, ends, pa.py_buffer(b"ab")])
    with pytest.raises(ValueError, match="offset"):
        JsonColumnEncoder(pa.string()).encode(broken)


def test_an_encoder_is_reusable_after_an_error() -> None:
    encoder = JsonColumnEncoder("array<double>")
    with pytest.raises(JsonEncodeError):
        encoder.encode(pa.array([[1.0], [float("nan")]]))
    assert encoder.encode(pa.array([[2.5]])).to_pylist() == [b"[2.5]"]
    many = pa.array([[float(number)] for number in range(5000)])
    assert encoder.encode(many).to_pylist() == [b"[%d.0]" % number for number in range(5000)]
