"""None as an option's value: programs pass on options that were not set, and get the default."""

import asyncio
import inspect
import logging
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import pytest

import kafka
import kafka.aio
from kafka import (
    AsyncKafkaAdminClient,
    AsyncKafkaConsumer,
    AsyncKafkaProducer,
    AsyncKafkaShareConsumer,
    KafkaAdminClient,
    KafkaConsumer,
    KafkaProducer,
    KafkaShareConsumer,
)
from kafka.aio.admin import AIOKafkaAdminClient
from kafka.aio.options import consumer_options, producer_options
from kafka.broker import EmbeddedBroker
from kafka.client_async import KafkaClient
from kafka.config import option_table, parse_admin, parse_consumer, parse_producer, parse_share
from kafka.conn import BrokerConnection
from kafka.consumer.kafka import DEFAULT_CONSUMER_CONFIG
from kafka.consumer.kafka import KafkaConsumer as MarkedConsumer
from kafka.consumer.subscription_state import SubscriptionState
from kafka.coordinator.consumer import ConsumerCoordinator
from kafka.errors import KafkaConfigurationError

pytestmark = [pytest.mark.once, pytest.mark.filterwarnings("ignore:.*deprecated:DeprecationWarning")]

PARSERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "admin": parse_admin,
    "producer": parse_producer,
    "consumer": parse_consumer,
    "share consumer": lambda configs: parse_share({"group_id": "group", **configs}),
}
OWN_MEANING = {"auto_offset_reset": "none", "client_id": None}
"""Options without None as default, and not bools, for which None is a valid value nevertheless."""


@pytest.fixture(scope="module")
def broker() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(group_initial_rebalance_delay_ms=0) as broker:
        yield broker


def nothing(names: Any) -> dict[str, Any]:
    return dict.fromkeys(names)


@pytest.mark.parametrize("client", PARSERS)
def test_none_is_the_default_or_a_value_of_the_option(client: str, caplog: pytest.LogCaptureFixture) -> None:
    parse = PARSERS[client]
    for name, row in option_table().items():
        if client not in row.clients or name == "bootstrap_servers" or (client, name) == ("share consumer", "group_id"):
            continue
        stands_for: dict[str, Any] = {}
        if isinstance(row.default, bool) and name != "ssl_check_hostname":
            stands_for = {name: False}
        elif name in OWN_MEANING:
            stands_for = {name: OWN_MEANING[name]}
        with caplog.at_level(logging.WARNING):
            given = parse({name: None})
        warned = [each.getMessage() for each in caplog.records if each.name.startswith("kafka.config")]
        assert not warned, name
        assert repr(given) == repr(parse(stands_for)), name


@pytest.mark.parametrize("client", PARSERS)
def test_none_as_bootstrap_servers_is_rejected(client: str) -> None:
    with pytest.raises(KafkaConfigurationError, match="option 'bootstrap_servers' expects 'host:port' or a list"):
        PARSERS[client]({"bootstrap_servers": None})


def test_an_option_of_another_client_is_rejected_even_if_none() -> None:
    with pytest.raises(KafkaConfigurationError, match="'acks' is an option of the producer, not of the consumer"):
        KafkaConsumer(acks=None)  # type: ignore[call-arg]
    with pytest.raises(KafkaConfigurationError, match="'acks_' is unknown"):
        parse_producer({"acks_": None})


def test_none_selects_a_subclasss_default(broker: EmbeddedBroker) -> None:
    class Patient(KafkaConsumer[Any, Any]):
        DEFAULT_CONFIG: ClassVar[dict[str, Any]] = {**KafkaConsumer.DEFAULT_CONFIG, "max_poll_records": 7}

    with Patient(bootstrap_servers=broker.bootstrap_servers, max_poll_records=None) as consumer:
        assert consumer.config["max_poll_records"] == 7


def test_none_does_not_affect_derived_times() -> None:
    assert parse_consumer({"request_timeout_ms": None}).look_up_timeout_ms == 60_000
    assert parse_consumer({"request_timeout_ms": 9_000, "default_api_timeout_ms": None}).look_up_timeout_ms == 9_000


@pytest.mark.parametrize("face", [KafkaConsumer, KafkaProducer, KafkaAdminClient, KafkaShareConsumer])
def test_a_client_accepts_none_for_every_option(broker: EmbeddedBroker, face: Any) -> None:
    needed = {"bootstrap_servers": broker.bootstrap_servers}
    if face is KafkaShareConsumer:
        needed["group_id"] = "group"
    client = face(**{**nothing(face.DEFAULT_CONFIG), **needed})
    for name in ("request_timeout_ms", "metadata_max_age_ms"):
        assert client.config[name] == option_table()[name].default
    client.close()


@pytest.mark.parametrize(
    "face", [AsyncKafkaConsumer, AsyncKafkaProducer, AsyncKafkaAdminClient, AsyncKafkaShareConsumer]
)
def test_an_asyncio_client_accepts_none_for_every_option(broker: EmbeddedBroker, face: Any) -> None:
    needed = {"bootstrap_servers": broker.bootstrap_servers}
    if face is AsyncKafkaShareConsumer:
        needed["group_id"] = "group"

    async def run() -> None:
        async with face(**{**nothing(face.DEFAULT_CONFIG), **needed}) as client:
            assert client.config["request_timeout_ms"] == 30_000

    asyncio.run(run())


@pytest.mark.parametrize(
    ("face", "kind", "more"),
    [
        (kafka.aio.AIOKafkaConsumer, "consumer", ("loop", "rebalance_timeout_ms")),
        (kafka.aio.AIOKafkaProducer, "producer", ("loop", "max_batch_size")),
        (AIOKafkaAdminClient, "admin", ("loop",)),
    ],
)
def test_an_aiokafka_client_accepts_none_for_every_option(
    broker: EmbeddedBroker, face: Any, kind: str, more: tuple[str, ...]
) -> None:
    names = [name for name, row in option_table().items() if kind in row.clients]

    async def run() -> None:
        client = face(**{**nothing([*names, *more]), "bootstrap_servers": broker.bootstrap_servers})
        await client.start()
        await (client.close() if kind == "admin" else client.stop())

    asyncio.run(run())


def test_none_selects_aiokafkas_defaults() -> None:
    names = [name for name, row in option_table().items() if "consumer" in row.clients]
    assert consumer_options(nothing(["rebalance_timeout_ms", "loop"])) == consumer_options({})  # type: ignore[arg-type]
    chosen = consumer_options(nothing(names))  # type: ignore[arg-type]
    assert {name: chosen[name] for name in consumer_options({})} == consumer_options({})
    assert producer_options({"max_batch_size": None, "linger_ms": None}) == producer_options({})  # type: ignore[typeddict-item]
    assert producer_options({"security_protocol": "SASL_SSL", "sasl_mechanism": None})["sasl_mechanism"] == "PLAIN"


def test_a_bounded_read_accepts_none_for_every_option(broker: EmbeddedBroker) -> None:
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        producer.send("read", b"value").get(60)
    options = {**nothing(KafkaConsumer.DEFAULT_CONFIG), "bootstrap_servers": broker.bootstrap_servers}
    assert [record.value for record in kafka.read("read", **options)] == [b"value"]


def test_the_old_kafka_client_accepts_none_for_every_option(broker: EmbeddedBroker) -> None:
    client = KafkaClient(**{**nothing(KafkaClient.DEFAULT_CONFIG), "bootstrap_servers": broker.bootstrap_servers})
    assert client.config["request_timeout_ms"] == KafkaClient.DEFAULT_CONFIG["request_timeout_ms"]
    coordinator = ConsumerCoordinator(
        client, SubscriptionState(), **{**nothing(ConsumerCoordinator.DEFAULT_CONFIG), "group_id": "group"}
    )
    assert coordinator.config["heartbeat_interval_ms"] == 3_000
    coordinator.close()
    client.close()


def test_a_broker_connection_accepts_none_for_every_option(broker: EmbeddedBroker) -> None:
    host, port = broker.bootstrap_servers.split(":")
    connection = BrokerConnection(host, int(port), **nothing(BrokerConnection.DEFAULT_CONFIG))
    assert connection.connect_blocking(60)
    assert connection.config["request_timeout_ms"] == 30_000
    connection.close()


def test_the_consumer_of_0_9_accepts_none_for_every_option(broker: EmbeddedBroker) -> None:
    options = {**nothing([*DEFAULT_CONSUMER_CONFIG, "metadata_broker_list"])}
    options |= {"bootstrap_servers": broker.bootstrap_servers, "consumer_timeout_ms": 1}
    consumer = MarkedConsumer(**options)
    assert consumer._config["fetch_message_max_bytes"] == 1024 * 1024
    consumer._client.close()


def test_every_public_client_is_covered() -> None:
    named = {name: getattr(kafka, name) for name in kafka.__all__}
    faces = {name for name, each in named.items() if inspect.isclass(each) and hasattr(each, "DEFAULT_CONFIG")}
    assert faces <= {
        f"{kind}Kafka{client}"
        for kind in ("", "Async")
        for client in ("Consumer", "Producer", "AdminClient", "ShareConsumer", "Client")
    } | {"BrokerConnection"}
