"""A cluster in memory, behind the seam that the producer uses, with brokers that check sequences as Kafka's do.

Its partitions are real logs of decoded records, so a test sees what a consumer would see. Faults are scripted: each
produce request takes the next one from `faults`.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any
from uuid import UUID

from kafka.cluster.metadata import ClusterMetadata, TopicMetadata
from kafka.errors import (
    InvalidProducerEpochError,
    KafkaConnectionError,
    OutOfOrderSequenceNumberError,
    UnknownTopicOrPartitionError,
    for_code,
)
from kafka.record import batch_headers, decode_batches
from kafka.structs import BrokerMetadata, PartitionMetadata, TopicPartition
from kafka.wire.api.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from kafka.wire.api.produce import PartitionProduceResponse, ProduceRequest, ProduceResponse, TopicProduceResponse

OUT_OF_ORDER = OutOfOrderSequenceNumberError.errno
AFTER_APPEND = (7, 20)
"""REQUEST_TIMED_OUT and NOT_ENOUGH_REPLICAS_AFTER_APPEND: the leader has the records."""
FENCED = InvalidProducerEpochError.errno


@dataclass
class Fault:
    """What befalls one produce request.

    Arguments:
        delay: seconds until it is answered.
        code: error code for every partition; nothing is appended, but with those in `AFTER_APPEND`.
        leader: whom the broker names as the partition's leader, with an epoch (KIP-951).
        throttle_ms: for how long the broker wants no other request (KIP-219).
        lost: "request" (it never arrives), "answer" (it is appended, but nobody hears of it).
        only: the partition that is hit; None: all of the request.
    """

    delay: float = 0.001
    code: int = 0
    lost: str = ""
    only: int | None = None
    leader: tuple[int, int] | None = None
    throttle_ms: int = 0


@dataclass
class Sequence:
    """What a broker remembers of one producer in one partition."""

    epoch: int
    last: int
    batches: deque[tuple[int, int, int]] = field(default_factory=lambda: deque(maxlen=5))


class FakeLog:
    """One partition's log."""

    def __init__(self) -> None:
        self.values: list[bytes | None] = []
        self.keys: list[bytes | None] = []
        self.batches: list[tuple[int, int, int, int]] = []
        """Producer id, epoch, base sequence and number of records of each batch."""
        self._sequences: dict[int, Sequence] = {}

    def forget_producers(self) -> None:
        self._sequences.clear()

    def set_last_sequence(self, last: int) -> None:
        """As if the only producer had sent up to a sequence number."""
        (state,) = self._sequences.values()
        state.last = last
        state.batches.clear()

    def append(self, data: Any) -> tuple[int, int]:
        """Error code and base offset."""
        (header,) = batch_headers(data)
        base = len(self.values)
        if header.producer_id >= 0:
            code, known = self._check(header, base)
            if code or known >= 0:
                return code, known
        columns = decode_batches(data)
        for i in range(len(columns)):
            value, key = columns.value(i), columns.key(i)
            self.values.append(None if value is None else bytes(value))
            self.keys.append(None if key is None else bytes(key))
        self.batches.append((header.producer_id, header.producer_epoch, header.base_sequence, header.count))
        return 0, base

    def _check(self, header: Any, base: int) -> tuple[int, int]:
        first, last = header.base_sequence, (header.base_sequence + header.count - 1) % 2**31
        state = self._sequences.get(header.producer_id)
        if state is None:
            state = self._sequences[header.producer_id] = Sequence(header.producer_epoch, first - 1)
        if header.producer_epoch < state.epoch:
            return FENCED, -1
        if header.producer_epoch > state.epoch:
            if first != 0:
                return OUT_OF_ORDER, -1
            state.epoch, state.last = header.producer_epoch, -1
            state.batches.clear()
        for seen_first, seen_last, offset in state.batches:
            if (seen_first, seen_last) == (first, last):
                return 0, offset
        if first != (state.last + 1) % 2**31:
            return OUT_OF_ORDER, -1
        state.last = last
        state.batches.append((first, last, base))
        return 0, -1


class FakeCluster:
    """Brokers 0 to n - 1; partition p of each topic is led by broker p modulo n."""

    def __init__(self, topics: dict[str, int], brokers: int = 1, produce_version: int = 13) -> None:
        self.topics = dict(topics)
        self.ids: dict[str, UUID] = {}
        self.names: dict[UUID, str] = {}
        """Of every id that was ever given, as brokers know their topics longer than a client's metadata do."""
        self.connect_errors: deque[Exception] = deque()
        """What comes of the next attempts to connect."""
        self.connects = 0
        self.brokers = brokers
        self.produce_version = self.start_version = produce_version
        self.logs: dict[TopicPartition, FakeLog] = {}
        self.leaders: dict[TopicPartition, int] = {}
        self.down: set[int] = set()
        self.faults: deque[Fault] = deque()
        self.requests: list[tuple[int, ProduceRequest]] = []
        self.posted: set[asyncio.Task[Any]] = set()
        self.in_flight = 0
        self.most_in_flight = 0
        self.init_errors: deque[Any] = deque()
        self.ids_given = 0
        self.refreshes = 0
        self.connected: set[int] = set()
        self.closed = False
        self.topic_errors: dict[str, Any] = {}
        self.max_batch_bytes = 1 << 30
        self.latency = 0.001
        self._order: dict[int, asyncio.Lock] = {}
        self._listeners: list[Callable[[ClusterMetadata], object]] = []
        self._refreshing: asyncio.Task[None] | None = None
        self.metadata = ClusterMetadata()

    def log(self, partition: int, topic: str = "t") -> FakeLog:
        return self.logs.setdefault(TopicPartition(topic, partition), FakeLog())

    def snapshot(self) -> ClusterMetadata:
        topics = []
        for name, count in self.topics.items():
            topic_id = self.ids.setdefault(name, UUID(int=len(self.names) + 1))
            self.names[topic_id] = name
            partitions = {}
            for p in range(count):
                leader = self.leaders.setdefault(TopicPartition(name, p), p % self.brokers)
                partitions[p] = PartitionMetadata(name, p, leader, 1, [leader], [leader])
            topics.append(TopicMetadata(name, topic_id, False, partitions))
        nodes = [BrokerMetadata(n, "fake", 9092 + n) for n in range(self.brokers)]
        return ClusterMetadata(nodes, topics, topic_errors=self.topic_errors, version=self.metadata.version + 1)

    def publish(self) -> None:
        self.metadata = self.snapshot()
        for listener in list(self._listeners):
            listener(self.metadata)

    async def start(self) -> None:
        self.metadata = self.snapshot()

    async def close(self) -> None:
        self.closed = True
        for task in self.posted:
            task.cancel()
        await asyncio.gather(*self.posted, return_exceptions=True)

    def watch_topics(self, topics: set[str] | None) -> None:
        self.watched = topics

    def on_metadata(self, callback: Callable[[ClusterMetadata], object]) -> Callable[[], None]:
        self._listeners.append(callback)
        return lambda: self._listeners.remove(callback)

    async def refresh_metadata(self, topics: Iterable[str] | None = None) -> ClusterMetadata:
        await asyncio.shield(self.request_refresh())
        return self.metadata

    def request_refresh(self, topics: Iterable[str] | None = None) -> asyncio.Task[None]:
        if self._refreshing is None or self._refreshing.done():
            self._refreshing = asyncio.ensure_future(self._refresh())
        return self._refreshing

    async def _refresh(self) -> None:
        self.refreshes += 1
        await asyncio.sleep(0.1)
        self._refreshing = None
        self.publish()

    def note_leader(self, tp: TopicPartition, leader: int, leader_epoch: int) -> None:
        self.metadata = self.metadata.with_leader(tp, leader, leader_epoch)

    async def connection(self, node_id: int, channel: str = "") -> Any:
        self.connects += 1
        await asyncio.sleep(0.01)
        if self.connect_errors:
            raise self.connect_errors.popleft()
        if node_id in self.down:
            raise KafkaConnectionError(f"broker {node_id} is down")
        self.connected.add(node_id)
        return self

    async def any_connection(self) -> Any:
        return SimpleNamespace(api_versions=SimpleNamespace(pick=lambda *_: self.start_version))

    def ready_connection(self, node_id: int, channel: str = "") -> Any:
        return FakeConnection(self, node_id) if node_id in self.connected and node_id not in self.down else None

    def api_version(self, node_id: int, request: Any, max_version: int | None = None) -> int | None:
        return self.produce_version

    async def send_any(self, request: Any, **limits: Any) -> Any:
        assert isinstance(request, InitProducerIdRequest)
        await asyncio.sleep(0.005)
        code = self.init_errors.popleft() if self.init_errors else 0
        if isinstance(code, Exception):
            raise code
        if code < 0:
            raise KafkaConnectionError("lost")
        if not code:
            self.ids_given += 1
        return InitProducerIdResponse(error_code=code, producer_id=-1 if code else 1000 * self.ids_given)

    async def send(self, node_id: int, request: Any) -> Any:
        assert isinstance(request, ProduceRequest)
        version = self.produce_version
        request = ProduceRequest.decode(request.encode(version), version)  # what the wire leaves of it
        for topic in request.topic_data:
            topic.name = topic.name or self.names[topic.topic_id]
        self.requests.append((node_id, request))
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        fault = self.faults.popleft() if self.faults else Fault(self.latency)
        try:
            async with self._order.setdefault(node_id, asyncio.Lock()):  # a broker answers in order
                await asyncio.sleep(fault.delay)
            if fault.lost == "request" or node_id in self.down:
                raise KafkaConnectionError(f"connection to broker {node_id} lost")
            response = self._produce(node_id, request, fault)
            if fault.lost == "answer":
                raise KafkaConnectionError(f"connection to broker {node_id} lost before the answer")
        finally:
            self.in_flight -= 1
        if request.acks == 0:
            return ProduceResponse()
        return ProduceResponse.decode(response.encode(version), version)

    def _produce(self, node_id: int, request: ProduceRequest, fault: Fault) -> ProduceResponse:
        topics = []
        for topic in request.topic_data:
            partitions = []
            for each in topic.partition_data:
                place = TopicPartition(topic.name, each.index)
                code, offset = fault.code, -1
                if fault.only not in (None, each.index):
                    code = 0
                if not code and self.leaders.get(place) != node_id:
                    code = UnknownTopicOrPartitionError.errno if place not in self.leaders else 6
                if not code and len(each.records) > self.max_batch_bytes:
                    code = 10
                after = code if code in AFTER_APPEND else 0
                if not code or after:
                    code, offset = self.logs.setdefault(place, FakeLog()).append(each.records)
                    code = code or after
                partition = PartitionProduceResponse(index=each.index, error_code=code, base_offset=offset)
                if fault.leader is not None:
                    partition.current_leader.leader_id, partition.current_leader.leader_epoch = fault.leader
                partitions.append(partition)
            given = {"topic_id": topic.topic_id} if self.produce_version >= 13 else {"name": topic.name}
            topics.append(TopicProduceResponse(**given, partition_responses=partitions))
        return ProduceResponse(responses=topics, throttle_time_ms=fault.throttle_ms)


class FakeConnection:
    """What a producer sees of a connection to one broker of a fake cluster."""

    def __init__(self, cluster: FakeCluster, node_id: int) -> None:
        self._cluster = cluster
        self._node_id = node_id
        self.api_versions = self

    def version_for(self, request: Any, min_version: int, max_version: int | None) -> int:
        assert min_version <= self._cluster.produce_version
        return self._cluster.produce_version

    def post_for(self, reply: Any, request: Any, version: int, timeout_ms: float) -> None:
        task = asyncio.get_running_loop().create_task(self._cluster.send(self._node_id, request))
        self._cluster.posted.add(task)
        task.add_done_callback(lambda done: self._answer(reply, done))

    def _answer(self, reply: Any, task: asyncio.Task[Any]) -> None:
        self._cluster.posted.discard(task)
        if task.cancelled():
            return
        error = task.exception()
        if error is None:
            reply.set_result(task.result())
        else:
            reply.set_exception(error)


def code_of(error: type[Any]) -> int:
    assert for_code(error.errno) is error
    return int(error.errno)
