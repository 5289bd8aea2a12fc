"""Requests of the cluster client: where they go, in which version, and the end."""

import asyncio
import gc
import logging

import pytest

from kafka.errors import (
    Cancelled,
    IllegalStateError,
    KafkaConnectionError,
    NotControllerError,
    StaleMetadata,
    UnsupportedVersionError,
)
from kafka.wire.api.heartbeat import HeartbeatRequest
from kafka.wire.api.metadata import (
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from unit.cluster.scripted_cluster import heartbeat


async def test_send_goes_to_the_given_broker(client):
    assert [(await client.send(node, heartbeat())).error_code for node in (1, 2, 3)] == [1, 2, 3]


async def test_one_connection_per_broker_and_channel(client, cluster):
    await asyncio.gather(*(client.send(2, heartbeat()) for _ in range(20)))
    assert cluster.brokers[1].connections == 1
    await asyncio.gather(*(client.send(2, heartbeat(), channel="coordinator") for _ in range(20)))
    assert cluster.brokers[1].connections == 2


async def test_a_long_poll_on_its_channel_does_not_delay_others(client, cluster):
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


async def test_an_unknown_broker_id_raises_stale_metadata(client):
    with pytest.raises(StaleMetadata, match="no broker with id 9") as caught:
        await client.send(9, heartbeat())
    assert caught.value.retriable
    assert caught.value.invalid_metadata


async def test_version_bounds_are_respected(client, cluster):
    await client.send(2, heartbeat(), max_version=1)
    assert cluster.brokers[1].seen[-1][0].request_api_version == 1
    with pytest.raises(UnsupportedVersionError, match="requires one from 50"):
        await client.send(2, heartbeat(), min_version=50)


async def test_the_version_of_a_request_is_known_once_the_broker_was_connected(client):
    assert client.api_version(3, HeartbeatRequest) is None
    await client.send(3, heartbeat())
    assert client.api_version(3, HeartbeatRequest) == HeartbeatRequest.MAX_VERSION
    assert client.api_version(3, HeartbeatRequest, max_version=2) == 2


async def test_the_controller_is_found_again_after_it_moved(client, cluster):
    assert (await client.send_controller(heartbeat())).error_code == 1
    cluster.controller = 3
    await client.refresh_metadata()
    assert (await client.send_controller(heartbeat())).error_code == 3
    cluster.controller = -1
    await client.refresh_metadata()
    with pytest.raises(NotControllerError):
        await client.send_controller(heartbeat())


@pytest.mark.parametrize("how", ["send", "send_any", "send_controller", "send_coordinator", "api_version"])
async def test_the_oldest_version_suffices_unless_the_caller_requires_more(cluster, make_client, how):
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


async def test_after_close_everything_is_refused(client, cluster):
    await client.close()
    for call in (client.send(1, heartbeat()), client.send_any(heartbeat()), client.refresh_metadata()):
        with pytest.raises((IllegalStateError, KafkaConnectionError)):
            await call
    await client.close()


async def test_exit_of_the_process_is_not_a_broker_failure(client, caplog):
    connection = await client.connection(2)
    with caplog.at_level(logging.INFO, "kafka"):
        connection.abort(Cancelled("the process ends, and its connections with it"))
    assert caplog.records == []


async def test_impossible_metadata_is_ignored_with_a_warning(client, cluster, caplog):
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


async def test_a_large_response_is_processed_in_a_thread(cluster, make_client, monkeypatch):
    """And no collection goes through its objects again and again meanwhile."""
    import threading

    from kafka.cluster.metadata_snapshot import ClusterMetadata
    from kafka.net import receiver

    seen = []

    def note(function):
        def noting(*args, **more):
            seen.append((threading.current_thread() is threading.main_thread(), gc.isenabled()))
            return function(*args, **more)

        return noting

    cluster.leaders["many"] = [(1, 0)] * 6_000
    client = make_client(cluster)
    await client.start()
    monkeypatch.setattr(receiver, "decode_response", note(receiver.decode_response))
    monkeypatch.setattr(ClusterMetadata, "updated", note(ClusterMetadata.updated))
    metadata = await client.refresh_metadata(["many"])
    assert len(metadata.partitions_for_topic("many")) == 6_000
    assert seen == [(False, False)] * 2
    assert gc.isenabled()
