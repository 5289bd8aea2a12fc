"""Bytes that are not a message cause a typed error, without excessive memory, and decoding always ends."""

from __future__ import annotations

import contextlib
import tracemalloc
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kafka.errors import WireFormatError
from kafka.wire import Message, framing, message_class, message_names, request_class
from kafka.wire.api.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kafka.wire.index import API_NAMES

from .messages import Case, one_case_a_version

thorough = settings(
    max_examples=500, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], database=None
)


def is_read(message: type[Message], version: int, data: bytes) -> bool:
    try:
        message.decode(data, version)
    except WireFormatError:
        return False
    return True


def is_read_or_refused(message: type[Message], version: int, data: Any) -> bool:
    """Read bytes; return whether they are a message. If so, check that writing and reading it round-trips."""
    try:
        read = message.decode(data, version)
    except WireFormatError:
        return False
    written = read.encode(version)
    assert message.decode(written, version).encode(version) == written
    return True


def flipped(data: bytes, bits: list[int]) -> bytes:
    changed = bytearray(data)
    for bit in bits:
        changed[bit // 8 % len(data)] ^= 1 << bit % 8
    return bytes(changed)


def with_version(message: type[Message], version: int) -> tuple[type[Message], int]:
    return message, message.MIN_VERSION + version % (message.MAX_VERSION - message.MIN_VERSION + 1)


cases = st.deferred(lambda: st.sampled_from(one_case_a_version()))
versions = st.builds(with_version, st.sampled_from(message_names()).map(message_class), st.integers(0, 20))


@pytest.mark.slow
def test_each_cut_message_is_refused() -> None:
    for case in one_case_a_version():
        for end in range(0, len(case.data), max(1, len(case.data) // 40)):
            assert not is_read(case.message, case.version, case.data[:end]), f"{end} bytes of {case}"


def test_each_message_with_bytes_left_over_is_refused() -> None:
    for case in one_case_a_version():
        with pytest.raises(WireFormatError, match="expected the end"):
            case.message.decode(case.data + b"\x00", case.version)


@pytest.mark.slow
@thorough
@given(case=cases, bits=st.lists(st.integers(0, 2**16), min_size=1, max_size=4))
def test_flipped_bits(case: Case, bits: list[int]) -> None:
    if case.data:
        is_read_or_refused(case.message, case.version, flipped(case.data, bits))


@pytest.mark.slow
@thorough
@given(case=cases, start=st.integers(0, 2**10), length=st.integers(0, 9), new=st.binary(max_size=9))
def test_replaced_bytes(case: Case, start: int, length: int, new: bytes) -> None:
    start %= len(case.data) + 1
    is_read_or_refused(case.message, case.version, case.data[:start] + new + case.data[start + length :])


@pytest.mark.slow
@thorough
@given(target=versions, data=st.binary(max_size=200))
def test_random_bytes(target: tuple[type[Message], int], data: bytes) -> None:
    is_read_or_refused(*target, data)


@pytest.mark.slow
@thorough
@given(
    target=versions, words=st.lists(st.sampled_from([b"\0", b"\1", b"\2", b"\x7f", b"\xff", b"\0\0\0\1"]), max_size=60)
)
def test_bytes_that_look_like_lengths(target: tuple[type[Message], int], words: list[bytes]) -> None:
    is_read_or_refused(*target, b"".join(words))


@settings(thorough, max_examples=300)
@given(key=st.sampled_from(sorted(API_NAMES)), version=st.integers(0, 20), data=st.binary(max_size=60))
def test_random_frames(key: int, version: int, data: bytes) -> None:
    _, version = with_version(request_class(key), version)
    start = key.to_bytes(2, "big") + version.to_bytes(2, "big")
    for read in (framing.decode_request, lambda frame: framing.decode_response(request_class(key), version, frame)):
        with contextlib.suppress(WireFormatError):
            read(start + data)


def test_too_many_structs_for_the_bytes_are_rejected_before_allocation() -> None:
    count = 2_000_000
    data = count.to_bytes(4, "big") + bytes(2 * count)
    tracemalloc.start()
    try:
        with pytest.raises(WireFormatError, match="at most 246666 structs"):
            MetadataRequest.decode(data, 1)
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()


def test_unknown_tags_count_too() -> None:
    tags = b"".join(_uvarint(tag) + b"\0" for tag in range(200_000))
    with pytest.raises(WireFormatError, match="at most"):
        MetadataRequest.decode(b"\0\0\0" + _uvarint(200_000) + tags, 12)


@pytest.mark.slow
def test_the_metadata_of_many_partitions_are_read() -> None:
    """Any message may have 80,000 structs, and one more for each 24 bytes; a partition has more bytes."""
    partition = MetadataResponsePartition(replica_nodes=[1], isr_nodes=[1])

    def written(count: int) -> bytes:
        return MetadataResponse(topics=[MetadataResponseTopic(name="t", partitions=[partition] * count)]).encode(12)

    assert len(written(100)) - len(written(99)) > 24
    assert len(MetadataResponse.decode(written(85_000), 12).topics[0].partitions) == 85_000


@pytest.mark.slow
def test_a_request_has_its_own_limit() -> None:
    many = MetadataRequest(topics=[MetadataRequestTopic(name=f"a-topic-with-a-name-{n:010}") for n in range(200_001)])
    frame = b"".join(framing.encode_request(many, 9, 1, "c"))[4:]
    with pytest.raises(WireFormatError, match="at most 200000 structs"):
        framing.decode_request(frame)


def _uvarint(number: int) -> bytes:
    data = bytearray()
    while number > 127:
        data.append(number & 127 | 128)
        number >>= 7
    return bytes([*data, number])


@pytest.mark.slow
@pytest.mark.parametrize("byte", [0, 1, 2, 0x10, 0x7F, 0x80, 0xFF])
def test_allocation_is_limited_by_the_size_of_the_input(byte: int) -> None:
    """A byte may cost at most the smallest struct: an object whose fields have at least one byte each."""
    size, worth = 2000, 400
    for name in message_names():
        message = message_class(name)
        for version in range(message.MIN_VERSION, message.MAX_VERSION + 1):
            message.reader(version)
            for prefix in (b"", b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff\x0f", b"\x00\x00\x07\x00", b"\xd0\x0f"):
                data = prefix + bytes([byte]) * size
                tracemalloc.start()
                try:
                    is_read(message, version, data)
                    peak = tracemalloc.get_traced_memory()[1]
                finally:
                    tracemalloc.stop()
                assert peak < worth * len(data), (name, version, prefix)
