"""What clients and brokers take from their event loop besides I/O and timers: random numbers, the wall clock, a start.

An event loop may bring its own (attributes `random`, a `random.Random`, and `wall_clock_ns`): the simulated one of
`kafka.testing` does, so that a seed repeats a run. Every other loop gets the process's.

Imports nothing of the package.
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
"""Apart from the functions of `random`: a program that seeds those wants its own numbers repeated, not our jitter."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_process_random.seed)


def loop_random(loop: asyncio.AbstractEventLoop | None = None) -> random.Random:
    """The source of random numbers of ``loop``; None: of the running one, or of the process where none runs."""
    found = getattr(loop or _running(), "random", None)
    return found if isinstance(found, random.Random) else _process_random


def wall_clock_ns(loop: asyncio.AbstractEventLoop | None = None) -> Callable[[], int]:
    """A function that gives nanoseconds since 1970: `time.time_ns`, or that of ``loop`` (None: of the running one)."""
    clock: Callable[[], int] = getattr(loop or _running(), "wall_clock_ns", time.time_ns)
    return clock


def new_uuid(loop: asyncio.AbstractEventLoop | None = None) -> uuid.UUID:
    """A random UUID (version 4)."""
    return uuid.UUID(int=loop_random(loop).getrandbits(128), version=4)


def run_on_new_loop(coroutine: Coroutine[Any, Any, T]) -> T:
    """`asyncio.run`; an interrupt before it has begun leaves no warning that the coroutine was never awaited."""
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
