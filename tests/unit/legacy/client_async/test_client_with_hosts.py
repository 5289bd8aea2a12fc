"""`kafka.KafkaClient` with hosts, as programs of 0.9 to 1.4 create it, subclass it and mock it."""

from __future__ import annotations

from typing import Any
from unittest import mock

import pytest

import kafka
from kafka.broker import EmbeddedBroker
from kafka.client import KafkaClient, SimpleClient
from kafka.structs import ProduceRequestPayload

pytestmark = [
    pytest.mark.once,
    pytest.mark.filterwarnings("ignore:KafkaClient with hosts:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:SimpleClient is deprecated:DeprecationWarning"),
]


@pytest.fixture
def partitions() -> int:
    return 1


@pytest.mark.parametrize("name", ["hosts", ""])
def test_it_is_a_simple_client(broker: EmbeddedBroker, client: SimpleClient, name: str) -> None:
    servers = broker.bootstrap_servers
    old: Any = kafka.KafkaClient(hosts=servers) if name else kafka.KafkaClient(servers, b"a name", timeout=10)
    assert isinstance(old, SimpleClient)
    assert isinstance(old, kafka.KafkaClient)
    payload = ProduceRequestPayload("topic", 0, [kafka.create_message(b"value")])
    assert old.send_produce_request([payload])[0].offset == 0
    other = old.copy()
    assert type(other) is kafka.KafkaClient
    assert other.topics == old.topics == ["topic"]
    old.close()
    assert old.get_partition_ids_for_topic("topic") == [0]
    other.close()
    old.close()


def test_a_subclass_has_its_own_constructor_and_methods(broker: EmbeddedBroker, client: SimpleClient) -> None:
    class Lazy(KafkaClient):
        def __init__(self, hosts: Any, **options: Any) -> None:
            self.loaded: list[tuple[Any, ...]] = []
            super().__init__(hosts, **options)

        def load_metadata_for_topics(self, *topics: Any, **options: Any) -> None:
            self.loaded.append(topics)

    lazy = Lazy(broker.bootstrap_servers, client_id="lazy", timeout=10)
    assert (lazy.loaded, lazy.topics, lazy.client_id) == ([()], [], "lazy")
    SimpleClient.load_metadata_for_topics(lazy, "topic")
    assert lazy.topics == ["topic"]
    lazy.close()


def test_a_mock_with_its_signature_accepts_hosts() -> None:
    with mock.patch("kafka.KafkaClient", autospec=True) as made:
        found: Any = kafka.KafkaClient("localhost:9092", client_id="name")
        made.assert_called_once_with("localhost:9092", client_id="name")
        found.load_metadata_for_topics("topic")
        found.send_produce_request([])
        found.poll(timeout_ms=10)


def test_a_mocked_method_is_called(broker: EmbeddedBroker) -> None:
    with mock.patch.object(kafka.KafkaClient, "load_metadata_for_topics") as load:
        kafka.KafkaClient("there.is.no.such.host.invalid:9092").close()
        load.assert_called_once_with()
    client = kafka.KafkaClient(bootstrap_servers=broker.bootstrap_servers)  # keywords select the client of 2.x
    assert client.bootstrap_connected()
    client.close()
