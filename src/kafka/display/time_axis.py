"""Time axes for charts, on which pauses take little space.

A program that runs for a minute every hour spends most of its time not running. `TimeAxis` therefore draws the pauses
between the periods narrower than their duration, and all charts of a page show the same periods at the same place.
"""

from __future__ import annotations

import bisect
import datetime
import math
from collections.abc import Iterable, Sequence

Period = tuple[float, float]
"""Start and end, in seconds since 1970."""

_STEPS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400)
"""Distances between times that people find round, in seconds."""
_PAUSE = 16.0
_PERIOD = 10.0
_PAUSES_SHARE = 0.35
"""Maximum share of the width that all pauses take together."""


def round_step(least: float) -> float:
    """Return the smallest round duration of at least `least` seconds."""
    for step in _STEPS:
        if step >= least * 0.999999:
            return step
    return 86400.0 * math.ceil(least / 86400)


def merged(periods: Iterable[Period]) -> list[Period]:
    """Return the union of periods, sorted and without overlaps."""
    found: list[Period] = []
    for start, end in sorted(periods):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, max(start, end)))
    return found


class TimeAxis:
    """Maps times to positions.

    Arguments:
        periods: when something ran; overlapping periods are merged.
        left: the position of the first time.
        right: the position of the last time.
    """

    def __init__(self, periods: Iterable[Period], left: float, right: float) -> None:
        self.periods = merged(periods) or [(0.0, 1.0)]
        self.left, self.right = left, right
        width = right - left
        durations = [end - start for start, end in self.periods]
        pauses = [later[0] - earlier[1] for earlier, later in zip(self.periods, self.periods[1:], strict=False)]
        span = (sum(durations) + sum(pauses)) or 1.0
        least = min(_PAUSE, _PAUSES_SHARE * width / max(1, len(pauses)))
        wide = [min(max(pause / span * width, least), max(least, width / 8)) for pause in pauses]
        if (total := sum(wide)) > _PAUSES_SHARE * width:
            wide = [each * _PAUSES_SHARE * width / total for each in wide]
        rest = width - sum(wide)
        least = min(_PERIOD, rest / len(durations) / 2)
        total = sum(durations)
        parts = [max(least, each / total * rest) if total else 1.0 for each in durations]
        parts = [each * rest / sum(parts) for each in parts]
        self._times: list[float] = []
        self._places: list[float] = []
        x = left
        for (start, end), part, pause in zip(self.periods, parts, [*wide, 0.0], strict=True):
            self._times += [start, end]
            self._places += [x, x + part]
            x += part + pause

    def __call__(self, time: float) -> float:
        """Return the position of a time. Times outside of the axis have the position of its closest end."""
        at = bisect.bisect_right(self._times, time)
        if at == 0:
            return self.left
        if at == len(self._times):
            return self._places[-1]
        earlier, later = self._times[at - 1], self._times[at]
        part = (time - earlier) / (later - earlier) if later > earlier else 0.0
        return self._places[at - 1] + part * (self._places[at] - self._places[at - 1])

    def pauses(self) -> list[tuple[float, float, float]]:
        """Return the pauses: their start and end position, and their duration in seconds."""
        return [
            (self._places[at], self._places[at + 1], self._times[at + 1] - self._times[at])
            for at in range(1, len(self._times) - 1, 2)
        ]

    def ticks(self, least: float) -> list[tuple[float, str]]:
        """Return positions with a text for the time there, in UTC.

        Arguments:
            least: minimum distance between the positions.
        """
        first, last = self.periods[0][0], self.periods[-1][1]
        days = datetime.datetime.fromtimestamp(first, datetime.UTC).date() != (
            datetime.datetime.fromtimestamp(last, datetime.UTC).date()
        )
        density = max(
            (places[1] - places[0]) / (times[1] - times[0])
            for times, places in _pairs(self._times, self._places)
            if times[1] > times[0]
        ) if any(end > start for start, end in self.periods) else 1.0  # fmt: skip
        step = round_step(least / density)
        found: list[tuple[float, str]] = []
        for start, end in self.periods:
            tick = math.ceil(start / step) * step
            while tick <= end:
                x = self(tick)
                if not found or x - found[-1][0] >= least:
                    found.append((x, clock_text(tick, step, days)))
                tick += step
        if len(found) < 2:
            found = [(self(first), clock_text(first, 0.1 if last - first < 2 else 1, days))]
            if self.right - self.left >= least and last > first:
                found.append((self._places[-1], clock_text(last, 0.1 if last - first < 2 else 1, days)))
        return found


def _pairs(times: Sequence[float], places: Sequence[float]) -> Iterable[tuple[Sequence[float], Sequence[float]]]:
    return ((times[at : at + 2], places[at : at + 2]) for at in range(0, len(times), 2))


def clock_text(time: float, step: float, days: bool) -> str:
    """Format a time for an axis.

    Arguments:
        time: seconds since 1970.
        step: distance of the ticks in seconds, which determines the precision.
        days: whether the date is shown, too.
    """
    found = datetime.datetime.fromtimestamp(time, datetime.UTC)
    date = f"{found.day} {found:%b}"
    if step >= 86400:
        return date
    clock = found.strftime("%H:%M" if step % 60 == 0 else "%H:%M:%S")
    if step < 1:
        clock += f".{found.microsecond // 100_000}"
    return f"{date} {clock}" if days else clock


def duration_text(seconds: float) -> str:
    """Format a duration with at most two units, such as "7 h 58 min"."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 9.95:
        return f"{seconds:.2g} s"
    whole = round(seconds)
    for unit, size, smaller, part in (("d", 86400, "h", 3600), ("h", 3600, "min", 60), ("min", 60, "s", 1)):
        if whole >= size:
            rest = whole % size // part
            return f"{whole // size:,} {unit}" + (f" {rest} {smaller}" if rest else "")
    return f"{whole} s"
