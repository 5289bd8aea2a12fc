"""The events of a pipeline: a line of JSON for each micro-batch, start and end of a run.

Each run appends to a file of its own in the directory `events`. ``spark.read.json(directory)`` reads all of them as a
DataFrame, and `read_events` as objects. The names of the keys are those of the classes here; they are stable. In the
file of a long stream, events stand for several old micro-batches (`event_folding`). The file `ENDED_RUNS` has what the
files of older runs had (`ended_runs`).
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import errno
import itertools
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

Kind = Literal["start", "batch", "stop", "failure"]
Run = Literal["stream", "replay", "backfill"]

ENDED_RUNS = "0-ended-runs.jsonl"
"""The file with the folded events of older runs. Its name precedes those of all runs."""


@dataclasses.dataclass(frozen=True, slots=True)
class SourceCounts:
    """What a micro-batch did with the rows of a source.

    Each row is counted once in `processed`, `dropped` or `dead`, so that their sum is `rows`.

    Arguments:
        rows: number of rows read.
        processed: number of rows that the query processed: those that pass, or only fail rules with the outcome keep.
        dropped: number of rows that a rule dropped.
        dead: number of dead letters.
        rules: number of rows that fail each rule, by its name; without rules that no row fails.
        ranges: start offset and end offset (exclusive) of each partition, by ``TOPIC-PARTITION``.
        lag: number of offsets that the batch left unread; None if unknown.
    """

    rows: int
    processed: int
    dropped: int
    dead: int
    rules: Mapping[str, int] = dataclasses.field(default_factory=dict)
    ranges: Mapping[str, tuple[int, int]] = dataclasses.field(default_factory=dict)
    lag: int | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Folded:
    """What an event that stands for several consecutive micro-batches, or slices of replays, has besides their sums.

    Arguments:
        first: the number of the first micro-batch; that of the event is the last one. Each replay begins at 0.
        batches: number of micro-batches.
        busy: seconds during which micro-batches with rows were processed.
        span: seconds from the start of the first micro-batch to the end of the last one.
        largest: number of rows in the largest micro-batch.
    """

    first: int
    batches: int
    busy: float
    span: float
    largest: int


@dataclasses.dataclass(frozen=True, slots=True)
class EarlierRuns:
    """The ended runs that the start of a run also stands for: they had the same declaration, and came just before it.

    Arguments:
        runs: number of runs.
        failures: number of those that failed.
        kills: number of those that were killed.
    """

    runs: int = 0
    failures: int = 0
    kills: int = 0


@dataclasses.dataclass(frozen=True, slots=True)
class Event:
    """An event of a run.

    Arguments:
        kind: ``start``, ``batch`` (a completed micro-batch), ``stop``, or ``failure`` (the run ended with an error). A
            run that was killed has no event at its end.
        time: when it happened, in UTC, in ISO 8601. For a batch, when the batch started.
        pipeline: the name of the pipeline.
        run: what ran: ``stream``, ``replay`` or ``backfill``.
        run_id: identifies the run.
        number: the number of the replay or backfill; 0 for the stream, and for the backfill before it. For several
            replays that were folded, that of the last one.
        batch: the number of the batch; None for other events.
        seconds: duration of the batch; that of the longest one if the event stands for several.
        sources: what happened to the rows of each source, by the source's name.
        out: number of rows that the query returned; None if unknown.
        late: number of rows that were dropped because they were older than the watermark.
        untimed: number of rows that steps of the query dropped because their time is NULL.
        state_rows: number of rows in the state of stateful operators.
        watermark_ms: the watermark with which the batch was planned, in ms since 1970; None without one.
        declaration: with ``start``, the declaration as `Declaration.shown` returns it, without secrets.
        cause: with ``failure``, the error's text.
        recovered: whether the driver was killed before it wrote the event, so that the counts were computed again from
            the records. The numbers of late rows and of rows in the state are then unknown, and 0 here.
        folded: for several micro-batches that the event stands for; None for a single one. Counts are their sums,
            ranges span theirs, and lag, state_rows and watermark_ms are those of the last one.
        earlier: with ``start``, the ended runs that were folded into this one; None if there are none. The time is then
            that of the first start.
        covers: with the first event of `ENDED_RUNS`, the names of the files whose events it contains, and which may
            still exist. Readers ignore these files.
    """

    kind: Kind
    time: str
    pipeline: str
    run: Run = "stream"
    run_id: str = ""
    number: int = 0
    batch: int | None = None
    seconds: float | None = None
    sources: Mapping[str, SourceCounts] = dataclasses.field(default_factory=dict)
    out: int | None = None
    late: int = 0
    untimed: int = 0
    state_rows: int = 0
    watermark_ms: int | None = None
    declaration: Mapping[str, Any] | None = None
    cause: str | None = None
    recovered: bool = False
    folded: Folded | None = None
    earlier: EarlierRuns | None = None
    covers: Sequence[str] = ()

    @property
    def first(self) -> int | None:
        """The number of the first micro-batch that the event stands for."""
        return self.batch if self.folded is None else self.folded.first

    @property
    def batches(self) -> int:
        """Number of micro-batches that the event stands for."""
        return 1 if self.folded is None else self.folded.batches

    @property
    def busy(self) -> float:
        """Seconds during which micro-batches with rows were processed."""
        if self.folded is not None:
            return self.folded.busy
        return (self.seconds or 0.0) if self.rows else 0.0

    @property
    def span(self) -> float:
        """Seconds from the start of the first micro-batch to the end of the last one."""
        return (self.seconds or 0.0) if self.folded is None else self.folded.span

    @property
    def largest(self) -> int:
        """Number of rows in the largest micro-batch."""
        return self.rows if self.folded is None else self.folded.largest

    @property
    def rows(self) -> int:
        """Number of rows read from all sources."""
        return sum(each.rows for each in self.sources.values())

    @property
    def dead(self) -> int:
        """Number of dead letters."""
        return sum(each.dead for each in self.sources.values())

    @property
    def moment(self) -> datetime.datetime:
        """The time as an object, with a time zone; UTC if it names none."""
        found = datetime.datetime.fromisoformat(self.time)
        return found.replace(tzinfo=datetime.UTC) if found.tzinfo is None else found


def to_json(event: Event) -> str:
    """Format an event as a line of JSON, without keys whose value is None, and without an empty ``covers`` and a false
    ``recovered``.
    """
    content = dataclasses.asdict(event)
    for name in ("recovered", "covers"):
        if not content[name]:
            del content[name]
    return json.dumps({name: value for name, value in content.items() if value is not None})


def from_json(line: str) -> Event:
    """Parse a line of JSON. Unknown keys are ignored, so that events of later versions can be read.

    Raises `ValueError` for a line that is not an event.
    """
    try:
        given = json.loads(line)
        counts = {
            name: SourceCounts(**_known(SourceCounts, source) | {"ranges": _ranges(source.get("ranges") or {})})
            for name, source in (given.get("sources") or {}).items()
        }
        for source in counts.values():
            for failed in source.rules.values():
                _check("rules", failed, (int,))
        for covered in given.get("covers") or ():
            _check("covers", covered, (str,))
        folded, earlier = given.get("folded"), given.get("earlier")
        parts = {
            "folded": None if folded is None else Folded(**_known(Folded, folded)),
            "earlier": None if earlier is None else EarlierRuns(**_known(EarlierRuns, earlier)),
            "covers": tuple(given.get("covers") or ()),
        }
        event = Event(**_known(Event, given) | {"sources": counts} | parts)
        event.moment.timestamp()  # raises an error if the time is invalid
        return event
    except (TypeError, AttributeError, ValueError, LookupError, OverflowError, RecursionError) as error:
        raise ValueError(f"not an event of a pipeline: {line[:200]!r} ({error})") from error


def read_events(directory: Path) -> list[Event]:
    """Return all events in a directory, oldest first; [] if the directory does not exist.

    Each run writes to its own file. An incomplete last line, which a killed run leaves behind, is ignored.
    Raises `ValueError` for any other line that is not an event.
    """
    while True:
        ended, paths = event_files(directory)
        try:
            found = [*ended, *(event for path in paths for event in events_of(path))]
        except FileNotFoundError as error:
            check_removed(error)
        else:
            return sorted(found, key=lambda event: event.time)


def event_files(directory: Path) -> tuple[list[Event], list[Path]]:
    """Return the events of `ENDED_RUNS`, and the files of all other runs, in the order of their names.

    While a caller reads the files, a starting run may fold older ones and remove them. A file is then missing: check
    that with `check_removed`, and call this again. Files that are read must not be combined with an earlier answer.
    Raises `ValueError` if a line of `ENDED_RUNS` is not an event.
    """
    paths = sorted(directory.glob("*.jsonl"))  # first: what is folded after this is missing later, or in `covers`
    try:
        ended = list(events_of(directory / ENDED_RUNS))
    except FileNotFoundError:
        ended = []
    covered = {ENDED_RUNS, *(ended[0].covers if ended else ())}
    return ended, [path for path in paths if path.name not in covered]


def check_removed(error: FileNotFoundError) -> None:
    """Raise an error again, unless it is about a file that has been removed."""
    if error.filename is None or os.path.lexists(error.filename):
        raise error


def last_start(directory: Path, run: Run | None = None) -> Event | None:
    """Return the start of the newest run in a directory; None if there is none. Reads one line of most files.

    Arguments:
        directory: the directory of the events.
        run: the kind of runs; None for all.

    Raises `ValueError` if the line is not an event.
    """
    while True:
        ended, paths = event_files(directory)
        try:
            newest = (first_event(path) for path in reversed(paths))
            return next(
                (
                    event
                    for event in itertools.chain(newest, reversed(ended))
                    if event is not None and event.kind == "start" and run in (None, event.run)
                ),
                None,
            )
        except FileNotFoundError as error:
            check_removed(error)


def first_event(path: Path) -> Event | None:
    """Return the first event in a file; None without a complete line. Raises `ValueError` if it is not an event."""
    with path.open("rb") as file:
        line = file.readline()
    return _parsed(path, 1, line) if line.endswith(b"\n") else None


def events_of(path: Path) -> Iterator[Event]:
    """Yield the events in a file, without an incomplete last line. Raises `ValueError` for a line that is not one."""
    for number, line in enumerate(path.read_bytes().split(b"\n")[:-1], 1):
        if line:
            yield _parsed(path, number, line)


def _parsed(path: Path, number: int, line: bytes) -> Event:
    """Parse a line. Raises `ValueError`, with its place."""
    try:
        return from_json(line.decode())
    except ValueError as error:
        raise ValueError(f"{path}:{number}: {error}; correct or remove this line") from error


_TYPES: Mapping[str, tuple[type[Any], ...]] = {
    "int": (int,),
    "float": (int, float),
    "str": (str,),
    "Kind": (str,),
    "Run": (str,),
    "bool": (bool,),
    "Mapping[str, Any]": (dict,),
    "Mapping[str, int]": (dict,),
    "Sequence[str]": (list,),
}
"""The types of JSON for the types of fields."""
_LARGEST = 2**63
"""Limit of numbers. Larger ones cannot be converted to Spark's types, and quotients of them overflow."""


def _known(model: type[Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a model. Raises `TypeError` for a value of another type."""
    found = {}
    for field in dataclasses.fields(model):
        if field.name in given:
            value, kind = given[field.name], str(field.type)
            if not (value is None and kind.endswith(" | None")):
                _check(field.name, value, _TYPES.get(kind.removesuffix(" | None"), (object,)))
            found[field.name] = value
    return found


def _check(name: str, value: Any, types: tuple[type[Any], ...]) -> None:
    """Raise `TypeError` unless a value has one of these types. Numbers must be finite, and have at most 64 bits."""
    is_valid = isinstance(value, types)
    if is_valid and int in types:
        is_valid = not isinstance(value, bool) and -_LARGEST <= value < _LARGEST
    if not is_valid:
        raise TypeError(f"{name}: {value!r:.80}")


def _ranges(given: Mapping[str, Sequence[int]]) -> dict[str, tuple[int, int]]:
    found = {name: (start, end) for name, (start, end) in given.items()}
    for each in found.values():
        for offset in each:
            _check("ranges", offset, (int,))
    return found


class EventFile:
    """Appends the events of a run to its file. A line is written with one call, so that readers see whole lines.

    Arguments:
        directory: the directory of the events; it is created.
        name: the name of the file without its suffix, unique and in the order of runs.
    """

    def __init__(self, directory: Path, name: str) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.path = directory / f"{name}.jsonl"

    def drop_incomplete_line(self) -> None:
        """Remove an incomplete last line, which a killed run left behind. Raises `OSError`."""
        data = self.path.read_bytes()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            with self.path.open("rb+") as file:
                file.truncate(whole)

    def append(self, event: Event) -> None:
        """Append an event. Raises `OSError` if it cannot be written; the file is then as before."""
        line = (to_json(event) + "\n").encode()
        with self.path.open("ab", buffering=0) as file:
            size = file.seek(0, os.SEEK_END)
            try:
                if file.write(line) != len(line):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
            except OSError:
                with contextlib.suppress(OSError):
                    file.truncate(size)
                raise
