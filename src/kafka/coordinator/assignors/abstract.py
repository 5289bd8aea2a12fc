"""The base class of assignors, and its inputs: partition counts, and the members with their subscriptions."""

from __future__ import annotations

import abc
import dataclasses
import enum
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Protocol, Self

from kafka.structs import TopicPartition
from kafka.wire.api.consumer_protocol import ConsumerProtocolAssignment, ConsumerProtocolSubscription


class PartitionCounts(Protocol):
    """The part of the cluster metadata that an assignor needs: the partitions of topics. Consumers pass it."""

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        """Return the partitions of a topic; None for an unknown topic."""


@dataclasses.dataclass(frozen=True, slots=True)
class Subscription:
    """A member's subscription, as reported when it joined.

    Arguments:
        topics: the subscribed topics.
        user_data: data that the member's assignor added.
        owned_partitions: the partitions that the member still owns; empty in the eager protocol.
        generation: the generation in which the member owned these partitions; -1 if unknown.
        group_instance_id: set on static members (KIP-345).
        rack_id: the member's rack, or None (KIP-881).
    """

    topics: Sequence[str]
    user_data: bytes | None = None
    owned_partitions: Sequence[TopicPartition] = ()
    generation: int = -1
    group_instance_id: str | None = None
    rack_id: str | None = None

    @property
    def subscription(self) -> Sequence[str]:
        """The topics, under the name that older assignors use."""
        return self.topics


class RebalanceProtocol(enum.IntEnum):
    """How members handle their partitions while their group rebalances (KIP-429)."""

    EAGER = 0
    """Members revoke all their partitions."""
    COOPERATIVE = 1
    """Members revoke only the partitions that are assigned to other members."""


class AbstractPartitionAssignor(abc.ABC):
    """Distributes partitions among the members of a group. Java: ``ConsumerPartitionAssignor``.

    The members of a group agree on an assignor by its ``name``, even across clients in other languages, so assignors
    with the same name must produce the same assignments. Methods may be class methods;
    ``partition_assignment_strategy`` accepts classes and instances. A user's methods run in a separate thread and may
    block.

    Each assignor in this package has its own module, is listed in `kafka.coordinator.assignors.ASSIGNORS`, and
    declares `on_loop` and `by_default`; a user's assignors do not.
    """

    on_loop: ClassVar[bool] = False
    """Whether the assignor runs on the client's loop: only those of this package do; others run in a thread."""
    by_default: ClassVar[bool] = False
    """Whether consumers offer this assignor if none are configured."""

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The name by which members agree on an assignor, such as ``"range"``."""

    @abc.abstractmethod
    def assign(
        self, cluster: PartitionCounts, members: Mapping[str, Subscription]
    ) -> Mapping[str, ConsumerProtocolAssignment]:
        """Distribute the partitions of all subscribed topics.

        Arguments:
            cluster: answers ``partitions_for_topic(topic)``.
            members: the subscriptions by member id. Iteration yields the ids, which have the attributes ``member_id``,
                ``group_instance_id`` and ``metadata`` (the subscription), like the members in kafka-python 3's list.
                The assignors of this package also accept such a list.

        Returns the assignment of each member; each partition is assigned at most once.
        """

    @abc.abstractmethod
    def metadata(self, topics: Iterable[str]) -> ConsumerProtocolSubscription:
        """Return the subscription to send to the leader when joining: the topics, and the assignor's user data."""

    @abc.abstractmethod
    def on_assignment(self, assignment: ConsumerProtocolAssignment, generation: int = -1) -> None:
        """Receive this member's assignment after each rebalance.

        Arguments:
            assignment: the partitions by topic, and data that the leader's assignor added.
            generation: the group's generation; -1 if unknown.
        """

    def supported_protocols(self) -> Sequence[RebalanceProtocol]:
        """Return the supported protocols; a consumer uses the highest one that all its assignors support.

        A cooperative assignor assigns a partition to a new member only if no other has it in its ``owned_partitions``.
        """
        return (RebalanceProtocol.EAGER,)


def sort_key(member: tuple[str, Subscription]) -> tuple[bool, str]:
    """Return a key that sorts members as Java does: static members by instance id, then the others by member id.

    Programs written for kafka-python 1.x pass the result of `metadata`, which has no instance id.
    """
    member_id, subscription = member
    instance_id = getattr(subscription, "group_instance_id", None)
    return (False, instance_id) if instance_id is not None else (True, member_id)


class MemberId(str):
    """A member id with its subscription, so that iterating over a dict of members yields members as in kafka-python 3.

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
        """The member id as a string."""
        return str(self)

    @property
    def group_instance_id(self) -> str | None:
        """The instance id of a static member, or None."""
        return self.metadata.group_instance_id


def by_member_id(members: Mapping[str, Subscription] | Iterable[Any]) -> Mapping[str, Subscription]:
    """Return the subscriptions by member id. Also accepts a list of members, as in kafka-python 3."""
    if isinstance(members, Mapping):
        return members
    told: Iterable[Any] = members
    return {member.member_id: _subscription(member.metadata, member.group_instance_id) for member in told}


def _subscription(told: Any, group_instance_id: str | None) -> Subscription:
    """Convert a member's subscription message."""
    return Subscription(
        topics=told.topics,
        user_data=told.user_data,
        owned_partitions=one_by_one(told.owned_partitions),
        generation=getattr(told, "generation_id", -1),
        group_instance_id=group_instance_id,
        rack_id=getattr(told, "rack_id", None),
    )


def one_by_one(owned: Iterable[Any]) -> list[TopicPartition]:
    """List the owned partitions of a subscription.

    Arguments:
        owned: the owned partitions in a `Subscription`, or in the message, which groups them by topic.
    """
    partitions = []
    for each in owned:
        numbers = [each.partition] if isinstance(each, TopicPartition) else each.partitions
        partitions += [TopicPartition(each.topic, number) for number in numbers]
    return partitions
