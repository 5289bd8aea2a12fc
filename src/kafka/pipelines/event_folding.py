"""Bounds the file of events of a stream that runs for months: old micro-batches are folded into sums.

`EventFile` appends an event for each micro-batch. When a file has too many, `FoldingEventFile` replaces it with one in
which an event stands for many old micro-batches. The sums of a file never change, and neither does what an audit finds:
only consecutive micro-batches whose offsets adjoin are folded. The file is replaced with one call (`replace`), so that
readers, and the next run after a kill, find the old one or the new one. `Limits` says how many events remain.
`ended_runs` folds the files of many runs into one.
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from kafka.pipelines.events import ENDED_RUNS, Event, EventFile, Folded, SourceCounts, events_of, to_json

log = logging.getLogger(__name__)

_NEW = ".new"
"""The suffix of a file that will replace another one. Its name begins with a dot, so that Spark does not read it."""


@dataclasses.dataclass(frozen=True, slots=True)
class Limits:
    """How many events a file has.

    Arguments:
        newest: number of the newest micro-batches that keep an event of their own.
        excess: number of further micro-batches after which they are folded.
        each: number of micro-batches that are folded into one event at first.
        folds: maximum number of events that stand for several micro-batches; if there are more, neighbours are merged.
    """

    newest: int = 2_000
    excess: int = 2_000
    each: int = 100
    folds: int = 500


RUNNING = Limits()
"""For the file of the stream that runs: about 4,500 events, or 4.5 MB, at most."""
ENDED = Limits(newest=100, excess=0, each=20, folds=50)
"""For the file of an earlier stream: 150 events, or about 150 KB."""
_LONG = 400_000
"""Number of bytes from which the file of an earlier stream is folded."""


def fold(events: Iterable[Event], limits: Limits) -> list[Event]:
    """Fold old micro-batches of a run of the stream. Pure.

    The first micro-batch keeps an event of its own: the run before may have been killed when it had recorded the same
    one, and histories count it once as long as both have events of their own.

    Arguments:
        events: all events of the run, oldest first.
        limits: how many micro-batches to keep, and how many to fold into one event.

    Returns the events in the same order: those that are not micro-batches, folds, and the newest micro-batches.
    """
    events = list(events)
    last = {event.batch: at for at, event in enumerate(events) if event.kind == "batch"}
    # Within a run, Spark repeats a micro-batch with the same number and offsets; only the last one counts.
    kept = [event for at, event in enumerate(events) if not _is_repeated(events, last, at, event)]
    batches = in_order(event for event in kept if event.kind == "batch")
    batches = [*batches[:1], *fold_batches(batches[1:], limits)]
    first = next((at for at, event in enumerate(kept) if event.kind == "batch"), len(kept))
    rest = [event for event in kept[first:] if event.kind != "batch"]
    return [*kept[:first], *batches, *rest]


def fold_batches(batches: Sequence[Event], limits: Limits) -> list[Event]:
    """Fold old micro-batches.

    Arguments:
        batches: the micro-batches in the order in which they were processed, without repeated ones.
        limits: how many to keep, and how many to fold into one event.

    Returns the folds, and the newest micro-batches.
    """
    old = batches[: max(0, len(batches) - limits.newest)]
    found = _merged(old, limits.each)
    while len(found) > limits.folds:
        fewer = _in_pairs(found)
        if len(fewer) == len(found):
            break
        found = fewer
    return [*found, *batches[len(old) :]]


def in_order(batches: Iterable[Event]) -> list[Event]:
    """Return micro-batches in the order in which they were processed.

    Arguments:
        batches: the micro-batches in the order of the file. The clock may have been set back between two of them, and
            a new checkpoint begins at number 0. Only a recovered micro-batch comes too late, with its old time.
    """
    found: list[Event] = []
    for event in batches:
        at = len(found)
        while at and (found[at - 1].batch or 0) > (event.batch or 0) and found[at - 1].time > event.time:
            at -= 1
        found.insert(at, event)
    return found


def _is_repeated(events: Sequence[Event], last: dict[int | None, int], at: int, event: Event) -> bool:
    if event.kind != "batch" or last[event.batch] == at:
        return False
    later = events[last[event.batch]]
    return later.first == event.first and _ranges(later) == _ranges(event)


def _ranges(event: Event) -> dict[str, dict[str, tuple[int, int]]]:
    return {name: dict(counts.ranges) for name, counts in event.sources.items()}


def _merged(batches: Sequence[Event], each: int) -> list[Event]:
    """Merge up to ``each`` consecutive micro-batches at a time. Larger folds remain as they are."""
    found: list[Event] = []
    for event in batches:
        if found and found[-1].batches + event.batches <= each and adjoin(found[-1], event):
            found[-1] = merge(found[-1], event)
        else:
            found.append(event)
    return found


def _in_pairs(folds: Sequence[Event]) -> list[Event]:
    """Merge neighbours, so that each of the results is made of at most two."""
    found: list[Event] = []
    single = False
    for event in folds:
        if single and adjoin(found[-1], event):
            found[-1] = merge(found[-1], event)
            single = False
        else:
            found.append(event)
            single = True
    return found


def adjoin(earlier: Event, later: Event) -> bool:
    """Return whether a micro-batch follows another one without a gap or an overlap, in numbers and in offsets.

    Of replays, the slices of a run or of a group of runs: what a replay has read is in its plan, not in its events.
    """
    if earlier.run == "replay":
        return (earlier.run, earlier.run_id) == (later.run, later.run_id)
    if earlier.batch is None or later.first != earlier.batch + 1:
        return False
    if (earlier.run, earlier.number, earlier.run_id) != (later.run, later.number, later.run_id):
        return False
    if earlier.recovered != later.recovered and None in (earlier.out, later.out):
        return False  # totals leave out an unknown number of result rows only if it was recovered
    return all(
        counts.ranges[name][1] == start
        for source, counts in earlier.sources.items()
        if source in later.sources
        for name, (start, _) in later.sources[source].ranges.items()
        if name in counts.ranges
    )


def merge(earlier: Event, later: Event) -> Event:
    """Return an event that stands for two, which `adjoin`."""
    begin, end = earlier.moment.timestamp(), later.moment.timestamp() + later.span
    sources = dict(earlier.sources)
    for name, counts in later.sources.items():
        sources[name] = _sum(sources[name], counts) if name in sources else counts
    known = [each.out for each in (earlier, later) if each.out is not None or not each.recovered]
    return dataclasses.replace(
        later,
        time=earlier.time,
        seconds=max(earlier.seconds or 0.0, later.seconds or 0.0),
        sources=sources,
        out=None if None in known else sum(each or 0 for each in known),
        late=earlier.late + later.late,
        untimed=earlier.untimed + later.untimed,
        watermark_ms=earlier.watermark_ms if later.watermark_ms is None else later.watermark_ms,
        recovered=earlier.recovered or later.recovered,
        folded=Folded(
            first=(earlier.first or 0),
            batches=earlier.batches + later.batches,
            busy=earlier.busy + later.busy,
            span=round(max(end - begin, earlier.span), 3),
            largest=max(earlier.largest, later.largest),
        ),
    )


def _sum(earlier: SourceCounts, later: SourceCounts) -> SourceCounts:
    rules = dict(earlier.rules)
    for rule, failed in later.rules.items():
        rules[rule] = rules.get(rule, 0) + failed
    ranges = dict(earlier.ranges)
    for name, (start, end) in later.ranges.items():
        before = ranges.get(name, (start, end))
        ranges[name] = (min(before[0], start), max(before[1], end))
    return SourceCounts(
        rows=earlier.rows + later.rows,
        processed=earlier.processed + later.processed,
        dropped=earlier.dropped + later.dropped,
        dead=earlier.dead + later.dead,
        rules=rules,
        ranges=ranges,
        lag=later.lag,
    )


def replace(path: Path, events: Iterable[Event]) -> None:
    """Replace a file of events with another one, so that a reader, also after a kill, finds one of the two.

    Arguments:
        path: the file.
        events: the new events.

    Raises `OSError` if the new file cannot be written; the old one remains.
    """
    new = path.with_name(f".{path.stem}{_NEW}")
    data = "".join(to_json(event) + "\n" for event in events).encode()
    try:
        with new.open("wb", buffering=0) as file:
            _write(file.fileno(), data)
            os.fsync(file.fileno())
        os.replace(new, path)
    except OSError:
        with contextlib.suppress(OSError):
            new.unlink()
        raise
    with contextlib.suppress(OSError):  # some file systems cannot do this
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def remove_leftovers(directory: Path) -> None:
    """Remove the new files of runs that were killed while they wrote them. Call it while no stream runs."""
    for path in directory.glob(f".*{_NEW}"):
        with contextlib.suppress(OSError):
            path.unlink()


def fold_ended(directory: Path) -> None:
    """Fold the long files of earlier streams. Call it while no stream runs. Raises nothing: a file that cannot be
    folded remains as it is, with a warning.
    """
    remove_leftovers(directory)
    for path in sorted(directory.glob("*.jsonl")):
        try:
            if path.name != ENDED_RUNS and path.stat().st_size >= _LONG:
                events = list(events_of(path))
                folded = fold(events, ENDED)
                if events and events[0].run == "stream" and len(folded) < len(events):
                    replace(path, folded)
        except (OSError, ValueError) as error:
            log.warning("could not shorten the file of events %s: %s", path, error)


class FoldingEventFile(EventFile):
    """A file of events of bounded size, for a stream; see `EventFile`.

    Arguments:
        directory: the directory of the events; it is created.
        name: the name of the file without its suffix, unique and in the order of runs.
        limits: how many events it has.
    """

    def __init__(self, directory: Path, name: str, limits: Limits = RUNNING) -> None:
        super().__init__(directory, name)
        self._limits = limits
        self._added = -limits.newest
        """Number of micro-batches since the last fold, beyond those that keep an event of their own."""

    def append(self, event: Event) -> None:
        """Append an event, and fold old ones if there are too many.

        Raises `OSError` if the event cannot be written. If the file cannot be shortened, it grows, with a warning.
        """
        super().append(event)
        self._added += event.kind == "batch"
        if self._added < self._limits.excess:
            return
        self._added = 0
        try:
            replace(self.path, fold(events_of(self.path), self._limits))
        except (OSError, ValueError) as error:
            log.warning(
                "could not shorten the file of events %s; it grows until the next attempt: %s", self.path, error
            )
