"""Who waits for batches, and for how long: a coroutine, and whatever is to be told when the loop fails."""

from __future__ import annotations

import asyncio
import math
from typing import Any, Protocol

from kafka.errors import IllegalArgumentError


def seconds(given: Any) -> float | None:
    """A time to wait as a float, None for as long as it takes; raises `IllegalArgumentError` or `TypeError`."""
    if given is None:
        return None
    try:
        timeout = math.copysign(math.fabs(given), given)  # takes what float() takes, but no text
    except (TypeError, ValueError):
        raise TypeError(f"a timeout is a number of seconds, or None, not {given!r}") from None
    if math.isnan(timeout):
        raise IllegalArgumentError(f"a timeout is a number of seconds, or None, not {given!r}")
    return timeout


class EndsWithLoop(Protocol):
    """What waits for something on the loop."""

    def loop_failed(self) -> None:
        """Nothing runs there any more, and all batches have failed."""


class LoopWaiter:
    """A coroutine that waits for a batch, on any event loop.

    Arguments:
        loop: where it runs.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.arrived: asyncio.Future[None] = loop.create_future()

    def release(self) -> None:
        """Let it go on; from any thread."""
        if asyncio._get_running_loop() is self._loop:
            if not self.arrived.done():
                self.arrived.set_result(None)
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._arrive)

    def _arrive(self) -> None:
        if not self.arrived.done():
            self.arrived.set_result(None)
