"""The simulated programs that use a producer, or a consumer in a group.

A `ProducerActor` sends numbered records; a `MemberActor` reads and commits as a member of a group.
"""

import asyncio
import functools
import random
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from kafka.consumer import AsyncConsumerRebalanceListener, AsyncKafkaConsumer
from kafka.errors import CommitFailedError, KafkaError, RebalanceInProgressError
from kafka.producer import AsyncKafkaProducer
from kafka.structs import OffsetAndMetadata, TopicPartition
from kafka.testing.ledger import Ledger, SentRecord
from kafka.testing.simulation_plan import CommitMode, MemberPlan, ProducerPlan
from kafka.testing.story import Story

_PADDING = (0, 10, 1_000, 40_000)
"""Sizes of the padding in a record, in bytes. The largest records need their own receive buffers."""
_WEIGHTS = (33, 33, 33, 1)


class ProducerActor:
    """Sends a number of records, and tracks the outcome of each.

    Arguments:
        name: the actor's name, which is also its client id.
        plan: the number of records, and the producer's options.
        bootstrap_servers: the addresses of the cluster.
        topics: pairs of a topic and its partition count.
        rng: the source of random numbers.
        ledger, story: record events.
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
        """Send all records; return when every record has an outcome."""
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
        except KafkaError as error:  # flush() raises earlier errors; each record has its own outcome
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


COMMIT_TIMEOUT_MS = 10_000
"""Timeout for ``commit()``, in milliseconds."""

_LONGEST_SEEK = 20


class MemberActor:
    """A member of a group that reads until it is stopped, and sometimes leaves and returns.

    Arguments:
        name: the actor's name, which is also its client id.
        group: the group.
        plan: the member's commit mode, and its consumer's options.
        bootstrap_servers: the addresses of the cluster.
        topics: the topics to which the member subscribes.
        rng: the source of random numbers.
        ledger, story: record events.
    """

    def __init__(
        self,
        name: str,
        group: str,
        plan: MemberPlan,
        bootstrap_servers: str,
        topics: Sequence[str],
        rng: random.Random,
        ledger: Ledger,
        story: Story,
    ) -> None:
        self.name, self.group = name, group
        self._commits = plan.commits
        self._options = {
            **plan.options,
            "bootstrap_servers": bootstrap_servers,
            "client_id": name,
            "group_id": group,
            "default_offset_commit_callback": self._called_back,
        }
        self._topics = topics
        self._rng = rng
        self._ledger = ledger
        self._story = story
        self._stopping = False
        self._positions: dict[TopicPartition, int] = {}
        self._committed: dict[TopicPartition, int] = {}
        self._callbacks_due = 0
        self._may_not_commit = False
        """Whether a commit has failed since the last poll because of a rebalance."""
        self._behind: list[str] = []
        """Problems of partitions revoked without a commit, until it is known whether a commit was possible."""

    def stop(self) -> None:
        """Make `run` close the consumer after the current poll, and return."""
        self._stopping = True

    async def run(self) -> None:
        """Read records until `stop` is called."""
        while not self._stopping:
            await self._stay(polls=self._rng.randrange(20, 400))

    async def _stay(self, polls: int) -> None:
        consumer = AsyncKafkaConsumer(**self._options)
        try:
            await consumer.start()
            consumer.subscribe(self._topics, listener=_Listener(self, consumer))
            while polls > 0 and not self._stopping:
                polls -= 1
                await self._poll(consumer)
        except KafkaError as error:
            self._story.tell(self.name, f"its consumer gave up: {type(error).__name__}: {error}")
            await asyncio.sleep(1.0)
        finally:
            await consumer.close()
            self._closed()

    def _look_behind(self) -> None:
        """Check that a leaving member has committed everything. As in Java, a rebalance may prevent commits."""
        if not self._may_not_commit:
            self._ledger.found.extend(self._behind)
        self._behind.clear()
        self._may_not_commit = False

    def _closed(self) -> None:
        self._look_behind()
        self._ledger.closed(self.group, self.name)
        if self._callbacks_due:
            self._ledger.found.append(f"{self.name} is closed, and {self._callbacks_due} commits never called back")
        self._callbacks_due = 0
        self._positions.clear()
        self._committed.clear()

    async def _poll(self, consumer: AsyncKafkaConsumer) -> None:
        try:
            batches = dict(await consumer.poll(timeout_ms=500))
        except KafkaError as error:
            if not error.retriable:
                raise
            self._story.tell(self.name, f"poll: {error}")
            await asyncio.sleep(0.1)
            return
        self._look_behind()
        for tp, records in batches.items():
            offsets = [record.offset for record in records]
            self._ledger.hand_out(self.group, self.name, tp, offsets, self._positions.get(tp))
            self._positions[tp] = offsets[-1] + 1
        if self._rng.random() < 0.1:
            await asyncio.sleep(self._rng.expovariate(1.0))
        if self._positions and self._rng.random() < 0.01:
            self._seek_back(consumer)
        if not batches or self._rng.random() < 0.5:
            await self.commit(consumer)

    def _seek_back(self, consumer: AsyncKafkaConsumer) -> None:
        tp = self._rng.choice(sorted(self._positions))
        offset = max(
            self._positions[tp] - self._rng.randrange(_LONGEST_SEEK), 0
        )  # limits the distance, so that the consumer makes progress
        consumer.seek(tp, offset)
        self._positions[tp] = offset
        self._ledger.commits.rewind(self.group, tp, offset)

    # Commits ----------------------------------------------------------------------------------------------------------

    async def commit(self, consumer: AsyncKafkaConsumer) -> None:
        """Commit uncommitted offsets, unless commits are automatic."""
        if self._commits is CommitMode.AUTOMATIC or self._positions == self._committed:
            return
        if self._commits is CommitMode.ASYNC:
            self._committed = dict(self._positions)  # assumed until the callback reports a failure
            self._callbacks_due += 1
            consumer.commit_async(callback=functools.partial(self._called_back, of_commit_async=True))
            return
        positions = dict(self._positions)
        try:
            await consumer.commit(timeout_ms=COMMIT_TIMEOUT_MS)
        except KafkaError as error:
            self._story.tell(self.name, f"commit: {type(error).__name__}: {error}")
            if not error.retriable and not isinstance(error, (CommitFailedError, RebalanceInProgressError)):
                raise
        else:
            self._ledger.commits.told(self.group, self.name, positions)
            self._committed = positions

    def _called_back(
        self, offsets: Mapping[TopicPartition, OffsetAndMetadata], error: Any, of_commit_async: bool = False
    ) -> None:
        """Process the result of an asynchronous or automatic commit."""
        self._callbacks_due -= of_commit_async
        self._may_not_commit |= isinstance(getattr(error, "__cause__", None), RebalanceInProgressError)
        if error is None:
            self._ledger.commits.told(self.group, self.name, {tp: each.offset for tp, each in offsets.items()})
        else:
            self._committed = {}
            self._story.tell(self.name, f"a commit failed: {type(error).__name__}: {error}")

    # Partitions -------------------------------------------------------------------------------------------------------

    def assigned(self, partitions: Collection[TopicPartition]) -> None:
        """Handle newly assigned partitions. The member reads them from the group's offsets."""
        self._ledger.assign(self.group, self.name, partitions)
        self._forget(partitions)

    def revoked(self, partitions: Collection[TopicPartition]) -> None:
        """Handle revoked partitions, which still belong to this member at this point."""
        if self._commits is CommitMode.AUTOMATIC and self._ledger.is_calm():
            positions = {tp: offset for tp, offset in self._positions.items() if tp in partitions}
            self._behind += self._ledger.commits.given_up(self.group, self.name, positions)
        self.lost(partitions)

    def lost(self, partitions: Collection[TopicPartition]) -> None:
        """Handle lost partitions, which may already belong to other members."""
        self._ledger.take_away(self.group, self.name, partitions)
        self._forget(partitions)

    def _forget(self, partitions: Collection[TopicPartition]) -> None:
        for tp in partitions:
            self._positions.pop(tp, None)
            self._committed.pop(tp, None)


class _Listener(AsyncConsumerRebalanceListener):
    """Notifies a member of rebalances.

    Arguments:
        member: the member.
        consumer: the member's consumer.
    """

    def __init__(self, member: MemberActor, consumer: AsyncKafkaConsumer) -> None:
        self._member = member
        self._consumer = consumer

    async def on_partitions_revoked(self, revoked: Collection[TopicPartition]) -> None:
        """Commit before the partitions are revoked."""
        await self._member.commit(self._consumer)
        self._member.revoked(revoked)

    async def on_partitions_assigned(self, assigned: Collection[TopicPartition]) -> None:
        """Record the assignment; reading starts at the group's offsets."""
        self._member.assigned(assigned)

    async def on_partitions_lost(self, lost: Collection[TopicPartition]) -> None:
        """Record the loss without a commit, as it is too late for one."""
        self._member.lost(lost)
