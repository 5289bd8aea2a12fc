"""Programs that use the clients in a simulation: producers that send numbered records, members of groups that read."""

import asyncio
import random
from collections.abc import Collection, Sequence
from typing import Any

from kafka.consumer import AsyncKafkaConsumer
from kafka.consumer.subscription_state import ConsumerRebalanceListener
from kafka.errors import KafkaError
from kafka.producer import AsyncKafkaProducer
from kafka.structs import TopicPartition
from kafka.testing.ledger import Ledger, SentRecord
from kafka.testing.story import Story


class ProducerActor:
    """Sends records until it has sent them all, and takes down what became of each.

    Arguments:
        name: what it is called; also its client id.
        options: of its producer.
        topics: pairs of a topic and its number of partitions.
        records: how many to send.
        rng: of topics, partitions, sizes and pauses.
        ledger, story: take down what happens.
    """

    def __init__(
        self,
        name: str,
        options: dict[str, Any],
        topics: Sequence[tuple[str, int]],
        records: int,
        rng: random.Random,
        ledger: Ledger,
        story: Story,
    ) -> None:
        self.name = name
        self._options = {**options, "client_id": name}
        self._topics = topics
        self._records = records
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
                value = record.name.encode() + b" " * self._rng.choice((0, 10, 1_000))
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


class MemberActor:
    """A member of a group, which reads until it is told to stop, and now and then leaves and comes back.

    Arguments:
        name: what it is called; also its client id.
        group: the group.
        options: of its consumer.
        topics: what it subscribes to.
        rng: of pauses, and of how long it stays.
        ledger, story: take down what happens.
    """

    def __init__(
        self,
        name: str,
        group: str,
        options: dict[str, Any],
        topics: Sequence[str],
        rng: random.Random,
        ledger: Ledger,
        story: Story,
    ) -> None:
        self.name, self.group = name, group
        self._options = {**options, "client_id": name, "group_id": group}
        self._topics = topics
        self._rng = rng
        self._ledger = ledger
        self._story = story
        self._stopping = False
        self._expected: dict[TopicPartition, int] = {}

    def stop(self) -> None:
        """Close the consumer after the present poll, and end."""
        self._stopping = True

    async def run(self) -> None:
        """Read; returns after `stop`."""
        while not self._stopping:
            await self._stay(polls=self._rng.randrange(20, 400))

    async def _stay(self, polls: int) -> None:
        consumer = AsyncKafkaConsumer(**self._options)
        self._expected.clear()
        try:
            await consumer.start()
            consumer.subscribe(self._topics, listener=_Forget(self._expected))
            while polls > 0 and not self._stopping:
                polls -= 1
                await self._poll(consumer)
        except KafkaError as error:
            self._story.tell(self.name, f"its consumer gave up: {type(error).__name__}: {error}")
            await asyncio.sleep(1.0)
        finally:
            await consumer.close()

    async def _poll(self, consumer: AsyncKafkaConsumer) -> None:
        try:
            batches = dict(await consumer.poll(timeout_ms=500))
        except KafkaError as error:
            if not error.retriable:
                raise
            self._story.tell(self.name, f"poll: {error}")
            await asyncio.sleep(0.1)
            return
        for tp, records in batches.items():
            offsets = [record.offset for record in records]
            self._ledger.hand_out(self.group, self.name, tp, offsets, self._expected.get(tp))
            self._expected[tp] = offsets[-1] + 1
        if self._rng.random() < 0.1:
            await asyncio.sleep(self._rng.expovariate(1.0))


class _Forget(ConsumerRebalanceListener):
    """A rebalance listener: what is no longer assigned is read from where the group stands when it comes back."""

    def __init__(self, expected: dict[TopicPartition, int]) -> None:
        self._expected = expected

    def on_partitions_revoked(self, revoked: Collection[TopicPartition]) -> None:
        """Forget where they were read."""
        for tp in revoked:
            self._expected.pop(tp, None)

    def on_partitions_assigned(self, assigned: Collection[TopicPartition]) -> None:
        """Nothing is known of them yet."""
        for tp in assigned:
            self._expected.pop(tp, None)
