"""The share groups of a simulation: members, a ledger of the records they have received, and the final checks."""

import asyncio
import random
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from kafka.admin import AsyncKafkaAdminClient, ConfigResource
from kafka.consumer.share.async_share_consumer import AsyncKafkaShareConsumer
from kafka.consumer.share.materializer import ShareConsumerRecord
from kafka.consumer.share.piece import AcknowledgeType
from kafka.errors import KafkaError
from kafka.structs import TopicPartition
from kafka.testing.ledger import Ledger, shown
from kafka.testing.simulation_plan import ShareMemberPlan
from kafka.testing.story import Story

Place = tuple[str, TopicPartition, int]
"""Group, partition and offset of a record."""


class Holder(NamedTuple):
    """The member that holds a record. No other member may receive it before the loop time `until`, in seconds."""

    member: str
    until: float


class ShareLedger:
    """The deliveries and acknowledgements of share groups.

    Arguments:
        found: the list of problems.
        is_calm: returns whether all failures and their effects are over, after which nothing may fail.
        now: returns the loop's time.
        lock_s: minimum time for which a member holds a record after receiving it, in seconds.
        limit: maximum number of deliveries per record.

    Attributes:
        given: by group, every record that any member has received.
        done: records whose acknowledgement was confirmed, with their delivery counts.
    """

    def __init__(
        self, found: list[str], is_calm: Callable[[], bool], now: Callable[[], float], lock_s: float, limit: int
    ) -> None:
        self.found = found
        self.given: dict[str, set[tuple[TopicPartition, int]]] = defaultdict(set)
        self.done: dict[Place, int] = {}
        self._is_calm = is_calm
        self._now = now
        self._lock_s = lock_s
        self._limit = limit
        self._holders: dict[Place, Holder] = {}

    def delivered(self, group: str, member: str, tp: TopicPartition, offset: int, count: int) -> None:
        """Record that a member received a record, as the `count`-th delivery of the record to the group.

        A record that was acquired earlier may arrive after the group has processed it, but its count is then not higher
        than that of the confirmed delivery. Without failures, no member receives a record that another member still
        holds.
        """
        key, place = (group, tp, offset), shown(tp, offset)
        self.given[group].add((tp, offset))
        if not 1 <= count <= self._limit:
            self.found.append(f"{member} was given {place} as delivery {count} of at most {self._limit}")
        if count > self.done.get(key, count):
            self.found.append(f"{member} was given {place} again, delivery {count}, after {group} was done with it")
        holder = self._holders.pop(key, None)
        if not self._is_calm():
            return
        if holder is not None and self._now() < holder.until:
            self.found.append(f"{member} was given {place}, which {holder.member} still has")
        self._holders[key] = Holder(member, self._now() + self._lock_s)

    def let_go(self, group: str, tp: TopicPartition, offset: int) -> None:
        """Record that a member is about to acknowledge a record. Other members may then receive the record."""
        self._holders.pop((group, tp, offset), None)

    def left(self, member: str) -> None:
        """Record that a member is about to leave, which releases all its records."""
        for key in [key for key, holder in self._holders.items() if holder.member == member]:
            del self._holders[key]

    def never_said(self, group: str, member: str, tp: TopicPartition, offset: int) -> None:
        """Record a confirmation for a record that the member did not receive or acknowledge."""
        self.found.append(f"{group}: {member} acknowledged {shown(tp, offset)} without having it")

    def told(self, group: str, tp: TopicPartition, offset: int, count: int) -> None:
        """Record that a record's acknowledgement, for delivery number `count`, was confirmed: the record is processed.

        A member whose lock has expired may also get a confirmation, if the group has moved past the record because
        another member acknowledged it.
        """
        key = group, tp, offset
        self.done[key] = max(count, self.done.get(key, 0))

    def check(
        self, logs: Mapping[TopicPartition, list[str]], starts: Mapping[str, Mapping[TopicPartition, int]]
    ) -> None:
        """Compare the final state with deliveries and acknowledgements.

        Arguments:
            logs: the records in each partition, from offset 0 on.
            starts: by group, the start offset of each partition.
        """
        for group, start in starts.items():
            missing = [
                shown(tp, offset)
                for tp, log in logs.items()
                for offset in range(len(log))
                if (tp, offset) not in self.given[group]
            ]
            if missing:
                self.found.append(f"{group} was never given {len(missing)} records, the first is {missing[0]}")
            for tp, log in logs.items():
                if log and start.get(tp) != len(log):
                    self.found.append(f"{group} continues at {start.get(tp)} of {shown(tp, len(log))}, its end")


_LONG_S = 20.0
"""Duration of a pause that outlasts record locks, in seconds."""
_FINAL = (AcknowledgeType.ACCEPT, AcknowledgeType.REJECT)

Said = dict[tuple[TopicPartition, int], deque[tuple[AcknowledgeType, int]]]
"""The acknowledgements of each record in order, with their delivery counts."""


class ShareActor:
    """A member of a share group that reads until it is stopped, and sometimes leaves and returns.

    Arguments:
        name: the actor's name, which is also its client id.
        group: the share group.
        plan: the options of the consumer.
        bootstrap_servers: the addresses of the cluster.
        topics: the topics to which the member subscribes.
        rng: the source of random numbers.
        ledger, story: record events.
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
        """Accept all records from now on, without long pauses."""
        self._finishing = True

    def stop(self) -> None:
        """Make `run` close the consumer after the current poll, and return."""
        self._stopping = True

    async def run(self) -> None:
        """Read records until `stop` is called."""
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
        """Receive records, pause to process them, and acknowledge them."""
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
        """Commit acknowledgements now rather than with the next poll."""
        self._say_implicitly()
        await consumer.commit(timeout_ms=10_000)

    def _decision(self) -> AcknowledgeType:
        if self._finishing:
            return AcknowledgeType.ACCEPT
        kinds = (AcknowledgeType.ACCEPT, AcknowledgeType.RELEASE, AcknowledgeType.REJECT)
        return self._rng.choices(kinds, (90, 7, 3))[0]

    def _say_implicitly(self) -> None:
        """Record implicit acknowledgements: the next call accepts all received records."""
        if self._is_implicit:
            for held in self._held:
                self._say(*held, AcknowledgeType.ACCEPT)
            self._held = []

    def _say(self, tp: TopicPartition, offset: int, count: int, kind: AcknowledgeType) -> None:
        self._ledger.let_go(self.group, tp, offset)
        self._said[tp, offset].append((kind, count))

    def _told(self, offsets: Mapping[TopicPartition, set[int]], error: Exception | None) -> None:
        """Process the results of acknowledgements, in order."""
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


GROUPS = "share-group-"
"""Prefix of the share group names."""
PATIENCE_S = 300.0
"""Virtual time after the last failure within which the groups must process everything, in seconds."""
_LOCK_S = 15.0
_SURE_OF_LOCK_S = 10.0
"""Minimum remaining time of a lock when its record is delivered without failures, in seconds."""
_LIMIT = 10
"""Delivery limit. It is high enough that failures alone, such as lost responses, do not reach it."""
_CONFIGS = {
    "share.auto.offset.reset": "earliest",
    "share.record.lock.duration.ms": str(int(_LOCK_S * 1000)),
    "share.delivery.count.limit": str(_LIMIT),
}


class ShareTrial:
    """The share groups of a simulation.

    Arguments:
        plans: the plans of the members of each group.
        bootstrap_servers: the addresses of the cluster.
        topics: the topics that the groups read.
        rng: the source of random numbers.
        ledger: the simulation's ledger, which collects problems.
        story: records events.
    """

    def __init__(
        self,
        plans: list[list[ShareMemberPlan]],
        bootstrap_servers: str,
        topics: list[str],
        rng: random.Random,
        ledger: Ledger,
        story: Story,
    ) -> None:
        self._groups = [f"{GROUPS}{number}" for number in range(len(plans))]
        self._ledger = ShareLedger(ledger.found, ledger.is_calm, _now, _SURE_OF_LOCK_S, _LIMIT)
        self._options: dict[str, Any] = {"bootstrap_servers": bootstrap_servers, "client_id": "share-admin"}
        self._story = story
        self._actors = [
            ShareActor(
                f"sharer-{group}-{number}",
                f"{GROUPS}{group}",
                plan,
                bootstrap_servers,
                topics,
                random.Random(rng.getrandbits(64)),
                self._ledger,
                story,
            )
            for group, members in enumerate(plans)
            for number, plan in enumerate(members)
        ]
        self._reading: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Configure the groups, and start their members."""
        if not self._actors:
            return
        async with AsyncKafkaAdminClient(**self._options) as admin:
            await admin.alter_configs([ConfigResource("group", group, _CONFIGS) for group in self._groups])
        self._reading = [asyncio.ensure_future(actor.run()) for actor in self._actors]

    async def check(self, logs: Mapping[TopicPartition, list[str]]) -> None:
        """After the last failure, wait until everything has been processed, and check the result.

        Arguments:
            logs: the names of the records in each partition, from offset 0 on.
        """
        if not self._actors:
            return
        for actor in self._actors:
            actor.finish()
        end = _now() + PATIENCE_S
        async with AsyncKafkaAdminClient(**self._options) as admin:
            starts = await self._starts(admin)
            while _now() < end and not _is_done(logs, starts):
                await asyncio.sleep(1.0)
                starts = await self._starts(admin)
        for actor in self._actors:
            actor.stop()
        await asyncio.gather(*self._reading)
        self._ledger.check(logs, starts)
        given = {group: len(self._ledger.given[group]) for group in self._groups}
        self._story.tell("share groups", f"given {given}, {len(self._ledger.done)} done with")

    async def _starts(self, admin: AsyncKafkaAdminClient) -> dict[str, dict[TopicPartition, int]]:
        """Fetch the start offset of each group and partition with the admin client."""
        found = await admin.list_share_group_offsets(self._groups)
        return {
            group: {tp: each.start_offset for tp, each in partitions.items()} for group, partitions in found.items()
        }


def _is_done(logs: Mapping[TopicPartition, list[str]], starts: Mapping[str, Mapping[TopicPartition, int]]) -> bool:
    return all(start.get(tp, 0) >= len(log) for start in starts.values() for tp, log in logs.items())


def _now() -> float:
    return asyncio.get_running_loop().time()
