"""The demo's report: one HTML page with line charts in SVG. It loads no other files and runs no scripts.

The charts are readable in light and dark mode, and have titles and descriptions for screen readers.
"""

import dataclasses
import datetime
import html
import json
import math
import pathlib
from collections.abc import Sequence
from typing import Any

import pandas as pd

from kafka.cli.demo.driver_processes import Kill
from kafka.cli.demo.report import Figures

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
"""Styles of the charts; the colours come from the page."""


@dataclasses.dataclass(frozen=True)
class Series:
    """A line in a chart.

    Arguments:
        name: name for the legend.
        points: pairs of x and y in the order of x; a y of None leaves a gap in the line.
    """

    name: str
    points: Sequence[tuple[float, float | None]]


@dataclasses.dataclass(frozen=True)
class Chart:
    """A line chart.

    Arguments:
        name: prefix of its ids, unique on the page.
        title: its title.
        description: a description for screen readers.
        unit: unit of y.
        series: at most three lines.
        x_unit: unit of x.
        x_end: the largest x; x starts at 0.
        marks: values of x to mark, and their labels.
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
        """Return the chart as SVG."""
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
        """Return the legend for a line, above the chart: a piece of the line and its name."""
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
    """Return evenly spaced round numbers that span `low` to `high`."""
    rough = (high - low) / _STEPS
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * each for each in (1, 2, 5, 10) if size * each >= rough * 0.999999)
    first, last = math.floor(low / step), math.ceil(high / step - 1e-9)
    return [round(number * step, 9) for number in range(first, last + 1)]


ZONE = "America/New_York"

_STYLE = (
    """
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1c1c1c; --grid: #dcdcdc;
  --s0: #1f6fc4; --s1: #c2410c; --s2: #0f766e }
@media (prefers-color-scheme: dark) { :root { --paper: #161616; --ink: #ededed; --grid: #3a3a3a;
  --s0: #6cb0f5; --s1: #fb9a5b; --s2: #4fd1c0 } }
body { background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; max-width: 760px;
  margin: 2rem auto; padding: 0 1rem }
h1, h2 { line-height: 1.2 }
figure { margin: 1rem 0 2rem }
table { border-collapse: collapse } th, td { padding: .15rem .8rem .15rem 0; text-align: right }
th:first-child, td:first-child { text-align: left }
"""
    + STYLE
)


def write_page(
    path: pathlib.Path,
    figures: Figures,
    results: pd.DataFrame,
    progress: pathlib.Path,
    kill: Kill | None,
    again: datetime.datetime | None,
) -> None:
    """Write the report.

    Arguments:
        path: the file to write.
        figures: the input and the results of the run.
        results: the delays by hour and airport.
        progress: the file written by `kafka.spark.watch`, with one line per micro-batch.
        kill: the state when a driver was killed; None if no driver was killed.
        again: the time when the next driver was started.
    """
    reports = (
        [json.loads(line) for line in progress.read_text(encoding="utf-8").splitlines()] if progress.exists() else []
    )
    by_hour = delays_by_hour(results)
    charts = [_delay_chart(by_hour), *_query_charts(reports, kill, again)]
    body = "\n".join(f"<figure>\n<h2>{html.escape(each.title)}</h2>\n{each.svg()}\n</figure>" for each in charts)
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    path.write_text(
        f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>A year of flights through Kafka and Spark</title>
<style>{_STYLE}</style>
</head>
<body>
<main>
<h1>A year of flights through Kafka and Spark</h1>
{_story(figures, kill)}
{body}
<details><summary>The delays as a table</summary>
{_table(by_hour)}
</details>
</main>
</body>
</html>
""",
        encoding="utf-8",
    )


def delays_by_hour(results: pd.DataFrame) -> pd.DataFrame:
    """Return the mean delay of departed flights in minutes, with a row per hour of the day and a column per airport."""
    flown = results.dropna(subset=["dep_delay"])
    count = flown["flights"] - flown["cancelled"]
    hour = flown["hour"].dt.tz_convert(ZONE).dt.hour
    frame = pd.DataFrame({"hour": hour, "airport": flown["airport"], "count": count, "sum": flown["dep_delay"] * count})
    sums = frame.groupby(["hour", "airport"])[["count", "sum"]].sum()
    return (sums["sum"] / sums["count"]).unstack("airport")


def _story(figures: Figures, kill: Kill | None) -> str:
    killed = (
        "The driver finished before it could be killed."
        if kill is None
        else f"The Spark driver was killed after {kill.rows:,} records, and a new one continued."
    )
    text = (
        f"{figures.flights:,} flights became {figures.results:,} rows in {figures.stream_s:.0f} s. {killed} "
        "The topic and the Parquet files match the results of pandas exactly, each row once."
    )
    return f"<p>{html.escape(text)}</p>"


def _delay_chart(by_hour: pd.DataFrame) -> Chart:
    hours = [float(hour) for hour in by_hour.index.tolist()]
    columns = [(str(airport), column.tolist()) for airport, column in by_hour.items()][:3]
    series = [
        Series(name, [(hour, None if math.isnan(mean) else mean) for hour, mean in zip(hours, means, strict=True)])
        for name, means in columns
    ]
    longest = [(mean, hour, each.name) for each in series for hour, mean in each.points if mean is not None]
    _, at, where = max(longest, default=(0.0, None, ""))
    seen = "No flights departed." if at is None else f"The longest mean delay is at {at:.0f} o'clock from {where}."
    return Chart(
        name="delays",
        title="Mean delay by hour of departure and airport",
        description=f"Minutes by hour of the day in New York, one line per airport. {seen} The numbers are below.",
        unit="minutes",
        series=series,
        x_unit="hour of the day (New York)",
        x_end=23,
    )


def _query_charts(reports: Sequence[dict[str, Any]], kill: Kill | None, again: datetime.datetime | None) -> list[Chart]:
    """Return charts of the rates and the lag of the queries over time."""
    if not reports:
        return []
    began = min(_time(each) for each in reports)
    ends = [(_time(each) - began).total_seconds() + each["seconds"] for each in reports]
    happened = ((None if kill is None else kill.at, "killed"), (again, "restarted"))
    marks = [((at - began).total_seconds(), text) for at, text in happened if at is not None]
    rates, lags = [], []
    for query in dict.fromkeys(each["query"] for each in reports):
        rate: list[tuple[float, float | None]] = []
        lag: list[tuple[float, float | None]] = []
        for each, end in zip(reports, ends, strict=True):
            if each["query"] == query:
                rate.append((end, each["rows"] / each["seconds"] if each["seconds"] else None))
                lag.append((end, _lag(each)))
        rates.append(Series(query, rate))
        lags.append(Series(query, lag))
    shared = {"x_unit": "seconds", "x_end": max([*ends, *(at for at, _ in marks)]), "marks": marks}
    told = "The marked lines show when the driver was killed and when a new one started." if marks else ""
    return [
        Chart(
            "rates",
            "Records per second",
            f"For each micro-batch of both queries. {told}",
            "per second",
            rates,
            **shared,
        ),
        Chart("lag", "Lag", f"Records left unread by each micro-batch. {told}", "records", lags, **shared),
    ]


def _time(report: dict[str, Any]) -> datetime.datetime:
    return datetime.datetime.fromisoformat(report["time"])


def _lag(report: dict[str, Any]) -> float | None:
    found = [each["lag"] for each in report["sources"]]
    return None if not found or None in found else float(sum(found))


def _table(by_hour: pd.DataFrame) -> str:
    heads = "".join(f'<th scope="col">{html.escape(str(each))}</th>' for each in by_hour.columns)
    rows = [
        f'<tr><th scope="row">{hour}</th>{"".join(f"<td>{_minutes(each)}</td>" for each in row)}</tr>'
        for hour, row in zip(by_hour.index, by_hour.to_numpy(), strict=True)
    ]
    return f'<table>\n<tr><th scope="col">hour</th>{heads}</tr>\n' + "\n".join(rows) + "\n</table>"


def _minutes(mean: float) -> str:
    return "" if math.isnan(mean) else f"{mean:.1f}"
