"""The bytes that members exchange: Java's layout, read leniently where newer members have added to it."""

from __future__ import annotations

import struct

import pytest

from kafka.coordinator.consumer_protocol import (
    assigned_partitions,
    decode_assignment,
    decode_subscription,
    encode_assignment,
    encode_subscription,
    make_assignment,
    make_subscription,
)
from kafka.errors import WireFormatError
from kafka.structs import TopicPartition

LONG = b"\0\x09\x7f\xff\xff\xff\xff\xfe" + bytes(30)
"""Two thousand million topics, the first of which is two bytes shorter than nothing."""


def test_a_subscription_has_javas_layout() -> None:
    assert encode_subscription(make_subscription(["t"], b"ud")) == (
        b"\0\1"  # version
        b"\0\0\0\1\0\1t"  # topics
        b"\0\0\0\2ud"  # user data
        b"\0\0\0\0"  # owned partitions
    )


def test_a_subscription_is_read_back_in_every_version() -> None:
    subscription = make_subscription(["b", "a"])
    subscription.generation_id = 7
    subscription.rack_id = "r"
    for version in range(4):
        data = struct.pack(">h", version) + subscription.encode(version)
        read = decode_subscription(data)
        assert read.topics == ["a", "b"]
        assert read.rack_id == ("r" if version >= 3 else None)
        assert read.generation_id == (7 if version >= 2 else -1)


def test_known_fields_of_a_newer_version_are_read() -> None:
    subscription = make_subscription(["a", "b"])
    subscription.generation_id = 7
    read = decode_subscription(b"\0\x09" + subscription.encode(3) + b"something new")
    assert (read.topics, read.generation_id) == (["a", "b"], 7)
    assignment = decode_assignment(b"\0\x09" + make_assignment({"t": [1]}).encode(3) + b"something new")
    assert assigned_partitions(assignment) == [TopicPartition("t", 1)]


def test_an_assignment_has_javas_layout() -> None:
    data = encode_assignment(make_assignment({"t": [1, 2]}))
    assert data == b"\0\0\0\0\0\1\0\1t\0\0\0\2\0\0\0\1\0\0\0\2\xff\xff\xff\xff"
    assert assigned_partitions(decode_assignment(data)) == [TopicPartition("t", 1), TopicPartition("t", 2)]


def test_no_bytes_are_an_empty_assignment() -> None:
    assert assigned_partitions(decode_assignment(b"")) == []


@pytest.mark.parametrize("data", [b"", b"\0", b"\xff\xff", b"\0\1\0\0", b"\0\x09\0\0\0\5\0\1a", LONG])
def test_damaged_subscriptions_are_refused(data: bytes) -> None:
    with pytest.raises(WireFormatError):
        decode_subscription(data)


@pytest.mark.parametrize(("data", "why"), [(b"\0", "got 1 bytes"), (b"\0\0", "")])
def test_damage_is_described(data: bytes, why: str) -> None:
    with pytest.raises(WireFormatError) as caught:
        decode_assignment(data)
    assert ("expected a 2-byte version" in str(caught.value)) is bool(why)
    assert why in str(caught.value)


@pytest.mark.parametrize("data", [b"\0", b"\xff\xff", b"\0\0\0\0"])
def test_damaged_assignments_are_refused(data: bytes) -> None:
    with pytest.raises(WireFormatError):
        decode_assignment(data)
