"""Offset ranges, and their division among Spark tasks. Pure.

The result depends only on the ranges and options, so a replay after a crash reads the same rows in the same tasks.
"""

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from kafka.structs import TopicPartition

SHARED_TASK_OFFSETS = 10_000
"""Maximum total number of offsets in ranges that share a task.

A Python task needs 50 to 85 ms before its first row, about as long as it takes to read 100,000 rows. With a larger
limit, expensive operations on the rows would run on fewer cores.
"""
SHARED_TASK_BYTES = 8 << 20
"""Maximum total number of bytes in ranges that share a task, if sizes are known. It is the size of an Arrow batch."""


@dataclasses.dataclass(frozen=True, slots=True, order=True)
class OffsetRange:
    """Offsets of a partition, from ``start`` (inclusive) to ``stop`` (exclusive).

    Arguments:
        leader_epoch: epoch of the leader when the range was planned; None if unknown. Records of later epochs do not
            belong to the range.
        topic_id: id of the topic, which distinguishes it from a recreated topic; None if unknown.
    """

    topic: str
    partition: int
    start: int
    stop: int
    leader_epoch: int | None = None
    topic_id: str | None = None

    @property
    def topic_partition(self) -> TopicPartition:
        """The partition."""
        return TopicPartition(self.topic, self.partition)

    def __len__(self) -> int:
        return self.stop - self.start

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition} [{self.start}, {self.stop})"


Task = tuple[OffsetRange, ...]


def ranges_between(
    start: Mapping[TopicPartition, int],
    end: Mapping[TopicPartition, int],
    epochs: Mapping[TopicPartition, int] = MappingProxyType({}),
    topic_ids: Mapping[str, str] = MappingProxyType({}),
) -> list[OffsetRange]:
    """Return the non-empty ranges, in order. A partition missing from ``start`` is new, and starts at 0.

    Arguments:
        epochs: epochs of the leaders that reported the ends, if known.
        topic_ids: ids of the topics, if known.
    """
    found = (
        OffsetRange(*each, start.get(each, 0), stop, epochs.get(each), topic_ids.get(each.topic))
        for each, stop in end.items()
    )
    return sorted(each for each in found if each.stop > each.start)


def plan_tasks(
    ranges: Sequence[OffsetRange],
    min_partitions: int | None,
    max_records: int | None,
    sizes: Mapping[TopicPartition, float] | None = None,
) -> list[Task]:
    """Split large ranges, and combine small ranges in one task.

    Arguments:
        ranges: the non-empty ranges, in order, one for each partition.
        min_partitions: approximate minimum number of tasks; ranges are split in proportion to their size.
        max_records: maximum number of offsets in a task.
        sizes: average bytes per offset of a partition, if known.
    """
    pieces = [piece for each in ranges for piece in _cut(each, math.ceil(len(each) / (max_records or len(each))))]
    if min_partitions is not None and len(pieces) < min_partitions:
        return [(piece,) for piece in _split(pieces, min_partitions)]
    limit = min(SHARED_TASK_OFFSETS, max_records or SHARED_TASK_OFFSETS)
    tasks = _share(pieces, limit, sizes or {})
    if min_partitions is None or len(tasks) >= min_partitions:
        return tasks
    return _share(pieces, limit, sizes or {}, at_least=min_partitions)


def _cut(whole: OffsetRange, parts: int) -> list[OffsetRange]:
    """Split a range into ``parts`` non-empty ranges of nearly equal size, at the same offsets as Spark's connector."""
    parts = max(1, min(parts, len(whole)))
    pieces: list[OffsetRange] = []
    start = whole.start
    for left in range(parts, 0, -1):
        stop = start + (whole.stop - start) // left
        pieces.append(dataclasses.replace(whole, start=start, stop=stop))
        start = stop
    return pieces


def _split(ranges: Sequence[OffsetRange], wanted: int) -> list[OffsetRange]:
    """Split ranges into about ``wanted`` pieces. Ranges too small to be split do not affect the shares of others."""
    total = sum(map(len, ranges))
    small = {each for each in ranges if _share_of(len(each), total, wanted) == 1}
    rest = sum(len(each) for each in ranges if each not in small)
    parts = max(wanted - len(small), 1)
    pieces: list[OffsetRange] = []
    for each in ranges:
        pieces += [each] if each in small else _cut(each, _share_of(len(each), rest, parts))
    return pieces


def _share_of(size: int, total: int, parts: int) -> int:
    return max(1, math.floor(size / total * parts + 0.5))


def _share(
    pieces: Sequence[OffsetRange], limit: int, sizes: Mapping[TopicPartition, float], at_least: int = 0
) -> list[Task]:
    """Combine small ranges into tasks of up to ``limit`` offsets, with each partition at most once per task.

    Arguments:
        at_least: minimum number of tasks, if there are enough ranges.
    """
    tasks: list[list[OffsetRange]] = []
    open_task: list[OffsetRange] = []
    filled, filled_bytes = 0, 0.0
    spare = len(pieces) - at_least
    for piece in pieces:
        piece_bytes = len(piece) * sizes.get(piece.topic_partition, 0.0)
        fits = filled + len(piece) <= limit and filled_bytes + piece_bytes <= SHARED_TASK_BYTES
        if open_task and fits and spare > 0 and open_task[-1].topic_partition != piece.topic_partition:
            open_task.append(piece)
            filled += len(piece)
            filled_bytes += piece_bytes
            spare -= 1
            continue
        tasks.append([piece])
        if len(piece) < limit and piece_bytes < SHARED_TASK_BYTES:
            open_task, filled, filled_bytes = tasks[-1], len(piece), piece_bytes
    return [tuple(task) for task in tasks]


def describe(ranges: Iterable[OffsetRange]) -> str:
    """Format the first eight ranges for a message."""
    listed = [str(each) for each in ranges]
    more = f" and {len(listed) - 8} more" if len(listed) > 8 else ""
    return ", ".join(listed[:8]) + more
