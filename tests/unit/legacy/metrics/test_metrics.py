"""Old clients report their traffic to the metrics registry they are given."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from kafka.broker import EmbeddedBroker
from kafka.client_async import KafkaClient
from kafka.conn import BrokerConnection
from kafka.metrics import DictReporter, MetricName, Metrics

pytestmark = pytest.mark.once


@pytest.fixture
def broker() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker() as broker:
        yield broker


def value(metrics: Metrics, name: str, group: str) -> float:
    return metrics.metrics[MetricName(name, group, tags={})].value()


def test_a_client(broker: EmbeddedBroker) -> None:
    reporter = DictReporter()
    metrics = Metrics(reporters=[reporter])
    client = KafkaClient(bootstrap_servers=broker.bootstrap_servers, metrics=metrics, metric_group_prefix="old")
    client.close()
    assert value(metrics, "request-rate", "old-metrics") > 0
    assert value(metrics, "connection-creation-rate", "old-metrics") > 0
    assert value(metrics, "connection-count", "old-metrics") == 0
    assert reporter.snapshot()["old-metrics"]["request-size-max"] > 0
    metrics.close()


def test_connections_share_a_registry(broker: EmbeddedBroker) -> None:
    metrics = Metrics()
    connections = [
        BrokerConnection(broker.host, broker.port, node_id=node, metrics=metrics, metric_group_prefix="old")
        for node in ("a", "a", "b")
    ]
    for connection in connections:
        assert connection.connect_blocking(30)
    assert value(metrics, "connection-count", "old-metrics") == 3
    rates = [value(metrics, "request-rate", f"old-node-metrics.node-{node}") for node in "ab"]
    assert rates[0] > rates[1] > 0
    assert value(metrics, "request-rate", "old-metrics") > rates[0]
    for connection in connections:
        connection.close()


def test_a_registry_is_released(broker: EmbeddedBroker) -> None:
    metrics = Metrics()
    connection = BrokerConnection(broker.host, broker.port, metrics=metrics, metric_group_prefix="old")
    watched = weakref.ref(metrics)
    del metrics, connection
    gc.collect()
    assert watched() is None
