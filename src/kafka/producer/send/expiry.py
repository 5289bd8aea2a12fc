"""Records that have waited for longer than `delivery_timeout_ms`."""

from __future__ import annotations

import math
from collections.abc import Callable

from kafka.producer.batch.queues import PartitionQueue
from kafka.producer.intake.record_buffer import RecordBuffer
from kafka.producer.send.batch_outcomes import Outcomes, too_late
from kafka.producer.send.outgoing import OutgoingBatches
from kafka.producer.send.schedule import Schedule

_CLOCK_STEP = 0.001
"""Seconds by which the loop's timers may be early."""


class Expiry:
    """Fails batches whose time is up. On the loop.

    Arguments:
        buffer: the unsent records.
        outcomes: are told of what has failed.
        schedule: has the sender look again when the next batch is due.
        timeout: `delivery_timeout_ms` in seconds.
        obstacle: what keeps the batches of a queue from being sent.
    """

    def __init__(
        self,
        buffer: RecordBuffer,
        outcomes: Outcomes,
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
        """Fail what has waited for longer than the delivery timeout; what is in the network is waited for."""
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
