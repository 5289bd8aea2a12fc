"""What a broker asks of the records of a produced batch."""

from __future__ import annotations

import pytest

from kafka.errors import InvalidRecordError
from kafka.record import BatchBuilder, BatchContents, Compression, batch_headers, decode_batches, validate_batch

from .samples import Sample, batch, control_batch, kafka_batches, with_attributes


def contents(data: bytes, **options: int) -> BatchContents:
    """What the one batch of some bytes has, or an error."""
    (header,) = batch_headers(data)
    return validate_batch(data, header, **options)


def changed(data: bytes, at: int, value: int) -> bytes:
    """The batch with another byte, and the right checksum."""
    edited = bytearray(data)
    edited[at] = value
    return with_attributes(bytes(edited), int.from_bytes(edited[21:23], "big"))


@pytest.mark.parametrize("sample", [s for s in kafka_batches() if s.facts["magic"] == 2], ids=lambda s: s.name)
def test_batches_of_apache_kafka_are_valid(sample: Sample) -> None:
    for header in batch_headers(sample.data):
        if header.is_control or header.count != header.last_offset - header.base_offset + 1:
            continue
        found = validate_batch(sample.data, header)
        columns = decode_batches(sample.data[header.position : header.position + header.size])
        assert found.count == len(columns) == header.count
        assert found.max_timestamp == max(columns.timestamps)
        assert found.has_null_keys == any(columns.key(row) is None for row in range(len(columns)))


@pytest.mark.parametrize("codec", list(Compression))
def test_actual_contents_are_returned_despite_the_header(codec: Compression) -> None:
    builder = BatchBuilder(2, codec)
    for timestamp in (2_000, 5_000, 3_000):
        builder.append(timestamp, b"key", b"value", [("name", None)])
    data = bytearray(builder.build(base_offset=7))
    data[35:43] = (9_000).to_bytes(8, "big")
    assert next(batch_headers(data)).max_timestamp == 9_000
    assert contents(bytes(data)) == BatchContents(3, 5_000, False)


def test_a_null_key_is_reported() -> None:
    assert contents(batch(b"a", b"b")).has_null_keys


def test_a_batch_that_is_cut_off_is_refused() -> None:
    data = batch(b"a", b"b")
    (header,) = batch_headers(data)
    with pytest.raises(InvalidRecordError, match="Expected 2 records in the batch, got 0"):
        validate_batch(data[:-1], header)


PLAIN = batch(b"a", b"b", base_offset=5)
FIRST = 61
"""Where the first record begins: length, attributes, timestamp delta, offset delta, key size, value size, value."""


@pytest.mark.parametrize(
    ("at", "value", "says"),
    [
        (FIRST, 0x7F, "a length points outside the batch"),
        (FIRST, 14 + 2, "an offset or a timestamp|length|number|fill"),
        (FIRST + 3, 2, "Expected the offset 5 for record 0 of the batch, got 6"),
        (FIRST + 3, 1, "an offset or a timestamp is out of range"),
        (FIRST + 4, 0x40, "a length points outside the batch"),
        (FIRST + 7, 2, "the number of headers is not possible"),
        (60, 1, "as many records as offsets"),
        (60, 3, "as many records as offsets"),
        (26, 2, "as many records as offsets"),
        (26, 0, "as many records as offsets"),
    ],
)
def test_records_inconsistent_with_their_batch_are_refused(at: int, value: int, says: str) -> None:
    with pytest.raises(InvalidRecordError, match=says):
        contents(changed(PLAIN, at, value))


def test_fewer_and_more_records_than_the_header_says_are_refused() -> None:
    for count in (1, 3):
        data = bytearray(changed(PLAIN, 60, count))
        data[26] = count - 1
        with pytest.raises(InvalidRecordError, match="cannot be read"):
            contents(bytes(data))


def test_a_header_without_a_key_is_refused() -> None:
    builder = BatchBuilder()
    builder.append(1, None, b"v", [("k", b"h")])
    data = builder.build()
    at = data.rindex(b"\x02k")
    with pytest.raises(InvalidRecordError, match="a header's key is null"):
        contents(data[:at] + b"\x01\x02" + data[at + 2 :])


@pytest.mark.parametrize("codec", [codec for codec in Compression if codec])
def test_damaged_or_oversized_compressed_records_are_refused(codec: Compression) -> None:
    data = bytearray(batch(b"a" * 10_000, compression=codec))
    with pytest.raises(InvalidRecordError):
        contents(bytes(data), max_decompressed_size=5_000)
    data[61:] = bytes(len(data) - 61)
    with pytest.raises(InvalidRecordError):
        contents(bytes(data))


def test_control_batches_and_old_formats_are_refused() -> None:
    for data in (control_batch(0, 7, commit=True), batch(b"a", magic=1)):
        with pytest.raises(InvalidRecordError):
            contents(data)
