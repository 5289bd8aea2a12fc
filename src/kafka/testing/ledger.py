"""What a simulation has promised and what it saw: sends and their outcomes, records handed out, offsets committed.

`Ledger` only takes down facts; `problems` holds them against what Kafka's clients promise.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from kafka.structs import TopicPartition


@dataclass
class SentRecord:
    """A record that a producer was given.

    Attributes:
        name: its value, which no other record has.
        producer: who sent it.
        number: which of that producer's sends it was.
        partition, offset: where it was acknowledged; None until then.
        error: why it failed; None until then.
    """

    name: str
    producer: str
    number: int
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

    Attributes:
        sent: every record sent, by its name.
        handed_out: for a group and partition, the offset after the last record that any member was given.
        found: problems that were seen while the simulation ran.
    """

    sent: dict[str, SentRecord] = field(default_factory=dict)
    handed_out: dict[tuple[str, TopicPartition], int] = field(default_factory=lambda: defaultdict(int))
    read: dict[str, set[tuple[TopicPartition, int]]] = field(default_factory=lambda: defaultdict(set))
    found: list[str] = field(default_factory=list)

    def sending(self, producer: str, number: int) -> SentRecord:
        """A record is about to be sent."""
        record = SentRecord(f"{producer}:{number}", producer, number)
        self.sent[record.name] = record
        return record

    def hand_out(self, group: str, member: str, tp: TopicPartition, offsets: list[int], expected: int | None) -> None:
        """A member was given records of a partition.

        Arguments:
            offsets: of the records, as they came.
            expected: the offset that follows what this member was given of the partition since it was assigned; None:
                nothing since then.
        """
        first, reached = offsets[0], self.handed_out[group, tp]
        if expected is not None and first != expected:
            self.found.append(f"{member} was given {_shown(tp)}@{first} after it had read up to {expected}")
        if first > reached:
            self.found.append(f"{member} was given {_shown(tp)}@{first}, but its group had only read up to {reached}")
        if offsets != list(range(first, first + len(offsets))):
            self.found.append(f"{member} was given {_shown(tp)} with gaps or out of order: {offsets}")
        self.handed_out[group, tp] = max(reached, offsets[-1] + 1)
        self.read[group].update((tp, offset) for offset in offsets)

    def committed(self, group: str, offsets: Mapping[TopicPartition, int]) -> None:
        """A group's committed offsets were looked at."""
        for tp, offset in offsets.items():
            if offset > self.handed_out[group, tp]:
                self.found.append(
                    f"group {group} has committed {_shown(tp)}@{offset}, but was only given records up to "
                    f"{self.handed_out[group, tp]}"
                )

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

    def _acknowledged(self, logs: Mapping[TopicPartition, list[str]]) -> Iterable[str]:
        for record in self.sent.values():
            if record.partition is None or record.offset is None:
                continue
            log = logs[record.partition]
            there = log[record.offset] if 0 <= record.offset < len(log) else None
            if there != record.name:
                yield f"{record.name} was acknowledged at {_shown(record.partition)}@{record.offset}, where {there} is"

    def _doubles(self, logs: Mapping[TopicPartition, list[str]]) -> Iterable[str]:
        seen: dict[str, str] = {}
        for tp, log in logs.items():
            for offset, name in enumerate(log):
                place = f"{_shown(tp)}@{offset}"
                if name in seen:
                    yield f"{name} is in the log twice: {seen[name]} and {place}"
                seen[name] = place

    def _order(self, logs: Mapping[TopicPartition, list[str]]) -> Iterable[str]:
        for tp, log in logs.items():
            last: dict[str, int] = {}
            for name in dict.fromkeys(log):
                record = self.sent.get(name)
                if record is None:
                    yield f"{_shown(tp)} holds {name!r}, which was never sent"
                    continue
                if record.number < last.get(record.producer, -1):
                    yield f"{name} stands behind {record.producer}:{last[record.producer]} in {_shown(tp)}"
                last[record.producer] = record.number

    def _unread(self, logs: Mapping[TopicPartition, list[str]], groups: Iterable[str]) -> Iterable[str]:
        for group in groups:
            missing = [
                f"{_shown(tp)}@{offset}"
                for tp, log in logs.items()
                for offset in range(len(log))
                if (tp, offset) not in self.read[group]
            ]
            if missing:
                yield f"group {group} was never given {len(missing)} records, the first is {missing[0]}"


def _shown(tp: TopicPartition) -> str:
    return f"{tp.topic}-{tp.partition}"
