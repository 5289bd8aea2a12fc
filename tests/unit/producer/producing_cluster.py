"""The common fake cluster with logs to produce to: its brokers check sequences as Kafka's do.

The partitions are real logs of decoded records, so a test sees what a consumer would see. Faults are scripted: each
produce request takes the next one from `faults`, when the broker comes to it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from fakes.cluster import Call, FakeCluster
from kafka.errors import (
    BrokerResponseError,
    InvalidProducerEpochError,
    KafkaConnectionError,
    MessageSizeTooLargeError,
    NotEnoughReplicasAfterAppendError,
    NotLeaderForPartitionError,
    OutOfOrderSequenceNumberError,
    RequestTimedOutError,
    UnknownTopicIdError,
    UnknownTopicOrPartitionError,
)
from kafka.record import batch_headers, decode_batches
from kafka.structs import TopicPartition
from kafka.wire.api.init_producer_id import InitProducerIdResponse
from kafka.wire.api.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)

OUT_OF_ORDER = OutOfOrderSequenceNumberError.errno
FENCED = InvalidProducerEpochError.errno
AFTER_APPEND = (RequestTimedOutError.errno, NotEnoughReplicasAfterAppendError.errno)
"""With these errors the leader has the records."""


@dataclass
class Fault:
    """What befalls one produce request.

    Arguments:
        delay: seconds until it is answered, beside the cluster's latency.
        error: of every partition; nothing is appended, but with those in `AFTER_APPEND`.
        leader: whom the broker names as the partition's leader, with an epoch (KIP-951).
        throttle_ms: for how long the broker wants no other request (KIP-219).
        lost: "request" (the connection ends before the broker has read it) or "answer" (after it was carried out).
        only: the partition that is hit; None: all of the request.
    """

    delay: float = 0.0
    error: type[BrokerResponseError] | None = None
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


class PartitionLog:
    """One partition's log.

    Attributes:
        values, keys, headers: of the records.
        batches: producer id, epoch, base sequence and number of records of each batch.
    """

    def __init__(self) -> None:
        self.values: list[bytes | None] = []
        self.keys: list[bytes | None] = []
        self.headers: list[list[tuple[str, bytes | None]]] = []
        self.batches: list[tuple[int, int, int, int]] = []
        self._sequences: dict[int, Sequence] = {}

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
            self.headers.append(columns.headers(i))
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


class ProducingCluster(FakeCluster):
    """Brokers that take Produce and InitProducerId.

    Arguments:
        topics: name to number of partitions.
        brokers: how many, numbered from 1.
        produce_version: the newest version of Produce that they serve.

    Attributes:
        faults: what befalls the next produce requests.
        most_in_flight: of produce requests, so far.
        max_batch_bytes: brokers take no larger batch.
        ids_given: how many producer ids: 1000, 2000 and so on.
    """

    def __init__(self, topics: dict[str, int], brokers: int = 1, produce_version: int = 13) -> None:
        self._names: dict[UUID, str] = {}
        super().__init__(topics, brokers=brokers)
        self.watched = None  # a producer that starts knows all topics
        self.versions["Produce"] = (0, produce_version)
        self.logs: dict[TopicPartition, PartitionLog] = {}
        self.faults: deque[Fault] = deque()
        self.most_in_flight = 0
        self.max_batch_bytes = 1 << 30
        self.ids_given = 0
        self.generation: dict[str, int] = {}
        """How often a topic was made anew, each time with another id."""
        self.serve("Produce", self._produce)
        self.serve("InitProducerId", self._init_producer_id)

    def log(self, partition: int, topic: str = "t") -> PartitionLog:
        """The log of a partition."""
        return self.logs.setdefault(TopicPartition(topic, partition), PartitionLog())

    def make_anew(self, topic: str, partitions: int) -> dict[int, PartitionLog]:
        """Delete a topic and make it again, which clients see when they look; returns the logs of the deleted one."""
        self.topics[topic] = partitions
        self.generation[topic] = self.generation.get(topic, 0) + 1
        deleted = {place.partition: log for place, log in self.logs.items() if place.topic == topic}
        for partition in deleted:
            del self.logs[TopicPartition(topic, partition)]
        return deleted

    @property
    def produced(self) -> list[tuple[int, ProduceRequest]]:
        """The produce requests so far, with the ids of the brokers that they were sent to."""
        return [(call.node_id, call.request) for call in self.calls if call.api == "Produce"]

    def topic_id(self, name: str) -> UUID:
        """The id of a topic, another one each time that it was made anew."""
        found = super().topic_id(name)
        if found.int:
            found = UUID(int=found.int + self.generation.get(name, 0))
        self._names[found] = name
        return found

    def topic_name(self, topic_id: UUID) -> str:
        """The topic that has, or had, an id: brokers know it for longer than a client's metadata do."""
        return self._names[topic_id]

    def _init_producer_id(self, call: Call) -> InitProducerIdResponse:
        self.ids_given += 1
        return InitProducerIdResponse(producer_id=1000 * self.ids_given)

    async def _produce(self, call: Call) -> ProduceResponse:
        self.most_in_flight = max(self.most_in_flight, sum(each.in_flight for each in self._connections.values()))
        fault = self.faults.popleft() if self.faults else Fault()
        await asyncio.sleep(fault.delay)
        if fault.lost == "request" or call.node_id in self.down:
            raise self._lost(call.node_id)
        response = self._carry_out(call, fault)
        if fault.lost == "answer":
            raise self._lost(call.node_id)
        return response

    def _lost(self, node_id: int) -> KafkaConnectionError:
        self.cut(node_id)
        return KafkaConnectionError(f"connection to broker {node_id} lost")

    def _carry_out(self, call: Call, fault: Fault) -> ProduceResponse:
        topics = []
        for topic in call.request.topic_data:
            topic.name = topic.name or self.topic_name(topic.topic_id)
            if call.version >= 13 and topic.topic_id != self.topic_id(topic.name):
                fault = Fault(error=UnknownTopicIdError)
            partitions = [self._append(call.node_id, topic.name, each, fault) for each in topic.partition_data]
            given = {"topic_id": topic.topic_id} if call.version >= 13 else {"name": topic.name}
            topics.append(TopicProduceResponse(**given, partition_responses=partitions))
        return ProduceResponse(responses=topics, throttle_time_ms=fault.throttle_ms)

    def _append(self, node_id: int, topic: str, data: PartitionProduceData, fault: Fault) -> PartitionProduceResponse:
        place = TopicPartition(topic, data.index)
        assert data.records is not None
        offset = -1
        code = fault.error.errno if fault.error is not None and fault.only in (None, data.index) else 0
        if not code:
            code = self._refusal(node_id, place, len(data.records))
        after = code if code in AFTER_APPEND else 0
        if not code or after:
            code, offset = self.log(data.index, topic).append(data.records)
            code = code or after
        answer = PartitionProduceResponse(index=data.index, error_code=code, base_offset=offset)
        if fault.leader is not None:
            answer.current_leader.leader_id, answer.current_leader.leader_epoch = fault.leader
        return answer

    def _refusal(self, node_id: int, place: TopicPartition, size: int) -> int:
        """The error code of a broker that does not take a batch."""
        leader, _ = self.leaders.get(place, (self.default_leader(place.partition), 1))
        if place.partition >= self.topics.get(place.topic, 1 << 31):
            return UnknownTopicOrPartitionError.errno
        if leader != node_id:
            return NotLeaderForPartitionError.errno
        return MessageSizeTooLargeError.errno if size > self.max_batch_bytes else 0
