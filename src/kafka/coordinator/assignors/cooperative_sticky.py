"""`CooperativeStickyAssignor`: sticky assignment for members that keep their partitions during a rebalance."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kafka.coordinator.assignors.abstract import (
    PartitionCounts,
    RebalanceProtocol,
    Subscription,
    by_member_id,
    one_by_one,
)
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyAssignorMemberMetadataV1, StickyPartitionAssignor
from kafka.coordinator.consumer_protocol import assigned_partitions, make_assignment, partitions_by_topic
from kafka.wire.api.consumer_protocol import ConsumerProtocolAssignment, ConsumerProtocolSubscription

_USER_DATA = struct.Struct(">i")
"""The generation, for leaders that read subscriptions before version 2, which do not contain it."""


class CooperativeStickyAssignor(StickyPartitionAssignor):
    """Distributes partitions like `StickyPartitionAssignor`, in two rounds if any partition moves (KIP-429).

    A partition that moves is not assigned in the first round. Its owner revokes it and joins again, and the second
    round assigns it to the new owner. Meanwhile, members continue to read the partitions that they keep. Members with
    Java's and kafka-python's ``CooperativeStickyAssignor`` can be in the same group.

    A group migrates from an eager assignor without downtime in two rolling restarts: first with both assignors
    (``[CooperativeStickyAssignor, RangePartitionAssignor]``, which is still eager), then with this one alone.
    """

    name = "cooperative-sticky"
    version = 1

    @classmethod
    def assign(
        cls, cluster: PartitionCounts, members: Mapping[str, Subscription] | Iterable[Any]
    ) -> Mapping[str, ConsumerProtocolAssignment]:
        """Distribute the partitions, except those that another member still owns."""
        members = by_member_id(members)
        wanted = {name: assigned_partitions(made) for name, made in super().assign(cluster, members).items()}
        owned = {name: frozenset(cls.parse_member_metadata(member).partitions) for name, member in members.items()}
        leaving = {tp for name, had in owned.items() for tp in had.difference(wanted[name])}
        given = {name: [tp for tp in each if tp in owned[name] or tp not in leaving] for name, each in wanted.items()}
        return {name: make_assignment(partitions_by_topic(each)) for name, each in given.items()}

    @classmethod
    def parse_member_metadata(cls, metadata: Any) -> StickyAssignorMemberMetadataV1:
        """Read the partitions that a member owns, and the generation of that assignment, from its `Subscription`."""
        generation = metadata.generation if hasattr(metadata, "generation") else metadata.generation_id
        if generation < 0:
            generation = _generation_in(metadata.user_data)
        return StickyAssignorMemberMetadataV1(list(metadata.topics), one_by_one(metadata.owned_partitions), generation)

    def metadata(  # type: ignore[override]  # what it overrides is a descriptor
        self, topics: Iterable[str]
    ) -> ConsumerProtocolSubscription:
        """Return the topics and the generation; the member itself adds the partitions that it owns."""
        return ConsumerProtocolSubscription(topics=sorted(topics), user_data=_USER_DATA.pack(self.generation))

    def supported_protocols(self) -> Sequence[RebalanceProtocol]:
        """Return both protocols: combined with an eager assignor, this one is eager too, which allows a migration."""
        return RebalanceProtocol.COOPERATIVE, RebalanceProtocol.EAGER


def _generation_in(user_data: bytes | None) -> int:
    """Return the generation in user data; -1 if it is missing or cannot be read, as in Java."""
    if user_data is None or len(user_data) < _USER_DATA.size:
        return CooperativeStickyAssignor.DEFAULT_GENERATION_ID
    generation: int = _USER_DATA.unpack_from(user_data)[0]
    return generation
