"""A broker that leads all partitions and answers Fetch from logs in memory, with long polls, sessions aside."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterable
from types import MappingProxyType
from typing import Any

from kafka.cluster import Backoff
from kafka.cluster.metadata_snapshot import ClusterMetadata, TopicMetadata
from kafka.config import parse_consumer
from kafka.consumer.buffer.fetch_buffer import FetchBuffer
from kafka.consumer.buffer.partition_state import FetchPosition, PartitionState
from kafka.consumer.fetch.fetcher import Fetcher
from kafka.consumer.fetch.position_validation import Divergence
from kafka.consumer.subscription.subscription_state import SubscriptionState
from kafka.net import Answered, ApiVersions
from kafka.structs import BrokerMetadata, PartitionMetadata, TopicPartition
from kafka.wire.api import fetch
from kafka.wire.api.fetch import FetchableTopicResponse, FetchRequest, FetchResponse, LeaderIdAndEpoch, PartitionData
from kafka.wire.api.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderTopicResult,
)
from unit.consumer.batches import numbered
from unit.consumer.listeners import BufferCalls, FetchCalls


def metadata(leaders: dict[int, int], epoch: int = 0, topic_id: uuid.UUID | None = None) -> ClusterMetadata:
    """A cluster of two brokers with the topic `t`, from partition to leader."""
    partitions = {n: PartitionMetadata("t", n, leader, epoch, [1], [1], []) for n, leader in leaders.items()}
    topic = TopicMetadata("t", topic_id, False, MappingProxyType(partitions))
    return ClusterMetadata([BrokerMetadata(1, "h", 1), BrokerMetadata(2, "h", 2)], [topic])


class FakeConnection:
    """A connection to one of the brokers of a `FakeLeaders`."""

    receiving = False
    closed = False
    in_flight = 0

    def __init__(self, leaders: FakeLeaders, node_id: int, channel: str) -> None:
        self.api_versions = ApiVersions({1: (4, leaders.version)})
        self._leaders = leaders
        self._node_id = node_id
        self._channel = channel

    def post_for(self, reply: Answered, request: FetchRequest, version: int) -> None:
        self._leaders.requests.append((self._node_id, self._channel, request))
        task = asyncio.ensure_future(self._leaders.answer(self._node_id, request, self._channel))
        self._leaders.answering.add(task)
        task.add_done_callback(lambda done: self._answer(reply, done))

    def _answer(self, reply: Answered, task: asyncio.Task[FetchResponse]) -> None:
        self._leaders.answering.discard(task)
        if task.cancelled() or reply.done():
            return
        error = task.exception()
        if error is None:
            reply.set_result(task.result())
        else:
            reply.set_exception(error)


class FakeLeaders:
    """Two brokers, 1 and 2; `ends` is the end of each partition's log, `errors` what is answered instead, once."""

    def __init__(self, leaders: dict[int, int]) -> None:
        self.metadata = metadata(leaders)
        self.ends = dict.fromkeys(leaders, 0)
        self.errors: dict[int, list[Any]] = {}
        self.failures: list[Exception] = []
        self.answering: set[asyncio.Task[FetchResponse]] = set()
        self.session_error = 0
        self.always: Exception | int | None = None
        """What is answered to everything: raised, or an error code of the whole answer."""
        self.version = 12
        """The newest version of Fetch; from 13 on topics are named by id."""
        self.topic_id: uuid.UUID | None = None
        self.preferred: dict[int, int] = {}
        """From partition to the replica that its leader sends readers with a rack to."""
        self.throttle_ms = 0
        self.frame: Any = None
        self.hold: asyncio.Event | None = None
        """Answers wait for this."""
        self.requests: list[tuple[int, str, FetchRequest]] = []
        self.epoch_ends: dict[int, tuple[int, int]] = {}
        """What OffsetForLeaderEpoch is answered with: the epoch and its end, by partition; else where the log ends."""
        self.epoch_errors: list[Any] = []
        """What is answered to it first: an error code, or what is raised."""
        self.epochs_asked: list[tuple[int, dict[int, tuple[int, int]]]] = []
        """The requests: the broker, and of each partition the leader's epoch and the one asked for."""
        self.diverging: dict[int, tuple[int, int]] = {}
        """What is answered to a fetch that gives the epoch of the last record."""
        self.noted: list[tuple[TopicPartition, int, int]] = []
        self._held: dict[tuple[int, int], dict[int, int]] = {}
        self._one_at_a_time: dict[tuple[int, str], asyncio.Lock] = {}

    def note_leader(self, tp: TopicPartition, leader: int, leader_epoch: int) -> None:
        self.noted.append((tp, leader, leader_epoch))

    async def connection(self, node_id: int, channel: str = "") -> FakeConnection:
        return FakeConnection(self, node_id, channel)

    def ready_connection(self, node_id: int, channel: str = "") -> FakeConnection | None:
        return FakeConnection(self, node_id, channel)

    async def send(self, node_id: int, request: OffsetForLeaderEpochRequest, *, min_version: int) -> Any:
        assert min_version == 3
        (topic,) = request.topics
        asked = {each.partition: (each.current_leader_epoch, each.leader_epoch) for each in topic.partitions}
        self.epochs_asked.append((node_id, asked))
        await asyncio.sleep(0.001)
        error = self.epoch_errors.pop(0) if self.epoch_errors else 0
        if isinstance(error, Exception):
            raise error
        answers = []
        for number, (_, epoch) in asked.items():
            known, end = self.epoch_ends.get(number, (epoch, self.ends[number]))
            answers.append(EpochEndOffset(partition=number, error_code=error, leader_epoch=known, end_offset=end))
        return OffsetForLeaderEpochResponse(topics=[OffsetForLeaderTopicResult(topic="t", partitions=answers)])

    async def answer(self, node_id: int, request: FetchRequest, channel: str) -> FetchResponse:
        connection = (node_id, channel)
        async with self._one_at_a_time.setdefault(connection, asyncio.Lock()):
            return await self._answer_to(node_id, request)

    async def _answer_to(self, node_id: int, request: FetchRequest) -> FetchResponse:
        await asyncio.sleep(0.001)
        if self.hold is not None:
            await self.hold.wait()
        if isinstance(self.always, Exception):
            raise self.always
        if self.always:
            return FetchResponse(error_code=self.always)
        if self.failures:
            raise self.failures.pop(0)
        if self.session_error:
            code, self.session_error = self.session_error, 0
            return FetchResponse(error_code=code)
        held = self._session(node_id, request)
        deadline = asyncio.get_running_loop().time() + request.max_wait_ms / 1000
        while True:
            answers = [answer for n, offset in held.items() if (answer := self._answer(n, offset, node_id, request))]
            if answers or asyncio.get_running_loop().time() >= deadline:
                named: dict[str, Any] = {"topic": "t"}
                if self.version > 12:
                    named = {"topic": "", "topic_id": request.topics[0].topic_id if request.topics else self.topic_id}
                topics = [FetchableTopicResponse(partitions=answers, **named)] if answers else []
                response = FetchResponse(
                    session_id=request.session_id or 7, responses=topics, throttle_time_ms=self.throttle_ms
                )
                if self.frame is not None:
                    response.frame = self.frame
                return response
            await asyncio.sleep(0.005)

    def _session(self, node_id: int, request: FetchRequest) -> dict[int, int]:
        key = (node_id, 7)
        if request.session_epoch <= 0:
            self._held[key] = {}
        held = self._held[key]
        for gone in request.forgotten_topics_data:
            for number in gone.partitions:
                held.pop(number, None)
        for topic in request.topics:
            held.update((p.partition, p.fetch_offset) for p in topic.partitions)
        return held

    def _answer(self, number: int, offset: int, node_id: int, request: FetchRequest) -> PartitionData | None:
        replica = self.preferred.get(number)
        if request.rack_id and replica is not None and replica != node_id:
            return PartitionData(partition_index=number, preferred_read_replica=replica, records=None)
        waiting = self.errors.get(number)
        if waiting:
            code, leader = waiting.pop(0)
            return PartitionData(
                partition_index=number,
                error_code=code,
                current_leader=LeaderIdAndEpoch(leader_id=leader, leader_epoch=9),
            )
        (named,) = [p for t in request.topics for p in t.partitions if p.partition == number] or [None]
        if named is not None and named.last_fetched_epoch >= 0 and number in self.diverging:
            epoch, end = self.diverging[number]
            diverging = fetch.EpochEndOffset(epoch=epoch, end_offset=end)
            return PartitionData(partition_index=number, diverging_epoch=diverging, records=b"")
        end = self.ends[number]
        if offset > end:
            return PartitionData(partition_index=number, error_code=1)
        if offset == end:
            return None
        data = memoryview(numbered(offset, min(end, offset + 10)))
        return PartitionData(partition_index=number, high_watermark=end, last_stable_offset=end, records=data)


class FetcherHarness:
    """A fetcher over fake leaders, driven as a core would."""

    def __init__(self, leaders: dict[int, int], **options: Any) -> None:
        self.leaders = FakeLeaders(leaders)
        parsed = parse_consumer(options).fetch
        self.subscription = SubscriptionState()
        self.stale = 0
        self.failed: list[Exception] = []
        self.divergences: list[Divergence] = []
        self.data = asyncio.Event()
        self.replaced: list[PartitionState] = []
        self.is_reassigned, self.is_believed = False, True
        self.buffer = FetchBuffer(parsed, BufferCalls(self._unblocked, self._out_of_range, self._replaced))
        self.fetcher = Fetcher(
            parsed,
            self.leaders,
            self.subscription,
            self.buffer,
            Backoff(100, 1_000),
            FetchCalls(
                self.data.set,
                self._stale,
                self.failed.append,
                self.divergences.append,
                lambda: self.is_reassigned,
                lambda topic: self.is_believed,
            ),
            60_000,
        )

    def assign(self, *numbers: int, offset: int = 0) -> list[PartitionState]:
        """Assign partitions of `t`, all at `offset`."""
        for gone in self.subscription.assign_from_user([TopicPartition("t", n) for n in numbers]):
            self.buffer.discard(gone)
            self.fetcher.forget(gone)
        states = self.subscription.states()
        for state in states:
            if state.position is None:
                self.seek(state, offset)
        return states

    def _replaced(self, state: PartitionState) -> None:
        """As a core does: the new topic is read from its beginning."""
        self.replaced.append(state)
        self.seek(state, 0)

    def seek(self, state: PartitionState, offset: int, leader_epoch: int = -1) -> None:
        self.buffer.discard(state, FetchPosition(offset, leader_epoch))
        self.fetcher.refresh(state)

    async def read(self, count: int, patience_s: float = 30.0) -> list[tuple[int, int]]:
        """Take until there are `count` records; partition and offset of each."""
        records: list[tuple[int, int]] = []
        async with asyncio.timeout(patience_s):
            while len(records) < count:
                self.data.clear()
                before = len(records)
                with self.buffer.take(count - len(records)) as polled:
                    for piece in polled.pieces:
                        records += [(piece.state.tp.partition, offset) for offset in piece.columns.offsets]
                polled.commit()
                if len(records) == before:
                    await self.data.wait()
        return records

    def named(self, index: int = -1) -> dict[int, int]:
        """What a request named."""
        request = self.leaders.requests[index][2]
        return {p.partition: p.fetch_offset for topic in request.topics for p in topic.partitions}

    def _unblocked(self, state: PartitionState) -> None:
        self.fetcher.refresh(state)

    def _out_of_range(self, state: PartitionState) -> None:
        self.seek(state, 0)

    def _stale(self) -> None:
        self.stale += 1


def partitions_of(records: Iterable[tuple[int, int]], number: int) -> list[int]:
    """The offsets of one partition."""
    return [offset for partition, offset in records if partition == number]
