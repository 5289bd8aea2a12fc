"""What Spark's processes use: the JVM and the Python workers are descendants of the process that runs a job."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")


def descendants(root: int) -> Iterator[int]:
    """The processes below one, itself included."""
    yield root
    for task in Path(f"/proc/{root}/task").glob("*/children"):
        try:
            children = task.read_text().split()
        except OSError:  # a thread that ended meanwhile
            continue
        for child in children:
            yield from descendants(int(child))


def cpu_seconds(root: int) -> dict[str, float]:
    """Processor seconds of each program below a process: of those that run, and of children they have waited for."""
    used: dict[str, float] = {}
    for process in descendants(root):
        try:
            name, _, fields = Path(f"/proc/{process}/stat").read_text().partition("(")[2].rpartition(")")
        except OSError:  # it ended meanwhile
            continue
        ticks = sum(map(int, fields.split()[11:15]))
        used[name] = used.get(name, 0.0) + ticks / TICKS_A_SECOND
    return used


def peak_mb(root: int) -> float:
    """The largest resident memory of each process below one, added up."""
    total = 0.0
    for process in descendants(root):
        try:
            lines = Path(f"/proc/{process}/status").read_text().splitlines()
        except OSError:  # it ended meanwhile
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024
    return total
