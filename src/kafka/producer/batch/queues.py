"""What waits to be sent, by topic and partition."""

from __future__ import annotations

import bisect
import math
import random
from collections import deque
from collections.abc import Sequence

from kafka.producer.batch.hot_fields import QueueFields
from kafka.producer.batch.producer_batch import CLOSED, ProducerBatch
from kafka.structs import TopicPartition

_REMEMBERED = 5
"""Batches of a producer that a broker remembers of a partition, so that it can tell what it has already."""


class PartitionQueue(QueueFields):
    """The batches of one partition, from the open one to those whose answer is awaited.

    `open` and `closed` are shared with the threads that call `send()` and guarded by `RecordBuffer.lock` (but see
    `append_unlocked`); all else belongs to the sender, on the loop. A batch gets its place in the order (and its
    sequence numbers) when it is first sent. One that has to be sent again waits in `retries`, which are sent before
    anything new, lowest order first.
    """

    __slots__ = (
        "backoff_until",
        "closed",
        "dirty",
        "due_at",
        "failures",
        "in_network",
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
        """The sender has been told, or will see, that there is something in here."""
        self.retries: list[ProducerBatch] = []
        self.in_network: dict[ProducerBatch, None] = {}
        self.leader: int | None = None
        self.next_order = 0
        self.producer_id = -1
        self.producer_epoch = -1
        self.next_sequence = 0
        self.proven = True
        """A batch of the present epoch is in the log, or batches have no sequence. Until then only one is under way: a
        broker that knows nothing of a producer takes whatever comes first for its beginning."""
        self.renumber = False
        """The broker has lost track of the sequence: a new epoch begins as soon as nothing is in the network."""
        self.backoff_until = 0.0
        self.due_at = math.inf
        """When the sender looks at it next, if nothing happens before."""
        self.failures = 0
        """Failed attempts since the last success, for the back-off."""

    def waiting(self) -> list[ProducerBatch]:
        """What is not in the network, in the order in which it is to be sent. Needs the lock."""
        return [*self.retries, *self.closed, *(() if self.open is None else (self.open,))]

    def load(self) -> int:
        """The number of batches that wait to be sent. In any thread, as it is about right at best."""
        return len(self.retries) + len(self.closed) + (self.open is not None)

    def close_open(self) -> None:
        """Take no more records into the open batch. Needs the lock."""
        batch = self.open
        if batch is not None:
            self.open = None  # first of all: `append_unlocked` asks for nothing else
            batch.stage = CLOSED
            self.closed += (batch,)  # no call, where an interrupt could take the batch along

    def retry(self, batch: ProducerBatch) -> None:
        """Put a batch back in its place before everything that comes after it in the order."""
        bisect.insort(self.retries, batch, key=lambda b: b.order)

    def first_in_network(self) -> tuple[int, ...] | None:
        """The lowest order among the batches whose answer is awaited."""
        return min((batch.order for batch in self.in_network), default=None)

    def window_is_full(self) -> bool:
        """Whether one more new batch would make the broker forget one that may still have to be sent again.

        A count of batches in the network is not enough: one that is sent for the third time may have been overtaken by
        more than the broker remembers, which would take it for a new one then.
        """
        if not self.in_network or self.producer_id < 0:
            return False
        first = self.first_in_network()
        return first is not None and self.next_order - first[0] >= _REMEMBERED

    def is_first(self, batch: ProducerBatch) -> bool:
        """Whether nothing that was sent and comes before a batch is left."""
        first = self.first_in_network() if self.in_network else None
        if first is not None and first < batch.order:
            return False
        return not self.retries or self.retries[0].order >= batch.order

    def may_retry(self) -> bool:
        """Whether the first of the retries can go: nothing before it is still on its way."""
        first = self.first_in_network()
        return first is None or self.retries[0].order < first


class TopicQueues:
    """The queues of a topic's partitions, and where its records without a key go at the moment.

    Arguments:
        topic: name of the topic.
        partitions: their number.
        available: those that have a leader.
        sticky_bytes: after how many bytes records without a key move on to another partition, if their batch is not
            closed before (KIP-480, KIP-794).
        rng: chooses among the partitions.
        adaptive: whether a partition is chosen the rarer, the more batches wait for it (KIP-794).
    """

    __slots__ = (
        "_adaptive",
        "_left",
        "_rng",
        "_sticky_bytes",
        "available",
        "count",
        "late",
        "queues",
        "sticky",
        "topic",
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
        self.count = 0
        self.available: Sequence[int] = ()
        self._sticky_bytes = max(sticky_bytes, 1)
        self._rng = rng
        self._adaptive = adaptive
        self.late: frozenset[int] = frozenset()
        """Partitions to be avoided for now, as their brokers take nothing."""
        self.sticky = -1
        self._left = 0
        self.used_at = 0.0
        """When a batch was last begun for the topic, in the loop's time."""
        self.update(partitions, available)

    def update(self, partitions: int, available: Sequence[int]) -> None:
        """Take over what is known of the topic now; partitions are never given up."""
        for partition in range(len(self.queues), partitions):
            self.queues.append(PartitionQueue(TopicPartition(self.topic, partition)))
        self.count = len(self.queues)
        self.available = available
        if available and self.sticky not in available:
            self._left = 0

    def pick_sticky(self, size: int) -> int:
        """Return the partition for a record of `size` bytes without a key.

        It stays the same while a batch fills there, for as many bytes as a batch has at most.

        Threads that call it at the same time may count a record or two amiss, which does no harm.
        """
        if self._left <= 0 or self.queues[self.sticky].open is None:
            self._move()
        self._left -= size
        return self.sticky

    def _move(self) -> None:
        """Go on to another partition, one that has a leader if there is any."""
        choices = self.available or range(self.count)
        late = self.late
        if late:
            choices = [p for p in choices if p not in late] or choices
        others = [p for p in choices if p != self.sticky] or choices
        self.sticky = self._rng.choice(others) if not self._adaptive else self._least_loaded(others)
        self._left = self._sticky_bytes

    def _least_loaded(self, choices: Sequence[int]) -> int:
        """Choose by chance, in proportion to how much less waits for a partition than for the fullest (KIP-794)."""
        loads = [self.queues[p].load() for p in choices]
        most = max(loads) + 1
        return self._rng.choices(choices, [most - load for load in loads])[0]
