"""What a caller may give for one record, at the bounds."""

from __future__ import annotations

from typing import Any

import pytest

from kafka.errors import AssertedArgumentError, IllegalArgumentError
from kafka.producer.appending.checks import (
    checked_bytes,
    checked_number,
    checked_partition,
    checked_timeout_s,
    checked_timestamp,
    checked_topic,
    encoded_headers,
    refuse_headers,
)

LATEST = 2**61
"""The last timestamp that can be sent, in milliseconds."""


@pytest.mark.parametrize("topic", ["a", "a" * 249, "a.b_c-9Z", "...", "a.", "_"])
def test_a_topic_name_has_1_to_249_legal_characters(topic: str) -> None:
    assert checked_topic(topic) == topic


@pytest.mark.parametrize("topic", ["", "a" * 250, ".", "..", "a b", "a/b", "\u00e4", "\u0661"])
def test_invalid_topic_names_are_refused(topic: str) -> None:
    with pytest.raises(IllegalArgumentError, match=r"is not a topic name"):
        checked_topic(topic)


@pytest.mark.parametrize("given", [-1, 0, LATEST])
def test_timestamps_from_minus_1_to_the_maximum_are_accepted(given: int) -> None:
    assert checked_timestamp("t", given) == given


@pytest.mark.parametrize("given", [-2, LATEST + 1])
def test_impossible_timestamps_are_refused(given: int) -> None:
    with pytest.raises(IllegalArgumentError, match=r"from -1 to 2\*\*61"):
        checked_timestamp("t", given)


@pytest.mark.parametrize("given", [1.5, "5", None])
def test_timestamps_must_be_integers(given: Any) -> None:
    with pytest.raises(TypeError, match="must be an int, milliseconds"):
        checked_timestamp("t", given)


@pytest.mark.parametrize("given", [0, 0.5, 7, None])
def test_a_timeout_is_none_or_not_negative(given: float | None) -> None:
    assert checked_timeout_s(given) == given


@pytest.mark.parametrize("given", [-1, -0.001, float("nan")])
def test_a_negative_timeout_is_refused(given: float) -> None:
    with pytest.raises(IllegalArgumentError):
        checked_timeout_s(given)


@pytest.mark.parametrize("given", [True, False, 1.0, "1", None])
def test_a_partition_is_an_integer_not_a_bool(given: Any) -> None:
    with pytest.raises(TypeError, match="partition for topic 't' must be an int"):
        checked_number("t", given, "partition")


@pytest.mark.parametrize("given", [0, 2])
def test_partitions_are_numbered_from_0(given: int) -> None:
    assert checked_partition("t", given, 3, "partition") == given


@pytest.mark.parametrize("given", [-1, 3])
def test_a_partition_that_the_topic_does_not_have_is_refused(given: int) -> None:
    with pytest.raises(AssertedArgumentError, match=f"has partitions 0 to 2, but partition is {given}"):
        checked_partition("t", given, 3, "partition")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("no list", "must be a list of"),
        ([("a", b"1"), "ab"], "must be a pair .str, bytes., not 'ab'"),
        ([("a",)], "must be a pair"),
        ([("a", b"1", b"2")], "must be a pair"),
        ([(b"a", b"1")], "a pair .str, bytes or None."),
        ([("a", "1")], "a pair .str, bytes or None."),
        ([("a", b"1"), ("b", 2)], "not .'b', 2."),
    ],
)
def test_invalid_headers_are_named(given: Any, expected: str) -> None:
    with pytest.raises(TypeError, match=expected):
        refuse_headers("t", given)


@pytest.mark.parametrize("value", [None, b"x", bytearray(b"x"), memoryview(b"x")])
def test_valid_headers_are_accepted(value: Any) -> None:
    refuse_headers("t", [("a", value)])
    refuse_headers("t", (["a", value],))


@pytest.mark.parametrize("given", [b"x", bytearray(b"x"), memoryview(b"x")])
def test_buffers_become_bytes(given: Any) -> None:
    found = checked_bytes("value", "t", given, None)
    assert (type(found), found) == (bytes, b"x")


def test_other_types_than_bytes_are_refused_with_advice() -> None:
    with pytest.raises(TypeError, match="pass bytes, or give the producer a value_serializer"):
        checked_bytes("value", "t", "text", None)
    with pytest.raises(TypeError, match="that is what the key_serializer returned"):
        checked_bytes("key", "t", 5, lambda *given: given)  # type: ignore[arg-type]


@pytest.mark.parametrize("headers", ["text", [("key", "text")], ["key"]])
def test_errors_that_kafka_python_asserted_are_assertion_errors(headers: Any) -> None:
    """Programs of 2.x catch `AssertionError` for a value that is no bytes, those of 3.0 `TypeError`."""
    for kind in (AssertionError, TypeError):
        with pytest.raises(kind, match="not str"):
            checked_bytes("value", "t", "text", None)
        with pytest.raises(kind, match="header"):
            encoded_headers("t", headers)


@pytest.mark.parametrize("kind", [AssertionError, TypeError])
def test_other_type_errors_are_assertion_errors_too(kind: type[Exception]) -> None:
    with pytest.raises(kind, match="timestamp_ms"):
        checked_timestamp("t", "now")
    with pytest.raises(kind, match="a timeout is a number"):
        checked_timeout_s("long")
    with pytest.raises(kind, match="partition for topic 't' must be an int"):
        checked_number("t", "0", "partition")
    with pytest.raises(kind, match="name must be a str"):
        checked_topic(5)
