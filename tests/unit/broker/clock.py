"""Virtual time: timers fire when a test advances the clock."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from itertools import count


class VirtualTimer:
    """A timer of `VirtualClock`."""

    def __init__(self, callback: Callable[[], object]) -> None:
        self.callback: Callable[[], object] | None = callback

    def cancel(self) -> None:
        self.callback = None


class VirtualClock:
    """A `kafka.broker.clock.Clock` whose time, in seconds, moves only with `advance`."""

    def __init__(self) -> None:
        self._now = 0.0
        self._timers: list[tuple[float, int, VirtualTimer]] = []
        self._order = count()

    def time(self) -> float:
        return self._now

    def wall_ms(self) -> int:
        return 1_700_000_000_000 + round(self._now * 1000)

    def call_later(self, delay: float, callback: Callable[[], object], /) -> VirtualTimer:
        timer = VirtualTimer(callback)
        heapq.heappush(self._timers, (self._now + delay, next(self._order), timer))
        return timer

    def advance(self, seconds: float) -> None:
        """Advance the time, firing all timers that expire meanwhile, in order."""
        end = self._now + seconds
        while self._timers and self._timers[0][0] <= end:
            self._now, _, timer = heapq.heappop(self._timers)
            if timer.callback is not None:
                timer.callback()
        self._now = end
