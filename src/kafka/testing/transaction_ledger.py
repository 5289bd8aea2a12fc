"""Transactions of a simulation: what was in each, what its producer was told, and what committed reads show of it."""

import enum
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from kafka.structs import TopicPartition

Views = Mapping[TopicPartition, list[str]]
"""The names of the records of each partition, in their order."""


class Outcome(enum.Enum):
    """What is known of a transaction by its producer."""

    OPEN = "nothing was said of its end"
    COMMITTED = "its commit has succeeded"
    ABORTED = "it was aborted, or can only have been"
    UNKNOWN = "its commit was asked for, and its producer lost before it knew"


@dataclass
class Transaction:
    """One transaction.

    Attributes:
        producer, number: whose, and which of its transactions it was.
        records: the name of each record, and where it was sent.
        offset: what was committed with it for the producer's group; None: nothing.
        outcome: what its producer knows.
        in_calm: nothing was wrong, nor was it later.
    """

    producer: str
    number: int
    records: dict[str, TopicPartition] = field(default_factory=dict)
    offset: int | None = None
    outcome: Outcome = Outcome.OPEN
    in_calm: bool = False

    @property
    def name(self) -> str:
        """Its name in texts."""
        return f"{self.producer}/{self.number}"

    def add(self, partition: TopicPartition) -> str:
        """Give the next record its name."""
        name = f"{self.name}:{len(self.records)}"
        self.records[name] = partition
        return name


class TransactionLedger:
    """All transactions.

    Arguments:
        found: where problems go.
        is_calm: whether nothing has been wrong for so long that nothing may fail any more.
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
        """A transaction has failed that was not meant to."""
        if transaction.in_calm:
            self.found.append(f"transaction {transaction.name} failed although nothing was wrong: {error!r}")

    def check(self, views: Views, offsets: Mapping[str, int | None]) -> None:
        """Hold what committed reads show in the end against what producers were told.

        Arguments:
            views: everything that a committed read gives.
            offsets: what is committed for the group of each producer.
        """
        self.found.extend(self._atomic(views))
        self.found.extend(self._order(views))
        self.found.extend(self._offsets(views, offsets))

    def check_reader(self, reader: str, seen: Views, views: Views) -> None:
        """Hold what a reader was given while it all happened against what there is in the end."""
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
