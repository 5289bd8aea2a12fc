"""When queues are sent from: `Readiness` tells when a queue may be sent from, `Schedule` wakes the sender then."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

from kafka.config import ConnectionOptions, ProducerOptions
from kafka.producer.appending.record_buffer import RecordBuffer
from kafka.producer.batch.queues import PartitionQueue
from kafka.producer.idempotence import Idempotence


@dataclass(frozen=True, slots=True)
class SenderOptions:
    """The options for sending. Times are in seconds, sizes in bytes."""

    linger: float
    delivery_timeout: float
    max_in_flight: int
    max_request_size: int
    availability_timeout: float = 0.0


def sender_options(connection: ConnectionOptions, options: ProducerOptions) -> SenderOptions:
    """Return the options for sending, in the sender's units."""
    return SenderOptions(
        linger=options.linger_ms / 1000,
        delivery_timeout=options.delivery_timeout_ms / 1000,
        max_in_flight=connection.max_in_flight_requests_per_connection,
        max_request_size=options.max_request_size,
        availability_timeout=options.partitioner_availability_timeout_ms / 1000,
    )


class Readiness:
    """Determines when a queue may be sent from. On the loop.

    Arguments:
        buffer: the unsent records.
        idempotence: the producer's id; batches that are sent again may need new sequence numbers under it.
        options: limits and times.
    """

    def __init__(self, buffer: RecordBuffer, idempotence: Idempotence, options: SenderOptions) -> None:
        self._buffer = buffer
        self._idempotence = idempotence
        self._options = options

    def sendable_at(self, queue: PartitionQueue, now: float) -> float:
        """Return when the queue may be sent from; infinity if that depends on another event."""
        if queue.is_paused:
            return math.inf
        when = self._due(queue, now)
        return when if when == math.inf or self._idempotence.may_write(queue.topic_partition) else math.inf

    def _due(self, queue: PartitionQueue, now: float) -> float:
        """As `sendable_at`, without checking whether the partition may be written to."""
        if queue.renumber and (queue.in_network or not self._idempotence.renumber(queue)):
            return math.inf
        if len(queue.in_network) >= (self._options.max_in_flight if queue.proven else 1):
            return math.inf
        if queue.retries:
            return max(now, queue.backoff_until) if queue.may_retry() else math.inf
        if queue.window_is_full():
            return math.inf
        if queue.closed:
            return max(now, queue.backoff_until)
        batch = queue.open  # another thread may put a new one in its place meanwhile
        if batch is None:
            return math.inf
        lingers = 0.0 if self._buffer.memory_is_short else self._options.linger
        return max(batch.created + lingers, queue.backoff_until)


class Schedule:
    """The times at which queues must be checked, with one timer of the loop for the earliest.

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
        """Schedule a check of a queue (None: of all) at a time of the loop, unless an earlier one is scheduled."""
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
        """Remove and return the queues that are due."""
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
        """Set the timer that calls `due` at the earliest time."""
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
        """Cancel the timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._heap.clear()

    def _ring(self) -> None:
        self._timer = None
        self._due()
