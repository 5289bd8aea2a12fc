"""What is known of a batch's sizes before compression."""

from __future__ import annotations

import array

import pyarrow as pa
import pytest

from kafka.record import BatchBuilder, Compression, decode_batches
from kafka.record.arrow_rows import ArrowRows

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
