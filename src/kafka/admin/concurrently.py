"""Requests to several brokers at the same time."""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

T = TypeVar("T")


async def all_of(operations: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """The results of operations that run at the same time, in their order.

    Raises the first error; then, and when the caller is cancelled, none of them runs on.
    """
    tasks = [asyncio.ensure_future(operation) for operation in operations]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        unfinished = [task for task in tasks if not task.done()]
        for task in unfinished:
            task.cancel()
        if unfinished:
            await asyncio.wait(unfinished)
