"""The times at which queues have to be looked at again."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import math
from collections.abc import Callable

from kafka.producer.batch.queues import PartitionQueue


class Schedule:
    """Queues by the time at which something is due, and one timer of the loop for the first of them.

    Arguments:
        loop: gives the time and the timer.
        due: called when the first time has come.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, due: Callable[[], None]) -> None:
        self._loop = loop
        self._due = due
        self._heap: list[tuple[float, int, PartitionQueue | None]] = []
        self._serial = itertools.count()
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = 0.0
        self._all_due_at = math.inf

    def add(self, when: float, queue: PartitionQueue | None) -> None:
        """Look at a queue (None: at everything) at a time of the loop, or before if that is planned already."""
        if queue is None:
            if self._all_due_at <= when:
                return
            self._all_due_at = when
        else:
            if queue.due_at <= when:
                return
            queue.due_at = when
        heapq.heappush(self._heap, (when, next(self._serial), queue))

    def take(self, now: float) -> list[PartitionQueue]:
        """The queues whose time has come."""
        taken: list[PartitionQueue] = []
        while self._heap and self._heap[0][0] <= now:
            when, _, queue = heapq.heappop(self._heap)
            if queue is None:
                if when == self._all_due_at:
                    self._all_due_at = math.inf
                continue
            if when == queue.due_at:
                queue.due_at = math.inf
            taken.append(queue)
        return taken

    def set_timer(self) -> None:
        """See to it that `due` is called when the first time comes."""
        if not self._heap:
            return
        first = self._heap[0][0]
        if self._timer is not None:
            if self._timer_at <= first:
                return
            self._timer.cancel()
        self._timer_at = first
        self._timer = self._loop.call_at(first, self._ring)

    def stop(self) -> None:
        """Call nothing any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._heap.clear()

    def _ring(self) -> None:
        self._timer = None
        self._due()
