"""The record builders and readers of kafka-python 1.4 to 3.0 return the same results as the originals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kafka.errors import CorruptRecordError, IllegalStateError, UnsupportedCodecError, UnsupportedVersionError
from kafka.record import ConsumerRecord, MemoryRecords, MemoryRecordsBuilder, decode_batches
from kafka.record.abc import ABCRecord, ABCRecordBatch, ABCRecordBatchBuilder, ABCRecords
from kafka.record.default_records import (
    ControlRecord,
    DefaultRecord,
    DefaultRecordBatch,
    DefaultRecordBatchBuilder,
)
from kafka.record.legacy_records import LegacyRecord, LegacyRecordBatch, LegacyRecordBatchBuilder
from kafka.record.util import calc_crc32, calc_crc32c, decode_varint, encode_varint, size_of_varint

ORIGINALS: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parents[3] / "data" / "legacy" / "batches.json").read_text()
)
ROWS: list[tuple[int, bytes | None, bytes | None, list[tuple[str, bytes | None]]]] = [
    (1000, b"k1", b"v1", []),
    (1005, None, b"v2", [("h", b"x"), ("n", None)]),
    (990, b"k3", None, []),
    (2000, b"", b"", [("é", b"")]),
    (2001, b"a" * 200, b"b" * 300, []),
]
KINDS: dict[str, dict[str, Any]] = {
    "plain": {},
    "gap": {},
    "producer": {"producer_id": 7, "producer_epoch": 3, "base_sequence": 11, "transactional": True},
}


def fill(name: str) -> tuple[MemoryRecordsBuilder, list[str]]:
    magic, codec, kind = name.split("-")
    builder = MemoryRecordsBuilder(int(magic), int(codec), 10000, **KINDS[kind])
    told = []
    for index, (timestamp, key, value, headers) in enumerate(ROWS):
        if kind == "gap" and index == 2:
            builder.skip(5)
        told.append(repr(builder.append(timestamp, key, value, headers if magic == "2" else [])))
    return builder, told


def read(data: bytes) -> list[Any]:
    records, found = MemoryRecords(data), []
    while records.has_next():
        batch: Any = records.next_batch()
        sound = batch.validate_crc()
        rows = [[repr(r), r.size_in_bytes, r.checksum, r.validate_crc()] for r in batch]
        shown = str(batch) if batch.magic == 2 else None
        found.append([shown, batch.base_offset, batch.size_in_bytes, batch.magic, sound, rows])
    return found


@pytest.mark.parametrize("name", ORIGINALS)
def test_batches_match_the_original(name: str) -> None:
    original = ORIGINALS[name]
    builder, told = fill(name)
    assert told == original["metadata"]
    assert builder.size_in_bytes() == original["size"]
    builder.close()
    if name.split("-")[1] == "0":
        assert builder.buffer().hex() == original["data"]
        assert [r.key for r in decode_batches(builder.buffer()).to_records()] == [key for _, key, _, _ in ROWS]
    else:
        assert [batch[5] for batch in read(builder.buffer())] == [batch[5] for batch in original["batches"]]
        assert builder.compression_rate() < 1


@pytest.mark.parametrize("name", ORIGINALS)
def test_batches_of_the_original_are_decoded(name: str) -> None:
    assert read(bytes.fromhex(ORIGINALS[name]["data"])) == ORIGINALS[name]["batches"]


@pytest.mark.parametrize(("magic", "codec"), [(0, 2), (0, 3), (1, 2), (1, 3), (2, 2), (2, 3), (2, 4)])
def test_every_codec_round_trips(magic: int, codec: int) -> None:
    builder, _ = fill(f"{magic}-{codec}-plain")
    builder.close()
    (batch,) = MemoryRecords(builder.buffer())
    assert batch.compression_type == codec
    assert [(r.key, r.value) for r in batch] == [(key, value) for _, key, value, _ in ROWS]


def test_batches_that_do_not_shrink_are_not_compressed() -> None:
    builder = MemoryRecordsBuilder(2, 1, 1000)
    builder.append(1, None, b"x")
    builder.close()
    (batch,) = builder.records()
    assert batch.compression_type == 0
    with pytest.raises(UnsupportedCodecError):
        DefaultRecordBatchBuilder(2, 7, False, -1, -1, -1, 1000).build()
    with pytest.raises(UnsupportedCodecError):
        LegacyRecordBatchBuilder(1, 4, 1000).build()


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_a_batch_is_full_at_its_size_but_accepts_a_larger_first_record(magic: int) -> None:
    builder = MemoryRecordsBuilder(magic, 0, 100)
    assert builder.append(1, None, b"x" * 200) is not None
    assert builder.is_full()
    assert builder.append(1, None, b"x") is None
    assert builder.next_offset() == 1
    builder.close()
    assert builder.append(1, None, b"") is None
    assert len(builder.buffer()) == builder.size_in_bytes()


def test_producer_state_can_be_set_until_the_batch_is_closed() -> None:
    builder = MemoryRecordsBuilder(2, 0, 1000)
    builder.append(1, None, b"x")
    builder.set_producer_state(5, 6, 7, True)
    assert (builder.producer_id, builder.producer_epoch, builder.base_sequence) == (5, 6, 7)
    with pytest.raises(AssertionError, match="still open"):
        builder.buffer()
    builder.close()
    (batch,) = builder.records()
    assert isinstance(batch, DefaultRecordBatch)
    assert (batch.producer_id, batch.producer_epoch, batch.base_sequence, batch.is_transactional) == (5, 6, 7, True)
    assert (batch.last_sequence, batch.has_sequence, batch.has_producer_id(), batch.next_offset) == (7, True, True, 1)
    with pytest.raises(IllegalStateError):
        builder.set_producer_state(5, 6, 7, False)
    with pytest.raises(UnsupportedVersionError):
        MemoryRecordsBuilder(1, 0, 1000).set_producer_state(5, 6, 7, False)
    with pytest.raises(AssertionError, match="epoch"):
        MemoryRecordsBuilder(2, 0, 1000, producer_id=1)
    with pytest.raises(AssertionError, match="Idempotent"):
        MemoryRecordsBuilder(0, 0, 1000, producer_id=1)


def test_wrong_types_are_rejected() -> None:
    for builder in (DefaultRecordBatchBuilder(2, 0, False, -1, -1, -1, 100), LegacyRecordBatchBuilder(1, 0, 100)):
        for bad in (("1", 1, b"", b""), (0, "1", b"", b""), (0, 1, "k", b""), (0, 1, b"", "v")):
            with pytest.raises(TypeError):
                builder.append(*bad, headers=[])  # type: ignore[arg-type]
    with pytest.raises(AssertionError, match="Headers"):
        LegacyRecordBatchBuilder(1, 0, 100).append(0, 1, b"", b"", [("h", b"")])
    with pytest.raises(AssertionError, match="magic"):
        MemoryRecordsBuilder(3, 0, 100)


def test_incomplete_batches_are_ignored_and_damage_raises_an_error() -> None:
    whole = bytes.fromhex(ORIGINALS["2-0-plain"]["data"])
    records = MemoryRecords(whole + whole[:-1])
    assert (records.size_in_bytes(), records.valid_bytes()) == (2 * len(whole) - 1, len(whole))
    assert len(list(records)) == 1
    assert records.next_batch() is None
    damaged = DefaultRecordBatch(whole[:-1] + b"\x05")
    assert not damaged.validate_crc()
    with pytest.raises(CorruptRecordError):
        list(damaged)
    with pytest.raises(AssertionError, match="before iteration"):
        damaged.validate_crc()
    with pytest.raises(CorruptRecordError, match="minimum record overhead"):
        MemoryRecords(bytes(8) + b"\x00\x00\x00\x01\x00").next_batch()


def test_the_end_of_a_transaction_is_a_control_record() -> None:
    builder = DefaultRecordBatchBuilder(2, 0, True, 1, 2, -1, 1000)
    builder.append(0, 5, b"\x00\x00\x00\x01", b"", [])
    data = builder.build()
    data[22] |= 0x20 | 0x08
    data[35:43] = (77).to_bytes(8, "big")
    (record,) = DefaultRecordBatch(data)
    assert isinstance(record, ControlRecord)
    assert (record.version, record.type, record.commit, record.abort) == (0, 1, True, False)
    assert (record.timestamp, record.timestamp_type) == (77, 1)
    assert repr(record) == "ControlRecord(offset=0, timestamp=77, timestamp_type=1, version=0, type=1 <commit>)"


def test_inner_messages_have_the_brokers_time_if_it_applies() -> None:
    data = bytearray.fromhex(ORIGINALS["1-1-plain"]["data"])
    data[17] |= 0x08
    data[18:26] = (99).to_bytes(8, "big")
    data[:8] = (104).to_bytes(8, "big")
    batch = LegacyRecordBatch(data, 1)
    assert not batch.validate_crc()
    assert [(r.offset, r.timestamp, r.timestamp_type) for r in batch] == [(100 + n, 99, 1) for n in range(5)]


def test_size_estimates() -> None:
    builder = DefaultRecordBatchBuilder(2, 0, False, -1, -1, -1, 10000)
    for offset, (timestamp, key, value, headers) in enumerate(ROWS):
        told = builder.append(offset, timestamp, key, value, headers)
        assert told is not None
        assert told.size == builder.size_in_bytes(offset, timestamp - ROWS[0][0], key, value, headers)
        assert told.size + builder.header_size_in_bytes() < builder.estimate_size_in_bytes(key, value, headers)
    assert LegacyRecordBatchBuilder.estimate_size_in_bytes(0, None, b"k", b"v") == 28
    assert LegacyRecordBatchBuilder.estimate_size_in_bytes(1, 1, b"k", b"v") == 58


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
        (0, "00"),
        (-1, "01"),
        (63, "7e"),
        (64, "8001"),
        (-65, "8101"),
        (2**31 - 1, "feffffff0f"),
        (-(2**63), "ff" * 9 + "01"),
    ],
)
def test_varints(value: int, encoded: str) -> None:
    written = bytearray()
    assert encode_varint(value, written.append) == len(written) == size_of_varint(value)
    assert written.hex() == encoded
    assert decode_varint(bytearray(b"xx") + written, 2) == (value, 2 + len(written))


def test_invalid_varints() -> None:
    with pytest.raises(IndexError):
        decode_varint(b"\x80")
    with pytest.raises(ValueError, match="int64"):
        decode_varint(b"\xff" * 11)


def test_checksums() -> None:
    assert calc_crc32(b"123456789") == 0xCBF43926
    assert calc_crc32c(memoryview(b"123456789")) == 0xE3069283


def test_base_classes() -> None:
    assert issubclass(DefaultRecord, ABCRecord)
    assert issubclass(LegacyRecord, ABCRecord)
    assert issubclass(ConsumerRecord, ABCRecord)
    assert issubclass(LegacyRecordBatch, ABCRecordBatch)
    assert issubclass(LegacyRecordBatchBuilder, ABCRecordBatchBuilder)
    assert issubclass(MemoryRecords, ABCRecords)
