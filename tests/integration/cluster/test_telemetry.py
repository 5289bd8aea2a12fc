"""Clients push their metrics to brokers that subscribe to them (KIP-714): the embedded one, and Apache Kafka."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import inspect
import logging
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

import pytest
from opentelemetry.proto.metrics.v1 import metrics_pb2

from harness.telemetry import CLASS, FOLDER_PROPERTY, NoCompilerError, Push, compiled_plugin, pushed
from integration.wire_support import Wire
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
from kafka.admin import ConfigResource, ConfigResourceType
from kafka.broker import EmbeddedBroker
from kafka.errors import IllegalStateError, InvalidConfigurationError, InvalidRequestError, UnsupportedVersionError
from kafka.metrics import KafkaMetric, MetricConfig, MetricName
from kafka.metrics.stats import Total
from kafka.wire import NO_UUID
from kafka.wire.api.get_telemetry_subscriptions import GetTelemetrySubscriptionsRequest
from kafka.wire.api.push_telemetry import PushTelemetryRequest

pytestmark = [
    pytest.mark.integration,
    pytest.mark.needs(broker=(3, 7), why="metrics pushed by clients (KIP-714)"),
]

PATIENCE_S = 60.0
PREFIX = "org.apache.kafka."
"""Whatever the names of metrics begin with."""


class TelemetryBroker(Protocol):
    """A broker that takes clients' metrics."""

    bootstrap_servers: str
    kind: str

    def pushed(self) -> list[Push]:
        """What clients have pushed so far."""


class Embedded:
    kind = "embedded"

    def __init__(self, broker: EmbeddedBroker) -> None:
        self.bootstrap_servers = broker.bootstrap_servers
        self._broker = broker

    def pushed(self) -> list[Push]:
        return [
            Push(each.client_id, kafka_text(each.client_instance_id), each.terminating, each.metrics)
            for each in self._broker.pushed_metrics()
        ]


class Apache:
    kind = "apache"

    def __init__(self, kafka: Any, folder: Any) -> None:
        self.bootstrap_servers = kafka.bootstrap_servers
        self._folder = folder

    def pushed(self) -> list[Push]:
        return pushed(self._folder)


def kafka_text(instance_id: uuid.UUID) -> str:
    """An id as Kafka writes it."""
    return base64.urlsafe_b64encode(instance_id.bytes).decode().rstrip("=")


@pytest.fixture(scope="module", params=["embedded", pytest.param("apache", marks=pytest.mark.apache)])
def broker(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TelemetryBroker]:
    folder = tmp_path_factory.mktemp("telemetry")
    if request.param == "embedded":
        with EmbeddedBroker(client_telemetry=True, share_heartbeat_interval_ms=200) as embedded:
            yield Embedded(embedded)
        return
    from conftest import missing
    from harness.apache import ApacheKafka

    tools = request.getfixturevalue("java_tools")
    try:
        plugin = compiled_plugin(tools)
    except NoCompilerError as error:
        missing(str(error))
        raise
    pushes = folder / "pushed"
    pushes.mkdir()
    with ApacheKafka(
        folder / "kafka",
        version=tools.version,
        properties={"metric.reporters": CLASS},
        jvm=[f"-D{FOLDER_PROPERTY}={pushes}"],
        plugins=[plugin],
    ) as kafka:
        yield Apache(kafka, pushes)


@pytest.fixture(scope="module")
def admin(broker: TelemetryBroker) -> Iterator[KafkaAdminClient]:
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers, enable_metrics_push=False) as client:
        yield client


class Subscriber:
    """Subscribes to the metrics of one client, and reads them."""

    def __init__(self, broker: TelemetryBroker, admin: KafkaAdminClient, client_id: str) -> None:
        self.broker = broker
        self.client_id = client_id
        self._admin = admin

    def subscribe(self, **configs: str) -> None:
        resource = {
            "match": f"client_id={self.client_id}",
            **{name.replace("_", "."): configs[name] for name in configs},
        }
        named = ConfigResource(ConfigResourceType.CLIENT_METRICS, self.client_id, resource)
        self._admin.alter_configs([named])
        # A controller acknowledges it before brokers know it. A client that asks in between is told to push nothing,
        # and asks again after five minutes.
        until(lambda: self.client_id in self._admin.list_client_metrics_resources())

    def unsubscribe(self) -> None:
        with contextlib.suppress(InvalidRequestError):
            self._admin.alter_configs([ConfigResource(ConfigResourceType.CLIENT_METRICS, self.client_id, {})])

    def options(self) -> dict[str, Any]:
        return {"bootstrap_servers": self.broker.bootstrap_servers, "client_id": self.client_id}

    def pushes(self) -> list[Pushed]:
        return [read(push) for push in self.broker.pushed() if push.client_id == self.client_id]

    def last(self) -> Pushed:
        """The terminating push, as soon as it is there."""
        return until(lambda: next((push for push in self.pushes() if push.terminating), None))


class Pushed(NamedTuple):
    """A push, read: values by name, and by name and attributes."""

    instance_id: str
    terminating: bool
    labels: dict[str, str]
    values: dict[str, float]
    points: dict[tuple[str, ...], float]


def read(push: Push) -> Pushed:
    labels: dict[str, str] = {}
    values: dict[str, float] = {}
    points: dict[tuple[str, ...], float] = {}
    for resource in metrics_pb2.MetricsData.FromString(push.metrics).resource_metrics:
        labels |= {each.key: each.value.string_value for each in resource.resource.attributes}
        for metric in (metric for scope in resource.scope_metrics for metric in scope.metrics):
            assert metric.name.startswith(PREFIX)
            is_sum = metric.WhichOneof("data") == "sum"
            assert not is_sum or metric.sum.aggregation_temporality == metrics_pb2.AGGREGATION_TEMPORALITY_DELTA
            for point in (metric.sum if is_sum else metric.gauge).data_points:
                attributes = [f"{each.key}={each.value.string_value}" for each in point.attributes]
                name = metric.name.removeprefix(PREFIX)
                values.setdefault(name, point.as_double)
                points[name, *attributes] = point.as_double
    return Pushed(push.instance_id, push.terminating, labels, values, points)


def until(found: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + PATIENCE_S
    while not (answer := found()):
        assert time.monotonic() < deadline, f"not seen within {PATIENCE_S} s"
        time.sleep(0.02)
    return answer


@pytest.fixture
def subscriber(broker: TelemetryBroker, admin: KafkaAdminClient) -> Iterator[Subscriber]:
    subscriber = Subscriber(broker, admin, f"client-{uuid.uuid4().hex[:12]}")
    yield subscriber
    subscriber.unsubscribe()
    until(lambda: subscriber.client_id not in admin.list_client_metrics_resources())


def test_a_producer_pushes_what_it_counts(subscriber: Subscriber) -> None:
    subscriber.subscribe(metrics="*", interval_ms="100")
    topic = f"t-{subscriber.client_id}"
    with KafkaProducer(**subscriber.options(), transactional_id=subscriber.client_id) as producer:
        instance_id = producer.client_instance_id(timeout_ms=20_000)
        assert producer.client_instance_id() == instance_id
        producer.init_transactions()
        with producer.transaction():
            for number in range(5):
                producer.send(topic, b"%d" % number)
        until(lambda: sum(push.values.get("producer.record.send.total", 0) for push in subscriber.pushes()) == 5)
        assert not any(push.terminating for push in subscriber.pushes())
    last = subscriber.last()
    assert {push.instance_id for push in subscriber.pushes()} == {kafka_text(instance_id)}
    assert {key for push in subscriber.pushes() for key in push.labels.items()} == {
        ("transactional_id", subscriber.client_id)
    }
    seen = {name for push in subscriber.pushes() for name in push.values}
    assert {  # the standard metrics of the KIP
        "producer.connection.creation.rate",
        "producer.connection.creation.total",
        "producer.node.request.latency.avg",
        "producer.node.request.latency.max",
        "producer.produce.throttle.time.avg",
        "producer.produce.throttle.time.max",
        "producer.record.queue.time.avg",
        "producer.record.queue.time.max",
    } <= seen
    assert sum(push.values.get("producer.connection.creation.total", 0) for push in subscriber.pushes()) >= 1
    assert ("producer.topic.record.send.rate", f"topic={topic}") in last.points
    nodes = [key[1] for key in last.points if key[0] == "producer.node.request.latency.avg"]
    assert {node.startswith("node_id=node-") for node in nodes} == {True}
    assert [push.terminating for push in subscriber.pushes()].count(True) == 1


@pytest.mark.parametrize("group_protocol", ["classic", "consumer"])
def test_a_consumer_says_which_group_it_is_in(subscriber: Subscriber, group_protocol: str) -> None:
    subscriber.subscribe(metrics="org.apache.kafka.consumer.", interval_ms="100")
    topic = f"t-{subscriber.client_id}"
    with KafkaProducer(bootstrap_servers=subscriber.broker.bootstrap_servers) as producer:
        producer.send(topic, b"x").get(60)
    with KafkaConsumer(
        topic,
        **subscriber.options(),
        group_id=subscriber.client_id,
        group_protocol=group_protocol,
        client_rack="r1",
        auto_offset_reset="earliest",
        metric_group_prefix="mine",
    ) as consumer:
        until(lambda: consumer.poll(timeout_ms=100))
        consumer.commit()
        names = {
            "consumer.connection.creation.total",
            "consumer.node.request.latency.avg",
            "consumer.coordinator.commit.latency.avg",
            "consumer.coordinator.assigned.partitions",
            "consumer.coordinator.rebalance.latency.avg",
            "consumer.coordinator.rebalance.latency.max",
            "consumer.coordinator.rebalance.latency.total",
            "consumer.fetch.manager.fetch.latency.avg",
            "consumer.fetch.manager.fetch.latency.max",
            "consumer.poll.idle.ratio.avg",
        }
        until(lambda: names <= {name for push in subscriber.pushes() for name in push.values})
        member = consumer.group_metadata().member_id
        found = until(lambda: [push for push in subscriber.pushes() if push.labels.get("group_member_id") == member])
        assert found[-1].labels == {
            "client_rack": "r1",
            "group_id": subscriber.client_id,
            "group_member_id": member,
        }
        lag = ("consumer.fetch.manager.records.lag", f"topic={topic}", "partition=0")
        until(lambda: any(lag in push.points for push in subscriber.pushes()))
    assert subscriber.last().labels["group_id"] == subscriber.client_id


CLIENTS: dict[str, tuple[Any, dict[str, Any], str]] = {
    "KafkaProducer": (KafkaProducer, {}, "producer."),
    "KafkaConsumer": (KafkaConsumer, {}, "consumer."),
    "KafkaShareConsumer": (KafkaShareConsumer, {"group_id": "shares"}, "consumer."),
    "KafkaAdminClient": (KafkaAdminClient, {}, "admin.client."),
    "AsyncKafkaProducer": (AsyncKafkaProducer, {}, "producer."),
    "AsyncKafkaConsumer": (AsyncKafkaConsumer, {}, "consumer."),
    "AsyncKafkaShareConsumer": (AsyncKafkaShareConsumer, {"group_id": "shares"}, "consumer."),
    "AsyncKafkaAdminClient": (AsyncKafkaAdminClient, {}, "admin.client."),
}


async def open_client(kind: type[Any], options: dict[str, Any]) -> Any:
    client = await asyncio.to_thread(kind, **options) if not kind.__name__.startswith("Async") else kind(**options)
    if kind.__name__.startswith("Async"):
        await client.start()
    return client


async def call(client: Any, name: str, *arguments: Any) -> Any:
    """Call a method of either face."""
    method = getattr(client, name)
    if inspect.iscoroutinefunction(method):
        return await method(*arguments)
    return await asyncio.to_thread(method, *arguments)


@pytest.mark.parametrize("name", CLIENTS)
async def test_every_client_has_an_id_and_pushes_its_own_and_the_programs_metrics(
    name: str, subscriber: Subscriber, caplog: pytest.LogCaptureFixture
) -> None:
    kind, more, prefix = CLIENTS[name]
    await asyncio.to_thread(subscriber.subscribe, metrics="*", interval_ms="100")
    caplog.clear()
    sold = Total(4.0)
    own = KafkaMetric(MetricName("orders-sold", "shop-metrics", tags={"city": "Bonn"}), sold, MetricConfig())
    client = await open_client(kind, {**subscriber.options(), **more})
    try:
        instance_id = await call(client, "client_instance_id", 20_000)
        assert instance_id == await call(client, "client_instance_id")
        client.register_metric_for_subscription(own)
        await asyncio.to_thread(until, lambda: [p for p in subscriber.pushes() if "shop.orders.sold" in p.values])
        client.unregister_metric_from_subscription(own)
    finally:
        await call(client, "close")
    last = await asyncio.to_thread(subscriber.last)
    assert last.instance_id == kafka_text(instance_id)
    assert last.values[f"{prefix}connection.count"] >= 1
    with_own = [
        push.points["shop.orders.sold", "city=Bonn"]
        for push in subscriber.pushes()
        if "shop.orders.sold" in push.values
    ]
    assert sum(with_own) == 4.0  # a sum, pushed as deltas
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


@pytest.mark.parametrize("name", CLIENTS)
async def test_without_a_subscription_nothing_is_pushed(name: str, subscriber: Subscriber, caplog) -> None:
    kind, more, _ = CLIENTS[name]
    client = await open_client(kind, {**subscriber.options(), **more})
    try:
        assert (await call(client, "client_instance_id", 20_000)).version == 4
    finally:
        await call(client, "close")
    assert subscriber.pushes() == []
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


@pytest.mark.parametrize("name", CLIENTS)
async def test_a_client_that_is_told_not_to_push_has_no_id(name: str, subscriber: Subscriber) -> None:
    kind, more, _ = CLIENTS[name]
    client = await open_client(kind, {**subscriber.options(), **more, "enable_metrics_push": False})
    try:
        with pytest.raises(IllegalStateError, match="enable_metrics_push"):
            await call(client, "client_instance_id", 1_000)
    finally:
        await call(client, "close")


def test_a_subscription_that_changes_is_noticed(subscriber: Subscriber) -> None:
    subscriber.subscribe(metrics="org.apache.kafka.producer.record.", interval_ms="100")
    with KafkaProducer(**subscriber.options()) as producer:
        first = until(subscriber.pushes)[0]
        assert {name.startswith("producer.record.") for name in first.values} == {True}
        subscriber.subscribe(metrics="org.apache.kafka.producer.connection.", interval_ms="100")
        changed = until(lambda: [push for push in subscriber.pushes() if "producer.connection.count" in push.values])
        assert {name.startswith("producer.connection.") for name in changed[0].values} == {True}
        assert changed[0].instance_id == first.instance_id
        producer.flush()


def test_software_is_matched_by_name(subscriber: Subscriber) -> None:
    match = f"client_software_name=kafka-col.*,client_id={subscriber.client_id}"
    subscriber.subscribe(metrics="*", interval_ms="100", match=match)
    with KafkaProducer(**subscriber.options()):
        until(subscriber.pushes)
    other = Subscriber(subscriber.broker, subscriber._admin, f"{subscriber.client_id}-2")
    match = f"client_software_name=apache-kafka-java,client_id={other.client_id}"
    other.subscribe(metrics="*", interval_ms="100", match=match)
    try:
        with KafkaProducer(**other.options()) as producer:
            producer.client_instance_id()
        assert other.pushes() == []
    finally:
        other.unsubscribe()


# What the brokers answer


@pytest.fixture
def wire(broker: TelemetryBroker) -> Iterator[Wire]:
    with contextlib.closing(Wire(broker.bootstrap_servers)) as connected:
        yield connected


def ask(wire: Wire, instance_id: uuid.UUID = NO_UUID) -> Any:
    return wire.call(GetTelemetrySubscriptionsRequest(client_instance_id=instance_id), 0)


def push(wire: Wire, told: Any, **changed: Any) -> int:
    given = {"client_instance_id": told.client_instance_id, "subscription_id": told.subscription_id, **changed}
    return wire.call(PushTelemetryRequest(**given), 0).error_code


def test_what_a_client_is_told(wire: Wire) -> None:
    told = ask(wire)
    assert (told.error_code, told.push_interval_ms, told.telemetry_max_bytes) == (0, 300_000, 1_048_576)
    assert (told.accepted_compression_types, told.delta_temporality) == ([4, 3, 1, 2], True)
    assert told.requested_metrics == []
    assert told.client_instance_id.version == 4
    # It is too early to ask again, unless subscriptions have changed; those of an earlier test may have.
    until(lambda: ask(wire, told.client_instance_id).error_code == 89)


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({}, 0),
        ({"subscription_id": 7}, 117),
        ({"compression_type": 9}, 76),
        ({"metrics": b"x" * 1_048_577}, 118),
        ({"compression_type": 4, "metrics": b"no zstd"}, 87),
        ({"client_instance_id": NO_UUID}, 42),
    ],
)
def test_what_a_push_is_answered(wire: Wire, changed: dict[str, Any], code: int) -> None:
    assert push(wire, ask(wire), **changed) == code


def test_after_some_errors_a_client_may_ask_at_once(wire: Wire) -> None:
    told = ask(wire)
    assert push(wire, told, subscription_id=7) == 117
    assert ask(wire, told.client_instance_id).error_code == 0


def test_pushes_that_come_too_early_are_refused_but_the_last_one(wire: Wire) -> None:
    told = ask(wire)
    assert push(wire, told) == 0
    assert push(wire, told) == 89
    assert push(wire, told, terminating=True) == 0
    assert push(wire, told) == 42


# Subscriptions


def test_subscriptions_are_listed_described_and_deleted(subscriber: Subscriber, admin: KafkaAdminClient) -> None:
    named = ConfigResource(ConfigResourceType.CLIENT_METRICS, subscriber.client_id)
    assert subscriber.client_id not in admin.list_client_metrics_resources()
    subscriber.subscribe(interval_ms="200")
    assert until(lambda: subscriber.client_id in admin.list_client_metrics_resources())

    def described() -> dict[str, str]:
        return {name: config["value"] for name, config in admin.describe_configs([named]).of(named).items()}

    assert described() == {"interval.ms": "200", "match": f"client_id={subscriber.client_id}"}
    more = ConfigResource(ConfigResourceType.CLIENT_METRICS, subscriber.client_id, {"metrics": "a,b"})
    admin.alter_configs([more], incremental=True)
    assert until(lambda: described().get("metrics")) == "a,b"
    appended = ConfigResource(ConfigResourceType.CLIENT_METRICS, subscriber.client_id, {"metrics": ("APPEND", "c")})
    with pytest.raises(InvalidConfigurationError, match="LIST"):
        admin.alter_configs([appended])
    subscriber.unsubscribe()
    assert until(lambda: subscriber.client_id not in admin.list_client_metrics_resources())
    assert described() == {}
    for nameless in (admin.describe_configs, admin.alter_configs):
        with pytest.raises(InvalidRequestError):
            nameless([ConfigResource(ConfigResourceType.CLIENT_METRICS, "", {"metrics": "a"})])


@pytest.mark.parametrize(
    ("configs", "error"),
    [
        ({"interval_ms": "99"}, InvalidRequestError),
        ({"interval_ms": "3600001"}, InvalidRequestError),
        ({"interval_ms": "soon"}, InvalidConfigurationError),
        ({"match": "client_color=red"}, InvalidConfigurationError),
        ({"match": "client_id"}, InvalidConfigurationError),
        ({"match": "client_id=["}, InvalidConfigurationError),
        ({"colour": "red"}, InvalidRequestError),
    ],
)
def test_subscriptions_are_checked(subscriber: Subscriber, configs: dict[str, str], error: type[Exception]) -> None:
    with pytest.raises(error):
        subscriber.subscribe(**configs)


# Brokers that do not take metrics are most


@pytest.fixture(params=["embedded_broker", pytest.param("apache_kafka", marks=pytest.mark.apache)])
def deaf_broker(request: pytest.FixtureRequest) -> Any:
    """A broker without a plug-in that receives metrics."""
    return request.getfixturevalue(request.param)


@pytest.mark.parametrize("name", CLIENTS)
async def test_a_broker_without_a_plugin_is_asked_nothing(name: str, deaf_broker: Any, caplog) -> None:
    kind, more, _ = CLIENTS[name]
    client = await open_client(kind, {"bootstrap_servers": deaf_broker.bootstrap_servers, **more})
    try:
        with pytest.raises(UnsupportedVersionError, match="plug-in"):
            await call(client, "client_instance_id", 20_000)
    finally:
        await call(client, "close")
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []
