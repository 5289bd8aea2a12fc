"""The tables, as Markdown."""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from bench.job import Result
from bench.runner import Row

TITLES = {
    "ours": "kafka-columnar",
    "confluent": "confluent-kafka",
    "kafka-python": "kafka-python",
    "aiokafka": "aiokafka",
    "kafkarrow": "kafkarrow",
    "spark-ours": "kafka-columnar",
    "spark-connector": "Spark's connector",
    "raw-socket": "raw socket, not decoded",
}


@dataclass(frozen=True)
class Circumstances:
    """What the figures depend on."""

    kafka_version: str
    rounds: int
    command: str


def markdown(rows: Sequence[Row], decoder: str, about: Circumstances) -> str:
    """Return the whole report."""
    return "\n".join([*_heading(rows, about), *_table(rows), "", "## The decoder alone", "", decoder.strip(), ""])


def _heading(rows: Sequence[Row], about: Circumstances) -> list[str]:
    """The machine, the versions and the command."""
    versions = {
        TITLES[client]: results[0].version
        for row in rows
        for client, results in row.results.items()
        if results and results[0].version != "-"
    }
    return [
        "# Benchmarks",
        "",
        f"- Command: `{about.command}`; {about.rounds} rounds, each client in turn, each in a fresh process",
        f"- Broker: Apache Kafka {about.kafka_version}, one node, on the same machine",
        f"- Machine: {os.cpu_count()} cores, {platform.machine()}, {platform.system()}",
        f"- Python {platform.python_version()}",
        f"- Clients: {', '.join(f'{name} {version}' for name, version in sorted(versions.items()))}",
        "",
        "Millions of records a second: the median of the rounds, with the lowest and the highest. The ratio is",
        "kafka-columnar's median divided by the client's. Peak is the largest resident memory of the process. Records",
        "are counted and summed up in each run, and what was written is read back.",
        "",
    ]


def _table(rows: Sequence[Row]) -> list[str]:
    lines = [
        "| task | records | client | million/s | lowest - highest | ratio | CPU s | peak MB |",
        "|---|---|---|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        for client, results in row.results.items():
            lines.append(f"| {row.task.title} | {row.topic.title} | {TITLES[client]} | {_cells(row, results)} |")
        for client, error in row.failures.items():
            lines.append(f"| {row.task.title} | {row.topic.title} | {TITLES[client]} | failed: {error} | | | | |")
    return lines


def _cells(row: Row, results: Sequence[Result]) -> str:
    if row.task.measure == "latency":
        trips = [statistics.median(result.latencies_ms) for result in results]
        return f"{statistics.median(trips):.3f} ms | {min(trips):.3f} - {max(trips):.3f} | | |"
    rates = [result.rate / 1e6 for result in results]
    ours = row.results.get(row.task.clients[0])
    ratio = f"{median_rate(ours) / median_rate(results):.2f}" if ours and results is not ours else ""
    cpu = statistics.median(result.cpu_seconds for result in results)
    peak = max(result.peak_mb for result in results)
    spread = f"{min(rates):.3f} - {max(rates):.3f}"
    return f"{statistics.median(rates):.3f} | {spread} | {ratio} | {cpu:.1f} | {peak:.0f}"


def median_rate(results: Sequence[Result]) -> float:
    """The median of the rounds, in records a second."""
    return statistics.median(result.rate for result in results)
