"""Checks for the arguments of consumer methods. Each check returns the value to use, or raises an error.

Numbers may be of any integer type, such as NumPy's. Partitions may be plain tuples.
"""

import re
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any

from kafka.coordinator.offset_arguments import check_offsets as check_offsets
from kafka.coordinator.offset_arguments import check_partition as check_partition
from kafka.coordinator.offset_arguments import check_topic_name as check_topic_name
from kafka.coordinator.offset_arguments import whole_number
from kafka.errors import AssertedArgumentError, IllegalArgumentError
from kafka.structs import TopicPartition

_MAX_INT64 = 2**63 - 1


def check_max_records(given: Any, name: str = "max_records") -> int:
    """Return the maximum number of records. Raises `IllegalArgumentError` for an invalid one.

    Arguments:
        given: the caller's value.
        name: the argument's name, for errors.
    """
    number = whole_number(given, 1, _MAX_INT64)
    if number is None:
        raise AssertedArgumentError(f"{name} must be a whole number of at least 1, not {given!r}")
    return number


def check_offset(given: Any) -> int:
    """Return an offset to seek to. Raises `IllegalArgumentError`."""
    offset = whole_number(given, 0, _MAX_INT64)
    if offset is None:
        raise AssertedArgumentError(f"an offset must be a whole number from 0 to 2**63 - 1, not {given!r}")
    return offset


def check_timeout(given: Any) -> float:
    """Return a timeout in its original unit. Raises `IllegalArgumentError`, also for nan."""
    number = given if type(given) is int else float(given) if isinstance(given, Real) else -1
    if not number >= 0:
        raise AssertedArgumentError(f"a timeout must be a number of milliseconds of at least 0, not {given!r}")
    return number


def check_topic_names(topics: object) -> frozenset[str]:
    """Return the names of the topics to subscribe to. Raises `TypeError` or `IllegalArgumentError`."""
    if isinstance(topics, str):
        topics = [topics]
    if not isinstance(topics, Iterable):
        raise TypeError(f"topics must be a list of names, not {type(topics).__name__}: {topics!r}")
    return frozenset(map(check_topic_name, topics))


def check_pattern(pattern: object) -> re.Pattern[str]:
    """Return a compiled pattern of topic names. Raises `TypeError` or `IllegalArgumentError`."""
    text = pattern.pattern if isinstance(pattern, re.Pattern) else pattern
    if not isinstance(text, str):
        raise TypeError(f"a pattern of topic names must be a str or a compiled pattern, not {pattern!r}")
    try:
        return pattern if isinstance(pattern, re.Pattern) else re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise IllegalArgumentError(f"{text!r} is not a regular expression: {error}") from error


def is_several(given: object) -> bool:
    """Return whether several partitions are given; a single partition may be a plain tuple of a topic and a number."""
    if isinstance(given, TopicPartition | str | bytes) or not isinstance(given, Iterable):
        return False
    return not (isinstance(given, tuple) and given and isinstance(given[0], str))


def check_partitions(given: Any) -> list[TopicPartition]:
    """Return the given partitions as a list. Raises `TypeError` or `IllegalArgumentError`."""
    is_single = isinstance(given, TopicPartition)  # a `TopicPartition` is itself an iterable tuple
    if is_single or isinstance(given, str | bytes) or not isinstance(given, Iterable):
        hint = ": put it into a list" if is_single else ""
        raise TypeError(f"partitions must be a list of TopicPartition(topic, partition), not {given!r}{hint}")
    return [check_partition(each) for each in given]


def check_times(timestamps: Any) -> dict[TopicPartition, int]:
    """Return the times to look up. Raises `TypeError` or `IllegalArgumentError`."""
    if not isinstance(timestamps, Mapping):
        raise TypeError(f"times to look up must be a dict of TopicPartition to milliseconds, not {timestamps!r}")
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
