"""Each length and number of a record at its bounds, in batches that are written byte by byte."""

from __future__ import annotations

import pytest

from kafka.errors import CorruptRecordException
from kafka.record import BatchBuilder, decode_batches
from kafka.record.integers import put_varint, varint_size
from kafka.record.layout import HEADER, MAX_OFFSET

from .samples import Record, rows

LENGTH = "a length points outside the batch"
VARINT = "a variable-length number is too long or cut off"
DELTA = "an offset or a timestamp is out of range"
HEADERS = "a header's key is null"
SIZE = "the records do not fill their batch exactly"


def number(value: int) -> bytes:
    """A number of variable length."""
    out = bytearray(varint_size(value))
    put_varint(memoryview(out), 0, value)
    return bytes(out)


def record(*numbers: int | bytes, headers: bytes = b"", count: int = 0) -> bytes:
    """A record without its length: attributes, then these numbers and bytes, then its headers."""
    fields = (each if isinstance(each, bytes) else number(each) for each in numbers)
    return b"\0" + b"".join(fields) + number(count) + headers


def small(offset: int = 0, timestamp: int = 0) -> bytes:
    """A record without key, value and headers."""
    return record(timestamp, offset, -1, -1)


LONG = record(0, 1, -1, 30, b"v" * 30)
"""A record that is long enough for some others, which make the batch seem too small for their number."""


def batch_of(*records: bytes, after: bytes = b"", base_timestamp: int = 1000, last_delta: int | None = None) -> bytes:
    """A batch of such records, each with its length before it; the checksum is wrong."""
    body = b"".join(number(len(each)) + each for each in records) + after
    last = len(records) - 1 if last_delta is None else last_delta
    fields = (40, 49 + len(body), 0, 2, 0, 0, last, base_timestamp, base_timestamp, -1, -1, -1, len(records))
    return HEADER.pack(*fields) + body


def read(data: bytes, **options: int) -> list[Record]:
    return rows(decode_batches(data, check_crcs=False, **options))


def refused(data: bytes, reason: str) -> None:
    with pytest.raises(CorruptRecordException, match=reason):
        read(data)


def test_the_test_encoder_equals_the_builder() -> None:
    builder = BatchBuilder()
    builder.append(1000, b"k", b"v", [("h", b"x"), ("n", None)])
    data = batch_of(record(0, 0, 1, b"k", 1, b"v", headers=b"\x02h\x02x\x02n\x01", count=2))
    assert builder.build()[61:] == data[61:]
    assert read(data) == [(40, 1000, b"k", b"v", [("h", b"x"), ("n", None)])]


def test_empty_keys_and_values_are_not_null() -> None:
    data = batch_of(record(0, 0, 0, 0), record(0, 1, -1, -1), record(0, 2, 1, b"k", -1), record(0, 3, -1, 1, b"v"))
    assert [row[2:4] for row in read(data)] == [(b"", b""), (None, None), (b"k", None), (None, b"v")]


def test_the_smallest_headers_are_valid() -> None:
    data = batch_of(
        record(0, 0, -1, -1, headers=b"\x00\x01", count=1),
        record(0, 1, -1, -1, headers=b"\x00\x00" + b"\x02k\x01" + b"\x00\x02v", count=3),
        small(2),
    )
    assert [row[4] for row in read(data)] == [[("", None)], [("", b""), ("k", None), ("", b"v")], []]


@pytest.mark.parametrize(
    ("headers", "count"),
    [
        pytest.param(b"\x00\x01", 2, id="more than there are bytes for"),
        pytest.param(b"\x00\x01\x00", 1, id="a byte is left"),
        pytest.param(b"", -1, id="less than none"),
        pytest.param(b"\x00\x01", 0, id="some that are not counted"),
        pytest.param(b"\x01\x02k\x01", 2, id="a null key"),
        pytest.param(b"\x03\x00\x00\x01", 2, id="a key of less than no bytes"),
        pytest.param(b"\x00\x03", 1, id="a value of less than null"),
        pytest.param(b"\x80\x80", 1, id="a key's length that is cut off"),
        pytest.param(b"\x00\x80", 1, id="a value's length that is cut off"),
        pytest.param(b"\x04k", 1, id="a key that is cut off"),
        pytest.param(b"\x04kk", 1, id="a key without a value"),
        pytest.param(b"\x02k\x04v", 1, id="a value that is cut off"),
        pytest.param(b"\x50kkkk", 1, id="a key that is longer than the rest"),
        pytest.param(b"\x00\x50vvvv", 1, id="a value that is longer than the rest"),
    ],
)
def test_impossible_headers_are_refused(headers: bytes, count: int) -> None:
    refused(batch_of(record(0, 0, -1, -1, headers=headers, count=count), small(1), small(2)), HEADERS)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        pytest.param(batch_of(small(), record(0, 1, -2, -1)), LENGTH, id="a key of less than null"),
        pytest.param(batch_of(small(), record(0, 1, -1, -2)), LENGTH, id="a value of less than null"),
        pytest.param(batch_of(record(0, 0, 4, b"k"), small(1)), LENGTH, id="a key that is cut off"),
        pytest.param(batch_of(record(0, 0, -1, 3, b"v"), small(1)), LENGTH, id="a value that is cut off"),
        pytest.param(batch_of(record(0, 0, 2, b"k"), small(1)), LENGTH, id="a key, and no value"),
        pytest.param(batch_of(b"\0\0\0\x80", LONG), LENGTH, id="a key's length that is cut off"),
        pytest.param(batch_of(b"\0\0\0\x01\x80", LONG), LENGTH, id="a value's length that is cut off"),
        pytest.param(batch_of(b"\0\0\0\x01\x01\x80", small(1)), HEADERS, id="a number of headers that is cut off"),
        pytest.param(batch_of(b"\0\x80", LONG), VARINT, id="a timestamp that is cut off"),
        pytest.param(batch_of(b"\0\0\x80", LONG), VARINT, id="an offset that is cut off"),
        pytest.param(batch_of(b"\0", LONG), VARINT, id="attributes alone"),
        pytest.param(batch_of(small(), b"", LONG), LENGTH, id="nothing at all"),
        pytest.param(batch_of(small(0), small(-1)), DELTA, id="an offset before the first"),
        pytest.param(batch_of(small(0), small(2)), DELTA, id="an offset behind the last"),
        pytest.param(batch_of(small(0, MAX_OFFSET + 1)), DELTA, id="a timestamp too late"),
        pytest.param(batch_of(small(0, -MAX_OFFSET - 1)), DELTA, id="a timestamp too early"),
        pytest.param(batch_of(small(), after=b"\0"), SIZE, id="a byte behind the last record"),
    ],
)
def test_impossible_records_are_refused(data: bytes, reason: str) -> None:
    refused(data, reason)


def test_a_record_that_is_longer_than_the_batch_is_refused() -> None:
    data = bytearray(batch_of(small(0), small(1)))
    assert data[-7] == 2 * 6
    for length in (7, 60, -1):
        data[-7:-6] = number(length)
        refused(bytes(data), LENGTH)
    data[-7:-6] = number(6)
    assert len(read(bytes(data))) == 2


def test_the_largest_offset_and_timestamp_are_accepted() -> None:
    data = batch_of(small(0, MAX_OFFSET), small(1, -MAX_OFFSET), small(7, 5), base_timestamp=0, last_delta=7)
    assert [row[:2] for row in read(data)] == [(40, MAX_OFFSET), (41, -MAX_OFFSET), (47, 5)]


@pytest.mark.parametrize(
    ("start", "stop", "expected"),
    [
        (0, 100, [40, 41, 42, 43]),
        (40, 44, [40, 41, 42, 43]),
        (41, 44, [41, 42, 43]),
        (40, 43, [40, 41, 42]),
        (41, 42, [41]),
        (43, 44, [43]),
    ],
)
def test_records_from_start_to_stop_offset_are_kept(start: int, stop: int, expected: list[int]) -> None:
    data = batch_of(
        small(0),
        record(0, 1, 1, b"k", -1),
        record(0, 2, -1, 1, b"v", headers=b"\x02h\x01", count=1),
        small(3),
    )
    assert [row[0] for row in read(data, start_offset=start, stop_offset=stop)] == expected
