"""A client is shown in a notebook as a small table, without requests, waiting for locks, or secrets."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from harness.topics import create_topic
from kafka import (
    AsyncKafkaAdminClient,
    AsyncKafkaConsumer,
    AsyncKafkaProducer,
    KafkaAdminClient,
    KafkaConsumer,
    KafkaProducer,
    KafkaShareConsumer,
    TopicPartition,
)
from kafka.aio import AIOKafkaConsumer, AIOKafkaProducer
from kafka.aio.admin import AIOKafkaAdminClient
from kafka.broker import EmbeddedBroker
from kafka.consumer.share.async_share_consumer import AsyncKafkaShareConsumer
from unit.display.shown import SCRIPT, Shown

SECRET = "hunter2"
SECRETS: dict[str, Any] = {
    "security_protocol": "SASL_SSL",
    "sasl_mechanism": "PLAIN",
    "sasl_plain_username": "alice",
    "sasl_plain_password": SECRET,
    "ssl_password": SECRET,
    "client_id": SCRIPT,
}


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(tmp_path_factory.mktemp("broker"), group_initial_rebalance_delay_ms=0) as broker:
        create_topic(broker.bootstrap_servers, "t", 2, {"retention.ms": "-1"})
        yield broker


def shown_of(client: Any) -> Shown:
    """Parse a client's HTML, which contains neither foreign tags nor passwords."""
    html = client._repr_html_()
    assert SECRET not in html
    assert "<script" not in html
    return Shown(html)


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        (AsyncKafkaConsumer, {"group_id": SCRIPT}),
        (AsyncKafkaProducer, {"transactional_id": SCRIPT}),
        (AsyncKafkaAdminClient, {}),
        (AsyncKafkaShareConsumer, {"group_id": SCRIPT}),
    ],
)
def test_before_the_start_options_are_shown_without_secrets(kind: Any, more: dict[str, Any]) -> None:
    shown = shown_of(kind(bootstrap_servers=["kafka:9093", "[::1]:9094"], **SECRETS, **more))
    assert shown.texts[0] == kind.__name__
    assert shown.fact("state") == "starting"
    assert shown.fact("client id") == SCRIPT
    assert shown.fact("bootstrap servers") == "kafka:9093, [::1]:9094"
    for name, shown_as in (("group_id", "group"), ("transactional_id", "transactional id")):
        if name in more:
            assert shown.fact(shown_as) == SCRIPT


def test_a_consumer_shows_its_positions_even_when_closed(broker: EmbeddedBroker) -> None:
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for partition in (0, 1):
            producer.send("t", b"v", partition=partition)
    consumer: Any = KafkaConsumer(
        bootstrap_servers=broker.bootstrap_servers, client_id=SCRIPT, auto_offset_reset="earliest", group_id=SCRIPT
    )
    try:
        consumer.assign([TopicPartition("t", 1), TopicPartition("t", 0)])
        consumer.pause(TopicPartition("t", 1))
        while not consumer.poll(200):
            pass
        shown = shown_of(consumer)
        assert (shown.fact("group"), shown.fact("partitions")) == (SCRIPT, "2")
        assert shown.fact("state") != "closed"
        position = consumer.position(TopicPartition("t", 0))
        assert shown.rows[-2] == ["t", "0", str(position), str(position), ""]
        assert (shown.rows[-1][:2], shown.rows[-1][-1]) == (["t", "1"], "yes")
    finally:
        consumer.close(autocommit=False)
    assert shown_of(consumer).fact("state") == "closed"


@pytest.mark.parametrize(("pattern", "shown"), [("<script>.*", "names that match '<script>.*'"), (None, "t")])
def test_a_consumer_shows_its_subscription(broker: EmbeddedBroker, pattern: str | None, shown: str) -> None:
    with KafkaConsumer(bootstrap_servers=broker.bootstrap_servers, group_id="g") as consumer:
        consumer.subscribe(*([] if pattern else [["t"]]), pattern=pattern)
        assert shown_of(consumer).fact("subscribes to") == shown


@pytest.mark.parametrize("kind", [KafkaProducer, KafkaAdminClient, KafkaShareConsumer])
def test_the_other_clients_show_themselves_open_and_closed(broker: EmbeddedBroker, kind: Any) -> None:
    more = {"group_id": SCRIPT} if kind is KafkaShareConsumer else {}
    client = kind(bootstrap_servers=broker.bootstrap_servers, client_id=SCRIPT, ssl_password=SECRET, **more)
    try:
        shown = shown_of(client)
        assert (shown.texts[0], shown.fact("client id")) == (kind.__name__, SCRIPT)
        assert shown.fact("state") != "closed"
    finally:
        client.close()
    assert shown_of(client).fact("state") == "closed"


@pytest.mark.parametrize("kind", [AIOKafkaConsumer, AIOKafkaProducer, AIOKafkaAdminClient])
async def test_the_clients_with_names_of_aiokafka_show_themselves(broker: EmbeddedBroker, kind: Any) -> None:
    client = kind(bootstrap_servers=broker.bootstrap_servers, client_id=SCRIPT)
    assert (shown_of(client).texts[0], shown_of(client).fact("state")) == (kind.__name__, "starting")
    async with client:
        assert shown_of(client).fact("client id") == SCRIPT
    assert shown_of(client).fact("state") == "closed"


@pytest.mark.parametrize(
    "kind", [AsyncKafkaConsumer, AsyncKafkaProducer, AsyncKafkaAdminClient, AsyncKafkaShareConsumer]
)
async def test_the_asyncio_clients_show_themselves_open_and_closed(broker: EmbeddedBroker, kind: Any) -> None:
    more = {"group_id": SCRIPT} if kind in (AsyncKafkaConsumer, AsyncKafkaShareConsumer) else {}
    client = kind(bootstrap_servers=broker.bootstrap_servers, client_id=SCRIPT, ssl_password=SECRET, **more)
    async with client:
        shown = shown_of(client)
        assert shown.fact("client id") == SCRIPT
        assert shown.fact("state") != "closed"
    assert shown_of(client).fact("state") == "closed"


def test_showing_a_client_does_not_wait_for_locks(broker: EmbeddedBroker) -> None:
    with (
        KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer,
        KafkaConsumer("t", bootstrap_servers=broker.bootstrap_servers) as consumer,
        ThreadPoolExecutor(1) as another_thread,
        producer._core.buffer.lock,
        consumer._core.buffer._lock,
    ):
        for client in (producer, consumer):
            assert another_thread.submit(shown_of, client).result(30).fact("client id")


def test_failures_are_shown(broker: EmbeddedBroker) -> None:
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        producer._core._client_core.current_failures.failed(SCRIPT, ValueError(SCRIPT), 3)
        shown = shown_of(producer)
        for name in ("fails", "last error"):
            assert f"{SCRIPT}: ValueError: {SCRIPT}" in shown.fact(name)


def test_a_consumer_of_kafka_python_0_9_shows_its_positions(broker: EmbeddedBroker) -> None:
    consumer: Any = KafkaConsumer(("t", 0), bootstrap_servers=broker.bootstrap_servers)
    try:
        assert shown_of(consumer).text == repr(consumer)
    finally:
        consumer.close()
