"""What an audit covers: the offsets of the source partitions, who read them, and which dead letters were replayed.

`scope_of` determines it from the directory of a pipeline. `Scope.within` limits it to partitions and offsets.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from kafka.consumer.bounds import OffsetRange
from kafka.pipelines.audit.micro_batches import MicroBatch, whole
from kafka.pipelines.events import Event
from kafka.structs import TopicPartition

Ranges = Mapping[TopicPartition, OffsetRange]
Slice = dict[TopicPartition, OffsetRange]


@dataclasses.dataclass(frozen=True, slots=True)
class Replayed:
    """Dead letters that a replay has processed.

    Arguments:
        ranges: the offsets that the replay has processed, by partition of the topic of the dead letters.
        rule: the replay processes only dead letters that fail this rule; None for all.
        again: whether it also processes dead letters that an earlier replay has processed.
        current: the offsets of an unfinished slice, which may or may not have been written.
    """

    ranges: Ranges
    rule: str | None = None
    again: bool = False
    current: Ranges = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True)
class Backfilled:
    """Records that a backfill has processed.

    Arguments:
        ranges: the offsets that the backfill has processed, by partition of the source.
        same_sink: whether it wrote to the sink of the pipeline. Its dead letters are those of the pipeline in any case.
        current: the offsets of an unfinished slice, which may or may not have been written.
        name: what the backfill is called in reports.
        slices: the events of its finished slices, each with its ranges.
    """

    ranges: Ranges
    same_sink: bool = True
    current: Ranges = dataclasses.field(default_factory=dict)
    name: str = "a backfill"
    slices: Sequence[Event] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Scope:
    """The subject of an audit.

    Arguments:
        pipeline: the name of the pipeline, whose dead letters are examined.
        ranges: the offsets to audit, by partition of the source.
        batches: the complete micro-batches of the stream, in ascending order.
        backfills: what backfills have processed.
        replays: the dead letters that replays have processed.
        starts: the offsets at which the stream had to start, if a backfill before it determined them.
    """

    pipeline: str
    ranges: Ranges
    batches: Sequence[MicroBatch] = ()
    backfills: Sequence[Backfilled] = ()
    replays: Sequence[Replayed] = ()
    starts: Mapping[TopicPartition, int] = dataclasses.field(default_factory=dict)

    @property
    def stream(self) -> dict[TopicPartition, OffsetRange]:
        """The offsets that the stream had to read, up to the end of its last complete micro-batch."""
        return {
            tp: OffsetRange(min(start, self.starts.get(tp, start)), end)
            for tp, (start, end) in whole(self.batches).items()
        }

    @property
    def late(self) -> int:
        """Number of rows that Spark dropped because they were older than the watermark."""
        return sum(batch.event.late for batch in self.batches if batch.event is not None)

    def within(
        self,
        bounds: Mapping[TopicPartition, OffsetRange],
        partitions: Sequence[TopicPartition] = (),
    ) -> Scope:
        """Return a part of this scope.

        Arguments:
            bounds: the offsets to keep, by partition; partitions without an entry are kept as they are.
            partitions: the partitions to keep; empty for all.
        """
        kept = {}
        for tp, each in self.ranges.items():
            limit = bounds.get(tp, each)
            start, end = max(each.start, limit.start), min(each.end, limit.end)
            if (not partitions or tp in partitions) and start < end:
                kept[tp] = OffsetRange(start, end)
        return dataclasses.replace(self, ranges=kept)

    def slices(self, most: int) -> Iterator[Slice]:
        """Divide the ranges into parts with at most ``most`` offsets in total, whose evidence fits into memory."""
        current: Slice = {}
        room = most
        for tp, (start, end) in sorted(self.ranges.items()):
            at = start
            while at < end:
                stop = min(end, at + room)
                current[tp] = OffsetRange(at, stop)
                room -= stop - at
                at = stop
                if not room:
                    yield current
                    current, room = {}, most
        if current:
            yield current


def scope_of(
    pipeline: str,
    batches: Sequence[MicroBatch],
    backfills: Sequence[Backfilled] = (),
    replays: Sequence[Replayed] = (),
    starts: Mapping[TopicPartition, int] | None = None,
) -> Scope:
    """Return the whole scope: all offsets that the stream, and backfills to the same sink, have read.

    Arguments:
        pipeline: the name of the pipeline.
        batches: the complete micro-batches of the stream.
        backfills: what backfills have processed.
        replays: what replays have processed.
        starts: where the stream had to start, if a backfill before it determined that.
    """
    stream = Scope(pipeline, {}, batches, starts=starts or {})
    ranges = stream.stream
    for backfill in backfills:
        for tp, each in backfill.ranges.items() if backfill.same_sink else ():
            before = ranges.get(tp, each)
            ranges[tp] = OffsetRange(min(before.start, each.start), max(before.end, each.end))
    return dataclasses.replace(stream, ranges=ranges, backfills=backfills, replays=replays)
