"""Clients that are made before there is a broker: with ``api_version`` their constructors wait for none."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kafka import AsyncKafkaConsumer, AsyncKafkaProducer, KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.broker import EmbeddedBroker
from kafka.errors import KafkaTimeoutError, NoBrokersAvailable

RELEASE = (2, 8)
WAIT_MS = 30_000


@pytest.fixture
def port() -> Iterator[int]:
    """A port where connections are refused: it is taken, and nobody listens."""
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


def options(port: int, **others: Any) -> dict[str, Any]:
    return {"bootstrap_servers": f"127.0.0.1:{port}", "api_version": RELEASE, **others}


def test_a_producer_waits_for_its_cluster_when_it_sends(port: int) -> None:
    with KafkaProducer(**options(port, max_block_ms=200)) as producer:
        assert not producer.bootstrap_connected()
        with pytest.raises(KafkaTimeoutError, match=rf"127\.0\.0\.1:{port}.*refused"):
            producer.send("later", b"lost")
        producer.flush()


def test_a_consumer_polls_nothing_without_its_cluster(port: int) -> None:
    with KafkaConsumer("later", group_id="early", **options(port)) as consumer:
        assert not consumer.bootstrap_connected()
        assert consumer.subscription() == {"later"}
        assert not consumer.poll(timeout_ms=100)
        with pytest.raises(NoBrokersAvailable, match=f"127.0.0.1:{port}"):
            consumer.topics()
        with pytest.raises(KafkaTimeoutError, match=rf"127\.0\.0\.1:{port}.*refused"):
            consumer.bootstrap(timeout_ms=200)


def test_an_admin_client_fails_at_the_call(port: int) -> None:
    admin = KafkaAdminClient(**options(port, request_timeout_ms=200))
    with admin, pytest.raises(KafkaTimeoutError, match=rf"127\.0\.0\.1:{port}.*refused"):
        admin.list_topics()


def test_what_was_made_early_works_when_the_broker_is_there() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    soon = options(port, reconnect_backoff_max_ms=100)
    producer, admin = KafkaProducer(**soon, max_block_ms=WAIT_MS), KafkaAdminClient(**soon)
    consumer = KafkaConsumer("later", group_id="early", auto_offset_reset="earliest", **soon)
    assert not consumer.poll(timeout_ms=100)
    with EmbeddedBroker(port=port), producer, admin, consumer:
        consumer.bootstrap(timeout_ms=WAIT_MS)
        assert consumer.bootstrap_connected()
        assert producer.send("later", b"found").get(timeout=60).offset == 0
        assert producer.bootstrap_connected()
        assert [record.value for record in consumer.poll(timeout_ms=WAIT_MS)] == [b"found"]
        assert "later" in admin.list_topics()


@pytest.mark.parametrize("make", [lambda o: AsyncKafkaProducer(**o), lambda o: AsyncKafkaConsumer(**o)])
async def test_start_waits_for_the_cluster_in_asyncio(make: Callable[[Any], Any], port: int) -> None:
    client = make(options(port, bootstrap_timeout_ms=200))
    with pytest.raises(NoBrokersAvailable):
        await client.start()


@pytest.mark.parametrize("make", [KafkaProducer, KafkaConsumer, KafkaAdminClient])
def test_the_configuration_names_servers_as_given_and_the_brokers_release(make: Any, port: int) -> None:
    with EmbeddedBroker() as broker:
        given = [broker.bootstrap_servers]
        with make(bootstrap_servers=given) as client:
            assert client.config["bootstrap_servers"] == given
            assert client.config["api_version"] >= (3, 0)
    with make(**options(port)) as early:
        assert early.config["api_version"] == RELEASE


def test_a_subscription_to_nothing_is_the_error_of_either_generation() -> None:
    with EmbeddedBroker() as broker, KafkaConsumer(bootstrap_servers=broker.bootstrap_servers) as consumer:
        for kind in (AssertionError, ValueError):
            with pytest.raises(kind, match="topics or a pattern"):
                consumer.subscribe()
        consumer.assign([TopicPartition("untouched", 0)])
