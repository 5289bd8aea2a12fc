"""Batches as a log sees them: headers, checksums, offsets, producer state."""

from __future__ import annotations

import dataclasses

import pytest

from kafka.errors import CorruptRecordException, UnsupportedForMessageFormatError
from kafka.record import (
    Compression,
    TimestampType,
    batch_headers,
    check_batch,
    decode_batches,
    set_offsets,
    set_producer_state,
)

from .samples import Sample, batch, kafka_batches, rows


@pytest.mark.parametrize("sample", kafka_batches(), ids=lambda sample: sample.name)
def test_headers_of_batches_of_apache_kafka(sample: Sample) -> None:
    headers = list(batch_headers(sample.data))
    offsets = [offset for offset, *_ in sample.records]
    assert sum(header.size for header in headers) == len(sample.data)
    assert headers[0].base_offset == offsets[0]
    assert headers[-1].last_offset == offsets[-1]
    assert sum(header.count for header in headers) == len(offsets)
    for header in headers:
        check_batch(sample.data, header)
        assert header.magic == sample.facts["magic"]
        assert header.codec == Compression[sample.facts["codec"].upper()]
        assert header.timestamp_type == TimestampType(sample.facts["timestamp_type"])
        assert (header.producer_id, header.base_sequence) == (
            sample.facts["producer_id"],
            sample.facts["base_sequence"],
        )
        assert header.is_control == sample.facts["control"]
        assert header.is_transactional == (sample.facts["transactional"] or header.is_control)
    assert max(header.max_timestamp for header in headers) == max(timestamp for _, timestamp, *_ in sample.records)


def test_a_truncated_batch_is_ignored() -> None:
    data = batch(b"a") + batch(b"b", base_offset=1)
    for cut in range(len(batch(b"a")), len(data)):
        assert [header.position for header in batch_headers(data[:cut])] == [0]


@pytest.mark.parametrize(("position", "value"), [(16, 3), (8, 0xFF), (11, 20), (0, 0x80), (23, 0x80), (57, 0x80)])
def test_impossible_headers_are_refused(position: int, value: int) -> None:
    data = bytearray(batch(b"a"))
    data[position] = value
    with pytest.raises(CorruptRecordException):
        list(batch_headers(data))


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_a_damaged_batch_fails_its_check(magic: int) -> None:
    data = bytearray(batch(b"some value", magic=magic))
    header = next(batch_headers(data))
    check_batch(data, header)
    data[-1] ^= 1
    with pytest.raises(CorruptRecordException, match="offsets 0 to 0"):
        check_batch(data, header)


@pytest.mark.parametrize(
    ("magic", "codec"),
    [(2, Compression.NONE), (2, Compression.ZSTD), (1, Compression.NONE), (1, Compression.GZIP), (0, Compression.NONE)],
)
@pytest.mark.parametrize("log_append_time", [None, 99])
def test_a_batch_gets_its_offsets(magic: int, codec: Compression, log_append_time: int | None) -> None:
    before = batch(b"before", magic=magic)
    data = bytearray(before + batch(b"a", b"b", b"c", magic=magic, compression=codec))
    at = 500
    for header in list(batch_headers(data))[1:]:
        set_offsets(data, header, at, 7, log_append_time)
        at += header.count
    assert data[: len(before)] == before
    headers = list(batch_headers(data))[1:]
    for header in headers:
        check_batch(data, header)
        assert header.leader_epoch == (7 if magic == 2 else -1)
    assert (headers[0].base_offset, headers[-1].last_offset) == (500, 502)
    read = decode_batches(data, start_offset=500).to_records()
    assert [(r.offset, r.value) for r in read] == [(500, b"a"), (501, b"b"), (502, b"c")]
    if magic and log_append_time:
        assert {(r.timestamp, r.timestamp_type) for r in read} == {(99, 1)}
    elif magic:
        assert [r.timestamp for r in read] == [1_700_000_000_000, 1_700_000_000_001, 1_700_000_000_002]


def test_offsets_inside_a_compressed_message_of_magic_0_cannot_be_set() -> None:
    data = bytearray(batch(b"a", b"b", magic=0, compression=Compression.GZIP))
    with pytest.raises(UnsupportedForMessageFormatError, match="rebuild it"):
        set_offsets(data, next(batch_headers(data)), 5, 0)


def test_a_batch_gets_another_producer() -> None:
    data = batch(b"a", b"b", compression=Compression.LZ4)
    changed = bytearray(data)
    set_producer_state(changed, 42, 3, 17)
    header = next(batch_headers(changed))
    check_batch(changed, header)
    assert (header.producer_id, header.producer_epoch, header.base_sequence, header.count) == (42, 3, 17, 2)
    assert rows(decode_batches(changed)) == rows(decode_batches(data))


def test_old_messages_have_no_producer() -> None:
    with pytest.raises(UnsupportedForMessageFormatError, match="magic 2"):
        set_producer_state(bytearray(batch(b"a", magic=1)), 1, 1, 1)


def test_a_header_is_not_changed() -> None:
    header = next(batch_headers(batch(b"a")))
    with pytest.raises(dataclasses.FrozenInstanceError):
        header.base_offset = 7  # type: ignore[misc]
    assert hash(header) == hash(next(batch_headers(batch(b"a"))))
