"""`KafkaClient` of 1.0 to 2.x: nodes, requests, metadata and tasks, driven by `poll()`."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import kafka
from harness.ports import free_ports
from kafka.broker import EmbeddedBroker
from kafka.client_async import DelayedTaskQueue, KafkaClient
from kafka.cluster import ClusterMetadata
from kafka.conn import BrokerConnection
from kafka.errors import (
    Cancelled,
    IncompatibleBrokerVersion,
    KafkaConnectionError,
    NoBrokersAvailable,
    NodeNotReadyError,
    UnknownTopicOrPartitionError,
    UnsupportedVersionError,
)
from kafka.future import Future
from kafka.protocol.admin import CreateAclsRequest
from kafka.protocol.commit import GroupCoordinatorResponse
from kafka.protocol.fetch import FetchRequest
from kafka.protocol.metadata import MetadataRequest, MetadataResponse
from kafka.protocol.produce import ProduceRequest
from kafka.structs import PartitionMetadata, TopicPartition
from kafka.wire.api.metadata import MetadataRequest as MessageOfToday

PLACE = TopicPartition("topic", 0)


@pytest.fixture
def broker() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker() as broker, kafka.KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        producer.send("topic", b"value").get()
        yield broker


@pytest.fixture
def client(broker: EmbeddedBroker) -> Iterator[KafkaClient]:
    client = KafkaClient(bootstrap_servers=broker.bootstrap_servers)
    yield client
    client.close()


def poll_until(client: KafkaClient, is_so: Callable[[], object]) -> None:
    while not is_so():
        client.poll(timeout_ms=1000)


def node_of(client: KafkaClient) -> Any:
    """Return a node that is ready."""
    node = client.least_loaded_node()
    poll_until(client, lambda: client.ready(node))
    return node


def test_the_first_poll_fetches_metadata_of_all_topics(client: KafkaClient) -> None:
    assert [broker.nodeId for broker in client.cluster.brokers()] == [1]
    assert client.poll(timeout_ms=10_000) == []
    assert client.cluster.topics() == {"topic"}
    assert client.cluster.partitions_for_topic("topic") == {0}
    assert client.cluster.leader_for_partition(PLACE) == 1
    assert client.cluster.replicas_for_partition(PLACE) == client.cluster.in_sync_replicas_for_partition(PLACE) == [1]


def test_a_response_has_the_class_for_its_request(client: KafkaClient) -> None:
    node = node_of(client)
    assert client.connected(node)
    future = client.send(node, MetadataRequest[1](["topic"]))
    assert client.in_flight_request_count() == client.in_flight_request_count(node) == 1
    (response,) = client.poll(future=future)
    assert response is future.value
    assert isinstance(response, MetadataResponse[1])
    assert [topic for _, topic, _, _ in response.topics] == ["topic"]
    assert client.in_flight_request_count() == 0
    assert client.send_and_receive(node, MessageOfToday(topics=None)).topics[0].name == "topic"


def test_a_poll_for_a_request_waits_for_a_connecting_node(client: KafkaClient, monkeypatch: pytest.MonkeyPatch) -> None:
    client.poll(future=client.cluster.request_update())
    connect, take, waiting = client._nodes.connection, client._completions.take, threading.Event()

    async def connect_once_waited_for(node_id: Any) -> Any:
        await asyncio.to_thread(waiting.wait, 60)
        return await connect(node_id)

    def take_and_tell(timeout_s: float) -> list[Any]:
        if timeout_s > 0:
            waiting.set()
        return take(timeout_s)

    monkeypatch.setattr(client._nodes, "connection", connect_once_waited_for)
    monkeypatch.setattr(client._completions, "take", take_and_tell)
    future = client.send(1, MetadataRequest[1](["topic"]))
    assert isinstance(future.exception, NodeNotReadyError)
    client.poll(future=future)
    assert client.connected(1)
    future = client.send(1, MetadataRequest[1](["topic"]))
    client.poll(future=future)
    assert future.succeeded()


def test_a_poll_for_a_request_ends_if_the_node_cannot_be_connected(broker: EmbeddedBroker, client: KafkaClient) -> None:
    client.poll(future=client.cluster.request_update())
    broker.stop()
    future = client.send(1, MetadataRequest[1](["topic"]))
    client.poll(future=future)
    assert client.connection_failed(1)
    client.poll(future=client.send(1, MetadataRequest[1](["topic"])))


def test_a_poll_with_timeout_0_does_not_wait_for_a_connection(
    client: KafkaClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.poll(future=client.cluster.request_update())
    monkeypatch.setattr(client._nodes, "_connect", lambda *_: asyncio.sleep(0))  # never finishes connecting
    future = client.send(1, MetadataRequest[1](["topic"]))
    assert client.poll(timeout_ms=0, future=future) == []
    assert not client.connected(1)


def test_records_are_returned_unchanged(client: KafkaClient) -> None:
    request = FetchRequest[4](-1, 100, 1, 100_000, 0, [("topic", [(0, 0, 100_000)])])
    response = client.send_and_receive(node_of(client), request)
    assert b"value" in response.topics[0][1][0][-1]


def test_a_request_without_a_response_returns_none(client: KafkaClient) -> None:
    future = client.send(node_of(client), ProduceRequest[3](None, 0, 100, []))
    client.poll(future=future)
    assert future.succeeded()
    assert future.value is None


def test_a_future_that_another_thread_completes_ends_the_wait(client: KafkaClient) -> None:
    client.poll(timeout_ms=1000)
    future = Future()
    waiting = threading.Thread(target=client.poll, kwargs={"future": future}, daemon=True)
    waiting.start()
    future.success("done")
    waiting.join(timeout=20)  # less than request_timeout_ms, 30 seconds
    assert not waiting.is_alive()


def test_an_unsupported_version(client: KafkaClient) -> None:
    with pytest.raises(UnsupportedVersionError):
        client.send_and_receive(node_of(client), CreateAclsRequest[0]([]))


def test_a_node_that_is_not_ready_rejects_requests(client: KafkaClient) -> None:
    future = client.send(1, MetadataRequest[1]([]))
    assert isinstance(future.exception, NodeNotReadyError)
    assert client.await_ready(1)
    client.close(1)
    assert not client.connected(1)
    assert not client.ready(99)
    assert isinstance(client.send(99, MetadataRequest[1]([])).exception, NodeNotReadyError)


def test_a_broker_that_disconnects(broker: EmbeddedBroker, client: KafkaClient) -> None:
    node = node_of(client)
    broker.stop()
    poll_until(client, lambda: client.is_disconnected(node))
    with pytest.raises(KafkaConnectionError):
        client.await_ready(node)
    assert client.connection_failed(node)
    assert client.connection_delay(node) >= 0
    with pytest.raises(NodeNotReadyError):
        client.check_version(node, timeout=0.1)
    with pytest.raises(NoBrokersAvailable):
        client.check_version(timeout=0.1)


def test_a_missing_response_fails_its_future(broker: EmbeddedBroker, client: KafkaClient) -> None:
    node = node_of(client)
    broker.faults.hang_up(api="Metadata", times=1)
    future = client.send(node, MetadataRequest[1]([]))
    client.poll(future=future)
    assert isinstance(future.exception, KafkaConnectionError)
    assert client.in_flight_request_count() == 0


def test_tracked_topics(broker: EmbeddedBroker, client: KafkaClient) -> None:
    client.poll(timeout_ms=1000)
    future = client.add_topic("another")
    client.poll(future=future)
    poll_until(client, lambda: client.cluster.topics() == {"another"} or client.cluster.request_update())
    assert client.add_topic("another").value == {"another"}
    future = client.set_topics(["topic"])
    client.poll(future=future)
    assert future.value is client.cluster
    assert client.cluster.topics() == {"topic"}
    with pytest.raises(ValueError, match="topic"):
        client.add_topic("no such: name")


def test_metadata_of_all_topics_can_be_requested(client: KafkaClient) -> None:
    heard: list[ClusterMetadata] = []
    client.set_topics(["topic"])
    client.cluster.need_all_topic_metadata = True
    client.cluster.add_listener(heard.append)
    future = client.cluster.request_update()
    client.poll(future=future)
    assert future.value is client.cluster
    assert heard[0] is client.cluster


def test_tasks_run_in_poll_at_their_time(client: KafkaClient) -> None:
    done = client.schedule(lambda: "done", time.time())
    failing = client.schedule(lambda: 1 / 0, time.time())
    later = client.schedule(list, time.time() + 3600)
    client.unschedule(list)
    client.poll(future=failing)
    client.poll(future=done)
    assert done.value == "done"
    assert isinstance(failing.exception, ZeroDivisionError)
    assert isinstance(later.exception, Cancelled)


def test_a_task_is_scheduled_only_once() -> None:
    tasks = DelayedTaskQueue()
    first = tasks.add(dict, 5)
    second = tasks.add(dict, 4)
    third = tasks.add(list, 3)
    assert isinstance(first.exception, Cancelled)
    assert tasks.next_at() == 0
    assert tasks.pop_ready() == [(list, third), (dict, second)]
    assert tasks.next_at() > 3600
    with pytest.raises(KeyError):
        tasks.remove(dict)


def test_versions(client: KafkaClient) -> None:
    assert client.config["api_version"] == client.check_version() == client.check_version(1)
    assert client.api_version(MetadataRequest) == len(MetadataRequest) - 1
    assert client.api_version(MetadataRequest, max_version=1) == 1
    assert client.get_api_versions()[3][0] == 0
    with pytest.raises(IncompatibleBrokerVersion, match="does not support the 'CreateAclsRequest_v0'"):
        client.api_version(CreateAclsRequest)
    client._api_versions[1] = (4, 18)  # as in brokers of Kafka 4
    with pytest.raises(IncompatibleBrokerVersion, match="No version"):
        client.api_version(FetchRequest, max_version=3)


def test_no_broker() -> None:
    with pytest.raises(NoBrokersAvailable):
        KafkaClient(bootstrap_servers="127.0.0.1:1", api_version_auto_timeout_ms=100)


def test_invalid_timeouts_are_rejected(client: KafkaClient) -> None:
    with pytest.raises(TypeError, match="Invalid type for timeout"):
        client.poll(timeout_ms="1")  # type: ignore[arg-type]


def test_hosts_create_a_client_of_1_0(broker: EmbeddedBroker) -> None:
    with pytest.warns(DeprecationWarning, match=r"kafka\.SimpleClient") as caught:
        client = kafka.KafkaClient(broker.bootstrap_servers)
    assert caught[0].filename == __file__
    assert isinstance(client, kafka.SimpleClient)
    assert isinstance(client, kafka.KafkaClient)
    assert client.topics == ["topic"]
    client.close()


def metadata_response(*topics: Any) -> Any:
    return MetadataResponse[1]([(3, "host", 9092, None)], 3, list(topics))


def test_cluster_metadata_from_responses() -> None:
    cluster = ClusterMetadata(bootstrap_servers=["one:1", "two:2"], client_id="passed over")
    assert {(each.nodeId, each.host, each.port) for each in cluster.brokers()} == {
        ("bootstrap-0", "one", 1),
        ("bootstrap-1", "two", 2),
    }
    assert cluster.is_bootstrap("bootstrap-1")
    assert cluster.ttl() == 0
    future = cluster.request_update()
    cluster.update_metadata(
        metadata_response((0, "a", False, [(0, 0, 3, [3], [3]), (5, 1, -1, [3], [])]), (0, "b", True, []))
    )
    assert future.value is cluster
    assert cluster.ttl() > 0
    assert cluster.topics() == {"a"}
    assert cluster.internal_topics == {"b"}
    assert cluster.partitions_for_topic("a") == {0, 1}
    assert cluster.available_partitions_for_topic("a") == {0}
    assert cluster.available_partitions_for_topic("c") is None
    assert cluster.leader_for_partition(TopicPartition("a", 1)) == -1
    assert cluster.leader_for_partition(TopicPartition("a", 2)) is None
    assert cluster.partitions_for_broker(3) == {TopicPartition("a", 0)}
    assert cluster.partitions_for_broker(4) is None
    assert cluster.controller == cluster.broker_metadata(3)


def test_the_error_of_a_single_topic_fails_the_update() -> None:
    cluster = ClusterMetadata()
    future = cluster.request_update()
    cluster.update_metadata(metadata_response((3, "a", False, [])))
    assert isinstance(future.exception, UnknownTopicOrPartitionError)
    future = cluster.request_update()
    cluster.update_metadata(MetadataResponse[0]([], []))
    assert future.failed()
    assert cluster.need_update


def test_coordinators_in_cluster_metadata() -> None:
    cluster = ClusterMetadata()
    assert cluster.coordinator_for_group("group") is None
    assert cluster.add_group_coordinator("group", GroupCoordinatorResponse[0](15, -1, "", -1)) is None
    assert cluster.coordinator_for_group("group") == -1
    node = cluster.add_coordinator(GroupCoordinatorResponse[0](0, 7, "host", 9092), "group", "group")
    assert cluster.coordinator_for_group("group") == node == "coordinator-7"
    found = cluster.broker_metadata(node)
    assert found is not None
    assert (found.host, found.port) == ("host", 9092)


def test_with_partitions_returns_a_copy() -> None:
    cluster = ClusterMetadata()
    cluster.update_metadata(metadata_response((0, "a", False, [(0, 0, 3, [3], [3])])))
    copy = cluster.with_partitions([PartitionMetadata("a", 1, 3, 0, [3], [3]), PartitionMetadata("b", 0, 3, 0, [], [])])
    assert copy.partitions_for_topic("a") == {0, 1}
    assert copy.topics() == {"a", "b"}
    assert cluster.topics() == {"a"}


def test_options_as_text_contain_no_secret(broker: EmbeddedBroker) -> None:
    given = {"sasl_plain_username": "ann", "sasl_plain_password": "hunter2", "ssl_password": "hunter2"}
    client = KafkaClient(bootstrap_servers=broker.bootstrap_servers, **given)
    client.close()
    for options in (client.config, BrokerConnection("localhost", 9092, **given).config):
        assert options["sasl_plain_password"] == "hunter2"
        assert "hunter2" not in repr(options)
        assert "'sasl_plain_username': 'ann'" in repr(options)


def test_with_api_version_the_constructor_does_not_wait() -> None:
    (port,) = free_ports(1)
    client = KafkaClient(bootstrap_servers=f"127.0.0.1:{port}", api_version=(2, 0))
    try:
        assert client.config["api_version"] == (2, 0)
        assert not client.bootstrap_connected()
        with pytest.raises(NoBrokersAvailable):
            client.api_version(MetadataRequest)
        future = client.cluster.request_update()
        client.poll(timeout_ms=10_000, future=future)
        assert isinstance(future.exception, NoBrokersAvailable)
        with EmbeddedBroker(port=port):
            poll_until(client, client.bootstrap_connected)
            assert client.api_version(MetadataRequest) == len(MetadataRequest) - 1
            assert client.send_and_receive(node_of(client), MetadataRequest[1]([])).controller_id == 1
    finally:
        client.close()


def test_the_epoch_of_an_unknown_leader_is_none(client: KafkaClient) -> None:
    client.poll(timeout_ms=10_000)
    assert client.cluster.leader_epoch_for_partition(PLACE) == 0
    assert client.cluster.leader_epoch_for_partition(TopicPartition("topic", 7)) is None
    assert client.cluster.leader_epoch_for_partition(TopicPartition("other", 0)) is None
