"""What the figures depend on: the machine, the versions, the command and the day."""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.figures import Row
from bench.roster import CLIENTS
from harness.java import java_command


@dataclass(frozen=True)
class Circumstances:
    """What the figures of a run depend on; `versions` has the version of each client that took part."""

    date: str
    command: str
    rounds: str
    machine: str
    python: str
    java: str
    kafka: str
    versions: Mapping[str, str]
    minutes: float

    def lines(self) -> list[str]:
        """A Markdown list."""
        clients = ", ".join(f"{name} {version}" for name, version in sorted(self.versions.items()))
        return [
            f"- `{self.command}` on {self.date}: {self.rounds} rounds in {self.minutes:.0f} minutes",
            f"- {self.machine}",
            f"- Apache Kafka {self.kafka}, one node with `-Xmx1g`, on the same machine; Java {self.java}",
            f"- Python {self.python}",
            f"- {clients}",
        ]


def circumstances(rows: Sequence[Row], command: str, kafka: str, seconds: float) -> Circumstances:
    """Find out what is around."""
    versions = {
        CLIENTS[client].title: results[0].version
        for row in rows
        for client, results in row.results.items()
        if results[0].version != "-"
    }
    counts = sorted({len(results) for row in rows for results in row.results.values()})
    rounds = " to ".join(str(count) for count in dict.fromkeys((counts[0], counts[-1]))) if counts else "0"
    date = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    python = platform.python_version()
    return Circumstances(date, command, rounds, _machine(), python, _java(), kafka, versions, seconds / 60)


def _machine() -> str:
    """Processor, cores, memory and system."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    return (
        f"{_processor()}, {os.cpu_count()} cores, {memory:.0f} GiB of memory, {platform.system()} {platform.release()}"
    )


def _processor() -> str:
    """The processor's name on Linux, or its architecture."""
    told = Path("/proc/cpuinfo")
    for line in told.read_text().splitlines() if told.exists() else ():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _java() -> str:
    """The version of Java."""
    said = subprocess.run([java_command(), "-version"], capture_output=True, text=True, check=False)
    return (said.stderr + said.stdout).split('"')[1]
