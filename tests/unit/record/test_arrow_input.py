"""Columns of Arrow as the encoder sees them, slices included."""

from __future__ import annotations

import pyarrow as pa
import pytest

from kafka.record.arrow_rows import byte_parts, int32_view, int64_view


@pytest.mark.parametrize(("start", "length"), [(0, 5), (2, 3), (1, 1), (5, 0)])
def test_numbers_of_a_slice_are_those_of_its_rows(start: int, length: int) -> None:
    numbers = [5, -1, 1 << 40, 7, -(1 << 62)]
    assert int64_view(pa.array(numbers, pa.int64()).slice(start, length)).tolist() == numbers[start : start + length]


def test_row_numbers_come_from_a_view_or_a_sequence() -> None:
    given = memoryview(bytearray(8)).cast("i")
    assert int32_view(given) is given
    assert int32_view([3, 1, 2]).tolist() == [3, 1, 2]
    assert int32_view(memoryview(b"\x05\x06")).tolist() == [5, 6]


@pytest.mark.parametrize(("start", "length"), [(0, 4), (1, 2), (3, 1), (4, 0)])
def test_the_bytes_of_a_slice_are_between_its_ends(start: int, length: int) -> None:
    values = [b"one", b"", b"three", b"4"]
    ends, data, valid, first = byte_parts(pa.array(values, pa.large_binary()).slice(start, length))
    assert valid is None
    assert first == start
    assert len(ends) == length + 1
    found = [bytes(data[ends[i] : ends[i + 1]]) for i in range(length)]
    assert found == values[start : start + length]


def test_a_slice_with_nulls_has_their_bits_and_one_without_has_none() -> None:
    column = pa.array([None, b"b", b"c"], pa.large_binary())
    _, _, valid, first = byte_parts(column)
    assert valid is not None
    assert (valid[0] & 0b111, first) == (0b110, 0)
    assert byte_parts(column.slice(1))[2] is None


def test_a_column_of_no_rows_has_one_end() -> None:
    ends, data, valid, _ = byte_parts(pa.array([], pa.large_binary()))
    assert (list(ends), len(data), valid) == ([0], 0, None)
