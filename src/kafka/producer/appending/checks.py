"""Checks the arguments for one record; `Blocked` and its subclasses indicate why a valid record has to wait."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

from kafka.errors import AssertedArgumentError, AssertedTypeError, IllegalArgumentError
from kafka.record.builder import MAX_TIMESTAMP
from kafka.record.record_headers import encode_headers
from kafka.serializer import AdaptedSerializer

Header = tuple[str, bytes | None]


class PreparedRecord(NamedTuple):
    """A serialized record with its partition.

    Attributes:
        named: whether the caller chose the partition.
        generation: the generation of the topic; see `TopicQueues`.
    """

    topic: str
    partition: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: bytes | None
    header_size: int
    size: int
    named: bool = False
    generation: int = 0


def serialized(
    serializer: AdaptedSerializer, what: str, topic: str, given: Any, headers: Sequence[Header] | None
) -> Any:
    """Run a serializer; if it raises an exception, add a note that names the topic and the part of the record."""
    try:
        return serializer(topic, given, () if headers is None else headers)  # the serializer may add headers
    except Exception as error:
        error.add_note(f"raised by the {what} serializer, for a {type(given).__name__} that goes to topic {topic!r}")
        raise


def checked_bytes(what: str, topic: str, given: Any, serializer: AdaptedSerializer | None) -> bytes:
    """Convert a bytes-like object to bytes; raises `TypeError` for any other type."""
    if isinstance(given, bytes):
        return bytes(memoryview(given))  # a subclass may override `__bytes__`
    if isinstance(given, (bytearray, memoryview)):
        return bytes(given)
    if serializer is None:
        advice = f"pass bytes, or give the producer a {what}_serializer"
    else:
        advice = f"that is what the {what}_serializer returned"
    raise AssertedTypeError(
        f"the {what} of a record for topic {topic!r} must be bytes or None, not {type(given).__name__}; {advice}"
    )


def encoded_headers(topic: str, given: Any) -> tuple[bytes, int]:
    """Return the encoded headers, and the total size of their keys and values; raises `TypeError`."""
    try:
        return encode_headers(given)
    except TypeError:
        refuse_headers(topic, given)
        raise
    except UnicodeEncodeError as error:
        raise IllegalArgumentError(f"a header's key for topic {topic!r} cannot be encoded: {error}") from error


def refuse_headers(topic: str, given: Any) -> None:
    """Raise a `TypeError` for headers that are not pairs of a str and bytes or None."""
    if not isinstance(given, (list, tuple)):
        raise AssertedTypeError(
            f"headers for topic {topic!r} must be a list of (str, bytes), not {type(given).__name__}"
        )
    for item in given:
        if not isinstance(item, (tuple, list)) or len(item) != 2:
            raise AssertedTypeError(f"a header for topic {topic!r} must be a pair (str, bytes), not {item!r}")
        key, value = item
        if not isinstance(key, str) or not (value is None or isinstance(value, (bytes, bytearray, memoryview))):
            raise AssertedTypeError(f"a header for topic {topic!r} must be a pair (str, bytes or None), not {item!r}")


def checked_timestamp(topic: str, given: Any) -> int:
    """Check a timestamp in milliseconds; raises `TypeError` for other types, and `ValueError` if it is out of range."""
    if not hasattr(type(given), "__index__"):
        raise AssertedTypeError(
            f"timestamp_ms for topic {topic!r} must be an int, milliseconds since 1970-01-01 UTC, not "
            f"{type(given).__name__}"
        )
    timestamp = int(operator.index(given))
    if not -1 <= timestamp <= MAX_TIMESTAMP:
        raise IllegalArgumentError(
            f"timestamp_ms for topic {topic!r} must be milliseconds since 1970-01-01 UTC, from -1 to 2**61, not "
            f"{timestamp}"
        )
    return timestamp


def checked_timeout_ms(given: Any) -> float | None:
    """Like `checked_timeout_s`, but for milliseconds."""
    return checked_timeout_s(given, "milliseconds")


def checked_timeout_s(given: Any, unit: str = "seconds") -> float | None:
    """Check a timeout in seconds, None for no limit; raises `IllegalArgumentError` or `TypeError`."""
    if given is None:
        return None
    try:
        timeout = math.fabs(given)  # accepts what float() accepts, except text
    except (TypeError, ValueError):
        raise AssertedTypeError(f"a timeout is a number of {unit}, or None, not {given!r}") from None
    if not math.isnan(timeout) and given >= 0:
        return timeout
    raise IllegalArgumentError(f"a timeout is a number of {unit} from 0, or None, not {given!r}")


def checked_number(topic: str, given: Any, source: str) -> int:
    """Convert a partition number of any integer type to int; raises `TypeError` for other types."""
    if isinstance(given, bool) or not hasattr(type(given), "__index__"):
        raise AssertedTypeError(f"{source} for topic {topic!r} must be an int, not {type(given).__name__}")
    return operator.index(given)


def checked_partition(topic: str, given: Any, partitions: int, source: str) -> int:
    """Check a partition number against the topic's number of partitions.

    Raises `TypeError` if the number is not an integer, and `IllegalArgumentError` if the topic has no such partition.
    """
    partition = checked_number(topic, given, source)
    if not 0 <= partition < partitions:
        raise AssertedArgumentError(
            f"topic {topic!r} has partitions 0 to {partitions - 1}, but {source} is {partition}"
        )
    return partition


def checked_topic(topic: Any) -> str:
    """Check a topic's name according to Kafka's rules; raises `TypeError` or `IllegalArgumentError`."""
    if not isinstance(topic, str):
        raise AssertedTypeError(f"a topic's name must be a str, not {type(topic).__name__}")
    legal = all(c.isascii() and (c.isalnum() or c in "._-") for c in topic)
    if not topic or len(topic) > 249 or topic in (".", "..") or not legal:
        raise IllegalArgumentError(
            f"{topic!r} is not a topic name: expected 1 to 249 of the characters a-z, A-Z, 0-9, '.', '_' and '-', "
            "and neither '.' nor '..'"
        )
    return str.__str__(topic)


class Blocked(Exception):  # not an error, because it never leaves the producer
    """The record has to wait."""


class NeedsTopic(Blocked):
    """The topic, or the requested partition, is not known yet."""

    def __init__(self, topic: str, partition: int | None) -> None:
        self.topic = topic
        self.partition = partition


class PartitionGone(Blocked):
    """The topic was recreated after the partition was chosen, so the partition must be chosen again."""


class NeedsMemory(Blocked):
    """All of `buffer_memory` is in use.

    Arguments:
        amount: number of bytes that must be free.
        record: the record that waits.
    """

    def __init__(self, amount: int, record: PreparedRecord) -> None:
        self.amount = amount
        self.record = record
