"""Values of Kafka's own Java serializers, to columns and back."""

from __future__ import annotations

import struct
import sys
from typing import Any

import pyarrow as pa
import pytest

from kafka.formats.plain_columns import KINDS, PlainColumns

CODES = {"short": "h", "int": "i", "long": "q", "float": "f", "double": "d"}


@pytest.mark.parametrize("kind", CODES)
@pytest.mark.parametrize("with_nulls", [False, True])
def test_numbers_match_struct(kind: str, with_nulls: bool) -> None:
    numbers = [None if with_nulls and number % 7 == 3 else number - 100 for number in range(200)]
    packed = [None if each is None else struct.pack(f">{CODES[kind]}", each) for each in numbers]
    plain = PlainColumns(kind)
    for start in (0, 3, 13):
        column, bad = plain.decode(pa.array(packed, pa.binary()).slice(start, 150))
        column.validate(full=True)
        assert column.type == plain.type
        assert (column.to_pylist(), bad) == (numbers[start : start + 150], [])
        assert plain.encode(column).to_pylist() == packed[start : start + 150]
    assert plain.decode(pa.array([], pa.binary()))[0].to_pylist() == []


def test_bad_values_become_null_and_are_reported() -> None:
    values: list[bytes | None] = [b"\0\0\0\1", b"\0\0\1", None, b"", b"\0\0\0\0\2", b"\0\0\0\3"]
    column, bad = PlainColumns("int").decode(pa.array(values, pa.binary()))
    column.validate(full=True)
    assert column.to_pylist() == [1, None, None, None, None, 3]
    assert [(each.row, each.cause) for each in bad] == [
        (1, "expected the 4 bytes of a int, got 3"),
        (3, "expected the 4 bytes of a int, got 0"),
        (4, "expected the 4 bytes of a int, got 5"),
    ]


@pytest.mark.parametrize("wrong", [(), (0,), (999,), (5, 6, 7, 300), range(1_000)])
def test_invalid_utf_8_is_reported_in_order(wrong: Any) -> None:
    values = [b"\xc3\xa4\xff" if row in wrong else None if row % 5 == 4 else b"\xc3\xa4" for row in range(1_000)]
    column, bad = PlainColumns("string").decode(pa.array([b"x", *values], pa.binary()).slice(1))
    column.validate(full=True)
    assert column.to_pylist() == [None if row in wrong or row % 5 == 4 else "\u00e4" for row in range(1_000)]
    assert [(each.row, each.cause) for each in bad] == [(row, "byte 2 is not UTF-8") for row in wrong]


def test_nulls_and_bad_values_do_not_cause_a_call_per_row() -> None:
    numbers = pa.array([None, b"12", *(struct.pack(">q", number) for number in range(100_000))], pa.binary())
    texts = pa.array([None, b"\xff", *(b"text" for _ in range(100_000))], pa.binary())
    made = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal made
        made += 1

    sys.setprofile(count)
    try:
        found = [PlainColumns("long").decode(numbers), PlainColumns("string").decode(texts)]
    finally:
        sys.setprofile(None)
    assert [len(bad) for _, bad in found] == [1, 1]
    assert made < 5_000


CASES: dict[str, tuple[list[Any], list[bytes | None]]] = {
    "string": (["a", "", "é", None], [b"a", b"", "é".encode(), None]),
    "bytes": ([b"\0\xff", b"", None], [b"\0\xff", b"", None]),
    "short": ([-(2**15), None, 2**15 - 1], [struct.pack(">h", -(2**15)), None, struct.pack(">h", 2**15 - 1)]),
    "int": ([-(2**31), None, 258], [struct.pack(">i", -(2**31)), None, b"\0\0\1\2"]),
    "long": ([-(2**63), None, 258], [struct.pack(">q", -(2**63)), None, b"\0\0\0\0\0\0\1\2"]),
    "float": ([1.5, None, -0.25], [struct.pack(">f", 1.5), None, struct.pack(">f", -0.25)]),
    "double": ([1.1, None, float("inf")], [struct.pack(">d", 1.1), None, struct.pack(">d", float("inf"))]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_values_match_kafkas_serializers(kind: str) -> None:
    objects, values = CASES[kind]
    plain = PlainColumns(kind)
    for first in (0, 1):
        column = pa.array(objects, plain.type).slice(first)
        encoded = pa.array(values, pa.binary()).slice(first)
        assert plain.encode(column).to_pylist() == values[first:]
        decoded, bad = plain.decode(encoded)
        assert (decoded.type, decoded.to_pylist(), bad) == (plain.type, objects[first:], [])


def test_unknown_kinds_are_rejected() -> None:
    with pytest.raises(ValueError, match="Expected one of string, bytes, short, int, long, float, double, got 'word'"):
        PlainColumns("word")
