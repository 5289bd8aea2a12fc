"""Tasks that run in a later `poll()`, as clients of 1.x had them."""

from __future__ import annotations

import heapq
import itertools
import time
from collections.abc import Callable
from typing import Any

from kafka.errors import Cancelled
from kafka.legacy.future import Future

_NEVER_S = 9999999999


class DelayedTaskQueue:
    """Callables with the time, in seconds since 1970, from which on each is ready. A task is there once at the most."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Callable[..., Any]]] = []
        self._entries: dict[Callable[..., Any], tuple[int, Future]] = {}
        self._numbers = itertools.count()

    def add(self, task: Callable[..., Any], at: float) -> Future:
        """Add a task, in the place of the same one; gives the future for what it returns."""
        if task in self._entries:
            self.remove(task)
        number, future = next(self._numbers), Future()
        self._entries[task] = number, future
        heapq.heappush(self._heap, (at, number, task))
        return future

    def remove(self, task: Callable[..., Any]) -> None:
        """Remove a task, whose future fails with `Cancelled`. `KeyError` if it is not there."""
        self._entries.pop(task)[1].failure(Cancelled())

    def next_at(self) -> float:
        """In how many seconds the next task is ready."""
        self._drop_removed()
        return max(self._heap[0][0] - time.time(), 0.0) if self._heap else _NEVER_S

    def pop_ready(self) -> list[tuple[Callable[..., Any], Future]]:
        """Take out the tasks that are ready, each with its future."""
        ready = []
        while self._heap and self.next_at() <= 0 and self._heap:
            task = heapq.heappop(self._heap)[2]
            ready.append((task, self._entries.pop(task)[1]))
        return ready

    def run_ready(self) -> None:
        """Run the tasks that are ready, and complete their futures."""
        for task, future in self.pop_ready():
            try:
                result = task()
            except Exception as error:
                future.failure(error)
            else:
                future.success(result)

    def _drop_removed(self) -> None:
        while self._heap and self._entries.get(self._heap[0][2], (None,))[0] != self._heap[0][1]:
            heapq.heappop(self._heap)
