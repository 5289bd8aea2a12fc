"""Which partitions are read from a nearby follower because their leader said so (KIP-392). It reads no clock itself."""

from typing import NamedTuple

from kafka.cluster.metadata import ClusterMetadata
from kafka.structs import TopicPartition


class _Lease(NamedTuple):
    broker_id: int
    until: float


class PreferredReplicas:
    """See the module. Times are the loop's, in seconds.

    Arguments:
        lease_ms: how long a follower is read before the leader is asked again; ``metadata_max_age_ms``.

    Attributes:
        leases: where partitions are read that have a preferred replica; empty mostly.
    """

    def __init__(self, lease_ms: float) -> None:
        self._lease_s = lease_ms / 1000
        self.leases: dict[TopicPartition, _Lease] = {}

    def prefer(self, tp: TopicPartition, broker_id: int, now: float) -> None:
        """The leader of a partition has named a replica to read from."""
        self.leases[tp] = _Lease(broker_id, now + self._lease_s)

    def broker_for(self, tp: TopicPartition, metadata: ClusterMetadata, now: float) -> int | None:
        """Where a partition is read: from the replica, while the lease runs and the broker is there, or the leader.

        None if the partition has no leader, and so nobody to ask.
        """
        lease = self.leases.get(tp)
        if lease is not None:
            if now < lease.until and metadata.broker_metadata(lease.broker_id) is not None:
                return lease.broker_id
            del self.leases[tp]
        return metadata.leader_for_partition(tp)

    def forget(self, tp: TopicPartition) -> bool:
        """Ask the leader again; whether there was a replica."""
        return self.leases.pop(tp, None) is not None

    def forget_broker(self, broker_id: int) -> list[TopicPartition]:
        """A broker does not answer: ask the leaders again. Returns the partitions that it was preferred for."""
        affected = [tp for tp, lease in self.leases.items() if lease.broker_id == broker_id]
        for tp in affected:
            del self.leases[tp]
        return affected
