"""`ClusterMetadata` of 1.0 to 2.x, based on today's metadata snapshots."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from kafka.cluster.metadata_snapshot import ClusterMetadata as Snapshot
from kafka.cluster.metadata_snapshot import TopicMetadata
from kafka.config.connection import parse_servers
from kafka.config.table import with_defaults
from kafka.errors import (
    MetadataEmptyBrokerList,
    TopicAuthorizationFailedError,
    for_code,
)
from kafka.legacy.kafka_future import Future
from kafka.structs import BrokerMetadata, PartitionMetadata, TopicPartition

log = logging.getLogger("kafka.cluster")

Listener = Callable[["ClusterMetadata"], object]


class ClusterMetadata:
    """Brokers, topics, partitions and coordinators, taken from responses. This class sends no requests itself.

    Arguments: the client options ``retry_backoff_ms``, ``metadata_max_age_ms`` and ``bootstrap_servers`` by keyword;
    others are ignored.

    Attributes:
        need_all_topic_metadata: whether metadata for all topics is needed.
        unauthorized_topics: topics that the client is not authorized to describe.
    """

    DEFAULT_CONFIG: ClassVar[dict[str, Any]] = {
        "retry_backoff_ms": 100,
        "metadata_max_age_ms": 300_000,
        "bootstrap_servers": [],
    }

    def __init__(self, **configs: Any) -> None:
        self.config = with_defaults(self.DEFAULT_CONFIG, configs)
        servers = self.config["bootstrap_servers"]
        addresses = parse_servers("bootstrap_servers", servers) if servers else ()
        self._bootstrap = {
            f"bootstrap-{number}": BrokerMetadata(f"bootstrap-{number}", *address)  # type: ignore[arg-type]  # as it was
            for number, address in enumerate(addresses)
        }
        self._snapshot = Snapshot()
        self._coordinators: dict[tuple[str, str], Any] = {}
        self._coordinator_brokers: dict[Any, BrokerMetadata] = {}
        self._listeners: set[Listener] = set()
        self._lock = threading.Lock()
        self._future: Future | None = None
        self._need_update = True
        self._refreshed_at = self._tried_at = float("-inf")
        self.need_all_topic_metadata = False
        self.unauthorized_topics: set[str] = set()

    def __str__(self) -> str:
        return (
            f"ClusterMetadata(brokers: {len(self._snapshot.brokers())}, topics: {len(self.topics(False))}, "
            f"coordinators: {len(self._coordinators)})"
        )

    # Brokers

    def is_bootstrap(self, node_id: Any) -> bool:
        """Return whether this is the node id of a bootstrap server."""
        return node_id in self._bootstrap

    def brokers(self) -> set[BrokerMetadata]:
        """Return all brokers, or the bootstrap servers if no brokers are known."""
        return self._snapshot.brokers() or set(self._bootstrap.values())

    def broker_metadata(self, broker_id: Any) -> BrokerMetadata | None:
        """Return the broker with this id; None if there is none."""
        return (
            self._snapshot.broker_metadata(broker_id)
            or self._bootstrap.get(broker_id)
            or self._coordinator_brokers.get(broker_id)
        )

    @property
    def controller(self) -> BrokerMetadata | None:
        """The broker that is the controller; None if unknown."""
        return self._snapshot.broker_metadata(self._snapshot.controller_id)

    @property
    def cluster_id(self) -> str | None:
        """The id of the cluster; None if unknown."""
        return self._snapshot.cluster_id

    # Topics

    def topics(self, exclude_internal_topics: bool = True) -> set[str]:
        """Return the known topics, by default without internal ones."""
        return self._snapshot.topics(exclude_internal_topics)

    @property
    def internal_topics(self) -> set[str]:
        """Topics that brokers use internally."""
        return self._snapshot.topics(False) - self._snapshot.topics()

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        """Return the partitions of a topic; None if the topic is unknown."""
        return self._snapshot.partitions_for_topic(topic)

    def available_partitions_for_topic(self, topic: str) -> set[int] | None:
        """Return the partitions that have a leader; None if the topic is unknown."""
        if self._snapshot.partitions_for_topic(topic) is None:
            return None
        return self._snapshot.available_partitions_for_topic(topic)

    def leader_for_partition(self, partition: TopicPartition) -> int | None:
        """Return the node id of a partition's leader; -1 if it has no leader, None if the partition is unknown."""
        found = self._snapshot.partition_metadata(partition)
        return None if found is None else found.leader

    def leader_epoch_for_partition(self, partition: TopicPartition) -> int | None:
        """Return the epoch of a partition's leader; None if unknown."""
        found = self._snapshot.partition_metadata(partition)
        return None if found is None else found.leader_epoch

    def replicas_for_partition(self, partition: TopicPartition) -> list[int] | None:
        """Return the ids of the brokers that have a replica of a partition; None if the partition is unknown."""
        found = self._snapshot.partition_metadata(partition)
        return None if found is None else list(found.replicas)

    def in_sync_replicas_for_partition(self, partition: TopicPartition) -> list[int] | None:
        """Return the ids of the brokers with an in-sync replica of a partition; None if the partition is unknown."""
        found = self._snapshot.partition_metadata(partition)
        return None if found is None else list(found.isr)

    def partitions_for_broker(self, broker_id: Any) -> set[TopicPartition] | None:
        """Return the partitions that a broker leads; None if there are none."""
        return self._snapshot.partitions_for_broker(broker_id) or None

    def _partition(self, partition: TopicPartition) -> PartitionMetadata:
        found = self._snapshot.partition_metadata(partition)
        if found is None:
            raise KeyError(partition)
        return found

    def with_partitions(self, partitions_to_add: Iterable[PartitionMetadata]) -> ClusterMetadata:
        """Return a copy that also contains these partitions."""
        copy = ClusterMetadata(**self.config)
        by_topic: dict[str, dict[int, PartitionMetadata]] = {}
        for topic in self._snapshot.topics(False):
            places = (TopicPartition(topic, number) for number in self._snapshot.partitions_for_topic(topic) or ())
            by_topic[topic] = {place.partition: self._partition(place) for place in places}
        for partition in partitions_to_add:
            by_topic.setdefault(partition.topic, {})[partition.partition] = partition
        topics = [TopicMetadata(name, None, name in self.internal_topics, found) for name, found in by_topic.items()]
        known = self._snapshot
        copy._snapshot = Snapshot(
            known.brokers(), topics, cluster_id=known.cluster_id, controller_id=known.controller_id
        )
        copy._coordinators = dict(self._coordinators)
        copy._coordinator_brokers = dict(self._coordinator_brokers)
        copy.unauthorized_topics = set(self.unauthorized_topics)
        return copy

    # Coordinators

    def coordinator_for_group(self, group: str) -> Any:
        """Return the node id of a group's coordinator; -1 if it is not available, None if it has not been looked up."""
        return self._coordinators.get(("group", group))

    def add_coordinator(self, response: Any, coord_type: str, coord_key: str) -> str | None:
        """Store the coordinator of a group or transactional id, and return its node id, or None on an error.

        The node id identifies a separate connection to that broker.
        """
        if response.error_code:
            log.error("FindCoordinatorResponse error: %s", for_code(response.error_code))
            self._coordinators[coord_type, coord_key] = -1
            return None
        node_id = f"coordinator-{response.coordinator_id}"
        self._coordinator_brokers[node_id] = BrokerMetadata(node_id, response.host, response.port)  # type: ignore[arg-type]  # as it was
        self._coordinators[coord_type, coord_key] = node_id
        return node_id

    def add_group_coordinator(self, group: str, response: Any) -> str | None:
        """Store the coordinator of a group, like `add_coordinator` (until 2.0)."""
        return self.add_coordinator(response, "group", group)

    # Updates

    @property
    def need_update(self) -> bool:
        """Whether an update has been requested."""
        return self._need_update

    def ttl(self) -> float:
        """Return the time in milliseconds until the metadata should be refreshed."""
        now = time.monotonic() * 1000
        age_left = 0.0 if self._need_update else self._refreshed_at + self.config["metadata_max_age_ms"] - now
        return max(age_left, self._tried_at + self.refresh_backoff() - now, 0.0)

    def refresh_backoff(self) -> float:
        """Return the time in milliseconds to wait before a failed update is retried."""
        return float(self.config["retry_backoff_ms"])

    def request_update(self) -> Future:
        """Request an update, which the owner of this object performs. The future's result is this object."""
        with self._lock:
            self._need_update = True
            if self._future is None or self._future.is_done:
                self._future = Future()
            return self._future

    def update_metadata(self, metadata: Any) -> None:
        """Update from a `MetadataResponse` of any version."""
        answered = metadata
        if hasattr(metadata, "WIRE"):
            answered = metadata.WIRE.decode(metadata.encode(), metadata.API_VERSION)
        if not answered.brokers:
            log.warning("No broker metadata found in MetadataResponse -- ignoring.")
            self.failed_update(MetadataEmptyBrokerList(metadata))
            return
        self.take(self._snapshot.updated(answered, keep_others=False), [each.name for each in answered.topics])

    def show(self, snapshot: Snapshot) -> None:
        """Set the initial metadata without counting it as an update."""
        self._snapshot = snapshot

    def take(self, snapshot: Snapshot, asked: Iterable[str] = ()) -> None:
        """Replace the metadata, and notify listeners and callers that wait for an update.

        Arguments:
            asked: the requested topics; if there is only one and it has an error, the future fails with that error.
        """
        denied = {name for name, error in snapshot.topic_errors.items() if error is TopicAuthorizationFailedError}
        with self._lock:
            self._snapshot = snapshot
            self.unauthorized_topics = denied
            future, self._future = self._future, None
            self._need_update = False
            self._refreshed_at = self._tried_at = time.monotonic() * 1000
        for topic, error in snapshot.topic_errors.items():
            log.warning("Error fetching metadata for topic %s: %s", topic, error)
        if future is not None:
            names = list(asked)
            alone = snapshot.topic_errors.get(names[0]) if len(names) == 1 else None
            future.failure(alone(names[0])) if alone is not None else future.success(self)
        for listener in list(self._listeners):
            listener(self)

    def failed_update(self, exception: BaseException) -> None:
        """Fail the future of the requested update."""
        with self._lock:
            future, self._future = self._future, None
            self._tried_at = time.monotonic() * 1000
        if future is not None:
            future.failure(exception)

    def add_listener(self, listener: Listener) -> None:
        """Add a function that is called with this object after each update."""
        self._listeners.add(listener)

    def remove_listener(self, listener: Listener) -> None:
        """Remove a listener. Raises `KeyError` if it was not added."""
        self._listeners.remove(listener)
