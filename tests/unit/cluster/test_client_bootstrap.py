"""Finding the cluster by its bootstrap servers, at first and when it was lost."""

import asyncio
import logging

import pytest

from harness.ports import free_port
from kafka.errors import (
    KafkaConnectionError,
    KafkaError,
    NoBrokersAvailable,
    UnsupportedVersionError,
)
from kafka.wire.api.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
)
from unit.cluster.scripted_cluster import TP, heartbeat
from unit.net.scripted import HANG_UP
from unit.waiting import let_pass, until


async def test_start_reads_the_metadata_of_watched_topics(client):
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


async def test_no_brokers_available_names_each_server_and_its_error(cluster, make_client):
    dead = free_port()
    for api in ("ApiVersions", "Metadata"):
        cluster.brokers[0].on(api, lambda *_: HANG_UP)
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


async def test_a_sasl_listener_is_named_as_the_likely_cause(cluster, make_client):
    cluster.brokers[0].on("Metadata", lambda *_: HANG_UP)
    client = make_client(cluster, brokers=cluster.brokers[:1], bootstrap_timeout_ms=1_500)
    starting = asyncio.create_task(client.start())
    await until(lambda: client._discovery._bootstrap._failures)
    let_pass(1.5)
    with pytest.raises(NoBrokersAvailable, match="asks for SASL"):
        await starting


async def test_a_permanent_error_is_raised_immediately(cluster, make_client):
    cluster.brokers[0].versions.pop(MetadataRequest.API_KEY)
    client = make_client(cluster, brokers=cluster.brokers[:1])
    with pytest.raises(UnsupportedVersionError, match="MetadataRequest"):
        await client.start()


async def test_a_late_bootstrap_server_is_found(cluster, make_client):
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
        await client.retry("the test", client.refresh_metadata, 3_000)
    assert {node.nodeId for node in client.metadata.brokers()} == {11, 12}
    assert (await client.send(12, heartbeat())).error_code == 12
    await first.stop()


async def test_a_peer_that_closes_immediately_is_not_a_broker(cluster, make_client, hangs_up):
    client = make_client(cluster, bootstrap_servers=f"127.0.0.1:{hangs_up[0]}", bootstrap_timeout_ms=1_500)
    starting = asyncio.create_task(client.start())
    await until(lambda: client._discovery._bootstrap._failures)
    let_pass(1.5)
    with pytest.raises(NoBrokersAvailable):
        await starting


async def test_an_unreachable_server_is_logged_immediately_with_its_cause(cluster, make_client, caplog):
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


async def test_if_every_server_refuses_the_shorter_timeout_applies(cluster, make_client):
    servers = [f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}"]
    client = make_client(
        cluster, bootstrap_servers=servers, api_version_auto_timeout_ms=100, bootstrap_timeout_ms=3_600_000
    )
    with pytest.raises(NoBrokersAvailable, match="refused"):
        await client.start()


async def test_the_shorter_timeout_does_not_apply_to_a_server_that_is_not_ready(cluster, make_client):
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


async def test_no_round_begins_after_the_shorter_timeout(cluster, make_client, dials):
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


async def test_a_lost_cluster_is_searched_at_most_every_reconnect_backoff(cluster, make_client, dials):
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


async def test_concurrent_callers_share_one_search(cluster, make_client, dials):
    """Each broker and each bootstrap server, which has another name here, is tried once until the pause is over."""
    server = f"localhost:{cluster.brokers[0].port}"
    client = make_client(cluster, bootstrap_servers=server, reconnect_backoff_ms=600, reconnect_backoff_max_ms=600)
    await client.start()
    ports = sorted(broker.port for broker in cluster.brokers)
    for broker in cluster.brokers:
        await broker.stop()
    for _ in range(3):
        dials.ports.clear()
        for _ in range(2):
            asked = (client.send_any(heartbeat()) for _ in range(8))
            failures = await asyncio.gather(client.refresh_metadata(), *asked, return_exceptions=True)
            assert {type(each) for each in failures} <= {NoBrokersAvailable, KafkaConnectionError}
        assert sorted(dials.ports) == sorted([*ports, cluster.brokers[0].port])
        let_pass(0.8)


async def test_a_cancelled_caller_does_not_end_the_search_of_others(cluster, make_client):
    client = make_client(cluster, brokers=cluster.brokers[:1])
    await client.start()
    answered = asyncio.Event()
    metadata = cluster.brokers[0].handlers["Metadata"]

    async def late(*asked):
        await answered.wait()
        return metadata(*asked)

    cluster.brokers[0].on("Metadata", late)
    impatient, patient = (asyncio.create_task(client._discovery.again()) for _ in range(2))
    seen = len(cluster.brokers[0].requests("Metadata"))
    await until(lambda: len(cluster.brokers[0].requests("Metadata")) > seen)
    impatient.cancel()
    await asyncio.gather(impatient, return_exceptions=True)
    assert impatient.cancelled()
    answered.set()
    assert (await patient).port == cluster.brokers[0].port
    assert len(cluster.brokers[0].requests("Metadata")) == seen + 1


async def test_a_broker_can_request_rebootstrapping(client, cluster):
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


async def test_a_bootstrap_server_without_brokers_is_skipped(cluster, make_client):
    answer = MetadataResponse(brokers=[MetadataResponseBroker(node_id=1, host="h", port=1)], error_code=129)
    cluster.brokers[0].on("Metadata", lambda *_: answer)
    client = make_client(cluster, brokers=cluster.brokers[:2])
    await client.start()
    assert {node.nodeId for node in client.metadata.brokers()} == {1, 2, 3}
    assert cluster.brokers[1].requests("Metadata")
