"""The transactional part of a simulation: its producers, a committed reader beside them, and what they have to show."""

import asyncio
import random
from collections.abc import Callable
from typing import Any

from kafka.consumer import AsyncKafkaConsumer
from kafka.errors import KafkaError
from kafka.structs import TopicPartition
from kafka.testing.ledger import Ledger
from kafka.testing.plan import TransactionPlan
from kafka.testing.story import Story
from kafka.testing.transaction_actor import TransactionActor
from kafka.testing.transaction_ledger import TransactionLedger, Views

TOPIC = "transactions"
PARTITIONS = 2
GROUPS = "transactional-"
"""How the groups begin whose offsets are committed with transactions."""
PATIENCE_S = 300.0
"""How much virtual time the reader gets to read what there is once nothing is wrong any more."""


class TransactionTrial:
    """See the module.

    Arguments:
        plans: of its producers.
        bootstrap_servers: where the cluster is.
        rng: of all that happens.
        ledger: of the simulation, where problems go.
        story: takes down what happens.
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
        """Make all transactions, with somebody reading meanwhile."""
        if self._actors:
            self._reading = asyncio.ensure_future(self._read_along())
            await asyncio.gather(*(actor.run() for actor in self._actors))

    async def check(self) -> None:
        """Once nothing is wrong any more, look at what there is."""
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
