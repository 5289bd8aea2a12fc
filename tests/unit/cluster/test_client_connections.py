"""Which broker is taken, and what becomes of connections that fail or cannot be opened."""

import asyncio
import gc
import logging
import random

import pytest

from kafka.cluster import ClusterClient
from kafka.config import parse_admin
from kafka.errors import (
    KafkaConnectionError,
    KafkaError,
)
from unit.cluster.scripted_cluster import QUICK, heartbeat
from unit.net.scripted import HANG_UP


async def test_send_any_uses_a_connected_broker(client, cluster):
    for _ in range(10):
        await client.send_any(heartbeat())
    assert [broker.connections for broker in cluster.brokers] == [1, 0, 0]


async def test_send_any_skips_unreachable_brokers(client, cluster):
    await cluster.brokers[0].stop()
    await cluster.brokers[1].stop()
    answer = await client.retry("the test", lambda: client.send_any(heartbeat()), 3_000)
    assert answer.error_code == 3


async def test_a_failed_broker_is_not_tried_again_during_backoff(cluster, make_client):
    client = make_client(cluster, reconnect_backoff_ms=60_000, reconnect_backoff_max_ms=60_000)
    await client.start()
    await cluster.brokers[1].stop()
    with pytest.raises(KafkaConnectionError, match=r"refused.*advertises for broker 2"):
        await client.send(2, heartbeat())
    with pytest.raises(KafkaConnectionError, match=r"refused.*broker 2 is tried again in \d+"):
        await client.send(2, heartbeat())


async def test_a_lost_working_connection_is_reopened_immediately(cluster, make_client):
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


async def test_a_pause_below_a_second_works(cluster, make_client):
    client = make_client(cluster, reconnect_backoff_ms=900, reconnect_backoff_max_ms=900)
    await client.start()
    await cluster.brokers[1].stop()
    for match in ("refused", r"broker 2 is tried again in 0\.\d s|broker 2 is tried again in 1\.\d s"):
        with pytest.raises(KafkaConnectionError, match=match):
            await client.send(2, heartbeat())


async def test_recovery_of_a_broker_is_logged(client, cluster, caplog):
    broker = cluster.brokers[1]
    await broker.stop()
    with pytest.raises(KafkaConnectionError):
        await client.send(2, heartbeat())
    await broker.listen(broker.port)
    with caplog.at_level(logging.INFO, "kafka"):
        await client.retry("the test", lambda: client.send(2, heartbeat()), 3_000)
    assert "connecting to broker 2 works again" in caplog.text


async def test_a_failed_connection_without_waiters_is_retrieved(client, cluster):
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


async def test_a_peer_that_closes_immediately_is_a_connection_error(cluster, make_client, hangs_up):
    port, taken = hangs_up
    client = make_client(cluster)
    await client.start()
    cluster.brokers[1].port, real = port, cluster.brokers[1].port
    await client.refresh_metadata()
    while len(taken) < 4:  # it is dialled again after a pause
        with pytest.raises(KafkaConnectionError):
            await client.send(2, heartbeat())
        await asyncio.sleep(0.001)
    cluster.brokers[1].port = real
    await client.refresh_metadata()
    answer = await client.retry("the test", lambda: client.send(2, heartbeat()), 3_000)
    assert answer.error_code == 2


async def test_a_connection_that_fails_unexpectedly_is_a_failed_connection(client, monkeypatch):
    async def broken(*args):
        raise ValueError("a fault")

    monkeypatch.setattr("kafka.cluster.pool.open_connection", broken)
    with pytest.raises(KafkaError, match="connecting to broker 2 failed unexpectedly") as caught:
        await client.send(2, heartbeat())
    assert caught.value.retriable


async def test_any_of_equally_idle_brokers_is_used(cluster):
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


async def test_channels_to_a_dead_broker_connect_one_at_a_time_and_share_pauses(cluster, make_client, dials):
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


async def test_channels_to_a_live_broker_open_concurrently(client, dials):
    await client.send(1, heartbeat())
    dials.most = 0
    await asyncio.gather(*(client.send(1, heartbeat(), channel=channel) for channel in ("a", "b", "c")))
    assert dials.most == 3


async def test_a_failed_channel_is_tried_immediately_if_another_one_works(cluster, make_client):
    client = make_client(cluster, reconnect_backoff_ms=60_000, reconnect_backoff_max_ms=60_000)
    await client.start()
    broker = cluster.brokers[1]
    await client.send(2, heartbeat())
    greet = broker.handlers["ApiVersions"]
    for api in ("ApiVersions", "Metadata"):
        broker.on(api, lambda *_: HANG_UP)
    with pytest.raises(KafkaConnectionError):
        await client.send(2, heartbeat(), channel="fetch")
    broker.on("ApiVersions", greet)
    assert (await client.send(2, heartbeat(), channel="fetch")).error_code == 2
