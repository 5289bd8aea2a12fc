"""Time series charts as inline SVG, for values that are polled."""

from collections.abc import Iterable, Mapping

from kafka.display.page_elements import Html, html
from kafka.display.time_charts import Line, Points, TimeChart

_SHORTEST_S = 60.0
_DRAWN = 400
"""Maximum number of points drawn per line."""


def chart(title: str, series: Mapping[str, Points], unit: str, is_whole: bool = False) -> Html:
    """Draw one line per series. If there are too many series, only those with the largest values are drawn.

    The time axis covers at least a minute, so that a chart that has just begun does not show fractions of seconds.

    Arguments:
        title: the caption.
        series: values by name; a series with fewer than two points is not drawn.
        unit: the unit of the values, for the axis.
        is_whole: whether the values are whole numbers.
    """
    lines = [Line(name, [_thinned(points)]) for name, points in series.items() if len(points) > 1]
    if not lines:
        text = "Nothing to draw yet: the chart begins when a page is first opened."
        return html('<figure><figcaption>{}</figcaption><p class="quiet">{}</p></figure>', title, text)
    times = [when for line in lines for segment in line.segments for when, _ in (segment[0], segment[-1])]
    period = (min(*times, max(times) - _SHORTEST_S), max(times))
    return TimeChart(title, unit, lines, [period], is_full=True, is_whole=is_whole).figure()


def sparkline(title: str, points: Iterable[tuple[float, float]]) -> Html:
    """Draw a small line without axes."""
    points = list(points)
    if len(points) < 2 or not any(value for _, value in points):
        return Html("")  # a line of zeros would only distract from the others
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


def _thinned(points: Points) -> Points:
    """Reduce the number of points. The largest of neighbouring points is kept, so that no peak is lost."""
    step = -(-len(points) // _DRAWN)
    if step == 1:
        return points
    return [max(points[at : at + step], key=lambda point: point[1]) for at in range(0, len(points), step)]
