"""The planner's interface to the cluster (a protocol, which keeps planning pure), and the resolution of boundaries."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Protocol

from kafka.config.option import nearest
from kafka.errors import KafkaConfigurationError, KafkaError
from kafka.spark.options.parsing import ReadOptions
from kafka.spark.options.value_parsers import (
    EARLIEST,
    LATEST,
    AtOffsets,
    AtTime,
    AtTimes,
    Boundary,
    Everywhere,
    Matching,
    Partitions,
    Topics,
)
from kafka.spark.planning.checkpoint_layout import Epochs, Offsets
from kafka.spark.planning.data_loss import DataLoss
from kafka.structs import TopicPartition


class OffsetLookup(Protocol):
    """Queries the cluster. Implementations retry, and finally raise `KafkaError`.

    Results omit topics and partitions that do not exist. A topic that the user may not see is an error, because the
    topic exists.
    """

    def topics(self) -> set[str]:
        """Return the names of all topics, except Kafka's internal ones."""

    def partitions(self, topics: Collection[str]) -> dict[str, set[TopicPartition]]:
        """Return the partitions of those topics that exist. Raises `TopicAuthorizationFailedError`."""

    def topic_ids(self, topics: Collection[str]) -> dict[str, str]:
        """Return the ids of these topics, from the last responses to `partitions`; brokers before 2.8 report none."""

    def leader_epochs(self, partitions: Collection[TopicPartition]) -> Epochs:
        """Return the partitions' leader epochs, from the last responses to `latest`; brokers before 2.1 report none."""

    def epoch_ends(self, epochs: Mapping[TopicPartition, int]) -> Offsets:
        """Return the end offset of an epoch in the leader's log; omit partitions whose leader does not know it."""

    def log_bytes(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """Return the sizes of logs on the brokers' disks, if brokers report them. Does not raise."""

    def earliest(self, partitions: Collection[TopicPartition]) -> Offsets:
        """Return the first offset of each partition."""

    def latest(self, partitions: Collection[TopicPartition], at_least: Mapping[TopicPartition, int]) -> Offsets:
        """Return the end offset of each partition; retry while an offset is below ``at_least``."""

    def at_time(self, times_ms: Mapping[TopicPartition, int]) -> dict[TopicPartition, int | None]:
        """Return the offset of the first record at or after a time (ms since 1970-01-01 UTC); None if there is none."""


class MissingTopicError(KafkaError):
    """A topic or partition that a read names does not exist."""


class NoOffsetForTimeError(KafkaError):
    """No record exists at or after a starting timestamp, and `startingOffsetsByTimestampStrategy` is error."""


def name_partitions(partitions: Iterable[TopicPartition]) -> str:
    """Format the first eight partitions for a message."""
    listed = [f"{each.topic}-{each.partition}" for each in sorted(partitions)]
    return ", ".join(listed[:8]) + (f" and {len(listed) - 8} more" if len(listed) > 8 else "")


def find_partitions(
    options: ReadOptions,
    lookup: OffsetLookup,
    known: Collection[TopicPartition] = (),
    warn: Callable[[str], None] | None = None,
) -> set[TopicPartition]:
    """Return the partitions to read.

    Arguments:
        known: the partitions that the query has read. The caller checks whether they still exist.
        warn: called with a sentence about each named topic or partition that does not exist; None to raise
            `MissingTopicError` instead.
    """
    selection = options.selection
    if isinstance(selection, Matching):
        return _find_matching(selection, lookup, known)
    if isinstance(selection, Topics):
        names = selection.names
    else:
        names = tuple(sorted({each.topic for each in selection.partitions}))
    found = lookup.partitions(names)
    there = {each for partitions in found.values() for each in partitions}
    if isinstance(selection, Partitions):
        there.intersection_update(selection.partitions)
    read = {each.topic for each in known}
    problems = [_no_topic(name, lookup) for name in names if name not in found and name not in read]
    if isinstance(selection, Partitions):
        absent = set(selection.partitions) - there - set(known)
        problems += [_no_partition(each, found) for each in sorted(absent) if each.topic in found]
    for problem in problems:
        if warn is None:
            raise MissingTopicError("; ".join(problems))
        warn(problem)
    return there


def _find_matching(selection: Matching, lookup: OffsetLookup, known: Collection[TopicPartition]) -> set[TopicPartition]:
    """Return the partitions of all matching topics.

    The cluster's list of topics omits topics that the user may not see, so topics that have been read before are
    requested by name.
    """
    pattern = re.compile(selection.expression, re.ASCII)
    names = lookup.topics().union(each.topic for each in known)
    found = lookup.partitions(sorted(name for name in names if pattern.search(name)))
    return {each for partitions in found.values() for each in partitions}


def _no_topic(name: str, lookup: OffsetLookup) -> str:
    return f"Kafka has no topic {name!r}, which the query reads{nearest(name, sorted(lookup.topics()))}"


def _no_partition(partition: TopicPartition, found: Mapping[str, Collection[TopicPartition]]) -> str:
    return (
        f"topic {partition.topic!r} has no partition {partition.partition}, which the query reads; it has "
        f"{len(found[partition.topic])}"
    )


def resolve_start(
    options: ReadOptions,
    lookup: OffsetLookup,
    partitions: set[TopicPartition],
    loss: DataLoss,
    at_end: set[TopicPartition] | None = None,
) -> Offsets:
    """Return the offsets at which a read starts, limited to the range of the logs.

    Arguments:
        at_end: receives the partitions that start at their end because they have no record at or after the given time.
    """
    boundary = options.start
    offsets = _resolve(boundary, options, lookup, partitions, at_end)
    if isinstance(boundary, Everywhere):
        return offsets
    explicit = {each for each in partitions if not isinstance(boundary, AtOffsets) or (boundary.at(each) or 0) >= 0}
    first, last = lookup.earliest(explicit), lookup.latest(explicit, {})
    for each in sorted(offsets.keys() & first.keys() & last.keys()):
        if first[each] <= offsets[each] <= last[each]:
            continue
        what = (
            f"{boundary.option} begins {each.topic}-{each.partition} at {offsets[each]}, but its log holds "
            f"[{first[each]}, {last[each]})"
        )
        if offsets[each] > last[each] and not options.streaming:
            raise KafkaConfigurationError(f"{what}: there is nothing to read")
        loss.report(what)
        offsets[each] = min(max(offsets[each], first[each]), last[each])
    return offsets


def resolve_end(options: ReadOptions, lookup: OffsetLookup, partitions: set[TopicPartition], loss: DataLoss) -> Offsets:
    """Return the end offsets of a batch (exclusive), limited to the ends of the logs."""
    boundary = options.end
    offsets = _resolve(boundary, options, lookup, partitions)
    if not isinstance(boundary, AtOffsets):
        return offsets
    last = lookup.latest(partitions, {})
    for each in sorted(offsets.keys() & last.keys()):
        if offsets[each] > last[each]:
            loss.report(
                f"{boundary.option} ends {each.topic}-{each.partition} at {offsets[each]}, but its log ends at "
                f"{last[each]}"
            )
            offsets[each] = last[each]
    return offsets


def check_order(
    options: ReadOptions,
    lookup: OffsetLookup,
    start: Offsets,
    end: Offsets,
    at_end: set[TopicPartition],
    loss: DataLoss,
) -> None:
    """Raise `KafkaConfigurationError` if a batch ends before it starts, as Spark's connector does.

    If a log starts after the given end, data has been lost; this is handled according to `failOnDataLoss`.

    Arguments:
        at_end: the partitions that start at their end, from `resolve_start`. Their empty ranges are not an error.
    """
    wrong = sorted(each for each in (start.keys() & end.keys()) - at_end if start[each] > end[each])
    first = lookup.earliest(wrong) if wrong else {}
    for each in wrong:
        name = f"{each.topic}-{each.partition}"
        if first.get(each) == start[each]:
            loss.report(f"{options.end.option} ends {name} at {end[each]}, but its log begins at {first[each]}")
            continue
        raise KafkaConfigurationError(
            f"option {options.end.option!r} ends {name} at offset {end[each]}, before {options.start.option!r} begins "
            f"it at offset {start[each]}"
        )


def _resolve(
    boundary: Boundary,
    options: ReadOptions,
    lookup: OffsetLookup,
    partitions: set[TopicPartition],
    at_end: set[TopicPartition] | None = None,
) -> Offsets:
    if isinstance(boundary, Everywhere):
        return lookup.earliest(partitions) if boundary.where == EARLIEST else lookup.latest(partitions, {})
    if isinstance(boundary, AtTime):
        times_ms = dict.fromkeys(partitions, boundary.timestamp_ms)
        return _resolve_times(boundary.option, times_ms, options, lookup, at_end)
    _check_covers(boundary, partitions, options)
    wanted = {each: where for each in partitions if (where := boundary.at(each)) is not None}
    given = {each: where for each, where in wanted.items() if where >= 0}
    if isinstance(boundary, AtOffsets):
        offsets = given
    else:
        offsets = _resolve_times(boundary.option, given, options, lookup, at_end)
    offsets |= lookup.earliest([each for each, offset in wanted.items() if offset == EARLIEST])
    offsets |= lookup.latest([each for each, offset in wanted.items() if offset == LATEST], {})
    return offsets


def _check_covers(boundary: AtOffsets | AtTimes, partitions: set[TopicPartition], options: ReadOptions) -> None:
    """Check that offsets are given for exactly the partitions that are read, as Spark's connector does."""
    left_out = {each for each in partitions if boundary.at(each) is None}
    if left_out:
        words = ["-1 stands for latest"]
        if boundary is options.start:
            words = ["-2 stands for earliest", *(["-1 for latest"] if options.streaming else [])]
        raise KafkaConfigurationError(
            f"option {boundary.option!r} must name every partition that is read, but leaves out "
            f"{name_partitions(left_out)}; {' and '.join(words)}"
        )
    given = boundary.offsets if isinstance(boundary, AtOffsets) else boundary.timestamps_ms
    unknown = name_partitions(given.keys() - partitions)
    others = sorted(boundary.topics.keys() - {each.topic for each in partitions})
    if (unknown or others) and options.fail_on_data_loss:
        named = ", ".join(filter(None, [unknown, *(f"topic {each!r}" for each in others)]))
        raise KafkaConfigurationError(
            f"option {boundary.option!r} names {named}, which the query does not read; it reads "
            f"{name_partitions(partitions) or 'nothing'}"
        )


def _resolve_times(
    option: str,
    times_ms: Mapping[TopicPartition, int],
    options: ReadOptions,
    lookup: OffsetLookup,
    at_end: set[TopicPartition] | None,
) -> Offsets:
    found = lookup.at_time(times_ms)
    offsets = {each: offset for each, offset in found.items() if offset is not None}
    late = [each for each, offset in found.items() if offset is None]
    if late and option.startswith("starting") and not options.latest_if_no_match:
        raise NoOffsetForTimeError(
            f"option {option!r}: no record of {name_partitions(late)} has a timestamp of {times_ms[late[0]]} ms or "
            "later; with startingOffsetsByTimestampStrategy=latest, the read starts at the end there"
        )
    if late:
        offsets |= lookup.latest(late, {})
    if at_end is not None:
        at_end.update(late)
    return offsets
