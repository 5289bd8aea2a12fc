"""What goes into the next request to a broker."""

from __future__ import annotations

import logging
from collections.abc import Callable

from kafka.errors import KafkaError
from kafka.producer.batch.producer_batch import ProducerBatch
from kafka.producer.batch.queues import PartitionQueue
from kafka.producer.idempotence import Idempotence
from kafka.producer.send.batch_outcomes import Outcomes
from kafka.producer.send.broker_queue import BrokerQueue
from kafka.producer.send.outgoing import OutgoingBatches
from kafka.producer.send.produce_requests import ProduceRequests
from kafka.producer.send.readiness import Readiness

log = logging.getLogger(__name__)

Request = list[tuple[PartitionQueue, ProducerBatch]]


class RequestCollector:
    """Takes batches out of the queues, numbers and encodes them. On the loop.

    Arguments:
        outgoing: gives the batches.
        idempotence: numbers those that are sent for the first time.
        outcomes: are told of what cannot be encoded.
        produce: encodes.
        readiness: tells whether a queue may be sent from.
        max_request_size: bytes of all batches together, but for a single one that has more.
        consider: looks at a queue again, as what it has to send has changed.
    """

    def __init__(
        self,
        outgoing: OutgoingBatches,
        idempotence: Idempotence,
        outcomes: Outcomes,
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
        """Take the batches of one request out of the queues that are ready: at most one a partition (KIP-98)."""
        request: Request = []
        size = 0
        magic = self._produce.magic(broker.node_id)
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
            self._consider(queue, now)
        return request

    def _take(self, queue: PartitionQueue, now: float) -> ProducerBatch | None:
        """The next batch of a queue; None if it has none to send after all, because of what was answered meanwhile."""
        if self._readiness.sendable_at(queue, now) > now:
            return None
        if queue.retries:
            return queue.retries.pop(0)
        batch = self._outgoing.next_batch(queue)
        if batch is not None:
            self._idempotence.number(queue, batch)
        return batch
