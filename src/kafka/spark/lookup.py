"""What the planner asks the cluster: a protocol, so that planning is pure. Also how boundaries become offsets."""

from collections.abc import Collection, Iterable, Mapping
from typing import Protocol

from kafka.errors import KafkaConfigurationError, KafkaError
from kafka.spark.loss import report_loss
from kafka.spark.offsets import Offsets
from kafka.spark.options import ReadOptions
from kafka.spark.values import EARLIEST, LATEST, AtOffsets, AtTime, Boundary, Everywhere, Partitions, Selection, Topics
from kafka.structs import TopicPartition


class OffsetLookup(Protocol):
    """Answers from the cluster; implementations try again by themselves and raise `KafkaError` in the end."""

    def partitions(self, selection: Selection) -> set[TopicPartition]:
        """Those of the selected partitions that exist."""

    def earliest(self, partitions: Collection[TopicPartition]) -> Offsets:
        """The first offset of each."""

    def latest(self, partitions: Collection[TopicPartition], at_least: Mapping[TopicPartition, int]) -> Offsets:
        """The offset after the last of each, asked again while one is below ``at_least`` and retries last."""

    def at_time(self, times_ms: Mapping[TopicPartition, int]) -> dict[TopicPartition, int | None]:
        """The first offset at or after a time (ms since 1970-01-01 UTC); None: there is no such record."""


class NoOffsetForTimeError(KafkaError):
    """No record is as late as a starting timestamp, and the strategy for that is to fail."""


def name_partitions(partitions: Iterable[TopicPartition]) -> str:
    """Partitions as text for a message, the first few of many."""
    listed = [f"{each.topic}-{each.partition}" for each in sorted(partitions)]
    return ", ".join(listed[:8]) + (f" and {len(listed) - 8} more" if len(listed) > 8 else "")


def find_partitions(options: ReadOptions, lookup: OffsetLookup) -> set[TopicPartition]:
    """The partitions to read; raises `DataLossError` or warns where one that is asked for by name is not there."""
    found = lookup.partitions(options.selection)
    missing = ""
    if isinstance(options.selection, Topics):
        there = {partition.topic for partition in found}
        missing = ", ".join(name for name in options.selection.names if name not in there)
    elif isinstance(options.selection, Partitions):
        missing = name_partitions(each for each in options.selection.partitions if each not in found)
    if missing:
        report_loss(options.fail_on_data_loss, f"Kafka has no {missing}, which the query reads")
    return found


def resolve_start(options: ReadOptions, lookup: OffsetLookup, partitions: set[TopicPartition]) -> Offsets:
    """The offsets at which reading begins, inside what the logs hold."""
    boundary = options.start
    offsets = _resolve(boundary, options, lookup, partitions)
    if isinstance(boundary, Everywhere):
        return offsets
    explicit = {each for each in partitions if not isinstance(boundary, AtOffsets) or boundary.offsets[each] >= 0}
    first, last = lookup.earliest(explicit), lookup.latest(explicit, {})
    for each in sorted(explicit):
        if not first[each] <= offsets[each] <= last[each]:
            report_loss(
                options.fail_on_data_loss,
                f"{boundary.option} begins {each.topic}-{each.partition} at {offsets[each]}, but its log holds "
                f"[{first[each]}, {last[each]})",
            )
            offsets[each] = first[each]
    return offsets


def resolve_end(options: ReadOptions, lookup: OffsetLookup, partitions: set[TopicPartition]) -> Offsets:
    """The offsets before which a batch ends, none behind the end of its log."""
    boundary = options.end
    offsets = _resolve(boundary, options, lookup, partitions)
    if not isinstance(boundary, AtOffsets):
        return offsets
    last = lookup.latest(partitions, {})
    for each in sorted(partitions):
        if offsets[each] > last[each]:
            report_loss(
                options.fail_on_data_loss,
                f"{boundary.option} ends {each.topic}-{each.partition} at {offsets[each]}, but its log ends at "
                f"{last[each]}",
            )
            offsets[each] = last[each]
    return offsets


def _resolve(
    boundary: Boundary, options: ReadOptions, lookup: OffsetLookup, partitions: set[TopicPartition]
) -> Offsets:
    if isinstance(boundary, Everywhere):
        return lookup.earliest(partitions) if boundary.where == EARLIEST else lookup.latest(partitions, {})
    if isinstance(boundary, AtTime):
        return _resolve_times(boundary.option, dict.fromkeys(partitions, boundary.timestamp_ms), options, lookup)
    given = boundary.offsets if isinstance(boundary, AtOffsets) else boundary.timestamps_ms
    _check_covers(boundary.option, given, partitions, options.fail_on_data_loss)
    wanted = {each: given[each] for each in partitions}
    if not isinstance(boundary, AtOffsets):
        return _resolve_times(boundary.option, wanted, options, lookup)
    offsets = {each: offset for each, offset in wanted.items() if offset >= 0}
    offsets |= lookup.earliest([each for each, offset in wanted.items() if offset == EARLIEST])
    offsets |= lookup.latest([each for each, offset in wanted.items() if offset == LATEST], {})
    return offsets


def _check_covers(
    option: str, given: Mapping[TopicPartition, int], partitions: set[TopicPartition], strict: bool
) -> None:
    """Offsets have to be given for every partition that is read, as with Spark's connector; and for no other."""
    left_out, unknown = partitions - given.keys(), given.keys() - partitions
    if left_out:
        raise KafkaConfigurationError(
            f"option {option!r} has to name every partition that is read, but leaves out {name_partitions(left_out)}; "
            "-2 stands for earliest and -1 for latest"
        )
    if unknown and strict:
        raise KafkaConfigurationError(
            f"option {option!r} names {name_partitions(unknown)}, which the query does not read; it reads "
            f"{name_partitions(partitions) or 'nothing'}"
        )


def _resolve_times(
    option: str, times_ms: Mapping[TopicPartition, int], options: ReadOptions, lookup: OffsetLookup
) -> Offsets:
    found = lookup.at_time(times_ms)
    offsets = {each: offset for each, offset in found.items() if offset is not None}
    late = [each for each in times_ms if each not in offsets]
    if late and option.startswith("starting") and not options.latest_if_no_match:
        raise NoOffsetForTimeError(
            f"option {option!r}: no record of {name_partitions(late)} is as late as "
            f"{times_ms[late[0]]} ms; startingOffsetsByTimestampStrategy=latest begins at the end there"
        )
    if late:
        offsets |= lookup.latest(late, {})
    return offsets
