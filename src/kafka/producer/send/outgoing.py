"""Batches on their way out of a buffer's queues."""

from __future__ import annotations

from collections.abc import Callable

from kafka.producer.batch.producer_batch import ProducerBatch
from kafka.producer.batch.queues import PartitionQueue
from kafka.producer.intake.record_buffer import RecordBuffer
from kafka.record import BatchBuilder


class OutgoingBatches:
    """Takes batches out of the queues, to be sent or given up. On the loop; takes the buffer's lock.

    Arguments:
        buffer: the unsent records.
    """

    def __init__(self, buffer: RecordBuffer) -> None:
        self._buffer = buffer

    def next_batch(self, queue: PartitionQueue) -> ProducerBatch | None:
        """Take the first batch of a queue that has never been sent; the open one is closed."""
        with self._buffer.lock:
            if not queue.closed:
                queue.close_open()
            return queue.closed.popleft() if queue.closed else None

    def next_builder(self, queue: PartitionQueue) -> BatchBuilder | None:
        """What holds the records of the batch that a queue sends next, if it was never sent; it is closed."""
        with self._buffer.lock:
            if queue.retries:
                return None
            if not queue.closed:
                queue.close_open()
            return queue.closed[0].builder if queue.closed else None

    def next_size(self, queue: PartitionQueue) -> int:
        """Bytes, about, of the batch that a queue sends next."""
        with self._buffer.lock:
            waiting = queue.waiting()
            if not waiting:
                return 0
            batch = waiting[0]
            return len(batch.data) if batch.data is not None else batch.builder.size_in_bytes if batch.builder else 0

    def oldest(self, after: float) -> float | None:
        """When the first of the incomplete batches was created, among those created after a time."""
        with self._buffer.lock:
            return min(
                (batch.created for batch in list(self._buffer.incomplete) if batch.created > after), default=None
            )

    def take_expired(self, queue: PartitionQueue, before: float) -> list[ProducerBatch]:
        """Take the batches out of a queue that were created by a time and are not in the network."""
        return self._take(queue, lambda batch: batch.created <= before)

    def take_purged(self, queue: PartitionQueue, in_queue: bool, in_flight: bool) -> list[ProducerBatch]:
        """Take the batches out of a queue that are not in the network.

        Arguments:
            in_queue: whether to take those that were never sent.
            in_flight: whether to take those that wait to be sent again.
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
                ]:  # one by one: a finalizer may send in between
                    queue.closed.remove(batch)
                if queue.open in gone:
                    queue.open = None
            return taken
