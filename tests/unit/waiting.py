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


def let_pass(seconds: float) -> None:
    """Put the running loop's clock forward: what was due by then is due now."""
    loop = asyncio.get_running_loop()
    now = loop.time
    loop.time = lambda: now() + seconds  # type: ignore[method-assign]
