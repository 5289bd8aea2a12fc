"""The metadata that a `SimpleClient` keeps, in the dicts that its programs read."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from kafka.errors import (
    LeaderNotAvailableError,
    ReplicaNotAvailableError,
    UnknownTopicOrPartitionError,
    for_code,
)
from kafka.legacy.payloads import BrokerMetadata
from kafka.legacy.protocol.catalogue import versions
from kafka.legacy.simple.apis import text
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    from kafka.wire.api.metadata import MetadataResponse

log = logging.getLogger("kafka.client")


class KnownMetadata:
    """Brokers, topics and leaders, as they were told last.

    Attributes:
        brokers: by node id.
        topics_to_brokers: `TopicPartition` to the broker that leads it; None while it has no leader.
        topic_partitions: topic to partition to the id of its leader, -1 while it has none.
    """

    def __init__(self) -> None:
        self.brokers: dict[int, BrokerMetadata] = {}
        self.topics_to_brokers: dict[TopicPartition, BrokerMetadata | None] = {}
        self.topic_partitions: dict[str, dict[int, int]] = {}

    @property
    def topics(self) -> list[str]:
        """The names of the topics that are known."""
        return list(self.topic_partitions)

    def has_metadata_for_topic(self, topic: str) -> bool:
        """Whether partitions of a topic are known."""
        return bool(self.topic_partitions.get(text(topic)))

    def get_partition_ids_for_topic(self, topic: str) -> list[int]:
        """The partitions of a topic, in order; none of a topic that is not known."""
        return sorted(self.topic_partitions.get(text(topic), ()))

    def reset_topic_metadata(self, *topics: str) -> None:
        """Forget topics."""
        for topic in map(text, topics):
            for place in [place for place in list(self.topics_to_brokers) if place.topic == topic]:
                self.topics_to_brokers.pop(place, None)
            self.topic_partitions.pop(topic, None)

    def reset_all_metadata(self) -> None:
        """Forget all topics."""
        self.topics_to_brokers.clear()
        self.topic_partitions.clear()

    def _take_in(self, response: Any, topics: Iterable[str], ignore_leadernotavailable: bool) -> None:
        """Keep what a broker answered. Raises the error of a topic that was asked for by name."""
        asked = {text(topic) for topic in topics}
        self.brokers = {node_id: BrokerMetadata(node_id, host, port) for node_id, host, port in response.brokers}
        for code, topic, partitions in response.topics:
            if not code:
                self.topic_partitions[topic] = {}
                for error, partition, leader, _, _ in partitions:
                    self._take_in_partition(TopicPartition(topic, partition), leader, error)
                continue
            error_type = for_code(code)
            log.error("Error loading topic metadata for %s: %s (%s)", topic, error_type, code)
            if topic not in asked:
                continue
            if not (ignore_leadernotavailable and error_type is LeaderNotAvailableError):
                raise error_type(topic)

    def _take_in_partition(self, place: TopicPartition, leader: int, code: int) -> None:
        self.topic_partitions[place.topic][place.partition] = leader
        error = for_code(code) if code else None
        if error is LeaderNotAvailableError:
            log.error("No leader for topic %s partition %d", *place)
            self.topics_to_brokers[place] = None
            return
        if error is not None and error is not ReplicaNotAvailableError:
            log.error("Error loading metadata for topic %s partition %d: %s", *place, error)
        self.topics_to_brokers[place] = self.brokers.get(leader) or BrokerMetadata(leader, None, None)  # type: ignore[arg-type]  # so that its id is not lost

    def _known_leader(self, place: TopicPartition) -> int:
        """The leader's id. Raises why there is none."""
        if place.partition not in self.topic_partitions.get(place.topic, ()):
            raise UnknownTopicOrPartitionError(place)
        leader = self.topics_to_brokers.get(place)
        if leader is None or leader.nodeId < 0:
            raise LeaderNotAvailableError(tuple(place))
        return leader.nodeId


def metadata_response(answered: MetadataResponse) -> Any:
    """A broker's answer in version 0, as programs of 1.x had it."""
    brokers = [(each.node_id, each.host, each.port) for each in answered.brokers]
    topics = [
        (
            topic.error_code,
            topic.name,
            [
                (p.error_code, p.partition_index, p.leader_id, list(p.replica_nodes), list(p.isr_nodes))
                for p in topic.partitions
            ],
        )
        for topic in answered.topics
    ]
    return versions("metadata", "Metadata", "Response")[0](brokers, topics)
