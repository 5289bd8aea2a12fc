"""Line diagrams as SVG, without a library: small, readable in light and dark, with a title and a description."""

import dataclasses
import html
import math
from collections.abc import Sequence

WIDTH, HEIGHT = 720, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 40, 40
_STEPS = 5

STYLE = """
svg { width: 100%; height: auto; font: 13px system-ui, sans-serif }
svg text { fill: var(--ink) }
svg .grid { stroke: var(--grid) }
svg .mark { stroke: var(--ink); stroke-dasharray: 4 4 }
svg .line { fill: none; stroke-width: 2 }
svg .s0 { stroke: var(--s0) } svg .dot.s0 { fill: var(--s0) }
svg .s1 { stroke: var(--s1) } svg .dot.s1 { fill: var(--s1) }
svg .s2 { stroke: var(--s2) } svg .dot.s2 { fill: var(--s2) }
"""
"""Rules for the diagrams; the colours are the page's."""


@dataclasses.dataclass(frozen=True)
class Series:
    """A line.

    Arguments:
        name: for the legend.
        points: in the order of x; None for y: there is nothing, and the line has a gap.
    """

    name: str
    points: Sequence[tuple[float, float | None]]


@dataclasses.dataclass(frozen=True)
class Chart:
    """A diagram.

    Arguments:
        name: for its ids, one on a page.
        title: what it shows.
        description: what can be seen in it, for those who do not see it.
        unit: of y.
        series: three at most.
        x_unit: of x.
        x_end: where x ends; it begins at 0.
        marks: times to mark, with what happened then.
    """

    name: str
    title: str
    description: str
    unit: str
    series: Sequence[Series]
    x_unit: str
    x_end: float
    marks: Sequence[tuple[float, str]] = ()

    def svg(self) -> str:
        """The diagram."""
        values = [y for each in self.series for _, y in each.points if y is not None]
        ticks = nice_ticks(min([0.0, *values]), max([1.0, *values]))
        low, high = ticks[0], ticks[-1]

        def across(x: float) -> float:
            return _LEFT + x / (self.x_end or 1) * (WIDTH - _LEFT - _RIGHT)

        def down(y: float) -> float:
            return HEIGHT - _BOTTOM - (y - low) / (high - low) * (HEIGHT - _TOP - _BOTTOM)

        parts = [
            f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="{self.name}-t {self.name}-d">',
            f'<title id="{self.name}-t">{html.escape(self.title)}</title>',
            f'<desc id="{self.name}-d">{html.escape(self.description)}</desc>',
        ]
        for tick in ticks:
            parts.append(f'<path class="grid" d="M{_LEFT} {down(tick):.1f}H{WIDTH - _RIGHT}"/>')
            parts.append(f'<text x="{_LEFT - 8}" y="{down(tick) + 4:.1f}" text-anchor="end">{tick:,.6g}</text>')
        for tick in nice_ticks(0, self.x_end or 1):
            if tick <= self.x_end:
                place = f'x="{across(tick):.1f}" y="{HEIGHT - _BOTTOM + 18}"'
                parts.append(f'<text {place} text-anchor="middle">{tick:g}</text>')
        parts.append(f'<text x="{WIDTH - _RIGHT}" y="{HEIGHT - 6}" text-anchor="end">{html.escape(self.x_unit)}</text>')
        parts.append(f'<text x="8" y="16">{html.escape(self.unit)}</text>')
        for number, (x, text) in enumerate(self.marks):
            parts.append(f'<path class="mark" d="M{across(x):.1f} {_TOP - 4}V{HEIGHT - _BOTTOM}"/>')
            anchor = "end" if across(x) > WIDTH / 2 else "start"
            shift = -4 if anchor == "end" else 4
            place = f'x="{across(x) + shift:.1f}" y="{_TOP + 8 + 16 * number}"'
            parts.append(f'<text {place} text-anchor="{anchor}">{html.escape(text)}</text>')
        for number, each in enumerate(self.series):
            points = [(across(x), None if y is None else down(y)) for x, y in each.points]
            parts.append(f'<path class="line s{number}" d="{_path(points)}"/>')
            parts += [
                f'<circle class="dot s{number}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in points if y is not None
            ]
            parts.append(self._legend(number, each.name))
        return "\n".join([*parts, "</svg>"])

    def _legend(self, number: int, name: str) -> str:
        """The name of a line, beside a piece of it, above the diagram."""
        x = WIDTH - _RIGHT - (len(self.series) - number) * 190
        return f'<path class="line s{number}" d="M{x} 12h20"/><text x="{x + 26}" y="16">{html.escape(name)}</text>'


def _path(points: Sequence[tuple[float, float | None]]) -> str:
    path, pen_down = [], False
    for x, y in points:
        if y is not None:
            path.append(f"{'L' if pen_down else 'M'}{x:.1f} {y:.1f}")
        pen_down = y is not None
    return "".join(path)


def nice_ticks(low: float, high: float) -> list[float]:
    """Round numbers, at the same distance, from below `low` to above `high`."""
    rough = (high - low) / _STEPS
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * each for each in (1, 2, 5, 10) if size * each >= rough * 0.999999)
    first, last = math.floor(low / step), math.ceil(high / step - 1e-9)
    return [round(number * step, 9) for number in range(first, last + 1)]
