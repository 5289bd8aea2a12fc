"""Which calls create a topic that does not exist, on a broker that creates what is asked for."""

from __future__ import annotations

import uuid

import pytest

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.broker import EmbeddedBroker
from kafka.errors import KafkaError


def test_a_look_up_creates_no_topic_and_sending_does(kafka_broker: EmbeddedBroker) -> None:
    servers = kafka_broker.bootstrap_servers
    name = f"missing-{uuid.uuid4()}"
    tp = TopicPartition(name, 0)
    with KafkaConsumer(bootstrap_servers=servers, request_timeout_ms=6_000, default_api_timeout_ms=3_000) as consumer:
        assert consumer.partitions_for_topic(name) == set()
        with pytest.raises(KafkaError):
            consumer.beginning_offsets([tp])
        assert name not in consumer.topics()
    with KafkaAdminClient(bootstrap_servers=servers, request_timeout_ms=3_000) as admin:
        with pytest.raises(KafkaError):
            admin.delete_records({tp: 0})
        assert name not in admin.list_topics()
        with KafkaProducer(bootstrap_servers=servers) as producer:
            producer.send(name, b"first").get(60)
        assert name in admin.list_topics()
