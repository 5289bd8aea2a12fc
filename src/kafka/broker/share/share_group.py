"""A share group: its members, and the partitions assigned to them.

Unlike in other groups, several members may read the same partition. Counterpart: Kafka's ShareGroup and SimpleAssignor.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from uuid import UUID

from kafka.broker.clock import Timer

Assignment = dict[UUID, list[int]]
"""Partitions by topic id."""


class ShareGroupState(StrEnum):
    """A state of a share group; the value is Kafka's name for it."""

    EMPTY = "Empty"
    STABLE = "Stable"
    DEAD = "Dead"


class ShareMember:
    """A member of a share group; `epoch` is the epoch of the last assignment sent to it."""

    __slots__ = ("assignment", "client_host", "client_id", "epoch", "expiry", "member_id", "rack_id", "topics")

    def __init__(self, member_id: str, client_id: str, client_host: str) -> None:
        self.member_id = member_id
        self.client_id = client_id
        self.client_host = client_host
        self.rack_id: str | None = None
        self.topics: frozenset[str] = frozenset()
        self.epoch = 0
        self.assignment: Assignment = {}
        self.expiry: Timer | None = None

    def expire_in(self, timer: Timer) -> None:
        """Replace the timer that ends the member's session."""
        if self.expiry is not None:
            self.expiry.cancel()
        self.expiry = timer

    def leave(self) -> None:
        """Cancel the timer of a member that has left."""
        if self.expiry is not None:
            self.expiry.cancel()
            self.expiry = None


class ShareGroup:
    """A share group. Its epoch increases each time its members, subscriptions or partitions change."""

    def __init__(self, group_id: str, epoch: int = 0) -> None:
        self.group_id = group_id
        self.epoch = epoch
        self.members: dict[str, ShareMember] = {}
        self._assigned_for: object = None

    @property
    def state(self) -> ShareGroupState:
        """The group's state: stable if it has members, otherwise empty."""
        return ShareGroupState.STABLE if self.members else ShareGroupState.EMPTY

    @property
    def topics(self) -> set[str]:
        """The topics to which the members subscribe."""
        return {topic for member in self.members.values() for topic in member.topics}

    def assign(self, partitions: Mapping[str, tuple[UUID, int]]) -> None:
        """Reassign the partitions if members, subscriptions or partitions have changed.

        `partitions` contains the id and partition count of each existing topic.
        """
        wanted = {topic: partitions[topic] for topic in sorted(self.topics) if topic in partitions}
        basis = (wanted, {name: member.topics for name, member in self.members.items()})
        if basis == self._assigned_for:
            return
        self._assigned_for = basis
        self.epoch += 1
        targets: dict[str, Assignment] = {member_id: {} for member_id in self.members}
        for names, topics in self._alike(wanted).items():
            _deal(names, topics, targets)
        for member_id, target in targets.items():
            self.members[member_id].assignment = target

    def _alike(self, wanted: Mapping[str, tuple[UUID, int]]) -> dict[tuple[str, ...], list[tuple[UUID, int]]]:
        """Group the partitions by the set of members that subscribe to their topics."""
        found: dict[tuple[str, ...], list[tuple[UUID, int]]] = {}
        for topic, (topic_id, count) in wanted.items():
            names = tuple(sorted(name for name, member in self.members.items() if topic in member.topics))
            found.setdefault(names, []).extend((topic_id, number) for number in range(count))
        return found


def _deal(names: tuple[str, ...], partitions: Iterable[tuple[UUID, int]], targets: dict[str, Assignment]) -> None:
    """Distribute partitions evenly, so that each partition has a member and each member has a partition."""
    dealt = list(partitions)
    for turn in range(max(len(names), len(dealt))):
        topic_id, number = dealt[turn % len(dealt)]
        targets[names[turn % len(names)]].setdefault(topic_id, []).append(number)
