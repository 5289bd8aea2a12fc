"""Bounds the number of files of events: a pipeline that cron starts every five minutes runs 100,000 times a year.

`fold_ended_runs` moves the events of older runs to the file `ENDED_RUNS`. There, a start stands for consecutive runs of
the stream with the same declaration (`Event.earlier`), and old micro-batches are folded across these runs, as
`event_folding` does it within a run. The same goes for replays. The sums, and what an audit finds, remain the same. The
events of backfills are moved as they are, because an audit needs each slice. A replay or a backfill without an end was
killed if the lock of such runs is free.

The new file names the files that it covers, so that replacing it is the one step that counts: before it, readers use
the old files, and after it they ignore them (`events.event_files`), also if a kill prevents their removal. `ARCHIVED`
says how many events remain.
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path

from kafka.pipelines.directories import PipelineDirectory
from kafka.pipelines.event_folding import Limits, fold_batches, in_order, replace
from kafka.pipelines.events import ENDED_RUNS, EarlierRuns, Event, Run, event_files, events_of, first_event
from kafka.pipelines.run_history import batch_identity
from kafka.pipelines.start_checks import BOUNDED_LOCK, may_be_held

log = logging.getLogger(__name__)

KEPT = 20
"""Number of the newest files that remain."""
MOST = 40
"""Number of files from which older ones are folded."""
ARCHIVED = Limits(newest=1_000, excess=0, each=100, folds=500)
"""For all older streams together: 1,500 events, or about 1.5 MB, and two more for each change of the declaration."""
REPLAYED = Limits(newest=100, excess=0, each=100, folds=200)
"""For all older replays together: 300 events, the slices of the last replay, and two for each change of declaration."""
_AT_ONCE = 1_000
"""Maximum number of files that are folded in one step, because their names and events are in memory."""

_Key = tuple[Run, str]


@dataclasses.dataclass(slots=True)
class _Group:
    """Consecutive runs of the stream with the same declaration, or consecutive replays, or one run.

    Attributes:
        run: what ran.
        start: the start, with the number of earlier runs; None if it is missing.
        batches: the micro-batches of all runs, in the order in which they were processed.
        end: the end of the last run; None if it was killed.
    """

    run: Run
    start: Event | None = None
    batches: list[Event] = dataclasses.field(default_factory=list)
    end: Event | None = None

    def is_continued_by(self, later: _Group) -> bool:
        """Return whether the runs of another group, which come next, can be added to this one."""
        if self.start is None or later.start is None:
            return False
        return (self.start.pipeline, self.start.declaration) == (later.start.pipeline, later.start.declaration)

    def add(self, later: _Group) -> None:
        """Add the runs of a group that `is_continued_by`.

        The first run gives the group its id, which therefore remains if later runs are added: a recovered micro-batch
        of the group may be in a file that is not folded yet.
        """
        assert self.start is not None
        assert later.start is not None
        before, after = self.start.earlier or EarlierRuns(), later.start.earlier or EarlierRuns()
        earlier = EarlierRuns(
            runs=before.runs + 1 + after.runs,
            failures=before.failures + (self.end is not None and self.end.kind == "failure") + after.failures,
            kills=before.kills + (self.end is None) + after.kills,
        )
        run_id = self.start.run_id
        self.start = dataclasses.replace(later.start, time=self.start.time, earlier=earlier, run_id=run_id)
        self.batches += later.batches
        self.end = None if later.end is None else dataclasses.replace(later.end, run_id=run_id)

    @property
    def run_id(self) -> str:
        """The id of the first run."""
        return next((each.run_id for each in (self.start, self.end, *self.batches) if each is not None), "")

    def identified(self) -> Iterator[Event]:
        """Yield the micro-batches with the id of the group."""
        run_id = self.run_id
        for each in self.batches:
            yield each if each.run_id == run_id else dataclasses.replace(each, run_id=run_id)

    def events(self, batches: Iterable[Event]) -> Iterator[Event]:
        """Yield the events of the group, with other micro-batches."""
        if self.start is not None:
            yield self.start
        yield from batches
        if self.end is not None:
            yield self.end


def folded_runs(events: Iterable[Event], limits: Limits = ARCHIVED, replays: Limits = REPLAYED) -> list[Event]:
    """Fold ended runs. Pure.

    Arguments:
        events: all events of the runs, run by run, the oldest first; they may have been folded before.
        limits: how many micro-batches to keep, and how many to fold into one event.
        replays: the same for the slices of replays.

    Returns the events of the streams, then those of replays, and all of those of backfills behind them: audits need
    each slice of a backfill.
    """
    runs: dict[_Key, list[Event]] = {}
    backfills: list[Event] = []
    for event in events:
        is_folded = event.run in ("stream", "replay")
        (runs.setdefault((event.run, event.run_id), []) if is_folded else backfills).append(event)
    groups = _without_repeated(runs)
    streams = _grouped(group for group in groups if group.run == "stream")
    replayed = _grouped(group for group in groups if group.run == "replay")
    batches = fold_batches([each for group in streams for each in group.identified()], limits)
    slices = _folded_slices([each for group in replayed for each in group.identified()], replays)
    return [*_events(streams, batches), *_events(replayed, slices), *backfills]


def _grouped(runs: Iterable[_Group]) -> list[_Group]:
    groups: list[_Group] = []
    for run in runs:
        if groups and groups[-1].is_continued_by(run):
            groups[-1].add(run)
        else:
            groups.append(run)
    return groups


def _folded_slices(slices: Sequence[Event], limits: Limits) -> list[Event]:
    """Fold the slices of all replays but the last one, which may be continued, and then repeats a slice."""
    last = max((each.number for each in slices), default=0)
    return [
        *fold_batches([each for each in slices if each.number < last], limits),
        *(each for each in slices if each.number == last),
    ]


def _events(groups: Iterable[_Group], batches: Iterable[Event]) -> Iterator[Event]:
    """Yield the events of groups, with folded micro-batches."""
    by_run: dict[str, list[Event]] = {}
    for event in batches:
        by_run.setdefault(event.run_id, []).append(event)
    for group in groups:
        yield from group.events(by_run.get(group.run_id, ()))


def _without_repeated(runs: Mapping[_Key, Sequence[Event]]) -> list[_Group]:
    """Return a group for each run, without micro-batches that a later run has repeated, as a history counts them."""
    groups = []
    for (run, _), events in runs.items():
        batches = [each for each in events if each.kind == "batch"]
        group = _Group(run, batches=in_order(batches) if run == "stream" else batches)
        for event in events:
            if event.kind == "start":
                group.start = event
            elif event.kind != "batch":
                group.end = event
        groups.append(group)
    last = {batch_identity(event): id(event) for group in groups for event in group.batches}
    for group in groups:
        group.batches = [event for event in group.batches if last[batch_identity(event)] == id(event)]
    return groups


def fold_ended_runs(directory: PipelineDirectory) -> None:
    """Fold the files of older runs into `ENDED_RUNS` if there are many. Call it while no stream runs.

    Raises nothing: files that cannot be folded remain as they are, with a warning.

    Arguments:
        directory: the directory of the pipeline.
    """
    folder = directory.events
    try:
        ended, paths = event_files(folder)
        running = _running(directory)  # a run that begins later writes to a file that is not among these
        covered = _removed(folder, ended[0].covers if ended else ())
        if len(paths) <= MOST:
            return
        old = paths[:-KEPT]
        for at in range(0, len(old), _AT_ONCE):
            found = {path.name: _events_of_ended(path, running) for path in old[at : at + _AT_ONCE]}
            added = {name: events for name, events in found.items() if events is not None}
            if any(added.values()):
                ended = _without_covers(ended)
                ended = folded_runs([*ended, *(event for events in added.values() for event in events)])
                ended[0] = dataclasses.replace(ended[0], covers=(*covered, *added))
                replace(folder / ENDED_RUNS, ended)
            covered = _removed(folder, (*covered, *added))
    except (OSError, ValueError) as error:
        log.warning("could not fold the events of older runs in %s: %s", folder, error)


def _running(directory: PipelineDirectory) -> set[Run]:
    """Return which of replays and backfills may be running. Each holds a lock from its first event to its end."""
    folders: dict[Run, tuple[Path, ...]] = {
        "replay": (directory.replays,),
        "backfill": (directory.backfills, directory.first_backfill),
    }
    return {run for run, locked in folders.items() if any(may_be_held(each / BOUNDED_LOCK) for each in locked)}


def _events_of_ended(path: Path, running: AbstractSet[Run]) -> list[Event] | None:
    """Return the events of a run that has ended, or was killed; None if it may still write, or for an invalid file.

    Arguments:
        path: the file of the run.
        running: kinds of runs of which one may be running.
    """
    try:
        first = first_event(path)
        if first is None:  # the run was killed while it wrote its first line, or does so now
            return None if running else []
        events = list(events_of(path))
    except ValueError as error:
        log.warning("could not fold the events of the run in %s: %s", path, error)
        return None
    return events if first.run not in running or events[-1].kind in ("stop", "failure") else None


def _without_covers(events: Sequence[Event]) -> list[Event]:
    return [dataclasses.replace(each, covers=()) if each.covers else each for each in events]


def _removed(directory: Path, names: Iterable[str]) -> list[str]:
    """Remove files whose events are in `ENDED_RUNS`. Returns the names of those that could not be removed.

    Other files are never removed, whatever the names are.
    """
    remaining = []
    for name in names:
        path = directory / name
        if path.parent != directory or path.suffix != ".jsonl" or name == ENDED_RUNS:
            continue
        with contextlib.suppress(OSError):  # on Windows, somebody may read it
            path.unlink(missing_ok=True)
            continue
        remaining.append(name)
    return remaining
