"""The history of a pipeline: its events grouped by run, with totals. Pure.

The report, the metrics and the web UI use this. A killed run has no event at its end, and may have reported a
micro-batch that a later run repeats; `History` counts such a batch once.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from kafka.pipelines.events import EarlierRuns, Event, Run, SourceCounts

Ending = Literal["stopped", "failed", "killed", "open"]

BatchIdentity = tuple[Run, int, int | None, tuple[Any, ...]]


@dataclasses.dataclass(slots=True)
class RunHistory:
    """A run with its micro-batches.

    Attributes:
        run: what ran: ``stream``, ``replay`` or ``backfill``.
        number: the number of the replay or backfill.
        run_id: identifies the run.
        start: when the run started, in seconds since 1970.
        end: when it ended, or the end of its last micro-batch if it has no event at its end.
        ending: ``stopped``, ``failed``, ``killed`` (it has no event at its end, and a later run exists), or ``open``
            (it has no event at its end, and no later run exists: it is running or was killed). Later runs are those
            that cannot run at the same time; see `exclusive`.
        cause: the error's text if the run failed.
        batches: the micro-batches, oldest first, without those that a later run repeated. An event may stand for
            several old micro-batches.
        earlier: the ended runs that this one also stands for; `start` is then that of the first one.
    """

    run: Run
    number: int
    run_id: str
    start: float
    end: float
    ending: Ending = "open"
    cause: str = ""
    batches: list[Event] = dataclasses.field(default_factory=list)
    earlier: EarlierRuns = dataclasses.field(default_factory=EarlierRuns)

    @property
    def count(self) -> int:
        """Number of runs that this one stands for."""
        return 1 + self.earlier.runs

    @property
    def failed(self) -> int:
        """Number of runs that failed."""
        return self.earlier.failures + (self.ending == "failed")

    @property
    def killed(self) -> int:
        """Number of runs that were killed."""
        return self.earlier.kills + (self.ending == "killed")

    @property
    def name(self) -> str:
        """The kind of the run, with its number."""
        return f"{self.run} {self.number}" if self.number else self.run

    @property
    def batch_count(self) -> int:
        """Number of micro-batches."""
        return sum(each.batches for each in self.batches)

    @property
    def rows(self) -> int:
        """Number of rows read."""
        return sum(each.rows for each in self.batches)


@dataclasses.dataclass(slots=True)
class SourceTotals:
    """The sums of the counts of a source; see `kafka.pipelines.events.SourceCounts`."""

    rows: int = 0
    processed: int = 0
    dropped: int = 0
    dead: int = 0
    rules: dict[str, int] = dataclasses.field(default_factory=dict)
    lag: int | None = None

    @property
    def difference(self) -> int:
        """Number of rows without an outcome, or, if negative, with more than one. It should be 0."""
        return self.rows - self.processed - self.dropped - self.dead

    def include(self, later: SourceCounts | SourceTotals) -> None:
        """Add later counts, and take over their lag."""
        self.rows += later.rows
        self.processed += later.processed
        self.dropped += later.dropped
        self.dead += later.dead
        self.lag = later.lag
        for rule, failed in later.rules.items():
            self.rules[rule] = self.rules.get(rule, 0) + failed


@dataclasses.dataclass(slots=True)
class Totals:
    """The sums of all micro-batches of a kind of runs.

    Attributes:
        sources: by the name of the source.
        out: number of rows that the query returned, without those of micro-batches whose counts were computed again
            and do not contain it; None if it is unknown for another micro-batch.
        busy: seconds during which micro-batches with rows were processed.
    """

    sources: dict[str, SourceTotals] = dataclasses.field(default_factory=dict)
    out: int | None = 0
    late: int = 0
    untimed: int = 0
    batches: int = 0
    busy: float = 0.0

    @property
    def rows(self) -> int:
        """Number of rows read from all sources."""
        return sum(each.rows for each in self.sources.values())

    @property
    def dead(self) -> int:
        """Number of dead letters."""
        return sum(each.dead for each in self.sources.values())

    @property
    def dropped(self) -> int:
        """Number of rows that a rule dropped."""
        return sum(each.dropped for each in self.sources.values())

    @property
    def rate(self) -> float | None:
        """Rows per second while micro-batches with rows were processed; None if there were none."""
        return self.rows / self.busy if self.busy > 0 else None

    @property
    def difference(self) -> int:
        """Number of rows without an outcome in all sources; see `SourceTotals.difference`."""
        return sum(abs(each.difference) for each in self.sources.values())

    @property
    def rules(self) -> dict[str, int]:
        """Number of rows that fail each rule, by the rule's name, for all sources together."""
        found: dict[str, int] = {}
        for each in self.sources.values():
            for rule, failed in each.rules.items():
                found[rule] = found.get(rule, 0) + failed
        return found

    def __add__(self, later: Totals) -> Totals:
        sources = {name: dataclasses.replace(each, rules=dict(each.rules)) for name, each in self.sources.items()}
        for name, each in later.sources.items():
            sources.setdefault(name, SourceTotals()).include(each)
        out = None if self.out is None or later.out is None else self.out + later.out
        return Totals(
            sources,
            out=out,
            late=self.late + later.late,
            untimed=self.untimed + later.untimed,
            batches=self.batches + later.batches,
            busy=self.busy + later.busy,
        )

    def add(self, batch: Event) -> None:
        """Add the counts of a micro-batch, or of the micro-batches that an event stands for."""
        self.batches += batch.batches
        self.late += batch.late
        self.untimed += batch.untimed
        out = 0 if batch.out is None and batch.recovered else batch.out
        self.out = None if self.out is None or out is None else self.out + out
        self.busy += batch.busy
        for name, counts in batch.sources.items():
            self.sources.setdefault(name, SourceTotals()).include(counts)


@dataclasses.dataclass(slots=True)
class History:
    """The history of a pipeline.

    Attributes:
        pipeline: the name of the pipeline; "" without events.
        runs: the runs, oldest first.
        totals: the totals by the kind of runs, ``stream`` first.
        declaration: the declaration of the newest run that reported one.
    """

    pipeline: str
    runs: list[RunHistory]
    totals: dict[Run, Totals]
    declaration: Mapping[str, Any] | None

    @property
    def newest(self) -> RunHistory | None:
        """The newest run of the stream; None if there is none."""
        return next((each for each in reversed(self.runs) if each.run == "stream"), None)

    def runs_of(self, run: Run) -> list[RunHistory]:
        """Return the runs of a kind."""
        return [each for each in self.runs if each.run == run]


def history(events: Iterable[Event]) -> History:
    """Group events of one pipeline by run, and sum them up.

    Arguments:
        events: the events, in any order.
    """
    dated = sorted(((event.moment.timestamp(), event) for event in events), key=lambda each: each[0])
    last = {batch_identity(event): at for at, (_, event) in enumerate(dated) if event.kind == "batch"}
    runs: list[RunHistory] = []
    current: dict[tuple[Run, str], RunHistory] = {}
    declaration = None
    for at, (time, event) in enumerate(dated):
        key = (event.run, event.run_id)  # the number of a slice may be that of an earlier replay that was folded
        if event.kind == "start" or key not in current:
            current[key] = RunHistory(event.run, event.number, event.run_id, time, time)
            runs.append(current[key])
        run = current[key]
        if event.kind == "batch":
            run.end = max(run.end, time + event.span)
            if last[batch_identity(event)] == at:
                run.batches.append(event)
        elif event.kind == "start":
            declaration = event.declaration or declaration
            run.earlier = event.earlier or run.earlier
        else:
            run.end = max(run.end, time)
            run.ending = "stopped" if event.kind == "stop" else "failed"
            run.cause = event.cause or ""
    later: set[tuple[Run, bool]] = set()
    for run in reversed(runs):
        kind = exclusive(run.run, run.number)
        if run.ending == "open" and kind in later:
            run.ending = "killed"
        later.add(kind)
    return History(dated[-1][1].pipeline if dated else "", runs, _totals(runs), declaration)


def exclusive(run: Run, number: int) -> tuple[Run, bool]:
    """Return the kind of runs of which only one can run at a time: the backfill before the stream has its own lock."""
    return run, run == "backfill" and number == 0


def batch_identity(event: Event) -> BatchIdentity:
    """Identify a micro-batch. Spark repeats a micro-batch that it did not commit with the same offsets."""
    ranges = tuple((name, tuple(sorted(counts.ranges.items()))) for name, counts in sorted(event.sources.items()))
    return event.run, event.number, event.batch, ranges


def _totals(runs: Iterable[RunHistory]) -> dict[Run, Totals]:
    found: dict[Run, Totals] = {"stream": Totals()}
    for run in runs:
        totals = found.setdefault(run.run, Totals())
        for batch in run.batches:
            totals.add(batch)
    return found
