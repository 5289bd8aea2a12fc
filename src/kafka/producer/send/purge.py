"""Dropping records that are not acknowledged, because the program no longer wants them sent."""

from __future__ import annotations

from kafka.errors import RecordPurgedError
from kafka.producer.batch.producer_batch import ProducerBatch
from kafka.producer.batch.queues import PartitionQueue
from kafka.producer.intake.record_buffer import RecordBuffer
from kafka.producer.send.batch_outcomes import Outcomes
from kafka.producer.send.outgoing import OutgoingBatches


def purge(buffer: RecordBuffer, outcomes: Outcomes, in_queue: bool, in_flight: bool) -> int:
    """Fail batches that are not acknowledged; returns the number of their records. On the loop.

    Arguments:
        buffer: has the batches.
        outcomes: are told of them.
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


def _drop(queue: PartitionQueue, batch: ProducerBatch, outcomes: Outcomes) -> None:
    """Fail a batch. What comes after one that has sequence numbers needs a new epoch, as these may never be written."""
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
