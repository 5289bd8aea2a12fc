"""The transactions of a simulation: producers, a concurrent reader of committed records, and the final checks."""

import asyncio
import enum
import random
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kafka.consumer import AsyncKafkaConsumer
from kafka.errors import KafkaError, KafkaTimeoutError, TransactionFatalError
from kafka.producer import AsyncKafkaProducer
from kafka.structs import OffsetAndMetadata, TopicPartition
from kafka.testing.ledger import Ledger
from kafka.testing.simulation_plan import TransactionPlan
from kafka.testing.story import Story

_MOST_RECORDS = 8
_UNHURRIED_MS = 60_000
"""A timeout that the pauses in this module never reach, in milliseconds."""

Views = Mapping[TopicPartition, list[str]]
"""The names of the records in each partition, in order."""


class Outcome(enum.Enum):
    """The outcome of a transaction, as far as its producer knows."""

    OPEN = "not ended yet"
    COMMITTED = "committed"
    ABORTED = "aborted"
    UNKNOWN = "the producer was lost before it knew the result of its commit"


@dataclass
class Transaction:
    """One transaction.

    Attributes:
        producer, number: the producer, and the transaction's number, counted per producer.
        records: the name and partition of each record.
        offset: the offset that the transaction commits for the producer's group, or None.
        outcome: the outcome, as far as the producer knows.
        in_calm: whether all failures were over when the transaction began.
    """

    producer: str
    number: int
    records: dict[str, TopicPartition] = field(default_factory=dict)
    offset: int | None = None
    outcome: Outcome = Outcome.OPEN
    in_calm: bool = False

    @property
    def name(self) -> str:
        """The transaction's name in messages."""
        return f"{self.producer}/{self.number}"

    def add(self, partition: TopicPartition) -> str:
        """Add a record and return its name."""
        name = f"{self.name}:{len(self.records)}"
        self.records[name] = partition
        return name


class TransactionLedger:
    """All transactions of a simulation: their records, and their outcomes as far as their producers know.

    Arguments:
        found: the list of problems.
        is_calm: returns whether all failures and their effects are over, after which nothing may fail.
    """

    def __init__(self, found: list[str], is_calm: Callable[[], bool]) -> None:
        self._is_calm = is_calm
        self.transactions: list[Transaction] = []
        self.found = found

    def begin(self, producer: str, number: int) -> Transaction:
        """Add a transaction that is about to begin."""
        self.transactions.append(Transaction(producer, number, in_calm=self._is_calm()))
        return self.transactions[-1]

    def failed(self, transaction: Transaction, error: BaseException) -> None:
        """Record that a transaction has failed unexpectedly."""
        if transaction.in_calm:
            self.found.append(f"transaction {transaction.name} failed although nothing was wrong: {error!r}")

    def check(self, views: Views, offsets: Mapping[str, int | None]) -> None:
        """Compare the final committed reads with the outcomes known to the producers.

        Arguments:
            views: the records that a read_committed consumer reads.
            offsets: the committed offset of each producer's group.
        """
        self.found.extend(self._atomic(views))
        self.found.extend(self._order(views))
        self.found.extend(self._offsets(views, offsets))

    def check_reader(self, reader: str, seen: Views, views: Views) -> None:
        """Compare the records that a reader received during the run with the final state."""
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


class TransactionActor:
    """Runs a number of transactions. If a producer fails, another one with the same transactional id replaces it.

    Arguments:
        name: the actor's name, which is also its client id, its transactional id and its group id.
        plan: the number of transactions, and the producers' options.
        bootstrap_servers: the addresses of the cluster.
        partitions: the partitions to which the producers write.
        rng: the source of random numbers.
        ledger, story: record events.
    """

    def __init__(
        self,
        name: str,
        plan: TransactionPlan,
        bootstrap_servers: str,
        partitions: list[TopicPartition],
        rng: random.Random,
        ledger: TransactionLedger,
        story: Story,
    ) -> None:
        self.name = name
        self._options = {
            **plan.options,
            "bootstrap_servers": bootstrap_servers,
            "client_id": name,
            "transactional_id": name,
        }
        self._transactions = plan.transactions
        self._may_time_out = plan.options["transaction_timeout_ms"] < _UNHURRIED_MS
        self._partitions = partitions
        self._rng = rng
        self._ledger = ledger
        self._story = story

    async def run(self) -> None:
        """Run all transactions; return when every one has ended."""
        producer = await self._started()
        for number in range(self._transactions):
            transaction = self._ledger.begin(self.name, number)
            try:
                await self._make(producer, transaction)
            except TransactionFatalError as error:
                self._failed(transaction, error)
                if transaction.outcome is Outcome.OPEN:
                    transaction.outcome = Outcome.ABORTED
                old, producer = producer, await self._started()
                await old.stop()
            if self._rng.random() < 0.05:
                producer = await self._replaced(producer, transaction)
        await producer.stop()
        self._story.tell(self.name, f"has made its {self._transactions} transactions")

    async def _make(self, producer: AsyncKafkaProducer, transaction: Transaction) -> None:
        """Run one transaction, and record its outcome."""
        try:
            await producer.begin_transaction()
            await self._fill(producer, transaction)
            if self._rng.random() < 0.7:
                transaction.outcome = Outcome.UNKNOWN
                await self._decided(producer.commit_transaction)
                transaction.outcome = Outcome.COMMITTED
                return
        except TransactionFatalError:
            raise
        except KafkaError as error:
            self._failed(transaction, error)
        transaction.outcome = Outcome.ABORTED
        await self._decided(producer.abort_transaction)

    def _failed(self, transaction: Transaction, error: KafkaError) -> None:
        self._story.tell(self.name, f"transaction {transaction.number} has failed: {type(error).__name__}: {error}")
        if not self._may_time_out:
            self._ledger.failed(transaction, error)

    async def _fill(self, producer: AsyncKafkaProducer, transaction: Transaction) -> None:
        for _ in range(self._rng.randrange(1, _MOST_RECORDS)):
            partition = self._rng.choice(self._partitions)
            name = transaction.add(partition)
            await producer.send(partition.topic, name.encode(), partition=partition.partition)
            if self._rng.random() < 0.1:
                await asyncio.sleep(self._rng.expovariate(1.0))
        if self._rng.random() < 0.5:
            offset = transaction.number + 1
            await producer.send_offsets_to_transaction(
                {self._partitions[0]: OffsetAndMetadata(offset, "", -1)}, self.name
            )
            transaction.offset = offset

    async def _decided(self, call: Callable[[], Awaitable[object]]) -> None:
        """Retry a call while its errors leave the outcome undecided."""
        while True:
            try:
                await call()
            except KafkaTimeoutError as error:
                self._story.tell(self.name, f"asks again: {error}")
            else:
                return

    async def _replaced(self, old: AsyncKafkaProducer, before: Transaction) -> AsyncKafkaProducer:
        """Start another producer with the same id; it takes over in the middle of the old producer's transaction."""
        transaction = self._ledger.begin(self.name, before.number)
        transaction.outcome = Outcome.ABORTED
        producer = old
        try:
            await old.begin_transaction()
            partition = self._rng.choice(self._partitions)
            name = transaction.add(partition).replace(":", ":replaced:")
            transaction.records = {name: partition}
            await old.send(partition.topic, name.encode(), partition=partition.partition)
            producer = await self._started()
            await self._decided(old.commit_transaction)
            self._ledger.found.append(f"{self.name} was replaced, and committed {name} all the same")
        except KafkaError as error:
            self._story.tell(self.name, f"was replaced: {type(error).__name__}")
        if producer is old:
            producer = await self._started()
        await old.stop()
        return producer

    async def _started(self) -> AsyncKafkaProducer:
        """Return an initialized producer. Its initialization ends any open transaction of an earlier producer."""
        while True:
            producer = AsyncKafkaProducer(**self._options)
            try:
                await producer.start()
                await self._decided(producer.init_transactions)
            except KafkaError as error:
                self._story.tell(self.name, f"cannot start: {error}")
                await producer.stop()
                await asyncio.sleep(1.0)
            else:
                return producer


TOPIC = "transactions"
PARTITIONS = 2
GROUPS = "transactional-"
"""Prefix of the groups whose offsets are committed in transactions."""
PATIENCE_S = 300.0
"""Virtual time after the last failure within which the reader must read everything, in seconds."""


class TransactionTrial:
    """The transactional part of a simulation.

    Arguments:
        plans: the plans of the producers.
        bootstrap_servers: the addresses of the cluster.
        rng: the source of random numbers.
        ledger: the simulation's ledger, which collects problems.
        story: records events.
    """

    def __init__(
        self,
        plans: list[TransactionPlan],
        bootstrap_servers: str,
        rng: random.Random,
        ledger: Ledger,
        story: Story,
    ) -> None:
        self.partitions = [TopicPartition(TOPIC, number) for number in range(PARTITIONS)]
        self._ledger = TransactionLedger(ledger.found, ledger.is_calm)
        self._options: dict[str, Any] = {
            "bootstrap_servers": bootstrap_servers,
            "isolation_level": "read_committed",
            "auto_offset_reset": "earliest",
        }
        self._actors = [
            TransactionActor(
                f"{GROUPS}{number}",
                plan,
                bootstrap_servers,
                self.partitions,
                random.Random(rng.getrandbits(64)),
                self._ledger,
                story,
            )
            for number, plan in enumerate(plans)
        ]
        self._story = story
        self._seen: dict[TopicPartition, list[str]] = {tp: [] for tp in self.partitions}
        self._reading: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Run all transactions, with a concurrent reader."""
        if self._actors:
            self._reading = asyncio.ensure_future(self._read_along())
            await asyncio.gather(*(actor.run() for actor in self._actors))

    async def check(self) -> None:
        """Check the final state after the last failure."""
        if self._reading is None:
            return
        views = await self._read_all()
        loop = asyncio.get_running_loop()
        end = loop.time() + PATIENCE_S
        while loop.time() < end and any(len(self._seen[tp]) < len(views[tp]) for tp in self.partitions):
            await asyncio.sleep(0.5)
        self._reading.cancel()
        await asyncio.gather(self._reading, return_exceptions=True)
        self._ledger.check(views, {actor.name: await self._offset(actor.name) for actor in self._actors})
        self._ledger.check_reader("the committed reader", self._seen, views)
        outcomes = [each.outcome.name for each in self._ledger.transactions]
        self._story.tell("transactions", ", ".join(f"{outcomes.count(name)} {name}" for name in sorted(set(outcomes))))

    async def _read_along(self) -> None:
        while True:
            async with AsyncKafkaConsumer(**self._options, client_id="committed-reader") as consumer:
                await consumer.assign(self.partitions)
                for tp in self.partitions:
                    self._seen[tp].clear()
                try:
                    await self._read(consumer, self._seen, lambda: False)
                except KafkaError as error:
                    self._story.tell("committed-reader", f"begins again: {error}")
                    await asyncio.sleep(1.0)

    async def _read_all(self) -> Views:
        views: dict[TopicPartition, list[str]] = {tp: [] for tp in self.partitions}
        async with AsyncKafkaConsumer(**self._options, client_id="reader") as consumer:
            await consumer.assign(self.partitions)
            ends = await consumer.end_offsets(self.partitions)
            positions: dict[TopicPartition, int] = dict.fromkeys(self.partitions, 0)

            def at_the_end() -> bool:
                return all(positions[tp] >= ends[tp] for tp in self.partitions)

            while not at_the_end():
                await self._read(consumer, views, lambda: True)
                positions = {tp: await consumer.position(tp) or 0 for tp in self.partitions}
        async with AsyncKafkaConsumer(**{**self._options, "isolation_level": "read_uncommitted"}) as consumer:
            written = await consumer.end_offsets(self.partitions)
        for tp in self.partitions:
            if written[tp] != ends[tp]:
                self._ledger.found.append(f"{tp.topic}-{tp.partition} is open at {ends[tp]}, and goes to {written[tp]}")
        return views

    @staticmethod
    async def _read(
        consumer: AsyncKafkaConsumer, into: dict[TopicPartition, list[str]], is_enough: Callable[[], bool]
    ) -> None:
        while True:
            for tp, records in dict(await consumer.poll(timeout_ms=500)).items():
                into[tp] += [record.value.decode() for record in records]
            if is_enough():
                return

    async def _offset(self, group: str) -> int | None:
        options = {**self._options, "group_id": group, "enable_auto_commit": False}
        async with AsyncKafkaConsumer(**options) as consumer:
            found = await consumer.committed(self.partitions[0])
        return None if found is None else found.offset
