"""Checks of what callers pass to a consumer: each gives the value to use, or an error that says what was expected.

Numbers may be of any type that stands for a whole number, such as NumPy's. Partitions may be plain tuples.
"""

import operator
import re
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any

from kafka.errors import AssertedArgumentError, IllegalArgumentError
from kafka.structs import OffsetAndMetadata, TopicPartition

_LEGAL_TOPIC = re.compile(r"[a-zA-Z0-9._-]{1,249}")
_MAX_INT32 = 2**31 - 1
_MAX_INT64 = 2**63 - 1
_MAX_METADATA = 2**15 - 1
"""How many bytes a text may have in the older versions of OffsetCommit."""


def whole_number(given: Any, low: int, high: int) -> int | None:
    """An int for ``given``; None if it is no whole number from ``low`` to ``high``."""
    try:
        number = operator.index(given)
    except TypeError:
        return None
    return number if low <= number <= high else None


def check_max_records(given: Any, default: int) -> int:
    """The number of records to hand out at most; raises `IllegalArgumentError`."""
    if given is None:
        return default
    number = whole_number(given, 1, _MAX_INT64)
    if number is None:
        raise AssertedArgumentError(f"max_records is a whole number from 1, not {given!r}")
    return number


def check_offset(given: Any) -> int:
    """An offset to go to; raises `IllegalArgumentError`."""
    offset = whole_number(given, 0, _MAX_INT64)
    if offset is None:
        raise AssertedArgumentError(f"an offset is a whole number from 0 to 2**63 - 1, not {given!r}")
    return offset


def check_timeout(given: Any) -> float:
    """A time to wait, in the unit given; raises `IllegalArgumentError`, also for nan."""
    number = given if type(given) is int else float(given) if isinstance(given, Real) else -1
    if not number >= 0:
        raise AssertedArgumentError(f"a timeout is a number from 0, not {given!r}")
    return number


def check_topic_name(topic: object) -> str:
    """The topic, if brokers would take the name; raises `TypeError` or `IllegalArgumentError`."""
    if not isinstance(topic, str):
        raise TypeError(f"a topic name is a str, not {type(topic).__name__}: {topic!r}")
    if not _LEGAL_TOPIC.fullmatch(topic) or topic in (".", ".."):
        raise IllegalArgumentError(
            f"{topic!r} is no topic name: 1 to 249 of a-z A-Z 0-9 . _ - are allowed, but not '.' or '..'"
        )
    return topic


def check_topic_names(topics: object) -> frozenset[str]:
    """Topics to subscribe to, one or several; raises `TypeError` or `IllegalArgumentError`."""
    if isinstance(topics, str):
        topics = [topics]
    if not isinstance(topics, Iterable):
        raise TypeError(f"topics are a list of names, not {type(topics).__name__}: {topics!r}")
    return frozenset(map(check_topic_name, topics))


def check_pattern(pattern: object) -> re.Pattern[str]:
    """A pattern of topic names, compiled; raises `TypeError` or `IllegalArgumentError`."""
    text = pattern.pattern if isinstance(pattern, re.Pattern) else pattern
    if not isinstance(text, str):
        raise TypeError(f"a pattern of topic names is a str or a compiled pattern of one, not {pattern!r}")
    try:
        return pattern if isinstance(pattern, re.Pattern) else re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise IllegalArgumentError(f"{text!r} is no regular expression: {error}") from error


def check_partition(given: Any) -> TopicPartition:
    """A partition; raises `TypeError` or `IllegalArgumentError`."""
    if not isinstance(given, tuple) or len(given) != 2 or not isinstance(given[0], str):
        raise TypeError(f"a partition is a TopicPartition(topic, partition), not {type(given).__name__}: {given!r}")
    topic, number = given
    if type(number) is int and type(given) is TopicPartition and 0 <= number <= _MAX_INT32:
        check_topic_name(topic)
        return given
    if not hasattr(number, "__index__"):
        raise TypeError(f"the number of a partition is an int, not {type(number).__name__}: {given!r}")
    index = whole_number(number, 0, _MAX_INT32)
    if index is None:
        raise IllegalArgumentError(f"the number of a partition is from 0 to 2**31 - 1: there is no {given!r}")
    return TopicPartition(check_topic_name(topic), index)


def check_partitions(given: Any) -> list[TopicPartition]:
    """Several partitions; raises `TypeError` or `IllegalArgumentError`."""
    is_single = isinstance(given, TopicPartition)  # which is a tuple, and would be gone through
    if is_single or isinstance(given, str | bytes) or not isinstance(given, Iterable):
        hint = ": put it into a list" if is_single else ""
        raise TypeError(f"partitions are a list of TopicPartition(topic, partition), not {given!r}{hint}")
    return [check_partition(each) for each in given]


def check_offsets(offsets: object) -> dict[TopicPartition, OffsetAndMetadata]:
    """The offsets given to a commit; raises `TypeError` or `IllegalArgumentError`."""
    if not isinstance(offsets, Mapping):
        raise IllegalArgumentError(
            f"offsets to commit are a dict of TopicPartition to OffsetAndMetadata, not {type(offsets)}"
        )
    return dict(_checked_offset(tp, committed) for tp, committed in offsets.items())


def _checked_offset(tp: object, committed: object) -> tuple[TopicPartition, OffsetAndMetadata]:
    if not isinstance(tp, tuple) or not isinstance(committed, OffsetAndMetadata):
        raise IllegalArgumentError(
            f"offsets to commit are a dict of TopicPartition to OffsetAndMetadata; there is {tp!r}: {committed!r}"
        )
    partition = check_partition(tp)
    offset = whole_number(committed.offset, 0, _MAX_INT64)
    if offset is None:
        raise IllegalArgumentError(
            f"the offset to commit for {partition!r} is {committed.offset!r}; offsets are whole numbers from 0 to "
            "2**63 - 1"
        )
    epoch = None if committed.leader_epoch is None else whole_number(committed.leader_epoch, -1, _MAX_INT32)
    if epoch is None and committed.leader_epoch is not None:
        raise IllegalArgumentError(
            f"the leader epoch to commit for {partition!r} is {committed.leader_epoch!r}; it is a whole number from -1 "
            "to 2**31 - 1, or None"
        )
    return partition, OffsetAndMetadata(offset, _checked_metadata(partition, committed.metadata), epoch)


def _checked_metadata(tp: TopicPartition, metadata: object) -> str | None:
    if metadata is not None and not isinstance(metadata, str):
        raise TypeError(f"the metadata to commit for {tp!r} are a str or None, not {type(metadata).__name__}")
    try:
        size = len((metadata or "").encode())
    except UnicodeEncodeError as error:
        raise IllegalArgumentError(f"the metadata to commit for {tp!r} are no text: {error}") from error
    if size > _MAX_METADATA:
        raise IllegalArgumentError(f"the metadata to commit for {tp!r} have {size} bytes; {_MAX_METADATA} are allowed")
    return metadata


def check_times(timestamps: Any) -> dict[TopicPartition, int]:
    """The times given to a lookup; raises `TypeError` or `IllegalArgumentError`."""
    if not isinstance(timestamps, Mapping):
        raise TypeError(f"times to look up are a dict of TopicPartition to milliseconds, not {timestamps!r}")
    return {check_partition(tp): _checked_time(tp, timestamp) for tp, timestamp in timestamps.items()}


def _checked_time(tp: TopicPartition, given: Any) -> int:
    try:
        timestamp = int(given)
    except (TypeError, ValueError, OverflowError) as error:
        raise IllegalArgumentError(f"the time to look up in {tp!r} is {given!r}; times are milliseconds") from error
    if not 0 <= timestamp <= _MAX_INT64:
        raise IllegalArgumentError(
            f"the time to look up in {tp!r} is {given}; times are milliseconds since 1970, and not negative "
            "(use beginning_offsets() or end_offsets() for the ends)"
        )
    return timestamp
