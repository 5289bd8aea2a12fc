"""Each length and number of a message of magic 0 or 1 at its bounds, alone and inside a compressed message."""

from __future__ import annotations

import struct

import pytest

from kafka.errors import CorruptRecordException
from kafka.record import Compression, TimestampType, batch_headers, decode_batches
from kafka.record.batch_headers import CorruptMessageSet, offsets_of_messages
from kafka.record.codecs import compress
from kafka.record.layout import MAX_OFFSET
from kafka.record.legacy_messages import encode_message

from .samples import Record, rows

LENGTH = "a length points outside the batch"
DELTA = "an offset or a timestamp is out of range"
MAGIC = "an inner message has another magic than its wrapper, or is compressed itself"


def message(magic: int, offset: int, key: bytes | None = None, value: bytes | None = None, time: int = 5) -> bytes:
    return encode_message(magic, offset, time, key, value)


def changed(data: bytes, at: int, new: bytes) -> bytes:
    return data[:at] + new + data[at + len(new) :]


def size(value: int) -> bytes:
    return struct.pack(">i", value)


def key_at(magic: int) -> int:
    """Where the length of the key stands."""
    return 26 if magic else 18


def wrapped(magic: int, *inside: bytes, offset: int = 9, attributes: int = 1, time: int = 77) -> bytes:
    """A message that holds these, compressed by gzip."""
    value = bytes(compress(Compression.GZIP, b"".join(inside), magic=magic))
    return encode_message(magic, offset, time, None, value, attributes=attributes)


def read(data: bytes, **options: int) -> list[Record]:
    return rows(decode_batches(data, check_crcs=False, **options))


both = pytest.mark.parametrize("magic", [0, 1])


@both
@pytest.mark.parametrize("compressed", [False, True])
def test_empty_keys_and_values_are_not_null(magic: int, compressed: bool) -> None:
    pairs = [(b"", b""), (None, None), (b"k", None), (None, b"v"), (b"", b"v"), (b"k", b"")]
    parts = [message(magic, number, *pair) for number, pair in enumerate(pairs)]
    data = wrapped(magic, *parts, offset=5) if compressed else b"".join(parts)
    time = 5 if magic else -1
    assert read(data) == [(number, time, *pair, []) for number, pair in enumerate(pairs)]


def damaged(magic: int) -> list[tuple[bytes, str]]:
    """Messages with a damage each, and what is said of it."""
    whole = message(magic, 0, b"key", b"value")
    at = key_at(magic)
    return [
        (changed(whole, at, size(-2)), LENGTH),
        (changed(whole, at, size(2)), LENGTH),
        (changed(whole, at, size(4)), LENGTH),
        (changed(whole, at, size(8)), LENGTH),
        (changed(whole, at, size(9)), LENGTH),
        (changed(whole, at, size(1 << 30)), LENGTH),
        (changed(whole, at + 7, size(-2)), LENGTH),
        (changed(whole, at + 7, size(-1)), LENGTH),
        (changed(whole, at + 7, size(4)), LENGTH),
        (changed(whole, at + 7, size(6)), LENGTH),
    ]


@both
@pytest.mark.parametrize("case", range(10))
def test_impossible_lengths_are_refused(magic: int, case: int) -> None:
    data, reason = damaged(magic)[case]
    for each in (data, message(magic, 0) + data, wrapped(magic, data), wrapped(magic, message(magic, 8), data)):
        with pytest.raises(CorruptRecordException, match=reason):
            read(each)


@both
def test_a_value_size_below_minus_one_is_refused(magic: int) -> None:
    data = message(magic, 0, b"key", None)
    assert read(data)[0][3] is None
    with pytest.raises(CorruptRecordException, match=LENGTH):
        read(changed(data, key_at(magic) + 7, size(-2)))


@both
def test_an_inner_message_has_its_wrappers_magic_and_no_compression(magic: int) -> None:
    good = message(magic, 9, b"k", b"v")
    assert [row[2] for row in read(wrapped(magic, good))] == [b"k"]
    other = message(1 - magic, 9, b"some key", b"value")
    packed = changed(good, 17, b"\x01")
    for inside in (other, packed):
        with pytest.raises(CorruptRecordException, match=MAGIC):
            read(wrapped(magic, inside))


@pytest.mark.parametrize("time", [MAX_OFFSET, -MAX_OFFSET, -1, 0])
def test_the_extreme_timestamps_are_accepted(time: int) -> None:
    assert [row[1] for row in read(message(1, 3, time=time))] == [time]
    assert [row[1] for row in read(wrapped(1, message(1, 9, time=time)))] == [time]


@pytest.mark.parametrize("time", [MAX_OFFSET + 1, -MAX_OFFSET - 1])
def test_an_impossible_timestamp_is_refused(time: int) -> None:
    for data in (message(1, 3, time=time), wrapped(1, message(1, 9, time=time))):
        with pytest.raises(CorruptRecordException, match=DELTA):
            read(data)
    data = wrapped(1, message(1, 9), attributes=9, time=time)
    with pytest.raises(CorruptRecordException, match=f"its timestamp is {time}"):
        read(data)


@pytest.mark.parametrize("time", [MAX_OFFSET, -MAX_OFFSET, 77])
def test_the_append_time_of_the_outer_message_applies_to_all(time: int) -> None:
    data = wrapped(1, message(1, 0, time=5), message(1, 1, time=6), attributes=9, time=time)
    assert [row[:2] for row in read(data)] == [(8, time), (9, time)]
    (header,) = batch_headers(data)
    assert header.timestamp_type == TimestampType.LOG_APPEND_TIME


@pytest.mark.parametrize("offset", [MAX_OFFSET + 1, -MAX_OFFSET - 1])
def test_an_impossible_inner_offset_is_refused(offset: int) -> None:
    with pytest.raises(CorruptRecordException, match=DELTA):
        read(wrapped(1, message(1, 0), message(1, offset), message(1, 2)))


@both
@pytest.mark.parametrize("offset", [0, MAX_OFFSET - 1])
def test_the_smallest_and_largest_offsets_are_accepted(magic: int, offset: int) -> None:
    assert [row[0] for row in read(message(magic, offset))] == [offset]
    assert [row[0] for row in read(wrapped(magic, message(magic, offset), offset=offset))] == [offset]


@both
@pytest.mark.parametrize(
    ("start", "stop", "expected"),
    [(0, 99, [6, 7, 8, 9]), (6, 10, [6, 7, 8, 9]), (7, 9, [7, 8]), (9, 10, [9]), (6, 7, [6]), (9, 9, []), (10, 99, [])],
)
def test_messages_from_start_to_stop_offset_are_kept(magic: int, start: int, stop: int, expected: list[int]) -> None:
    alone = b"".join(message(magic, offset, None, b"v") for offset in (6, 7, 8, 9))
    inner = (6, 7, 8, 9) if magic == 0 else (0, 1, 2, 3)
    together = wrapped(magic, *(message(magic, offset, None, b"v") for offset in inner))
    for data in (alone, together):
        columns = decode_batches(data, start_offset=start, stop_offset=stop)
        assert [row[0] for row in rows(columns)] == expected


def test_inner_offsets_are_relative_in_magic_1_and_absolute_in_magic_0() -> None:
    assert [row[0] for row in read(wrapped(1, message(1, 3), message(1, 5)))] == [7, 9]
    assert [row[0] for row in read(wrapped(0, message(0, 8), message(0, 9)))] == [8, 9]


@both
def test_a_truncated_message_is_ignored(magic: int) -> None:
    one = message(magic, 4, None, b"v")
    for cut in (1, len(one) - 1):
        columns = decode_batches(one + message(magic, 5, None, b"w")[:-cut])
        assert [row[0] for row in rows(columns)] == [4]
        assert columns.bytes_consumed == len(one)
        assert columns.next_offset == 5


def test_an_inner_offset_may_be_minimal() -> None:
    data = wrapped(1, message(1, -MAX_OFFSET, b"low"), message(1, 9, b"last"))
    assert [row[2] for row in read(data)][-1] == b"last"


def test_the_messages_of_a_set_have_their_offsets_and_fill_it() -> None:
    one, two = message(1, 3, b"k", b"v"), message(1, 8)
    least = message(0, 4)
    assert len(least) == 12 + 14
    assert offsets_of_messages(memoryview(one + two)) == [3, 8]
    assert offsets_of_messages(memoryview(least)) == [4]
    for wrong in (
        one + two[:-1],
        changed(least, 8, size(13)),
        changed(least, 8, size(15)),
        changed(least, 8, size(-1)),
    ):
        with pytest.raises(CorruptMessageSet, match="Expected a message of at least 14 bytes"):
            offsets_of_messages(memoryview(wrong))
    with pytest.raises(CorruptMessageSet, match="at least one message"):
        offsets_of_messages(memoryview(b""))
