"""The metrics of clients in OpenTelemetry's SDK."""

from __future__ import annotations

from typing import Any

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from kafka import KafkaConsumer, KafkaProducer
from kafka.broker import EmbeddedBroker
from kafka.metrics.opentelemetry import MeterReporter


def shown(reader: InMemoryMetricReader) -> dict[tuple[str, frozenset[tuple[str, Any]]], float]:
    """The values that the SDK collects, by name and attributes."""
    data = reader.get_metrics_data()
    return {
        (metric.name, frozenset((point.attributes or {}).items())): point.value  # type: ignore[union-attr]
        for resource in (data.resource_metrics if data is not None else ())
        for scope in resource.scope_metrics
        for metric in scope.metrics
        for point in metric.data.data_points
    }


def test_a_meter_exports_metrics_registered_later() -> None:
    reader = InMemoryMetricReader()
    provider = MeterProvider(metric_readers=[reader])
    meter = provider.get_meter("kafka")
    with EmbeddedBroker() as broker:
        servers = broker.bootstrap_servers
        producer = KafkaProducer(bootstrap_servers=servers, client_id="w", metric_reporters=[MeterReporter(meter)])
        other = KafkaProducer(bootstrap_servers=servers, client_id="o", metric_reporters=[MeterReporter(meter)])
        consumer = KafkaConsumer(
            "t",
            bootstrap_servers=servers,
            client_id="r",
            auto_offset_reset="earliest",
            metric_reporters=[MeterReporter(meter)],
        )
        producer.send("t", b"1").get(30)
        producer.flush()
        while not consumer.poll(timeout_ms=500):
            pass
        lag = "kafka.consumer-fetch-manager-metrics.records-lag"
        on_partition = frozenset({("client-id", "r"), ("topic", "t"), ("partition", "0")})
        while (lag, on_partition) not in (values := shown(reader)):
            consumer.poll(timeout_ms=50)  # reporters are told in a thread of their own
        assert values[lag, on_partition] == 0
        of_writer = frozenset({("client-id", "w")})
        assert values["kafka.producer-metrics.record-send-total", of_writer] == 1
        by_topic = values["kafka.producer-topic-metrics.record-send-rate", of_writer | {("topic", "t")}]
        assert by_topic > 0
        assert values["kafka.producer-metrics.record-send-total", frozenset({("client-id", "o")})] == 0
        consumer.close()
        producer.close()
        assert {dict(about)["client-id"] for _, about in shown(reader)} == {"o"}
        other.close()
        assert shown(reader) == {}
    provider.shutdown()
