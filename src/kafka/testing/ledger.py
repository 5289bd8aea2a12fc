"""What a simulation has promised and what it saw: sends and their outcomes, partitions assigned, records handed out.

`Ledger` takes down facts, and what is wrong with them by themselves; `problems` holds them against what Kafka's clients
promise. Commits have a ledger of their own.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field

from kafka.structs import TopicPartition
from kafka.testing.commit_ledger import CommitLedger, GroupPartition, shown


@dataclass
class SentRecord:
    """A record that a producer was given.

    Attributes:
        name: its value, which no other record has.
        producer: who sent it.
        number: which of that producer's sends it was.
        in_calm: nothing was wrong, nor was it later.
        partition, offset: where it was acknowledged; None until then.
        error: why it failed; None until then.
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
        """Whether a broker has taken it."""
        return self.offset is not None


@dataclass
class Ledger:
    """See the module.

    Arguments:
        is_calm: whether nothing has been wrong for so long that nothing may fail any more.

    Attributes:
        sent: every record sent, by its name.
        handed_out: for a group and partition, the offset after the last record that any member was given.
        handed_to: for a member and partition, the offset after the last record that it was given.
        read: for a group, every record that any member was given.
        assigned: for a group and member, the partitions that it was told of as its own.
        commits: what groups have committed.
        found: problems that were seen while the simulation ran.
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
        """Have commits held against what is handed out."""
        self.commits = CommitLedger(self.found, self.handed_out, self.handed_to)

    # Facts ------------------------------------------------------------------------------------------------------------

    def sending(self, producer: str, number: int) -> SentRecord:
        """A record is about to be sent."""
        record = SentRecord(f"{producer}:{number}", producer, number, self.is_calm())
        self.sent[record.name] = record
        return record

    def assign(self, group: str, member: str, partitions: Collection[TopicPartition]) -> None:
        """A member was told that partitions are its own."""
        for tp in partitions:
            others = [other for (one, other), held in self.assigned.items() if one == group and tp in held]
            if others and self.is_calm():
                self.found.append(
                    f"{member} is assigned {tp.topic}-{tp.partition}, which {', '.join(others)} still has"
                )
        self.assigned[group, member].update(partitions)
        self.commits.assigned(group, member, partitions)

    def take_away(self, group: str, member: str, partitions: Collection[TopicPartition]) -> None:
        """A member was told that partitions are not its own any more."""
        held = self.assigned[group, member]
        for tp in partitions:
            if tp not in held:
                self.found.append(f"{member} loses {tp.topic}-{tp.partition}, which it was never told to have")
        held.difference_update(partitions)

    def closed(self, group: str, member: str) -> None:
        """A member's consumer was closed."""
        for tp in sorted(self.assigned.pop((group, member), ())):
            self.found.append(f"{member} is closed, and was not told that it gives up {tp.topic}-{tp.partition}")

    def hand_out(self, group: str, member: str, tp: TopicPartition, offsets: list[int], expected: int | None) -> None:
        """A member was given records of a partition.

        Arguments:
            offsets: of the records, as they came.
            expected: the offset that follows what this member was given of the partition since it was assigned; None:
                nothing since then.
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

    # What is wrong with them ------------------------------------------------------------------------------------------

    def problems(self, logs: Mapping[TopicPartition, list[str]], groups: Iterable[str], idempotent: bool) -> list[str]:
        """Everything that is not as promised, in words.

        Arguments:
            logs: the names of the records of each partition, from offset 0 on.
            groups: groups that have read everything.
            idempotent: whether no record may be in a log twice.
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
