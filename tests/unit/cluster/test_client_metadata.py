"""What the client knows of the cluster: refreshes, leaders, listeners."""

import asyncio

import pytest

from kafka.errors import (
    KafkaError,
    KafkaTimeoutError,
    MetadataEmptyBrokerList,
    TopicAuthorizationFailedError,
)
from kafka.structs import TopicPartition
from kafka.wire.api.metadata import (
    MetadataRequest,
    MetadataResponse,
)
from unit.cluster.scripted_cluster import TP, asked
from unit.net.scripted import HANG_UP
from unit.waiting import let_pass, until


async def test_concurrent_refreshes_share_one_request(client, cluster):
    before = asked(cluster)
    results = await asyncio.gather(*(client.refresh_metadata() for _ in range(50)))
    assert asked(cluster) == before + 1
    assert all(result is client.metadata for result in results)


async def test_refreshes_for_several_topics_are_combined(client, cluster):
    cluster.leaders.update({name: [(1, 0)] for name in "abcd"})
    before = asked(cluster)
    await asyncio.gather(*(client.refresh_metadata([name]) for name in "abcd"))
    assert asked(cluster) <= before + 2
    assert client.metadata.topics() == {"t", "a", "b", "c", "d"}


async def test_a_full_refresh_forgets_unwatched_topics(client, cluster):
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


async def test_listeners_get_each_new_snapshot_until_removed(client, cluster):
    seen = []
    leave = client.on_metadata(seen.append)
    await client.refresh_metadata()
    leave()
    await client.refresh_metadata()
    assert len(seen) == 1
    assert seen[0].version < client.metadata.version


async def test_old_metadata_is_refreshed_automatically(cluster, make_client):
    client = make_client(cluster, metadata_max_age_ms=10)
    await client.start()
    arrived = asyncio.Event()
    client.on_metadata(lambda _: arrived.set())
    async with asyncio.timeout(60):
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


async def test_a_newer_leader_survives_an_older_response(client, cluster):
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


async def test_a_timeout_of_partition_leader_names_its_cause(client, cluster):
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
async def test_metadata_is_read_with_every_style_of_request(cluster, make_client, max_version):
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


async def test_a_response_without_brokers_is_not_trusted(client, cluster):
    cluster.brokers[0].on("Metadata", lambda *_: MetadataResponse())
    with pytest.raises(MetadataEmptyBrokerList):
        await client.refresh_metadata()
    assert len(client.metadata.brokers()) == 3


async def test_refreshing_survives_unexpected_errors(client, monkeypatch, caplog):
    async def broken(*args):
        raise ValueError("a fault")

    monkeypatch.setattr(client._updater, "_any_connection", broken)
    with pytest.raises(KafkaError, match="a fault"):
        await client.refresh_metadata()
    assert "refreshing the cluster's metadata failed unexpectedly" in caplog.text
    monkeypatch.undo()
    version = client.metadata.version
    assert (await client.refresh_metadata()).version > version


async def test_a_failing_listener_does_not_affect_others(client, caplog):
    def broken(metadata):
        raise ValueError("a fault")

    seen = []
    client.on_metadata(broken)
    client.on_metadata(seen.append)
    await client.refresh_metadata()
    assert len(seen) == 1
    assert "a listener to metadata failed" in caplog.text
