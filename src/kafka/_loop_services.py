"""Services that an event loop may override: random numbers and the wall clock. Also runs coroutines on a new loop.

An event loop may have its own attributes `random` (a `random.Random`) and `wall_clock_ns`. The simulated loop of
`kafka.testing` has both, to make runs with the same seed repeatable. All other loops use those of the process.

This module imports nothing from the package.
"""

import asyncio
import inspect
import os
import random
import time
import uuid
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

_process_random = random.Random()
"""Separate from the global generator of `random`: a program that seeds it expects its own sequence to be unaffected."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_process_random.seed)


def loop_random(loop: asyncio.AbstractEventLoop | None = None) -> random.Random:
    """Return a loop's random number generator, or the process's if the loop has none. None means the running loop."""
    found = getattr(loop or _running(), "random", None)
    return found if isinstance(found, random.Random) else _process_random


def wall_clock_ns(loop: asyncio.AbstractEventLoop | None = None) -> Callable[[], int]:
    """Return a loop's clock function, which is like `time.time_ns`. None means the running loop."""
    clock: Callable[[], int] = getattr(loop or _running(), "wall_clock_ns", time.time_ns)
    return clock


def new_uuid(loop: asyncio.AbstractEventLoop | None = None) -> uuid.UUID:
    """Return a random UUID (version 4)."""
    return uuid.UUID(int=loop_random(loop).getrandbits(128), version=4)


def run_on_new_loop(coroutine: Coroutine[Any, Any, T]) -> T:
    """Call `asyncio.run`. If it is interrupted before the coroutine starts, close the coroutine to avoid a warning."""
    try:
        return asyncio.run(coroutine)
    finally:
        if inspect.getcoroutinestate(coroutine) == inspect.CORO_CREATED:
            coroutine.close()


def _running() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
