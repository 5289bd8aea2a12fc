"""Where the functions of the user run that a client calls by itself, such as callbacks and metrics reporters.

That is a thread of the client's own, or the loop of an asyncio program.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol


class CallbackRunner(Protocol):
    """Runs them, in order; `WorkerThread` of `kafka.net` is one for programs without a loop."""

    def submit(self, function: Callable[[], object], /) -> object:
        """Run a function after all that were given before; returns at once."""

    @property
    def is_idle(self) -> bool:
        """Whether all functions that were given have run."""

    async def idle(self) -> None:
        """Wait until all functions that were given before have run."""

    def finish(self) -> None:
        """There will be nothing more to run."""


class LoopCallbacks:
    """Runs callbacks on the caller's loop, as asyncio's own futures do.

    Arguments:
        loop: the loop.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._left = 0

    def submit(self, function: Callable[[], object], /) -> None:
        """Run a function in the loop's next turn."""
        self._left += 1
        self._loop.call_soon(self._run, function)

    def _run(self, function: Callable[[], object]) -> None:
        self._left -= 1
        function()

    @property
    def is_idle(self) -> bool:
        """Whether all functions that were given have run."""
        return not self._left

    async def idle(self) -> None:
        """Let everything run whose turn comes before the caller's."""
        reached = self._loop.create_future()
        self._loop.call_soon(_arrive, reached)
        await reached

    def finish(self) -> None:
        """Nothing to end."""


def _arrive(reached: asyncio.Future[None]) -> None:
    if not reached.done():
        reached.set_result(None)
