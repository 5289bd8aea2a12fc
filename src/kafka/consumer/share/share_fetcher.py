"""Decides, on the loop, which broker to fetch each partition from, and reports the results of acknowledgements."""

import asyncio
import logging
import math
from collections import deque
from collections.abc import Callable, Iterable
from uuid import UUID

from kafka.cluster import Backoff, RetryPolicy
from kafka.cluster.metadata_snapshot import ClusterMetadata
from kafka.cluster.protocols import BrokerConnections
from kafka.cluster.retry import nothing
from kafka.config import ShareOptions
from kafka.consumer.share.acquired import Acquired
from kafka.consumer.share.broker_fetcher import BrokerShareFetcher, Partition
from kafka.consumer.share.piece import Acknowledgements, Piece
from kafka.errors import (
    GroupAuthorizationFailedError,
    KafkaError,
    NotLeaderForPartitionError,
    SaslAuthenticationFailedError,
    TopicAuthorizationFailedError,
    UnsupportedVersionError,
)
from kafka.structs import TopicPartition
from kafka.wire.api.share_fetch import PartitionData

log = logging.getLogger(__name__)

_NEVER_MENDED = (
    GroupAuthorizationFailedError,
    SaslAuthenticationFailedError,
    TopicAuthorizationFailedError,
    UnsupportedVersionError,
)
"""Permanent errors of a broker, which are raised to the caller."""


class ShareFetcher:
    """Fetches for a share consumer; see the module.

    Arguments:
        options: the size limits, time limits and modes of requests.
        client: sends requests, and knows the leaders.
        member_id: the member's id.
        backoff: pauses after failures.
        notify: called to wake the caller.
        failed: called with an error for the caller.

    Attributes:
        ready: responses that the caller has not taken; the caller takes them from the left, in its thread.
        renewed: pieces whose locks were renewed, taken in the same way.
        outcomes: acknowledgements to report to the callback, taken in the same way.
        wants_outcomes: whether there is a callback.
        renewing: the number of outstanding renewals.
        lock_timeout_ms: the lock timeout last reported by a broker; None before the first report.
        bytes_fetched, fetches, acknowledged, acknowledgements_failed: counters for metrics.
    """

    def __init__(
        self,
        options: ShareOptions,
        client: BrokerConnections,
        member_id: str,
        backoff: Backoff,
        notify: Callable[[], None],
        failed: Callable[[Exception], None],
    ) -> None:
        self._options = options
        self._client = client
        self._member_id = member_id
        self._notify = notify
        self._failed = failed
        self._retry = RetryPolicy(backoff, log, quiet=1, fatal=nothing)
        self._brokers: dict[int, BrokerShareFetcher] = {}
        self._assigned: dict[UUID, list[int]] = {}
        self._names: dict[UUID, str] = {}
        self._waiters: list[tuple[list[Acknowledgements], asyncio.Future[None]]] = []
        self.ready: deque[Acquired] = deque()
        self.renewed: deque[Piece] = deque()
        self.outcomes: deque[Acknowledgements] = deque()
        self.wants_outcomes = False
        self.renewing = 0
        self.lock_timeout_ms: int | None = None
        self.bytes_fetched = self.fetches = 0
        self.acknowledged = self.acknowledgements_failed = 0

    # Assignment -------------------------------------------------------------------------------------------------------

    def assignment(self) -> set[TopicPartition]:
        """Return the partitions being fetched whose topic names are known. Thread-safe."""
        names, assigned = self._names, self._assigned
        return {TopicPartition(names[key], n) for key, numbers in assigned.items() if key in names for n in numbers}

    def waiting_since(self) -> float | None:
        """Return the time at which the oldest outstanding request was sent; None if there is none. Thread-safe."""
        return min((each.asked_at for each in list(self._brokers.values()) if each.is_busy), default=None)

    def assign(self, partitions: dict[UUID, list[int]]) -> None:
        """Fetch these partitions, and no others."""
        self._assigned = partitions
        self.metadata_changed(self._client.metadata)
        if any(topic_id not in self._names for topic_id in partitions):
            self._client.request_refresh()

    def metadata_changed(self, metadata: ClusterMetadata) -> None:
        """Update the partition leaders and the topic names."""
        for topic in metadata.topics(False):
            known_id = metadata.topic_id(topic)
            if known_id is not None:
                self._names[known_id] = topic
        targets: dict[int, set[Partition]] = {}
        for topic_id, numbers in self._assigned.items():
            for number in numbers:
                name = self._names.get(topic_id)
                leader = None if name is None else metadata.leader_for_partition(TopicPartition(name, number))
                if leader is not None:
                    targets.setdefault(leader, set()).add((topic_id, number))
        for node_id in targets.keys() - self._brokers.keys():
            self._broker(node_id)
        for node_id, broker in self._brokers.items():
            broker.session.targets = targets.get(node_id, set())
            broker.kick()

    def _broker(self, node_id: int) -> BrokerShareFetcher:
        broker = self._brokers.get(node_id)
        if broker is None:
            broker = BrokerShareFetcher(node_id, self._options, self._client, self._member_id, self, self._retry)
            self._brokers[node_id] = broker
        return broker

    # Called by the consumer -------------------------------------------------------------------------------------------

    def fetch(self, max_records: int) -> None:
        """Request ``max_records`` from each broker that has no outstanding request; the caller waits for records."""
        if self.ready or self.renewed or self.renewing:
            return
        for broker in self._brokers.values():
            broker.wanted = max_records
            broker.kick()

    def send(self, acks: Iterable[Acknowledgements], max_records: int = 0) -> None:
        """Send acknowledgements, with the next fetch if ``max_records`` are wanted."""
        brokers = set()
        for each in acks:
            each.sort()
            if each.renewed:
                self.renewing += 1
            leader = self._client.metadata.leader_for_partition(each.tp)
            if leader is not None and leader != each.node_id:
                text = (
                    f"broker {each.node_id}, from which the records were fetched, is no longer the leader of "
                    f"partition {each.tp}"
                )
                self.completed(each, NotLeaderForPartitionError(text))
                continue
            broker = self._broker(each.node_id)
            broker.pending.append(each)
            brokers.add(broker)
        if max_records:
            self.fetch(max_records)
        for broker in brokers:
            broker.kick()

    async def outcome(self, acks: list[Acknowledgements], timeout_ms: float) -> None:
        """Wait for the results of acknowledgements, up to the timeout."""
        if all(each.done for each in acks):
            return
        done = asyncio.get_running_loop().create_future()
        entry = acks, done
        self._waiters.append(entry)
        try:
            await asyncio.wait({done}, timeout=timeout_ms / 1000)
        finally:
            self._waiters.remove(entry)

    # Responses --------------------------------------------------------------------------------------------------------

    def name_of(self, partition: Partition) -> TopicPartition | None:
        """See `BrokerShareListener`."""
        name = self._names.get(partition[0])
        return None if name is None else TopicPartition(name, partition[1])

    def acquired(self, acquired: Acquired) -> None:
        """See `BrokerShareListener`."""
        acquired.locked_until = self._lock_over()
        self.bytes_fetched += acquired.nbytes
        self.ready.append(acquired)

    def locks_last(self, timeout_ms: int) -> None:
        """See `BrokerShareListener`."""
        if timeout_ms > 0:
            self.lock_timeout_ms = timeout_ms

    def answered(self) -> None:
        """See `BrokerShareListener`."""
        self.fetches += 1
        self._notify()

    def _lock_over(self) -> float:
        """Return the latest time at which the locks in a response expire; they began before the response arrived."""
        timeout_ms = math.inf if self.lock_timeout_ms is None else self.lock_timeout_ms
        return asyncio.get_running_loop().time() + timeout_ms / 1000

    def completed(self, acks: Acknowledgements, error: Exception | None) -> None:
        """See `BrokerShareListener`."""
        acks.error, acks.done = error, True
        if error is None:
            self.acknowledged += 1
        else:
            self.acknowledgements_failed += 1
            log.debug("acknowledgements of %s have failed: %s", acks.tp, error)
        if acks.renewed:
            self.renewing -= 1
            if error is None:
                for piece in acks.renewed:
                    piece.locked_until = self._lock_over()
                self.renewed.extend(acks.renewed)
        if self.wants_outcomes:
            self.outcomes.append(acks)
        for waited, done in self._waiters:
            if not done.done() and all(each.done for each in waited):
                done.set_result(None)
        self._notify()

    def refused(self, partition: Partition, error: type[KafkaError], data: PartitionData) -> None:
        """See `BrokerShareListener`."""
        tp = self.name_of(partition)
        if issubclass(error, TopicAuthorizationFailedError) and tp is not None:
            self._failed(TopicAuthorizationFailedError({tp.topic}))
            return
        if tp is not None and data.current_leader.leader_id >= 0:
            self._client.note_leader(tp, data.current_leader.leader_id, data.current_leader.leader_epoch)
        self._client.request_refresh()

    def broker_failed(self, error: Exception) -> None:
        """See `BrokerShareListener`."""
        if isinstance(error, _NEVER_MENDED):
            self._failed(error)
        self._client.request_refresh()
        self._notify()

    # Closing ----------------------------------------------------------------------------------------------------------

    async def close(self) -> None:
        """Send acknowledgements and end the sessions. Does not raise."""
        try:
            await asyncio.gather(*(broker.close() for broker in self._brokers.values()))
        finally:
            for broker in self._brokers.values():
                broker.abort()
