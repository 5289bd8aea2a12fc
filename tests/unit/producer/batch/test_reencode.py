"""Other batches made of encoded ones."""

from __future__ import annotations

import asyncio
import random

import pytest

from kafka.errors import UnsupportedForMessageFormatError
from kafka.producer.appending.record_buffer import RecordBuffer
from kafka.producer.batch.producer_batch import ProducerBatch, magic_of
from kafka.producer.batch.reencode import downgrade, regroup, split
from kafka.producer.batch.shared_queues import BufferOptions
from kafka.record import BatchBuilder, Buffer, Compression, ProducerState, batch_headers, decode_batches
from kafka.structs import TopicPartition

PLACE = TopicPartition("t", 0)
OPTIONS = BufferOptions(1000, 10_000)


def encoded(sizes: list[int], state: ProducerState | None = None, codec: Compression = Compression.NONE) -> Buffer:
    """A batch of records with values of these sizes; each has a header."""
    builder = BatchBuilder(2, codec, size_limit=1 << 20)
    for number, size in enumerate(sizes):
        builder.append(1_000 + number, b"k%d" % number, b"%d" % (number % 10) * size, [("h", b"x")])
    return builder.build_in_place(state or ProducerState())


def batch_of(data: Buffer, records: int) -> ProducerBatch:
    buffer = RecordBuffer(OPTIONS, asyncio.get_running_loop(), random.Random(1), lambda run: run())
    return ProducerBatch.encoded(buffer, PLACE, 5.0, data, records, 700)


async def test_split_parts_have_half_the_bytes_and_share_sequence_and_memory() -> None:
    batch = batch_of(encoded([100] * 10, ProducerState(7, 3, 2**31 - 4), Compression.GZIP), 10)
    batch.producer_id, batch.producer_epoch, batch.base_sequence = 7, 3, 2**31 - 4
    batch.order, batch.attempts, batch.sent_to, batch.last_error = (4,), 2, 5, UnsupportedForMessageFormatError()
    parts = split(batch, OPTIONS)
    assert [part.count for part in parts] == [5, 5]
    assert [part.order for part in parts] == [(4, 0), (4, 1)]
    assert [part.base_sequence for part in parts] == [2**31 - 4, 1]
    assert [part.reserved for part in parts] == [700, 0]
    assert batch.reserved == 0
    records = []
    for part in parts:
        assert part.data is not None
        (header,) = batch_headers(part.data)
        told = (header.producer_id, header.producer_epoch, header.base_sequence, header.codec)
        assert told == (7, 3, part.base_sequence, Compression.GZIP)
        assert (part.producer_id, part.producer_epoch, part.created) == (7, 3, 5.0)
        assert (part.attempts, part.sent_to, part.last_error) == (2, 5, batch.last_error)
        records += decode_batches(part.data).to_records("t", 0)
    assert [(each.timestamp, each.key) for each in records] == [(1_000 + n, b"k%d" % n) for n in range(10)]
    assert all(each.headers == [("h", b"x")] for each in records)


@pytest.mark.parametrize(
    ("sizes", "counts"),
    [([10, 10], [1, 1]), ([10, 1_000, 10], [1, 1, 1]), ([500, 10, 10, 10], [1, 3]), ([100] * 3, [1, 1, 1])],
)
async def test_only_a_single_record_may_exceed_half_of_a_batch(sizes: list[int], counts: list[int]) -> None:
    parts = split(batch_of(encoded(sizes), len(sizes)), OPTIONS)
    assert [part.count for part in parts] == counts
    assert [part.base_sequence for part in parts] == [-1] * len(counts)


async def test_a_large_header_counts() -> None:
    builder = BatchBuilder(2, Compression.NONE, size_limit=1 << 20)
    for number in range(4):
        builder.append(1, b"k", b"v", [("h" * 300, b"x" * 300)] if number == 0 else ())
    assert [part.count for part in split(batch_of(builder.build_in_place(), 4), OPTIONS)] == [1, 3]


@pytest.mark.parametrize("magic", [0, 1])
def test_an_older_format_has_the_same_records(magic: int) -> None:
    builder = BatchBuilder(2, Compression.GZIP, size_limit=1 << 20)
    for number in range(3):
        builder.append(1_000 + number, b"k%d" % number, None if number else b"v", ())
    data = downgrade(builder.build_in_place(ProducerState(7, 3, 0)), magic, OPTIONS)
    assert magic_of(data) == magic
    columns = decode_batches(data)
    assert [(columns.key(i), columns.value(i)) for i in range(3)] == [(b"k0", b"v"), (b"k1", None), (b"k2", None)]


def test_headers_are_not_dropped_by_an_older_format() -> None:
    with pytest.raises(UnsupportedForMessageFormatError, match="headers"):
        downgrade(encoded([1, 1]), 1, OPTIONS)


def at_level(level: int | None, values: list[bytes]) -> Buffer:
    """A batch of records that was compressed with gzip at a level."""
    builder = BatchBuilder(2, Compression.GZIP, compression_level=level, size_limit=1 << 20)
    for value in values:
        builder.append(1, None, value, ())
    return builder.build_in_place(ProducerState())


@pytest.mark.parametrize("configured", [Compression.GZIP, Compression.ZSTD])
@pytest.mark.parametrize("remade", ["split", "regrouped", "downgraded"])
async def test_a_reencoded_batch_uses_the_producers_compression_level(remade: str, configured: Compression) -> None:
    values = [b"%06d" % (number * 7919 % 100_003) for number in range(2_000)]
    options = BufferOptions(1000, 10_000, configured, 1)
    level = 1 if configured is Compression.GZIP else None  # a level is one of the producer's codec
    data = at_level(level, values)
    if remade == "split":
        parts = split(batch_of(data, len(values)), options)
        got = [part.data for part in parts]
        want = [at_level(level, values[:1_000]), at_level(level, values[1_000:])]
        assert [part.count for part in parts] == [1_000, 1_000]
    elif remade == "regrouped":
        columns = decode_batches(data)
        groups, _ = regroup(data, columns, [number % 2 for number in range(2_000)], bytearray(2_000), options)
        got = [groups[0].data, groups[1].data]
        want = [at_level(level, values[::2]), at_level(level, values[1::2])]
    else:
        got = [downgrade(data, 1, options)]
        older = BatchBuilder(1, Compression.GZIP, compression_level=level, size_limit=1 << 20)
        for value in values:
            older.append(1, None, value, ())
        want = [older.build_in_place(ProducerState())]
    assert [bytes(each or b"") for each in got] == [bytes(each) for each in want]
    assert len(at_level(1, values)) != len(at_level(None, values)), "the levels would make no difference"
