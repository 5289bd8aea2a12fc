"""A program that uses a share consumer in a simulation: it reads, and decides about each record."""

import asyncio
import random
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence

from kafka.consumer.share.async_share_consumer import AsyncKafkaShareConsumer
from kafka.consumer.share.materializer import ShareConsumerRecord
from kafka.consumer.share.piece import AcknowledgeType
from kafka.errors import KafkaError
from kafka.structs import TopicPartition
from kafka.testing.plan import ShareMemberPlan
from kafka.testing.share_ledger import ShareLedger
from kafka.testing.story import Story

_LONG_S = 20.0
"""A pause that is longer than the locks of records."""
_FINAL = (AcknowledgeType.ACCEPT, AcknowledgeType.REJECT)

Said = dict[tuple[TopicPartition, int], deque[tuple[AcknowledgeType, int]]]
"""What was said of records, in order, and the counts of their deliveries."""


class ShareActor:
    """A member of a share group, which reads until it is told to stop, and now and then leaves and comes back.

    Arguments:
        name: what it is called; also its client id.
        group: the share group.
        plan: the options of its consumer.
        bootstrap_servers: where the cluster is.
        topics: what it subscribes to.
        rng: of pauses, of what it says of records, and of how long it stays.
        ledger, story: take down what happens.
    """

    def __init__(
        self,
        name: str,
        group: str,
        plan: ShareMemberPlan,
        bootstrap_servers: str,
        topics: Sequence[str],
        rng: random.Random,
        ledger: ShareLedger,
        story: Story,
    ) -> None:
        self.name, self.group = name, group
        self._options = {
            **plan.options,
            "bootstrap_servers": bootstrap_servers,
            "client_id": name,
            "group_id": group,
        }
        self._is_implicit = plan.options["share_acknowledgement_mode"] == "implicit"
        self._topics = topics
        self._rng = rng
        self._ledger = ledger
        self._story = story
        self._stopping = self._finishing = False
        self._held: list[tuple[TopicPartition, int, int]] = []
        self._said: Said = defaultdict(deque)

    def finish(self) -> None:
        """Accept everything from now on, and do not dawdle."""
        self._finishing = True

    def stop(self) -> None:
        """Close the consumer after the present poll, and end."""
        self._stopping = True

    async def run(self) -> None:
        """Read; returns after `stop`."""
        while not self._stopping:
            await self._stay(polls=self._rng.randrange(20, 200))

    async def _stay(self, polls: int) -> None:
        consumer = AsyncKafkaShareConsumer(*self._topics, **self._options)
        self._held, self._said = [], defaultdict(deque)
        try:
            await consumer.start()
            consumer.set_acknowledgement_commit_callback(self._told)
            while polls > 0 and not self._stopping:
                polls -= 1
                await self._poll(consumer)
            await self._commit(consumer)
        except KafkaError as error:
            self._story.tell(self.name, f"its consumer gave up: {type(error).__name__}: {error}")
        finally:
            self._ledger.left(self.name)
            await consumer.close()
        if not self._stopping:
            await asyncio.sleep(self._rng.expovariate(0.5))

    async def _poll(self, consumer: AsyncKafkaShareConsumer) -> None:
        """Take records, work on them for a while, and say what became of them."""
        self._say_implicitly()
        for tp, records in (await consumer.poll(timeout_ms=500)).items():
            for record in records:
                assert isinstance(record, ShareConsumerRecord)
                count = record.delivery_count
                self._ledger.delivered(self.group, self.name, tp, record.offset, count)
                self._held.append((tp, record.offset, count))
        if self._held:
            dawdles = self._rng.random() < 0.02 and not self._finishing
            await asyncio.sleep(_LONG_S if dawdles else self._rng.expovariate(20))
        if not self._is_implicit:
            for tp, offset, count in self._held:
                kind = self._decision()
                self._say(tp, offset, count, kind)
                consumer.acknowledge(tp.topic, tp.partition, offset, kind)
            self._held = []
        if self._rng.random() < 0.2:
            await self._commit(consumer)

    async def _commit(self, consumer: AsyncKafkaShareConsumer) -> None:
        """Have what was said count now, and not only with the next poll."""
        self._say_implicitly()
        await consumer.commit(timeout_ms=10_000)

    def _decision(self) -> AcknowledgeType:
        if self._finishing:
            return AcknowledgeType.ACCEPT
        kinds = (AcknowledgeType.ACCEPT, AcknowledgeType.RELEASE, AcknowledgeType.REJECT)
        return self._rng.choices(kinds, (90, 7, 3))[0]

    def _say_implicitly(self) -> None:
        """What was handed out is accepted by the next call."""
        if self._is_implicit:
            for held in self._held:
                self._say(*held, AcknowledgeType.ACCEPT)
            self._held = []

    def _say(self, tp: TopicPartition, offset: int, count: int, kind: AcknowledgeType) -> None:
        self._ledger.let_go(self.group, tp, offset)
        self._said[tp, offset].append((kind, count))

    def _told(self, offsets: Mapping[TopicPartition, set[int]], error: Exception | None) -> None:
        """What became of acknowledgements, in the order in which they were said."""
        for tp, numbers in offsets.items():
            if error is not None:
                self._story.tell(self.name, f"acknowledging {len(numbers)} records of {tp} failed: {error}")
            for offset in sorted(numbers):
                if not self._said[tp, offset]:
                    self._ledger.never_said(self.group, self.name, tp, offset)
                    continue
                kind, count = self._said[tp, offset].popleft()
                if error is None and kind in _FINAL:
                    self._ledger.told(self.group, tp, offset, count)
