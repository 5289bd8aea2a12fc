"""Which system calls a trip makes, in all threads of the process, and how often a thread waits for another: by strace.

The measured program marks the ends of trips with a system call that it makes for no other purpose (`mark`).
"""

from __future__ import annotations

import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.trip.allocations import CannotCountError

MARK = "/bench-trip-mark"
WAITS = "futex waits"
"""Calls of futex that wait: for another thread, for instance for the interpreter's lock."""
_CALL = re.compile(r"^\d+ +(?P<name>\w+)\((?P<arguments>.*)")


def mark() -> None:
    """Mark the end of a trip in the list of system calls."""
    os.access(MARK, os.F_OK)


def count_system_calls(arguments: Sequence[str], environment: Mapping[str, str], warm_up: int) -> dict[str, float]:
    """Run a program that marks its trips, and return the medians over trips of its system calls, by name.

    Arguments:
        arguments: for the interpreter.
        environment: of the process.
        warm_up: how many trips do not count.

    Raises:
        CannotCountError: strace is not installed, or may not trace here.
        RuntimeError: the program failed.
    """
    strace = shutil.which("strace")
    if strace is None:
        raise CannotCountError("expected strace on the PATH, found none")
    if subprocess.run([strace, "-f", "-o", os.devnull, "true"], capture_output=True, check=False).returncode:
        raise CannotCountError("strace is not allowed to trace here (in a container: --cap-add=SYS_PTRACE)")
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "calls")
        command = [strace, "-f", "--signal=none", "-qq", "-o", str(output), sys.executable, *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{' '.join(arguments)} failed: {done.stderr.strip()[-300:]}")
        return medians(trips_of(output.read_text(errors="replace"))[warm_up:])


def trips_of(listing: str) -> list[Counter[str]]:
    """Return the calls of each trip in a list that strace has written; waits also count as `WAITS`."""
    trips = []
    trip: Counter[str] = Counter()
    for line in listing.splitlines():
        found = _CALL.match(line)
        if found is None:  # the second half of a call that was interrupted by one of another thread
            continue
        if MARK in found["arguments"]:
            trips.append(trip)
            trip = Counter()
            continue
        trip[found["name"]] += 1
        if found["name"] == "futex" and "FUTEX_WAIT" in found["arguments"]:
            trip[WAITS] += 1
    return trips


def medians(trips: Sequence[Counter[str]]) -> dict[str, float]:
    """Return the median of each call that a trip usually makes, the most frequent first; `all` is that of their sum."""
    names = set().union(*trips) - {WAITS}
    each = {name: statistics.median(trip[name] for trip in trips) for name in names}
    counts = {"all": statistics.median(trip.total() - trip[WAITS] for trip in trips)}
    counts |= {name: count for name, count in sorted(each.items(), key=lambda item: (-item[1], item[0])) if count}
    return counts | {WAITS: statistics.median(trip[WAITS] for trip in trips)}
