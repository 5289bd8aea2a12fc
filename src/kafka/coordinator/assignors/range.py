"""The range assignor: assigns each member a range of consecutive partitions of each topic."""

from collections.abc import Iterable, Mapping
from typing import Any

from kafka.coordinator.assignors.abstract import (
    AbstractPartitionAssignor,
    PartitionCounts,
    Subscription,
    by_member_id,
    sort_key,
)
from kafka.coordinator.consumer_protocol import make_assignment, make_subscription
from kafka.wire.api.consumer_protocol import ConsumerProtocolAssignment, ConsumerProtocolSubscription


class RangePartitionAssignor(AbstractPartitionAssignor):
    """Divides the ordered partitions of each topic into one range for each member that subscribes to it.

    If they cannot be divided evenly, the first members get one more partition each. Topics with equal numbers of
    partitions are therefore assigned alike and can be joined partition by partition. Java: ``RangeAssignor``, but
    without rack awareness.
    """

    name = "range"
    version = 0
    on_loop = True
    by_default = True

    @classmethod
    def assign(
        cls, cluster: PartitionCounts, members: Mapping[str, Subscription] | Iterable[Any]
    ) -> Mapping[str, ConsumerProtocolAssignment]:
        """Distribute the partitions; see `AbstractPartitionAssignor.assign`."""
        wanted: dict[str, list[str]] = {}
        members = by_member_id(members)
        for member_id, subscription in sorted(members.items(), key=sort_key):
            for topic in subscription.topics:
                wanted.setdefault(topic, []).append(member_id)
        assigned: dict[str, dict[str, list[int]]] = {member_id: {} for member_id in members}
        for topic, member_ids in wanted.items():
            partitions = sorted(cluster.partitions_for_topic(topic) or ())
            each, more = divmod(len(partitions), len(member_ids))
            start = 0
            for index, member_id in enumerate(member_ids):
                stop = start + each + (index < more)
                if stop > start:
                    assigned[member_id][topic] = partitions[start:stop]
                start = stop
        return {member_id: make_assignment(topics) for member_id, topics in assigned.items()}

    @classmethod
    def metadata(cls, topics: Iterable[str]) -> ConsumerProtocolSubscription:
        """Return the topics; this assignor has no user data."""
        return make_subscription(topics)

    @classmethod
    def on_assignment(cls, assignment: ConsumerProtocolAssignment, generation: int = -1) -> None:
        """Do nothing: this assignor has no state."""
