"""The start and the end of each micro-batch of a stream. Pure, except for the given lookup and clock.

A new query looks up its first offsets, and Spark does not store them. After a crash in the first batch, Spark requests
them again, and the result may be different. So the end of that batch, which Spark does store, must suffice
(`first_end`):

- A partition that starts at the end of a log (``latest``) has an empty first batch, because a later lookup can only
  return a higher offset.
- A partition that starts at the beginning of a log (``earliest``) usually starts at 0.
- Offsets given by the user do not change.
- In all other cases, the end also contains the start, under keys that are not topics.

`LogEnds` finds logs that have lost their end since the query read it, even if they have grown again (KIP-320): a leader
that was not in sync when it was elected may lack records that have been read, and have other records at their offsets.
"""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from kafka.spark.options.parsing import ReadOptions
from kafka.spark.options.value_parsers import EARLIEST, LATEST, AtOffsets, Boundary, Everywhere
from kafka.spark.planning.checkpoint_layout import (
    Backlog,
    Epochs,
    Layout,
    Offsets,
    for_report,
    from_layout,
    initial_layout,
    is_initial,
    leader_epochs,
    mark_initial,
    recreated_topics,
    to_layout,
    topic_ids,
    truncations,
    with_leader_epochs,
    with_topic_ids,
    with_truncations,
)
from kafka.spark.planning.data_loss import DataLoss
from kafka.spark.planning.log_sizes import LogSizes, Sizes, average_sizes, may_share
from kafka.spark.planning.lookup import OffsetLookup, find_partitions, name_partitions, resolve_start
from kafka.spark.planning.ranges import OffsetRange, Task, plan_tasks, ranges_between
from kafka.structs import TopicPartition

_GIVEN = 0
_BY_TIME = -3


def _kind(start: Boundary, partition: TopicPartition) -> int:
    """Return how the first offset of a partition is determined: `EARLIEST`, `LATEST`, `_GIVEN` or `_BY_TIME`."""
    if isinstance(start, Everywhere):
        return start.where
    if isinstance(start, AtOffsets):
        where = start.at(partition)
        return EARLIEST if where is None else min(where, _GIVEN)
    return _BY_TIME


def first_limits(start: Boundary, begin: Offsets, end: Mapping[TopicPartition, int]) -> Offsets:
    """Return the limits for a first batch, which does not read partitions that start at the end of their log.

    Partitions without a first offset are left to the next batch.
    """
    return {
        each: begin[each] if _kind(start, each) == LATEST else offset for each, offset in end.items() if each in begin
    }


def first_end(start: Boundary, begin: Offsets, end: Offsets) -> Layout:
    """Return the end of the first batch for the checkpoint, including its start if necessary."""
    kinds = {each: _kind(start, each) for each in end}
    carried = any(kind == _BY_TIME or (kind == EARLIEST and begin[each] != 0) for each, kind in kinds.items())
    return {**to_layout(end), **(initial_layout(begin) if carried else {})}


def batch_start(boundary: Boundary, start: Mapping[str, Any], end: Mapping[str, Any]) -> Offsets:
    """Return the start of the batch between two offsets of a checkpoint, including the first batch.

    Arguments:
        boundary: the boundary at which the query started.
        start: Spark's start of the batch. For a first batch, it may have been looked up again.
        end: the end in the checkpoint.
    """
    begin = from_layout(start)
    if not is_initial(start):
        return begin
    carried = from_layout(end, initial=True)
    if carried:
        return carried
    stops = from_layout(end)
    return {
        each: 0 if _kind(boundary, each) == EARLIEST else min(begin.get(each, stop), stop)
        for each, stop in stops.items()
    }


log = logging.getLogger(__name__)

OFFSETS_FRESH_S = 0.1
"""Minimum time between queries to the cluster, in seconds.

Spark requests the latest offsets of an idle query 80 times per second.
"""
PARTITIONS_FRESH_S = 1.0
SIZES_FRESH_S = 60.0


class StreamPlanner:
    """Plans the micro-batches of one query. The planner exists for as long as the query.

    Arguments:
        options: the options of the read.
        lookup: queries the cluster.
        clock: a monotonic clock, in seconds.
    """

    def __init__(self, options: ReadOptions, lookup: OffsetLookup, clock: Callable[[], float]) -> None:
        self._options = options
        self._lookup = lookup
        self._clock = clock
        self._loss = DataLoss(options.fail_on_data_loss)
        self._log_ends = LogEnds(lookup, self._loss)
        self._initial: Layout | None = None
        self._frozen: tuple[Offsets, Epochs] | None = None
        self._partitions: tuple[float, set[TopicPartition]] | None = None
        self._latest: tuple[float, Offsets] | None = None
        self._last_batch: float | None = None
        self._sizes: tuple[float, set[TopicPartition], Sizes] | None = None
        self._lost: Offsets = {}
        self._backlog = Backlog()
        self._log_sizes = LogSizes(lookup.log_bytes, clock) if options.report_log_bytes else None

    def initial(self) -> Layout:
        """Return the offsets at which a new query starts. Spark makes several requests; the first result is kept."""
        if self._initial is None:
            partitions = find_partitions(self._options, self._lookup)
            start = resolve_start(self._options, self._lookup, partitions, self._loss)
            if self._frozen is not None:
                frozen, _ = self._frozen
                start = {each: min(offset, frozen[each]) for each, offset in start.items() if each in frozen}
            self._initial = mark_initial(start)
        return self._initial

    def freeze(self) -> None:
        """Ignore everything after the current ends of the logs (`Trigger.AvailableNow`)."""
        end = dict(self._find_latest({}))
        self._frozen = end, self._lookup.leader_epochs(end)

    def latest(
        self, start: Mapping[str, Any], max_rows: int | None, *, everything: bool, now_ms: int | None = None
    ) -> Layout:
        """Return the end of the batch that starts at ``start``, or ``start`` itself if there is no batch yet.

        Arguments:
            start: the start, as in the checkpoint.
            max_rows: maximum number of offsets in the batch; None for no limit.
            everything: whether to read everything available, regardless of the limits in the options.
            now_ms: the current time in milliseconds since 1970, if the query may end after this batch although offsets
                remain. The end then also contains the `backlog`.
        """
        begin = from_layout(start)
        end = dict(self._find_latest(begin) if self._frozen is None else self._frozen[0])
        end |= self._find_again(begin.keys() - end.keys(), begin)
        ids = self._lookup.topic_ids({each.topic for each in end})
        epochs = self._lookup.leader_epochs(end)
        begin = self._leave_out_made_again(begin, topic_ids(start), ids)
        restarted = self._log_ends.check(begin, leader_epochs(start), epochs)
        begin |= restarted
        self._check_loss(begin, end)
        if self._frozen is not None:
            epochs |= self._frozen[1]
        newest = end
        if is_initial(start):
            end = first_limits(self._options.start, begin, end)
        known = {**self._begin_of_new(begin, end), **begin}
        end = {each: offset for each, offset in end.items() if each in known}
        if now_ms is not None:
            end = self._backlog.bound(start, begin, known, end, newest, now_ms)
        if not everything:
            if self._frozen is None and begin.keys() <= end.keys() and self._hold_back(known, end):
                end = begin
            elif max_rows is not None:
                end = limit_offsets(max_rows, known, end)
        if is_initial(start):
            layout = first_end(self._options.start, begin, end)
        elif end == begin:
            return dict(start)
        else:
            self._count_lost(begin, end)
            layout = with_truncations(to_layout(end), restarted)
        return self._backlog.beside(with_leader_epochs(with_topic_ids(layout, ids), epochs), end)

    def tasks(self, start: Mapping[str, Any], end: Mapping[str, Any]) -> list[Task]:
        """Return the tasks of the batch between two offsets of a checkpoint.

        A replay reads the same offsets. Which ranges share a task may depend on the current sizes of the logs.
        """
        ranges = batch_ranges(self._options, start, end)
        sizes = self._find_sizes(ranges, from_layout(end).keys())
        return plan_tasks(ranges, self._options.min_partitions, self._options.max_records, sizes)

    def _find_sizes(self, ranges: Sequence[OffsetRange], partitions: Collection[TopicPartition]) -> Sizes:
        """Return the average sizes for a batch.

        The sizes of all partitions are requested, because the next batch needs the sizes of other partitions.
        """
        small, now = may_share(ranges), self._clock()
        if not small:
            return {}
        if self._sizes is None or now - self._sizes[0] >= SIZES_FRESH_S or not small <= self._sizes[1]:
            asked = small.union(partitions)
            self._sizes = (now, asked, average_sizes(asked, self._lookup))
        return self._sizes[2]

    def newest(self) -> Layout:
        """Return the ends of the logs, for progress reports; {} after an error, which is logged."""
        try:
            latest = self._find_latest({})
            sizes = {} if self._log_sizes is None else self._log_sizes.of(latest.keys())
            return for_report(latest, self._lost, sizes)
        except Exception:
            log.warning("could not look up the latest offsets for the progress report", exc_info=True)
            return {}

    def _find_latest(self, at_least: Offsets) -> Offsets:
        now = self._clock()
        if self._latest is not None and now - self._latest[0] < OFFSETS_FRESH_S:
            known = self._latest[1]
            if all(offset >= at_least.get(each, 0) for each, offset in known.items()):
                return known  # otherwise, a new leader has reported older offsets
        if self._partitions is None or now - self._partitions[0] >= PARTITIONS_FRESH_S:
            self._partitions = (now, self._find_partitions(at_least.keys()))
        offsets = self._lookup.latest(self._partitions[1], at_least)
        self._latest = (self._clock(), offsets)
        return offsets

    def _find_partitions(self, known: Collection[TopicPartition]) -> set[TopicPartition]:
        warn = None if self._options.fail_on_data_loss else self._loss.warn
        return find_partitions(self._options, self._lookup, known, warn)

    def _find_again(self, missed: Collection[TopicPartition], begin: Offsets) -> Offsets:
        """Return the ends of partitions that were read before and are missing from the latest offsets.

        Such partitions may exist but be invisible. A partition is removed from the checkpoint only if Kafka confirms
        that it does not exist when its topic is requested by name.
        """
        if not missed:
            return {}
        return self._lookup.latest(self._find_partitions(missed).intersection(missed), begin)

    def _leave_out_made_again(self, begin: Offsets, before: Mapping[str, str], now: Mapping[str, str]) -> Offsets:
        """Return the offsets without those of recreated topics, which belong to logs that no longer exist."""
        others = recreated_topics(before, now)
        for topic in sorted(others):
            self._loss.report(
                f"topic {topic!r} was deleted and recreated without the query noticing: its id was {before[topic]} "
                f"and is now {now[topic]}"
            )
        return {each: offset for each, offset in begin.items() if each.topic not in others}

    def _check_loss(self, begin: Offsets, end: Offsets) -> None:
        gone = begin.keys() - end.keys()
        if gone:
            self._loss.report(f"{name_partitions(gone)} no longer exists, but the query has read from it")
        for each in sorted(begin.keys() & end.keys()):
            if end[each] < begin[each]:
                self._loss.report(
                    f"{each.topic}-{each.partition} ends at {end[each]}, but the query has read up to {begin[each]}"
                )

    def _count_lost(self, begin: Offsets, end: Offsets) -> None:
        """Count the records that were deleted before this batch could read them, unless the loss ends the query."""
        if self._options.fail_on_data_loss:
            return
        first = self._lookup.earliest(begin.keys() & end.keys())
        for each, offset in first.items():
            if min(offset, end[each]) > begin[each]:
                self._lost[each] = self._lost.get(each, 0) + min(offset, end[each]) - begin[each]

    def _begin_of_new(self, begin: Offsets, end: Offsets) -> Offsets:
        """Return the first offsets of partitions that are new to the query. These are read from their beginning."""
        new = end.keys() - begin.keys()
        if not new:
            return {}
        first = self._lookup.earliest(new)
        for each in sorted(first):
            if first[each] > 0:
                self._loss.report(
                    f"{each.topic}-{each.partition} is new to the query, but its log starts at {first[each]}, not at 0"
                )
        return first

    def _hold_back(self, begin: Offsets, end: Offsets) -> bool:
        """Return whether a batch must wait for `minOffsetsPerTrigger` or `maxTriggerDelay`.

        The first batch never waits.
        """
        least = self._options.min_offsets
        if least is None:
            return False
        rows, now = count_offsets(begin, end), self._clock()
        overdue = self._last_batch is None or (now - self._last_batch) * 1_000 >= self._options.max_delay_ms
        if rows < least and not (rows and overdue):
            return True
        self._last_batch = now
        return False


def batch_ranges(options: ReadOptions, start: Mapping[str, Any], end: Mapping[str, Any]) -> list[OffsetRange]:
    """Return the ranges of the batch between two offsets of a checkpoint. The ranges are the same in a replay."""
    ids = topic_ids(end)
    others = recreated_topics(topic_ids(start), ids)
    begin = batch_start(options.start, start, end)
    begin = {each: offset for each, offset in begin.items() if each.topic not in others}
    return ranges_between(begin | truncations(end), from_layout(end), leader_epochs(end), ids)


def count_offsets(begin: Mapping[TopicPartition, int], end: Mapping[TopicPartition, int]) -> int:
    """Return the total number of offsets between two sets of partition offsets."""
    return sum(max(0, stop - begin.get(each, 0)) for each, stop in end.items())


def limit_offsets(limit: int, begin: Mapping[TopicPartition, int], end: Mapping[TopicPartition, int]) -> Offsets:
    """Return end offsets that limit a batch to about ``limit`` offsets, in proportion to each partition's backlog.

    A share of less than one is rounded up, so that no partition starves. Other shares are rounded down.
    """
    sizes = {each: stop - begin.get(each, 0) for each, stop in end.items()}
    total = count_offsets(begin, end)
    limited = dict(end)
    if total <= limit:
        return limited
    for each, size in sizes.items():
        if size > 0:
            share = limit * size // total if limit * size >= total else 1
            limited[each] = end[each] - size + min(size, share)
    return limited


class LogEnds:
    """Compares the offsets that a query has read with the logs of the leaders.

    Arguments:
        lookup: queries leaders only when their epoch has changed, because a log only grows within one epoch.
        loss: how the query handles data loss.
    """

    def __init__(self, lookup: OffsetLookup, loss: DataLoss) -> None:
        self._lookup = lookup
        self._loss = loss
        self._known: dict[TopicPartition, tuple[tuple[int, int], int | None]] = {}
        """For each partition: the previous and the leader's epoch, and the end of the previous one or None."""

    def check(self, begin: Offsets, before: Mapping[TopicPartition, int], now: Epochs) -> Offsets:
        """Return the partitions whose logs were truncated, with the offsets up to which they are unchanged.

        Arguments:
            begin: the offsets up to which the query has read.
            before: the leader epochs at these offsets, if known.
            now: the epochs of the current leaders.

        Raises `DataLossError` if `failOnDataLoss` is true.
        """
        moved = {each: (before[each], now[each]) for each in begin.keys() & before.keys() & now.keys()}
        moved = {each: epochs for each, epochs in moved.items() if epochs[0] < epochs[1]}
        self._find(moved)
        found: Offsets = {}
        for each in sorted(moved):
            end = self._known[each][1]
            if end is None or end >= begin[each]:
                continue
            self._loss.report(
                f"the log of {each.topic}-{each.partition} was truncated to offset {end} by an unclean leader "
                f"election, after the query had read up to {begin[each]}: records from {end} on are different (leader "
                f"epoch {moved[each][0]} ends there; it is {moved[each][1]} now)"
            )
            found[each] = end
        return found

    def _find(self, moved: Mapping[TopicPartition, tuple[int, int]]) -> None:
        new = {each: epochs for each, epochs in moved.items() if self._known.get(each, (None,))[0] != epochs}
        if not new:
            return
        ends = self._lookup.epoch_ends({each: epochs[0] for each, epochs in new.items()})
        self._known |= {each: (epochs, ends.get(each)) for each, epochs in new.items()}
        untold = new.keys() - ends.keys()
        if untold:
            log.warning(
                "cannot tell whether the logs of %s were truncated when their leaders changed: the leaders do not "
                "report it",
                name_partitions(untold),
            )
