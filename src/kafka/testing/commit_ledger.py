"""Commits of groups: what brokers accepted, compared with what members were handed, were told and later find."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from kafka.structs import TopicPartition

GroupPartition = tuple[str, TopicPartition]


@dataclass
class CommitLedger:
    """See the module.

    Attributes:
        found: where problems go.
        handed_out: for a group and partition, the offset after the last record that any member was given.
        handed_to: for a member and partition, the offset after the last record that it was given.
        accepted: for a group and partition, what brokers accepted last.
        highest: for a group and partition, the highest that they ever accepted.
        rewound: for a group and partition, the lowest offset that its member went back to by itself.
        stood: for a member and partition, where its group stood when it was told that the partition is its own.
    """

    found: list[str]
    handed_out: Mapping[GroupPartition, int]
    handed_to: Mapping[tuple[str, TopicPartition], int]
    accepted: dict[GroupPartition, int] = field(default_factory=dict)
    highest: dict[GroupPartition, int] = field(default_factory=dict)
    rewound: dict[GroupPartition, int] = field(default_factory=dict)
    stood: dict[tuple[str, TopicPartition], int] = field(default_factory=dict)

    def accept(self, group: str, member: str, offsets: Mapping[TopicPartition, int]) -> None:
        """A broker has accepted a member's commit. An offset goes back only where the member did."""
        for tp, offset in offsets.items():
            key, place = (group, tp), shown(tp, offset)
            stood, reached = self.accepted.get(key, 0), self.handed_out.get(key, 0)
            if offset > reached:
                self.found.append(f"{member} commits {place}, but {group} was only given records up to {reached}")
            elif offset > max(stood, self.handed_to.get((member, tp), 0)):
                self.found.append(f"{member} commits {place}, which others were given, while {group} stood at {stood}")
            if offset < min(stood, self.rewound.get(key, stood)):
                self.found.append(f"{member} commits {place}, which takes {group} back from {stood}")
            self.accepted[key] = offset
            self.highest[key] = max(self.highest.get(key, 0), offset)

    def rewind(self, group: str, tp: TopicPartition, offset: int) -> None:
        """A member seeks back."""
        self.rewound[group, tp] = min(offset, self.rewound.get((group, tp), offset))

    def told(self, group: str, member: str, offsets: Mapping[TopicPartition, int]) -> None:
        """A member was told that its commit has succeeded."""
        for tp, offset in offsets.items():
            highest = self.highest.get((group, tp), 0)
            if highest < offset:
                self.found.append(
                    f"{member} was told that {shown(tp, offset)} is committed, but {group} only came to {highest}"
                )

    def given_up(self, group: str, member: str, positions: Mapping[TopicPartition, int]) -> Iterable[str]:
        """What is wrong where a member that commits automatically gives up partitions, in order and without trouble."""
        for tp, position in positions.items():
            stood = self.accepted.get((group, tp), 0)
            if stood != position:
                yield f"{member} gives up {shown(tp, position)}, but {group} is left at {stood}"

    def assigned(self, group: str, member: str, partitions: Iterable[TopicPartition]) -> None:
        """A member was told that partitions are its own: it reads on from where the group stands."""
        for tp in partitions:
            self.rewound.pop((group, tp), None)
        self.stood.update(((member, tp), self.accepted.get((group, tp), 0)) for tp in partitions)

    def started(self, group: str, member: str, tp: TopicPartition, offset: int) -> None:
        """A member was given the first record of a partition that it has taken over.

        The group may have gone on since then: a member may hear late that it has lost the partition to another.
        """
        first, last = self.stood.get((member, tp), 0), self.accepted.get((group, tp), 0)
        if not first <= offset <= last:
            self.found.append(f"{member} starts at {shown(tp, offset)}, where {group} went from {first} to {last}")

    def stored(self, whose: str, offsets: Mapping[GroupPartition, int]) -> None:
        """Stored offsets were looked at; every commit that was accepted has to be there.

        Arguments:
            whose: who has looked, or where.
            offsets: all that is stored.
        """
        for (group, tp), offset in self.accepted.items():
            there = offsets.get((group, tp))
            if there != offset:
                self.found.append(f"{whose}: {group} has committed {shown(tp, offset)}, but {there} is stored")
        for (group, tp), offset in offsets.items():
            if (group, tp) not in self.accepted:
                self.found.append(f"{whose}: {shown(tp, offset)} is stored, which {group} has never committed")

    def behind(self) -> Iterable[str]:
        """Groups that have not committed everything that they were given."""
        for (group, tp), reached in self.handed_out.items():
            stood = self.accepted.get((group, tp), 0)
            if stood != reached:
                yield f"{group} was given {tp.topic}-{tp.partition} up to {reached}, but has committed {stood}"


def shown(tp: TopicPartition, offset: int) -> str:
    """A partition and an offset in a text."""
    return f"{tp.topic}-{tp.partition}@{offset}"
