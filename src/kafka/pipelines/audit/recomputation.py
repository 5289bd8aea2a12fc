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
from kafka.pipelines.audit.groups import NotCompared, Part, balance_groups, late_bounds
from kafka.pipelines.audit.micro_batches import ranges_of_event
from kafka.pipelines.audit.scope import Ranges, Scope
from kafka.pipelines.audit.windows import GroupBalance
from kafka.pipelines.declaration import Declaration, InvalidDeclaration, declare, with_current_options
from kafka.pipelines.events import Event, Run
from kafka.pipelines.rules import SETTINGS
from kafka.pipelines.stream_checkpoint import StreamCheckpoint
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

    def continues(self, declaration: Declaration, at: datetime.datetime | None, ranges: Ranges) -> bool:
        """Return whether ranges can be added: they adjoin, and were processed with the same declaration."""
        same = self.declaration is declaration and self.at == at
        return same and all(tp not in self.ranges or self.ranges[tp].end == each.start for tp, each in ranges.items())

    def add(self, ranges: Ranges) -> None:
        """Add ranges that adjoin."""
        for tp, (start, end) in ranges.items():
            self.ranges[tp] = OffsetRange(self.ranges[tp].start if tp in self.ranges else start, end)


class _Read:
    """The offsets of the parts so far."""

    def __init__(self) -> None:
        self._read: dict[TopicPartition, list[OffsetRange]] = {}

    def rest_of(self, ranges: Ranges) -> list[dict[TopicPartition, OffsetRange]]:
        """Return the pieces of ranges that are new, at most one for each partition in each item, and add the ranges."""
        found: list[dict[TopicPartition, OffsetRange]] = []
        for tp, part in ranges.items():
            read = self._read.setdefault(tp, [])
            for index, piece in enumerate(_without(part, read)):
                if index == len(found):
                    found.append({})
                found[index][tp] = piece
            if read and read[-1].start <= part.start <= read[-1].end:
                read[-1] = OffsetRange(read[-1].start, max(read[-1].end, part.end))
            else:
                read.append(part)
        return found


def _without(part: OffsetRange, others: Sequence[OffsetRange]) -> list[OffsetRange]:
    """Return the pieces of a range that are in none of the others."""
    pieces = [part]
    for start, end in others:
        cut = [
            piece
            for first, last in pieces
            for piece in (OffsetRange(first, min(last, start)), OffsetRange(max(first, end), last))
        ]
        pieces = [piece for piece in cut if piece.start < piece.end]
    return [piece for piece in pieces if piece.start < piece.end]


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
        self._check_folds(scope)
        self._check_backfills(scope)
        self._replays = self._declaration_of_replays(events, scope)
        self.is_by_row = self._is_by_row(scope.ranges)

    def _declarations(self, events: Sequence[Event]) -> dict[str, Declaration]:
        """Return the declaration of each run, by its id."""
        found: dict[str, Declaration] = {}
        equal = {self._declaration.fingerprint(): self._declaration}
        for event in events:
            if event.kind == "start" and event.declaration is not None:
                earlier = self._earlier(event.declaration)
                if earlier is None:
                    found[event.run_id] = self._declaration
                    continue
                fingerprint = earlier.fingerprint()
                if fingerprint not in equal:
                    equal[fingerprint] = with_current_options(earlier, self._declaration)
                found[event.run_id] = equal[fingerprint]
        return found

    def _earlier(self, content: Mapping[str, Any]) -> Declaration | None:
        try:
            return declare(content)
        except InvalidDeclaration as error:
            self._inexact(f"an earlier declaration cannot be read, so the current one stands for it: {error}")
            return None

    def _inexact(self, note: str) -> None:
        self.is_exact = False
        self.notes.append(note)

    def _parts_of(self, scope: Scope) -> Iterator[_Part]:
        """Yield what the stream has read, then what only backfills have read, and then the rest of the scope.

        Each part has the declaration with which its records were processed. The parts do not overlap.
        """
        read = _Read()
        current: _Part | None = None
        for declaration, at, ranges in self._runs(scope):
            for piece in read.rest_of(ranges):
                if current is not None and current.continues(declaration, at, piece):
                    current.add(piece)
                    continue
                if current is not None:
                    yield current
                current = _Part(declaration, at, piece)
        if current is not None:
            yield current
        for piece in read.rest_of(scope.ranges):
            yield _Part(self._declaration, None, piece)

    def _runs(self, scope: Scope) -> Iterator[tuple[Declaration, datetime.datetime | None, Ranges]]:
        """Yield the declaration, the time if it matters, and the ranges of each batch of the stream and backfills."""
        yield from self._of_stream(scope)
        for backfill in scope.backfills:
            for event in backfill.slices if backfill.same_sink else ():
                declaration = self._declared.get(event.run_id, self._declaration)
                yield declaration, event.moment if _has_times(declaration) else None, ranges_of_event(event)

    def _of_stream(self, scope: Scope) -> Iterator[tuple[Declaration, datetime.datetime | None, Ranges]]:
        declaration = self._declaration
        for batch in scope.batches:
            if batch.event is not None:
                declaration = self._declared.get(batch.event.run_id, declaration)
            at = batch.event.moment if batch.event is not None and _has_times(declaration) else None
            yield declaration, at, batch.ranges

    def groups(self, scope: Scope, checkpoint: StreamCheckpoint) -> GroupBalance:
        """Compare the groups of an aggregating query; see `groups`. Raises `NotCompared`."""
        allowed = self._spark.conf.get("spark.sql.streaming.statefulOperator.allowMultiple", "true")
        late = late_bounds(scope, checkpoint.watermarks_ms, allows_multiple=str(allowed).lower() == "true")
        parts: list[Part] = []
        current: _Part | None = None
        for (declaration, at, ranges), batch in zip(self._of_stream(scope), scope.batches, strict=True):
            given = {tp: each for tp, each in ranges.items() if each.start < each.end}
            if not given:
                continue
            if batch.number in late:
                parts.append(Part(declaration, at, given, late[batch.number]))
                current = None
            elif current is not None and current.continues(declaration, at, given):
                current.add(given)
            else:
                current = _Part(declaration, at, given)
                parts.append(Part(declaration, at, current.ranges))
        if not parts:
            raise NotCompared("the pipeline has not read any records")
        last = None if checkpoint.committed is None else checkpoint.watermarks_ms.get(checkpoint.committed)
        return balance_groups(self._declaration, self._spark, self._function, scope, parts, last)

    def _check_folds(self, scope: Scope) -> None:
        """Outcomes cannot be exact if the bounds of times depend on times of micro-batches that are folded."""
        for (_, at, _), batch in zip(self._of_stream(scope), scope.batches, strict=True):
            if at is not None and batch.first < batch.number:
                self._inexact(
                    f"{batch.name} have been folded into one event, so the times of each, which bounds of times depend "
                    "on, are unknown; outcomes are not compared strictly"
                )
                return

    def _check_backfills(self, scope: Scope) -> None:
        """Outcomes cannot be exact if a backfill read records of the stream with another declaration."""
        for event in (event for backfill in scope.backfills for event in backfill.slices):
            declaration = self._declared.get(event.run_id, self._declaration)
            others = [part.ranges for part in self._parts if part.declaration is not declaration]
            if any(_intersection(ranges_of_event(event), each) for each in others):
                self._inexact(
                    "a backfill used another declaration than the stream, so outcomes are not compared strictly"
                )
                return

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
