"""Waiting in tests: for what happens, never for a time to go by."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

PATIENCE_S = 30.0
"""What has not happened after so long will not happen; a busy machine does everything sooner."""


async def until(condition: Callable[[], object]) -> None:
    """Let the loop run until a condition holds."""
    async with asyncio.timeout(PATIENCE_S):
        while not condition():
            await asyncio.sleep(0.001)


class SettableClock:
    """A loop's clock that a test can put forward.

    Arguments:
        now: the loop's own clock.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self.ahead_s = 0.0

    def __call__(self) -> float:
        return self._now() + self.ahead_s


def settable_clock() -> SettableClock:
    """Give the running loop a clock that can be put forward. Clients read the clock that they find at their start."""
    loop = asyncio.get_running_loop()
    if not isinstance(loop.time, SettableClock):
        loop.time = SettableClock(loop.time)  # type: ignore[method-assign]
    return loop.time  # type: ignore[return-value]


def let_pass(seconds: float) -> None:
    """Put the running loop's clock forward: what was due by then is due now. See `settable_clock`."""
    settable_clock().ahead_s += seconds
