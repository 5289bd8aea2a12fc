"""A cluster in memory behind `kafka.cluster.protocols`: no sockets, and time passes only on the test's loop.

It passes the same contract tests as the real `ClusterClient` (`unit/cluster/test_contract.py`), so that what a test
sees here is what a client would see: requests and answers go through their bytes in the version that both sides have,
a connection answers in order, a broker that is down refuses connections, and the metadata are a real
`ClusterMetadata` made from a real answer.

    cluster = FakeCluster({"t": 3}, brokers=2)
    cluster.serve("Fetch", logs.fetch)              # answers every Fetch
    cluster.script("Heartbeat", 27, KafkaConnectionError("lost"))   # the next two; a number is an error code
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import math
import random
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar, cast
from uuid import UUID

from kafka.cluster import Backoff, ClusterAccess
from kafka.cluster.metadata_snapshot import ClusterMetadata
from kafka.cluster.protocols import CoordinatorKind
from kafka.cluster.retry import RetryPolicy, anything_unexpected
from kafka.errors import (
    CoordinatorNotAvailableError,
    IllegalStateError,
    KafkaConnectionError,
    KafkaError,
    KafkaTimeoutError,
    LeaderNotAvailableError,
    NotControllerError,
    StaleMetadata,
    UnknownTopicOrPartitionError,
    for_code,
)
from kafka.net import Answered, ApiVersions
from kafka.structs import TopicPartition
from kafka.wire import Request, Response, message_class
from kafka.wire.api.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

log = logging.getLogger(__name__)

R = TypeVar("R", bound=Response)
T = TypeVar("T")


class Silence:
    """Answer with this to say nothing: the request times out, and the connection ends."""


SILENCE = Silence()

Answer = Any
"""A response; an error code, for a response with nothing but that; an exception; `SILENCE`; or a function of the `Call`
that gives such, or an awaitable of such."""


@dataclass(frozen=True)
class Call:
    """A request that has come to a broker, read from its bytes.

    Attributes:
        at: when, in the loop's seconds.
    """

    at: float
    node_id: int
    channel: str
    version: int
    request: Any

    @property
    def api(self) -> str:
        """The name of its API, such as ``Fetch``."""
        return type(self.request).__name__.removesuffix("Request")


class FakeConnection:
    """A connection to one broker: answers come in the order of the requests."""

    def __init__(self, cluster: FakeCluster, node_id: int, channel: str) -> None:
        self.node_id = node_id
        self.channel = channel
        self.api_versions = cluster.api_versions_of(node_id)
        self.receiving = False
        self.closed = False
        self._cluster = cluster
        self._order = asyncio.Lock()
        self._waiting: dict[asyncio.Task[None], Answered[Any]] = {}

    @property
    def in_flight(self) -> int:
        return sum(not reply.done() for reply in self._waiting.values())

    async def send(self, request: Request[R], version: int | None = None, timeout_ms: float | None = None) -> R:
        future: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self.post_for(future, request, version, timeout_ms)
        return await future

    def post_for(
        self,
        reply: Answered[R],
        request: Request[R],
        version: int | None = None,
        timeout_ms: float | None = None,
    ) -> None:
        if self.closed:
            raise KafkaConnectionError(f"the connection to broker {self.node_id} is closed")
        if version is None:
            version = self.api_versions.version_for(type(request))
        sent = type(request).decode(request.encode(version), version)
        loop = asyncio.get_running_loop()
        call = Call(loop.time(), self.node_id, self.channel, version, sent)
        self._cluster.calls.append(call)
        limit_ms = self._cluster.request_timeout_ms if timeout_ms is None else timeout_ms
        task = loop.create_task(self._exchange(reply, call, limit_ms / 1000))
        self._waiting[task] = reply
        task.add_done_callback(self._waiting.pop)

    def cut(self, error: KafkaError) -> None:
        """End the connection: what waits for an answer gets the error."""
        if self.closed:
            return
        self.closed = True
        for task, reply in list(self._waiting.items()):
            if not reply.done():
                reply.set_exception(type(error)(*error.args))
            if task is not asyncio.current_task():
                task.cancel()

    async def _exchange(self, reply: Answered[Any], call: Call, limit_s: float) -> None:
        try:
            async with asyncio.timeout(limit_s):
                answer = await self._answer(call)
        except TimeoutError:
            if not reply.done():
                text = f"{call.api}Request version {call.version} got no answer from broker {self.node_id}"
                reply.set_exception(KafkaTimeoutError(f"{text} in {limit_s:g} s"))
            self.cut(KafkaConnectionError(f"the connection to broker {self.node_id} was closed"))
        except Exception as error:
            if not reply.done():
                reply.set_exception(error)
        else:
            if not reply.done():
                reply.set_result(answer)

    async def _answer(self, call: Call) -> Any:
        request = call.request
        if call.api == "Produce" and request.acks == 0:
            await self._cluster.answer(call)
            return request.RESPONSE()
        async with self._order:
            answer = await self._cluster.answer(call)
            if answer is SILENCE:
                await asyncio.Event().wait()
        if self.node_id in self._cluster.down:
            raise KafkaConnectionError(f"connection to broker {self.node_id} lost")
        if isinstance(answer, BaseException):
            raise answer
        if isinstance(answer, int):
            answer = request.RESPONSE(error_code=answer)
        return type(answer).decode(answer.encode(call.version), call.version)


class FakeCluster:
    """Brokers 1 to n; partition p of each topic is led by broker p modulo n, plus 1, unless a test says otherwise.

    A test may change all of it at any time; what changes the metadata shows with the next refresh, or `publish`.

    Arguments:
        topics: name to number of partitions.
        brokers: how many.
        latency_s: how long a broker takes to answer.
        rng: picks where any broker will do.

    Attributes:
        leaders: partition to the id of its leader and the leader epoch, where they are not as above.
        topic_errors: name to the error code that metadata requests are answered with.
        topic_ids: whether the brokers give topics ids.
        down: ids of brokers that refuse connections and lose requests.
        versions: name of an API to lowest and highest version; others are served as this client knows them.
        features: name of a feature to its level; a broker tells of them when it is connected.
        takes_metrics: whether the brokers have a plug-in that gets clients' metrics (KIP-714).
        coordinator_id, coordinator_error: what FindCoordinator is answered with.
        controller_id: -1 for none.
        calls: the requests so far, oldest first.
        refreshes: how often the metadata were asked for; they come ``retry_backoff_ms`` later.
        lookups: how often a coordinator was asked for.
        noted: what `note_leader` was told.
        forgotten: how often `forget_coordinator` was called.
    """

    def __init__(
        self,
        topics: dict[str, int] | None = None,
        *,
        brokers: int = 1,
        latency_s: float = 0.001,
        request_timeout_ms: float = 30_000,
        retry_backoff_ms: float = 100,
        rng: random.Random | None = None,
    ) -> None:
        self.topics = dict(topics or {})
        self.broker_ids = set(range(1, brokers + 1))
        self.latency_s = latency_s
        self.request_timeout_ms = request_timeout_ms
        self.retry_backoff_ms = retry_backoff_ms
        self.leaders: dict[TopicPartition, tuple[int, int]] = {}
        self.topic_errors: dict[str, int] = {}
        self.topic_ids = True
        self.down: set[int] = set()
        self.versions: dict[str, tuple[int, int]] = {}
        self.features: dict[str, int] = {}
        self.takes_metrics = False
        self.coordinator_id = 1
        self.coordinator_error = 0
        self.controller_id = 1
        self.metadata_errors: list[KafkaError] = []
        """What the next refreshes fail with."""
        self.calls: list[Call] = []
        self.refreshes = 0
        self.lookups = 0
        self.noted: list[tuple[TopicPartition, int, int]] = []
        self.forgotten = 0
        self.watched: set[str] | None = set()
        self.closed = False
        self.metadata = ClusterMetadata()
        self.metadata_renewed_at = -math.inf
        self.connected_brokers: tuple[int, ...] = ()
        self._rng = rng or random.Random(1)
        self._handlers: dict[str, Callable[[Call], Any]] = {"Metadata": self._metadata_answer}
        self._scripts: dict[str, list[Answer]] = {}
        self._connections: dict[tuple[int, str], FakeConnection] = {}
        self._seen_nodes: set[int] = set()
        self._seen_features: dict[str, int] = {}
        self._coordinators: dict[tuple[str, str], int] = {}
        self._listeners: list[Callable[[ClusterMetadata], object]] = []
        self._refresh_under_way: asyncio.Task[None] | None = None
        self._wanted: set[str] = set()
        self._everything = False
        self._retries = RetryPolicy(
            Backoff(retry_backoff_ms, 10 * retry_backoff_ms, self._rng),
            log,
            fatal=anything_unexpected,
            renew=lambda _: self.refresh_metadata(),
        )

    # What tests say and ask

    def serve(self, api: str, handler: Callable[[Call], Any]) -> None:
        """Answer every request of an API with what ``handler`` gives; see `Answer`."""
        self._handlers[api] = handler

    def script(self, api: str, *answers: Answer) -> None:
        """Answer the next requests of an API so, one each; those after are answered as `serve` says."""
        self._scripts.setdefault(api, []).extend(answers)

    def requests(self, api: str) -> list[Any]:
        """The requests of an API so far."""
        return [call.request for call in self.calls if call.api == api]

    def times(self, api: str) -> list[float]:
        """When they came, in the loop's seconds."""
        return [call.at for call in self.calls if call.api == api]

    def lead(self, partition: int, node_id: int, epoch: int, topic: str = "t") -> None:
        """Elect a leader; -1: the partition has none."""
        self.leaders[TopicPartition(topic, partition)] = (node_id, epoch)

    def stop_broker(self, node_id: int) -> None:
        """A broker goes down, and its connections with it."""
        self.down.add(node_id)
        self.cut(node_id)

    def cut(self, node_id: int) -> None:
        """The connections to a broker end."""
        for connection in list(self._connections.values()):
            if connection.node_id == node_id:
                connection.cut(KafkaConnectionError(f"broker {node_id} closed the connection"))

    def publish(self, topics: Iterable[str] | None = None, *, keep_others: bool = False) -> None:
        """Make the metadata what the brokers would answer now."""
        names = self._watched_names() if topics is None else set(topics)
        updated = self.metadata.updated(self._metadata_response(names), keep_others=keep_others)
        self._set_metadata(updated)

    def api_versions_of(self, node_id: int) -> ApiVersions:
        """What a broker serves."""
        ranges = {}
        for api in _apis(_CLIENT_APIS + _TELEMETRY * self.takes_metrics):
            low, high = self.versions.get(api.NAME.removesuffix("Request"), (api.MIN_VERSION, api.MAX_VERSION))
            if low <= high:
                ranges[api.API_KEY] = (low, high)
        return ApiVersions(ranges, f"broker {node_id}")

    async def answer(self, call: Call) -> Answer:
        """What a broker answers."""
        script = self._scripts.get(call.api)
        answer: Answer
        if script:
            answer = script.pop(0)
        elif call.api in self._handlers:
            answer = self._handlers[call.api]
        else:
            raise AssertionError(f"nobody serves {call.api}: use serve() or script()")
        if self.latency_s:
            await asyncio.sleep(self.latency_s)
        if callable(answer):
            answer = answer(call)
        if inspect.isawaitable(answer):
            answer = await answer
        return answer

    # The protocols: life

    async def start(self, *, in_background: bool = False) -> None:
        if self.broker_ids <= self.down:
            if in_background:
                return
            raise KafkaConnectionError("no broker answers")
        await asyncio.sleep(self.latency_s)
        self._seen_features = dict(self.features)
        self.publish()
        self.metadata_renewed_at = asyncio.get_running_loop().time()

    async def close(self) -> None:
        self.closed = True
        if self._refresh_under_way is not None:
            self._refresh_under_way.cancel()
            await asyncio.gather(self._refresh_under_way, return_exceptions=True)
        waiting = [task for connection in self._connections.values() for task in connection._waiting]
        for connection in self._connections.values():
            connection.cut(KafkaConnectionError("the client was closed"))
        await asyncio.gather(*waiting, return_exceptions=True)

    # The protocols: metadata

    def watch_topics(self, topics: set[str] | None, *, look_first: bool = False) -> None:
        self.watched = None if topics is None else set(topics)

    def on_metadata(self, callback: Callable[[ClusterMetadata], object]) -> Callable[[], None]:
        self._listeners.append(callback)
        return lambda: self._listeners.remove(callback)

    async def refresh_metadata(self, topics: Iterable[str] | None = None) -> ClusterMetadata:
        await asyncio.shield(self.request_refresh(topics))
        return self.metadata

    def request_refresh(self, topics: Iterable[str] | None = None) -> asyncio.Task[None]:
        self._check_open()
        if topics is None:
            self._everything = True
        else:
            self._wanted |= set(topics)
        if self._refresh_under_way is None or self._refresh_under_way.done():
            self._refresh_under_way = asyncio.get_running_loop().create_task(self._refresh())
            self._refresh_under_way.add_done_callback(lambda task: task.cancelled() or task.exception())
        return self._refresh_under_way

    async def _refresh(self) -> None:
        self.refreshes += 1
        await asyncio.sleep(self.retry_backoff_ms / 1000)
        self._refresh_under_way = None
        wanted, everything = self._wanted, self._everything
        self._wanted, self._everything = set(), False
        if self.metadata_errors:
            raise self.metadata_errors.pop(0)
        if self.broker_ids <= self.down:
            raise KafkaConnectionError("no broker answers")
        self.metadata_renewed_at = asyncio.get_running_loop().time()
        self.publish(self._watched_names() | wanted if everything else wanted, keep_others=not everything)

    def note_leader(self, tp: TopicPartition, leader: int, leader_epoch: int) -> None:
        self.noted.append((tp, leader, leader_epoch))
        if self.metadata.broker_metadata(leader) is not None:
            self._set_metadata(self.metadata.with_leader(tp, leader, leader_epoch))

    async def read_metadata(
        self, topics: set[str] | set[str | UUID] | None, *, authorized_operations: bool = False
    ) -> MetadataResponse:
        await asyncio.sleep(self.latency_s)
        everything = {*self.topics, *self.topic_errors}
        if topics is None:
            return self._metadata_response(everything)
        names = {each for each in topics if isinstance(each, str)}
        by_id: dict[str | UUID, str] = {self.topic_id(name): name for name in self.topics}
        unknown = [each for each in topics if isinstance(each, UUID) and each not in by_id]
        response = self._metadata_response(names | {by_id[each] for each in topics if each in by_id})
        response.topics += [MetadataResponseTopic(topic_id=each, name=None, error_code=100) for each in unknown]
        return response

    async def partition_leader(self, tp: TopicPartition, timeout_ms: float) -> int:
        async def look() -> int:
            await self.refresh_metadata([tp.topic])
            found = self.metadata.leader_for_partition(tp)
            if found is not None:
                return found
            error = self.metadata.topic_errors.get(tp.topic)
            if error is not None:
                raise error(f"topic {tp.topic!r}")
            if self.metadata.partition_metadata(tp) is None:
                raise UnknownTopicOrPartitionError(f"topic {tp.topic!r} has no partition {tp.partition}")
            raise LeaderNotAvailableError(f"partition {tp.partition} of topic {tp.topic!r}")

        known = self.metadata.leader_for_partition(tp)
        return known if known is not None else await self._retries.run("leader", look, timeout_ms)

    # The protocols: requests

    async def send(
        self,
        node_id: int,
        request: Request[R],
        *,
        timeout_ms: float | None = None,
        min_version: int = 0,
        max_version: int | None = None,
        channel: str = "",
    ) -> R:
        connection = await self.connection(node_id, channel)
        version = connection.api_versions.version_for(type(request), min_version, max_version)
        return await connection.send(request, version, timeout_ms)

    async def send_any(
        self,
        request: Request[R],
        *,
        timeout_ms: float | None = None,
        min_version: int = 0,
        max_version: int | None = None,
    ) -> R:
        connection = await self.any_connection()
        version = connection.api_versions.version_for(type(request), min_version, max_version)
        return await connection.send(request, version, timeout_ms)

    def api_version(self, node_id: int, request: type[Request[Any]], max_version: int | None = None) -> int | None:
        if node_id not in self._seen_nodes:
            return None
        return self.api_versions_of(node_id).pick(request, 0, max_version)

    def feature_level(self, feature: str) -> int:
        return self._seen_features.get(feature, 0)

    @property
    def release(self) -> tuple[int, ...] | None:
        return None

    async def controller(self) -> int:
        if self.metadata.broker_metadata(self.metadata.controller_id) is None:
            await self.refresh_metadata(())
        if self.metadata.broker_metadata(self.metadata.controller_id) is None:
            raise NotControllerError("the cluster has no controller at the moment")
        return self.metadata.controller_id

    async def retry(self, what: str, operation: Callable[[], Awaitable[T]], timeout_ms: float | None) -> T:
        return await self._retries.run(what, operation, timeout_ms)

    # The protocols: connections

    async def connection(self, node_id: int, channel: str = "") -> FakeConnection:
        ready = self.ready_connection(node_id, channel)
        if ready is not None:
            return ready
        self._check_open()
        if self.metadata.broker_metadata(node_id) is None:
            raise StaleMetadata(f"the cluster has no broker with id {node_id} (any more)")
        await asyncio.sleep(self.latency_s)
        if node_id in self.down:
            raise KafkaConnectionError(f"broker {node_id} refuses connections")
        self._seen_nodes.add(node_id)
        self._seen_features = dict(self.features)
        opened = self._connections[node_id, channel] = FakeConnection(self, node_id, channel)
        return opened

    def ready_connection(self, node_id: int, channel: str = "") -> FakeConnection | None:
        found = self._connections.get((node_id, channel))
        return None if found is None or found.closed or node_id in self.down else found

    async def any_connection(self) -> FakeConnection:
        self._check_open()
        ready = [each for each in self._connections.values() if not each.closed and not each.channel]
        if ready:
            return min(ready, key=lambda each: (each.in_flight, self._rng.random()))
        up = sorted(node.nodeId for node in self.metadata.brokers() if node.nodeId not in self.down)
        if not up:
            raise KafkaConnectionError("no broker answers")
        return await self.connection(self._rng.choice(up))

    # The protocols: coordinators

    async def coordinator(self, kind: CoordinatorKind, key: str, timeout_ms: float | None = None) -> int:
        known = self._coordinators.get((kind, key))
        if known is not None:
            return known

        async def find() -> int:
            self.lookups += 1
            await asyncio.sleep(self.latency_s)
            if self.broker_ids <= self.down:
                raise KafkaConnectionError("no broker answers")
            if self.coordinator_error:
                raise for_code(self.coordinator_error)(f"coordinator of {kind} {key!r}")
            if self.coordinator_id < 0:
                raise CoordinatorNotAvailableError(f"there is no coordinator of {kind} {key!r} at the moment")
            self._coordinators[kind, key] = self.coordinator_id
            return self.coordinator_id

        limit_ms = self.request_timeout_ms if timeout_ms is None else timeout_ms
        return await self._retries.run(f"looking for the coordinator of {kind} {key!r}", find, limit_ms)

    def forget_coordinator(self, kind: CoordinatorKind, key: str) -> None:
        self.forgotten += 1
        self._coordinators.pop((kind, key), None)

    async def send_coordinator(
        self,
        kind: CoordinatorKind,
        key: str,
        request: Request[R],
        *,
        timeout_ms: float | None = None,
        min_version: int = 0,
        max_version: int | None = None,
        channel: str = "coordinator",
    ) -> R:
        node_id = await self.coordinator(kind, key)
        try:
            return await self.send(
                node_id,
                request,
                timeout_ms=timeout_ms,
                min_version=min_version,
                max_version=max_version,
                channel=channel,
            )
        except (KafkaConnectionError, KafkaTimeoutError):
            self._coordinators = {each: node for each, node in self._coordinators.items() if node != node_id}
            raise

    # Inside

    def _check_open(self) -> None:
        if self.closed:
            raise IllegalStateError("the client is closed")

    def _set_metadata(self, metadata: ClusterMetadata) -> None:
        if metadata is self.metadata:
            return
        self.metadata = metadata
        for listener in list(self._listeners):
            listener(metadata)

    def _watched_names(self) -> set[str]:
        return {*self.topics, *self.topic_errors} if self.watched is None else set(self.watched)

    def _metadata_answer(self, call: Call) -> MetadataResponse:
        request = cast("MetadataRequest", call.request)
        everything = {*self.topics, *self.topic_errors}
        names = everything if request.topics is None else {each.name or "" for each in request.topics}
        return self._metadata_response(names)

    def _metadata_response(self, names: set[str]) -> MetadataResponse:
        return MetadataResponse(
            brokers=[MetadataResponseBroker(node_id=n, host="fake", port=9092 + n) for n in sorted(self.broker_ids)],
            cluster_id="fake",
            controller_id=self.controller_id,
            topics=[self._topic(name) for name in sorted(names)],
        )

    def _topic(self, name: str) -> MetadataResponseTopic:
        if name in self.topic_errors or name not in self.topics:
            code = self.topic_errors.get(name, UnknownTopicOrPartitionError.errno)
            return MetadataResponseTopic(name=name, error_code=code)
        partitions = []
        for number in range(self.topics[name]):
            leader, epoch = self.leaders.get(TopicPartition(name, number), (self.default_leader(number), 1))
            partitions.append(
                MetadataResponsePartition(
                    partition_index=number,
                    leader_id=leader,
                    leader_epoch=epoch,
                    replica_nodes=[leader],
                    isr_nodes=[leader],
                )
            )
        return MetadataResponseTopic(name=name, topic_id=self.topic_id(name), partitions=partitions)

    def default_leader(self, partition: int) -> int:
        """Who leads a partition unless `lead` says otherwise."""
        ids = sorted(self.broker_ids)
        return ids[partition % len(ids)]

    def topic_id(self, name: str) -> UUID:
        """The id of a topic: always the same of the same name."""
        return UUID(int=int.from_bytes(name.encode()[:15].rjust(15, b"\x01"))) if self.topic_ids else UUID(int=0)

    def topic_name(self, topic_id: UUID) -> str:
        """The topic of an id that requests name topics by."""
        return next(name for name in self.topics if self.topic_id(name) == topic_id)


def _apis(names: Iterable[str]) -> list[type[Request[Any]]]:
    found = []
    for name in names:
        found.append(cast("type[Request[Any]]", message_class(f"{name}Request")))
    return found


ADMIN_APIS = (
    *("DescribeAcls", "CreateAcls", "DeleteAcls", "DescribeUserScramCredentials", "AlterUserScramCredentials"),
    *("DescribeClientQuotas", "AlterClientQuotas", "DescribeLogDirs", "AlterReplicaLogDirs", "ListConfigResources"),
    *("CreateDelegationToken", "RenewDelegationToken", "ExpireDelegationToken", "DescribeDelegationToken"),
    *("OffsetDelete", "ConsumerGroupDescribe", "ShareGroupDescribe", "StreamsGroupDescribe"),
    *("DescribeShareGroupOffsets", "AlterShareGroupOffsets", "DeleteShareGroupOffsets"),
    *("ElectLeaders", "AlterPartitionReassignments", "ListPartitionReassignments", "DescribeTopicPartitions"),
    *("ListTransactions", "DescribeTransactions", "DescribeProducers", "WriteTxnMarkers"),
    *("DescribeCluster", "UpdateFeatures", "DescribeQuorum", "AddRaftVoter", "RemoveRaftVoter"),
    *("UnregisterBroker", "UnregisterController"),
)
"""What the admin client alone sends."""

_TELEMETRY = ("GetTelemetrySubscriptions", "PushTelemetry")
_CLIENT_APIS = (
    *("Produce", "Fetch", "ListOffsets", "Metadata", "ApiVersions", "FindCoordinator", "InitProducerId"),
    *("JoinGroup", "SyncGroup", "Heartbeat", "LeaveGroup", "OffsetCommit", "OffsetFetch", "OffsetForLeaderEpoch"),
    *("CreateTopics", "DeleteTopics", "CreatePartitions", "DeleteRecords", "DescribeConfigs", "AlterConfigs"),
    *("IncrementalAlterConfigs", "ListGroups", "DescribeGroups", "DeleteGroups", "ConsumerGroupHeartbeat"),
    *("ShareGroupHeartbeat", "ShareFetch", "ShareAcknowledge", "DescribeTransactions"),
    *("AddPartitionsToTxn", "AddOffsetsToTxn", "TxnOffsetCommit", "EndTxn", *ADMIN_APIS),
)

_fits_the_protocols: type[ClusterAccess] = FakeCluster
