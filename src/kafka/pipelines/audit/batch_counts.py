"""Compares the counts in the events of micro-batches with the records in their ranges.

With outcomes, the counts are those of a new evaluation of the rules and the query. Without, the numbers of rows in the
sink and of dead letters take their place. A batch is compared only if its whole range is audited.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kafka.consumer.bounds import OffsetRange
from kafka.pipelines.audit.ledger import Ledger
from kafka.pipelines.audit.micro_batches import MicroBatch, partition_named
from kafka.pipelines.audit.offset_evidence import BatchCounts
from kafka.pipelines.audit.scope import Scope
from kafka.pipelines.events import SourceCounts
from kafka.structs import TopicPartition

_Key = tuple[int, str]
"""The number of a micro-batch, and the name of a source."""


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
        self._has_backfills = bool(scope.backfills)
        self._batches = {each.number: each for each in scope.batches if each.event is not None}
        self._counts: dict[_Key, BatchCounts] = {}
        self._reads: dict[TopicPartition, list[tuple[OffsetRange, _Key]]] = {}
        for number, batch in self._batches.items():
            assert batch.event is not None
            for name, source in batch.event.sources.items():
                ranges = _ranges(source)
                if all(_contains(scope.ranges, tp, each) and tp.topic not in compacted for tp, each in ranges.items()):
                    self._counts[number, name] = BatchCounts()
                    for tp, each in ranges.items():
                        self._reads.setdefault(tp, []).append((each, (number, name)))

    def add(self, partition: TopicPartition, ledger: Ledger) -> None:
        """Add the counts of the part of each batch that a ledger covers."""
        for (start, end), key in self._reads.get(partition, ()):
            first, last = max(start, ledger.start), min(end, ledger.end)
            if first < last:
                self._counts[key].add(ledger.counted(first, last))

    def differences(self) -> Iterator[str]:
        """Yield a description of each batch whose counts differ."""
        for (number, name), found in self._counts.items():
            source = self._batches[number].event.sources[name]  # type: ignore[union-attr]
            if texts := list(self._different(source, found)):
                yield f"micro-batch {number}, source {name}, {_ranges_text(source)}: {'; '.join(texts)}"
        yield from self._different_outputs()

    def _different(self, source: SourceCounts, found: BatchCounts) -> Iterator[str]:
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
        elif not self._evaluated and not self._has_backfills:
            yield from _difference("dead", source.dead, found.found_dead)

    def _different_outputs(self) -> Iterator[str]:
        """Compare the numbers of rows that the query returned, if all sources of a batch are compared."""
        if not self._positions or not self._exact or (self._has_backfills and not self._evaluated):
            return
        for number, batch in self._batches.items():
            event = batch.event
            if event is None or event.out is None or event.late:
                continue
            counts = [self._counts[number, name] for name in event.sources if (number, name) in self._counts]
            if len(counts) == len(event.sources) and counts:
                out = sum(each.out if self._evaluated else each.found_out for each in counts)
                for text in _difference("rows out", event.out, out):
                    yield f"micro-batch {number}, {_batch_text(batch)}: {text}"


def _difference(what: str, counted: int, found: int) -> Iterator[str]:
    if counted != found:
        yield f"{what}: {counted} in the event, {found} in the audit"


def _ranges(source: SourceCounts) -> dict[TopicPartition, OffsetRange]:
    return {partition_named(name): OffsetRange(*each) for name, each in source.ranges.items() if each[0] < each[1]}


def _contains(ranges: Mapping[TopicPartition, OffsetRange], tp: TopicPartition, part: OffsetRange) -> bool:
    return tp in ranges and ranges[tp].start <= part.start and part.end <= ranges[tp].end


def _ranges_text(source: SourceCounts) -> str:
    return _text(_ranges(source))


def _batch_text(batch: MicroBatch) -> str:
    return _text({tp: each for tp, each in batch.ranges.items() if each.start < each.end})


def _text(ranges: Mapping[TopicPartition, OffsetRange]) -> str:
    return ", ".join(f"{tp.topic}-{tp.partition} offsets {each.start}-{each.end - 1}" for tp, each in ranges.items())
