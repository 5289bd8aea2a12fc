"""One timer for all the deadlines of a connection, so that requests need no timers of their own."""

import asyncio
from collections.abc import Callable


class CheckTimer:
    """Calls ``check`` at the earliest of the times asked for, and then forgets them all.

    Arguments:
        check: asks again for the times that still matter.
    """

    __slots__ = ("_at", "_check", "_loop", "_timer")

    def __init__(self, loop: asyncio.AbstractEventLoop, check: Callable[[], None]) -> None:
        self._loop = loop
        self._check = check
        self._timer: asyncio.TimerHandle | None = None
        self._at = 0.0

    def at(self, when: float) -> None:
        """Check at this time of the loop, in seconds, at the latest."""
        if self._timer is not None:
            if self._at <= when:
                return
            self._timer.cancel()
        self._at = when
        self._timer = self._loop.call_at(when, self._fire)

    def cancel(self) -> None:
        """Check no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _fire(self) -> None:
        self._timer = None
        self._check()
