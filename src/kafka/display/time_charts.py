"""Line charts over time as SVG, with gaps where nothing ran and marks for starts and ends.

`TimeChart` draws two pictures of the same data: one for wide and one for narrow windows; `CHART_STYLE` shows the one
that fits. Lines differ in colour and in dashes. The axis is `time_axis.TimeAxis`.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import statistics
from collections.abc import Callable, Sequence
from typing import Literal

from kafka.display.html_tables import Html, html, joined
from kafka.display.page_elements import short
from kafka.display.time_axis import Period, TimeAxis, duration_text

Points = Sequence[tuple[float, float]]
"""Pairs of a time in seconds since 1970 and a value, sorted by time."""
MarkKind = Literal["start", "stop", "killed", "failure"]

LINES = 6
"""Maximum number of lines, so that they can be distinguished."""
_GAP = 3
"""A pause between two points that is longer than this multiple of the usual one is a gap in the line."""
_SIZES = (("wide-chart", 560, 230), ("narrow-chart", 340, 210))
_FULL_SIZES = (("wide-chart full", 960, 230), ("narrow-chart", 340, 210))
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 14, 34, 24
_DOTS = 40
"""Maximum number of points of a line that are drawn as dots, too."""
_CHARACTER = 6.4
"""Width of a character of a label, in the unit of the pictures."""
_GLYPHS = {
    "start": "M-4 -4.5L5 0L-4 4.5Z",
    "stop": "M-3.8 -3.8H3.8V3.8H-3.8Z",
    "killed": "M-4 -4L4 4M4 -4L-4 4",
    "failure": "M0 -5L5 4H-5Z",
}
_MEANINGS = {"start": "start", "stop": "end", "killed": "killed", "failure": "failed"}
_MOST_MARKS = 60
"""Maximum number of marks."""

CHART_STYLE = """
.chart { width: 100%; height: auto; max-width: 46rem; }
.narrow-chart { display: none; }
.chart.full { max-width: none; }
@media (max-width: 40rem) { .wide-chart { display: none; } .narrow-chart { display: block; } }
.chart text { fill: var(--quiet); font-size: 11px; }
.grid { stroke: var(--line); stroke-width: 1; }
.pause { fill: var(--line); fill-opacity: .55; }
.line { fill: none; stroke-width: 1.8; stroke-linejoin: round; }
.line.s1 { stroke: var(--s1); } .line.s2 { stroke: var(--s2); stroke-dasharray: 7 2; }
.line.s3 { stroke: var(--s3); stroke-dasharray: 2 2; } .line.s4 { stroke: var(--s4); stroke-dasharray: 8 2 2 2; }
.line.s5 { stroke: var(--s5); stroke-dasharray: 4 3; } .line.s6 { stroke: var(--s6); stroke-dasharray: 1 3; }
.dot.s1 { fill: var(--s1); } .dot.s2 { fill: var(--s2); } .dot.s3 { fill: var(--s3); }
.dot.s4 { fill: var(--s4); } .dot.s5 { fill: var(--s5); } .dot.s6 { fill: var(--s6); }
.mark { stroke: var(--quiet); stroke-width: 1; stroke-dasharray: 2 3; }
.glyph { fill: var(--quiet); stroke: var(--quiet); stroke-width: 0; }
.glyph.killed { fill: none; stroke: var(--warn); stroke-width: 2; } .mark.killed { stroke: var(--warn); }
.glyph.failure { fill: var(--warn); } .mark.failure { stroke: var(--warn); }
.key { width: 1.7rem; height: .7rem; margin-right: .35rem; }
.key.small { width: .8rem; height: .8rem; }
"""
"""Style sheet of the charts. The page defines the colours ``--quiet``, ``--line``, ``--warn``, and ``--s1`` to
``--s6``.
"""


def segments(points: Points) -> list[Points]:
    """Split a series at its gaps, in which nothing was measured."""
    steps = [after - before for (before, _), (after, _) in itertools.pairwise(points)]
    if not steps:
        return [points] if points else []
    longest = _GAP * statistics.median_low(steps)
    starts = [0, *(at for at, step in enumerate(steps, 1) if step > longest), len(points)]
    return [points[start:end] for start, end in itertools.pairwise(starts)]


@dataclasses.dataclass(frozen=True, slots=True)
class Line:
    """A line of a chart.

    Arguments:
        name: the name in the legend.
        segments: the points of each period; the line is interrupted between them.
        dots: whether points are drawn as dots if there are few.
    """

    name: str
    segments: Sequence[Points]
    dots: bool = True

    @property
    def values(self) -> list[float]:
        """All values."""
        return [value for segment in self.segments for _, value in segment]


@dataclasses.dataclass(frozen=True, slots=True)
class Mark:
    """Something that happened at a time, in seconds since 1970."""

    time: float
    kind: MarkKind


@dataclasses.dataclass(frozen=True, slots=True)
class TimeChart:
    """A chart.

    Arguments:
        title: the caption.
        unit: the unit of the values, shown above the axis.
        lines: the lines; of more than `LINES`, those with the largest values are drawn.
        periods: when something ran.
        marks: starts and ends.
        note: a remark, shown next to the title.
        top: the minimum upper end of the axis.
        is_full: whether the chart is as wide as the page, instead of standing next to others.
        is_whole: whether the values are whole numbers, so that the axis has no fractions.
    """

    title: str
    unit: str
    lines: Sequence[Line]
    periods: Sequence[Period]
    marks: Sequence[Mark] = ()
    note: str = ""
    top: float = 0.0
    is_full: bool = False
    is_whole: bool = False

    def figure(self) -> Html:
        """Return the chart with its caption and legend."""
        lines = [each for each in self.lines if each.values]
        kept = {id(each) for each in sorted(lines, key=lambda line: max(line.values), reverse=True)[:LINES]}
        lines, left_out = [each for each in lines if id(each) in kept], len(lines) - len(kept)
        caption = html("<figcaption>{}{}</figcaption>", self.title, _quiet(self.note))
        if not lines:
            return html('<figure>{}<p class="quiet">no values</p></figure>', caption)
        pictures = joined(self._picture(lines, *size) for size in (_FULL_SIZES if self.is_full else _SIZES))
        return html('<figure>{}{}<ul class="keys">{}</ul></figure>', caption, pictures, self._legend(lines, left_out))

    def _picture(self, lines: Sequence[Line], name: str, width: int, height: int) -> Html:
        ticks = nice_ticks(max(self.top, *(max(line.values) for line in lines)), 1.0 if self.is_whole else 0.0)
        axis = TimeAxis(self.periods, _LEFT, width - _RIGHT)
        low, high = height - _BOTTOM, _TOP

        def down(value: float) -> float:
            return low - max(0.0, value) / ticks[-1] * (low - high)

        values = "; ".join(
            f"{line.name}: last {short(line.values[-1])}, maximum {short(max(line.values))}" for line in lines
        )
        parts = [
            html(
                '<svg class="chart {}" viewBox="0 0 {} {}" role="img" aria-label="{}">',
                name, width, height, f"{self.title} ({self.unit}). {values}",
            ),
            html('<text x="4" y="11">{}</text>', self.unit),
        ]  # fmt: skip
        for tick in ticks:
            y = f"{down(tick):.1f}"
            parts.append(html('<path class="grid" d="M{} {}H{}"/>', _LEFT, y, width - _RIGHT))
            text = f"{tick:,.6g}" if ticks[-1] < 100_000 else short(tick)
            parts.append(
                html('<text x="{}" y="{}" text-anchor="end">{}</text>', _LEFT - 6, f"{down(tick) + 4:.1f}", text)
            )
        parts += _pauses(axis, low, high)
        parts += _marks(axis, _shown_marks(self.marks), low, high)
        parts += _time_labels(axis, width, height)
        for number, line in enumerate(lines, start=1):
            parts += _line(number, line, axis, down)
        return joined([*parts, Html("</svg>")])

    def _legend(self, lines: Sequence[Line], left_out: int) -> Html:
        keys = [
            html(
                '<li><svg class="key" viewBox="0 0 28 12" aria-hidden="true"><path class="line s{}" d="M0 6H28"/></svg>'
                "{}</li>", number, line.name,
            )
            for number, line in enumerate(lines, start=1)
        ]  # fmt: skip
        if left_out:
            keys.append(html("<li>and {} more</li>", left_out))
        kinds = {each.kind for each in _shown_marks(self.marks)}
        keys += [
            html(
                '<li><svg class="key small" viewBox="-6 -6 12 12" aria-hidden="true"><path class="glyph {}" d="{}"/>'
                "</svg>{}</li>", kind, _GLYPHS[kind], text,
            )
            for kind, text in _MEANINGS.items() if kind in kinds
        ]  # fmt: skip
        if len(TimeAxis(self.periods, 0, 1).periods) > 1:
            keys.append(
                html(
                    '<li><svg class="key small" viewBox="0 0 12 12" aria-hidden="true"><path class="pause" '
                    'd="M1 0H11V12H1Z"/></svg>nothing ran (not to scale)</li>'
                )
            )  # fmt: skip
        return joined(keys)


def nice_ticks(highest: float, least_step: float = 0.0) -> list[float]:
    """Return evenly spaced round numbers from 0 to at least `highest`, at multiples of `least_step`."""
    highest = highest if highest > 0 else 1.0
    size = 10.0 ** math.floor(math.log10(highest / 4))
    step = next(size * each for each in (1, 2, 2.5, 5, 10) if size * each >= highest / 4 * 0.999999)
    if least_step:
        step = math.ceil(step / least_step - 1e-9) * least_step
    return [round(number * step, 12) for number in range(math.ceil(highest / step - 1e-9) + 1)]


def _quiet(text: str) -> Html:
    return html(' <span class="note">{}</span>', text) if text else Html("")


def _line(number: int, line: Line, axis: TimeAxis, down: Callable[[float], float]) -> list[Html]:
    path: list[str] = []
    dots: list[Html] = []
    few = line.dots and sum(len(segment) for segment in line.segments) <= _DOTS
    for segment in line.segments:
        places = [(axis(time), down(value)) for time, value in segment]
        path += [f"{'L' if at else 'M'}{x:.1f} {y:.1f}" for at, (x, y) in enumerate(places)]
        if few or len(places) == 1:
            dots += [html('<circle class="dot s{}" cx="{}" cy="{}" r="2.4"/>', number, f"{x:.1f}", f"{y:.1f}")
                     for x, y in places]  # fmt: skip
    return [html('<path class="line s{}" d="{}"/>', number, "".join(path)), *dots]


def _pauses(axis: TimeAxis, low: float, high: float) -> list[Html]:
    parts = []
    for start, end, seconds in axis.pauses():
        text = duration_text(seconds)
        label = Html("")
        if len(text) * _CHARACTER < end - start:
            label = html(
                '<text x="{}" y="{}" text-anchor="middle">{}</text>', f"{(start + end) / 2:.1f}", f"{low - 6:.1f}", text
            )
        tooltip = f"nothing ran for {text}"
        shape = f"M{start:.1f} {high:.1f}H{end:.1f}V{low:.1f}H{start:.1f}Z"
        parts.append(html('<path class="pause" d="{}"><title>{}</title></path>{}', shape, tooltip, label))
    return parts


def _marks(axis: TimeAxis, marks: Sequence[Mark], low: float, high: float) -> list[Html]:
    """Draw the marks."""
    parts: list[Html] = []
    for mark in sorted(marks, key=lambda each: each.time):
        x = f"{axis(mark.time):.1f}"
        parts.append(html('<path class="mark {}" d="M{} {}V{}"/>', mark.kind, x, high - 6, low))
        parts.append(
            html(
                '<path class="glyph {}" transform="translate({} {})" d="{}"><title>{}</title></path>',
                mark.kind,
                x,
                high - 12,
                _GLYPHS[mark.kind],
                _MEANINGS[mark.kind],
            )
        )
    return parts


def _shown_marks(marks: Sequence[Mark]) -> Sequence[Mark]:
    """Leave out marks that would overlap: first those of normal starts and ends, then all but the newest."""
    if len(marks) <= _MOST_MARKS:
        return marks
    return [each for each in marks if each.kind in ("killed", "failure")][-_MOST_MARKS:]


def _time_labels(axis: TimeAxis, width: int, height: int) -> list[Html]:
    widest = 15 * _CHARACTER
    parts, right = [], -math.inf
    for x, text in axis.ticks(widest * 0.75):
        half = len(text) * _CHARACTER / 2
        middle = min(max(x, half + 2), width - half - 2)
        if middle - half < right:
            continue
        right = middle + half + 6
        parts.append(html('<path class="grid" d="M{} {}v4"/>', f"{x:.1f}", height - _BOTTOM))
        parts.append(html('<text x="{}" y="{}" text-anchor="middle">{}</text>', f"{middle:.1f}", height - 8, text))
    return parts
