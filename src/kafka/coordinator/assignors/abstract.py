"""The base class of assignors, and what they are given: partition counts, and the members with their subscriptions."""

from __future__ import annotations

import abc
import dataclasses
import enum
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Protocol, Self

from kafka.structs import TopicPartition
from kafka.wire.api.consumer_protocol import ConsumerProtocolAssignment, ConsumerProtocolSubscription


class PartitionCounts(Protocol):
    """The part of the cluster's metadata that an assignor needs."""

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        """The partitions of a topic; None for a topic that is not known."""


@dataclasses.dataclass(frozen=True, slots=True)
class Subscription:
    """What a member reported about itself when it joined.

    Arguments:
        topics: the topics it wants.
        user_data: what its assignor added.
        owned_partitions: the partitions it still holds; empty in the eager protocol.
        generation: their generation; -1 if unknown.
        group_instance_id: set on static members (KIP-345).
        rack_id: the rack it runs in, or None (KIP-881).
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
    """What members do with their partitions while their group rebalances (KIP-429)."""

    EAGER = 0
    """They give up all of them."""
    COOPERATIVE = 1
    """They give up those that are assigned to others."""


class AbstractPartitionAssignor(abc.ABC):
    """A way to distribute partitions over members. Java: ``ConsumerPartitionAssignor``.

    Members of one group agree on an assignor by its ``name``, even across clients in other languages, so assignors with
    the same name have to assign alike. Methods may be class methods; both classes and instances are accepted as
    ``partition_assignment_strategy``. A user's methods run in a separate thread and may block.

    An assignor of this package is a module here, and listed in `kafka.coordinator.assignors.ASSIGNORS`. It declares
    `on_loop` and `by_default`; other assignors do not.
    """

    on_loop: ClassVar[bool] = False
    """Whether this class itself, but no subclass, runs on the client's loop, as it processes its input in one pass."""
    by_default: ClassVar[bool] = False
    """Whether a consumer offers it if it was given no assignors."""

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The name that members agree by, such as ``"range"``."""

    @abc.abstractmethod
    def assign(
        self, cluster: PartitionCounts, members: Mapping[str, Subscription]
    ) -> Mapping[str, ConsumerProtocolAssignment]:
        """Distribute the partitions of all topics that members want.

        Arguments:
            cluster: answers ``partitions_for_topic(topic)``.
            members: the subscriptions by member id. Iteration yields the ids, each of which has a ``member_id``, a
                ``group_instance_id`` and, as ``metadata``, its subscription, like the members in kafka-python 3's list;
                the assignors of this package accept such a list too.

        Returns the assignment of each member; each partition is assigned at most once.
        """

    @abc.abstractmethod
    def metadata(self, topics: Iterable[str]) -> ConsumerProtocolSubscription:
        """What to tell the leader when joining: the topics, and the assignor's own user data."""

    @abc.abstractmethod
    def on_assignment(self, assignment: ConsumerProtocolAssignment, generation: int = -1) -> None:
        """Called with this member's assignment after each rebalance.

        Arguments:
            assignment: the partitions by topic, and what the leader's assignor has added.
            generation: of the group; -1 if unknown.
        """

    def supported_protocols(self) -> Sequence[RebalanceProtocol]:
        """The protocols that it assigns for; a consumer uses the highest that all its assignors have.

        A cooperative assignor assigns a partition to a new member only if no other has it in its ``owned_partitions``.
        """
        return (RebalanceProtocol.EAGER,)


def sort_key(member: tuple[str, Subscription]) -> tuple[bool, str]:
    """Order members as Java does: static ones first, by instance id; then the others by member id.

    Programs of kafka-python 1.x pass an assignor what its `metadata` returned, which has no instance id.
    """
    member_id, subscription = member
    instance_id = getattr(subscription, "group_instance_id", None)
    return (False, instance_id) if instance_id is not None else (True, member_id)


class MemberId(str):
    """The id of a member, with its subscription: a dict of members iterates like the list of members in kafka-python 3.

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
    """Return the subscriptions by member id, also of a list of kafka-python 3's members."""
    if isinstance(members, Mapping):
        return members
    told: Iterable[Any] = members
    return {member.member_id: _subscription(member.metadata, member.group_instance_id) for member in told}


def _subscription(told: Any, group_instance_id: str | None) -> Subscription:
    """Convert a message with a member's subscription."""
    return Subscription(
        topics=told.topics,
        user_data=told.user_data,
        owned_partitions=one_by_one(told.owned_partitions),
        generation=getattr(told, "generation_id", -1),
        group_instance_id=group_instance_id,
        rack_id=getattr(told, "rack_id", None),
    )


def one_by_one(owned: Iterable[Any]) -> list[TopicPartition]:
    """List the owned partitions of a subscription one by one.

    Arguments:
        owned: those of a `Subscription`, or of the message, which groups them by topic.
    """
    partitions = []
    for each in owned:
        numbers = [each.partition] if isinstance(each, TopicPartition) else each.partitions
        partitions += [TopicPartition(each.topic, number) for number in numbers]
    return partitions
