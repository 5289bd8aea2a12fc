"""Parses the bounds of a bounded read, and tracks records that were deleted before the read reached them.

`kafka.read` and `kafka.read_async` are in `_sync/bounded_read.py` and `_async/bounded_read.py`.
"""

import bisect
import contextlib
import datetime
import logging
import re
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from uuid import UUID

from kafka.cluster.metadata_snapshot import ClusterMetadata
from kafka.config import option_table
from kafka.config.option import nearest
from kafka.coordinator.offset_arguments import check_partition, check_topic_name, timestamp_ms, whole_number
from kafka.errors import (
    IllegalArgumentError,
    KafkaConfigurationError,
    OffsetOutOfRangeError,
    UnknownTopicOrPartitionError,
)
from kafka.health import Health, meanwhile
from kafka.structs import TopicPartition, is_another_topic

if TYPE_CHECKING:
    from kafka.record import Columns

log = logging.getLogger(__name__)

NOT_FOR_READS = (
    "group_id",
    "auto_offset_reset",
    "auto_offset_reset_new_partitions",
    "on_topic_recreated",
    "enable_auto_commit",
    "group_instance_id",
)
"""Consumer options that a bounded read refuses, because it has no group and commits nothing."""
WHERE_TOPICS_ARE = "topics() of a consumer lists the existing ones"
"""Advice in the error message if a topic does not exist."""
SKIP_ADVICE = "; on_missing='skip' reads the remaining records and counts the missing ones"
"""Advice in the error message if records were deleted."""
_ANSWERS = 3
"""A topic counts as deleted once it is missing from this many consecutive responses; one broker may lag behind."""
READ_ARGUMENTS = (
    "start",
    "end",
    "last",
    "progress",
    "timeout_ms",
    "on_missing",
    "key",
    "value",
    "error_columns",
)
"""Names of the arguments of `kafka.read` other than the topics and the consumer's options."""
_AGO = re.compile(r"(\d+(?:\.\d+)?) ?(ms|s|m|min|h|d|w)")
_UNITS = {
    "ms": "milliseconds",
    "s": "seconds",
    "m": "minutes",
    "min": "minutes",
    "h": "hours",
    "d": "days",
    "w": "weeks",
}
_EDGES = dict.fromkeys(("begin", "beginning", "start", "first", "oldest"), "earliest")
_EDGES |= dict.fromkeys(("end", "now", "last", "newest"), "latest")
_FOR_START = ("begin", "beginning", "since", "offset", "starting_offsets")
_FOR_LAST = ("limit", "n", "count", "tail", "max_records")
_MAX_OFFSET = 2**63 - 1
Topics = str | TopicPartition | Iterable[str | TopicPartition]
Bound = str | int | datetime.datetime | datetime.timedelta | Mapping[TopicPartition, int]
"""The types that are accepted as a start or an end."""
OnMissing = Literal["raise", "skip"]


class OffsetRange(NamedTuple):
    """The offsets from `start` to `end`, exclusive."""

    start: int
    end: int


class Edge(Enum):
    """The beginning or the end of the log."""

    EARLIEST = "earliest"
    LATEST = "latest"


class Time(NamedTuple):
    """The first record with this timestamp or a later one, in milliseconds since 1970-01-01 UTC."""

    timestamp_ms: int


Parsed = Edge | Time | int | dict[TopicPartition, int]


def parse_bound(name: str, given: Any, now_ms: int) -> Parsed:
    """Parse a start or an end.

    Arguments:
        name: "start" or "end", for errors.
        given: see `kafka.read`.
        now_ms: the current time, from which a `timedelta` is subtracted.

    Raises `TypeError` or `IllegalArgumentError`, with the allowed forms in the message.
    """
    if isinstance(given, str):
        try:
            return Edge(given)
        except ValueError:
            raise IllegalArgumentError(
                f"expected 'earliest', 'latest', an offset, a datetime or a timedelta before now as {name}, "
                f"got {given!r}{_instead_of(given)}"
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


def _instead_of(text: str) -> str:
    """Return what to write instead of a text that is not a bound; "" if its meaning cannot be guessed."""
    word = text.strip().lower()
    if ago := _AGO.fullmatch(word):
        return f"; write datetime.timedelta({_UNITS[ago[2]]}={ago[1]}) for that time before now"
    if word.isascii() and word.isdecimal():
        return f"; write {int(word)} without quotation marks for an offset"
    with contextlib.suppress(ValueError):
        datetime.datetime.fromisoformat(word)
        return f"; write datetime.datetime.fromisoformat({text!r}) for a time"
    edge = _EDGES.get(word)
    return f"; did you mean {edge!r}?" if edge else nearest(word, [each.value for each in Edge])


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
    """Refuse consumer options that do not apply to a bounded read, and names of unknown arguments.

    Arguments:
        configs: the keyword arguments other than bounds.

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
    for name in _FOR_START:
        if name in configs:
            raise KafkaConfigurationError(f"option {name!r} is unknown; start= says where to begin")
    for name in configs:
        hint = "" if name in option_table() else nearest(name, (*option_table(), *READ_ARGUMENTS))
        if any(repr(argument) in hint for argument in READ_ARGUMENTS):
            raise KafkaConfigurationError(
                f"{name!r} is neither an argument of a bounded read nor an option of the consumer{hint}"
            )


def parse_last(given: Any) -> int | None:
    """Return the number of records to read from each partition; None: all. Raises `IllegalArgumentError`."""
    if given is None:
        return None
    count = None if isinstance(given, bool) else whole_number(given, 1, _MAX_OFFSET)
    if count is None:
        raise IllegalArgumentError(f"expected a number of records from 1 on as last, got {given!r}")
    return count


def parse_topics(given: Any) -> list[str | TopicPartition]:
    """Return the given topics and partitions without duplicates. Raises `TypeError` or `IllegalArgumentError`."""
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
    """Return the rows before an offset; None if there are none."""
    count = len(columns)
    if count and columns.offsets[count - 1] >= end:
        count = bisect.bisect_left(columns.offsets, end)
        columns = columns.slice(0, count)
    return columns if count else None


def nothing_came(
    timeout_ms: float, left: Mapping[TopicPartition, OffsetRange], at: Mapping[TopicPartition, int], health: Health
) -> str:
    """Return the error message for a read that timed out."""
    waiting = ", ".join(f"{tp.topic}-{tp.partition} at offset {at[tp]} of {left[tp].end}" for tp in list(left)[:8])
    why = meanwhile(health.failing) or "; is the leader of that partition reachable?"
    return f"no data arrived for {timeout_ms:g} ms from {waiting}{why}"


def parse_on_missing(given: Any) -> bool:
    """Return whether missing records are skipped. Raises `IllegalArgumentError`."""
    if given not in ("raise", "skip"):
        raise IllegalArgumentError(f"expected 'raise' or 'skip' as on_missing, got {given!r}")
    return bool(given == "skip")


class Losses:
    """The deleted records and topics that one iteration over a bounded read has found.

    Arguments:
        skips: whether missing offsets are skipped and counted. If not, `leave_out` raises an error.
        topic_ids: the id of each topic when its offsets were looked up; None if brokers have no topic ids.

    Attributes:
        missing: number of missing offsets, for each partition that has any.
    """

    def __init__(self, skips: bool, topic_ids: Mapping[str, UUID | None]) -> None:
        self._skips = skips
        self._topic_ids = topic_ids
        self._unknown_in: dict[str, set[int]] = {}
        self.missing: dict[TopicPartition, int] = {}

    def made_again(self, topic: str, metadata: ClusterMetadata) -> bool:
        """Return whether the topic was deleted and recreated."""
        return is_another_topic(self._topic_ids.get(topic), metadata.topic_id(topic))

    @property
    def in_doubt(self) -> bool:
        """Whether the metadata needs a refresh because a topic may have been deleted."""
        return bool(self._unknown_in)

    def look_for(self, topics: Iterable[str], metadata: ClusterMetadata) -> set[str]:
        """Return those of the topics that were deleted or recreated.

        Arguments:
            topics: topic names.
            metadata: the newest cluster metadata.
        """
        gone = set()
        for topic in topics:
            if metadata.topic_errors.get(topic) is UnknownTopicOrPartitionError:
                answers = self._unknown_in.setdefault(topic, set())
                answers.add(metadata.version)
                if len(answers) >= _ANSWERS:
                    gone.add(topic)
                    del self._unknown_in[topic]
            else:
                self._unknown_in.pop(topic, None)
                if self.made_again(topic, metadata):
                    gone.add(topic)
        return gone

    def leave_out(self, gone: Mapping[TopicPartition, OffsetRange], why: str) -> None:
        """Count and log missing offsets, or raise `OffsetOutOfRangeError`.

        Arguments:
            gone: the missing offsets, by partition.
            why: the cause, for messages.
        """
        if not gone:
            return
        where = ", ".join(f"{r.start} to {r.end - 1} of {tp.topic}-{tp.partition}" for tp, r in gone.items())
        text = f"offsets {where} no longer exist: {why} since the read found them"
        if not self._skips:
            raise OffsetOutOfRangeError(text + SKIP_ADVICE)
        log.warning("%s; the read continues without them", text)
        for tp, each in gone.items():
            self.missing[tp] = self.missing.get(tp, 0) + each.end - each.start
