"""The faults that an audit reports, with the offsets that they concern.

To add a kind of fault, add it to `FaultKind`, and find it in `ledger` (a fault of single offsets) or in `balance`.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kafka.consumer.bounds import OffsetRange
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    from kafka.pipelines.header_columns import Integers, Mask

MAX_RANGES = 1_000
"""Maximum number of offset ranges that a fault lists. `Fault.count` also contains the others."""


class FaultKind(enum.StrEnum):
    """What is wrong with offsets of a source."""

    MISSING_IN_SINK = "missing in the sink"
    DUPLICATED_IN_SINK = "duplicated in the sink"
    UNEXPECTED_IN_SINK = "unexpected in the sink"
    MISSING_DEAD_LETTER = "missing dead letter"
    DUPLICATED_DEAD_LETTER = "duplicated dead letter"
    UNEXPECTED_DEAD_LETTER = "unexpected dead letter"
    IN_SINK_AND_DEAD = "in the sink and in the dead letters"
    UNACCOUNTED = "neither in the sink nor in the dead letters, and not evaluated"
    ROW_WITHOUT_INPUT = "row in the sink from a record that does not exist"
    DEAD_WITHOUT_INPUT = "dead letter of a record that does not exist"
    SKIPPED = "skipped between micro-batches"
    READ_TWICE = "read by two micro-batches"
    COUNTS_DIFFER = "counts of a micro-batch differ"
    WINDOW_DIFFERS = "count of a window differs"
    WINDOW_REPEATED = "window is in the sink several times"


@dataclasses.dataclass(frozen=True, slots=True)
class Fault:
    """A fault, and the offsets that it concerns.

    Arguments:
        kind: what is wrong.
        partition: the partition of the source; None for a fault of a window.
        ranges: the offsets, as ranges without an overlap, at most `MAX_RANGES`.
        count: number of offsets.
        detail: more about the fault; "" if there is nothing to add.
    """

    kind: FaultKind
    partition: TopicPartition | None
    ranges: tuple[OffsetRange, ...]
    count: int
    detail: str = ""

    @property
    def offsets(self) -> str:
        """The offsets as text, such as ``5, 7-12``."""
        shown = offsets_text(self.ranges)
        more = self.count - sum(each.end - each.start for each in self.ranges)
        return f"{shown} and {more:,} more" if more > 0 else shown

    def __str__(self) -> str:
        place = "" if self.partition is None else f"{self.partition.topic}-{self.partition.partition}: "
        offsets = f": offsets {self.offsets}" if self.ranges else ""
        return f"{place}{self.kind.value}{offsets}{f' ({self.detail})' if self.detail else ''}"

    def to_dict(self) -> dict[str, Any]:
        """Return the fault as values for JSON. The ends of ranges are exclusive."""
        return {
            "kind": self.kind.name.lower(),
            "topic": None if self.partition is None else self.partition.topic,
            "partition": None if self.partition is None else self.partition.partition,
            "count": self.count,
            "ranges": [[each.start, each.end] for each in self.ranges],
            "detail": self.detail,
        }


def offsets_text(ranges: Sequence[OffsetRange], most: int = 20) -> str:
    """Format ranges as text with inclusive ends, such as ``5, 7-12``; at most ``most`` of them."""
    texts = [
        str(each.start) if each.end == each.start + 1 else f"{each.start}-{each.end - 1}" for each in ranges[:most]
    ]
    return ", ".join(texts) + (", ..." if len(ranges) > most else "")


def ranges_in(mask: Mask, first: int) -> list[OffsetRange]:
    """Return the ranges of offsets for which a mask is true.

    Arguments:
        mask: a Boolean for each offset.
        first: the offset of the first one.
    """
    edges = np.flatnonzero(np.diff(np.concatenate(([False], mask, [False])).astype(np.int8)))
    return [OffsetRange(first + start, first + end) for start, end in edges.reshape(-1, 2).tolist()]


def ranges_of(offsets: Integers) -> list[OffsetRange]:
    """Return the ranges that consist of the given offsets, which may be unsorted and contain duplicates."""
    found = np.unique(offsets)
    if not len(found):
        return []
    breaks = np.flatnonzero(np.diff(found) > 1) + 1
    starts = found[np.concatenate(([0], breaks))].tolist()
    ends = found[np.concatenate((breaks - 1, [len(found) - 1]))].tolist()
    return [OffsetRange(start, end + 1) for start, end in zip(starts, ends, strict=True)]


class FaultList:
    """Collects faults, and joins the ranges of faults of the same kind, partition and detail."""

    def __init__(self) -> None:
        self._found: dict[tuple[FaultKind, TopicPartition | None, str], tuple[list[OffsetRange], list[int]]] = {}

    def add(
        self, kind: FaultKind, partition: TopicPartition | None, ranges: Iterable[OffsetRange], detail: str = ""
    ) -> None:
        """Add offsets, in ascending order for each kind and partition. Empty ranges are ignored."""
        given = [each for each in ranges if each.end > each.start]
        if not given:
            return
        kept, count = self._found.setdefault((kind, partition, detail), ([], [0]))
        count[0] += sum(each.end - each.start for each in given)
        for each in given:
            if kept and kept[-1].end == each.start:
                kept[-1] = OffsetRange(kept[-1].start, each.end)
            elif len(kept) < MAX_RANGES:
                kept.append(each)

    def add_detail(self, kind: FaultKind, detail: str, partition: TopicPartition | None = None) -> None:
        """Add a fault without offsets."""
        self._found.setdefault((kind, partition, detail), ([], [0]))

    def faults(self) -> list[Fault]:
        """Return the faults, sorted by partition and kind."""
        found = [
            Fault(kind, partition, tuple(kept), count[0], detail)
            for (kind, partition, detail), (kept, count) in self._found.items()
        ]
        order = list(FaultKind)
        return sorted(found, key=lambda each: (each.partition or ("", -1), order.index(each.kind), each.ranges))
