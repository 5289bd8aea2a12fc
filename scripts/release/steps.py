"""Shows how far `make release-check` is, and how long each part of it takes.

`Steps.step` begins a part and `Steps.say` prints a result. A line at the end of each part has its duration and the
processor time of the commands that it ran; `Steps.table` lists all of them.
"""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@dataclasses.dataclass(frozen=True)
class Took:
    """How long a part took.

    Arguments:
        title: what it did.
        seconds: by the clock.
        cpu_seconds: of the processors, for this process and the commands that it waited for.
    """

    title: str
    seconds: float
    cpu_seconds: float

    def __str__(self) -> str:
        return f"{self.seconds:.0f} s, {self.cpu_seconds:.0f} s of processor time"


class Steps:
    """The parts of a check.

    Arguments:
        total: the number of parts.
        out: prints a line.
        clock: returns seconds by the clock.
        cpu: returns the seconds of processor time used so far.
    """

    def __init__(
        self,
        total: int,
        out: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
        cpu: Callable[[], float] = lambda: sum(os.times()[:4]),
    ) -> None:
        self._total = total
        self._out = out
        self._clock = clock
        self._cpu = cpu
        self.took: list[Took] = []
        self.current = ""
        """The title of the part that runs, or that failed."""

    @contextmanager
    def step(self, title: str) -> Iterator[None]:
        """Run a part; if it fails, `current` remains its title."""
        self.current = title
        self._out(f"[{len(self.took) + 1}/{self._total}] {title}")
        begin, cpu = self._clock(), self._cpu()
        yield
        self.took.append(Took(title, self._clock() - begin, self._cpu() - cpu))
        self._out(f"    ({self.took[-1]})")
        self.current = ""

    def say(self, text: str) -> None:
        """Print a result of the part that runs."""
        self._out(f"    {text}")

    def table(self) -> str:
        """Return the durations of all parts, the longest first, and their sums."""
        lines = [f"{took.seconds:7.0f} s {took.cpu_seconds:7.0f} s  {took.title}" for took in self.sorted()]
        seconds, cpu = sum(took.seconds for took in self.took), sum(took.cpu_seconds for took in self.took)
        return "\n".join(["  clock    processors", *lines, f"{seconds:7.0f} s {cpu:7.0f} s  in total"])

    def sorted(self) -> list[Took]:
        """Return the durations of the parts, the longest first."""
        return sorted(self.took, key=lambda took: -took.seconds)
