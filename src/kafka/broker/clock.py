"""The broker's only source of time: monotonic time, timers, and the wall clock.

The caller may pass another clock to a broker, such as one that runs on virtual time.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Protocol


class Timer(Protocol):
    """A running timer."""

    def cancel(self) -> None:
        """Stop the timer."""


class Clock(Protocol):
    """Monotonic time and timers in seconds, and the wall clock in milliseconds. Used on the broker's loop only."""

    def time(self) -> float:
        """Return the monotonic time."""

    def wall_ms(self) -> int:
        """Return the wall clock time: milliseconds since the epoch, as in record timestamps."""

    def call_later(self, delay: float, callback: Callable[[], object], /) -> Timer:
        """Call `callback` after `delay` seconds."""


class LoopClock:
    """The time and timers of an event loop, and the machine's wall clock."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def time(self) -> float:
        """Return the loop's time."""
        return self._loop.time()

    def wall_ms(self) -> int:
        """Return the machine's wall clock time in milliseconds."""
        return time.time_ns() // 1_000_000

    def call_later(self, delay: float, callback: Callable[[], object], /) -> Timer:
        """Call `callback` on the loop after `delay` seconds."""
        return self._loop.call_later(delay, callback)
