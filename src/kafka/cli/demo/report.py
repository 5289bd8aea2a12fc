"""What the demo prints at its end."""

import dataclasses
import pathlib

import pandas as pd
from rich.console import Console
from rich.table import Table

from kafka.cli.demo.ingest import RESULT_TOPIC, SOURCE_TOPIC


@dataclasses.dataclass(frozen=True)
class Figures:
    """What went in and what came out."""

    flights: int
    sent_bytes: int
    send_s: float
    rows_read: list[int]
    stream_s: float
    windows: int
    parquet: pathlib.Path
    total_s: float


def print_report(console: Console, figures: Figures, results: pd.DataFrame) -> None:
    """Print the figures, and the five worst hours as they were read back from the topic."""
    table = Table(title="What went in, what came out")
    for heading in ("step", "records", "seconds", "records a second"):
        table.add_column(heading, justify="left" if heading == "step" else "right")

    def row(step: str, count: int, seconds: float) -> None:
        table.add_row(step, f"{count:,}", f"{seconds:.1f}", f"{count / seconds:,.0f}")

    row(f"JSON flights into {SOURCE_TOPIC!r} ({figures.sent_bytes / 1e6:.0f} MB)", figures.flights, figures.send_s)
    row("read by Spark, two queries", sum(figures.rows_read), figures.stream_s)
    row(f"delays by origin and hour into {RESULT_TOPIC!r} and Parquet", figures.windows, figures.stream_s)
    console.print(table)

    worst = results[results["flights"] >= 5].nlargest(5, "dep_delay")
    hours = Table(title="The five worst hours with five flights or more")
    for heading in ("hour (UTC)", "airport", "flights", "cancelled", "mean delay", "worst flight"):
        hours.add_column(heading, justify="right" if heading in ("flights", "cancelled", "mean delay") else "left")
    for each in worst.itertuples():
        flight = f"{each.worst_airline} to {each.worst_destination}: {each.worst_dep_delay:.0f} min"
        cells = (f"{each.hour:%Y-%m-%d %H:%M}", each.airport, each.flights, each.cancelled)
        hours.add_row(*map(str, cells), f"{each.dep_delay:.0f} min", flight)
    console.print(hours)
    console.print(
        f"[green]The topic and the Parquet files hold exactly what pandas computes:[/] {figures.windows:,} rows for "
        f"{figures.flights:,} flights, in {figures.total_s:.0f} s. Parquet: {figures.parquet}"
    )
