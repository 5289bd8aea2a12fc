"""Evaluates the rules and the query of a pipeline again, for an audit.

Records are evaluated with the declaration with which they were processed: the events of runs contain it. Secrets and
schema files are those of the current declaration. If a source has bounds for times, each micro-batch is evaluated with
its own time.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kafka.consumer.bounds import OffsetRange
from kafka.pipelines.audit.scope import Ranges, Scope
from kafka.pipelines.declaration import Declaration, InvalidDeclaration, declare
from kafka.pipelines.events import Event, Run
from kafka.pipelines.rules import SETTINGS
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

_AT_ONCE = 2_000_000
"""Maximum number of offsets that Spark evaluates at a time, because their outcomes are collected."""


@dataclasses.dataclass(slots=True)
class _Part:
    """Ranges that were processed with the same declaration, and, if that matters, at the same time."""

    declaration: Declaration
    at: datetime.datetime | None
    ranges: dict[TopicPartition, OffsetRange]


class Recomputation:
    """The outcomes of the records of a pipeline.

    Arguments:
        declaration: the current declaration.
        spark: the session; None for a new one.
        function: the query if it is a Python function.
        events: the events of the pipeline.
        scope: what is audited.

    Attributes:
        is_by_row: whether the query is evaluated row by row, so that rows in the sink have positions.
        is_exact: whether all outcomes are those of the declarations with which the records were processed.
        notes: what is not exact, as sentences.

    Raises `InvalidDeclaration` if the query does not fit the sources.
    """

    def __init__(
        self,
        declaration: Declaration,
        spark: SparkSession | None,
        function: Callable[..., Any] | None,
        events: Sequence[Event],
        scope: Scope,
    ) -> None:
        from kafka.spark import session

        self._declaration = declaration
        self._spark = spark or session(declaration.pipeline, **SETTINGS)
        self._function = function
        self.notes: list[str] = []
        self.is_exact = True
        self._declared = self._declarations(events)
        self._parts = list(self._parts_of(scope))
        self._check_backfills(events)
        self._replays = self._declaration_of_replays(events, scope)
        self.is_by_row = self._is_by_row(scope.ranges)

    def _declarations(self, events: Sequence[Event]) -> dict[str, Declaration]:
        """Return the declaration of each run, by its id."""
        found: dict[str, Declaration] = {}
        current = self._declaration.fingerprint()
        for event in events:
            if event.kind == "start" and event.declaration is not None:
                earlier = self._earlier(event.declaration)
                is_current = earlier is None or earlier.fingerprint() == current
                found[event.run_id] = self._declaration if earlier is None or is_current else self._merged(earlier)
        return found

    def _earlier(self, content: Mapping[str, Any]) -> Declaration | None:
        try:
            return declare(content)
        except InvalidDeclaration as error:
            self._inexact(f"an earlier declaration cannot be read, so the current one stands for it: {error}")
            return None

    def _merged(self, earlier: Declaration) -> Declaration:
        """Return an earlier declaration with the current options, because events do not contain secrets."""
        current = self._declaration.all_sources
        sources = {
            name: source.model_copy(update={"options": current[name].options}) if name in current else source
            for name, source in earlier.all_sources.items()
        }
        kept = {"kafka": self._declaration.kafka, "registry": self._declaration.registry, "sources": sources}
        return earlier.model_copy(update=kept)

    def _inexact(self, note: str) -> None:
        self.is_exact = False
        self.notes.append(note)

    def _parts_of(self, scope: Scope) -> Iterator[_Part]:
        """Yield consecutive micro-batches with the same declaration, and then what only backfills have read.

        The parts do not overlap.
        """
        current: _Part | None = None
        declaration = self._declaration
        read: dict[TopicPartition, OffsetRange] = {}
        for batch in scope.batches:
            if batch.event is not None:
                declaration = self._declared.get(batch.event.run_id, declaration)
            at = batch.event.moment if batch.event is not None and _has_times(declaration) else None
            if current is None or current.declaration is not declaration or at != current.at:
                if current is not None:
                    yield current
                current = _Part(declaration, at, {})
            for tp, (start, end) in batch.ranges.items():
                begin = max(start, read[tp].end) if tp in read else start
                first = current.ranges[tp].start if tp in current.ranges else begin
                current.ranges[tp] = OffsetRange(first, max(first, end))
                read[tp] = OffsetRange(read[tp].start if tp in read else start, max(begin, end))
        if current is not None:
            yield current
        before, after = {}, {}
        for tp, (start, end) in scope.ranges.items():
            first, last = read.get(tp, OffsetRange(end, end))
            before[tp], after[tp] = OffsetRange(start, first), OffsetRange(last, end)
        yield from (_Part(self._declaration, None, rest) for rest in (before, after))

    def _check_backfills(self, events: Sequence[Event]) -> None:
        """Outcomes cannot be exact if a backfill used another declaration than the stream did."""
        used = {id(part.declaration) for part in self._parts}
        runs = {event.run_id for event in events if event.run == "backfill"}
        if any(id(self._declared[run]) not in used for run in runs if run in self._declared):
            self._inexact("a backfill used another declaration than the stream, so outcomes are not compared strictly")

    def _declaration_of_replays(self, events: Sequence[Event], scope: Scope) -> Declaration | None:
        """Return the declaration of all replays; None if there are none, or if they used several."""
        if not scope.replays:
            return None
        declared = {id(each): each for each in (self._declared.get(run) for run in _runs(events, "replay")) if each}
        if len(declared) != 1:
            self.notes.append("replays used several declarations, so their results were not compared with any of them")
            return None
        return next(iter(declared.values()))

    def _is_by_row(self, ranges: Ranges) -> bool:
        from kafka.pipelines.backfill import records_of
        from kafka.pipelines.combined_rows import Form
        from kafka.pipelines.planning import plan

        parts = [part.declaration for part in self._parts] or [self._declaration]
        forms = set()
        for declaration in {id(each): each for each in parts}.values():
            sources = declaration.all_sources
            records = {
                name: records_of(declaration, self._spark, name, source, _plain(ranges))
                for name, source in sources.items()
            }
            forms.add(plan(declaration, records, self._function, lambda frame, name, counts: frame).form)
        return forms == {Form.ROWS}

    def outcomes(self, ranges: Ranges) -> Iterator[pa.Table]:
        """Yield the outcomes of the records in ranges of offsets; see `evidence.codes_of`."""
        for part in self._parts:
            yield from self._evaluated(part.declaration, _intersection(part.ranges, ranges), part.at)

    def replay_outcomes(self, ranges: Ranges) -> Iterator[pa.Table]:
        """Yield the outcomes with the declaration of the replays; nothing if there is none."""
        if self._replays is not None:
            yield from self._evaluated(self._replays, ranges, None)

    def _evaluated(self, declaration: Declaration, ranges: Ranges, at: datetime.datetime | None) -> Iterator[pa.Table]:
        from kafka.pipelines.outcomes import outcomes

        for part in Scope("", ranges).slices(_AT_ONCE):
            frame = outcomes(declaration, self._spark, _plain(part), function=self._function, at=at)
            yield frame.toArrow()


def _runs(events: Sequence[Event], run: Run) -> list[str]:
    return [event.run_id for event in events if event.kind == "start" and event.run == run]


def _has_times(declaration: Declaration) -> bool:
    return any(source.times for source in declaration.all_sources.values())


def _plain(ranges: Ranges) -> dict[TopicPartition, tuple[int, int]]:
    return {tp: (each.start, each.end) for tp, each in ranges.items()}


def _intersection(ranges: Ranges, others: Ranges) -> dict[TopicPartition, OffsetRange]:
    found = {}
    for tp in ranges.keys() & others.keys():
        start, end = max(ranges[tp].start, others[tp].start), min(ranges[tp].end, others[tp].end)
        if start < end:
            found[tp] = OffsetRange(start, end)
    return found
