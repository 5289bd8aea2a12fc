import asyncio
import gc
import logging
import random
import socket

import pytest

from kafka.cluster import ClusterClient
from kafka.config import parse_admin
from kafka.errors import (
    Cancelled,
    GroupAuthorizationFailedError,
    IllegalStateError,
    KafkaConnectionError,
    KafkaError,
    KafkaTimeoutError,
    MetadataEmptyBrokerList,
    NoBrokersAvailable,
    NotControllerError,
    StaleMetadata,
    TopicAuthorizationFailedError,
    UnsupportedVersionError,
)
from kafka.structs import TopicPartition
from kafka.wire.api.find_coordinator import FindCoordinatorRequest
from kafka.wire.api.heartbeat import HeartbeatRequest
from kafka.wire.api.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from unit.cluster.scripted_cluster import QUICK, TP, free_port, heartbeat
from unit.net.scripted import HANG_UP
from unit.waiting import let_pass, until

# Finding the cluster


async def test_start_reads_the_metadata_of_what_is_watched(client):
    assert {node.nodeId for node in client.metadata.brokers()} == {1, 2, 3}
    assert client.metadata.leader_for_partition(TP) == 2
    assert client.metadata.cluster_id == "scripted"


async def test_the_connection_that_found_the_cluster_is_used_for_its_broker(client, cluster):
    await client.send(1, heartbeat())
    assert cluster.brokers[0].connections == 1


async def test_a_dead_bootstrap_server_does_not_matter_if_another_answers(cluster, make_client):
    servers = [f"127.0.0.1:{free_port()}", f"127.0.0.1:{cluster.brokers[2].port}"]
    client = make_client(cluster, bootstrap_servers=servers)
    await client.start()
    assert len(client.metadata.brokers()) == 3


async def test_no_brokers_names_each_server_and_what_it_answered(cluster, make_client):
    dead = free_port()
    cluster.brokers[0].on("ApiVersions", lambda *_: HANG_UP)
    servers = [f"127.0.0.1:{dead}", f"127.0.0.1:{cluster.brokers[0].port}"]
    client = make_client(cluster, bootstrap_servers=servers, bootstrap_timeout_ms=1_500)
    starting = asyncio.create_task(client.start())
    await until(lambda: len(client._discovery._bootstrap._failures) == 2)
    let_pass(1.5)
    with pytest.raises(NoBrokersAvailable) as caught:
        await starting
    text = str(caught.value)
    assert "in 1.5 s" in text
    assert f"127.0.0.1:{dead}: connection refused" in text
    assert f"127.0.0.1:{cluster.brokers[0].port} closed the connection" in text


async def test_a_listener_that_asks_for_sasl_is_told_as_the_likely_cause(cluster, make_client):
    cluster.brokers[0].on("Metadata", lambda *_: HANG_UP)
    client = make_client(cluster, brokers=cluster.brokers[:1], bootstrap_timeout_ms=1_500)
    starting = asyncio.create_task(client.start())
    await until(lambda: client._discovery._bootstrap._failures)
    let_pass(1.5)
    with pytest.raises(NoBrokersAvailable, match="asks for SASL"):
        await starting


async def test_an_error_that_repetition_does_not_mend_is_raised_at_once(cluster, make_client):
    cluster.brokers[0].versions.pop(MetadataRequest.API_KEY)
    client = make_client(cluster, brokers=cluster.brokers[:1])
    with pytest.raises(UnsupportedVersionError, match="MetadataRequest"):
        await client.start()


async def test_a_bootstrap_server_that_comes_late_is_waited_for(cluster, make_client):
    broker = cluster.brokers[0]
    port = broker.port
    await broker.stop()
    client = make_client(cluster, bootstrap_servers=f"127.0.0.1:{port}")
    starting = asyncio.create_task(client.start())
    while not client._discovery._bootstrap._failures:
        await asyncio.sleep(0)
    await broker.listen(port)
    await starting
    assert client.metadata.controller_id == 1


async def test_when_all_brokers_have_moved_the_bootstrap_servers_are_asked_again(cluster, make_client):
    client = make_client(cluster, brokers=cluster.brokers[:1])
    await client.start()
    gone, cluster.brokers[1:] = cluster.brokers[1:], []
    for broker in gone:
        await broker.stop()
    first = cluster.brokers[0]
    cluster.brokers.clear()
    await cluster.add(11)
    await cluster.add(12)
    first.hang_up()  # still answers on its old port, as a name that leads to the new brokers does
    while client.metadata.broker_metadata(1) is not None:
        await client.retry(client.refresh_metadata, 3_000)
    assert {node.nodeId for node in client.metadata.brokers()} == {11, 12}
    assert (await client.send(12, heartbeat())).error_code == 12
    await first.stop()


# Sending


async def test_send_goes_to_the_broker_asked_for(client):
    assert [(await client.send(node, heartbeat())).error_code for node in (1, 2, 3)] == [1, 2, 3]


async def test_one_connection_a_broker_and_one_more_a_channel(client, cluster):
    await asyncio.gather(*(client.send(2, heartbeat()) for _ in range(20)))
    assert cluster.brokers[1].connections == 1
    await asyncio.gather(*(client.send(2, heartbeat(), channel="coordinator") for _ in range(20)))
    assert cluster.brokers[1].connections == 2


async def test_a_long_poll_on_its_channel_does_not_hold_up_others(client, cluster):
    gate = asyncio.Event()
    plain = cluster.brokers[1].handlers["Heartbeat"]

    async def wait_for_some(header, request):
        if request.generation_id == 99:
            await gate.wait()
        return plain(header, request)

    cluster.brokers[1].on("Heartbeat", wait_for_some)
    long = asyncio.create_task(
        client.send(2, HeartbeatRequest(group_id="g", generation_id=99, member_id="m"), channel="fetch")
    )
    assert (await client.send(2, heartbeat())).error_code == 2
    assert not long.done()
    gate.set()
    await long


async def test_an_id_that_the_cluster_does_not_have_asks_for_fresh_metadata(client):
    with pytest.raises(StaleMetadata, match="no broker with id 9") as caught:
        await client.send(9, heartbeat())
    assert caught.value.retriable
    assert caught.value.invalid_metadata


async def test_version_bounds_are_kept(client, cluster):
    await client.send(2, heartbeat(), max_version=1)
    assert cluster.brokers[1].seen[-1][0].request_api_version == 1
    with pytest.raises(UnsupportedVersionError, match="needs one from 50"):
        await client.send(2, heartbeat(), min_version=50)


async def test_the_version_of_a_request_is_known_once_the_broker_was_connected(client):
    assert client.api_version(3, HeartbeatRequest) is None
    await client.send(3, heartbeat())
    assert client.api_version(3, HeartbeatRequest) == HeartbeatRequest.MAX_VERSION
    assert client.api_version(3, HeartbeatRequest, max_version=2) == 2


async def test_send_any_takes_a_broker_that_is_connected(client, cluster):
    for _ in range(10):
        await client.send_any(heartbeat())
    assert [broker.connections for broker in cluster.brokers] == [1, 0, 0]


async def test_send_any_passes_by_brokers_that_are_down(client, cluster):
    await cluster.brokers[0].stop()
    await cluster.brokers[1].stop()
    answer = await client.retry(lambda: client.send_any(heartbeat()), 3_000)
    assert answer.error_code == 3


async def test_the_controller_is_asked_and_found_again(client, cluster):
    assert (await client.send_controller(heartbeat())).error_code == 1
    cluster.controller = 3
    await client.refresh_metadata()
    assert (await client.send_controller(heartbeat())).error_code == 3
    cluster.controller = -1
    await client.refresh_metadata()
    with pytest.raises(NotControllerError):
        await client.send_controller(heartbeat())


async def test_a_broker_that_fails_is_not_tried_again_before_its_time(cluster, make_client):
    client = make_client(cluster, reconnect_backoff_ms=60_000, reconnect_backoff_max_ms=60_000)
    await client.start()
    await cluster.brokers[1].stop()
    with pytest.raises(KafkaConnectionError, match=r"refused.*advertises for broker 2"):
        await client.send(2, heartbeat())
    with pytest.raises(KafkaConnectionError, match=r"refused.*broker 2 is tried again in \d+"):
        await client.send(2, heartbeat())


async def test_a_connection_that_was_lost_after_it_worked_is_opened_again_at_once(cluster, make_client):
    client = make_client(cluster, reconnect_backoff_ms=60_000, reconnect_backoff_max_ms=60_000)
    await client.start()
    await client.send(2, heartbeat())
    cluster.brokers[1].hang_up()
    while client.ready_connection(2) is not None:
        await asyncio.sleep(0)
    assert (await client.send(2, heartbeat())).error_code == 2


async def test_a_broker_that_moved_is_connected_at_its_new_address(client, cluster):
    await client.send(2, heartbeat())
    old = cluster.brokers.pop(1)
    await cluster.add(2)
    await client.refresh_metadata()
    assert (await client.send(2, heartbeat())).error_code == 2
    assert len(cluster.brokers[-1].requests("Heartbeat")) == 1
    await old.stop()


async def test_a_pause_of_less_than_a_second_is_one_too(cluster, make_client):
    client = make_client(cluster, reconnect_backoff_ms=900, reconnect_backoff_max_ms=900)
    await client.start()
    await cluster.brokers[1].stop()
    for match in ("refused", r"broker 2 is tried again in 0\.\d s|broker 2 is tried again in 1\.\d s"):
        with pytest.raises(KafkaConnectionError, match=match):
            await client.send(2, heartbeat())


async def test_a_broker_that_can_be_connected_again_is_told_of(client, cluster, caplog):
    broker = cluster.brokers[1]
    await broker.stop()
    with pytest.raises(KafkaConnectionError):
        await client.send(2, heartbeat())
    await broker.listen(broker.port)
    with caplog.at_level(logging.INFO, "kafka"):
        await client.retry(lambda: client.send(2, heartbeat()), 3_000)
    assert "connecting to broker 2 works again" in caplog.text


async def test_a_connection_that_fails_when_nobody_waits_for_it_any_more_is_no_unseen_error(client, cluster):
    unseen = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: unseen.append(context["message"]))
    answered = asyncio.Event()

    async def hang_up_late(*_):
        await answered.wait()
        return HANG_UP

    cluster.brokers[1].on("ApiVersions", hang_up_late)
    waiting = asyncio.create_task(client.send(2, heartbeat()))
    while not cluster.brokers[1].seen:
        await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    answered.set()
    while client._pool._brokers[2].opening:
        await asyncio.sleep(0)
    await asyncio.sleep(0)
    gc.collect()
    assert unseen == []


@pytest.mark.parametrize("how", ["send", "send_any", "send_controller", "send_coordinator", "api_version"])
async def test_the_oldest_version_will_do_unless_a_caller_says_otherwise(cluster, make_client, how):
    for broker in cluster.brokers:
        broker.versions[HeartbeatRequest.API_KEY] = (0, 0)
    client = make_client(cluster)
    await client.start()
    if how == "api_version":
        await client.connection(1)
        assert client.api_version(1, HeartbeatRequest) == 0
        return
    where = {"send": (1,), "send_coordinator": ("group", "g")}.get(how, ())
    await getattr(client, how)(*where, HeartbeatRequest(group_id="g", generation_id=1, member_id="m"))
    versions = {
        header.request_api_version for b in cluster.brokers for header, r in b.seen if r.NAME == "HeartbeatRequest"
    }
    assert versions == {0}


async def test_an_outage_is_one_line_in_the_log(cluster, make_client, caplog):
    client = make_client(cluster, reconnect_backoff_ms=0, reconnect_backoff_max_ms=0)
    await client.start()
    await cluster.brokers[1].stop()
    with caplog.at_level(logging.INFO, "kafka"):
        for _ in range(20):
            with pytest.raises(KafkaConnectionError):
                await client.send(2, heartbeat())
    lines = [record.getMessage() for record in caplog.records if "broker 2" in record.getMessage()]
    assert len(lines) == 1
    assert "refused" in lines[0]


async def test_after_close_everything_is_refused(client, cluster):
    await client.close()
    for call in (client.send(1, heartbeat()), client.send_any(heartbeat()), client.refresh_metadata()):
        with pytest.raises((IllegalStateError, KafkaConnectionError)):
            await call
    await client.close()


# Metadata


def asked(cluster):
    return sum(len(broker.requests("Metadata")) for broker in cluster.brokers)


async def test_refreshes_at_the_same_time_are_one_request(client, cluster):
    before = asked(cluster)
    results = await asyncio.gather(*(client.refresh_metadata() for _ in range(50)))
    assert asked(cluster) == before + 1
    assert all(result is client.metadata for result in results)


async def test_refreshes_for_several_topics_are_gathered(client, cluster):
    cluster.leaders.update({name: [(1, 0)] for name in "abcd"})
    before = asked(cluster)
    await asyncio.gather(*(client.refresh_metadata([name]) for name in "abcd"))
    assert asked(cluster) <= before + 2
    assert client.metadata.topics() == {"t", "a", "b", "c", "d"}


async def test_a_full_refresh_forgets_what_is_not_watched(client, cluster):
    cluster.leaders["other"] = [(1, 0)]
    await client.refresh_metadata(["other"])
    assert client.metadata.topics() == {"t", "other"}
    await client.refresh_metadata()
    assert client.metadata.topics() == {"t"}


async def test_all_topics_are_watched_when_none_are_named(client, cluster):
    cluster.leaders["new"] = [(1, 0)]
    client.watch_topics(None)
    await client.refresh_metadata()
    assert client.metadata.topics() == {"t", "new"}


async def test_listeners_get_each_new_picture_until_they_leave(client, cluster):
    seen = []
    leave = client.on_metadata(seen.append)
    await client.refresh_metadata()
    leave()
    await client.refresh_metadata()
    assert len(seen) == 1
    assert seen[0].version < client.metadata.version


async def test_metadata_are_refreshed_unasked_when_they_are_old(cluster, make_client):
    client = make_client(cluster, metadata_max_age_ms=10)
    await client.start()
    arrived = asyncio.Event()
    client.on_metadata(lambda _: arrived.set())
    async with asyncio.timeout(3):
        await arrived.wait()


async def test_another_broker_is_asked_when_one_fails(client, cluster):
    cluster.brokers[0].on("Metadata", lambda *_: HANG_UP)
    cluster.leaders["t"] = [(1, 9)]
    await client.refresh_metadata()
    assert client.metadata.leader_epoch(TP) == 9


async def test_a_leader_named_by_a_response_is_used_if_the_broker_is_known(client):
    client.note_leader(TP, 3, 6)
    assert client.metadata.leader_for_partition(TP) == 3
    client.note_leader(TP, 77, 8)
    assert client.metadata.leader_for_partition(TP) == 3


async def test_a_leader_that_is_named_while_an_older_answer_comes_stays(client, cluster):
    plain = cluster.brokers[0].handlers["Metadata"]

    def name_another(header, request):
        client.note_leader(TP, 3, 6)
        return plain(header, request)

    cluster.brokers[0].on("Metadata", name_another)
    before = client.metadata.version
    metadata = await client.refresh_metadata()
    assert metadata.leader_for_partition(TP) == 3
    assert metadata.version > before + 1  # one for each of the two
    cluster.leaders["t"] = [(2, 7), (3, 5)]
    assert (await client.refresh_metadata()).leader_for_partition(TP) == 2


async def test_a_noted_leader_is_forgotten_with_its_broker_or_with_its_topic(client, cluster):
    plain = cluster.brokers[0].handlers["Metadata"]

    def name_another(header, request):
        client.note_leader(TP, 3, 6)
        return plain(header, request)

    cluster.brokers[0].on("Metadata", name_another)
    cluster.ids.clear()  # the topic is made anew
    cluster.leaders["t"] = [(2, 0), (2, 0)]
    assert (await client.refresh_metadata()).leader_for_partition(TP) == 2
    gone = cluster.brokers.pop()
    assert (await client.refresh_metadata()).leader_for_partition(TP) == 2
    await gone.stop()


async def test_partition_leader_waits_until_there_is_one(client, cluster):
    cluster.leaders["t"] = [(-1, 6)]
    await client.refresh_metadata()
    waiting = asyncio.create_task(client.partition_leader(TP, 3_000))
    while asked(cluster) < 4:
        await asyncio.sleep(0)
    cluster.leaders["t"] = [(3, 7)]
    assert await waiting == 3


async def test_partition_leader_tells_what_it_waited_for(client, cluster):
    for partition, said in ((TopicPartition("missing", 0), "'missing'"), (TopicPartition("t", 7), "no partition 7")):
        waiting, before = asyncio.create_task(client.partition_leader(partition, 1_500)), asked(cluster)
        await until(lambda before=before: asked(cluster) > before + 1)
        let_pass(1.5)
        with pytest.raises(KafkaTimeoutError, match=said):
            await waiting
    cluster.errors["secret"] = 29
    with pytest.raises(TopicAuthorizationFailedError):
        await client.partition_leader(TopicPartition("secret", 0), 3_000)


@pytest.mark.parametrize("max_version", [0, 1, 3, 4, MetadataRequest.MAX_VERSION])
async def test_metadata_are_read_in_every_style_of_request(cluster, make_client, max_version):
    for broker in cluster.brokers:
        broker.versions[MetadataRequest.API_KEY] = (0, max_version)
    client = make_client(cluster, allow_auto_create_topics=False)
    client.watch_topics({"t"})
    await client.start()
    assert client.metadata.leader_for_partition(TP) == 2
    client.watch_topics(None)
    answer = await client.refresh_metadata()
    assert answer.brokers()


async def test_reading_metadata_neither_creates_nor_remembers_topics(client, cluster):
    cluster.leaders["other"] = [(1, 0)]
    answer = await client.read_metadata({"other"})
    assert [topic.name for topic in answer.topics] == ["other"]
    assert client.metadata.topics() == {"t"}
    assert cluster.brokers[0].requests("Metadata")[-1].allow_auto_topic_creation is False


async def test_a_broker_without_brokers_is_not_believed(client, cluster):
    cluster.brokers[0].on("Metadata", lambda *_: MetadataResponse())
    with pytest.raises(MetadataEmptyBrokerList):
        await client.refresh_metadata()
    assert len(client.metadata.brokers()) == 3


# Coordinators


@pytest.mark.parametrize("max_version", [0, 3, FindCoordinatorRequest.MAX_VERSION])
async def test_a_coordinator_is_found_once_and_remembered(cluster, make_client, max_version):
    for broker in cluster.brokers:
        broker.versions[FindCoordinatorRequest.API_KEY] = (0, max_version)
    cluster.coordinator = 3
    client = make_client(cluster)
    await client.start()
    assert await client.coordinator("group", "g") == 3
    assert await client.coordinator("group", "g") == 3
    assert sum(len(broker.requests("FindCoordinator")) for broker in cluster.brokers) == 1


async def test_a_forgotten_coordinator_is_looked_up_again(client, cluster):
    assert await client.coordinator("group", "g") == 1
    cluster.coordinator = 2
    client.forget_coordinator("group", "g")
    assert (await client.send_coordinator("group", "g", heartbeat())).error_code == 2


async def test_a_coordinator_that_does_not_answer_is_forgotten(client, cluster):
    cluster.coordinator = 2
    await client.send_coordinator("group", "g", heartbeat())
    await cluster.brokers[1].stop()
    cluster.coordinator = 3
    answer = await client.retry(lambda: client.send_coordinator("group", "g", heartbeat()), 3_000)
    assert answer.error_code == 3


async def test_a_coordinator_is_waited_for_until_the_time_is_up(client, cluster):
    cluster.coordinator_error = 15
    looking = asyncio.create_task(client.coordinator("group", "g", timeout_ms=1_500))
    await until(lambda: sum(len(broker.requests("FindCoordinator")) for broker in cluster.brokers) > 1)
    let_pass(1.5)
    with pytest.raises(KafkaTimeoutError, match="CoordinatorNotAvailableError"):
        await looking
    looking = asyncio.create_task(client.coordinator("group", "g"))
    while not any(broker.requests("FindCoordinator") for broker in cluster.brokers):
        await asyncio.sleep(0)
    cluster.coordinator_error = 0
    assert await looking == 1


async def test_a_group_that_may_not_be_used_is_told_at_once(client, cluster):
    cluster.coordinator_error = 30
    with pytest.raises(GroupAuthorizationFailedError, match="'g'"):
        await client.coordinator("group", "g")


async def test_a_coordinator_that_is_not_among_the_brokers_is_reached_at_its_own_address(client, cluster):
    late = await cluster.add(8)
    cluster.coordinator = 8
    assert (await client.send_coordinator("group", "g", heartbeat())).error_code == 8
    assert late.connections == 1


# What goes wrong on the way


@pytest.fixture
async def hangs_up():
    """A port where connections are taken and closed at once, as a load balancer without a live backend does."""
    import struct

    taken = []

    def take(reader, writer):
        taken.append(1)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    server = await asyncio.start_server(take, "127.0.0.1", 0)
    yield server.sockets[0].getsockname()[1], taken
    server.close()
    await server.wait_closed()


async def test_a_peer_that_closes_at_once_is_a_connection_error_everywhere(cluster, make_client, hangs_up):
    port, taken = hangs_up
    client = make_client(cluster)
    await client.start()
    cluster.brokers[1].port, real = port, cluster.brokers[1].port
    await client.refresh_metadata()
    for _ in range(20):
        with pytest.raises(KafkaConnectionError):
            await client.send(2, heartbeat())
        await asyncio.sleep(0.005)
    assert taken
    cluster.brokers[1].port = real
    await client.refresh_metadata()
    answer = await client.retry(lambda: client.send(2, heartbeat()), 3_000)
    assert answer.error_code == 2


async def test_a_peer_that_closes_at_once_is_no_broker_to_begin_with(cluster, make_client, hangs_up):
    client = make_client(cluster, bootstrap_servers=f"127.0.0.1:{hangs_up[0]}", bootstrap_timeout_ms=1_500)
    starting = asyncio.create_task(client.start())
    await until(lambda: client._discovery._bootstrap._failures)
    let_pass(1.5)
    with pytest.raises(NoBrokersAvailable):
        await starting


async def test_refreshing_survives_what_nobody_expected(client, monkeypatch, caplog):
    async def broken(*args):
        raise ValueError("a fault")

    monkeypatch.setattr(client._updater, "_any_connection", broken)
    with pytest.raises(KafkaError, match="a fault"):
        await client.refresh_metadata()
    assert "refreshing the cluster's metadata failed unexpectedly" in caplog.text
    monkeypatch.undo()
    version = client.metadata.version
    assert (await client.refresh_metadata()).version > version


async def test_a_connection_that_fails_unexpectedly_is_a_failed_connection(client, monkeypatch):
    async def broken(*args):
        raise ValueError("a fault")

    monkeypatch.setattr("kafka.cluster.pool.open_connection", broken)
    with pytest.raises(KafkaError, match="connecting to broker 2 failed unexpectedly") as caught:
        await client.send(2, heartbeat())
    assert caught.value.retriable


async def test_a_listener_that_fails_does_not_stop_others(client, caplog):
    def broken(metadata):
        raise ValueError("a fault")

    seen = []
    client.on_metadata(broken)
    client.on_metadata(seen.append)
    await client.refresh_metadata()
    assert len(seen) == 1
    assert "a listener to metadata failed" in caplog.text


async def test_no_broker_there_is_logged_at_once_with_address_and_cause(cluster, make_client, caplog):
    dead = free_port()
    client = make_client(cluster, bootstrap_servers=f"127.0.0.1:{dead}", bootstrap_timeout_ms=60_000)
    with caplog.at_level(logging.WARNING, "kafka"):
        starting = asyncio.create_task(client.start())
        async with asyncio.timeout(10):
            while not caplog.records:
                await asyncio.sleep(0.001)
        assert not starting.done()
        starting.cancel()
        await asyncio.gather(starting, return_exceptions=True)
    (line,) = [record.getMessage() for record in caplog.records]
    assert f"127.0.0.1:{dead}" in line
    assert "refused" in line


async def test_where_every_server_refuses_the_users_shorter_time_counts(cluster, make_client):
    servers = [f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}"]
    client = make_client(
        cluster, bootstrap_servers=servers, api_version_auto_timeout_ms=100, bootstrap_timeout_ms=3_600_000
    )
    with pytest.raises(NoBrokersAvailable, match="refused"):
        await client.start()


async def test_that_time_does_not_count_where_a_server_is_there_but_not_ready(cluster, make_client):
    """`api_version_auto_timeout_ms` is for refused connections; others have `bootstrap_timeout_ms`."""
    broker = cluster.brokers[0]
    ready = broker.handlers["Metadata"]
    asked_so_far = []

    def not_ready(header, request):
        asked_so_far.append(1)
        return MetadataResponse() if len(asked_so_far) < 4 else ready(header, request)

    broker.on("Metadata", not_ready)
    client = make_client(cluster, brokers=[broker], api_version_auto_timeout_ms=0)
    await client.start()
    assert len(asked_so_far) == 4


async def test_a_process_that_ends_is_no_failure_of_its_brokers(client, caplog):
    connection = await client.connection(2)
    with caplog.at_level(logging.INFO, "kafka"):
        connection.abort(Cancelled("the process ends, and its connections with it"))
    assert caplog.records == []


# How brokers are chosen, and how often dead ones are dialled


async def test_of_equally_idle_brokers_any_is_taken(cluster):
    parsed = parse_admin({**QUICK, "bootstrap_servers": [f"{b.host}:{b.port}" for b in cluster.brokers]})
    first, chosen = set(), set()
    for seed in range(25):
        client = ClusterClient(parsed.connection, parsed.security, random.Random(seed))
        await client.start()
        first.update(node for node in (1, 2, 3) if client.ready_connection(node))
        for node in (1, 2, 3):
            await client.connection(node)
        chosen.add((await client.any_connection()).node_id)
        await client.close()
    assert first == chosen == {1, 2, 3}


@pytest.fixture
def dials(monkeypatch):
    """Counts attempts to connect by port, and the most that are under way at a time."""

    class Dials:
        def __init__(self):
            self.ports, self.now, self.most = [], 0, 0

    from kafka.cluster import bootstrap, pool

    dials, real = Dials(), pool.open_connection

    async def counted(host, port, *rest):
        dials.ports.append(port)
        dials.now += 1
        dials.most = max(dials.most, dials.now)
        try:
            await asyncio.sleep(0)
            return await real(host, port, *rest)
        finally:
            dials.now -= 1

    for module in (bootstrap, pool):
        monkeypatch.setattr(module, "open_connection", counted)
    return dials


async def test_the_channels_to_a_dead_broker_dial_it_one_at_a_time_and_pause_together(cluster, make_client, dials):
    client = make_client(cluster, reconnect_backoff_ms=60_000, reconnect_backoff_max_ms=60_000)
    await client.start()
    await cluster.brokers[1].stop()
    dials.ports.clear()
    channels = ("", "fetch", "coordinator", "fetch2")
    outcomes = await asyncio.gather(
        *(client.send(2, heartbeat(), channel=channel) for channel in channels), return_exceptions=True
    )
    assert all(isinstance(outcome, KafkaConnectionError) for outcome in outcomes)
    assert len(dials.ports) == 1


async def test_channels_to_a_live_broker_open_side_by_side(client, dials):
    await client.send(1, heartbeat())
    dials.most = 0
    await asyncio.gather(*(client.send(1, heartbeat(), channel=channel) for channel in ("a", "b", "c")))
    assert dials.most == 3


async def test_no_round_is_begun_that_would_come_after_the_users_shorter_time(cluster, make_client, dials):
    client = make_client(
        cluster,
        bootstrap_servers=f"127.0.0.1:{free_port()}",
        reconnect_backoff_ms=500,
        reconnect_backoff_max_ms=500,
        api_version_auto_timeout_ms=100,
    )
    with pytest.raises(NoBrokersAvailable, match="refused"):
        await client.start()
    assert len(dials.ports) == 1


async def test_a_lost_cluster_is_looked_for_no_oftener_than_the_option_says(cluster, make_client, dials):
    client = make_client(
        cluster, brokers=cluster.brokers[:1], reconnect_backoff_ms=60_000, reconnect_backoff_max_ms=60_000
    )
    await client.start()
    for broker in cluster.brokers:
        await broker.stop()
    dials.ports.clear()
    for _ in range(20):
        with pytest.raises(KafkaError):
            await client.refresh_metadata()
    assert len(dials.ports) == len(set(dials.ports)) == 3  # each broker once; the bootstrap server is one of them


async def test_a_broker_that_asks_for_it_has_the_cluster_looked_for_anew(client, cluster):
    """REBOOTSTRAP_REQUIRED (KIP-1102)."""
    answers = [MetadataResponse(brokers=[MetadataResponseBroker(node_id=1, host="h", port=1)], error_code=129)]
    plain = cluster.brokers[0].handlers["Metadata"]
    cluster.brokers[0].on("Metadata", lambda *args: answers.pop() if answers else plain(*args))
    cluster.leaders["t"] = [(1, 9)]
    await client.coordinator("group", "g")
    found = sum(len(broker.requests("FindCoordinator")) for broker in cluster.brokers)
    await client.refresh_metadata()
    assert not answers
    assert client.metadata.leader_epoch(TP) == 9
    await client.coordinator("group", "g")  # which may have moved with the cluster
    assert sum(len(broker.requests("FindCoordinator")) for broker in cluster.brokers) == found + 1


async def test_a_bootstrap_server_that_refers_to_others_is_passed_by(cluster, make_client):
    answer = MetadataResponse(brokers=[MetadataResponseBroker(node_id=1, host="h", port=1)], error_code=129)
    cluster.brokers[0].on("Metadata", lambda *_: answer)
    client = make_client(cluster, brokers=cluster.brokers[:2])
    await client.start()
    assert {node.nodeId for node in client.metadata.brokers()} == {1, 2, 3}
    assert cluster.brokers[1].requests("Metadata")


# What cannot be


async def test_what_no_cluster_can_have_is_ignored_with_a_warning(client, cluster, caplog):
    plain = cluster.brokers[0].handlers["Metadata"]

    def hostile(header, request):
        response = plain(header, request)
        response.brokers.append(MetadataResponseBroker(node_id=-7, host="h", port=1))
        response.brokers.append(MetadataResponseBroker(node_id=8, host="h", port=2**31 - 1))
        for number in (-3, 2**31 - 1):
            response.topics[0].partitions.append(MetadataResponsePartition(partition_index=number, leader_id=1))
        response.topics.append(MetadataResponseTopic(name=""))
        return response

    cluster.brokers[0].on("Metadata", hostile)
    await client.refresh_metadata()
    assert client.metadata.partitions_for_topic("t") == {0, 1}
    assert {node.nodeId for node in client.metadata.brokers()} == {1, 2, 3}
    assert "" not in client.metadata.topics()
    assert "partitions -3, 2147483647 of topic 't'" in caplog.text
    assert "1 topics without a possible name" in caplog.text
    assert "-7 at h:1, 8 at h:2147483647" in caplog.text


async def test_a_large_answer_is_read_beside_the_loop(cluster, make_client, monkeypatch):
    """And no collection goes through its objects again and again meanwhile."""
    import gc
    import threading

    from kafka.cluster import ClusterMetadata
    from kafka.net import answer_reader

    seen = []

    def note(function):
        def noting(*args, **more):
            seen.append((threading.current_thread() is threading.main_thread(), gc.isenabled()))
            return function(*args, **more)

        return noting

    cluster.leaders["many"] = [(1, 0)] * 6_000
    client = make_client(cluster)
    await client.start()
    monkeypatch.setattr(answer_reader, "decode_response", note(answer_reader.decode_response))
    monkeypatch.setattr(ClusterMetadata, "updated", note(ClusterMetadata.updated))
    metadata = await client.refresh_metadata(["many"])
    assert len(metadata.partitions_for_topic("many")) == 6_000
    assert seen == [(False, False)] * 2
    assert gc.isenabled()
