"""The chart: how many times better each figure is than another client's."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pygal
from pygal.style import Style

from bench.figures import FIGURES, Row
from bench.roster import CLIENTS

# It leaves behind a finder for plug-ins that Python no longer calls, and warns of at each import after it.
sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__module__ != pygal.__name__]

STYLE = Style(
    background="white",
    plot_background="white",
    font_family="sans-serif",
    label_font_size=11,
    major_label_font_size=11,
    title_font_size=15,
    value_font_size=11,
    value_label_font_size=11,
    colors=("#1f6fb4",),
)
COLOURS = {
    "confluent": "#1f6fb4",
    "confluent-large": "#7fb2dd",
    "kafka-python": "#8a63b8",
    "aiokafka": "#b84a62",
    "kafkarrow": "#e07b39",
    "java": "#3a9a5b",
    "spark-connector": "#c9a227",
}
OTHER_COLOUR = "#888888"
LIMITS = {"raw-socket"}
"""No other client, but the end of what can be reached: it is in the tables and not in the chart."""
BAR_HEIGHT = 19
MARGINS_HEIGHT = 110


def bars(rows: Sequence[Row]) -> list[tuple[str, str, float]]:
    """Return a label, the other client and the ratio for each bar, the first on top."""
    return [
        (
            f"{row.title.replace('`', '')}{_suffix(row, figure.name)}, {row.records}: {CLIENTS[client].title}",
            client,
            ratio,
        )
        for row in rows
        for figure in FIGURES[row.measure]
        for client in row.clients[1:]
        if client not in LIMITS and (ratio := row.ratio(client, figure)) is not None
    ]


def _suffix(row: Row, figure: str) -> str:
    return f", {figure}" if len(FIGURES[row.measure]) > 1 else ""


def draw(rows: Sequence[Row], target: Path) -> None:
    """Write the chart as SVG, a bar a ratio and a colour a client. Without any ratio nothing is written."""
    drawn = bars(rows)[::-1]
    if not drawn:
        return
    chart: Any = pygal.HorizontalBar(
        style=STYLE,
        js=(),
        title="kafka-columnar against each client: times the records a second, or times less time or memory",
        truncate_label=-1,
        show_legend=False,
        print_values=True,
        print_values_position="top",
        formatter=lambda value: f"{value:.1f}",
        spacing=6,
        width=1100,
        height=MARGINS_HEIGHT + BAR_HEIGHT * len(drawn),
    )
    chart.x_labels = [label for label, _, _ in drawn]
    chart.add(
        "ratio", [{"value": round(ratio, 3), "color": COLOURS.get(client, OTHER_COLOUR)} for _, client, ratio in drawn]
    )
    target.write_bytes(chart.render())
