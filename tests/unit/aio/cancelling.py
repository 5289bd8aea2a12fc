"""Cancels a call at its n-th `await`, for every n."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class _CancelledAt(Generic[T]):
    """Wraps an awaitable, and cancels its task at the n-th wait."""

    def __init__(self, awaitable: Awaitable[T], at: int) -> None:
        self._awaitable = awaitable
        self._at = at

    def __await__(self) -> Generator[Any, Any, T]:
        inner = self._awaitable.__await__()
        step, thrown = 0, None
        while True:
            try:
                waited = inner.send(None) if thrown is None else inner.throw(thrown)
            except StopIteration as end:
                result: T = end.value
                return result
            step, thrown = step + 1, None
            if step == self._at:
                task = asyncio.current_task()
                assert task is not None
                task.cancel()
            try:
                yield waited
            except BaseException as error:
                thrown = error


async def outcome_at(call: Callable[[], Awaitable[T]], at: int) -> tuple[bool, T | None]:
    """Make a call in a task that is cancelled at its n-th wait; return whether it has returned, and its result."""

    async def run() -> T:
        return await _CancelledAt(call(), at)

    task = asyncio.get_running_loop().create_task(run())
    await asyncio.wait({task})
    return (False, None) if task.cancelled() else (True, task.result())


async def each_wait(call: Callable[[], Awaitable[T]], last: int = 200) -> AsyncIterator[tuple[bool, T | None]]:
    """Repeat a call, cancelling it one wait later each time, until it returns before it is cancelled."""
    for at in range(1, last):
        done, result = await outcome_at(call, at)
        yield done, result
        if done:
            return
    raise AssertionError(f"the call still waits after {last} steps")


async def outcome_after(call: Callable[[], Awaitable[T]], passes: int) -> tuple[bool, T | None]:
    """Like `outcome_at`, but cancel the task after a number of passes of the loop."""

    async def run() -> T:
        return await call()

    task = asyncio.get_running_loop().create_task(run())
    for _ in range(passes):
        if task.done():
            break
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait({task})
    return (False, None) if task.cancelled() else (True, task.result())


async def each_moment(call: Callable[[], Awaitable[T]]) -> AsyncIterator[tuple[bool, T | None]]:
    """Repeat a call, cancelling it at each wait, and then after each pass of the loop.

    The second round finds the tasks that the call has started at other steps.
    """
    async for done, result in each_wait(call):
        yield done, result
    passes, done = 0, False
    while not done:
        done, result = await outcome_after(call, passes)
        yield done, result
        passes += 1 + passes // 8


async def nothing_runs() -> None:
    """Wait until this is the only task; fail if others remain."""
    me = asyncio.current_task()
    async with asyncio.timeout(20):
        while others := asyncio.all_tasks() - {me}:
            await asyncio.wait(others)
