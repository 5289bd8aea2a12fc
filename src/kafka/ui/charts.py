"""Time series charts as inline SVG, for values that are polled."""

from collections.abc import Mapping

from kafka.display.page_elements import Html, html
from kafka.display.time_charts import Line, Points, TimeChart

_DRAWN = 400
"""Maximum number of points drawn per line."""


def chart(title: str, series: Mapping[str, Points], unit: str) -> Html:
    """Draw one line per series. If there are too many series, only those with the largest values are drawn.

    Arguments:
        title: the caption.
        series: values by name; a series with fewer than two points is not drawn.
        unit: the unit of the values, for the axis.
    """
    lines = [Line(name, [_thinned(points)]) for name, points in series.items() if len(points) > 1]
    if not lines:
        return html('<figure><figcaption>{}</figcaption><p class="quiet">no values yet</p></figure>', title)
    times = [when for line in lines for segment in line.segments for when, _ in (segment[0], segment[-1])]
    return TimeChart(title, unit, lines, [(min(times), max(times))]).figure()


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


def _thinned(points: Points) -> Points:
    """Reduce the number of points. The largest of neighbouring points is kept, so that no peak is lost."""
    step = -(-len(points) // _DRAWN)
    if step == 1:
        return points
    return [max(points[at : at + step], key=lambda point: point[1]) for at in range(0, len(points), step)]
