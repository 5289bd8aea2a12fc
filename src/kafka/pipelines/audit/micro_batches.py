"""The micro-batches of a pipeline's stream: the offsets that each read, and what its event counted.

Events have the ranges of batches. A batch without an event, because its run was killed after Spark's commit, has the
ranges that follow from Spark's checkpoint, or from its neighbours. `gaps` and `overlaps` find consecutive
batches whose ranges do not adjoin.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence

from kafka.consumer.bounds import OffsetRange
from kafka.errors import KafkaConfigurationError
from kafka.pipelines.directories import PipelineDirectory
from kafka.pipelines.events import Event, read_events
from kafka.pipelines.stream_checkpoint import StreamCheckpoint, read_checkpoint
from kafka.structs import TopicPartition

Ranges = Mapping[TopicPartition, OffsetRange]


@dataclasses.dataclass(frozen=True, slots=True)
class MicroBatch:
    """A complete micro-batch, or consecutive ones that were folded into one event (`kafka.pipelines.event_folding`).

    Arguments:
        number: its number; that of the last one for several.
        ranges: the offsets that it read from each partition.
        event: its event; None if there is none.
    """

    number: int
    ranges: Ranges
    event: Event | None = None

    @property
    def first(self) -> int:
        """The number of the first micro-batch."""
        return self.number if self.event is None or self.event.first is None else self.event.first

    @property
    def name(self) -> str:
        """What it is called in reports."""
        return (
            f"micro-batch {self.number}" if self.first == self.number else f"micro-batches {self.first}-{self.number}"
        )


def micro_batches(directory: PipelineDirectory) -> list[MicroBatch]:
    """Return the complete micro-batches of the stream, in ascending order.

    Raises `ValueError` for an invalid file of events, and `KafkaConfigurationError` for an invalid checkpoint.
    """
    return joined(read_events(directory.events), read_checkpoint(directory.stream))


def joined(events: Iterable[Event], checkpoint: StreamCheckpoint) -> list[MicroBatch]:
    """Combine events with a checkpoint.

    If a batch has several events, because it was repeated, the last one counts. Events of batches that Spark has not
    committed are ignored, unless the checkpoint is empty.
    """
    last = checkpoint.committed
    if last is None and checkpoint.ends:
        return []
    found = _without_overlaps(
        {
            event.batch: MicroBatch(event.batch, ranges_of_event(event), event)
            for event in events
            if event.kind == "batch" and event.run == "stream" and event.batch is not None
            if last is None or event.batch <= last
        }
    )
    folded = [range(each.first, each.number) for each in found.values() if each.first < each.number]
    for number in sorted(checkpoint.ends):
        if number in found or last is None or number > last or any(number in each for each in folded):
            continue
        begin = _ends(found, checkpoint, number - 1)
        if begin is not None:
            end = checkpoint.ends[number]
            ranges = {tp: OffsetRange(begin.get(tp, 0), max(offset, begin.get(tp, 0))) for tp, offset in end.items()}
            found[number] = MicroBatch(number, ranges)
    return _with_lost([found[number] for number in sorted(found)])


def _without_overlaps(found: Mapping[int, MicroBatch]) -> dict[int, MicroBatch]:
    """Leave out the older ones of batches with the same numbers: with a new checkpoint, numbers begin at 0 again."""
    kept: list[MicroBatch] = []
    for number in sorted(found):
        batch = found[number]
        while kept and kept[-1].number >= batch.first and _time(kept[-1]) < _time(batch):
            kept.pop()
        if not kept or kept[-1].number < batch.first:
            kept.append(batch)
    return {batch.number: batch for batch in kept}


def _time(batch: MicroBatch) -> str:
    return "" if batch.event is None else batch.event.time


def _with_lost(batches: Sequence[MicroBatch]) -> list[MicroBatch]:
    """Add the batches of which there is neither an event nor a file: they read what lies between their neighbours."""
    ends: dict[TopicPartition, int] = {}
    result: list[MicroBatch] = []
    for batch in batches:
        if result and batch.first > result[-1].number + 1:
            between = {
                tp: OffsetRange(ends[tp], each.start)
                for tp, each in batch.ranges.items()
                if tp in ends and ends[tp] < each.start
            }
            result.append(MicroBatch(result[-1].number + 1, between))
        ends |= {tp: each.end for tp, each in batch.ranges.items()}
        result.append(batch)
    return result


def _ends(
    found: Mapping[int, MicroBatch], checkpoint: StreamCheckpoint, number: int
) -> Mapping[TopicPartition, int] | None:
    """Return the end offsets of a batch; None if they are unknown."""
    if number < 0:
        return checkpoint.initial
    if number in checkpoint.ends:
        return checkpoint.ends[number]
    batch = found.get(number)
    return None if batch is None else {tp: each.end for tp, each in batch.ranges.items()}


def ranges_of_event(event: Event) -> dict[TopicPartition, OffsetRange]:
    """Return the offsets that a batch read from all sources. Raises `KafkaConfigurationError` for other names."""
    found: dict[TopicPartition, OffsetRange] = {}
    for source in event.sources.values():
        for name, (start, end) in source.ranges.items():
            tp = partition_named(name)
            before = found.get(tp, OffsetRange(start, end))
            found[tp] = OffsetRange(min(start, before.start), max(end, before.end))
    return found


def partition_named(name: str) -> TopicPartition:
    """Parse a name of the form ``TOPIC-PARTITION``. Raises `KafkaConfigurationError`."""
    topic, dash, number = name.rpartition("-")
    if not dash or not number.isdecimal():
        raise KafkaConfigurationError(
            f"an event names a partition {name!r}; expected TOPIC-PARTITION, such as orders-0"
        )
    return TopicPartition(topic, int(number))


def whole(batches: Sequence[MicroBatch]) -> dict[TopicPartition, OffsetRange]:
    """Return the range from the first offset that the batches read to the end of the last one, for each partition."""
    found: dict[TopicPartition, OffsetRange] = {}
    for batch in batches:
        for tp, each in batch.ranges.items():
            before = found.get(tp, each)
            found[tp] = OffsetRange(min(before.start, each.start), max(before.end, each.end))
    return found


def without_event(batches: Sequence[MicroBatch]) -> list[int]:
    """Return the numbers of the batches, from the first to the last, that have no event."""
    missing: list[int] = []
    expected = batches[0].first if batches else 0
    for batch in batches:
        missing += range(expected, batch.first)
        if batch.event is None:
            missing.append(batch.number)
        expected = batch.number + 1
    return missing


def gaps(batches: Sequence[MicroBatch]) -> Iterator[tuple[TopicPartition, OffsetRange, str]]:
    """Yield the offsets between consecutive batches that neither of them read, and which batches these are."""
    for tp, before, number, after, following in _neighbours(batches):
        if before.end < after.start:
            yield tp, OffsetRange(before.end, after.start), f"micro-batches {number} and {following.first}"


def overlaps(batches: Sequence[MicroBatch]) -> Iterator[tuple[TopicPartition, OffsetRange, str]]:
    """Yield the offsets that two consecutive batches read, and which batches these are."""
    for tp, before, number, after, following in _neighbours(batches):
        if after.start < before.end and after.end > after.start:
            text = f"micro-batches {number} and {following.first}"
            yield tp, OffsetRange(after.start, min(before.end, after.end)), text


def _neighbours(
    batches: Sequence[MicroBatch],
) -> Iterator[tuple[TopicPartition, OffsetRange, int, OffsetRange, MicroBatch]]:
    last: dict[TopicPartition, tuple[OffsetRange, int]] = {}
    for batch in batches:
        for tp, each in batch.ranges.items():
            if tp in last:
                yield tp, last[tp][0], last[tp][1], each, batch
            last[tp] = each, batch.number
