"""Parsing the output of Spark's `to_json` by the name of its type. The texts were written by Spark."""

from __future__ import annotations

import datetime
import decimal
import json
from typing import Any

import pyarrow as pa
import pytest

from kafka.spark.typed.encoding import RowEncodingError
from kafka.spark.typed.spark_json import SparkJson, _converted


def read(type_name: str, *texts: str | None) -> Any:
    return SparkJson(type_name).read(pa.array(texts, pa.string()))


def values(type_name: str, *written: Any) -> list[Any]:
    """Parse rows with one field from JSON values; return the values of the field."""
    texts = [json.dumps({"value": each}) for each in written]
    column = read(f"struct<value:{type_name}>", *texts).field(0)
    column.validate(full=True)
    found: list[Any] = column.to_pylist()
    return found


@pytest.mark.parametrize(
    ("type_name", "written", "expected"),
    [
        ("void", None, None),
        ("boolean", True, True),
        ("tinyint", -128, -128),
        ("bigint", 2**53 + 1, 2**53 + 1),
        ("float", 1.5, 1.5),
        ("double", "-Infinity", float("-inf")),
        ("decimal(20,18)", 0, decimal.Decimal("0E-18")),
        ("string", "a,b", "a,b"),
        ("string collate UTF8_LCASE", "a", "a"),
        ("varchar(3)", "abc", "abc"),
        ("char(3)", "abc", "abc"),
        ("binary", "AP8=", b"\x00\xff"),
        ("date", "0001-01-01", datetime.date(1, 1, 1)),
        ("timestamp", "2026-01-31T23:59:59.999999Z", datetime.datetime(2026, 1, 31, 23, 59, 59, 999999, datetime.UTC)),
        ("timestamp_ntz", "2026-01-31T23:59:59.000001", datetime.datetime(2026, 1, 31, 23, 59, 59, 1)),
        ("array<array<int>>", [None, [1, None]], [None, [1, None]]),
        ("map<string,array<bigint>>", {"a": [1], "b": None}, [("a", [1]), ("b", None)]),
        ("map<int,map<boolean,string>>", {"-7": {"true": "x"}}, [(-7, [(True, "x")])]),
        ("struct<a:int,b:struct<c:string>>", {"b": {}}, {"a": None, "b": {"c": None}}),
        ("struct<>", {}, {}),
    ],
)
def test_a_value_is_read_as_its_type(type_name: str, written: Any, expected: Any) -> None:
    assert values(type_name, written) == [expected]


@pytest.mark.parametrize(
    ("unit", "text", "microseconds"),
    [
        ("day to second", "INTERVAL '1 02:03:04.5' DAY TO SECOND", 93_784_500_000),
        ("hour to second", "INTERVAL '-26:03:04.000001' HOUR TO SECOND", -93_784_000_001),
        ("day", "INTERVAL '-1' DAY", -86_400_000_000),
        ("second", "INTERVAL '01.5' SECOND", 1_500_000),
        ("minute to second", "INTERVAL '61:02' MINUTE TO SECOND", 3_662_000_000),
        ("hour", "INTERVAL '03' HOUR", 10_800_000_000),
        ("day to minute", "INTERVAL '1 02:03' DAY TO MINUTE", 93_780_000_000),
        ("day to second", "INTERVAL '-0 00:00:00.5' DAY TO SECOND", -500_000),
        ("minute", "INTERVAL '-09' MINUTE", -540_000_000),
        ("day to hour", "INTERVAL '1 02' DAY TO HOUR", 93_600_000_000),
    ],
)
def test_an_interval_is_read_in_each_of_its_units(unit: str, text: str, microseconds: int) -> None:
    expected = datetime.timedelta(microseconds=microseconds)
    assert values(f"interval {unit}", text, None) == [expected, None]
    assert values(f"array<struct<a:interval {unit}>>", [{"a": text}, None, {}]) == [
        [{"a": expected}, None, {"a": None}]
    ]


def test_a_null_struct_is_not_a_struct_of_nulls() -> None:
    name = "struct<value:struct<took:interval day,counts:map<int,string>>>"
    column = read(name, "{}", '{"value":{}}', None, '{"value":{"counts":{"1":"a"}}}').field(0)
    empty = {"took": None, "counts": None}
    assert column.to_pylist()[:2] == [None, empty]
    assert column.to_pylist()[3] == {"took": None, "counts": [(1, "a")]}


@pytest.mark.parametrize("name", ["a:b", "a:int", "a b,c", "x>", "map<a", "`q`", "", "a:b c,d"])
def test_field_names_are_not_quoted_in_type_names(name: str) -> None:
    assert values(f"struct<{name}:int,other:array<string>>", {name: 7, "other": ["x"]}) == [{name: 7, "other": ["x"]}]


def test_an_ambiguous_field_name_is_rejected() -> None:
    with pytest.raises(RowEncodingError, match="a row cannot be converted from Spark"):
        values("struct<a:int,b:string>", {"a:int,b": "x"})


@pytest.mark.parametrize(
    "type_name", ["interval year", "interval", "variant", "map<double,int>", "map<struct<a:int>,int>", "map<date,int>"]
)
def test_a_type_that_cannot_be_read_back_is_named(type_name: str) -> None:
    with pytest.raises(RowEncodingError, match=f"the type .*{type_name}.* cannot be converted from Spark before 4.1"):
        values(type_name, None)


def test_a_map_with_unsupported_keys_is_named() -> None:
    with pytest.raises(RowEncodingError, match=r"the type map<date,array<int>> cannot be converted"):
        values("struct<m:map<date,array<int>>,n:int>", None)


def test_a_null_field_with_an_ambiguous_name_is_rejected() -> None:
    with pytest.raises(RowEncodingError, match=r"a row cannot be converted from Spark.*a:int,b"):
        values("struct<a:int,b:string>", {"a:int,b": None})


def test_a_key_that_does_not_fit_its_type_is_an_error_of_the_row() -> None:
    with pytest.raises(RowEncodingError, match="a row cannot be converted from Spark"):
        values("map<int,string>", {"seven": "x"})


def test_duplicate_field_names_are_reported() -> None:
    with pytest.raises(RowEncodingError, match=r"the type .*struct<a:int,a:int>.* cannot be converted.*: "):
        values("struct<a:int,a:int>", None)


@pytest.mark.parametrize(
    ("type_name", "text"), [("timestamp", "-0006-12-31T23:06:32.000000Z"), ("date", "+10000-01-01")]
)
def test_a_time_outside_the_years_1_to_9999_is_rejected(type_name: str, text: str) -> None:
    with pytest.raises(RowEncodingError, match=r"a row cannot be converted from Spark: value: expected a"):
        values(type_name, text)


def test_the_buffers_of_a_sliced_array_are_not_used() -> None:
    with pytest.raises(AssertionError, match="sliced"):
        _converted(pa.array([[1], [2]], pa.list_(pa.int64())).slice(1), pa.list_(pa.int32()))
