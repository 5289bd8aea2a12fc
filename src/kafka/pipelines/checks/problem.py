"""What a check finds: problems with their places, and what is as it should be.

A check takes a `Findings` and calls `error`, `warning` or `passed` with a `Place`. `Places` creates the places.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Mapping
from typing import Any

from kafka.pipelines.declaration import SOURCE, Location, path_text


class Severity(enum.StrEnum):
    """Whether a problem stops a pipeline."""

    ERROR = "error"
    """The pipeline does not start, or fails as soon as it reaches this place."""
    WARNING = "warning"
    """The pipeline starts. What it does is probably not what its author wants, or may fail later."""


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    """A place in a declaration.

    Arguments:
        key: the key, such as ``sources.flights.rules[2].holds``; "" for the whole declaration.
        file: the name of the YAML file; "" for a pipeline that was declared in Python.
        line: the line of the key in the file, from 1 on; None without a file.
    """

    key: str
    file: str = ""
    line: int | None = None

    def __str__(self) -> str:
        position = f"{self.file}:{self.line}" if self.line is not None else self.file
        return ": ".join(filter(None, [position, self.key]))


@dataclasses.dataclass(frozen=True, slots=True)
class Problem:
    """A problem of a pipeline.

    Arguments:
        place: the key that has to change, or on which the problem depends.
        text: what was expected, what was found, and what to do.
        severity: whether the problem stops the pipeline.
        is_outage: whether a server did not answer, so that the declaration may be correct.
    """

    place: Place
    text: str
    severity: Severity = Severity.ERROR
    is_outage: bool = False

    def __str__(self) -> str:
        kind = "warning: " if self.severity is Severity.WARNING else ""
        return f"{self.place}: {kind}{self.text}" if str(self.place) else f"{kind}{self.text}"


@dataclasses.dataclass(frozen=True, slots=True)
class Passed:
    """Something that was checked and is as it should be.

    Arguments:
        place: the key on which it depends.
        text: what was checked.
    """

    place: Place
    text: str

    def __str__(self) -> str:
        return f"{self.place}: ok: {self.text}"


class Places:
    """Creates the places of locations in a canonical declaration.

    Arguments:
        content: the declaration as written, as nested mappings; None if it was written in Python. It determines the
            names of keys, because `Declaration.canonical` moves sources and rules.
        file: the name of the file.
        line: returns the line of a location in the content.
    """

    def __init__(
        self,
        content: Mapping[str, Any] | None = None,
        file: str = "",
        line: Callable[[Location], int] | None = None,
    ) -> None:
        self._content = content
        self._file = file
        self._line = line

    def __call__(self, *location: str | int) -> Place:
        """Return the place of a location, such as ``("sources", "flights", "value")``."""
        written = self._written(location)
        return Place(path_text(written), self._file, None if self._line is None else self._line(written))

    def _written(self, location: Location) -> Location:
        """Return the location in the content as written."""
        if self._content is None or location[:1] != ("sources",) or len(location) < 2:
            return location
        sources = self._content.get("sources")
        if not isinstance(sources, Mapping):
            sources = {}
        is_only = location[1] == SOURCE and SOURCE in self._content and SOURCE not in sources
        source = self._content[SOURCE] if is_only else sources.get(location[1])
        written: Location = (SOURCE, *location[2:]) if is_only else location
        index = location[3] if len(location) > 3 and location[2] == "rules" else None
        if isinstance(index, int) and isinstance(source, Mapping):
            own = len(source.get("rules") or ())
            if index >= own:
                return ("rules", index - own, *location[4:])
        return written


class Findings:
    """Collects the results of checks. Several threads may add results.

    Arguments:
        places: creates the places of locations.

    Attributes:
        places: the same.
        problems: the problems, in the order in which they were found.
        passed_checks: what is as it should be.
    """

    def __init__(self, places: Places) -> None:
        self.places = places
        self.problems: list[Problem] = []
        self.passed_checks: list[Passed] = []

    def error(self, location: Location, text: str, *, is_outage: bool = False) -> None:
        """Add an error at a location of the canonical declaration. For the arguments, see `Problem`."""
        self.problems.append(Problem(self.places(*location), text, Severity.ERROR, is_outage))

    def warning(self, location: Location, text: str) -> None:
        """Add a warning at a location of the canonical declaration."""
        self.problems.append(Problem(self.places(*location), text, Severity.WARNING))

    def passed(self, location: Location, text: str) -> None:
        """Add something that is as it should be."""
        self.passed_checks.append(Passed(self.places(*location), text))


@dataclasses.dataclass(frozen=True, slots=True)
class Report:
    """The results of all checks.

    Arguments:
        problems: the problems, in the order of their places.
        passed: what is as it should be, in the order of the checks.
    """

    problems: tuple[Problem, ...]
    passed: tuple[Passed, ...] = ()

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The problems that stop the pipeline."""
        return tuple(each for each in self.problems if each.severity is Severity.ERROR)

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """The problems that do not stop the pipeline."""
        return tuple(each for each in self.problems if each.severity is Severity.WARNING)


def report_of(findings: Findings) -> Report:
    """Return the results, without repetitions, with problems in the order of their lines."""
    unique = list(dict.fromkeys(findings.problems))
    return Report(
        tuple(sorted(unique, key=lambda each: each.place.line or 0)),
        tuple(dict.fromkeys(findings.passed_checks)),
    )
