"""Ranges of offsets, and how they become Spark tasks. Pure: the same ranges and options give the same tasks.

That is what makes a replay after a crash read the same rows in the same tasks.
"""

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from kafka.structs import TopicPartition

SHARED_TASK_OFFSETS = 10_000
"""Ranges share a task up to so many offsets together.

A Python task costs some 50 to 85 ms before its first row, which is what about 100,000 rows take; sharing more would
take cores away from heavy work that follows.
"""
SHARED_TASK_BYTES = 8 << 20
"""And up to so many bytes together, where sizes are known: that is one Arrow batch."""


@dataclasses.dataclass(frozen=True, slots=True, order=True)
class OffsetRange:
    """Offsets of a partition: from ``start`` to before ``stop``.

    Arguments:
        leader_epoch: of the leader whose log had them: no record of a later one belongs to them; None: not known.
        topic_id: of the topic that had them, which another one of its name has not; None: not known.
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
    """The ranges that are not empty, in order. A partition that ``start`` lacks is new, and begins at 0.

    Arguments:
        epochs: of the leaders that have told the ends, as far as they are known.
        topic_ids: likewise.
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
    """Split what is large, let what is small share a task.

    Arguments:
        ranges: not empty ones, in order, one a partition.
        min_partitions: fewest tasks, about: ranges are split in proportion to their size.
        max_records: most offsets in a task.
        sizes: average bytes of a partition's offset, where known.
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
    """``parts`` ranges of nearly equal size, none of them empty, cut where Spark's own connector cuts."""
    parts = max(1, min(parts, len(whole)))
    pieces: list[OffsetRange] = []
    start = whole.start
    for left in range(parts, 0, -1):
        stop = start + (whole.stop - start) // left
        pieces.append(dataclasses.replace(whole, start=start, stop=stop))
        start = stop
    return pieces


def _split(ranges: Sequence[OffsetRange], wanted: int) -> list[OffsetRange]:
    """Split ranges until there are about ``wanted``; those too small for it do not count in the shares of others."""
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
    """Put small ranges together up to ``limit`` offsets, no partition twice in a task; ``at_least`` so many tasks."""
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
    """Ranges as text for a message, the first few of many."""
    listed = [str(each) for each in ranges]
    more = f" and {len(listed) - 8} more" if len(listed) > 8 else ""
    return ", ".join(listed[:8]) + more
