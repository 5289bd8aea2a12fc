"""Looking over fetched bytes without decoding them, and decoding up to a corrupt batch."""

from __future__ import annotations

import random

import pytest

from kafka.consumer.buffer.fetch_buffer import NO_LIMIT
from kafka.consumer.buffer.partition_response import DecodeOptions, PartitionResponse, SharedFrame
from kafka.errors import CorruptRecordError, UnsupportedCompressionTypeError
from kafka.record import BatchBuilder, Compression, whole_batches
from kafka.structs import TopicPartition
from unit.consumer.batches import batch, numbered

DECODING = DecodeOptions(check_crcs=True, read_committed=False, max_decompressed_size=1 << 30)


def fetched(data: bytes, offset: int = 0) -> PartitionResponse:
    return PartitionResponse(TopicPartition("t", 0), 0, offset, memoryview(data), len(data))


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_complete_batches_are_measured_by_their_headers(magic: int) -> None:
    one, two = batch([b"a", b"b"], 10, magic), batch([b"c"] * 5, 12, magic)
    data = one + two
    assert whole_batches(memoryview(data)) == (len(data), 17, 0 if magic == 2 else -1)
    for cut in (1, 12, len(two) - 1):
        size, after, epoch = whole_batches(memoryview(data[: len(one) + cut]))
        if magic == 2:
            assert (size, after, epoch) == (len(one), 12, 0)
        else:
            assert size >= len(one)
            assert after >= 12


def test_an_incomplete_batch_raises_the_matching_error() -> None:
    assert whole_batches(memoryview(b"")) == (0, -1, -1)
    assert whole_batches(memoryview(numbered(0, 3)[:-1])) == (0, -1, -1)
    assert whole_batches(memoryview(bytes(100))) == (0, -1, -1)
    assert whole_batches(memoryview(b"\0" * 8 + b"\xff" * 92)) == (0, -1, -1)


def test_decoding_begins_at_the_offset_asked_for() -> None:
    decoded = fetched(numbered(0, 10) + numbered(10, 20), offset=7).decode(DECODING, NO_LIMIT)
    assert list(decoded.columns.offsets) == list(range(7, 20))
    assert (decoded.next_offset, decoded.error) == (20, None)


def test_batches_before_a_corrupt_one_are_decoded_and_the_error_kept() -> None:
    broken = bytearray(numbered(20, 30))
    broken[-1] ^= 1
    decoded = fetched(numbered(0, 10) + numbered(10, 20) + bytes(broken) + numbered(30, 40)).decode(DECODING, NO_LIMIT)
    assert list(decoded.columns.offsets) == list(range(20))
    assert decoded.next_offset == 20
    assert isinstance(decoded.error, CorruptRecordError)
    assert "20" in str(decoded.error)
    assert "'t'" in str(decoded.error) or "t-0" in str(decoded.error)


def test_a_frame_goes_back_when_its_last_part_has_been_decoded() -> None:
    given_back: list[bool] = []
    frame = SharedFrame(lambda: given_back.append(True))
    items = []
    for _ in range(2):
        frame.retain()
        item = fetched(numbered(0, 1))
        item.frame = frame
        items.append(item)
    frame.release()
    items[0].decode(DECODING, NO_LIMIT)
    assert given_back == []
    items[1].drop()
    items[1].drop()
    assert given_back == [True]


def test_the_frame_is_kept_until_the_last_part_is_decoded() -> None:
    given_back: list[bool] = []
    item = fetched(b"".join(numbered(start, start + 10) for start in range(0, 50, 10)), offset=3)
    item.frame = SharedFrame(lambda: given_back.append(True))
    seen: list[int] = []
    while not item.is_decoded:
        assert given_back == []
        decoded = item.decode(DECODING, 1)
        assert item.is_decoded or item.is_begun
        assert decoded.nbytes == (item.nbytes if item.is_decoded else 0)
        seen += decoded.columns.offsets
    assert seen == list(range(3, 50))
    assert (given_back, decoded.next_offset) == ([True], 50)


def test_an_unknown_codec_raises_after_the_records_before_it() -> None:
    unknown = bytearray(numbered(10, 20))
    unknown[22] |= 7
    decoded = fetched(numbered(0, 10) + bytes(unknown)).decode(DecodeOptions(False, False, 1 << 30), NO_LIMIT)
    assert (len(decoded.columns), decoded.next_offset) == (10, 10)
    assert isinstance(decoded.error, UnsupportedCompressionTypeError)


def test_only_large_compressed_batches_are_worth_a_second_thread() -> None:
    def packed(size: int, compression: Compression) -> int:
        builder = BatchBuilder(2, compression)
        builder.append(1, None, random.Random(1).randbytes(size))
        return fetched(builder.build() * 3).packed_bytes

    assert packed(10_000, Compression.LZ4) > 30_000
    assert packed(1_000, Compression.LZ4) == packed(10_000, Compression.NONE) == 0
    assert fetched(b"").packed_bytes == fetched(batch([b"a"] * 2000, magic=1)).packed_bytes == 0
