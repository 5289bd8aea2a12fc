"""What is known of a batch's sizes before compression."""

from __future__ import annotations

import array

import pyarrow as pa
import pytest

from kafka.record import BatchBuilder, Compression, decode_batches, whole_batches
from kafka.record.arrow_rows import ArrowRows
from kafka.record.batch_runs import expected_contents

SIZES = (10, 500, 20)


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_a_builder_knows_its_largest_record(magic: int) -> None:
    builder = BatchBuilder(magic)
    assert builder.largest_record == 0
    seen = []
    for size in SIZES:
        before = builder.size_in_bytes
        builder.append(0, b"k", bytes(size))
        seen.append(builder.size_in_bytes - before)
    assert builder.largest_record == max(seen) == seen[1]
    builder.clear()
    assert builder.largest_record == 0
    assert builder.append_if_room(0, None, b"x", None) == 0
    assert 0 < builder.largest_record < seen[0]


@pytest.mark.parametrize("compression", [Compression.NONE, Compression.GZIP])
def test_rows_have_the_sizes_of_records(compression: Compression) -> None:
    builder = BatchBuilder(2)
    for size in SIZES:
        builder.append(0, None, bytes(size))
    rows = ArrowRows(pa.table({"value": [bytes(size) for size in SIZES]}))
    (batch,) = rows.encode(array.array("i", range(3)), compression=compression, timestamp_ms=0)
    assert (batch.raw_size, batch.largest_record) == (builder.size_in_bytes, builder.largest_record)
    assert len(batch.data) <= batch.raw_size
    assert len(decode_batches(batch.data)) == 3


def _batch(values: int) -> bytes:
    builder = BatchBuilder(2)
    for _ in range(values):
        builder.append(0, None, bytes(39))
    return bytes(builder.build())


def test_contents_are_estimated_batch_by_batch_up_to_the_room() -> None:
    one, two = _batch(1), _batch(2)
    view = memoryview(one + two)
    plain = [len(each) - 61 for each in (one, two)]
    assert expected_contents(view, 0, 1.0, 1 << 40) == (sum(plain), 3)
    assert expected_contents(view, len(one), 2.0, 1 << 40) == (2 * plain[1], 2)
    assert expected_contents(view, 0, 1.0, plain[0]) == (plain[0], 1)
    assert expected_contents(view, 0, 1.0, plain[0] + 1) == (sum(plain), 3)
    assert expected_contents(view, 0, 1.0, 0) == (0, 0)
    assert expected_contents(view[:-1], 0, 1.0, 1 << 40) == (plain[0], 1)
    assert expected_contents(view, len(view), 1.0, 1 << 40) == (0, 0)


def test_batches_are_assumed_to_be_like_the_first_sixty_four() -> None:
    one, two = _batch(1), _batch(2)
    plain = len(one) - 61
    assert expected_contents(memoryview(200 * one), 0, 1.0, 1 << 40) == (200 * plain, 200)
    assert expected_contents(memoryview(one + 200 * one), len(one), 2.0, 1 << 40) == (2 * 200 * plain, 200)
    assert expected_contents(memoryview(64 * one), 0, 1.0, 1 << 40) == (64 * plain, 64)
    others = 64 * one + 100 * two
    guess = 64 + int(64 * (100 * len(two)) / (64 * len(one)))
    assert expected_contents(memoryview(others), 0, 1.0, 1 << 40)[1] == guess != 264
    assert expected_contents(memoryview(200 * one), 0, 1.0, 100 * plain) == (100 * plain, 100)
    assert expected_contents(memoryview(200 * one), 0, 1.0, 64 * plain) == (64 * plain, 64)


def test_an_impossible_number_of_records_is_not_trusted() -> None:
    batch = bytearray(_batch(1))
    batch[57:61] = (1 << 30).to_bytes(4, "big")
    plain, records = expected_contents(memoryview(batch), 0, 1.0, 1 << 40)
    assert (plain, records) == (len(batch) - 61, (len(batch) - 61) // 7)
    batch[57:61] = (-1).to_bytes(4, "big", signed=True)
    assert expected_contents(memoryview(batch), 0, 1.0, 1 << 40) == (plain, 0)


def test_complete_batches_end_after_the_last_offset() -> None:
    batch = bytearray(_batch(3))
    batch[0:8] = (40).to_bytes(8, "big")
    batch[12:16] = (7).to_bytes(4, "big")
    assert whole_batches(memoryview(_batch(1) + batch)) == (len(_batch(1)) + len(batch), 43, 7)


def test_a_batch_without_records_has_offsets_too() -> None:
    emptied = bytearray(_batch(3)[:61])  # as compaction leaves it
    emptied[8:12] = (61 - 12).to_bytes(4, "big")
    assert whole_batches(memoryview(emptied)) == (61, 3, -1)
