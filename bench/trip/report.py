"""The tables that `python -m bench.trip` prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bench.trip.calls import EVENTS
from bench.trip.count import Counts
from bench.trip.stages import PROGRAM, STAGES
from bench.trip.system_calls import WAITS


def table(counts: Sequence[Counts]) -> Iterator[str]:
    """Yield the lines of a table with a column for each API and variant."""
    yield _line("one trip", [f"{each.style}, {each.variant}" for each in counts])
    yield _line("Python calls", [f"{each.calls.python_total:g}" for each in counts])
    yield _line("C calls", [f"{each.calls.c_total:g}" for each in counts])
    yield _line("allocations", [_number(each.allocations) for each in counts])
    yield _line("system calls", [_of(each.system_calls, "all") for each in counts])
    yield _line(WAITS, [_of(each.system_calls, WAITS) for each in counts])
    for kind in EVENTS:
        yield _line(kind, [f"{each.calls.events[kind]:g}" for each in counts])
    yield ""
    yield "Python + C calls by stage; those of the program are not in the sums above"
    for stage in (*STAGES, PROGRAM):
        yield _line(stage, [f"{each.calls.python[stage]:g} + {each.calls.c[stage]:g}" for each in counts])
    yield ""
    yield "system calls"
    names = dict.fromkeys(
        name for each in counts if not isinstance(each.system_calls, str) for name in each.system_calls
    )
    for name in names.keys() - {"all", WAITS}:
        yield _line(name, [_of(each.system_calls, name) for each in counts])
    reasons = [each for one in counts for each in (one.allocations, one.system_calls) if isinstance(each, str)]
    for reason in dict.fromkeys(reasons):
        yield f"not counted: {reason}"


def functions(counts: Counts, most: int) -> Iterator[str]:
    """Yield the functions of each stage that a trip calls most, with their mean number of calls."""
    for stage in (*STAGES, PROGRAM):
        found = counts.calls.functions.get(stage, {})
        yield f"{counts.style}, {counts.variant}: {stage}"
        for name, calls in list(found.items())[:most]:
            yield f"{calls:8.2f} {name}"


def _line(title: str, cells: Sequence[str]) -> str:
    return f"{title:32}" + "".join(f"{cell:>19}" for cell in cells)


def _number(counted: float | str) -> str:
    return "-" if isinstance(counted, str) else f"{counted:g}"


def _of(counted: dict[str, float] | str, name: str) -> str:
    return "-" if isinstance(counted, str) else f"{counted.get(name, 0):g}"
