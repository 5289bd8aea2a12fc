"""Reads the events of pipelines from their directories, even while they are being written.

`PipelineLogs` finds the directories below the given paths, and `PipelineLog` keeps the newest events of one. Both are
used in threads, because reading files blocks.
"""

from __future__ import annotations

import dataclasses
import os
import re
import threading
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from kafka.pipelines.directories import PipelineDirectory
from kafka.pipelines.events import ENDED_RUNS, Event, check_removed, from_json
from kafka.pipelines.run_history import History, history

KEPT = 10_000
"""Maximum number of events kept for a pipeline. Totals and charts cover these."""
_AT_ONCE = 16 << 20
"""Maximum number of bytes that are read from the end of a file for the first time."""
_TAIL = 256
"""Number of bytes by which a file is recognized."""
_MOST_DIRECTORIES = 500
_PATTERNS = ("events", "*/events", "checkpoints/*/events", "*/checkpoints/*/events")
_NAME = re.compile(r"^pipeline:\s*[\"']?([A-Za-z][A-Za-z0-9._-]*)", re.MULTILINE)
_LARGEST_DECLARATION = 1 << 20


@dataclasses.dataclass(slots=True)
class _File:
    """A file of events: how far it has been read, and its newest events.

    A run replaces its file when it folds old micro-batches (`kafka.pipelines.event_folding`), and it is then read from
    its beginning. `tail` is the end of what has been read, which tells an appended file from another one with the same
    identity. `covers` has the names of other files whose events this one contains.
    """

    identity: tuple[int, int]
    at: int = 0
    events: list[Event] = dataclasses.field(default_factory=list)
    tail: bytes = b""
    unread: int = 0
    declaration: Mapping[str, Any] | None = None
    covers: frozenset[str] = frozenset()


@dataclasses.dataclass(frozen=True, slots=True)
class PipelineState:
    """The state of a pipeline.

    Arguments:
        history: the history of its newest events.
        declaration: the newest declaration in the events; None if there is none.
        unread: number of lines that are not events.
        is_complete: whether the history covers all events.
        file: the path of the declaration, or "" if it was not found.
    """

    history: History
    declaration: Mapping[str, Any] | None
    unread: int
    is_complete: bool
    file: str


class PipelineLog:
    """The events in the directory of a pipeline.

    Arguments:
        directory: the directory, which contains the directory ``events``.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._events = PipelineDirectory(directory).events
        self._files: dict[str, _File] = {}
        self._is_complete = True
        self._state: PipelineState | None = None

    def read(self) -> PipelineState:
        """Read new events, and return the state. Raises `OSError`."""
        is_news = self._state is None
        while True:
            try:
                is_news |= self._read_files()
                break
            except FileNotFoundError as error:  # a starting run folds older ones
                check_removed(error)
        if is_news or self._state is None:
            self._trim()
            events = [event for name in sorted(self._files) for event in self._files[name].events]
            found = history(events)
            file = declaration_file(self._directory, found.pipeline)
            files = [self._files[name] for name in sorted(self._files)]
            declared = [each.declaration for each in files if each.declaration is not None]
            unread = sum(each.unread for each in files)
            newest = declared[-1] if declared else None
            self._state = PipelineState(found, newest, unread, self._is_complete, file)
        return self._state

    def _read_files(self) -> bool:
        """Read new lines, and forget files that have been folded; see `kafka.pipelines.events.event_files`.

        Returns whether anything has changed. Raises `FileNotFoundError` if a file has been removed meanwhile.
        """
        names = {each.name for each in self._events.glob("*.jsonl")} - {ENDED_RUNS}
        is_news = False
        try:
            is_news = self._read_file(ENDED_RUNS)
            names -= self._files[ENDED_RUNS].covers
            folded = {ENDED_RUNS}
        except FileNotFoundError:
            folded = set()
        for name in self._files.keys() - names - folded:
            del self._files[name]
            is_news = True
        for name in sorted(names, reverse=True):  # the newest file first
            if name not in self._files and self._number() >= KEPT:
                self._is_complete = False
                break
            is_news |= self._read_file(name)
        return is_news

    def _number(self) -> int:
        return sum(len(each.events) for each in self._files.values())

    def _read_file(self, name: str) -> bool:
        """Read new lines of a file, and return whether there are any."""
        path = self._events / name
        known = self._files.get(name)
        status = path.stat()
        if known is not None and (status.st_dev, status.st_ino, status.st_size) == (*known.identity, known.at):
            return False
        with path.open("rb") as file:
            status = os.fstat(file.fileno())  # the file may have been replaced since
            identity = (status.st_dev, status.st_ino)
            if known is None or known.identity != identity or not _continues(file, known):
                known = self._files[name] = _File(identity)
            file.seek(known.at)
            if status.st_size - known.at > _AT_ONCE and name != ENDED_RUNS:
                self._is_complete = False
                file.seek(status.st_size - _AT_ONCE)
                file.readline()
            known.at = file.tell()
            data = file.read()
        whole = data[: data.rfind(b"\n") + 1]
        known.at += len(whole)
        known.tail = (known.tail + whole)[-_TAIL:]
        for line in whole.splitlines():
            self._add(known, line)
        return bool(whole)

    def _add(self, file: _File, line: bytes) -> None:
        if not line.strip():
            return
        try:
            event = from_json(line.decode())
            event.moment.timestamp()
            _check_numbers(event)
        except (ValueError, TypeError, OverflowError, RecursionError):
            file.unread += 1
            return
        file.events.append(event)
        file.covers |= frozenset(event.covers)
        if event.declaration is not None:
            file.declaration = event.declaration

    def _trim(self) -> None:
        """Forget the oldest events if there are too many."""
        excess = self._number() - KEPT
        for name in sorted(self._files):
            if excess <= 0:
                return
            events = self._files[name].events
            del events[:excess]
            excess = self._number() - KEPT
            self._is_complete = False


def _continues(file: BinaryIO, known: _File) -> bool:
    """Return whether a file still has what has been read of it."""
    file.seek(max(0, known.at - len(known.tail)))
    return file.read(len(known.tail)) == known.tail


def _check_numbers(event: Event) -> None:
    """Raise `ValueError` or `TypeError` unless all numbers are finite and fit in 64 bits."""
    numbers: list[Any] = [event.number, event.batch or 0, event.seconds or 0.0, event.out or 0, event.late]
    numbers.append(event.state_rows)
    if event.folded is not None:
        numbers += dataclasses.astuple(event.folded)
    if event.earlier is not None:
        numbers += dataclasses.astuple(event.earlier)
    if not all(isinstance(each, str) for each in event.covers):
        raise ValueError("expected names of files")
    for source in event.sources.values():
        numbers += [source.rows, source.processed, source.dropped, source.dead, source.lag or 0]
        numbers += source.rules.values()
    for each in numbers:
        if not -(2**63) <= each < 2**63:  # also rejects NaN
            raise ValueError("expected a 64-bit number")


class PipelineLogs:
    """All pipelines below some paths. Thread-safe.

    Arguments:
        paths: directories of pipelines, directories that contain such directories, or projects, whose pipelines are in
            the directory ``checkpoints``.
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        self.paths = tuple(paths)
        self._logs: dict[Path, PipelineLog] = {}
        self._reading = threading.Lock()

    def read(self) -> tuple[dict[str, PipelineState], list[str]]:
        """Read new events.

        Returns the state of each pipeline by its name, sorted, and a message for each directory that cannot be read.
        """
        with self._reading:
            found: dict[str, PipelineState] = {}
            failed = []
            for directory in self._directories():
                log = self._logs.setdefault(directory, PipelineLog(directory))
                try:
                    state = log.read()
                except OSError as error:
                    failed.append(f"{directory}: {error.strerror or error}")
                    continue
                name = state.history.pipeline or directory.name
                found[name if name not in found else f"{name} ({directory})"] = state
            return dict(sorted(found.items())), failed

    def _directories(self) -> list[Path]:
        found = {each.parent.resolve(): None for path in self.paths for each in _event_directories(path)}
        return list(found)[:_MOST_DIRECTORIES]


def _event_directories(path: Path) -> Iterator[Path]:
    for pattern in _PATTERNS:
        yield from (each for each in sorted(path.glob(pattern)) if each.is_dir())


def declaration_file(directory: Path, pipeline: str) -> str:
    """Return the path of a pipeline's YAML file, for commands; "" if it was not found.

    Arguments:
        directory: the directory of the pipeline. The file is in the directory itself, or in one of the two above.
        pipeline: the name of the pipeline.
    """
    for folder in (directory, *directory.parents[:2]):
        for path in sorted([*folder.glob("*.yaml"), *folder.glob("*.yml")]):
            if _declared_name(path) == pipeline:
                return os.path.relpath(path) if path.is_relative_to(Path.cwd()) else str(path)
    return ""


def _declared_name(path: Path) -> str:
    try:
        with path.open(encoding="utf-8") as file:
            found = _NAME.search(file.read(_LARGEST_DECLARATION))
    except (OSError, UnicodeDecodeError):
        return ""
    return found[1] if found else ""
