"""Takes batches out of their queues, to send them or to fail them.

`RequestCollector` builds the next request to a broker, `BatchCompressor` compresses batches in advance, `Expiry` fails
batches that exceed `delivery_timeout_ms`, and `purge` drops batches at the program's request.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Coroutine, Iterable
from typing import Any

from kafka.errors import KafkaError, RecordPurgedError
from kafka.net.helper_threads import run_blocking
from kafka.producer.appending.record_buffer import RecordBuffer
from kafka.producer.batch.producer_batch import ProducerBatch
from kafka.producer.batch.queues import PartitionQueue
from kafka.producer.idempotence import Idempotence
from kafka.producer.send.batch_results import BatchResults, too_late
from kafka.producer.send.produce_requests import ProduceRequests
from kafka.producer.send.schedule import BrokerQueue, Readiness, Schedule
from kafka.record import BatchBuilder
from kafka.record.codecs import CODECS

log = logging.getLogger(__name__)
Request = list[tuple[PartitionQueue, ProducerBatch]]
Elsewhere = Callable[[Callable[[], None]], Coroutine[Any, Any, None]]


class OutgoingBatches:
    """Takes batches out of the queues, to be sent or failed. Runs on the loop, and acquires the buffer's lock.

    Arguments:
        buffer: the unsent records.
    """

    def __init__(self, buffer: RecordBuffer) -> None:
        self._buffer = buffer

    def next_batch(self, queue: PartitionQueue) -> ProducerBatch | None:
        """Take the first batch of a queue that has never been sent, closing it if it is open."""
        with self._buffer.lock:
            if not queue.closed:
                queue.close_open()
            return queue.closed.popleft() if queue.closed else None

    def next_builder(self, queue: PartitionQueue) -> BatchBuilder | None:
        """Close the batch that a queue sends next, and return its builder; None if the batch was sent before."""
        with self._buffer.lock:
            if queue.retries:
                return None
            if not queue.closed:
                queue.close_open()
            return queue.closed[0].builder if queue.closed else None

    def next_size(self, queue: PartitionQueue) -> int:
        """Return the approximate size in bytes of the batch that a queue sends next."""
        with self._buffer.lock:
            waiting = queue.waiting()
            if not waiting:
                return 0
            batch = waiting[0]
            return len(batch.data) if batch.data is not None else batch.builder.size_in_bytes if batch.builder else 0

    def oldest(self, after: float) -> float | None:
        """Return the time when the oldest incomplete batch was created, ignoring batches created up to `after`."""
        with self._buffer.lock:
            return min(
                (batch.created for batch in list(self._buffer.incomplete) if batch.created > after), default=None
            )

    def take_expired(self, queue: PartitionQueue, before: float) -> list[ProducerBatch]:
        """Remove and return a queue's batches that were created up to `before` and are not in flight."""
        return self._take(queue, lambda batch: batch.created <= before)

    def take_purged(self, queue: PartitionQueue, in_queue: bool, in_flight: bool) -> list[ProducerBatch]:
        """Remove and return a queue's batches that are not in flight.

        Arguments:
            in_queue: whether to take batches that were never sent.
            in_flight: whether to take batches that are waiting to be sent again.
        """
        return self._take(queue, lambda batch: in_flight if batch.order else in_queue)

    def _take(self, queue: PartitionQueue, wanted: Callable[[ProducerBatch], bool]) -> list[ProducerBatch]:
        with self._buffer.lock:
            taken = [batch for batch in queue.waiting() if wanted(batch)]
            if taken:
                gone = set(taken)
                queue.retries = [batch for batch in queue.retries if batch not in gone]
                for batch in [
                    each for each in list(queue.closed) if each in gone
                ]:  # one by one, because a finalizer may send records in between
                    queue.closed.remove(batch)
                if queue.open in gone:
                    queue.open = None
            return taken


class RequestCollector:
    """Takes batches out of the queues, numbers and encodes them. Runs on the loop.

    Arguments:
        outgoing: provides the batches.
        idempotence: numbers batches that are sent for the first time.
        outcomes: receives the batches that cannot be encoded.
        produce: encodes batches.
        readiness: determines whether a queue may be sent from.
        max_request_size: maximum total size of a request's batches in bytes; a single batch may exceed it.
        consider: checks a queue again after its batches have changed.
    """

    def __init__(
        self,
        outgoing: OutgoingBatches,
        idempotence: Idempotence,
        outcomes: BatchResults,
        produce: ProduceRequests,
        readiness: Readiness,
        max_request_size: int,
        consider: Callable[[PartitionQueue, float], None],
    ) -> None:
        self._outgoing = outgoing
        self._idempotence = idempotence
        self._outcomes = outcomes
        self._produce = produce
        self._readiness = readiness
        self._max_request_size = max_request_size
        self._consider = consider

    def collect(self, broker: BrokerQueue, now: float) -> Request:
        """Take the batches of one request out of the ready queues, at most one per partition (KIP-98)."""
        request: Request = []
        size = 0
        magic = broker.magic
        for queue in list(broker.ready):
            if request and size + self._outgoing.next_size(queue) > self._max_request_size:
                break
            del broker.ready[queue]
            batch = self._take(queue, now)
            if batch is None:
                self._consider(queue, now)
                continue
            try:
                size += self._produce.encode(batch, magic)
            except KafkaError as error:
                self._outcomes.fail(queue, batch, error)
                self._consider(queue, now)
                continue
            except Exception as error:
                log.exception("encoding %d record(s) for %s", batch.count, batch.name)
                self._outcomes.fail(queue, batch, KafkaError(f"the batch could not be encoded: {error!r}"))
                self._consider(queue, now)
                continue
            queue.in_network[batch] = None
            batch.sent_to = broker.node_id
            request.append((queue, batch))
            if queue.open is not None or queue.closed or queue.retries:
                self._consider(queue, now)
        return request

    def _take(self, queue: PartitionQueue, now: float) -> ProducerBatch | None:
        """Return the next batch of a queue, or None if a response has left the queue with nothing to send."""
        if self._readiness.sendable_at(queue, now) > now:
            return None
        if queue.retries:
            return queue.retries.pop(0)
        batch = self._outgoing.next_batch(queue)
        if batch is not None:
            self._idempotence.number(queue, batch)
        return batch


class BatchCompressor:
    """Compresses the batches that queues send next. Runs on the loop.

    Arguments:
        buffer: the unsent records.
        elsewhere: runs a function without blocking the loop; None uses a thread.
    """

    def __init__(self, buffer: RecordBuffer, elsewhere: Elsewhere | None = None) -> None:
        self._outgoing = OutgoingBatches(buffer)
        self._elsewhere: Elsewhere = elsewhere or run_blocking
        codec = CODECS.get(buffer.options.compression)
        self._least = None if codec is None else codec.slow_from
        self.is_slow = self._least is not None
        """Whether compressing batches can take a long time."""

    def long_work(self, queues: Iterable[PartitionQueue]) -> list[BatchBuilder]:
        """Close and return the next uncompressed batches of these queues if it takes a long time to compress them."""
        if self._least is None:
            return []
        heads = [self._outgoing.next_builder(queue) for queue in queues]
        builders = [builder for builder in heads if builder is not None and builder.can_compress]
        return builders if sum(builder.size_in_bytes for builder in builders) >= self._least else []

    async def compress(self, builders: list[BatchBuilder]) -> None:
        """Compress batches in another thread. Errors are raised again when the batch is encoded."""

        def work() -> None:
            for builder in builders:
                builder.compress()

        try:
            await self._elsewhere(work)
        except RuntimeError:  # no thread can be started, for example because the interpreter is exiting
            work()


_CLOCK_STEP = 0.001
"""Maximum number of seconds by which the loop's timers may fire early."""


class Expiry:
    """Fails expired batches. Runs on the loop.

    Arguments:
        buffer: the unsent records.
        outcomes: receives the failures.
        schedule: wakes the sender when the next batch expires.
        timeout: `delivery_timeout_ms` in seconds.
        obstacle: returns the error that prevents the batches of a queue from being sent.

    Attributes:
        due_at: until this time, `fail_expired` has nothing to do; minus infinity if there was no batch at its last
            call.
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
        self.due_at = -math.inf

    def fail_expired(self, now: float) -> None:
        """Fail batches that have waited longer than the delivery timeout, except those in flight."""
        if now < self.due_at:
            return
        timeout = self._timeout
        before = -math.inf
        if self.due_at > -math.inf:
            before = now - timeout + _CLOCK_STEP
            for queue in list(self._buffer.queues()):
                for batch in self._outgoing.take_expired(queue, before):
                    self._outcomes.fail(queue, batch, too_late(batch, timeout, self._why_not_sent(queue)))
        oldest = self._outgoing.oldest(before)
        self.due_at = -math.inf if oldest is None else oldest + timeout
        if oldest is not None:
            self._schedule.add(self.due_at, None)


def purge(buffer: RecordBuffer, outcomes: BatchResults, in_queue: bool, in_flight: bool) -> int:
    """Fail unacknowledged batches; return the number of their records. Runs on the loop.

    Arguments:
        buffer: contains the batches.
        outcomes: receives the failures.
        in_queue: whether to drop batches that were never sent.
        in_flight: whether to drop batches that were sent and are waiting for a response or a retry.
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
            queue.in_network[batch] = None  # kept until its response arrives, so that no new epoch begins earlier
        buffer.mark(queue)
    buffer.wake()
    return purged


def _drop(queue: PartitionQueue, batch: ProducerBatch, outcomes: BatchResults) -> None:
    """Fail a batch. If it had sequence numbers, later batches need a new epoch, because it may never be written."""
    was_sent = bool(batch.order)
    if batch.base_sequence >= 0 and outcomes.transactions is None:
        queue.renumber = True
    batch.look()  # requested by the program, so flush() does not raise it and nothing is logged
    outcomes.fail(
        queue,
        batch,
        RecordPurgedError(
            "dropped by purge(); it was sent, and may have been written"
            if was_sent
            else "dropped by purge() before it was sent"
        ),
    )
