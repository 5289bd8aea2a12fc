"""An immutable snapshot of the cluster: brokers, topics, partitions and their leaders."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID

from kafka.errors import (
    BrokerResponseError,
    InvalidTopicError,
    TopicAuthorizationFailedError,
    UnknownTopicOrPartitionError,
    for_code,
)
from kafka.structs import BrokerMetadata, PartitionMetadata, TopicPartition, is_another_topic

if TYPE_CHECKING:
    from kafka.wire.api.metadata import MetadataResponse, MetadataResponsePartition, MetadataResponseTopic

_NO_ID = UUID(int=0)
_FORGET_ON = (UnknownTopicOrPartitionError, InvalidTopicError, TopicAuthorizationFailedError)
"""Errors after which the known metadata for a topic is wrong; after other errors it is still the best guess."""


class TopicMetadata(NamedTuple):
    """A topic; ``topic_id`` is None on brokers before 2.8."""

    name: str
    topic_id: UUID | None
    is_internal: bool
    partitions: Mapping[int, PartitionMetadata]


class ClusterMetadata:
    """A snapshot of the cluster's metadata; each refresh creates a new object (`ClusterClient.metadata`).

    Attributes:
        is_complete: whether the snapshot contains all topics of the cluster that the client may see.
        cluster_id: the id of the cluster; None on brokers before 0.10.1.
        controller_id: the id of the controller or, with KRaft, of any live broker; -1 if it is not known.
        topic_errors: the class of the error that the cluster returned for each topic that has one.
        version: the number of refreshes; a snapshot with a higher number is newer.
    """

    __slots__ = ("_by_id", "_nodes", "_topics", "cluster_id", "controller_id", "is_complete", "topic_errors", "version")

    def __init__(
        self,
        nodes: Iterable[BrokerMetadata] = (),
        topics: Iterable[TopicMetadata] = (),
        *,
        cluster_id: str | None = None,
        controller_id: int = -1,
        topic_errors: Mapping[str, type[BrokerResponseError]] | None = None,
        version: int = 0,
        is_complete: bool = False,
    ) -> None:
        self.is_complete = is_complete
        self._nodes = {node.nodeId: node for node in nodes}
        self._topics = {topic.name: topic for topic in topics}
        self._by_id = {topic.topic_id: topic.name for topic in self._topics.values() if topic.topic_id is not None}
        self.cluster_id = cluster_id
        self.controller_id = controller_id
        self.topic_errors: Mapping[str, type[BrokerResponseError]] = MappingProxyType(dict(topic_errors or {}))
        self.version = version

    def brokers(self) -> set[BrokerMetadata]:
        """Return all brokers."""
        return set(self._nodes.values())

    def broker_metadata(self, broker_id: int) -> BrokerMetadata | None:
        """Return a broker by its id, or None."""
        return self._nodes.get(broker_id)

    @property
    def controller(self) -> BrokerMetadata | None:
        """The broker with the id `controller_id`; None if it is not known."""
        return self._nodes.get(self.controller_id)

    def topics(self, exclude_internal_topics: bool = True) -> set[str]:
        """Return the known topics, by default without internal ones such as ``__consumer_offsets``."""
        return {name for name, topic in self._topics.items() if not (exclude_internal_topics and topic.is_internal)}

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        """Return the numbers of a topic's partitions; None if the topic is not known."""
        found = self._topics.get(topic)
        return set(found.partitions) if found is not None else None

    def available_partitions_for_topic(self, topic: str) -> set[int]:
        """Return the numbers of the topic's partitions that have a leader."""
        found = self._topics.get(topic)
        return {n for n, each in found.partitions.items() if each.leader >= 0} if found is not None else set()

    def partition_metadata(self, tp: TopicPartition) -> PartitionMetadata | None:
        """Return the metadata for a partition; None if the partition is not known."""
        found = self._topics.get(tp.topic)
        return found.partitions.get(tp.partition) if found is not None else None

    def leader_for_partition(self, partition: TopicPartition) -> int | None:
        """Return the id of a partition's leader; None if the partition is not known or has no leader."""
        topic = self._topics.get(partition.topic)
        found = topic.partitions.get(partition.partition) if topic is not None else None
        return found.leader if found is not None and found.leader >= 0 else None

    def leader_epoch(self, tp: TopicPartition) -> int:
        """Return a partition's leader epoch (KIP-320); -1 if it is not known."""
        found = self.partition_metadata(tp)
        return found.leader_epoch if found is not None else -1

    def partitions_for_broker(self, broker_id: int) -> set[TopicPartition]:
        """Return the partitions that a broker leads."""
        return {
            TopicPartition(name, number)
            for name, topic in self._topics.items()
            for number, each in topic.partitions.items()
            if each.leader == broker_id
        }

    def topic_id(self, topic: str) -> UUID | None:
        """Return the id of a topic (KIP-516); None if it is not known or the brokers do not support topic ids."""
        found = self._topics.get(topic)
        return found.topic_id if found is not None else None

    def topic_name(self, topic_id: UUID) -> str | None:
        """Return the name of the topic with this id; None if it is not known."""
        return self._by_id.get(topic_id)

    def is_internal(self, topic: str) -> bool:
        """Return whether the topic is internal to the brokers."""
        found = self._topics.get(topic)
        return found is not None and found.is_internal

    def updated(
        self, response: "MetadataResponse", *, keep_others: bool, is_complete: bool = False
    ) -> "ClusterMetadata":
        """Return a new snapshot with a broker's response merged in.

        A partition keeps its leader if the response has an older leader epoch: brokers learn of elections at different
        times, and going back to an older epoch would send requests to a leader that has been replaced (KIP-320).

        Arguments:
            keep_others: whether to keep topics that the response does not contain.
            is_complete: whether the response contains all topics.
        """
        lists = _SharedLists()
        topics = dict(self._topics) if keep_others else {}
        errors = dict(self.topic_errors) if keep_others else {}
        for answered in response.topics:
            name = answered.name if answered.name is not None else self.topic_name(answered.topic_id)
            if name is None:
                continue
            known = self._topics.get(name)
            error = for_code(answered.error_code) if answered.error_code else None
            if error is None:
                errors.pop(name, None)
                topics[name] = _topic(name, answered, known, lists)
                continue
            errors[name] = error
            topics.pop(name, None)
            if known is not None and not issubclass(error, _FORGET_ON):
                topics[name] = known
        return ClusterMetadata(
            [BrokerMetadata(each.node_id, each.host, each.port, each.rack) for each in response.brokers],
            topics.values(),
            cluster_id=response.cluster_id if response.cluster_id is not None else self.cluster_id,
            controller_id=response.controller_id,
            topic_errors=errors,
            version=self.version + 1,
            is_complete=is_complete or (keep_others and self.is_complete),
        )

    def with_leader(self, tp: TopicPartition, leader: int, leader_epoch: int) -> "ClusterMetadata":
        """Return a new snapshot with a partition's new leader, which a Fetch or Produce response reported (KIP-951)."""
        topic = self._topics.get(tp.topic)
        known = self.partition_metadata(tp)
        if topic is None or known is None or leader_epoch <= known.leader_epoch:
            return self
        moved = known._replace(leader=leader, leader_epoch=leader_epoch, error=None)
        partitions = MappingProxyType({**topic.partitions, tp.partition: moved})
        copy = object.__new__(ClusterMetadata)
        for name in self.__slots__:
            setattr(copy, name, getattr(self, name))
        copy._topics = {**self._topics, tp.topic: topic._replace(partitions=partitions)}
        copy.version = self.version + 1
        return copy

    def __repr__(self) -> str:
        return (
            f"ClusterMetadata(cluster_id={self.cluster_id!r}, brokers={sorted(self._nodes)}, "
            f"topics={len(self._topics)}, version={self.version})"
        )


class _SharedLists(dict[tuple[int, ...], list[int]]):
    """Shares one list object among all partitions with the same replicas.

    A large cluster has very many partitions but few different lists, and the cyclic garbage collector has to traverse
    every list object.
    """

    def __missing__(self, brokers: tuple[int, ...]) -> list[int]:
        found = self[brokers] = list(brokers)
        return found


def _topic(
    name: str, answered: "MetadataResponseTopic", known: TopicMetadata | None, lists: _SharedLists
) -> TopicMetadata:
    topic_id = answered.topic_id if answered.topic_id != _NO_ID else None
    same = known is not None and not is_another_topic(known.topic_id, topic_id)
    before = known.partitions if known is not None and same else {}
    partitions = {
        each.partition_index: _partition(name, each, before.get(each.partition_index), lists)
        for each in answered.partitions
    }
    return TopicMetadata(name, topic_id, answered.is_internal, MappingProxyType(partitions))


def _partition(
    topic: str, answered: "MetadataResponsePartition", known: PartitionMetadata | None, lists: _SharedLists
) -> PartitionMetadata:
    if known is not None and 0 <= answered.leader_epoch < known.leader_epoch:
        return known
    return PartitionMetadata(
        topic,
        answered.partition_index,
        answered.leader_id,
        answered.leader_epoch,
        lists[tuple(answered.replica_nodes)],
        lists[tuple(answered.isr_nodes)],
        lists[tuple(answered.offline_replicas)],
        for_code(answered.error_code) if answered.error_code else None,
    )
