"""Decides when batches are sent: which queues are ready, for which broker, and when to check them again.

`BrokerQueue` contains the queues that are ready for one broker, `Readiness` computes when a queue becomes ready,
`Schedule` wakes the sender at that time, and `PartitionAvailability` marks brokers that have accepted nothing for too
long (KIP-794).
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from kafka.cluster.metadata_snapshot import ClusterMetadata
from kafka.cluster.protocols import BrokerConnection
from kafka.cluster.retry import Attempts
from kafka.config import ConnectionOptions, ProducerOptions
from kafka.producer.appending.record_buffer import RecordBuffer
from kafka.producer.batch.queues import PartitionQueue
from kafka.producer.batch.shared_queues import SharedQueues
from kafka.producer.idempotence import Idempotence
from kafka.structs import TopicPartition


class BrokerQueue:
    """The sender's state for one broker.

    Arguments:
        node_id: id of the broker.
        attempts: the connection attempts.
    """

    __slots__ = (
        "attempts",
        "blocked_until",
        "compressing",
        "compressing_for",
        "connecting",
        "connection",
        "in_flight",
        "magic",
        "metadata",
        "node_id",
        "ready",
    )

    def __init__(self, node_id: int, attempts: Attempts) -> None:
        self.node_id = node_id
        self.attempts = attempts
        """Connection attempts; reset when one succeeds."""
        self.ready: dict[PartitionQueue, None] = {}
        """Queues with something to send to this broker now, longest waiting first."""
        self.in_flight = 0
        self.connection: BrokerConnection | None = None
        """The connection that was last used; the current one as long as it is open and the metadata are the same."""
        self.metadata: ClusterMetadata | None = None
        """The metadata at the time."""
        self.magic = 2
        """The newest format of batches that the broker accepts on this connection."""
        self.compressing: asyncio.Task[None] | None = None
        """Compresses the next batches. Nothing is sent meanwhile, so that batches stay in order."""
        self.compressing_for: frozenset[PartitionQueue] = frozenset()
        """The queues whose next batches may be among those being compressed."""
        self.connecting: asyncio.Task[None] | None = None
        self.blocked_until = 0.0
        """Time on the loop's clock before which the sender neither connects nor sends."""


class PartitionAvailability:
    """Marks the partitions of brokers that have accepted nothing for too long. Runs on the loop.

    Arguments:
        buffer: contains the topics, and which of their partitions to avoid.
        leader_of: returns the leader of a partition.
        timeout: seconds without a request after which a broker's partitions are avoided; 0 to never avoid them.

    Attributes:
        is_on: whether late brokers are avoided at all.
    """

    def __init__(self, buffer: SharedQueues, leader_of: Callable[[TopicPartition], int | None], timeout: float) -> None:
        self._buffer = buffer
        self._leader_of = leader_of
        self._timeout = timeout
        self.is_on = timeout > 0
        self._waiting_since: dict[int, float] = {}
        """For each broker with ready batches, the time since which no batch has been sent."""
        self._late: frozenset[int] = frozenset()

    def sent(self, broker: BrokerQueue) -> None:
        """Record that a request was sent to a broker."""
        self._waiting_since.pop(broker.node_id, None)

    def look(self, brokers: Iterable[BrokerQueue], now: float) -> None:
        """Update which brokers count as late."""
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


@dataclass(frozen=True, slots=True)
class SenderOptions:
    """The options for sending. Times are in seconds, sizes in bytes."""

    linger: float
    delivery_timeout: float
    max_in_flight: int
    max_request_size: int
    availability_timeout: float = 0.0


def sender_options(connection: ConnectionOptions, options: ProducerOptions) -> SenderOptions:
    """Convert the producer's options into the units that the sender uses."""
    return SenderOptions(
        linger=options.linger_ms / 1000,
        delivery_timeout=options.delivery_timeout_ms / 1000,
        max_in_flight=connection.max_in_flight_requests_per_connection,
        max_request_size=options.max_request_size,
        availability_timeout=options.partitioner_availability_timeout_ms / 1000,
    )


class Readiness:
    """Determines when batches from a queue may be sent. Runs on the loop.

    Arguments:
        buffer: the unsent records.
        idempotence: the producer's id; retries may need new sequence numbers.
        options: limits and times.
    """

    def __init__(self, buffer: RecordBuffer, idempotence: Idempotence, options: SenderOptions) -> None:
        self._buffer = buffer
        self._idempotence = idempotence
        self._options = options

    def sendable_at(self, queue: PartitionQueue, now: float) -> float:
        """Return the time when batches from the queue may be sent; infinity if this depends on another event."""
        if queue.is_paused:
            return math.inf
        when = self._due_after_others(queue, now) if queue.in_network or queue.retries or queue.renumber else None
        if when is None:
            batch = queue.open  # another thread may replace the batch at any time
            if queue.closed:
                when = max(now, queue.backoff_until)
            elif batch is None:
                return math.inf
            else:
                lingers = 0.0 if self._buffer.memory_is_short else self._options.linger
                when = max(batch.created + lingers, queue.backoff_until)
        may_write = self._idempotence.may_write
        return when if when == math.inf or may_write is None or may_write(queue.topic_partition) else math.inf

    def _due_after_others(self, queue: PartitionQueue, now: float) -> float | None:
        """Return when a retry is due, or infinity while batches in flight prevent sending.

        Returns None if a batch may be sent that has never been sent.
        """
        if queue.renumber and (queue.in_network or not self._idempotence.renumber(queue)):
            return math.inf
        if len(queue.in_network) >= (self._options.max_in_flight if queue.proven else 1):
            return math.inf
        if queue.retries:
            return max(now, queue.backoff_until) if queue.may_retry() else math.inf
        return math.inf if queue.window_is_full() else None


class Schedule:
    """The times at which queues must be checked, with one timer on the loop for the earliest.

    Arguments:
        loop: provides the clock and the timer.
        due: called at the earliest time.

    Attributes:
        next_at: the earliest time; infinity if nothing is scheduled. Until then, `take` returns nothing.
        timer_at: when the timer rings; infinity if it is not set. It needs no setting unless `next_at` is earlier.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, due: Callable[[], None]) -> None:
        self._loop = loop
        self._due = due
        self._heap: list[tuple[float, int, PartitionQueue | None]] = []
        self._serial = itertools.count()
        self._timer: asyncio.TimerHandle | None = None
        self._all_due_at = math.inf
        self.next_at = self.timer_at = math.inf

    def add(self, when: float, queue: PartitionQueue | None) -> None:
        """Schedule a check of a queue (None for all queues) at a loop time, unless an earlier check is scheduled."""
        if queue is None:
            if self._all_due_at <= when:
                return
            self._all_due_at = when
        else:
            if queue.due_at <= when:
                return
            queue.due_at = when
        heapq.heappush(self._heap, (when, next(self._serial), queue))
        self.next_at = self._heap[0][0]

    def take(self, now: float) -> list[PartitionQueue]:
        """Remove and return the queues that are due."""
        taken: list[PartitionQueue] = []
        while self._heap and self._heap[0][0] <= now:
            when, _, queue = heapq.heappop(self._heap)
            if queue is None:
                if when == self._all_due_at:
                    self._all_due_at = math.inf
                continue
            if when == queue.due_at:
                queue.due_at = math.inf
            taken.append(queue)
        self.next_at = self._heap[0][0] if self._heap else math.inf
        return taken

    def set_timer(self) -> None:
        """Set the timer that calls `due` at the earliest time."""
        if self.next_at >= self.timer_at or self.next_at == math.inf:
            return
        if self._timer is not None:
            self._timer.cancel()
        self.timer_at = self.next_at
        self._timer = self._loop.call_at(self.next_at, self._ring)

    def stop(self) -> None:
        """Cancel the timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._heap.clear()
        self.next_at = self.timer_at = math.inf

    def _ring(self) -> None:
        self._timer = None
        self.timer_at = math.inf
        self._due()
