"""The transactions of a simulation: their content, the outcome their producer saw, and what committed reads show."""

import enum
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from kafka.structs import TopicPartition

Views = Mapping[TopicPartition, list[str]]
"""The names of the records of each partition, in order."""


class Outcome(enum.Enum):
    """What the producer of a transaction knows about its outcome."""

    OPEN = "nothing was said of its end"
    COMMITTED = "its commit has succeeded"
    ABORTED = "it was aborted, or can only have been"
    UNKNOWN = "its commit was asked for, and its producer lost before it knew"


@dataclass
class Transaction:
    """One transaction.

    Attributes:
        producer, number: its producer, and its number among that producer's transactions.
        records: the name and the partition of each record.
        offset: the offset committed with it for the producer's group; None: none.
        outcome: what its producer knows.
        in_calm: whether there were no failures then or later.
    """

    producer: str
    number: int
    records: dict[str, TopicPartition] = field(default_factory=dict)
    offset: int | None = None
    outcome: Outcome = Outcome.OPEN
    in_calm: bool = False

    @property
    def name(self) -> str:
        """Its name in messages."""
        return f"{self.producer}/{self.number}"

    def add(self, partition: TopicPartition) -> str:
        """Add a record and return its name."""
        name = f"{self.name}:{len(self.records)}"
        self.records[name] = partition
        return name


class TransactionLedger:
    """All transactions.

    Arguments:
        found: the list of problems.
        is_calm: returns whether enough time has passed since the last failure that nothing may fail any more.
    """

    def __init__(self, found: list[str], is_calm: Callable[[], bool]) -> None:
        self._is_calm = is_calm
        self.transactions: list[Transaction] = []
        self.found = found

    def begin(self, producer: str, number: int) -> Transaction:
        """A transaction is about to begin."""
        self.transactions.append(Transaction(producer, number, in_calm=self._is_calm()))
        return self.transactions[-1]

    def failed(self, transaction: Transaction, error: BaseException) -> None:
        """A transaction has failed unexpectedly."""
        if transaction.in_calm:
            self.found.append(f"transaction {transaction.name} failed although nothing was wrong: {error!r}")

    def check(self, views: Views, offsets: Mapping[str, int | None]) -> None:
        """Compare the final committed reads with the outcomes that producers saw.

        Arguments:
            views: the result of a committed read.
            offsets: the committed offset of each producer's group.
        """
        self.found.extend(self._atomic(views))
        self.found.extend(self._order(views))
        self.found.extend(self._offsets(views, offsets))

    def check_reader(self, reader: str, seen: Views, views: Views) -> None:
        """Compare what a reader received during the run with the final state."""
        for tp, names in views.items():
            if seen[tp] != names:
                self.found.append(f"{reader} was given {seen[tp]} of {tp.topic}-{tp.partition}, where {names} is")

    def _atomic(self, views: Views) -> Iterable[str]:
        for transaction in self.transactions:
            times = {name: views[tp].count(name) for name, tp in transaction.records.items()}
            shown = sum(map(bool, times.values()))
            twice = [name for name, count in times.items() if count > 1]
            if twice:
                yield f"{twice} of transaction {transaction.name} are in the log twice"
            if transaction.outcome is Outcome.OPEN:
                yield f"transaction {transaction.name} has no outcome"
            if transaction.outcome is Outcome.ABORTED and shown:
                yield f"transaction {transaction.name} was aborted, and {shown} of its records are shown"
            if transaction.outcome is Outcome.COMMITTED and shown < len(times):
                yield f"transaction {transaction.name} was committed, and {shown} of {len(times)} records are shown"
            if transaction.outcome is Outcome.UNKNOWN and shown not in (0, len(times)):
                yield f"transaction {transaction.name} is shown by half: {times}"

    def _order(self, views: Views) -> Iterable[str]:
        places = {
            name: (transaction.producer, transaction.number, number)
            for transaction in self.transactions
            for number, name in enumerate(transaction.records)
        }
        for tp, names in views.items():
            last: dict[str, tuple[int, int]] = {}
            for name in names:
                if name not in places:
                    yield f"{tp.topic}-{tp.partition} shows {name!r}, which was never sent"
                    continue
                producer, *place = places[name]
                if (place[0], place[1]) < last.get(producer, (-1, -1)):
                    yield f"{name} is out of order in {tp.topic}-{tp.partition}"
                last[producer] = (place[0], place[1])

    def _offsets(self, views: Views, offsets: Mapping[str, int | None]) -> Iterable[str]:
        expected: dict[str, int | None] = dict.fromkeys(offsets)
        for transaction in self.transactions:
            shown = any(name in views[tp] for name, tp in transaction.records.items())
            if transaction.offset is not None and shown:
                expected[transaction.producer] = transaction.offset
        for producer, offset in expected.items():
            if offsets[producer] != offset:
                yield f"the group of {producer} is at {offsets[producer]}, and its transactions committed {offset}"
