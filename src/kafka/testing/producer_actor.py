"""A program that uses a producer in a simulation: it sends numbered records."""

import asyncio
import random
from collections.abc import Sequence
from typing import Any

from kafka.errors import KafkaError
from kafka.producer import AsyncKafkaProducer
from kafka.structs import TopicPartition
from kafka.testing.ledger import Ledger, SentRecord
from kafka.testing.plan import ProducerPlan
from kafka.testing.story import Story

_PADDING = (0, 10, 1_000, 40_000)
"""How many bytes records have beside their names; the last need receive buffers of their own."""
_WEIGHTS = (33, 33, 33, 1)


class ProducerActor:
    """Sends records until it has sent them all, and takes down what became of each.

    Arguments:
        name: what it is called; also its client id.
        plan: how many records it sends, and the options of its producer.
        bootstrap_servers: where the cluster is.
        topics: pairs of a topic and its number of partitions.
        rng: of topics, partitions, sizes and pauses.
        ledger, story: take down what happens.
    """

    def __init__(
        self,
        name: str,
        plan: ProducerPlan,
        bootstrap_servers: str,
        topics: Sequence[tuple[str, int]],
        rng: random.Random,
        ledger: Ledger,
        story: Story,
    ) -> None:
        self.name = name
        self._options = {**plan.options, "bootstrap_servers": bootstrap_servers, "client_id": name}
        self._topics = topics
        self._records = plan.records
        self._rng = rng
        self._ledger = ledger
        self._story = story

    async def run(self) -> None:
        """Send everything; every record has an outcome when this returns."""
        producer = await self._started()
        outcomes: list[asyncio.Task[None]] = []
        try:
            for number in range(self._records):
                record = self._ledger.sending(self.name, number)
                topic, partitions = self._rng.choice(self._topics)
                value = record.name.encode() + b" " * self._rng.choices(_PADDING, _WEIGHTS)[0]
                partition = self._rng.randrange(partitions)
                try:
                    future = await producer.send(topic, value, partition=partition)
                except KafkaError as error:
                    record.error = error
                    continue
                outcomes.append(asyncio.ensure_future(self._settle(record, future)))
                if self._rng.random() < 0.2:
                    await asyncio.sleep(self._rng.expovariate(2.0))
            await producer.flush()
        except KafkaError as error:  # flush() repeats what failed; each record has its own outcome
            self._story.tell(self.name, f"flush: {error}")
        finally:
            await asyncio.gather(*outcomes)
            await producer.stop()
        self._story.tell(self.name, f"has sent its {self._records} records")

    async def _started(self) -> AsyncKafkaProducer:
        while True:
            producer = AsyncKafkaProducer(**self._options)
            try:
                await producer.start()
            except KafkaError as error:
                self._story.tell(self.name, f"cannot start: {error}")
                await asyncio.sleep(1.0)
            else:
                return producer

    async def _settle(self, record: SentRecord, future: Any) -> None:
        try:
            metadata = await future
        except KafkaError as error:
            record.error = error
            self._story.tell(self.name, f"{record.name} failed: {error}")
        else:
            record.partition = TopicPartition(metadata.topic, metadata.partition)
            record.offset = metadata.offset
