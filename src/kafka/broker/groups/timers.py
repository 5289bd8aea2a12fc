"""The clock and the timers that groups run on, as asyncio's event loop has them."""

from collections.abc import Callable
from typing import Protocol


class Timer(Protocol):
    """A timer that was started."""

    def cancel(self) -> None:
        """Let it never ring."""


class Timers(Protocol):
    """What the groups need of an event loop; seconds."""

    def time(self) -> float:
        """The monotonic time."""

    def call_later(self, delay: float, callback: Callable[[], object], /) -> Timer:
        """Have `callback` called in `delay` seconds."""
