"""Finding coordinators, and finding them again."""

import asyncio

import pytest

from kafka.errors import (
    GroupAuthorizationFailedError,
    KafkaTimeoutError,
)
from kafka.wire.api.find_coordinator import FindCoordinatorRequest
from unit.cluster.scripted_cluster import heartbeat
from unit.waiting import let_pass, until


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


async def test_a_coordinator_may_be_the_broker_numbered_0(cluster, make_client):
    await cluster.add(0)
    cluster.coordinator = 0
    client = make_client(cluster)
    await client.start()
    assert await client.coordinator("group", "g") == 0
    assert (await client.send_coordinator("group", "g", heartbeat())).error_code == 0


async def test_a_forgotten_coordinator_is_looked_up_again(client, cluster):
    assert await client.coordinator("group", "g") == 1
    cluster.coordinator = 2
    client.forget_coordinator("group", "g")
    assert (await client.send_coordinator("group", "g", heartbeat())).error_code == 2


async def test_a_silent_coordinator_is_forgotten(client, cluster):
    cluster.coordinator = 2
    await client.send_coordinator("group", "g", heartbeat())
    await cluster.brokers[1].stop()
    cluster.coordinator = 3
    answer = await client.retry("the test", lambda: client.send_coordinator("group", "g", heartbeat()), 3_000)
    assert answer.error_code == 3


async def test_a_coordinator_lookup_waits_until_the_timeout(client, cluster):
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


async def test_an_unauthorized_group_fails_immediately(client, cluster):
    cluster.coordinator_error = 30
    with pytest.raises(GroupAuthorizationFailedError, match="'g'"):
        await client.coordinator("group", "g")


async def test_a_coordinator_missing_in_the_metadata_is_reached_at_its_own_address(client, cluster):
    late = await cluster.add(8)
    cluster.coordinator = 8
    assert (await client.send_coordinator("group", "g", heartbeat())).error_code == 8
    assert late.connections == 1


@pytest.mark.parametrize("max_version", [1, 3, FindCoordinatorRequest.MAX_VERSION])
@pytest.mark.parametrize(("kind", "key_type"), [("group", 0), ("transaction", 1)])
async def test_the_lookup_names_the_kind_of_coordinator(cluster, make_client, max_version, kind, key_type):
    for broker in cluster.brokers:
        broker.versions[FindCoordinatorRequest.API_KEY] = (0, max_version)
    client = make_client(cluster)
    await client.start()
    assert await client.coordinator(kind, "name") == 1
    ((request,),) = [found for broker in cluster.brokers if (found := broker.requests("FindCoordinator"))]
    assert request.key_type == key_type
    assert request.coordinator_keys == ["name"] if max_version > 3 else request.key == "name"
