"""Time series charts as inline SVG."""

import datetime
from collections.abc import Mapping, Sequence

from kafka.display.page_elements import Html, html, joined, short

Points = Sequence[tuple[float, float]]
"""Pairs of a time in seconds since 1970 and a value, sorted by time."""

LINES = 6
"""Maximum number of lines, so that their colours can be distinguished."""
_WIDTH, _HEIGHT = 720, 220
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 12, 10, 24
_DRAWN = 400
"""Maximum number of points drawn per line."""


def chart(title: str, series: Mapping[str, Points], unit: str = "") -> Html:
    """Draw one line per series. If there are too many series, only those with the largest values are drawn.

    Arguments:
        title: the caption.
        series: values by name; a series with fewer than two points is not drawn.
        unit: the unit of the values, for the axis.
    """
    chosen = {name: series[name] for name in largest(series) if len(series[name]) > 1}
    if not chosen:
        return html('<figure><figcaption>{}</figcaption><p class="quiet">no values yet</p></figure>', title)
    times = [when for points in chosen.values() for when, _ in points]
    first, last = min(times), max(times)
    top = max(max(value for _, value in points) for points in chosen.values()) or 1.0
    lines = joined(
        html('<polyline class="line s{}" points="{}"/>', number, _path(points, first, last, top))
        for number, points in enumerate(chosen.values(), start=1)
    )
    keys = joined(
        html(
            '<li><svg class="key" viewBox="0 0 12 12" aria-hidden="true">'
            '<rect class="s{}" width="12" height="12"/></svg>'
            "{}</li>",
            number,
            name,
        )
        for number, name in enumerate(chosen, start=1)
    )
    left_out = len(series) - len(chosen)
    more = html("<li>and {} more</li>", left_out) if left_out else ""
    return html(
        '<figure><figcaption>{}</figcaption><svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">'
        '{}{}</svg><ul class="keys">{}{}</ul></figure>',
        title,
        _WIDTH,
        _HEIGHT,
        f"{title}: {'; '.join(f'{name} {short(points[-1][1])}{unit}' for name, points in chosen.items())}",
        _axes(first, last, top, unit),
        lines,
        keys,
        more,
    )


def sparkline(title: str, points: Points) -> Html:
    """Draw a small line without axes."""
    if len(points) < 2:
        return Html("")
    top = max(value for _, value in points) or 1.0
    first, last = points[0][0], points[-1][0]
    span = last - first or 1.0
    drawn = " ".join(
        f"{(when - first) / span * 100:.1f},{19 - value / top * 18:.1f}" for when, value in _thinned(points)
    )
    return html(
        '<svg class="spark" viewBox="0 0 100 20" role="img" aria-label="{}" preserveAspectRatio="none">'
        '<polyline class="line s1" points="{}"/></svg>',
        title,
        drawn,
    )


def largest(series: Mapping[str, Points]) -> list[str]:
    """Return the names of the series that are drawn, in their original order."""
    by_size = sorted(series, key=lambda name: max((value for _, value in series[name]), default=-1.0), reverse=True)
    kept = set(by_size[:LINES])
    return [name for name in series if name in kept]


def _thinned(points: Points) -> Points:
    """Reduce the number of points. The largest of neighbouring points is kept, so that no peak is lost."""
    step = -(-len(points) // _DRAWN)
    if step == 1:
        return points
    return [max(points[at : at + step], key=lambda point: point[1]) for at in range(0, len(points), step)]


def _path(points: Points, first: float, last: float, top: float) -> str:
    span = last - first or 1.0
    wide, high = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
    return " ".join(
        f"{_LEFT + (when - first) / span * wide:.1f},{_TOP + (1 - max(0.0, value) / top) * high:.1f}"
        for when, value in _thinned(points)
    )


def _axes(first: float, last: float, top: float, unit: str) -> Html:
    high, bottom = _HEIGHT - _TOP - _BOTTOM, _HEIGHT - _BOTTOM
    parts = []
    for part in (0.0, 0.5, 1.0):
        y = bottom - part * high
        at = f"{y:.1f}"
        parts.append(html('<line class="grid" x1="{}" x2="{}" y1="{}" y2="{}"/>', _LEFT, _WIDTH - _RIGHT, at, at))
        label = f"{short(top * part)}{unit}"
        parts.append(html('<text x="{}" y="{}" text-anchor="end">{}</text>', _LEFT - 6, f"{y + 4:.1f}", label))
    for x, anchor, when in ((_LEFT, "start", first), (_WIDTH - _RIGHT, "end", last)):
        clock = datetime.datetime.fromtimestamp(when, datetime.UTC).strftime("%H:%M:%SZ")
        parts.append(html('<text x="{}" y="{}" text-anchor="{}">{}</text>', x, _HEIGHT - 6, anchor, clock))
    return joined(parts)
