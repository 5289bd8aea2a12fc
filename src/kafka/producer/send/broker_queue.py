"""The queues of brokers: what is ready for each, and which brokers have accepted nothing for too long (KIP-794)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from kafka.cluster.retry import Attempts
from kafka.producer.batch.queues import PartitionQueue
from kafka.producer.batch.shared_queues import SharedQueues
from kafka.structs import TopicPartition


class BrokerQueue:
    """The sender's view of one broker.

    Arguments:
        node_id: the broker.
        attempts: how tries to connect to it go.
    """

    __slots__ = (
        "attempts",
        "blocked_until",
        "compressing",
        "compressing_for",
        "connecting",
        "in_flight",
        "node_id",
        "ready",
    )

    def __init__(self, node_id: int, attempts: Attempts) -> None:
        self.node_id = node_id
        self.attempts = attempts
        """Attempts to connect; reset when one succeeds."""
        self.ready: dict[PartitionQueue, None] = {}
        """Queues with something to send to this broker now, longest waiting first."""
        self.in_flight = 0
        self.compressing: asyncio.Task[None] | None = None
        """Compresses the next batches; nothing is sent meanwhile, so that the order of batches is kept."""
        self.compressing_for: frozenset[PartitionQueue] = frozenset()
        """The queues whose next batches may be among what is being compressed."""
        self.connecting: asyncio.Task[None] | None = None
        self.blocked_until = 0.0
        """No connecting or sending before this time on the loop's clock."""


class PartitionAvailability:
    """Marks the partitions of brokers that have accepted nothing for too long. On the loop.

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
        """For each broker with ready batches, the time since which none of them was sent."""
        self._late: frozenset[int] = frozenset()

    def sent(self, broker: BrokerQueue) -> None:
        """Note that a request was sent to a broker."""
        self._waiting_since.pop(broker.node_id, None)

    def look(self, brokers: Iterable[BrokerQueue], now: float) -> None:
        """Update which brokers are late."""
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
