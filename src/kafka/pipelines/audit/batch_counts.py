"""Compares the counts in the events of micro-batches, and of the slices of backfills, with the records in their ranges.

With outcomes, the counts are those of a new evaluation of the rules and the query. Without, the numbers of rows in the
sink and of dead letters take their place. A batch is compared only if its whole range is audited.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafka.consumer.bounds import OffsetRange
from kafka.pipelines.audit.ledger import Ledger
from kafka.pipelines.audit.micro_batches import partition_named, ranges_of_event, whole
from kafka.pipelines.audit.offset_evidence import BatchCounts
from kafka.pipelines.audit.scope import Ranges, Scope
from kafka.pipelines.events import Event, SourceCounts
from kafka.structs import TopicPartition

_Key = tuple[str, str]
"""The name of a batch, such as ``micro-batch 3``, and the name of a source."""


class BatchComparison:
    """Collects the counts of all micro-batches, ledger by ledger.

    Arguments:
        scope: what is audited.
        exact: whether outcomes are those of the declaration with which the records were processed. Otherwise, only the
            numbers of records are compared.
        compacted: topics whose logs have lost records; their batches are not compared.
        evaluated: whether there are outcomes.
        positions: whether rows in the sink have the positions of their input records.
    """

    def __init__(
        self, scope: Scope, *, exact: bool, compacted: set[str], evaluated: bool = True, positions: bool = True
    ) -> None:
        self._exact = exact
        self._evaluated = evaluated
        self._positions = positions
        self._batches: dict[str, Event] = {}
        self._alone: set[str] = set()
        """The batches whose records no other run has read, so that they can be compared without an evaluation."""
        self._counts: dict[_Key, BatchCounts] = {}
        self._reads: dict[TopicPartition, list[tuple[OffsetRange, _Key]]] = {}
        stream = whole(scope.batches)
        for each in scope.batches:
            if each.event is not None:
                others = [one.ranges for one in scope.backfills]
                self._add_batch(each.name, each.event, scope.ranges, compacted, others)
        for backfill in scope.backfills:
            others = [stream, *(one.ranges for one in scope.backfills if one is not backfill)]
            for event in backfill.slices if backfill.same_sink else ():
                self._add_batch(f"slice {event.batch} of {backfill.name}", event, scope.ranges, compacted, others)

    def _add_batch(
        self, batch: str, event: Event, audited: Ranges, compacted: set[str], others: Sequence[Ranges]
    ) -> None:
        self._batches[batch] = event
        whole_ranges = ranges_of_event(event)
        if not any(_meet(whole_ranges, each) for each in others):
            self._alone.add(batch)
        for name, source in event.sources.items():
            ranges = _ranges(source)
            if all(_contains(audited, tp, each) and tp.topic not in compacted for tp, each in ranges.items()):
                self._counts[batch, name] = BatchCounts()
                for tp, each in ranges.items():
                    self._reads.setdefault(tp, []).append((each, (batch, name)))

    def add(self, partition: TopicPartition, ledger: Ledger) -> None:
        """Add the counts of the part of each batch that a ledger covers."""
        for (start, end), key in self._reads.get(partition, ()):
            first, last = max(start, ledger.start), min(end, ledger.end)
            if first < last:
                self._counts[key].add(ledger.counted(first, last))

    def differences(self) -> Iterator[str]:
        """Yield a description of each batch whose counts differ."""
        for (batch, name), found in self._counts.items():
            source = self._batches[batch].sources[name]
            if texts := list(self._different(source, found, batch in self._alone)):
                yield f"{batch}, source {name}, {_text(_ranges(source))}: {'; '.join(texts)}"
        yield from self._different_outputs()

    def _different(self, source: SourceCounts, found: BatchCounts, is_alone: bool) -> Iterator[str]:
        if source.rows != source.processed + source.dropped + source.dead:
            yield (
                f"the event has {source.rows} rows, but {source.processed} processed, {source.dropped} dropped and "
                f"{source.dead} dead"
            )
        yield from _difference("rows", source.rows, found.rows)
        if self._evaluated and self._exact:
            yield from _difference("processed", source.processed, found.processed)
            yield from _difference("dropped", source.dropped, found.dropped)
            yield from _difference("dead", source.dead, found.dead)
        elif not self._evaluated and is_alone:
            yield from _difference("dead", source.dead, found.found_dead)

    def _different_outputs(self) -> Iterator[str]:
        """Compare the numbers of rows that the query returned, if all sources of a batch are compared."""
        if not self._positions or not self._exact:
            return
        for batch, event in self._batches.items():
            if event.out is None or event.late or not (self._evaluated or batch in self._alone):
                continue
            counts = [self._counts[batch, name] for name in event.sources if (batch, name) in self._counts]
            if len(counts) == len(event.sources) and counts:
                out = sum(each.out if self._evaluated else each.found_out for each in counts)
                for text in _difference("rows out", event.out, out):
                    yield f"{batch}, {_text(ranges_of_event(event))}: {text}"


def _difference(what: str, counted: int, found: int) -> Iterator[str]:
    if counted != found:
        yield f"{what}: {counted} in the event, {found} in the audit"


def _ranges(source: SourceCounts) -> dict[TopicPartition, OffsetRange]:
    return {partition_named(name): OffsetRange(*each) for name, each in source.ranges.items() if each[0] < each[1]}


def _contains(ranges: Ranges, tp: TopicPartition, part: OffsetRange) -> bool:
    return tp in ranges and ranges[tp].start <= part.start and part.end <= ranges[tp].end


def _meet(ranges: Ranges, others: Ranges) -> bool:
    """Return whether an offset is in both."""
    common = ranges.keys() & others.keys()
    return any(max(ranges[tp].start, others[tp].start) < min(ranges[tp].end, others[tp].end) for tp in common)


def _text(ranges: Ranges) -> str:
    texts = [
        f"{tp.topic}-{tp.partition} offsets {start}-{end - 1}" for tp, (start, end) in ranges.items() if start < end
    ]
    return ", ".join(texts)
