"""What `kafka.cluster.protocols` promise: the same tests on the real client and on the fake.

The real one talks to scripted brokers over TCP, the fake is `fakes.cluster.FakeCluster`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any, Protocol

import pytest

from fakes.cluster import SILENCE, Call, FakeCluster
from kafka.cluster import ClusterAccess, ClusterClient
from kafka.config import parse_admin
from kafka.errors import (
    GroupAuthorizationFailedError,
    IllegalStateError,
    KafkaConnectionError,
    KafkaError,
    KafkaTimeoutError,
    NotControllerError,
    StaleMetadata,
    TopicAuthorizationFailedError,
    UnknownTopicOrPartitionError,
    UnsupportedVersionError,
)
from kafka.net import Reply
from kafka.structs import TopicPartition
from kafka.wire.api.heartbeat import HeartbeatRequest, HeartbeatResponse
from kafka.wire.api.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
    ListOffsetsTopicResponse,
)
from unit.cluster.scripted_cluster import QUICK, TP, InOrder, ScriptedCluster, scripted_cluster
from unit.net import scripted
from unit.waiting import let_pass, until


class ThreeBrokers(Protocol):
    """Three brokers; each answers a Heartbeat with its own id as the error code."""

    client: ClusterAccess

    def lead(self, partition: int, node_id: int, epoch: int) -> None:
        """Elect a leader of a partition of `t`."""

    def add_topic(self, name: str) -> None:
        """There is one more topic, with one partition."""

    def topic_error(self, name: str, code: int) -> None:
        """Metadata requests are answered so for a topic."""

    def coordinator(self, node_id: int, error: int = 0) -> None:
        """FindCoordinator is answered so."""

    def controller(self, node_id: int) -> None:
        """Who is the controller; -1 for nobody."""

    def serve(self, api: str, handler: Callable[[int, Any], Any]) -> None:
        """Answer an API with what the handler of broker id and request gives."""

    def serves(self, api: str, low: int, high: int) -> None:
        """The brokers serve these versions; said before anything is connected."""

    def feature(self, name: str, level: int) -> None:
        """The cluster's feature is at this level from now on."""

    async def stop(self, node_id: int) -> None:
        """A broker goes down."""

    def asked(self, api: str) -> int:
        """How many requests of an API have come."""


class RealThreeBrokers:
    def __init__(self, cluster: ScriptedCluster) -> None:
        self._cluster = cluster
        cluster.leaders = {"t": [(2, 5), (3, 5)]}
        servers = [f"{each.host}:{each.port}" for each in cluster.brokers]
        parsed = parse_admin({**QUICK, "bootstrap_servers": servers})
        self.client: ClusterAccess = ClusterClient(parsed.connection, parsed.security, InOrder())

    def lead(self, partition: int, node_id: int, epoch: int) -> None:
        self._cluster.leaders["t"][partition] = (node_id, epoch)

    def add_topic(self, name: str) -> None:
        self._cluster.leaders[name] = [(1, 0)]

    def topic_error(self, name: str, code: int) -> None:
        self._cluster.errors[name] = code

    def coordinator(self, node_id: int, error: int = 0) -> None:
        self._cluster.coordinator, self._cluster.coordinator_error = node_id, error

    def controller(self, node_id: int) -> None:
        self._cluster.controller = node_id

    def serve(self, api: str, handler: Callable[[int, Any], Any]) -> None:
        def on(node_id: int) -> Callable[[Any, Any], Any]:
            async def answer(header: Any, request: Any) -> Any:
                found = handler(node_id, request)
                if asyncio.iscoroutine(found):
                    found = await found
                return scripted.SILENCE if found is SILENCE else found

            return answer

        for broker in self._cluster.brokers:
            broker.on(api, on(broker.node_id))

    def serves(self, api: str, low: int, high: int) -> None:
        for broker in self._cluster.brokers:
            broker.versions[scripted.request_class(api).API_KEY] = (low, high)

    def feature(self, name: str, level: int) -> None:
        for broker in self._cluster.brokers:
            broker.features[name] = level
            broker.features_epoch += 1

    async def stop(self, node_id: int) -> None:
        await next(each for each in self._cluster.brokers if each.node_id == node_id).stop()

    def asked(self, api: str) -> int:
        return sum(len(broker.requests(api)) for broker in self._cluster.brokers)


class FakeThreeBrokers:
    def __init__(self) -> None:
        self._cluster = FakeCluster({"t": 2}, brokers=3, latency_s=0.0, request_timeout_ms=3_000, retry_backoff_ms=1)
        self.client: ClusterAccess = self._cluster
        self._cluster.lead(0, 2, 5)
        self._cluster.lead(1, 3, 5)
        self._cluster.serve("Heartbeat", lambda call: HeartbeatResponse(error_code=call.node_id))

    def lead(self, partition: int, node_id: int, epoch: int) -> None:
        self._cluster.lead(partition, node_id, epoch)

    def add_topic(self, name: str) -> None:
        self._cluster.topics[name] = 1

    def topic_error(self, name: str, code: int) -> None:
        self._cluster.topic_errors[name] = code

    def coordinator(self, node_id: int, error: int = 0) -> None:
        self._cluster.coordinator_id, self._cluster.coordinator_error = node_id, error

    def controller(self, node_id: int) -> None:
        self._cluster.controller_id = node_id

    def serve(self, api: str, handler: Callable[[int, Any], Any]) -> None:
        def answer(call: Call) -> Any:
            return handler(call.node_id, call.request)

        self._cluster.serve(api, answer)

    def serves(self, api: str, low: int, high: int) -> None:
        self._cluster.versions[api] = (low, high)

    def feature(self, name: str, level: int) -> None:
        self._cluster.features[name] = level

    async def stop(self, node_id: int) -> None:
        self._cluster.stop_broker(node_id)

    def asked(self, api: str) -> int:
        counted = {"Metadata": self._cluster.refreshes, "FindCoordinator": self._cluster.lookups}
        return counted[api] if api in counted else len(self._cluster.requests(api))


@pytest.fixture(params=["real", "fake"])
async def world(request: pytest.FixtureRequest) -> AsyncIterator[ThreeBrokers]:
    if request.param == "fake":
        fake = FakeThreeBrokers()
        fake.client.watch_topics({"t"})
        yield fake
        await fake.client.close()
        return
    async with scripted_cluster(3) as cluster:
        real = RealThreeBrokers(cluster)
        real.client.watch_topics({"t"})
        yield real
        await real.client.close()


@pytest.fixture
async def client(world: ThreeBrokers) -> ClusterAccess:
    await world.client.start()
    return world.client


def heartbeat(generation: int = 1) -> HeartbeatRequest:
    return HeartbeatRequest(group_id="g", generation_id=generation, member_id="m")


# Metadata


async def test_start_reads_the_metadata_of_watched_topics(client: ClusterAccess) -> None:
    assert {node.nodeId for node in client.metadata.brokers()} == {1, 2, 3}
    assert client.metadata.topics() == {"t"}
    assert client.metadata.leader_for_partition(TP) == 2
    assert client.metadata.leader_epoch(TP) == 5
    assert client.metadata.topic_name(client.metadata.topic_id("t")) == "t"  # type: ignore[arg-type]


async def test_a_named_refresh_keeps_others_and_a_full_one_forgets_them(
    world: ThreeBrokers, client: ClusterAccess
) -> None:
    world.add_topic("other")
    assert (await client.refresh_metadata(["other"])).topics() == {"t", "other"}
    assert (await client.refresh_metadata()).topics() == {"t"}


async def test_all_topics_are_watched_when_none_are_named(world: ThreeBrokers, client: ClusterAccess) -> None:
    world.add_topic("other")
    client.watch_topics(None)
    assert (await client.refresh_metadata()).topics() == {"t", "other"}


async def test_a_missing_topic_has_its_error(client: ClusterAccess) -> None:
    metadata = await client.refresh_metadata(["missing"])
    assert metadata.topic_errors["missing"] is UnknownTopicOrPartitionError
    assert metadata.partitions_for_topic("missing") is None


async def test_a_requested_refresh_happens_without_waiting(world: ThreeBrokers, client: ClusterAccess) -> None:
    world.lead(0, 3, 6)
    client.request_refresh(["t"])
    assert client.metadata.leader_for_partition(TP) == 2
    await until(lambda: client.metadata.leader_for_partition(TP) == 3)


async def test_listeners_get_each_new_snapshot_until_removed(client: ClusterAccess) -> None:
    seen: list[Any] = []
    leave = client.on_metadata(seen.append)
    await client.refresh_metadata()
    leave()
    await client.refresh_metadata()
    assert len(seen) == 1
    assert seen[0].version < client.metadata.version


async def test_a_newer_leader_of_a_known_broker_is_noted(client: ClusterAccess) -> None:
    client.note_leader(TP, 3, 6)
    assert client.metadata.leader_for_partition(TP) == 3
    client.note_leader(TP, 1, 5)  # older
    client.note_leader(TP, 77, 8)  # no such broker
    assert client.metadata.leader_for_partition(TP) == 3


async def test_metadata_never_returns_to_an_older_leader_epoch(world: ThreeBrokers, client: ClusterAccess) -> None:
    client.note_leader(TP, 3, 6)
    await client.refresh_metadata()
    assert client.metadata.leader_for_partition(TP) == 3
    world.lead(0, 1, 7)
    await client.refresh_metadata()
    assert client.metadata.leader_for_partition(TP) == 1


async def test_reading_metadata_remembers_nothing(world: ThreeBrokers, client: ClusterAccess) -> None:
    world.add_topic("other")
    answer = await client.read_metadata({"other"})
    assert [topic.name for topic in answer.topics] == ["other"]
    assert client.metadata.topics() == {"t"}


async def test_partition_leader_waits_for_a_leader(world: ThreeBrokers, client: ClusterAccess) -> None:
    assert await client.partition_leader(TP, 3_000) == 2
    world.lead(0, -1, 6)
    await client.refresh_metadata()
    waiting = asyncio.create_task(client.partition_leader(TP, 3_000))
    await asyncio.sleep(0)
    world.lead(0, 3, 7)
    assert await waiting == 3


async def test_waiting_for_a_leader_fails_with_the_reason(world: ThreeBrokers, client: ClusterAccess) -> None:
    for partition, said in ((TopicPartition("missing", 0), "'missing'"), (TopicPartition("t", 7), "no partition 7")):
        waiting = asyncio.create_task(client.partition_leader(partition, 1_500))
        before = world.asked("Metadata")
        await until(lambda before=before: world.asked("Metadata") > before + 1)
        let_pass(1.5)
        with pytest.raises(KafkaTimeoutError, match=said):
            await waiting
    world.topic_error("secret", TopicAuthorizationFailedError.errno)
    with pytest.raises(TopicAuthorizationFailedError):
        await client.partition_leader(TopicPartition("secret", 0), 3_000)


async def test_the_controller_is_found_again_when_it_moves(world: ThreeBrokers, client: ClusterAccess) -> None:
    assert await client.controller() == 1
    world.controller(3)
    await client.refresh_metadata()
    assert await client.controller() == 3
    world.controller(-1)
    await client.refresh_metadata()
    with pytest.raises(NotControllerError):
        await client.controller()


# Requests


async def test_a_request_goes_to_the_given_broker(client: ClusterAccess) -> None:
    assert [(await client.send(node, heartbeat())).error_code for node in (1, 2, 3)] == [1, 2, 3]


async def test_send_any_uses_any_live_broker(world: ThreeBrokers, client: ClusterAccess) -> None:
    await world.stop(1)
    await world.stop(2)
    answer = await client.retry("the test", lambda: client.send_any(heartbeat()), 3_000)
    assert answer.error_code == 3


async def test_fields_missing_in_a_version_are_not_sent(world: ThreeBrokers) -> None:
    world.serves("ListOffsets", 1, 3)
    seen: list[ListOffsetsRequest] = []

    def answer(node_id: int, request: ListOffsetsRequest) -> ListOffsetsResponse:
        seen.append(request)
        entry = ListOffsetsPartitionResponse(partition_index=0, offset=7)
        return ListOffsetsResponse(topics=[ListOffsetsTopicResponse(name="t", partitions=[entry])])

    world.serve("ListOffsets", answer)
    await world.client.start()
    asked = ListOffsetsPartition(partition_index=0, timestamp=-1, current_leader_epoch=5)
    request = ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(name="t", partitions=[asked])])
    assert (await world.client.send(1, request)).topics[0].partitions[0].offset == 7
    assert seen[0].topics[0].partitions[0].current_leader_epoch == -1


async def test_version_bounds_are_respected(client: ClusterAccess) -> None:
    assert (await client.send(2, heartbeat(), max_version=1)).error_code == 2
    with pytest.raises(UnsupportedVersionError):
        await client.send(2, heartbeat(), min_version=50)


async def test_an_unsupported_api_is_refused(world: ThreeBrokers) -> None:
    world.serves("Heartbeat", 50, 60)
    await world.client.start()
    with pytest.raises(UnsupportedVersionError, match="Heartbeat"):
        await world.client.send(2, heartbeat())


async def test_the_version_is_known_once_the_broker_was_connected(client: ClusterAccess) -> None:
    assert client.api_version(3, HeartbeatRequest) is None
    await client.send(3, heartbeat())
    assert client.api_version(3, HeartbeatRequest) == HeartbeatRequest.MAX_VERSION
    assert client.api_version(3, HeartbeatRequest, max_version=2) == 2


async def test_the_feature_level_is_that_of_the_last_connected_broker(world: ThreeBrokers) -> None:
    world.feature("transaction.version", 1)
    client = world.client
    assert client.feature_level("transaction.version") == 0, "nobody has told yet"
    await client.start()
    assert client.feature_level("transaction.version") == 1
    assert client.feature_level("share.version") == 0
    world.feature("transaction.version", 2)
    assert client.feature_level("transaction.version") == 1
    await client.send(3, heartbeat())
    assert client.feature_level("transaction.version") == 2


async def test_an_unknown_broker_raises_stale_metadata(client: ClusterAccess) -> None:
    with pytest.raises(StaleMetadata) as caught:
        await client.send(9, heartbeat())
    assert caught.value.invalid_metadata


async def test_a_broker_that_is_down_refuses(world: ThreeBrokers, client: ClusterAccess) -> None:
    await world.stop(2)
    with pytest.raises(KafkaConnectionError):
        await client.send(2, heartbeat())


async def test_a_silent_broker_times_out_and_the_connection_ends(world: ThreeBrokers, client: ClusterAccess) -> None:
    world.serve("Heartbeat", lambda node_id, request: SILENCE)
    connection = await client.connection(2)
    with pytest.raises(KafkaTimeoutError, match="Heartbeat"):
        await client.send(2, heartbeat(), timeout_ms=20)
    await until(lambda: connection.closed)
    assert client.ready_connection(2) is None


async def test_pending_requests_fail_when_the_broker_stops(world: ThreeBrokers, client: ClusterAccess) -> None:
    world.serve("Heartbeat", lambda node_id, request: SILENCE)
    sending = asyncio.create_task(client.send(2, heartbeat()))
    await until(lambda: world.asked("Heartbeat") == 1)
    await world.stop(2)
    with pytest.raises(KafkaConnectionError):
        await sending


async def test_retries_end_with_success_or_a_fatal_error(client: ClusterAccess) -> None:
    failures: list[KafkaError] = [KafkaConnectionError("one"), KafkaConnectionError("two")]

    async def operation() -> str:
        if failures:
            raise failures.pop(0)
        return "done"

    assert await client.retry("the test", operation, 3_000) == "done"
    failures.append(TopicAuthorizationFailedError("t"))
    with pytest.raises(TopicAuthorizationFailedError):
        await client.retry("the test", operation, 3_000)


# Connections


async def test_a_connection_is_ready_once_opened(client: ClusterAccess) -> None:
    assert client.ready_connection(2) is None
    connection = await client.connection(2)
    assert client.ready_connection(2) is connection
    assert client.ready_connection(2, "fetch") is None
    assert await client.connection(2, "fetch") is not connection


async def test_responses_of_a_connection_arrive_in_order(world: ThreeBrokers, client: ClusterAccess) -> None:
    async def slow_first(node_id: int, request: HeartbeatRequest) -> HeartbeatResponse:
        await asyncio.sleep(0.02 if request.generation_id == 1 else 0)
        return HeartbeatResponse(error_code=request.generation_id)

    world.serve("Heartbeat", slow_first)
    connection = await client.connection(2)
    order: list[int] = []
    done = asyncio.Event()

    def take(response: HeartbeatResponse | None, error: Exception | None) -> None:
        assert response is not None
        order.append(response.error_code)
        if len(order) == 3:
            done.set()

    version = connection.api_versions.version_for(HeartbeatRequest)
    for generation in (1, 2, 3):
        connection.post_for(Reply(take), heartbeat(generation), version, 3_000)
    assert connection.in_flight == 3
    async with asyncio.timeout(60):
        await done.wait()
    assert order == [1, 2, 3]
    assert connection.in_flight == 0


async def test_channels_do_not_delay_each_other(world: ThreeBrokers, client: ClusterAccess) -> None:
    gate = asyncio.Event()

    async def answer(node_id: int, request: HeartbeatRequest) -> HeartbeatResponse:
        if request.generation_id == 99:
            await gate.wait()
        return HeartbeatResponse(error_code=node_id)

    world.serve("Heartbeat", answer)
    long_poll = asyncio.create_task(client.send(2, heartbeat(99), channel="fetch"))
    assert (await client.send(2, heartbeat())).error_code == 2
    assert not long_poll.done()
    gate.set()
    assert (await long_poll).error_code == 2


async def test_a_closed_connection_refuses_requests(world: ThreeBrokers, client: ClusterAccess) -> None:
    connection = await client.connection(2)
    await world.stop(2)
    await until(lambda: connection.closed)
    with pytest.raises(KafkaConnectionError):
        await connection.send(heartbeat())


async def test_any_connection_returns_an_open_one(client: ClusterAccess) -> None:
    first = await client.any_connection()
    assert await client.any_connection() is first
    assert (await first.send(heartbeat())).error_code in (1, 2, 3)


# Coordinators


async def test_a_coordinator_is_remembered_until_it_is_forgotten(world: ThreeBrokers, client: ClusterAccess) -> None:
    world.coordinator(3)
    assert await client.coordinator("group", "g") == 3
    world.coordinator(2)
    assert await client.coordinator("group", "g") == 3
    client.forget_coordinator("group", "g")
    assert (await client.send_coordinator("group", "g", heartbeat())).error_code == 2


async def test_a_failed_coordinator_is_looked_up_again(world: ThreeBrokers, client: ClusterAccess) -> None:
    world.coordinator(2)
    await client.send_coordinator("group", "g", heartbeat())
    await world.stop(2)
    world.coordinator(3)
    answer = await client.retry("the test", lambda: client.send_coordinator("group", "g", heartbeat()), 3_000)
    assert answer.error_code == 3


async def test_a_coordinator_lookup_waits_until_the_timeout(world: ThreeBrokers, client: ClusterAccess) -> None:
    world.coordinator(1, error=15)
    looking = asyncio.create_task(client.coordinator("group", "g", timeout_ms=1_500))
    await until(lambda: world.asked("FindCoordinator") > 1)
    let_pass(1.5)
    with pytest.raises(KafkaTimeoutError, match="CoordinatorNotAvailableError"):
        await looking


async def test_an_unauthorized_group_fails_immediately(world: ThreeBrokers, client: ClusterAccess) -> None:
    world.coordinator(1, error=30)
    with pytest.raises(GroupAuthorizationFailedError, match="'g'"):
        await client.coordinator("group", "g")


# The end


async def test_after_close_everything_is_refused(world: ThreeBrokers, client: ClusterAccess) -> None:
    await client.send(1, heartbeat())
    await client.close()
    for call in (client.send(1, heartbeat()), client.send_any(heartbeat()), client.refresh_metadata()):
        with pytest.raises((IllegalStateError, KafkaConnectionError)):
            await call
    await client.close()


async def test_close_ends_pending_operations(world: ThreeBrokers, client: ClusterAccess) -> None:
    world.serve("Heartbeat", lambda node_id, request: SILENCE)
    sending = asyncio.create_task(client.send(2, heartbeat()))
    await until(lambda: world.asked("Heartbeat") == 1)
    await client.close()
    with pytest.raises(KafkaError):
        await sending
