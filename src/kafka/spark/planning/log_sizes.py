"""The sizes of logs, which determine which ranges share a task and appear in progress reports.

Kafka reports the size of a log, not the size of a range, so a range is assumed to have a proportional share. Without
permission to see the size of a log, only the numbers of offsets decide which ranges share a task.
"""

import logging
import threading
from collections.abc import Callable, Collection, Mapping, Sequence

from kafka.spark.planning.lookup import OffsetLookup
from kafka.spark.planning.ranges import SHARED_TASK_BYTES, SHARED_TASK_OFFSETS, OffsetRange
from kafka.structs import TopicPartition

log = logging.getLogger(__name__)

FRESH_S = 60.0
"""Minimum time between requests, in seconds. Brokers scan their directories for each response."""

Ask = Callable[[Collection[TopicPartition]], Mapping[TopicPartition, int]]
"""Returns the size of each log in bytes, if brokers report it."""

Sizes = dict[TopicPartition, float]
"""Average bytes per offset."""


def find_sizes(ranges: Sequence[OffsetRange], lookup: OffsetLookup) -> Sizes:
    """Return the average bytes per offset for the ranges that could share a task, if known and relevant."""
    return average_sizes(may_share(ranges), lookup)


def may_share(ranges: Sequence[OffsetRange]) -> set[TopicPartition]:
    """Return the partitions of the ranges that could share a task."""
    small = {each.topic_partition for each in ranges if len(each) < SHARED_TASK_OFFSETS}
    return small if len(small) > 1 else set()


def average_sizes(partitions: Collection[TopicPartition], lookup: OffsetLookup) -> Sizes:
    """Return the average bytes per offset for these partitions, if known and relevant."""
    if not partitions:
        return {}
    logs = lookup.log_bytes(partitions)
    if sum(logs.values()) <= SHARED_TASK_BYTES:  # the logs are small in total
        return {}
    first = lookup.earliest(logs.keys())
    last = lookup.latest(first.keys(), {})
    return {each: logs[each] / (last[each] - first[each]) for each in last if last[each] > first[each]}


class LogSizes:
    """The last known sizes of logs. They are requested in a thread, so that micro-batches do not wait for them.

    Arguments:
        ask: requests the sizes; called in a separate thread.
        clock: a monotonic clock, in seconds.
    """

    def __init__(self, ask: Ask, clock: Callable[[], float]) -> None:
        self._ask = ask
        self._clock = clock
        self._asked_at: float | None = None
        self._thread: threading.Thread | None = None
        self._known: Mapping[TopicPartition, int] = {}

    def of(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """Return the known sizes immediately. If these are too old, request new ones for later calls."""
        now = self._clock()
        if self._asked_at is None or now - self._asked_at >= FRESH_S:
            self._begin(tuple(partitions), now)
        known = self._known
        return {each: known[each] for each in partitions if each in known}

    def _begin(self, partitions: Collection[TopicPartition], now: float) -> None:
        if self._thread is not None and self._thread.is_alive():
            return
        thread = threading.Thread(target=self._work, args=(partitions,), name="kafka-spark-log-sizes", daemon=True)
        try:
            thread.start()
        except RuntimeError as error:  # too many threads, or the interpreter is exiting
            log.debug("the sizes of logs are not requested: %s", error)
        else:
            self._asked_at, self._thread = now, thread

    def _work(self, partitions: Collection[TopicPartition]) -> None:
        try:
            self._known = self._ask(partitions)
        except Exception:  # a report without sizes is still useful
            log.debug("could not request the sizes of logs", exc_info=True)
