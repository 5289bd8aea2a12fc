"""Who waits for batches: a coroutine, and whatever is to be told when the loop fails."""

from __future__ import annotations

import asyncio
from typing import Protocol


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
