"""Where a bounded read begins and ends: offsets, times, or the ends of the log."""

import bisect
import datetime
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

from kafka.coordinator.offset_arguments import check_partition, check_topic_name, timestamp_ms, whole_number
from kafka.errors import IllegalArgumentError, KafkaConfigurationError
from kafka.health import Health, meanwhile
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    from kafka.record import Columns

NOT_FOR_READS = (
    "group_id",
    "auto_offset_reset",
    "auto_offset_reset_new_partitions",
    "on_topic_recreated",
    "enable_auto_commit",
    "group_instance_id",
)
"""Options of consumers that a bounded read refuses: it has no group, and commits nothing."""
WHERE_TOPICS_ARE = "topics() of a consumer lists those there are"
"""Advice where a topic is not there, for programs."""
_FOR_LAST = ("limit", "n", "count", "tail", "max_records")
_MAX_OFFSET = 2**63 - 1
Topics = str | TopicPartition | Iterable[str | TopicPartition]
Bound = str | int | datetime.datetime | datetime.timedelta | Mapping[TopicPartition, int]
"""What a start or an end may be given as."""


class OffsetRange(NamedTuple):
    """The offsets from `start` up to `end`, which is not one of them."""

    start: int
    end: int


class Edge(Enum):
    """An end of the log."""

    EARLIEST = "earliest"
    LATEST = "latest"


class Time(NamedTuple):
    """The first record that is not older, in milliseconds since 1970-01-01 UTC."""

    timestamp_ms: int


Parsed = Edge | Time | int | dict[TopicPartition, int]


def parse_bound(name: str, given: Any, now_ms: int) -> Parsed:
    """A start or an end, checked.

    Arguments:
        name: "start" or "end", for errors.
        given: see `kafka.read`.
        now_ms: the time of day, from which a `timedelta` counts back.

    Raises `TypeError` or `IllegalArgumentError`, which say what may be given.
    """
    if isinstance(given, str):
        try:
            return Edge(given)
        except ValueError:
            raise IllegalArgumentError(
                f"expected 'earliest', 'latest', an offset, a datetime or a timedelta before now as {name}, "
                f"got {given!r}"
            ) from None
    if isinstance(given, datetime.datetime):
        return _time(name, given, timestamp_ms(given))
    if isinstance(given, datetime.timedelta):
        since_1970 = now_ms - round(given.total_seconds() * 1_000)
        return _time(name, given, since_1970 if since_1970 >= 0 else None)
    if isinstance(given, Mapping):
        return {check_partition(tp): _offset(name, offset) for tp, offset in given.items()}
    if hasattr(given, "__index__") and not isinstance(given, bool):
        return _offset(name, given)
    raise TypeError(
        f"expected an offset, a datetime, a timedelta before now, a dict of TopicPartition to offset, 'earliest' or "
        f"'latest' as {name}, got {type(given).__name__}: {given!r}"
    )


def _time(name: str, given: object, since_1970: int | None) -> Time:
    if since_1970 is None:
        raise IllegalArgumentError(f"expected a time since 1970 as {name}, got {given!r}")
    return Time(since_1970)


def _offset(name: str, given: Any) -> int:
    offset = whole_number(given, 0, _MAX_OFFSET)
    if offset is None:
        raise IllegalArgumentError(
            f"expected an offset of 0 or more as {name}, got {given!r}; last=N gives a partition's last records"
        )
    return offset


def check_options(configs: Mapping[str, Any]) -> None:
    """Refuse options of consumers that a bounded read has no use for, and what `last` is looked for as.

    Arguments:
        configs: the keyword arguments that are no bounds.

    Raises `IllegalArgumentError`, or `KafkaConfigurationError` for unknown options.
    """
    refused = [name for name in NOT_FOR_READS if configs.get(name) is not None]
    if refused:
        raise IllegalArgumentError(f"a bounded read has no group and commits nothing: leave out {', '.join(refused)}")
    for name in _FOR_LAST:
        if name in configs:
            raise KafkaConfigurationError(
                f"option {name!r} is unknown; last=N gives the last N records of each partition, and end= stops earlier"
            )


def parse_last(given: Any) -> int | None:
    """How many records of each partition are wanted; None: all. Raises `IllegalArgumentError`."""
    if given is None:
        return None
    count = None if isinstance(given, bool) else whole_number(given, 1, _MAX_OFFSET)
    if count is None:
        raise IllegalArgumentError(f"expected a number of records from 1 on as last, got {given!r}")
    return count


def parse_topics(given: Any) -> list[str | TopicPartition]:
    """Topics and partitions, checked and without repetition. Raises `TypeError` or `IllegalArgumentError`."""
    alone = isinstance(given, str | TopicPartition)
    if not alone and not isinstance(given, Iterable):
        raise TypeError(f"expected topics, partitions, or several of them, got {type(given).__name__}: {given!r}")
    chosen = [given] if alone else list(given)
    if not chosen:
        raise IllegalArgumentError("expected at least one topic or partition to read, got none")
    return list(
        dict.fromkeys(check_topic_name(each) if isinstance(each, str) else check_partition(each) for each in chosen)
    )


def before(columns: "Columns", end: int) -> "Columns | None":
    """Those before an offset; None if there are none."""
    count = len(columns)
    if count and columns.offsets[count - 1] >= end:
        count = bisect.bisect_left(columns.offsets, end)
        columns = columns.slice(0, count)
    return columns if count else None


def nothing_came(
    timeout_ms: float, left: Mapping[TopicPartition, OffsetRange], at: Mapping[TopicPartition, int], health: Health
) -> str:
    """The error message for a read that timed out."""
    waiting = ", ".join(f"{tp.topic}-{tp.partition} at offset {at[tp]} of {left[tp].end}" for tp in list(left)[:8])
    why = meanwhile(health.failing) or "; is the leader of that partition reachable?"
    return f"nothing came for {timeout_ms:g} ms from {waiting}{why}"
