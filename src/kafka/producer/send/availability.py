"""Which partitions records without a key avoid, as their broker has taken nothing for a while (KIP-794)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from kafka.producer.batch.shared_queues import SharedQueues
from kafka.producer.send.broker_queue import BrokerQueue
from kafka.structs import TopicPartition


class PartitionAvailability:
    """Marks the partitions of brokers that have had something ready to be sent for too long. On the loop.

    Arguments:
        buffer: has the topics, which are told what to avoid.
        leader_of: gives the broker that leads a partition.
        timeout: how long a broker may take nothing, in seconds; 0: for ever.
    """

    def __init__(self, buffer: SharedQueues, leader_of: Callable[[TopicPartition], int | None], timeout: float) -> None:
        self._buffer = buffer
        self._leader_of = leader_of
        self._timeout = timeout
        self._waiting_since: dict[int, float] = {}
        """Of brokers for which something is ready: since when nothing of it was sent."""
        self._late: frozenset[int] = frozenset()

    def sent(self, broker: BrokerQueue) -> None:
        """A request has gone to a broker."""
        self._waiting_since.pop(broker.node_id, None)

    def look(self, brokers: Iterable[BrokerQueue], now: float) -> None:
        """Mark what is late now, and what is no longer."""
        if not self._timeout:
            return
        late = set()
        for broker in brokers:
            if not broker.ready:
                self._waiting_since.pop(broker.node_id, None)
            elif now - self._waiting_since.setdefault(broker.node_id, now) >= self._timeout:
                late.add(broker.node_id)
        if late or self._late:
            self._late = frozenset(late)
            self._mark()

    def _mark(self) -> None:
        avoided: dict[str, set[int]] = {}
        for queue in self._buffer.queues():
            topic, partition = queue.topic_partition
            numbers = avoided.setdefault(topic, set())
            if self._leader_of(queue.topic_partition) in self._late:
                numbers.add(partition)
        for topic, numbers in avoided.items():
            self._buffer.avoid(topic, frozenset(numbers))
