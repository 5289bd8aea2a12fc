"""Encoding one record after the other."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka.errors import UnsupportedCompressionTypeError, UnsupportedForMessageFormatError
from kafka.record import BatchBuilder, Compression, ProducerState, batch_headers, check_batch, decode_batches
from kafka.record.builder import MAX_TIMESTAMP
from kafka.record.record_headers import encode_headers

from .samples import Record, rows

FORMATS = [(magic, codec) for magic in (0, 1, 2) for codec in Compression if magic == 2 or codec != Compression.ZSTD]

binary = st.none() | st.binary(max_size=300)
headers = st.lists(st.tuples(st.text(max_size=20), st.none() | st.binary(max_size=40)), max_size=4)
records = st.lists(st.tuples(st.integers(0, 2**44), binary, binary, headers), min_size=1, max_size=60)


@pytest.mark.slow
@pytest.mark.parametrize(("magic", "codec"), FORMATS)
@given(given_records=records, base_offset=st.integers(0, 2**50))
@settings(max_examples=25, deadline=None)
def test_built_batches_are_read_back(magic: int, codec: Compression, given_records: list, base_offset: int) -> None:
    builder = BatchBuilder(magic, codec, size_limit=1000)
    expected: list[Record] = []
    for index, (timestamp, key, value, with_headers) in enumerate(given_records):
        kept = with_headers if magic == 2 else []
        assert builder.append(timestamp, key, value, kept) == index
        expected.append((base_offset + index, timestamp if magic else -1, key, value, kept))
    data = builder.build(base_offset=base_offset)
    for header in batch_headers(data):
        check_batch(data, header)
    columns = decode_batches(data)
    assert rows(columns) == expected
    assert columns.bytes_consumed == len(data)


def test_a_batch_can_be_built_again_with_another_state() -> None:
    builder = BatchBuilder(compression=Compression.GZIP)
    builder.append(5, b"k", b"v")
    builder.append(9, None, b"w")
    first = next(batch_headers(builder.build(producer_id=1, producer_epoch=2, base_sequence=3, transactional=True)))
    assert (first.producer_id, first.producer_epoch, first.base_sequence, first.is_transactional) == (1, 2, 3, True)
    assert (first.count, first.max_timestamp, first.codec, first.leader_epoch) == (2, 9, Compression.GZIP, -1)
    second = next(batch_headers(builder.build(producer_id=4, producer_epoch=5, base_sequence=6)))
    assert (second.producer_id, second.producer_epoch, second.base_sequence, second.is_transactional) == (
        4,
        5,
        6,
        False,
    )


@pytest.mark.parametrize("codec", [Compression.NONE, Compression.LZ4, Compression.ZSTD])
def test_a_builder_starts_another_batch_without_changing_the_first(codec: Compression) -> None:
    builder = BatchBuilder(2, codec, size_limit=1 << 20)
    handed = []
    for number in range(3):
        builder.clear()
        for each in range(5):
            builder.append(1_000 + number, b"key", b"%d-%d" % (number, each) * 5_000)
        assert builder.count == 5
        handed.append(builder.build_in_place(ProducerState(7, -1, 5 * number)))
        assert builder.count == 5
    for number, data in enumerate(handed):
        fresh = BatchBuilder(2, codec, size_limit=1 << 20)
        for each in range(5):
            fresh.append(1_000 + number, b"key", b"%d-%d" % (number, each) * 5_000)
        assert bytes(data) == fresh.build(producer_id=7, base_sequence=5 * number)


def test_sizes_are_known_before_building() -> None:
    builder = BatchBuilder(size_limit=200)
    assert (builder.count, builder.size_in_bytes, builder.max_timestamp) == (0, 61, -1)
    assert builder.has_room_for(None, b"x" * 10_000, ())
    builder.append(7, b"key", b"x" * 60, ())
    assert builder.size_in_bytes == len(builder.build())
    assert (builder.count, builder.base_timestamp, builder.max_timestamp) == (1, 7, 7)
    assert builder.has_room_for(b"k", b"v", ())
    assert builder.has_room_for(b"k", b"v", [("h", b"v")])
    assert not builder.has_room_for(b"k", b"x" * 60, ())
    assert not builder.has_room_for(b"k", b"v", [("h", b"x" * 60)])


def test_a_record_with_room_never_makes_the_batch_larger_than_its_limit() -> None:
    builder = BatchBuilder(size_limit=5000)
    size = 0
    while builder.has_room_for(b"k" * (size % 7), b"v" * size, [("header", b"h" * (size % 5))]):
        builder.append(10**12 * (size % 3), b"k" * (size % 7), b"v" * size, [("header", b"h" * (size % 5))])
        size += 1
    assert 4000 < builder.size_in_bytes <= 5000


@pytest.mark.parametrize(
    ("key", "value", "pairs"),
    [
        (b"k" * 50, None, None),
        (None, b"v" * 50, None),
        (None, None, [("header", b"h" * 50)]),
        (b"k" * 20, b"v" * 40, [("header", b"h" * 60)]),
    ],
)
def test_has_room_for_uses_the_maximum_size_of_a_record(
    key: bytes | None, value: bytes | None, pairs: list[tuple[str, bytes | None]] | None
) -> None:
    encoded = encode_headers(pairs)[0] if pairs else None

    def with_limit(limit: int) -> BatchBuilder:
        builder = BatchBuilder(size_limit=limit)
        builder.append(0, None, b"first")
        builder.append_if_room(1, key, value, encoded)
        return builder

    size = with_limit(1000).size_in_bytes
    fitting = [limit for limit in range(61, 400) if with_limit(limit).count == 2]
    assert fitting == list(range(fitting[0], 400))
    assert size <= fitting[0] <= size + 40


def test_append_if_room_builds_the_same_batch() -> None:
    one, other = BatchBuilder(size_limit=3000), BatchBuilder(size_limit=3000)
    headers = [("header", b"h"), ("null", None)]
    for number in itertools.count():
        key, value = (None, b"v" * number) if number % 3 else (b"key", None)
        given = headers if number % 2 else []
        fits = one.has_room_for(key, value, given)
        encoded = encode_headers(given)[0] if given else None
        assert other.append_if_room(1000 + number, key, value, encoded) == (number if fits else -1)
        if not fits:
            break
        one.append(1000 + number, key, value, given)
    assert number > 40
    assert other.build() == one.build()


def test_append_in_place_builds_the_same_batch() -> None:
    one, other = BatchBuilder(size_limit=9000), BatchBuilder(size_limit=9000)
    at_once = 0
    for number in itertools.count():
        key, value = (None, b"v" * number) if number % 3 else (b"key", None)
        encoded = encode_headers([("header", b"h"), ("null", None)])[0] if number % 2 else None
        expected = one.append_if_room(1000 + number, key, value, encoded)
        index = other.append_in_place(1000 + number, key, value, encoded)
        if index >= 0:
            at_once += 1
        else:
            index = other.append_if_room(1000 + number, key, value, encoded)
        assert index == expected
        if index < 0:
            break
    assert 0 < number - at_once < 10  # the first, and where memory had to grow
    assert other.build() == one.build()


def test_append_in_place_refuses_records_that_need_more_than_copying() -> None:
    builder = BatchBuilder(size_limit=1000)
    assert builder.append_in_place(1, None, b"first", None) == -1
    builder.append(1, None, b"first")
    assert builder.append_in_place(-2, None, b"a timestamp that is none", None) == -1
    assert builder.append_in_place(1, None, b"x" * 1000, None) == -1
    assert builder.append_in_place(1, None, b"second", None) == 1
    old = BatchBuilder(magic=1)
    old.append(1, None, b"first")
    assert old.append_in_place(1, None, b"second", None) == -1
    assert (builder.count, old.count) == (2, 1)


@pytest.mark.parametrize("codec", [Compression.GZIP, Compression.LZ4])
def test_compressing_ahead_builds_the_same_batch(codec: Compression) -> None:
    builder = BatchBuilder(compression=codec, size_limit=10_000)
    builder.append(1, b"key", b"value" * 100, ())
    plain = builder.build(producer_id=5, producer_epoch=1, base_sequence=9)
    assert builder.can_compress
    builder.compress()
    assert not builder.can_compress
    assert builder.build(producer_id=5, producer_epoch=1, base_sequence=9) == plain
    builder.append(2, b"key", b"other", ())
    assert builder.can_compress
    assert len(decode_batches(builder.build())) == 2


@pytest.mark.parametrize(("magic", "codec"), [(2, Compression.NONE), (1, Compression.GZIP)])
def test_errors_of_compressing_ahead_are_raised_by_build(magic: int, codec: Compression) -> None:
    builder = BatchBuilder(magic, codec)
    builder.append(1, b"key", b"value", ())
    assert not builder.can_compress
    builder.compress()
    assert len(decode_batches(builder.build())) == 1


def test_the_first_record_has_room_whatever_its_size() -> None:
    builder = BatchBuilder(size_limit=100)
    assert builder.append_if_room(1, None, b"x" * 1000, None) == 0
    assert builder.append_if_room(1, None, b"", None) == -1
    assert builder.count == 1


def test_old_formats_accept_records_but_no_headers() -> None:
    builder = BatchBuilder(magic=1, size_limit=300)
    with pytest.raises(UnsupportedForMessageFormatError):
        builder.append_if_room(1, None, b"v", encode_headers([("k", b"v")])[0])
    assert builder.append_if_room(1, b"k", b"v", None) == 0
    assert rows(decode_batches(builder.build())) == [(0, 1, b"k", b"v", [])]


def test_bytes_like_keys_and_values_are_accepted() -> None:
    builder = BatchBuilder()
    builder.append(1, bytearray(b"k"), memoryview(b"value")[1:3])
    assert rows(decode_batches(builder.build())) == [(0, 1, b"k", b"al", [])]


@pytest.mark.parametrize(
    ("key", "value", "with_headers"),
    [("k", b"v", ()), (b"k", "v", ()), (b"k", 7, ()), (b"k", b"v", [(b"h", b"v")]), (b"k", b"v", [("h", "v")])],
)
def test_unserialized_values_are_refused(key: object, value: object, with_headers: object) -> None:
    builder = BatchBuilder()
    with pytest.raises(TypeError, match="Expected the"):
        builder.append(1, key, value, with_headers)  # type: ignore[arg-type]
    assert builder.count == 0


@pytest.mark.parametrize("timestamp", [-2, 1 << 62])
def test_an_impossible_timestamp_is_refused(timestamp: int) -> None:
    with pytest.raises(ValueError, match="timestamp"):
        BatchBuilder().append(timestamp, None, b"v")


def test_headers_need_magic_2() -> None:
    with pytest.raises(UnsupportedForMessageFormatError, match="magic 1"):
        BatchBuilder(1).append(1, None, b"v", [("h", b"v")])


def test_zstd_needs_magic_2() -> None:
    builder = BatchBuilder(1, Compression.ZSTD)
    builder.append(1, None, b"v")
    with pytest.raises(UnsupportedCompressionTypeError, match="zstd needs magic 2"):
        builder.build()


def test_an_empty_batch_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one record"):
        BatchBuilder().build()


@pytest.mark.parametrize(("magic", "codec"), [(3, 0), (-1, 0), (2, 5)])
def test_formats_that_do_not_exist_are_refused(magic: int, codec: int) -> None:
    with pytest.raises(ValueError, match=r"magic|Compression"):
        BatchBuilder(magic, codec)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("codec", "low", "high"), [(Compression.GZIP, 1, 9), (Compression.ZSTD, 1, 15), (Compression.LZ4, 1, 9)]
)
def test_a_higher_level_compresses_better(codec: Compression, low: int, high: int) -> None:
    sizes = []
    for level in (low, high):
        builder = BatchBuilder(2, codec, compression_level=level)
        for n in range(2000):
            builder.append(n, b"%d" % (n * 7919 % 1000), b"some value %d" % (n * n % 977))
        sizes.append(len(builder.build()))
        assert len(decode_batches(builder.build())) == 2000
    assert sizes[1] < sizes[0]


def test_timestamps_may_go_back() -> None:
    builder = BatchBuilder()
    for timestamp in (1000, 0, 2**45, 5):
        builder.append(timestamp, None, None)
    assert [timestamp for _, timestamp, *_ in rows(decode_batches(builder.build()))] == [1000, 0, 2**45, 5]
    assert builder.max_timestamp == 2**45


@pytest.mark.parametrize("timestamp", [-1, MAX_TIMESTAMP])
def test_the_smallest_and_largest_timestamps_are_accepted(timestamp: int) -> None:
    one, other = BatchBuilder(), BatchBuilder()
    one.append(timestamp, None, b"v")
    assert other.append_if_room(timestamp, None, b"v", None) == 0
    assert one.build() == other.build()
    assert one.max_timestamp == other.max_timestamp == timestamp


def test_a_record_may_need_36_bytes_more_than_key_and_value() -> None:
    for limit, fits in ((200, True), (199, False)):
        builder = BatchBuilder(size_limit=limit)
        builder.append(0, None, b"first")
        value = b"v" * (200 - builder.size_in_bytes - 36 - 3)
        assert builder.has_room_for(b"key", value, ()) is fits


@pytest.mark.parametrize("timestamp", [-2, MAX_TIMESTAMP + 1])
def test_append_if_room_refuses_an_impossible_timestamp(timestamp: int) -> None:
    builder = BatchBuilder()
    with pytest.raises(ValueError, match="timestamp"):
        builder.append_if_room(timestamp, None, b"v", None)
    assert builder.count == 0
    assert builder.append_if_room(1, None, b"v", None) == 0


def test_append_in_place_accepts_only_valid_timestamps() -> None:
    builder = BatchBuilder()
    builder.append(5, None, b"first")
    timestamps = (-1, MAX_TIMESTAMP, -2, MAX_TIMESTAMP + 1, 0)
    assert [builder.append_in_place(each, None, b"v", None) for each in timestamps] == [1, 2, -1, -1, 3]
    assert [row[1] for row in rows(decode_batches(builder.build()))] == [5, -1, MAX_TIMESTAMP, 0]


@pytest.mark.parametrize(("key", "value"), [(None, None), (b"", b""), (b"key", None), (None, b"value")])
def test_a_record_is_appended_into_exactly_sufficient_room(key: bytes | None, value: bytes | None) -> None:
    first = BatchBuilder()
    first.append(0, None, b"first")
    needed = first.size_in_bytes + 36 + len(key or b"") + len(value or b"")
    for limit, fits in ((needed, True), (needed - 1, False)):
        builder = BatchBuilder(size_limit=limit)
        builder.append(0, None, b"first")
        assert builder.append_if_room(1, key, value, None) == (1 if fits else -1)
