"""The lines of the report's charts: rates, failures, lag, durations and sizes over time. Pure.

Rows are spread evenly over the duration of their micro-batch, and summed up for intervals of equal length. Other values
belong to the end of a micro-batch. Each run is a segment of its own, so that lines are interrupted between runs.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence

from kafka.display.time_axis import Period, round_step
from kafka.display.time_charts import Line, Mark, Points
from kafka.pipelines.events import Event
from kafka.pipelines.run_history import RunHistory

MOST_RUNS = 200
"""Maximum number of runs drawn; these are the newest ones."""
_INTERVALS = 200
"""Approximate maximum number of points of a line."""
_ENDINGS = {"stopped": "stop", "failed": "failure", "killed": "killed"}

Count = Callable[[Event], Mapping[str, float]]
"""Returns numbers of rows of a micro-batch, by the name of the line."""
Value = Callable[[Event], float | None]


def periods_of(runs: Iterable[RunHistory]) -> list[Period]:
    """Return when each run ran."""
    return [(each.start, each.end) for each in runs]


def marks_of(runs: Iterable[RunHistory]) -> list[Mark]:
    """Return the starts and ends of the runs. A killed run is marked at the end of its last micro-batch."""
    marks = []
    for each in runs:
        marks.append(Mark(each.start, "start"))
        if each.ending in _ENDINGS:
            marks.append(Mark(each.end, _ENDINGS[each.ending]))  # type: ignore[arg-type]
    return marks


def interval_of(runs: Sequence[RunHistory]) -> float:
    """Return the length of the intervals in seconds: at least the usual time between micro-batches."""
    active = sum(each.end - each.start for each in runs)
    between = []
    for run in runs:
        times = [_start(batch) for batch in run.batches]
        between += [later - earlier for earlier, later in itertools.pairwise(times)]
    usual = statistics.median(between) if between else 0.0
    return round_step(max(active / _INTERVALS, usual, 0.1))


def summed(runs: Sequence[RunHistory], count: Count, total: Count | None = None) -> list[Line]:
    """Return lines of sums for intervals.

    Arguments:
        runs: the runs.
        count: the numbers to sum up.
        total: the numbers by which the sums are divided, by the same names. None divides by the seconds during which
            micro-batches with rows were processed. The result of a division by 0 is 0.
    """
    interval = interval_of(runs)
    segments: dict[str, list[Points]] = {}
    for run in runs:
        length = _length(run, interval)
        sums, totals = _spread(run, length, count, total)
        for name, values in sums.items():
            of_line = totals.get("" if total is None else name, {})
            points: list[tuple[float, float]] = []
            for at in range(_number(run, interval)):
                divisor = of_line.get(at, 0.0)
                value = values.get(at, 0.0) / divisor if divisor > 0 else 0.0
                _step(points, run.start + at * length, run.start + (at + 1) * length, value)
            segments.setdefault(name, []).append(points)
    return [Line(name, parts, dots=False) for name, parts in segments.items()]


def _number(run: RunHistory, interval: float) -> int:
    """Return the number of intervals of a run. All have the same length, because a short one would be an outlier."""
    return max(1, round((run.end - run.start) / interval))


def _length(run: RunHistory, interval: float) -> float:
    return (run.end - run.start) / _number(run, interval) or interval


def _step(points: list[tuple[float, float]], start: float, end: float, value: float) -> None:
    """Add a horizontal piece to a line, or extend the last one."""
    if len(points) > 1 and all(math.isclose(each, value, abs_tol=1e-9) for _, each in points[-2:]):
        points[-1] = (end, value)
    else:
        points += [(start, value), (end, value)]


def _spread(
    run: RunHistory, interval: float, count: Count, total: Count | None
) -> tuple[dict[str, dict[int, float]], dict[str, dict[int, float]]]:
    sums: dict[str, dict[int, float]] = {}
    totals: dict[str, dict[int, float]] = {}
    for batch in run.batches:
        start, seconds = _start(batch) - run.start, max(batch.span, 1e-3)
        counted = count(batch)
        if total is None:
            busy = batch.busy if batch.folded is not None else seconds
            divisors: Mapping[str, float] = {"": busy if batch.rows else 0.0}
        else:
            divisors = total(batch)
        for at, part in _parts(start, start + seconds, interval):
            for target, numbers in ((sums, counted), (totals, divisors)):
                for name, number in numbers.items():
                    values = target.setdefault(name, {})
                    values[at] = values.get(at, 0.0) + number * part
    return sums, totals


def _parts(start: float, end: float, interval: float) -> list[tuple[int, float]]:
    """Return the intervals that a micro-batch overlaps, and the part of it in each."""
    first, last = int(start // interval), int(end // interval)
    if first == last or end - start < 1e-9:
        return [(first, 1.0)]
    parts = []
    for at in range(first, last + 1):
        part = (min(end, (at + 1) * interval) - max(start, at * interval)) / (end - start)
        if part > 1e-9:
            parts.append((at, part))
    return parts


def sampled(name: str, runs: Sequence[RunHistory], value: Value, choose: Callable[[list[float]], float] = max) -> Line:
    """Return a line with the value of each micro-batch, or of each interval if there are too many micro-batches.

    Arguments:
        name: the name of the line.
        runs: the runs.
        value: returns the value of a micro-batch; None leaves it out.
        choose: selects the value of an interval from those of its micro-batches.
    """
    interval = interval_of(runs) if is_thinned(runs) else 0.0
    segments: list[Points] = []
    for run in runs:
        points = [(_start(batch) + batch.span, found) for batch in run.batches if (found := value(batch)) is not None]
        segments.append(_chosen(points, run, interval, choose) if interval else points)
    return Line(name, [each for each in segments if each])


def is_thinned(runs: Sequence[RunHistory]) -> bool:
    """Return whether a point stands for the micro-batches of an interval, because there are too many of them."""
    return sum(run.batch_count for run in runs) > _INTERVALS


def _chosen(points: Points, run: RunHistory, interval: float, choose: Callable[[list[float]], float]) -> Points:
    length = _length(run, interval)
    times: dict[int, float] = {}
    values: dict[int, list[float]] = {}
    for time, value in points:
        at = min(int((time - run.start) // length), _number(run, interval) - 1)
        times[at] = time
        values.setdefault(at, []).append(value)
    return [(times[at], choose(found)) for at, found in values.items()]


def _start(batch: Event) -> float:
    return batch.moment.timestamp()
