"""A coroutine that waits for a batch."""

from __future__ import annotations

import asyncio


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
