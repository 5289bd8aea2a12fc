"""The facts of a simulation: sent records and their outcomes, assigned partitions, delivered records and commits.

`Ledger` records facts, and reports a problem if a single fact is wrong. `problems` compares all facts with the
guarantees of Kafka's clients. `CommitLedger` compares the commits that brokers accepted with the records that members
received, the results of their calls, and the offsets observed later.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field

from kafka.structs import TopicPartition

GroupPartition = tuple[str, TopicPartition]


@dataclass
class CommitLedger:
    """The commits of groups.

    Attributes:
        found: the list of problems.
        handed_out: by group and partition, the offset after the last record that any member received.
        handed_to: by member and partition, the offset after the last record that the member received.
        accepted: by group and partition, the offset that brokers accepted last.
        highest: by group and partition, the highest offset that brokers have ever accepted.
        rewound: by group and partition, the lowest offset that a member has passed to `seek`.
        stood: by member and partition, the group's offset when the member was assigned the partition.
    """

    found: list[str]
    handed_out: Mapping[GroupPartition, int]
    handed_to: Mapping[tuple[str, TopicPartition], int]
    accepted: dict[GroupPartition, int] = field(default_factory=dict)
    highest: dict[GroupPartition, int] = field(default_factory=dict)
    rewound: dict[GroupPartition, int] = field(default_factory=dict)
    stood: dict[tuple[str, TopicPartition], int] = field(default_factory=dict)

    def accept(self, group: str, member: str, offsets: Mapping[TopicPartition, int]) -> None:
        """Record that a broker has accepted a member's commit. An offset may decrease only after a `seek`."""
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
        """Record that a member seeks back to an earlier offset."""
        self.rewound[group, tp] = min(offset, self.rewound.get((group, tp), offset))

    def told(self, group: str, member: str, offsets: Mapping[TopicPartition, int]) -> None:
        """Record that a member's commit succeeded, as reported by its consumer."""
        for tp, offset in offsets.items():
            highest = self.highest.get((group, tp), 0)
            if highest < offset:
                self.found.append(
                    f"{member} was told that {shown(tp, offset)} is committed, but {group} only came to {highest}"
                )

    def given_up(self, group: str, member: str, positions: Mapping[TopicPartition, int]) -> Iterable[str]:
        """Describe what a member with automatic commits leaves uncommitted when it cleanly gives up partitions."""
        for tp, position in positions.items():
            stood = self.accepted.get((group, tp), 0)
            if stood != position:
                yield f"{member} gives up {shown(tp, position)}, but {group} is left at {stood}"

    def assigned(self, group: str, member: str, partitions: Iterable[TopicPartition]) -> None:
        """Record that a member was assigned partitions; it starts to read at the group's committed offsets."""
        for tp in partitions:
            self.rewound.pop((group, tp), None)
        self.stood.update(((member, tp), self.accepted.get((group, tp), 0)) for tp in partitions)

    def started(self, group: str, member: str, tp: TopicPartition, offset: int) -> None:
        """Record that a member received its first record of a newly assigned partition.

        The group's offset may have increased since the assignment, as a member may notice late that it has lost the
        partition to another member.
        """
        first, last = self.stood.get((member, tp), 0), self.accepted.get((group, tp), 0)
        if not first <= offset <= last:
            self.found.append(f"{member} starts at {shown(tp, offset)}, where {group} went from {first} to {last}")

    def stored(self, whose: str, offsets: Mapping[GroupPartition, int]) -> None:
        """Check that the stored offsets include every accepted commit, and no others.

        Arguments:
            whose: the reader of the offsets, or the place where they are stored.
            offsets: all stored offsets.
        """
        for (group, tp), offset in self.accepted.items():
            there = offsets.get((group, tp))
            if there != offset:
                self.found.append(f"{whose}: {group} has committed {shown(tp, offset)}, but {there} is stored")
        for (group, tp), offset in offsets.items():
            if (group, tp) not in self.accepted:
                self.found.append(f"{whose}: {shown(tp, offset)} is stored, which {group} has never committed")

    def behind(self) -> Iterable[str]:
        """Describe the groups that have not committed everything they received."""
        for (group, tp), reached in self.handed_out.items():
            stood = self.accepted.get((group, tp), 0)
            if stood != reached:
                yield f"{group} was given {tp.topic}-{tp.partition} up to {reached}, but has committed {stood}"


def shown(tp: TopicPartition, offset: int) -> str:
    """Format a partition and an offset for a message."""
    return f"{tp.topic}-{tp.partition}@{offset}"


@dataclass
class SentRecord:
    """A record passed to a producer.

    Attributes:
        name: the record's value, which is unique.
        producer: the producer's name.
        number: the record's number, counted per producer.
        in_calm: whether all failures were over when the record was sent.
        partition, offset: the record's position according to its acknowledgement; None if there is none.
        error: the error if sending has failed.
    """

    name: str
    producer: str
    number: int
    in_calm: bool = False
    partition: TopicPartition | None = None
    offset: int | None = None
    error: BaseException | None = None

    @property
    def is_acknowledged(self) -> bool:
        """Whether a broker has acknowledged the record."""
        return self.offset is not None


@dataclass
class Ledger:
    """Records what happened in a simulation.

    Arguments:
        is_calm: a function that returns whether all failures and their effects are over, after which nothing may fail.

    Attributes:
        sent: every record sent, by name.
        handed_out: by group and partition, the offset after the last record that any member received.
        handed_to: by member and partition, the offset after the last record that the member received.
        read: by group, every record that any member received.
        assigned: by group and member, the assigned partitions.
        commits: the commits of groups.
        found: problems detected during the simulation.
    """

    is_calm: Callable[[], bool] = lambda: False
    sent: dict[str, SentRecord] = field(default_factory=dict)
    handed_out: dict[GroupPartition, int] = field(default_factory=dict)
    handed_to: dict[tuple[str, TopicPartition], int] = field(default_factory=dict)
    read: dict[str, set[tuple[TopicPartition, int]]] = field(default_factory=lambda: defaultdict(set))
    assigned: dict[tuple[str, str], set[TopicPartition]] = field(default_factory=lambda: defaultdict(set))
    found: list[str] = field(default_factory=list)
    commits: CommitLedger = field(init=False)

    def __post_init__(self) -> None:
        """Create the commit ledger, which shares this ledger's received records and problems."""
        self.commits = CommitLedger(self.found, self.handed_out, self.handed_to)

    # Facts ------------------------------------------------------------------------------------------------------------

    def sending(self, producer: str, number: int) -> SentRecord:
        """Record that a record is about to be sent."""
        record = SentRecord(f"{producer}:{number}", producer, number, self.is_calm())
        self.sent[record.name] = record
        return record

    def assign(self, group: str, member: str, partitions: Collection[TopicPartition]) -> None:
        """Record that a member was assigned partitions."""
        for tp in partitions:
            others = [other for (one, other), held in self.assigned.items() if one == group and tp in held]
            if others and self.is_calm():
                self.found.append(
                    f"{member} is assigned {tp.topic}-{tp.partition}, which {', '.join(others)} still has"
                )
        self.assigned[group, member].update(partitions)
        self.commits.assigned(group, member, partitions)

    def take_away(self, group: str, member: str, partitions: Collection[TopicPartition]) -> None:
        """Record that a member lost partitions."""
        held = self.assigned[group, member]
        for tp in partitions:
            if tp not in held:
                self.found.append(f"{member} loses {tp.topic}-{tp.partition}, which it was never told to have")
        held.difference_update(partitions)

    def closed(self, group: str, member: str) -> None:
        """Record that a member's consumer was closed."""
        for tp in sorted(self.assigned.pop((group, member), ())):
            self.found.append(f"{member} is closed, and was not told that it gives up {tp.topic}-{tp.partition}")

    def hand_out(self, group: str, member: str, tp: TopicPartition, offsets: list[int], expected: int | None) -> None:
        """Record that a member received records from a partition.

        Arguments:
            offsets: the offsets of the records, in order.
            expected: the offset after the last record that this member has received from the partition since its
                assignment; None if it has received none.
        """
        first, end, reached = offsets[0], offsets[-1] + 1, self.handed_out.get((group, tp), 0)
        if tp not in self.assigned[group, member]:
            self.found.append(f"{member} was given {shown(tp, first)} of a partition that it was not told to have")
        if expected is None:
            self.commits.started(group, member, tp, first)
        elif first != expected:
            self.found.append(f"{member} was given {shown(tp, first)} after it had read up to {expected}")
        if first > reached:
            self.found.append(f"{member} was given {shown(tp, first)}, but its group had only read up to {reached}")
        if offsets != list(range(first, first + len(offsets))):
            self.found.append(f"{member} was given {tp.topic}-{tp.partition} with gaps or out of order: {offsets}")
        self.handed_out[group, tp] = max(reached, end)
        self.handed_to[member, tp] = max(self.handed_to.get((member, tp), 0), end)
        self.read[group].update((tp, offset) for offset in offsets)

    # Problems ---------------------------------------------------------------------------------------------------------

    def problems(self, logs: Mapping[TopicPartition, list[str]], groups: Iterable[str], idempotent: bool) -> list[str]:
        """Describe every violation of the guarantees of Kafka's clients.

        Arguments:
            logs: the names of the records in each partition, from offset 0 on.
            groups: the groups that have read everything.
            idempotent: whether a record may be in a log only once.
        """
        return [
            *self.found,
            *self._outcomes(),
            *self._acknowledged(logs),
            *(self._doubles(logs) if idempotent else ()),
            *self._order(logs),
            *self._unread(logs, groups),
        ]

    def _outcomes(self) -> Iterable[str]:
        for record in self.sent.values():
            if not record.is_acknowledged and record.error is None:
                yield f"{record.name} was neither acknowledged nor failed"
            if record.error is not None and record.in_calm:
                yield f"{record.name} failed although nothing was wrong: {record.error!r}"

    def _acknowledged(self, logs: Mapping[TopicPartition, list[str]]) -> Iterable[str]:
        for record in self.sent.values():
            if record.partition is None or record.offset is None:
                continue
            log = logs[record.partition]
            there = log[record.offset] if 0 <= record.offset < len(log) else None
            if there != record.name:
                yield f"{record.name} was acknowledged at {shown(record.partition, record.offset)}, where {there} is"

    def _doubles(self, logs: Mapping[TopicPartition, list[str]]) -> Iterable[str]:
        seen: dict[str, str] = {}
        for tp, log in logs.items():
            for offset, name in enumerate(log):
                place = shown(tp, offset)
                if name in seen:
                    yield f"{name} is in the log twice: {seen[name]} and {place}"
                seen[name] = place

    def _order(self, logs: Mapping[TopicPartition, list[str]]) -> Iterable[str]:
        for tp, log in logs.items():
            last: dict[str, int] = {}
            for name in dict.fromkeys(log):
                record = self.sent.get(name)
                if record is None:
                    yield f"{tp.topic}-{tp.partition} holds {name!r}, which was never sent"
                    continue
                if record.number < last.get(record.producer, -1):
                    yield f"{name} stands behind {record.producer}:{last[record.producer]} in {tp.topic}-{tp.partition}"
                last[record.producer] = record.number

    def _unread(self, logs: Mapping[TopicPartition, list[str]], groups: Iterable[str]) -> Iterable[str]:
        for group in groups:
            missing = [
                shown(tp, offset)
                for tp, log in logs.items()
                for offset in range(len(log))
                if (tp, offset) not in self.read[group]
            ]
            if missing:
                yield f"group {group} was never given {len(missing)} records, the first is {missing[0]}"
