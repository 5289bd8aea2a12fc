"""What of a client's metrics is pushed, under which names, and how sums are counted."""

from __future__ import annotations

import math
from dataclasses import replace
from uuid import UUID

import pytest
from opentelemetry.proto.metrics.v1 import metrics_pb2

from kafka.cluster.telemetry.collector import Identity, MetricsCollector
from kafka.cluster.telemetry.subscription import Subscription
from kafka.config import parse_producer
from kafka.metrics.client_metrics import ClientMetrics, Metric, Point
from kafka.record.batch_types import Compression

ALL = Subscription(UUID(int=7), 1, (Compression.ZSTD,), 300.0, 1 << 20, True, ("*",))
BEGAN = 1_000


class MeteredClient:
    """A client with a few metrics, and what is pushed of it."""

    def __init__(self, identity: Identity | None = None) -> None:
        self.values = {"record-send-total": 0.0, "record-size-avg": 5.0, "record-size-max": -math.inf}
        self.now_ns = BEGAN
        connection = parse_producer({"client_id": "me"}).connection
        self.metrics = ClientMetrics(connection, lambda: 0.0)
        self.metrics.add("producer-metrics", [self.metric(name) for name in self.values], self)
        identity = identity or Identity("producer", "producer", lambda: {"transactional_id": "tx", "client_rack": None})
        self.collector = MetricsCollector(self.metrics, identity, lambda: self.now_ns, BEGAN)

    def metric(self, name: str) -> Metric:
        return Metric(name, "", lambda of, now: of.values[name])

    def push(self, subscription: Subscription = ALL, of_program=(), arrives: bool = True):
        collected = self.collector.collect(subscription, of_program, subscription.max_bytes)
        if arrives:
            self.collector.pushed(collected)
        return points_of(collected.data)


def points_of(data: bytes) -> dict[tuple[str, ...], metrics_pb2.NumberDataPoint]:
    """By name and the values of attributes."""
    return {
        (metric.name, *(f"{each.key}={each.value.string_value}" for each in point.attributes)): point
        for resource in metrics_pb2.MetricsData.FromString(data).resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
        for point in (*metric.gauge.data_points, *metric.sum.data_points)
    }


def test_names_follow_kip_714_and_missing_values_are_left_out():
    assert list(MeteredClient().push()) == [
        ("org.apache.kafka.producer.record.send.total",),
        ("org.apache.kafka.producer.record.size.avg",),
    ]


def test_nodes_topics_and_partitions_are_attributes_and_come_last():
    world = MeteredClient()
    one = [world.metric("record-size-avg")]
    world.metrics.add("producer-node-metrics.node-1", one, world)
    world.metrics.add("producer-topic-metrics.a.b", one, world)
    world.metrics.add("consumer-fetch-manager-metrics", one, world, {"topic": "t", "partition": "3", "client-id": "me"})
    assert list(world.push())[2:] == [
        ("org.apache.kafka.producer.node.record.size.avg", "node_id=node-1"),
        ("org.apache.kafka.producer.topic.record.size.avg", "topic=a.b"),
        ("org.apache.kafka.consumer.fetch.manager.record.size.avg", "topic=t", "partition=3"),
    ]


@pytest.mark.parametrize(
    ("prefixes", "names"),
    [
        (("*",), {"total", "avg"}),
        (("org.apache.kafka.producer.record.se",), {"total"}),
        (("org.apache.kafka.consumer", "org.apache.kafka.producer.record.si"), {"avg"}),
        (("",), {"total", "avg"}),
        (("send.total",), set()),
        ((), set()),
    ],
)
def test_only_subscribed_metrics_are_pushed(prefixes, names):
    found = MeteredClient().push(ALL._replace(prefixes=prefixes))
    assert {name.rpartition(".")[2] for (name,) in found} == names


def test_a_user_prefix_of_metric_groups_is_not_sent():
    world = MeteredClient(Identity("admin-client", "producer"))
    assert all(name.startswith("org.apache.kafka.admin.client.record.") for (name,) in world.push())


def test_deltas_are_counted_from_the_last_push_that_arrived():
    world = MeteredClient()
    key = ("org.apache.kafka.producer.record.send.total",)
    world.values["record-send-total"] = 10.0
    world.now_ns = 2_000
    point = world.push()[key]
    assert (point.as_double, point.start_time_unix_nano, point.time_unix_nano) == (10.0, BEGAN, 2_000)
    world.values["record-send-total"] = 15.0
    world.now_ns = 3_000
    assert world.push(arrives=False)[key].as_double == 5.0
    world.values["record-send-total"] = 18.0
    point = world.push()[key]
    assert (point.as_double, point.start_time_unix_nano) == (8.0, 2_000)
    assert world.push()[key].as_double == 0.0
    world.collector.reset()
    assert world.push()[key].as_double == 18.0


def test_a_sum_that_restarts_counts_from_there():
    world = MeteredClient()
    key = ("org.apache.kafka.producer.record.send.total",)
    world.values["record-send-total"] = 10.0
    world.push()
    world.values["record-send-total"] = 3.0
    assert world.push()[key].as_double == 3.0


def test_cumulative_sums_are_counted_from_the_start():
    world = MeteredClient()
    cumulative = ALL._replace(delta=False)
    for value in (10.0, 15.0):
        world.values["record-send-total"] = value
        point = world.push(cumulative)["org.apache.kafka.producer.record.send.total",]
        assert (point.as_double, point.start_time_unix_nano) == (value, BEGAN)


def test_a_sum_that_did_not_fit_is_included_in_the_next_delta():
    world = MeteredClient()
    world.values["record-send-total"] = 10.0
    collected = world.collector.collect(ALL, (), 50)
    assert (collected.data, collected.left_out) == (b"", 2)
    world.collector.pushed(collected)
    assert world.push()["org.apache.kafka.producer.record.send.total",].as_double == 10.0


def test_metrics_of_the_program_keep_their_group():
    own = [(Point("my-app-metrics", "orders-total", {"shop": "x"}, 4.0), True), (Point("g", "Depth", {}, 1.0), False)]
    found = MeteredClient().push(of_program=own)
    assert found["org.apache.kafka.my.app.orders.total", "shop=x"].as_double == 4.0
    assert found["org.apache.kafka.g.depth",].as_double == 1.0


def test_unwanted_metrics_are_not_read():
    world = MeteredClient()
    world.metrics.add("producer-metrics", [Metric("bad", "", lambda of, now: 1 / 0)], world)
    assert len(world.push(ALL._replace(prefixes=("org.apache.kafka.producer.record",)))) == 2


def test_metrics_listed_late_are_pushed_too():
    world = MeteredClient()
    one = [world.metric("record-size-avg")]
    world.metrics.before_listing(lambda: world.metrics.add("producer-metrics", one, world, {"partition": "7"}))
    assert ("org.apache.kafka.producer.record.size.avg", "partition=7") in world.push()


def test_nothing_is_collected_with_metrics_disabled():
    world = MeteredClient()
    connection = replace(parse_producer({}).connection, metrics_enabled=False)
    world.metrics = ClientMetrics(connection, lambda: 0.0)
    assert world.metrics.points() == []


def test_labels_that_are_not_set_are_left_out():
    world = MeteredClient()
    (resource,) = metrics_pb2.MetricsData.FromString(world.collector.collect(ALL, (), 9_999).data).resource_metrics
    assert {each.key: each.value.string_value for each in resource.resource.attributes} == {"transactional_id": "tx"}
