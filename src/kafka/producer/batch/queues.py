"""The batches waiting to be sent, by topic and partition."""

from __future__ import annotations

import bisect
import math
import random
from collections import deque
from collections.abc import Sequence
from uuid import UUID

from kafka.producer.batch.producer_batch import CLOSED, ProducerBatch
from kafka.producer.future import QueueFields
from kafka.structs import TopicPartition

_REMEMBERED = 5
"""Number of batches per producer and partition that a broker remembers in order to detect duplicates."""


class PartitionQueue(QueueFields):
    """The batches of one partition, from the open one to those in flight.

    `open` and `closed` are shared with the threads that call `send()` and guarded by `RecordBuffer.lock` (but see
    `append_unlocked`). All other attributes belong to the sender, on the loop. A batch gets its position in the order,
    and its sequence numbers, when it is first sent. A batch that must be sent again waits in `retries`; retries are
    sent before new batches, lowest order first.
    """

    __slots__ = (
        "backoff_until",
        "closed",
        "dirty",
        "due_at",
        "failures",
        "in_network",
        "is_gone",
        "is_paused",
        "leader",
        "next_order",
        "next_sequence",
        "producer_epoch",
        "producer_id",
        "proven",
        "renumber",
        "retries",
        "topic_partition",
    )

    def __init__(self, topic_partition: TopicPartition) -> None:
        self.topic_partition = topic_partition
        self.open: ProducerBatch | None = None
        self.closed: deque[ProducerBatch] = deque()
        self.dirty = False
        """Whether the sender has been notified, or will notice, that the queue has changed."""
        self.retries: list[ProducerBatch] = []
        self.in_network: dict[ProducerBatch, None] = {}
        self.leader: int | None = None
        self.next_order = 0
        self.producer_id = -1
        self.producer_epoch = -1
        self.next_sequence = 0
        self.proven = True
        """Whether a batch of the current epoch is in the log, or batches have no sequence numbers. Until then, at most
        one batch is in flight: a broker without state of this producer accepts any batch as the first one.
        """
        self.renumber = False
        """Whether the broker has lost the sequence state, so that a new epoch must start once nothing is in flight."""
        self.backoff_until = 0.0
        self.due_at = math.inf
        """The time of the sender's next check of the queue, unless an event comes first."""
        self.failures = 0
        """Number of failed attempts since the last success, for the backoff."""
        self.is_gone = False
        """Whether the partition no longer exists in the recreated topic, so that the queue accepts no records."""
        self.is_paused = False
        """Whether the topic was recreated and the waiting records must be partitioned before anything is sent."""

    def waiting(self) -> list[ProducerBatch]:
        """Return the batches that are not in flight, in sending order. Requires the lock."""
        return [*self.retries, *self.closed, *(() if self.open is None else (self.open,))]

    def load(self) -> int:
        """Return the approximate number of batches waiting to be sent. Any thread may call this."""
        return len(self.retries) + len(self.closed) + (self.open is not None)

    def close_open(self) -> None:
        """Close the open batch, so that it accepts no more records. Requires the lock."""
        batch = self.open
        if batch is not None:
            self.open = None  # must come first, because `append_unlocked` checks nothing else
            batch.stage = CLOSED
            self.closed += (batch,)  # without a function call, in which an interrupt could lose the batch

    def retry(self, batch: ProducerBatch) -> None:
        """Insert a batch into the retries at its position in the order."""
        bisect.insort(self.retries, batch, key=lambda b: b.order)

    def put_back(self, batch: ProducerBatch) -> None:
        """Put a batch whose order was reset back at its old position among the closed batches. Requires the lock."""
        bisect.insort(self.closed, batch, key=lambda b: b.serial)

    def first_in_network(self) -> tuple[int, ...] | None:
        """Return the lowest order among the batches in flight."""
        return min((batch.order for batch in self.in_network), default=None)

    def window_is_full(self) -> bool:
        """Return whether one more new batch could make the broker forget a batch that may have to be sent again.

        Counting the batches in flight is not enough: a batch that is sent for the third time may have been overtaken by
        more batches than the broker remembers; the broker would then take it for a new batch.
        """
        if not self.in_network or self.producer_id < 0:
            return False
        first = self.first_in_network()
        return first is not None and self.next_order - first[0] >= _REMEMBERED

    def is_first(self, batch: ProducerBatch) -> bool:
        """Return whether all batches sent before this one are finished."""
        first = self.first_in_network() if self.in_network else None
        if first is not None and first < batch.order:
            return False
        return not self.retries or self.retries[0].order >= batch.order

    def may_retry(self) -> bool:
        """Return whether the first retry may be sent, because no earlier batch is in flight."""
        first = self.first_in_network()
        return first is None or self.retries[0].order < first


class TopicQueues:
    """The queues of a topic's partitions, and the current partition for records without a key.

    `queues` may contain more than `count` queues: the queues of partitions that a recreated topic no longer has are
    kept, but stay empty, so that a thread that has just chosen one of these partitions still finds its queue.

    Arguments:
        topic: name of the topic.
        partitions: number of partitions.
        available: the partitions that have a leader.
        sticky_bytes: number of bytes after which records without a key move on to another partition, unless their
            batch is closed earlier (KIP-480, KIP-794).
        rng: a random number generator for choosing partitions.
        adaptive: whether partitions with more waiting batches are chosen less often (KIP-794).
    """

    __slots__ = (
        "_adaptive",
        "_left",
        "_rng",
        "_sticky_bytes",
        "available",
        "count",
        "counts_before",
        "generation",
        "is_moving",
        "late",
        "queues",
        "replaced_ids",
        "sticky",
        "topic",
        "topic_id",
        "used_at",
    )

    def __init__(
        self,
        topic: str,
        partitions: int,
        available: Sequence[int],
        sticky_bytes: int,
        rng: random.Random,
        adaptive: bool = False,
    ) -> None:
        self.topic = topic
        self.queues: list[PartitionQueue] = []
        self.topic_id: UUID | None = None
        """The topic's id; None with brokers before 2.8, which have no ids."""
        self.replaced_ids: set[UUID] = set()
        """The ids of deleted topics with this name."""
        self.generation = 0
        """Number of times that the topic was recreated."""
        self.is_moving = False
        """Whether the topic was recreated, and its waiting records still have to be partitioned again."""
        self.counts_before: set[int] = set()
        """The numbers of partitions for which the partitions of stale batches were chosen."""
        self.count = 0
        self.available: Sequence[int] = ()
        self._sticky_bytes = max(sticky_bytes, 1)
        self._rng = rng
        self._adaptive = adaptive
        self.late: frozenset[int] = frozenset()
        """Partitions to avoid for now, because their brokers accept no records."""
        self.sticky = -1
        self._left = 0
        self.used_at = 0.0
        """Time on the loop's clock when a batch was last created for the topic."""
        self.update(partitions, available)

    def update(self, partitions: int, available: Sequence[int]) -> None:
        """Apply new metadata for the topic. The number of partitions must not decrease; see `start_over`."""
        for partition in range(len(self.queues), partitions):
            queue = PartitionQueue(TopicPartition(self.topic, partition))
            queue.is_paused = self.is_moving
            self.queues.append(queue)
        for queue in self.queues[self.count : partitions]:
            queue.is_gone = False
        self.count = max(self.count, partitions)
        self.available = available
        if available and self.sticky not in available:
            self._left = 0

    def start_over(self, topic_id: UUID | None, partitions: int, available: Sequence[int]) -> None:
        """Handle a recreated topic: waiting batches become stale and are not sent until `end_move`.

        Requires the lock.
        """
        if self.topic_id is not None:
            self.replaced_ids.add(self.topic_id)
        self.topic_id = topic_id
        self.generation += 1
        self.is_moving = True
        self.counts_before.add(self.count)
        for number, queue in enumerate(self.queues):
            queue.close_open()
            for batch in (*queue.waiting(), *queue.in_network):
                batch.is_stale = True
            queue.is_paused = True
            queue.is_gone = number >= partitions
        self.count = min(self.count, partitions)
        self.late = frozenset()
        self._left = 0
        self.update(partitions, available)

    def end_move(self) -> None:
        """Resume sending, now that every batch is in the right queue."""
        self.is_moving = False
        self.counts_before.clear()
        for queue in self.queues:
            queue.is_paused = False

    def pick_sticky(self, size: int) -> int:
        """Return the partition for a record of `size` bytes without a key.

        The partition stays the same until it has received the number of bytes in a full batch.

        Concurrent calls from several threads may miscount by a record or two, which does no harm.
        """
        if self._left <= 0 or self.queues[self.sticky].open is None:
            self._move()
        self._left -= size
        return self.sticky

    def _move(self) -> None:
        """Switch to another partition, preferably one with a leader."""
        choices = self.available or range(self.count)
        late = self.late
        if late:
            choices = [p for p in choices if p not in late] or choices
        others = [p for p in choices if p != self.sticky] or choices
        self.sticky = self._rng.choice(others) if not self._adaptive else self._least_loaded(others)
        self._left = self._sticky_bytes

    def _least_loaded(self, choices: Sequence[int]) -> int:
        """Choose randomly, weighting each partition by how much shorter its queue is than the longest one (KIP-794)."""
        loads = [self.queues[p].load() for p in choices]
        most = max(loads) + 1
        return self._rng.choices(choices, [most - load for load in loads])[0]
