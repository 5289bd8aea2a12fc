"""`_client` inside an admin client and a consumer, where programs read the cluster and send requests of their own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.admin import NewTopic
from kafka.broker import EmbeddedBroker
from kafka.client_async import KafkaClient
from kafka.errors import IllegalStateError, UnsupportedVersionError, WakeupError
from kafka.protocol.admin import CreateAclsRequest
from kafka.protocol.metadata import MetadataRequest
from kafka.structs import TopicPartition

pytestmark = pytest.mark.once


@pytest.fixture
def broker() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker() as broker:
        yield broker


@pytest.fixture
def admin(broker: EmbeddedBroker) -> Iterator[KafkaAdminClient]:
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
        admin.create_topics([NewTopic("topic", 2, 1)])
        yield admin


def test_the_cluster_is_read_through_an_admin_client(admin: KafkaAdminClient) -> None:
    cluster = admin._client.cluster
    assert [broker.nodeId for broker in cluster.brokers()] == [1]
    assert cluster.topics() == {"topic"}
    assert cluster.partitions_for_broker(1) == {TopicPartition("topic", 0), TopicPartition("topic", 1)}
    assert cluster.cluster_id == admin.describe_cluster()["cluster_id"]
    assert admin._client.check_version() >= (2, 4)
    assert admin._client is admin._client


def test_an_admin_client_sends_requests_of_the_program(admin: KafkaAdminClient) -> None:
    node = admin._client.least_loaded_node()
    futures = [admin._send_request_to_node(node, MetadataRequest[1](["topic"])) for _ in range(2)]
    admin._wait_for_futures(futures)
    assert [future.value.topics[0][1] for future in futures] == ["topic", "topic"]
    assert admin._matching_api_version(MetadataRequest) == len(MetadataRequest) - 1


def test_an_error_of_a_programs_request_is_raised(admin: KafkaAdminClient) -> None:
    future = admin._send_request_to_node(1, CreateAclsRequest[0]([]))
    with pytest.raises(UnsupportedVersionError):
        admin._wait_for_futures([future])


def test_a_consumer_has_the_options_that_it_was_given(broker: EmbeddedBroker, admin: KafkaAdminClient) -> None:
    with KafkaConsumer("topic", bootstrap_servers=broker.bootstrap_servers, group_id="group") as consumer:
        client: Any = consumer._client
        assert isinstance(client, KafkaClient)
        assert client.cluster.available_partitions_for_topic("topic") == {0, 1}
        assert client.bootstrap_connected()
    assert not client.bootstrap_connected()


def ask(consumer: KafkaConsumer[Any, Any]) -> Any:
    """The future of a request that is on its way to a node."""
    client: Any = consumer._client
    client.await_ready(1)
    return client.send(1, MetadataRequest[1](["topic"]))


@pytest.mark.parametrize(
    "poll",
    [
        lambda consumer: consumer.poll(60_000),
        lambda consumer: consumer.poll_columns(60_000),
        lambda consumer: next(consumer),
    ],
)
def test_polling_a_consumer_completes_the_programs_requests(
    broker: EmbeddedBroker, admin: KafkaAdminClient, poll: Callable[[Any], Any]
) -> None:
    with KafkaConsumer("topic", bootstrap_servers=broker.bootstrap_servers) as consumer:
        future, answers = ask(consumer), []
        future.add_callback(lambda answer: answers.append(answer.topics[0][1]))
        future.add_both(lambda _: consumer.wakeup())  # from within the poll, which waits for records
        with pytest.raises(WakeupError):
            poll(consumer)
        assert answers == ["topic"]


def test_iterating_a_consumer_completes_the_programs_requests(broker: EmbeddedBroker, admin: KafkaAdminClient) -> None:
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for number in range(20):
            producer.send("topic", b"%d" % number, partition=0)
    with KafkaConsumer("topic", bootstrap_servers=broker.bootstrap_servers, auto_offset_reset="earliest") as consumer:
        assert next(consumer).value == b"0"
        client: Any = consumer._client
        completed: list[str] = []
        client._completions.put(lambda: completed.append("answer"))
        assert next(consumer).value == b"1"
        assert completed == ["answer"]


def test_polling_a_consumer_runs_the_programs_tasks(broker: EmbeddedBroker, admin: KafkaAdminClient) -> None:
    with KafkaConsumer("topic", bootstrap_servers=broker.bootstrap_servers) as consumer:
        client: Any = consumer._client
        future = client.schedule(lambda: "done", at=0)
        assert not future.is_done
        consumer.poll(0)
        assert future.value == "done"


def test_closing_an_admin_client_closes_the_inner_client(admin: KafkaAdminClient) -> None:
    client = admin._client
    assert client.bootstrap_connected()
    admin.close()
    assert not client.bootstrap_connected()


@pytest.mark.parametrize("autocommit", [True, False])
def test_closing_a_consumer_commits_as_requested(
    broker: EmbeddedBroker, admin: KafkaAdminClient, autocommit: bool
) -> None:
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        producer.send("topic", b"v", partition=0)
    consumer: KafkaConsumer[Any, Any] = KafkaConsumer(
        "topic", bootstrap_servers=broker.bootstrap_servers, group_id="group", auto_offset_reset="earliest"
    )
    assert next(consumer).value == b"v"
    consumer.close(autocommit)
    assert bool(admin.list_group_offsets("group")["group"]) is autocommit


def test_a_closed_client_creates_no_inner_client(broker: EmbeddedBroker, admin: KafkaAdminClient) -> None:
    consumer: KafkaConsumer[Any, Any] = KafkaConsumer(bootstrap_servers=broker.bootstrap_servers)
    admin.close()
    consumer.close()
    for client in (admin, consumer):
        with pytest.raises(IllegalStateError, match="closed"):
            client._client  # noqa: B018


def in_another_thread(work: Callable[[], Any]) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def test_concurrent_access_creates_one_inner_client(admin: KafkaAdminClient, monkeypatch: pytest.MonkeyPatch) -> None:
    poll, made = KafkaClient.poll, []

    def poll_late(client: KafkaClient, *args: Any, **given: Any) -> list[Any]:
        if client not in made:
            made.append(client)
            if len(made) == 1:
                in_another_thread(lambda: admin._client)
        return poll(client, *args, **given)

    monkeypatch.setattr(KafkaClient, "poll", poll_late)
    assert admin._client is made[1]
    assert [client.bootstrap_connected() for client in made] == [False, True]


def test_an_inner_client_created_during_close_is_closed(
    admin: KafkaAdminClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    poll, made = KafkaClient.poll, []

    def poll_late(client: KafkaClient, *args: Any, **given: Any) -> list[Any]:
        made.append(client)
        in_another_thread(admin.close)
        return poll(client, *args, **given)

    monkeypatch.setattr(KafkaClient, "poll", poll_late)
    with pytest.raises(IllegalStateError, match="closed"):
        admin._client  # noqa: B018
    assert not made[0].bootstrap_connected()


def test_a_subclass_may_define_an_attribute_of_that_name(broker: EmbeddedBroker) -> None:
    class Wrapped(KafkaAdminClient):
        def __init__(self, **configs: Any) -> None:
            super().__init__(**configs)
            self._client = "its own"

    with Wrapped(bootstrap_servers=broker.bootstrap_servers) as admin:
        assert admin._client == "its own"
