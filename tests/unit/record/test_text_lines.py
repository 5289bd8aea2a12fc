"""Columns to lines, compiled and plain alike."""

import pytest

from kafka.record import BatchBuilder, Columns, decode_batches
from kafka.record.text_lines import lines

VALUES = [(b"k", b"value"), (None, b""), (b"", None), (None, None), (b"key", b"v" * 300)]


@pytest.fixture
def columns() -> Columns:
    """Records with and without keys and values."""
    builder = BatchBuilder()
    for key, value in VALUES:
        builder.append(0, key, value, [])
    return decode_batches(builder.build())


@pytest.mark.parametrize(("first", "stop"), [(0, 5), (1, 4), (4, 5), (2, 2)])
def test_values_with_a_delimiter(columns: Columns, first: int, stop: int) -> None:
    expected = b"".join((b"NULL" if value is None else value) + b"\r\n" for _, value in VALUES[first:stop])
    assert lines(columns.buffers[0], first, stop, b"\r\n", None, b"NULL") == expected
    assert lines(*columns.slice(first, stop).buffers, b"\r\n", None, b"NULL") == expected


@pytest.mark.parametrize("null", [b"", b"-"])
def test_keys_and_values_with_a_separator(columns: Columns, null: bytes) -> None:
    expected = b"".join(
        (null if key is None else key) + b"::" + (null if value is None else value) + b"\n" for key, value in VALUES
    )
    assert lines(*columns.buffers, b"\n", b"::", null) == expected


def test_no_records_give_no_lines() -> None:
    assert lines(*decode_batches(b"").buffers, b"\n", b"=", b"") == b""


@pytest.mark.parametrize(("first", "stop"), [(-1, 2), (0, 6), (3, 2), (6, 6)])
def test_missing_rows_are_refused(columns: Columns, first: int, stop: int) -> None:
    with pytest.raises(IndexError, match="Expected rows from 0 to 5"):
        lines(columns.buffers[0], first, stop, b"\n", None, b"")
