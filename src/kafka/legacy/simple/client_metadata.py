"""The metadata of a `SimpleClient`, in dicts that programs can read."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from kafka.errors import (
    LeaderNotAvailableError,
    ReplicaNotAvailableError,
    UnknownTopicOrPartitionError,
    for_code,
)
from kafka.legacy.payloads import BrokerMetadata, PartitionMetadata
from kafka.legacy.protocol.catalogue import versions
from kafka.legacy.simple.apis import text
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    from kafka.wire.api.metadata import MetadataResponse

log = logging.getLogger("kafka.client")


class LeaderId(int):
    """A leader's node id, as in 1.0, with the fields of `PartitionMetadata`, as in 0.9."""

    _known: PartitionMetadata

    def __new__(cls, known: PartitionMetadata) -> Self:
        leader_id = super().__new__(cls, known.leader)
        leader_id._known = known
        return leader_id

    def __getattr__(self, name: str) -> Any:
        if name not in PartitionMetadata._fields:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._known, name)

    def __reduce__(self) -> Any:
        return LeaderId, (self._known,)


class AnsweredPartition(NamedTuple):
    """A partition in a response: a tuple in Kafka's field order, as in 1.0, with the field names of 0.9."""

    error: int
    partition: int
    leader: int
    replicas: list[int]
    isr: list[int]

    def __repr__(self) -> str:
        return tuple.__repr__(self)


class AnsweredTopic(NamedTuple):
    """A topic in a response: a tuple in Kafka's field order, as in 1.0, with the field names of 0.9."""

    error: int
    topic: str
    partitions: list[AnsweredPartition]

    def __repr__(self) -> str:
        return tuple.__repr__(self)


class KnownMetadata:
    """Brokers, topics and leaders according to the last response.

    Attributes:
        brokers: brokers by node id.
        topics_to_brokers: maps each `TopicPartition` to its leader; None if there is no leader.
        topic_partitions: maps topic and partition to the leader's id, or -1 if there is no leader; see `LeaderId`.
    """

    def __init__(self) -> None:
        self.brokers: dict[int, BrokerMetadata] = {}
        self.topics_to_brokers: dict[TopicPartition, BrokerMetadata | None] = {}
        self.topic_partitions: dict[str, dict[int, LeaderId]] = {}

    @property
    def topics(self) -> list[str]:
        """The names of known topics."""
        return list(self.topic_partitions)

    def has_metadata_for_topic(self, topic: str) -> bool:
        """Return whether partitions of a topic are known."""
        return bool(self.topic_partitions.get(text(topic)))

    def get_partition_ids_for_topic(self, topic: str) -> list[int]:
        """Return the sorted partitions of a topic; an empty list for an unknown topic."""
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
        """Store a response. Raises the error of a topic that was requested by name."""
        asked = {text(topic) for topic in topics}
        self.brokers = {node_id: BrokerMetadata(node_id, host, port) for node_id, host, port in response.brokers}
        for code, topic, partitions in response.topics:
            if not code:
                self.topic_partitions[topic] = {}
                for each in partitions:
                    self._take_in_partition(topic, each)
                continue
            error_type = for_code(code)
            log.error("Error loading topic metadata for %s: %s (%s)", topic, error_type, code)
            if topic not in asked:
                continue
            if not (ignore_leadernotavailable and error_type is LeaderNotAvailableError):
                raise error_type(topic)

    def _take_in_partition(self, topic: str, answered: Sequence[Any]) -> None:
        code, partition, leader, replicas, isr = answered
        place = TopicPartition(topic, partition)
        self.topic_partitions[topic][partition] = LeaderId(PartitionMetadata(*place, leader, replicas, isr, code))
        error = for_code(code) if code else None
        if error is LeaderNotAvailableError:
            log.error("No leader for topic %s partition %d", *place)
            self.topics_to_brokers[place] = None
            return
        if error is not None and error is not ReplicaNotAvailableError:
            log.error("Error loading metadata for topic %s partition %d: %s", *place, error)
        self.topics_to_brokers[place] = self.brokers.get(leader) or BrokerMetadata(leader, None, None)  # type: ignore[arg-type]  # so that its id is not lost

    def _known_leader(self, place: TopicPartition) -> int:
        """Return the leader's id. Raises an error if there is no leader."""
        if place.partition not in self.topic_partitions.get(place.topic, ()):
            raise UnknownTopicOrPartitionError(place)
        leader = self.topics_to_brokers.get(place)
        if leader is None or leader.nodeId < 0:
            raise LeaderNotAvailableError(tuple(place))
        return leader.nodeId


def metadata_response(answered: MetadataResponse) -> Any:
    """Return a response in version 0, as in 1.x, with the field names of 0.9."""
    brokers = [BrokerMetadata(each.node_id, each.host, each.port) for each in answered.brokers]
    topics = [
        AnsweredTopic(
            topic.error_code,
            topic.name or "",
            [
                AnsweredPartition(p.error_code, p.partition_index, p.leader_id, [*p.replica_nodes], [*p.isr_nodes])
                for p in topic.partitions
            ],
        )
        for topic in answered.topics
    ]
    return versions("metadata", "Metadata", "Response")[0](brokers, topics)
