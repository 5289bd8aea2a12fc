"""When a partition's queue may be sent from: the order of batches, the limits on requests, lingering and back-off."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kafka.producer.batch.queues import PartitionQueue
from kafka.producer.idempotence import Idempotence
from kafka.producer.intake.record_buffer import RecordBuffer


@dataclass(frozen=True, slots=True)
class SenderOptions:
    """The slice of the options that governs sending. Times in seconds, sizes in bytes."""

    linger: float
    delivery_timeout: float
    max_in_flight: int
    max_request_size: int
    availability_timeout: float = 0.0


class Readiness:
    """Tells when a queue has something to send. On the loop.

    Arguments:
        buffer: the unsent records.
        idempotence: the producer's id, under which what is sent again may have to be numbered anew.
        options: limits and times.
    """

    def __init__(self, buffer: RecordBuffer, idempotence: Idempotence, options: SenderOptions) -> None:
        self._buffer = buffer
        self._idempotence = idempotence
        self._options = options

    def sendable_at(self, queue: PartitionQueue, now: float) -> float:
        """When the queue has something to send, as far as time decides; infinity: when something else has happened."""
        if queue.is_paused:
            return math.inf
        when = self._due(queue, now)
        return when if when == math.inf or self._idempotence.may_write(queue.topic_partition) else math.inf

    def _due(self, queue: PartitionQueue, now: float) -> float:
        """As `sendable_at`, whether the partition may be written to or not."""
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
