"""Which functions a trip calls, in all threads: Python functions and, by their caller, C functions.

A coroutine that is resumed counts as called. The interpreter reports C functions and methods, but neither types nor
functions that Cython has compiled: a compiled module costs no call at all here, which the timing has to show.
"""

from __future__ import annotations

import statistics
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import CodeType, FrameType

from bench.trip.stages import CALLER, PROGRAM, STAGES, UNKNOWN, name_of, stage_of

Call = tuple[CodeType, str, CodeType]
"""What is called: its code and an empty text, or the caller's code and the C function's name; and the code whose stage
it has."""
EVENTS = {
    "loop iterations": "asyncio/base_events.py:BaseEventLoop._run_once",
    "handles": "asyncio/events.py:Handle.__init__",
    "timers": "asyncio/events.py:TimerHandle.__init__",
    "tasks": "asyncio/base_events.py:BaseEventLoop.create_task",
    "futures": "asyncio/base_events.py:BaseEventLoop.create_future",
    "wake-ups of a loop by a thread": "asyncio/selector_events.py:BaseSelectorEventLoop._write_to_self",
}
"""What counts as created, by the function that creates it. Handles include timers."""


@dataclass(frozen=True)
class Calls:
    """The calls of one trip.

    Arguments:
        python: medians of the Python functions called, by stage.
        c: medians of the C functions called, by stage.
        python_total: the median over trips, which is not exactly the sum of the stages' medians.
        c_total: the same of C functions.
        events: medians of what `EVENTS` lists.
        functions: by stage, functions with their mean number of calls; names of C functions end with `()`.
        unknown: functions that the table of stages omits.
    """

    python: dict[str, float]
    c: dict[str, float]
    python_total: float
    c_total: float
    events: dict[str, float]
    functions: dict[str, dict[str, float]]
    unknown: list[str]


class CallLog:
    """The calls of all threads that start after it, in order, with marks at the ends of trips."""

    def __init__(self) -> None:
        self._calls: list[Call | None] = []
        self._stages: dict[CodeType, str] = {}

    def __enter__(self) -> CallLog:
        threading.setprofile(self._note)
        sys.setprofile(self._note)
        return self

    def __exit__(self, *exception: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)

    def mark(self) -> None:
        """Note the end of a trip."""
        self._calls.append(None)

    def _note(self, frame: FrameType, event: str, argument: object) -> None:
        if event == "call":
            self._calls.append((frame.f_code, "", self._owner(frame)))
        elif event == "c_call":
            name = getattr(argument, "__qualname__", "?")
            self._calls.append((frame.f_code, name, self._owner(frame)))

    def _owner(self, frame: FrameType) -> CodeType:
        """The code of the innermost function that is not a helper."""
        owner: FrameType | None = frame
        while owner is not None:
            code = owner.f_code
            stage = self._stages.get(code)
            if stage is None:
                stage = self._stages[code] = stage_of(name_of(code))
            if stage != CALLER:
                return code
            owner = owner.f_back
        return frame.f_code

    def trips(self) -> Iterator[list[Call]]:
        """The calls of each trip; what follows the last mark is left out."""
        trip: list[Call] = []
        for call in list(self._calls):
            if call is None:
                yield trip
                trip = []
            else:
                trip.append(call)


def summarize(trips: Sequence[list[Call]]) -> Calls:
    """Return the medians of trips."""
    python: list[Counter[str]] = []
    c: list[Counter[str]] = []
    events: list[Counter[str]] = []
    functions: Counter[tuple[str, str]] = Counter()
    kinds = {name: kind for kind, name in EVENTS.items()}
    for trip in trips:
        python.append(Counter())
        c.append(Counter())
        events.append(Counter())
        for code, called, owner in trip:
            stage = stage_of(name_of(owner))
            stage = "other" if stage == CALLER else stage
            name = name_of(code)
            (c if called else python)[-1][stage] += 1
            functions[stage, f"{name} {called}()" if called else name] += 1
            if not called and name in kinds:
                events[-1][kinds[name]] += 1
    by_stage: dict[str, dict[str, float]] = {}
    for (stage, name), calls in functions.most_common():
        by_stage.setdefault(stage, {})[name] = round(calls / len(trips), 2)
    return Calls(
        {stage: _median(python, stage) for stage in (*STAGES, PROGRAM)},
        {stage: _median(c, stage) for stage in (*STAGES, PROGRAM)},
        _total(python),
        _total(c),
        {kind: _median(events, kind) for kind in EVENTS},
        by_stage,
        sorted({name.partition(" ")[0] for name in by_stage.get(UNKNOWN, ())}),
    )


def _median(counts: Sequence[Counter[str]], key: str) -> float:
    return statistics.median(each[key] for each in counts)


def _total(counts: Sequence[Counter[str]]) -> float:
    return statistics.median(each.total() - each[PROGRAM] for each in counts)
