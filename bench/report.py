"""The tables, as Markdown."""

from __future__ import annotations

import re
import statistics
from collections.abc import Sequence

from bench.circumstances import Circumstances
from bench.figures import FIGURES, Figure, Row, reached, slower
from bench.job import Result
from bench.roster import BEFORE, CLIENTS

HEADINGS = {"rate": "Records a second", "latency": "Milliseconds", "peak": "Memory"}
NOTES = {
    "rate": "Millions of records a second: the median of the rounds, the lowest and the highest.",
    "latency": "The median and 99th percentile of each round's trips: the median, lowest and highest of the rounds.",
    "peak": "The peak resident memory of the process; every client has its default settings.",
}
MISSED = "**missed**"
_DECODER = re.compile(r"(?P<step>.*\S) +(?P<rate>[\d.]+) M records/s +(?P<each>\d+) ns a record")
"""A figure as `bench.decode` prints it."""


def markdown(rows: Sequence[Row], decoder: str, about: Circumstances) -> str:
    """Return the whole report."""
    decoding = ["## Decoders and encoders alone", *decoder_tables(decoder), ""] if decoder else []
    return "\n".join(["# Benchmarks", "", *about.lines(), "", *_reading(), "", *tables(rows), *decoding])


def tables(rows: Sequence[Row]) -> list[str]:
    """The lines of a table for each measure."""
    lines = []
    for measure, figures in FIGURES.items():
        chosen = [row for row in rows if row.measure == measure]
        if chosen:
            lines += [f"## {HEADINGS[measure]}", "", NOTES[measure], "", *_table(chosen, figures), ""]
    return lines


def decoder_tables(printed: str) -> list[str]:
    """The lines of tables with what `bench.decode` has printed: one for each kind of records."""
    lines: list[str] = []
    for line in filter(None, printed.splitlines()):
        if found := _DECODER.fullmatch(line):
            if not lines or not lines[-1].startswith("|"):
                lines += ["", "| step | M records/s | ns a record |", "|---|---:|---:|"]
            lines.append(f"| {found['step']} | {found['rate']} | {found['each']} |")
        else:
            title = re.sub(r"^kafka\.\w+", r"`\g<0>`", line)
            lines += ["", f"{title[0].upper()}{title[1:]}:"]
    return lines


def missed(rows: Sequence[Row]) -> list[str]:
    """A line for each figure that is not what was asked."""
    return [
        f"{row.task}, {row.records}: {ratio:.2f} times {CLIENTS[target.client].title} ({target.figure}), "
        f"asked {target.ratio:g}"
        for row in rows
        for figure in FIGURES[row.measure]
        for target in row.targets
        if target.figure == figure.name
        and (ratio := row.ratio(target.client, figure)) is not None
        and not reached(ratio, target)
    ]


def slower_than_before(rows: Sequence[Row]) -> list[str]:
    """A line for each figure in which the other tree is better, by more than the rounds differ."""
    return [
        f"{row.task}, {row.records}, {row.clients[0]}: {row.ratio(client, figure):.2f} times {CLIENTS[client].title} "
        f"({figure.name})"
        for row in rows
        for client in row.clients
        if client.endswith(BEFORE)
        for figure in FIGURES[row.measure]
        if slower(row, client, figure)
    ]


def _reading() -> list[str]:
    return [
        "The ratio says how many times better kafka-columnar is: more records, less time, less memory. The clients run",
        "in turn, each time in a fresh process. Records are counted and summed up, and what was written is read back.",
    ]


def _table(rows: Sequence[Row], figures: Sequence[Figure]) -> list[str]:
    """One line a row, client and figure."""
    extra = figures[0].name == "rate"
    more = (" CPU s a million |", "---:|") if extra else ("", "")
    lines = [
        f"| task | records | client | {figures[0].unit} | lowest - highest | ratio | asked |{more[0]}",
        f"|---|---|---|---:|---:|---:|---:|{more[1]}",
    ]
    for row in rows:
        for client in row.clients:
            for figure in figures:
                if client in row.results:
                    cells = _cells(row, client, figure)
                    if extra:
                        cells.append(_processor_time(row.results[client]))
                    lines.append(f"| {' | '.join(cells)} |")
        for client, error in row.failures.items():
            empty = " | " * (4 if extra else 3)
            lines.append(f"| {row.title} | {row.records} | {CLIENTS[client].title} | failed: {error} {empty} |")
    return lines


def _cells(row: Row, client: str, figure: Figure) -> list[str]:
    results = row.results[client]
    values = [figure.of(result) for result in results]
    median, low, high = (f"{value:.{figure.digits}f}" for value in (figure.median(results), min(values), max(values)))
    title = row.title if len(FIGURES[row.measure]) == 1 else f"{row.title}, {figure.name}"
    ratio, target = row.ratio(client, figure), row.target(client, figure)
    told = "" if ratio is None else f"{ratio:.2f}"
    asked = "" if target is None else f"{target.ratio:g}"
    if ratio is not None and target is not None and not reached(ratio, target):
        asked += f" {MISSED}"
    return [title, row.records, CLIENTS[client].title, median, f"{low} - {high}", told, asked]


def _processor_time(results: Sequence[Result]) -> str:
    """The processor's seconds for a million records."""
    return f"{statistics.median(result.cpu_seconds / result.timed * 1e6 for result in results):.2f}"
