"""The metrics of the clients: kafka-python's names, and values that are true; reporters are told of all."""

from __future__ import annotations

import math
import threading
from typing import Any

import pytest

from integration.consumer_support import PATIENCE_S, read
from kafka import AsyncKafkaConsumer, AsyncKafkaProducer, KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.metrics import DictReporter, KafkaMetric, MetricName

pytestmark = pytest.mark.integration

EXCHANGES = {
    "incoming-byte-rate",
    "outgoing-byte-rate",
    "request-latency-avg",
    "request-latency-max",
    "request-rate",
    "request-size-avg",
    "request-size-max",
    "response-rate",
    "throttle-time-avg",
    "throttle-time-max",
}
NETWORK = {
    *EXCHANGES,
    "network-io-rate",
    "connection-close-rate",
    "connection-count",
    "connection-creation-rate",
    "io-ratio",
    "io-time-ns-avg",
    "io-wait-ratio",
    "io-wait-time-ns-avg",
    "select-rate",
}
PRODUCER = {
    *NETWORK,
    "batch-size-avg",
    "batch-size-max",
    "byte-rate",
    "compression-rate-avg",
    "metadata-age",
    "record-error-rate",
    "record-queue-time-avg",
    "record-queue-time-max",
    "record-retry-rate",
    "record-send-rate",
    "record-size-avg",
    "record-size-max",
    "records-per-request-avg",
    "requests-in-flight",
}
TOPIC = {"byte-rate", "compression-rate", "record-error-rate", "record-retry-rate", "record-send-rate"}
FETCHING = {
    "bytes-consumed-rate",
    "fetch-latency-avg",
    "fetch-latency-max",
    "fetch-rate",
    "fetch-size-avg",
    "fetch-size-max",
    "fetch-throttle-time-avg",
    "fetch-throttle-time-max",
    "records-consumed-rate",
    "records-lag-max",
    "records-per-request-avg",
}
GROUP = {
    "assigned-partitions",
    "commit-latency-avg",
    "commit-latency-max",
    "commit-rate",
    "heartbeat-rate",
    "heartbeat-response-time-max",
    "join-rate",
    "join-time-avg",
    "join-time-max",
    "last-heartbeat-seconds-ago",
    "sync-rate",
    "sync-time-avg",
    "sync-time-max",
}
"""The names of kafka-python 2.3.3, by group."""
TOTALS = {"connection-close-total", "connection-creation-total"}
REBALANCES = {"rebalance-latency-avg", "rebalance-latency-max", "rebalance-latency-total"}
POLLS = {"last-poll-seconds-ago", "poll-idle-ratio-avg", "time-between-poll-avg", "time-between-poll-max"}
"""Java's names."""
COUNT = 100
SIZE = 1_000


class Diary(DictReporter):
    """Also keeps what it was configured with, where it was called, and whether it was closed."""

    def __init__(self) -> None:
        super().__init__()
        self.configs: Any = None
        self.threads: set[threading.Thread] = set()
        self.closed = False

    def configure(self, configs: Any) -> None:
        self.configs = configs

    def metric_change(self, metric: KafkaMetric) -> None:
        self.threads.add(threading.current_thread())
        super().metric_change(metric)

    def close(self) -> None:
        self.closed = True


def fill(bootstrap_servers: str, topic: str) -> None:
    with KafkaProducer(bootstrap_servers=bootstrap_servers) as producer:
        for _ in range(COUNT):
            producer.send(topic, bytes(SIZE), partition=0)
        producer.flush(PATIENCE_S)


def both_views(client: Any) -> tuple[dict[str, dict[str, Any]], dict[MetricName, KafkaMetric]]:
    """The metrics as values and as objects, of one moment: a connection may be forgotten between two calls."""
    while True:
        shown, raw = client.metrics(), client.metrics(raw=True)
        if shown["kafka-metrics-count"]["count"] == len(raw):
            return shown, raw


def test_a_producers_metrics(broker: Any, make_topic: Any) -> None:
    topic, reporter = make_topic(), Diary()
    with KafkaProducer(
        bootstrap_servers=broker.bootstrap_servers, client_id="me", linger_ms=5, metric_reporters=[reporter]
    ) as producer:
        for _ in range(COUNT):
            producer.send(topic, bytes(SIZE), partition=0)
        producer.flush(PATIENCE_S)
        shown, raw = both_views(producer)
        mine = shown["producer-metrics"]
        assert mine.keys() >= PRODUCER
        assert shown[f"producer-topic-metrics.{topic}"].keys() == TOPIC
        assert any(group.startswith("producer-node-metrics.node-") for group in shown)
        assert all(shown[group].keys() == EXCHANGES for group in shown if ".node-" in group)
        assert shown["kafka-metrics-count"] == {"count": sum(map(len, shown.values()))}
        assert mine["connection-count"] >= 1
        assert SIZE < mine["record-size-avg"] <= mine["record-size-max"] < SIZE + 40
        assert SIZE < mine["batch-size-avg"] <= mine["batch-size-max"]
        assert mine["compression-rate-avg"] == 1
        assert 0 < mine["record-queue-time-avg"] <= mine["record-queue-time-max"] < 1_000 * PATIENCE_S
        assert 0 < mine["request-latency-avg"] <= mine["request-latency-max"] < 1_000 * PATIENCE_S
        assert 0 <= mine["metadata-age"] < 2 * PATIENCE_S
        assert min(mine["outgoing-byte-rate"], mine["byte-rate"]) > 0  # of different times: one may exceed the other
        assert mine["record-send-total"] == COUNT
        tags = {"client-id": "me"}
        assert raw[MetricName("record-send-total", "producer-metrics", tags=tags)].value() == COUNT
    assert reporter.configs["linger_ms"] == 5
    assert reporter.closed
    assert {threading.current_thread()} < reporter.threads
    assert not any("loop" in thread.name for thread in reporter.threads)
    assert {f"{group}.client-id=me" for group in shown} == reporter.snapshot().keys()


def test_a_consumers_metrics(broker: Any, make_topic: Any) -> None:
    topic, reporter = make_topic(), Diary()
    fill(broker.bootstrap_servers, topic)
    with KafkaConsumer(
        topic,
        bootstrap_servers=broker.bootstrap_servers,
        client_id="me",
        group_id=topic,
        auto_offset_reset="earliest",
        heartbeat_interval_ms=100,
        metric_reporters=[reporter],
    ) as consumer:
        assert len(read(consumer, COUNT)) == COUNT
        consumer.commit()
        while not consumer.metrics()["consumer-coordinator-metrics"]["heartbeat-rate"]:
            consumer.poll(50)
        shown, raw = both_views(consumer)
        assert shown["consumer-metrics"].keys() == NETWORK | TOTALS | POLLS
        assert shown["consumer-fetch-manager-metrics"].keys() >= FETCHING
        assert shown["consumer-coordinator-metrics"].keys() >= GROUP | REBALANCES
        assert sum(group.startswith("consumer-node-metrics.node-coordinator-") for group in shown) == 1
        fetching, group = shown["consumer-fetch-manager-metrics"], shown["consumer-coordinator-metrics"]
        assert fetching["bytes-consumed-total"] > COUNT * SIZE
        assert SIZE < fetching["fetch-size-avg"] <= fetching["fetch-size-max"]
        assert 0 < fetching["records-per-request-avg"] <= COUNT
        assert 0 <= fetching["records-lag-max"] < COUNT
        assert group["assigned-partitions"] == 1
        assert all(0 < group[name] < 1_000 * PATIENCE_S for name in GROUP if "-time-" in name or "latency" in name)
        assert 0 <= group["last-heartbeat-seconds-ago"] < PATIENCE_S
        about = {"client-id": "me", "topic": topic, "partition": "0"}
        lag = raw[MetricName("records-lag", "consumer-fetch-manager-metrics", tags=about)]
        assert lag.value() == 0
        consumer.seek(TopicPartition(topic, 0), 40)
        assert lag.value() == COUNT - 40
    assert reporter.closed
    assert reporter.configs["group_id"] == topic
    assert "sasl_plain_password" not in reporter.configs
    assert {threading.current_thread()} < reporter.threads
    assert not any("loop" in thread.name for thread in reporter.threads)


async def test_asyncio_clients_have_them_too(broker: Any, make_topic: Any) -> None:
    topic, reporter = make_topic(), Diary()
    options: dict[str, Any] = {"bootstrap_servers": broker.bootstrap_servers, "metric_reporters": [reporter]}
    async with AsyncKafkaProducer(**options) as producer:
        await producer.send_and_wait(topic, b"x")
        assert producer.metrics()["producer-metrics"]["record-send-total"] == 1
        assert both_views(producer)[0]["producer-metrics"]["record-send-total"] == 1
    assert reporter.closed
    assert reporter.threads == {threading.current_thread()}
    reporter.closed = False
    async with AsyncKafkaConsumer(topic, auto_offset_reset="earliest", **options) as consumer:
        assert (await consumer.getone()).value == b"x"
        assert consumer.metrics()["consumer-fetch-manager-metrics"]["records-consumed-total"] == 1
    assert reporter.closed


def test_an_admin_clients_metrics(broker: Any) -> None:
    reporter = Diary()
    with KafkaAdminClient(
        bootstrap_servers=broker.bootstrap_servers, client_id="me", metric_reporters=[reporter]
    ) as admin:
        admin.list_topics()
        shown, _ = both_views(admin)
        assert shown["admin-metrics"].keys() == NETWORK | TOTALS
        assert shown["admin-metrics"]["request-rate"] > 0
        assert any(group.startswith("admin-node-metrics.node-") for group in shown)
    assert reporter.closed
    assert {f"{group}.client-id=me" for group in shown} == reporter.snapshot().keys()


def test_windows_are_as_long_as_the_options_say(broker: Any, make_topic: Any) -> None:
    topic = make_topic()
    with KafkaProducer(
        bootstrap_servers=broker.bootstrap_servers, metrics_num_samples=1, metrics_sample_window_ms=1
    ) as producer:
        producer.send(topic, b"x").get(PATIENCE_S)
        while producer.metrics()["producer-metrics"]["record-size-max"] != -math.inf:
            pass
        assert producer.metrics()["producer-metrics"]["record-send-total"] == 1


def test_disabled_metrics_show_nothing(broker: Any) -> None:
    reporter = Diary()
    with KafkaProducer(
        bootstrap_servers=broker.bootstrap_servers, metrics_enabled=False, metric_reporters=[reporter]
    ) as producer:
        assert (producer.metrics(), producer.metrics(raw=True)) == ({}, {})
    assert not reporter.threads
