"""The members of a group as an assignor is given them: a dict, which also reads as kafka-python 3's list of members."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

from kafka.coordinator.assignors.abstract import Subscription
from kafka.structs import TopicPartition


class MemberId(str):
    """The id of a member, with its subscription: a dict of members is iterated over like kafka-python 3's list of them.

    Arguments:
        member_id: the id.
        metadata: the subscription.
    """

    __slots__ = ("metadata",)
    metadata: Subscription

    def __new__(cls, member_id: str, metadata: Subscription) -> Self:
        made = super().__new__(cls, member_id)
        made.metadata = metadata
        return made

    @property
    def member_id(self) -> str:
        """The id alone."""
        return str(self)

    @property
    def group_instance_id(self) -> str | None:
        """Set on static members."""
        return self.metadata.group_instance_id


def by_member_id(members: Mapping[str, Subscription] | Iterable[Any]) -> Mapping[str, Subscription]:
    """The subscriptions by member id, also of a list of kafka-python 3's members."""
    if isinstance(members, Mapping):
        return members
    told: Iterable[Any] = members
    return {member.member_id: _subscription(member.metadata, member.group_instance_id) for member in told}


def _subscription(told: Any, group_instance_id: str | None) -> Subscription:
    """What a message with a member's subscription says."""
    return Subscription(
        topics=told.topics,
        user_data=told.user_data,
        owned_partitions=one_by_one(told.owned_partitions),
        generation=getattr(told, "generation_id", -1),
        group_instance_id=group_instance_id,
        rack_id=getattr(told, "rack_id", None),
    )


def one_by_one(owned: Iterable[Any]) -> list[TopicPartition]:
    """Partitions of a `Subscription`, or of the message, which groups them by topic."""
    partitions = []
    for each in owned:
        numbers = [each.partition] if isinstance(each, TopicPartition) else each.partitions
        partitions += [TopicPartition(each.topic, number) for number in numbers]
    return partitions
