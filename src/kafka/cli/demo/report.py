"""The summary that the demo prints at its end."""

import dataclasses
import pathlib
from collections.abc import Callable, Sequence

import pandas as pd

from kafka.cli.command_output import aligned
from kafka.cli.demo.ingest import RESULT_TOPIC, SOURCE_TOPIC


@dataclasses.dataclass(frozen=True)
class Figures:
    """The input and the results of a run.

    Arguments:
        flights: number of flights sent.
        sent_bytes: size of these flights in bytes.
        send_s: duration of sending in seconds.
        stream_s: seconds from the start of the first driver to the end of the last one.
        results: number of rows in the topic and in the Parquet files.
        given_up: number of rows in the topic that belong to aborted transactions.
        parquet: folder of the Parquet files.
        total_s: total duration in seconds.
    """

    flights: int
    sent_bytes: int
    send_s: float
    stream_s: float
    results: int
    given_up: int
    parquet: pathlib.Path
    total_s: float


def print_report(say: Callable[[str], None], figures: Figures, results: pd.DataFrame) -> None:
    """Print the figures, and the five worst hours according to the results read back from the topic."""

    def row(step: str, count: int, seconds: float) -> list[str]:
        return [step, f"{count:,}", f"{seconds:.1f}", f"{count / seconds:,.0f}"]

    size = f"{figures.sent_bytes / 1e6:.0f} MB"
    rows = [
        row(f"JSON flights into {SOURCE_TOPIC!r} ({size})", figures.flights, figures.send_s),
        row("flights through Spark, with one driver killed", figures.flights, figures.stream_s),
        row(f"delays into {RESULT_TOPIC!r} and Parquet", figures.results, figures.stream_s),
    ]
    print_table(say, "Input and output", ["step", "records", "seconds", "records per second"], rows, {0})

    worst = results[results["flights"] >= 5].nlargest(5, "dep_delay")
    headings = ["hour (UTC)", "airport", "flights", "cancelled", "mean delay", "worst flight"]
    hours = [
        [
            f"{each.hour:%Y-%m-%d %H:%M}",
            str(each.airport),
            str(each.flights),
            str(each.cancelled),
            f"{each.dep_delay:.0f} min",
            f"{each.worst_airline} to {each.worst_destination}: {each.worst_dep_delay:.0f} min",
        ]
        for each in worst.itertuples()
    ]
    print_table(say, "The five worst hours with five flights or more", headings, hours, {0, 1, 5})
    say(
        f"Check: the topic and the Parquet files match the results of pandas exactly, each row once: "
        f"{figures.results:,} rows for {figures.flights:,} flights, in {figures.total_s:.0f} s."
    )
    if figures.given_up:
        say(
            f"Consumers that read committed records do not see {figures.given_up:,} rows of the killed driver's "
            "aborted transactions."
        )
    say(f"Parquet: {figures.parquet}")


def print_table(
    say: Callable[[str], None], title: str, headings: Sequence[str], rows: Sequence[Sequence[str]], left: set[int]
) -> None:
    """Print a table with aligned columns.

    Arguments:
        left: indexes of left-aligned columns; the others are numbers, which are right-aligned.
    """
    say(f"\n{title}")
    for line in aligned([headings, *rows], [at not in left for at in range(len(headings))]):
        say(f"  {line}")
    say("")
