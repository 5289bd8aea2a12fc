"""Batches that are given up before they are acknowledged: they exceeded `delivery_timeout_ms`, or were purged."""

from __future__ import annotations

import math
from collections.abc import Callable

from kafka.errors import RecordPurgedError
from kafka.producer.appending.record_buffer import RecordBuffer
from kafka.producer.batch.producer_batch import ProducerBatch
from kafka.producer.batch.queues import PartitionQueue
from kafka.producer.send.batch_results import BatchResults, too_late
from kafka.producer.send.next_request import OutgoingBatches
from kafka.producer.send.schedule import Schedule

_CLOCK_STEP = 0.001
"""How many seconds early the loop's timers may fire."""


class Expiry:
    """Fails expired batches. On the loop.

    Arguments:
        buffer: the unsent records.
        outcomes: receives the failures.
        schedule: has the sender look again when the next batch is due.
        timeout: `delivery_timeout_ms` in seconds.
        obstacle: what keeps the batches of a queue from being sent.
    """

    def __init__(
        self,
        buffer: RecordBuffer,
        outcomes: BatchResults,
        schedule: Schedule,
        timeout: float,
        obstacle: Callable[[PartitionQueue], Exception | None],
    ) -> None:
        self._buffer = buffer
        self._outgoing = OutgoingBatches(buffer)
        self._outcomes = outcomes
        self._schedule = schedule
        self._timeout = timeout
        self._why_not_sent = obstacle
        self._due_at = math.inf

    def fail_expired(self, now: float) -> None:
        """Fail batches that have waited longer than the delivery timeout, except those in flight."""
        timeout = self._timeout
        before = -math.inf
        if now >= self._due_at:
            before = now - timeout + _CLOCK_STEP
            for queue in list(self._buffer.queues()):
                for batch in self._outgoing.take_expired(queue, before):
                    self._outcomes.fail(queue, batch, too_late(batch, timeout, self._why_not_sent(queue)))
        elif self._due_at < math.inf:
            return
        oldest = self._outgoing.oldest(before)
        self._due_at = math.inf if oldest is None else oldest + timeout
        if oldest is not None:
            self._schedule.add(self._due_at, None)


def purge(buffer: RecordBuffer, outcomes: BatchResults, in_queue: bool, in_flight: bool) -> int:
    """Fail unacknowledged batches; returns the number of their records. On the loop.

    Arguments:
        buffer: has the batches.
        outcomes: receives the failures.
        in_queue: whether to drop those that were never sent.
        in_flight: whether to drop those that were sent, and that wait for an answer or to be sent again.
    """
    outgoing = OutgoingBatches(buffer)
    purged = 0
    for queue in list(buffer.queues()):
        waiting = outgoing.take_purged(queue, in_queue, in_flight)
        on_their_way = [batch for batch in queue.in_network if not batch.done] if in_flight else []
        for batch in (*on_their_way, *waiting):
            purged += batch.count
            _drop(queue, batch, outcomes)
        for batch in on_their_way:
            queue.in_network[batch] = None  # until its answer comes: no new epoch begins before that
        buffer.mark(queue)
    buffer.wake()
    return purged


def _drop(queue: PartitionQueue, batch: ProducerBatch, outcomes: BatchResults) -> None:
    """Fail a batch. If it had sequence numbers, later batches need a new epoch, because these may never be written."""
    was_sent = bool(batch.order)
    if batch.base_sequence >= 0 and outcomes.transactions is None:
        queue.renumber = True
    batch.look()  # the caller of purge() knows: flush() does not raise it, and nothing is logged
    outcomes.fail(
        queue,
        batch,
        RecordPurgedError(
            "dropped by purge(); it was sent, and may have been written"
            if was_sent
            else "dropped by purge() before it was sent"
        ),
    )
