"""Decoding: what Apache Kafka wrote, filtering, positions, damage."""

from __future__ import annotations

from typing import Any

import pytest

from kafka.errors import CorruptRecordException, DecompressionLimitError, UnsupportedCompressionTypeError
from kafka.record import (
    BatchBuilder,
    BatchDecoder,
    Compression,
    TimestampType,
    batch_headers,
    decode_batches,
    decode_state,
    whole_batches,
)
from kafka.record.codecs import compress
from kafka.record.legacy_messages import encode_message
from kafka.record.legacy_reader import read_messages

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


def test_consecutive_batches_of_all_formats() -> None:
    samples = [sample for sample in kafka_batches() if not sample.facts["control"]]
    columns = decode_batches(b"".join(sample.data for sample in samples))
    assert rows(columns) == [record for sample in samples for record in sample.records]


def test_a_truncated_batch_is_ignored() -> None:
    first, second = batch(b"a", b"b"), batch(b"c", base_offset=2)
    for cut in range(len(second)):
        columns = decode_batches(first + second[:cut])
        assert len(columns) == 2
        assert (columns.next_offset, columns.bytes_consumed) == (2, len(first))


def test_empty_data_has_no_records() -> None:
    columns = decode_batches(b"", start_offset=7)
    assert columns.leader_epoch == -1
    assert (len(columns), columns.next_offset, columns.bytes_consumed, columns.to_records()) == (0, 7, 0, [])


def test_any_buffer_can_be_decoded() -> None:
    data = batch(b"a")
    for buffer in (data, bytearray(data), memoryview(data), memoryview(bytearray(b"x" + data))[1:]):
        assert [r.value for r in decode_batches(buffer).to_records()] == [b"a"]


def test_records_outside_the_requested_offsets_are_left_out() -> None:
    data = batch(b"0", b"1", b"2") + batch(b"3", b"4", base_offset=3) + batch(b"5", base_offset=5)
    columns = decode_batches(data, start_offset=1, stop_offset=4)
    assert [r.offset for r in columns.to_records()] == [1, 2, 3]
    assert columns.next_offset == 4
    later = decode_batches(data, start_offset=4)
    assert [r.value for r in later.to_records()] == [b"4", b"5"]
    assert decode_batches(data, start_offset=9).next_offset == 9


def test_nothing_after_the_stop_offset_is_read() -> None:
    first = batch(b"0", b"1")
    columns = decode_batches(first + b"\xff" * 80, stop_offset=2)
    assert (columns.next_offset, columns.bytes_consumed) == (2, len(first))


@pytest.mark.parametrize("magic", [0, 1])
def test_requested_offsets_apply_to_old_formats(magic: int) -> None:
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


def test_an_error_names_the_damaged_batch() -> None:
    data = bytearray(batch(b"fine", base_offset=5) + batch(b"damaged", base_offset=6))
    data[-1] ^= 1
    with pytest.raises(CorruptRecordException, match="offset 6"):
        decode_batches(data)


def test_an_unknown_codec_is_named() -> None:
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
def test_impossible_lengths_are_refused(position: int, replacement: bytes) -> None:
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


def test_columns_end_before_keys_or_values_exceed_two_gibibytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kafka.record.decode.MAX_COLUMN_SIZE", 250)
    one = batch(b"x" * 100)
    two = batch(b"y" * 100, base_offset=1)
    three = batch(b"z" * 100, base_offset=2)
    columns = decode_batches(one + two + three)
    assert (len(columns), columns.next_offset, columns.bytes_consumed) == (2, 2, len(one + two))
    rest = decode_batches((one + two + three)[columns.bytes_consumed :], start_offset=columns.next_offset)
    assert [r.offset for r in rest.to_records()] == [2]


def test_many_late_headers() -> None:
    from kafka.record import BatchBuilder

    builder = BatchBuilder()
    expected = []
    for index in range(300):
        headers = [] if index < 200 else [(f"h{n}", None if n % 3 == 0 else b"v" * n) for n in range(index % 40)]
        builder.append(1, None, b"v", headers)
        expected.append(headers)
    data = b"".join(builder.build(base_offset=300 * n) for n in range(3))
    assert [r.headers for r in decode_batches(data).to_records()] == expected * 3


def wrapped(codec: Compression, last_inner_offset: int) -> bytes:
    """A compressed message of magic 1 at offset 7, with two inside, of which the last has another offset."""
    inner = bytearray(batch(b"a", b"b", magic=1))
    size = len(inner) // 2
    inner[size : size + 8] = last_inner_offset.to_bytes(8, "big", signed=True)
    value = bytes(compress(codec, bytes(inner), magic=1))
    return encode_message(1, 7, 1000, None, value, attributes=int(codec))


@pytest.mark.parametrize("offset", [-(2**63), -(2**62), -1, 2**62, 2**63 - 1])
def test_a_compressed_message_with_impossible_offsets_inside_is_corrupt(offset: int) -> None:
    assert [r.offset for r in decode_batches(wrapped(Compression.GZIP, 1)).to_records()] == [6, 7]
    with pytest.raises(CorruptRecordException, match=f"of t-3 with offset 7 .* its last inner offset is {offset}"):
        decode_batches(wrapped(Compression.GZIP, offset), topic="t", partition=3)


def test_headers_of_a_damaged_batch_are_discarded() -> None:
    builder = BatchBuilder()
    builder.append(1000, None, b"b", [("name", b"value")])
    damaged = bytearray(builder.build(base_offset=1))
    damaged[60] = 2
    columns, damage = BatchDecoder(batch(b"a") + damaged, check_crcs=False).part(1 << 20)
    assert rows(columns) == [(0, 1_700_000_000_000, None, b"a", [])]
    assert columns.buffers[0].headers is None
    assert damage is not None


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (b"\x00\x00\x00\x01\x06abc", "the number of headers is not possible"),
        (b"\x00\x00\x00\x01\x08abc", "a length points outside the batch"),
        (b"\x00\x00\x00\x06abc", "a length points outside the batch"),
        (b"\x00\x00\x00\x01\x01\x02\x00", "a header's key is null"),
        (b"\x00\x00\x00\x01\x01\x00\x00", "a header's key is null"),
        (b"\x00\x00\x00\x01\x01\x02\x50k", "a header's key is null"),
        (b"\x00\x00\x00\x01\x01\x02\x02k\x50v", "a header's key is null"),
        (b"\x00" + b"\x80" * 8, "a variable-length number is too long or cut off"),
        (b"\x00\x00" + b"\x80" * 8, "a variable-length number is too long or cut off"),
    ],
)
def test_inconsistent_records_are_described(record: bytes, reason: str) -> None:
    data = bytearray(batch(b"some value that is long enough"))
    data[61:] = bytes((2 * len(record),)) + record
    data[8:12] = (len(data) - 12).to_bytes(4, "big")
    with pytest.raises(CorruptRecordException, match=reason):
        decode_batches(bytes(data), check_crcs=False)


@pytest.mark.parametrize("magic", [0, 1])
def test_the_smallest_messages_are_read_together_too(magic: int, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = []

    def counting(*arguments: Any) -> int:
        counts.append(arguments[2] - arguments[1])
        return read_messages(*arguments)

    monkeypatch.setattr(decode_state, "read_messages", counting)
    data = b"".join(encode_message(magic, offset, 1000, None, None) for offset in range(5))
    assert len(decode_batches(data)) == 5
    assert counts == [len(data)]


@pytest.mark.parametrize("magic", [0, 1])
def test_messages_before_a_damaged_one_are_returned(magic: int) -> None:
    messages = [encode_message(magic, offset, 1000, b"k", b"v%d" % offset) for offset in range(3, 9)]
    longer_key = bytearray(messages[4])
    longer_key[18 + 8 * magic + 3] += 1
    data = b"".join((*messages[:4], longer_key, messages[5]))
    decoder = BatchDecoder(data, check_crcs=False)
    columns, damage = decoder.part(1 << 20)
    assert [row[3] for row in rows(columns)] == [b"v3", b"v4", b"v5", b"v6"]
    assert (columns.next_offset, columns.bytes_consumed) == (7, 4 * len(messages[0]))
    assert "with offset 7 " in str(damage)


def test_damage_costs_at_most_one_check_per_message(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = 0

    def counting(*arguments: Any) -> int:
        nonlocal looks
        looks += arguments[2] - arguments[1]
        return read_messages(*arguments)

    monkeypatch.setattr(decode_state, "read_messages", counting)
    sound = b"".join(encode_message(1, offset, 1000, None, b"v") for offset in range(200))
    damaged = bytearray(encode_message(1, 200, 1000, None, b"v"))
    damaged[33] += 1
    columns, damage = BatchDecoder(sound + damaged, check_crcs=False).part(1 << 20)
    assert len(columns) == 200
    assert "with offset 200 " in str(damage)
    assert looks < 3 * len(sound)


@pytest.mark.parametrize("time", [2**62, -(2**62)])
def test_a_compressed_message_with_an_impossible_append_time_is_corrupt(time: int) -> None:
    value = bytes(compress(Compression.GZIP, encode_message(1, 0, 1000, None, b"v")))
    data = encode_message(1, 7, time, None, value, attributes=Compression.GZIP | 8)
    with pytest.raises(CorruptRecordException, match=f"its timestamp is {time}"):
        decode_batches(data)


@pytest.mark.parametrize("offset", [2**63 - 1, 2**62, -1, -(2**63)])
@pytest.mark.parametrize("magic", [1, 2])
def test_a_batch_with_an_impossible_offset_is_corrupt(magic: int, offset: int) -> None:
    data = bytearray(batch(b"a", b"b"[: magic - 1], magic=magic)) if magic == 2 else bytearray(batch(b"a", magic=1))
    data[:8] = offset.to_bytes(8, "big", signed=True)
    sound = batch(b"sound")
    assert whole_batches(memoryview(bytes(data))) == (len(data), -1, -1)
    assert whole_batches(memoryview(sound + bytes(data))) == (len(sound) + len(data), -1, -1)
    columns, damage = BatchDecoder(sound + bytes(data), topic="t", partition=3).part(1 << 20)
    assert [r.value for r in columns.to_records()] == [b"sound"]
    assert isinstance(damage, CorruptRecordException)
    assert f"of t-3 with offset {offset} " in str(damage)


@pytest.mark.parametrize("codec", list(Compression))
def test_a_record_with_an_offset_beyond_its_batch_is_corrupt(codec: Compression) -> None:
    data = batch(b"a", b"b", b"c", base_offset=5, compression=codec)
    assert [r.offset for r in decode_batches(data).to_records()] == [5, 6, 7]
    short = bytearray(data)
    short[26] = 1
    fixed = with_attributes(bytes(short), int(codec))
    for later in (b"", batch(b"d", base_offset=8)):
        with pytest.raises(CorruptRecordException, match=r"with offset 5 .* an offset or a timestamp is out of range"):
            decode_batches(fixed + later)


@pytest.mark.parametrize("codec", [codec for codec in Compression if codec])
@pytest.mark.parametrize("limit", [300_000, 400_000])
def test_the_decompressed_size_of_a_batch_is_limited(codec: Compression, limit: int) -> None:
    large = batch(bytes(1 << 19), base_offset=1, compression=codec)
    decoder = BatchDecoder(
        batch(b"small") + large, topic="t", partition=3, max_decompressed_size=limit, check_crcs=False
    )
    columns, damage = decoder.part(1 << 30)
    if damage is None:
        assert len(columns) == 1
        columns, damage = decoder.part(1 << 30)
    assert isinstance(damage, DecompressionLimitError)
    assert (damage.topic, damage.partition, damage.offset, damage.limit) == ("t", 3, 1, limit)
    assert "t-3 with offset 1 " in str(damage)
    assert f"{limit} bytes" in str(damage)
    assert len(decode_batches(large, max_decompressed_size=1 << 20)) == 1


def test_a_compressed_message_of_an_old_format_is_limited_too() -> None:
    large = batch(bytes(1 << 19), magic=1, compression=Compression.GZIP)
    with pytest.raises(DecompressionLimitError, match=r"t-3 with offset 0 .* 300000 bytes"):
        decode_batches(large, topic="t", partition=3, max_decompressed_size=300_000)


@pytest.mark.parametrize("codec", [Compression.SNAPPY, Compression.ZSTD])
def test_excessive_claims_allocate_no_memory(codec: Compression, monkeypatch: pytest.MonkeyPatch) -> None:
    large = batch(bytes(1 << 19), compression=codec)
    taken: list[int] = []

    def allocate(size: int) -> memoryview:
        taken.append(size)
        return memoryview(bytearray(size))

    monkeypatch.setattr("kafka.record.decode_state.allocate", allocate)
    with pytest.raises(DecompressionLimitError):
        decode_batches(large, max_decompressed_size=300_000)
    assert max(taken, default=0) <= 1 << 18
