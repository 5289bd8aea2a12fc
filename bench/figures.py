"""What is read off the results: figures, and ratios that say how many times better one client is than another."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from bench.job import Result

Measure = Literal["rate", "latency", "peak"]
"""Records a second; milliseconds a trip; megabytes of memory."""
CLEARLY = 1.3
"""Rounds seldom differ by more than this factor."""
ROUNDING = 0.005
"""A ratio that is shown as what was asked counts as that."""


@dataclass(frozen=True)
class Figure:
    """A figure of a result. `digits` are those behind the point in a table."""

    name: str
    unit: str
    digits: int
    more_is_better: bool
    of: Callable[[Result], float]

    def median(self, results: Sequence[Result]) -> float:
        """The median of the rounds."""
        return statistics.median(self.of(result) for result in results)

    def ratio(self, ours: Sequence[Result], theirs: Sequence[Result]) -> float:
        """How many times better our median is: more records, less time or less memory."""
        mine, other = self.median(ours), self.median(theirs)
        return mine / other if self.more_is_better else other / mine


def percentile_99(latencies_ms: Sequence[float]) -> float:
    """The latency that one trip in a hundred exceeds."""
    return statistics.quantiles(latencies_ms, n=100, method="inclusive")[98]


RATE = Figure("rate", "million/s", 3, True, lambda result: result.rate / 1e6)
MEDIAN = Figure("median", "ms", 3, False, lambda result: statistics.median(result.latencies_ms))
P99 = Figure("p99", "ms", 3, False, lambda result: percentile_99(result.latencies_ms))
PEAK = Figure("peak", "MB", 0, False, lambda result: result.peak_mb)
FIGURES: dict[Measure, tuple[Figure, ...]] = {"rate": (RATE,), "latency": (MEDIAN, P99), "peak": (PEAK,)}


@dataclass(frozen=True)
class Target:
    """A target for our client: at least `ratio` times as good as another client, in a figure of the task's measure."""

    client: str
    ratio: float
    figure: str = "rate"


@dataclass
class Row:
    """The results of one task on one topic: a list a client, one result a round. The first client is ours."""

    task: str
    title: str
    records: str
    measure: Measure
    clients: tuple[str, ...]
    targets: tuple[Target, ...] = ()
    results: dict[str, list[Result]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    @property
    def ours(self) -> list[Result]:
        """Our own results; none if we were not asked or failed."""
        return self.results.get(self.clients[0], [])

    def ratio(self, client: str, figure: Figure) -> float | None:
        """How many times better we are than a client; None if one of us has no results."""
        theirs = self.results.get(client, [])
        return figure.ratio(self.ours, theirs) if self.ours and theirs and client != self.clients[0] else None

    def target(self, client: str, figure: Figure) -> Target | None:
        """Return our target against a client, if there is one."""
        return next((each for each in self.targets if (each.client, each.figure) == (client, figure.name)), None)


def slower(row: Row, client: str, figure: Figure) -> bool:
    """Whether ours is worse than another's by more than the rounds differ: our best round is worse than its worst.

    One round a client tells nothing.
    """
    ours, theirs = ([figure.of(result) for result in results] for results in (row.ours, row.results.get(client, [])))
    if len(ours) < 2 or len(theirs) < 2:
        return False
    return max(ours) < min(theirs) if figure.more_is_better else min(ours) > max(theirs)


def reached(ratio: float, target: Target) -> bool:
    """Whether a ratio is what was asked."""
    return ratio >= target.ratio - ROUNDING


def settled(row: Row) -> bool:
    """Whether further rounds would hardly change which targets are met.

    After one round, each ratio must be far from its target. After several, all pairs of rounds must agree.
    """
    margin = CLEARLY if len(row.ours) == 1 else 1.0
    return all(
        len({reached(ratio * factor, target) for ratio in ratios for factor in (margin, 1 / margin)}) <= 1
        for target, ratios in _ratios_of_rounds(row)
    )


def _ratios_of_rounds(row: Row) -> Iterator[tuple[Target, list[float]]]:
    """Yield each target, with the ratio of each of our rounds to each round of the other client."""
    for figure in FIGURES[row.measure]:
        for target in row.targets:
            if target.figure == figure.name:
                theirs = row.results.get(target.client, [])
                yield target, [figure.ratio([mine], [other]) for mine in row.ours for other in theirs]
