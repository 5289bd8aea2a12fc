"""The round-robin assignor: assigns the partitions of all topics to the members in turn."""

import itertools
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


class RoundRobinPartitionAssignor(AbstractPartitionAssignor):
    """Assigns the partitions to the members in turn, ordered by topic name and partition number.

    Members that do not subscribe to a partition's topic are skipped. Java: ``RoundRobinAssignor``.
    """

    name = "roundrobin"
    version = 0
    on_loop = True
    by_default = True

    @classmethod
    def assign(
        cls, cluster: PartitionCounts, members: Mapping[str, Subscription] | Iterable[Any]
    ) -> Mapping[str, ConsumerProtocolAssignment]:
        """Distribute the partitions; see `AbstractPartitionAssignor.assign`."""
        members = by_member_id(members)
        wanted = {member_id: frozenset(subscription.topics) for member_id, subscription in members.items()}
        assigned: dict[str, dict[str, list[int]]] = {member_id: {} for member_id in members}
        turns = itertools.cycle([member_id for member_id, _ in sorted(members.items(), key=sort_key)])
        for topic in sorted(frozenset().union(*wanted.values())):
            for partition in sorted(cluster.partitions_for_topic(topic) or ()):
                member_id = next(turn for turn in turns if topic in wanted[turn])
                assigned[member_id].setdefault(topic, []).append(partition)
        return {member_id: make_assignment(topics) for member_id, topics in assigned.items()}

    @classmethod
    def metadata(cls, topics: Iterable[str]) -> ConsumerProtocolSubscription:
        """Return the topics; this assignor has no user data."""
        return make_subscription(topics)

    @classmethod
    def on_assignment(cls, assignment: ConsumerProtocolAssignment, generation: int = -1) -> None:
        """Do nothing: this assignor has no state."""
