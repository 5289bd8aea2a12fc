"""The metrics of clients in a registry of prometheus_client."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, generate_latest

from kafka import KafkaConsumer, KafkaProducer
from kafka.broker import EmbeddedBroker
from kafka.metrics.prometheus import KafkaCollector


def test_a_registry_shows_producers_and_consumers_by_topic_partition_and_node() -> None:
    with (
        EmbeddedBroker() as broker,
        KafkaProducer(bootstrap_servers=broker.bootstrap_servers, client_id="w") as producer,
        KafkaConsumer(
            "a.b", bootstrap_servers=broker.bootstrap_servers, client_id="r", auto_offset_reset="earliest"
        ) as consumer,
    ):
        registry, collector = CollectorRegistry(), KafkaCollector(producer)
        registry.register(collector)
        collector.add(consumer)
        producer.send("a.b", b"1").get(30)
        while not consumer.poll(timeout_ms=500):
            pass

        def shown(name: str, client_id: str, **about: str) -> float | None:
            labels = {"client_id": client_id, "topic": "", "partition": "", "node": ""} | about
            return registry.get_sample_value(name, labels)

        assert shown("kafka_producer_metrics_record_send_total", "w") == 1
        assert (shown("kafka_producer_topic_metrics_record_send_rate", "w", topic="a.b") or 0) > 0
        lag = "kafka_consumer_fetch_manager_metrics_records_lag"
        assert shown(lag, "r", topic="a_b", partition="0") == 0
        text = generate_latest(registry).decode()
        assert 'node="1"' in text
        assert "Inf" not in text

        collector.remove(producer)
        assert shown("kafka_producer_metrics_record_send_total", "w") is None
        assert shown(lag, "r", topic="a_b", partition="0") == 0
