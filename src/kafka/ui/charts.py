"""Time series charts as inline SVG, for values that are polled."""

from collections.abc import Iterable, Mapping

from kafka.display.page_elements import Html, html
from kafka.display.time_charts import Line, Points, TimeChart, segments

_SHORTEST_S = 60.0
_DRAWN = 400
"""Maximum number of points drawn per line."""


def chart(title: str, series: Mapping[str, Points], unit: str, is_whole: bool = False) -> Html:
    """Draw one line per series. If there are too many series, only those with the largest values are drawn.

    A line is interrupted where no values were read. The time axis covers at least a minute, so that a chart that has
    just begun does not show fractions of seconds.

    Arguments:
        title: the caption.
        series: values by name; a series with fewer than two points is not drawn.
        unit: the unit of the values, for the axis.
        is_whole: whether the values are whole numbers.
    """
    lines = [Line(name, _segments(points)) for name, points in series.items() if len(points) > 1]
    if not lines:
        text = "Nothing to draw yet: the chart begins when a page is first opened."
        return html('<figure><figcaption>{}</figcaption><p class="quiet">{}</p></figure>', title, text)
    times = [when for line in lines for segment in line.segments for when, _ in (segment[0], segment[-1])]
    period = (min(*times, max(times) - _SHORTEST_S), max(times))
    return TimeChart(title, unit, lines, [period], is_full=True, is_whole=is_whole).figure()


def sparkline(title: str, points: Iterable[tuple[float, float]]) -> Html:
    """Draw a small line without axes, with gaps where no values were read."""
    points = list(points)
    if len(points) < 2 or not any(value for _, value in points):
        return Html("")  # a line of zeros would only distract from the others
    top = max(value for _, value in points) or 1.0
    first, last = points[0][0], points[-1][0]
    span = last - first or 1.0
    drawn = "".join(
        f"{'L' if at else 'M'}{(when - first) / span * 100:.1f} {19 - value / top * 18:.1f}"
        for segment in _segments(points)
        for at, (when, value) in enumerate(segment)
    )
    return html(
        '<svg class="spark" viewBox="0 0 100 20" role="img" aria-label="{}" preserveAspectRatio="none">'
        '<path class="line s1" d="{}"/></svg>',
        title,
        drawn,
    )


def _segments(points: Points) -> list[Points]:
    """Split a series at its gaps, and reduce the number of points."""
    step = -(-len(points) // _DRAWN)
    return [_thinned(each, step) for each in segments(points)]


def _thinned(points: Points, step: int) -> Points:
    """Keep the largest of each `step` neighbouring points, so that no peak is lost."""
    if step == 1:
        return points
    return [max(points[at : at + step], key=lambda point: point[1]) for at in range(0, len(points), step)]
