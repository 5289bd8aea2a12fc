"""Who may create a topic by asking for it: only what is watched, which is what a program sends or subscribes to."""

import asyncio

import pytest

from kafka.cluster.metadata_requests import metadata_request
from kafka.errors import KafkaTimeoutError, UnknownTopicOrPartitionError
from kafka.structs import TopicPartition
from kafka.wire.api.metadata import MetadataRequest


def asked_since(cluster, count):
    """The topics of each Metadata request behind the first ``count``, and whether they may be created."""
    requests = [request for broker in cluster.brokers for request in broker.requests("Metadata")]
    return [
        (request.topics if request.topics is None else [each.name for each in request.topics], create)
        for request in requests[count:]
        if (create := request.allow_auto_topic_creation) is not None
    ]


async def test_watched_topics_may_be_created(client, cluster):
    client.watch_topics({"t", "sent to"})
    await client.refresh_metadata()
    await client.refresh_metadata(["sent to"])
    assert asked_since(cluster, 1) == [(["sent to", "t"], True), (["sent to"], True)]


async def test_topics_that_are_only_looked_up_are_never_created(client, cluster):
    await client.refresh_metadata(["other"])
    with pytest.raises(KafkaTimeoutError):
        await client.partition_leader(TopicPartition("missing", 0), 1)
    await client.read_metadata({"third", "t"})
    assert {create for _, create in asked_since(cluster, 1)} == {False}


async def test_watched_and_other_topics_are_requested_separately(client, cluster):
    cluster.leaders["other"] = [(1, 0)]
    cluster.leaders["gone"] = [(1, 0)]
    await client.refresh_metadata(["gone"])
    await asyncio.gather(client.refresh_metadata(), client.refresh_metadata(["other"]))
    assert asked_since(cluster, 2) == [(["t"], True), (["other"], False)]
    assert client.metadata.topics() == {"t", "other"}


async def test_new_topics_are_looked_up_before_they_are_created(client, cluster):
    client.watch_topics({"t", "new"}, look_first=True)
    await client.refresh_metadata()
    assert asked_since(cluster, 1) == [(["new", "t"], False), (["new"], True)]
    assert client.metadata.topics() == {"t"}
    assert client.metadata.topic_errors == {"new": UnknownTopicOrPartitionError}
    await client.refresh_metadata()
    assert asked_since(cluster, 3) == [(["new", "t"], True)]


async def test_looking_first_adds_no_request_for_topics_that_exist(client, cluster):
    cluster.leaders["other"] = [(1, 0)]
    client.watch_topics({"t", "other"}, look_first=True)
    await client.refresh_metadata(["third"])
    await client.refresh_metadata()
    assert asked_since(cluster, 1) == [(["third"], False), (["other", "t"], False)]
    assert client.metadata.topics() == {"t", "other"}


async def test_brokers_that_create_named_topics_are_not_looked_at_first(cluster, make_client):
    for broker in cluster.brokers:
        broker.versions[MetadataRequest.API_KEY] = (0, 3)
    client = make_client(cluster)
    await client.start()
    client.watch_topics({"new"}, look_first=True)
    await client.refresh_metadata()
    assert [topics for topics, _ in asked_since(cluster, 1)] == [["new"]]


async def test_the_option_forbids_creation(cluster, make_client):
    client = make_client(cluster, allow_auto_create_topics=False)
    client.watch_topics({"t"})
    await client.start()
    await client.refresh_metadata()
    await client.refresh_metadata(["t"])
    assert {create for _, create in asked_since(cluster, 0)} == {False}


async def test_all_topics_are_requested_without_names(client, cluster):
    client.watch_topics(None)
    await client.refresh_metadata()
    await client.refresh_metadata(["other"])
    assert asked_since(cluster, 1) == [(None, False), (["other"], False)]


@pytest.mark.parametrize("version", [0, 1, 3])
async def test_brokers_that_create_named_topics_are_asked_for_all_topics(cluster, make_client, version):
    """Before Kafka 0.11 a request could not say that topics are not to be created."""
    for broker in cluster.brokers:
        broker.versions[MetadataRequest.API_KEY] = (0, version)
    client = make_client(cluster)
    client.watch_topics({"t"})
    await client.start()
    everything = None if version else []
    cluster.leaders.update(other=[(1, 0)], third=[(1, 0)])
    await client.refresh_metadata(["other", "missing"])
    await client.refresh_metadata()
    assert [topics for topics, _ in asked_since(cluster, 1)] == [everything, ["t"]]
    answer = await client.read_metadata({"other", "missing"})
    assert [(topic.name, topic.error_code) for topic in answer.topics] == [("other", 0), ("missing", 3)]


async def test_a_topic_no_longer_listed_by_such_a_broker_is_forgotten(cluster, make_client):
    for broker in cluster.brokers:
        broker.versions[MetadataRequest.API_KEY] = (0, 3)
    cluster.leaders["other"] = [(1, 0)]
    client = make_client(cluster)
    await client.start()
    await client.refresh_metadata(["other"])
    assert "other" in client.metadata.topics()
    del cluster.leaders["other"]
    await client.refresh_metadata(["other"])
    assert "other" not in client.metadata.topics()
    assert client.metadata.topic_errors["other"] is UnknownTopicOrPartitionError


@pytest.mark.parametrize("version", [4, MetadataRequest.MAX_VERSION])
@pytest.mark.parametrize("may_create", [True, False])
def test_newer_brokers_are_told_whether_a_topic_may_be_created(version: int, may_create: bool) -> None:
    request = metadata_request({"t"}, version, may_create)
    assert [topic.name for topic in request.topics] == ["t"]
    assert request.allow_auto_topic_creation is may_create


def test_older_brokers_are_asked_for_all_topics() -> None:
    assert metadata_request({"t"}, 3, False).topics is None
    assert [topic.name for topic in metadata_request({"t"}, 3, True).topics] == ["t"]
