"""Which broker a request has to go to: a partition's leader, the controller, the coordinator of a group."""

from collections.abc import Awaitable, Callable

from kafka.cluster.coordinators import Coordinators
from kafka.cluster.metadata import ClusterMetadata
from kafka.cluster.protocols import CoordinatorKind, MetadataAccess
from kafka.cluster.retry import RetryPolicy
from kafka.errors import (
    LeaderNotAvailableError,
    NotControllerError,
    UnknownTopicOrPartitionError,
    UnsupportedVersionError,
)
from kafka.net import Connection
from kafka.structs import TopicPartition
from kafka.wire.api.metadata import MetadataRequest


class BrokerLookup:
    """Finds brokers by what they do. The methods are those of the same names in `ClusterClient`.

    Arguments:
        cluster: has the metadata, and refreshes them.
        coordinators: asks for coordinators, once at a time.
        any_connection: gives a connection to any broker.
        retries: repeats what finds nothing.
    """

    def __init__(
        self,
        cluster: MetadataAccess,
        coordinators: Coordinators,
        any_connection: Callable[[], Awaitable[Connection]],
        retries: RetryPolicy,
    ) -> None:
        self._cluster = cluster
        self._coordinators = coordinators
        self._any_connection = any_connection
        self._retries = retries

    async def partition_leader(self, tp: TopicPartition, timeout_ms: float) -> int:
        """See `ClusterClient.partition_leader`."""
        leader = self._cluster.metadata.leader_for_partition(tp)
        if leader is not None:
            return leader

        async def look() -> int:
            return _leader(await self._cluster.refresh_metadata([tp.topic]), tp)

        what = f"looking for the leader of partition {tp.partition} of topic {tp.topic!r}"
        return await self._retries.run(what, look, timeout_ms)

    async def controller(self) -> int:
        """See `ClusterClient.controller`."""
        metadata = self._cluster.metadata
        if metadata.broker_metadata(metadata.controller_id) is None:
            metadata = await self._cluster.refresh_metadata(())
        controller = metadata.controller_id
        if metadata.broker_metadata(controller) is None:
            connection = await self._any_connection()
            if connection.api_versions.pick(MetadataRequest, min_version=1) is None:
                raise UnsupportedVersionError("brokers before 0.10 do not tell which of them is the controller")
            raise NotControllerError("the cluster has no controller at the moment")
        return controller

    async def coordinator(self, kind: CoordinatorKind, key: str, timeout_ms: float) -> int:
        """See `ClusterClient.coordinator`."""
        known = self._coordinators.known(kind, key)
        if known is not None:
            return known
        what = f"looking for the coordinator of {kind} {key!r}"
        return await self._retries.run(what, lambda: self._coordinators.find(kind, key), timeout_ms)


def _leader(metadata: ClusterMetadata, tp: TopicPartition) -> int:
    """The leader that metadata name. Raises why there is none."""
    leader = metadata.leader_for_partition(tp)
    if leader is not None:
        return leader
    error = metadata.topic_errors.get(tp.topic)
    if error is not None:
        raise error(f"topic {tp.topic!r}: {error.description}")
    if metadata.partition_metadata(tp) is None:
        raise UnknownTopicOrPartitionError(f"topic {tp.topic!r} has no partition {tp.partition}")
    raise LeaderNotAvailableError(f"partition {tp.partition} of topic {tp.topic!r} has no leader at the moment")
