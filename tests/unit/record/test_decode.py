"""Decoding: what Apache Kafka wrote, filtering, positions, damage."""

from __future__ import annotations

import pytest

from kafka.errors import CorruptRecordException, UnsupportedCompressionTypeError
from kafka.record import TimestampType, batch_headers, decode_batches

from .samples import Sample, batch, control_batch, kafka_batches, rows, with_attributes


@pytest.mark.parametrize("sample", kafka_batches(), ids=lambda sample: sample.name)
def test_batches_of_apache_kafka_decode_to_their_records(sample: Sample) -> None:
    columns = decode_batches(sample.data)
    assert rows(columns) == ([] if sample.facts["control"] else sample.records)
    assert columns.next_offset == sample.records[-1][0] + 1
    assert columns.bytes_consumed == len(sample.data)
    assert {columns.timestamp_type(i) for i in range(len(columns))} <= {TimestampType(sample.facts["timestamp_type"])}


def test_all_samples_are_there() -> None:
    assert len(kafka_batches()) == 74


def test_batches_of_all_formats_one_after_the_other() -> None:
    samples = [sample for sample in kafka_batches() if not sample.facts["control"]]
    columns = decode_batches(b"".join(sample.data for sample in samples))
    assert rows(columns) == [record for sample in samples for record in sample.records]


def test_a_batch_that_is_cut_off_is_left_out() -> None:
    first, second = batch(b"a", b"b"), batch(b"c", base_offset=2)
    for cut in range(len(second)):
        columns = decode_batches(first + second[:cut])
        assert len(columns) == 2
        assert (columns.next_offset, columns.bytes_consumed) == (2, len(first))


def test_no_bytes_are_no_records() -> None:
    columns = decode_batches(b"", start_offset=7)
    assert (len(columns), columns.next_offset, columns.bytes_consumed, columns.to_records()) == (0, 7, 0, [])


def test_any_buffer_can_be_decoded() -> None:
    data = batch(b"a")
    for buffer in (data, bytearray(data), memoryview(data), memoryview(bytearray(b"x" + data))[1:]):
        assert [r.value for r in decode_batches(buffer).to_records()] == [b"a"]


def test_records_outside_the_offsets_asked_for_are_left_out() -> None:
    data = batch(b"0", b"1", b"2") + batch(b"3", b"4", base_offset=3) + batch(b"5", base_offset=5)
    columns = decode_batches(data, start_offset=1, stop_offset=4)
    assert [r.offset for r in columns.to_records()] == [1, 2, 3]
    assert columns.next_offset == 4
    later = decode_batches(data, start_offset=4)
    assert [r.value for r in later.to_records()] == [b"4", b"5"]
    assert decode_batches(data, start_offset=9).next_offset == 9


def test_nothing_behind_the_stop_offset_is_read() -> None:
    first = batch(b"0", b"1")
    columns = decode_batches(first + b"\xff" * 80, stop_offset=2)
    assert (columns.next_offset, columns.bytes_consumed) == (2, len(first))


@pytest.mark.parametrize("magic", [0, 1])
def test_offsets_asked_for_apply_to_old_formats(magic: int) -> None:
    data = batch(b"0", b"1", b"2", b"3", magic=magic)
    columns = decode_batches(data, start_offset=1, stop_offset=3)
    assert [(r.offset, r.value) for r in columns.to_records()] == [(1, b"1"), (2, b"2")]
    assert columns.next_offset == 3


def test_control_batches_move_the_position_only() -> None:
    columns = decode_batches(batch(b"a", producer_id=7, transactional=True) + control_batch(1, 7, commit=True))
    assert [r.value for r in columns.to_records()] == [b"a"]
    assert columns.next_offset == 2


def test_read_committed_leaves_out_aborted_transactions() -> None:
    data = (
        batch(b"aborted", base_offset=0, producer_id=7, transactional=True)
        + batch(b"other producer", base_offset=1, producer_id=8, transactional=True)
        + batch(b"no transaction", base_offset=2, producer_id=7)
        + control_batch(3, 7, commit=False)
        + batch(b"next transaction", base_offset=4, producer_id=7, transactional=True)
        + control_batch(5, 7, commit=True)
        + batch(b"aborted again", base_offset=6, producer_id=7, transactional=True)
        + control_batch(7, 8, commit=True)
    )
    committed = decode_batches(data, read_committed=True, aborted_transactions=[(7, 6), (7, 0)])
    assert [r.offset for r in committed.to_records()] == [1, 2, 4]
    assert committed.next_offset == 8
    uncommitted = decode_batches(data, aborted_transactions=[(7, 6), (7, 0)])
    assert [r.offset for r in uncommitted.to_records()] == [0, 1, 2, 4, 6]


def test_a_commit_marker_does_not_end_an_aborted_range() -> None:
    data = control_batch(0, 7, commit=True) + batch(b"aborted", base_offset=1, producer_id=7, transactional=True)
    assert len(decode_batches(data, read_committed=True, aborted_transactions=[(7, 0)])) == 0


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_a_flipped_bit_fails_the_checksum(magic: int) -> None:
    data = bytearray(batch(b"some value", magic=magic))
    data[-3] ^= 4
    with pytest.raises(CorruptRecordException, match=r"flights-3 with offset 0 at byte 0"):
        decode_batches(data, topic="flights", partition=3)
    assert len(decode_batches(data, check_crcs=False)) == 1


def test_an_error_names_the_batch_that_is_damaged() -> None:
    data = bytearray(batch(b"fine", base_offset=5) + batch(b"damaged", base_offset=6))
    data[-1] ^= 1
    with pytest.raises(CorruptRecordException, match="offset 6"):
        decode_batches(data)


def test_a_codec_that_does_not_exist_is_named() -> None:
    with pytest.raises(UnsupportedCompressionTypeError, match="got 5"):
        decode_batches(with_attributes(batch(b"x"), 5))


@pytest.mark.parametrize(
    ("position", "replacement"),
    [
        (16, b"\x03"),
        (16, b"\xff"),
        (8, b"\xff\xff\xff\xff"),
        (8, b"\x00\x00\x00\x05"),
        (57, b"\x7f\xff\xff\xff"),
        (57, b"\xff\xff\xff\xff"),
        (57, b"\x00\x00\x00\x02"),
        (23, b"\xff\xff\xff\xff"),
        (0, b"\xff"),
        (61, b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"),
        (61, b"\x01"),
        (61, b"\x00"),
        (61, b"\x7e"),
    ],
)
def test_lengths_that_cannot_be_are_refused(position: int, replacement: bytes) -> None:
    data = bytearray(batch(b"some value"))
    data[position : position + len(replacement)] = replacement
    with pytest.raises(CorruptRecordException):
        decode_batches(data, check_crcs=False)


def test_log_append_time_is_every_records_timestamp() -> None:
    from kafka.record import set_offsets

    data = bytearray(batch(b"a", b"b"))
    set_offsets(data, next(batch_headers(data)), 40, 3, log_append_time_ms=1234)
    columns = decode_batches(data)
    assert [(r.offset, r.timestamp, r.timestamp_type, r.leader_epoch) for r in columns.to_records()] == [
        (40, 1234, 1, 3),
        (41, 1234, 1, 3),
    ]


def test_columns_end_before_keys_or_values_could_pass_two_gibibytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kafka.record.decode.MAX_COLUMN_SIZE", 250)
    one = batch(b"x" * 100)
    two = batch(b"y" * 100, base_offset=1)
    three = batch(b"z" * 100, base_offset=2)
    columns = decode_batches(one + two + three)
    assert (len(columns), columns.next_offset, columns.bytes_consumed) == (2, 2, len(one + two))
    rest = decode_batches((one + two + three)[columns.bytes_consumed :], start_offset=columns.next_offset)
    assert [r.offset for r in rest.to_records()] == [2]


def test_headers_that_appear_late_and_are_many() -> None:
    from kafka.record import BatchBuilder

    builder = BatchBuilder()
    expected = []
    for index in range(300):
        headers = [] if index < 200 else [(f"h{n}", None if n % 3 == 0 else b"v" * n) for n in range(index % 40)]
        builder.append(1, None, b"v", headers)
        expected.append(headers)
    data = b"".join(builder.build(base_offset=300 * n) for n in range(3))
    assert [r.headers for r in decode_batches(data).to_records()] == expected * 3
