"""What a client's close ends: its callers hear of it by an error, and no connection is left."""

import asyncio

import pytest

from kafka.errors import Cancelled, IllegalStateError, KafkaConnectionError
from unit.cluster.scripted_cluster import heartbeat
from unit.net.scripted import SILENCE


async def outcomes(*tasks):
    """What tasks ended with; a cancellation is one, too."""
    async with asyncio.timeout(60):
        await asyncio.wait(tasks)
    return ["cancelled" if task.cancelled() else type(task.exception()) for task in tasks]


async def asked(broker, api="ApiVersions"):
    while not broker.requests(api):
        await asyncio.sleep(0)


async def test_a_pending_request_fails(client, cluster):
    cluster.brokers[1].on("Heartbeat", lambda *_: SILENCE)
    sending = asyncio.create_task(client.send(2, heartbeat()))
    await asked(cluster.brokers[1], "Heartbeat")
    await client.close()
    assert await outcomes(sending) == [Cancelled]


async def test_waiters_for_a_connection_get_an_error_and_are_not_cancelled(client, cluster):
    cluster.brokers[2].on("ApiVersions", lambda *_: SILENCE)
    opening = asyncio.create_task(client.send(3, heartbeat()))
    sharing = asyncio.create_task(client.send(3, heartbeat()))
    other_channel = asyncio.create_task(client.send(3, heartbeat(), channel="fetch"))
    await asked(cluster.brokers[2])
    await client.close()
    assert await outcomes(opening, sharing, other_channel) == [IllegalStateError] * 3


async def test_the_cancellation_of_a_caller_propagates(client, cluster):
    cluster.brokers[2].on("ApiVersions", lambda *_: SILENCE)
    opening = asyncio.create_task(client.send(3, heartbeat()))
    await asked(cluster.brokers[2])
    opening.cancel()
    assert await outcomes(opening) == ["cancelled"]


async def test_starting_ends_with_an_error(cluster, make_client):
    cluster.brokers[0].on("Metadata", lambda *_: SILENCE)
    client = make_client(cluster, brokers=cluster.brokers[:1])
    starting = asyncio.create_task(client.start())
    await asked(cluster.brokers[0], "Metadata")
    await client.close()
    assert await outcomes(starting) == [IllegalStateError]
    assert not cluster.brokers[0].open_connections


async def test_a_cancelled_start_is_cancelled(cluster, make_client):
    cluster.brokers[0].on("Metadata", lambda *_: SILENCE)
    client = make_client(cluster, brokers=cluster.brokers[:1])
    starting = asyncio.create_task(client.start())
    await asked(cluster.brokers[0], "Metadata")
    starting.cancel()
    assert await outcomes(starting) == ["cancelled"]


async def test_looking_for_a_lost_cluster_ends_with_an_error(cluster, make_client):
    first, second, third = cluster.brokers
    client = make_client(cluster, brokers=[first])
    await client.start()
    await second.stop()
    await third.stop()
    first.port, address = 1, first.port  # nobody is at the address that the cluster tells
    await client.refresh_metadata()
    first.on("Metadata", lambda *_: SILENCE)
    first.hang_up()
    before = len(first.requests("Metadata"))
    looking = asyncio.create_task(client.retry("the test", lambda: client.send_any(heartbeat()), 3_000))
    async with asyncio.timeout(60):
        while len(first.requests("Metadata")) == before:
            await asyncio.sleep(0)
    await client.close()
    first.port = address
    assert await outcomes(looking) == [IllegalStateError]


async def test_close_waits_for_the_end_of_a_search(cluster, make_client):
    client = make_client(cluster)
    began, ended = asyncio.Event(), []

    async def search(topics):
        try:
            began.set()
            await asyncio.Event().wait()
        finally:
            for _ in range(5):  # as it takes to end other attempts
                await asyncio.sleep(0)
            ended.append(True)

    client._discovery._bootstrap.until_found = search
    starting = asyncio.create_task(client.start())
    await began.wait()
    await client.close()
    assert ended == [True]
    assert await outcomes(starting) == [IllegalStateError]


async def test_waiters_for_metadata_get_an_error(client, cluster):
    cluster.brokers[0].on("Metadata", lambda *_: SILENCE)
    before = len(cluster.brokers[0].requests("Metadata"))
    running = asyncio.create_task(client.refresh_metadata())
    while len(cluster.brokers[0].requests("Metadata")) == before:
        await asyncio.sleep(0)
    coming = asyncio.create_task(client.refresh_metadata(["other"]))
    await asyncio.sleep(0)
    await client.close()
    assert await outcomes(running, coming) == [IllegalStateError] * 2


async def test_a_connection_that_was_adopted_late_is_not_kept(client, cluster):
    await client.close()
    for call in (client.any_connection(), client.send(2, heartbeat())):
        with pytest.raises((IllegalStateError, KafkaConnectionError)):
            await call
    async with asyncio.timeout(60):
        while any(broker.open_connections for broker in cluster.brokers):
            await asyncio.sleep(0)
