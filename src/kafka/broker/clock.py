"""The broker's only source of time: the monotonic time and timers, and the wall clock.

Whoever runs a broker may hand in another one, with a virtual time for instance; nothing in the broker asks elsewhere.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Protocol


class Timer(Protocol):
    """A timer that was started."""

    def cancel(self) -> None:
        """Let it never ring."""


class Clock(Protocol):
    """Time and timers; seconds, but for the wall clock's milliseconds. Used on the broker's loop only."""

    def time(self) -> float:
        """The monotonic time."""

    def wall_ms(self) -> int:
        """The wall clock: milliseconds since the epoch, as records carry them."""

    def call_later(self, delay: float, callback: Callable[[], object], /) -> Timer:
        """Have `callback` called in `delay` seconds."""


class LoopClock:
    """The time and the timers of an event loop, and the machine's wall clock."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def time(self) -> float:
        """The loop's time."""
        return self._loop.time()

    def wall_ms(self) -> int:
        """The machine's wall clock."""
        return time.time_ns() // 1_000_000

    def call_later(self, delay: float, callback: Callable[[], object], /) -> Timer:
        """Have `callback` called by the loop in `delay` seconds."""
        return self._loop.call_later(delay, callback)
