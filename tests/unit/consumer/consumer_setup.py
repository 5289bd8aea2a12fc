"""What scenarios begin with that go alike on `KafkaConsumer` and `AsyncKafkaConsumer`."""

from __future__ import annotations

import uuid

from harness.topics import create_topic
from kafka import KafkaProducer, TopicPartition
from kafka.broker import EmbeddedBroker
from unit.consumer.faces import Face


class ConsumerSetup:
    """A topic of two partitions with ten records each, and consumers of a group of its own."""

    def __init__(self, kind: str, broker: EmbeddedBroker, producer: KafkaProducer) -> None:
        self.topic = f"t-{uuid.uuid4()}"
        self.servers = broker.bootstrap_servers
        create_topic(broker.bootstrap_servers, self.topic, 2, {"retention.ms": "-1"})
        self.first, self.second = TopicPartition(self.topic, 0), TopicPartition(self.topic, 1)
        for number in range(20):
            producer.send(self.topic, b"%d" % number, partition=number % 2)
        producer.flush()
        self.face = Face(
            kind,
            bootstrap_servers=broker.bootstrap_servers,
            group_id=f"g-{self.topic}",
            auto_offset_reset="earliest",
            heartbeat_interval_ms=200,
            retry_backoff_ms=1,
        )


async def committed(setup: ConsumerSetup, *partitions: TopicPartition) -> list[int | None]:
    """What a consumer that comes later finds committed."""
    other = await setup.face.another().open()
    found = [await other.committed(tp) for tp in partitions]
    await other.close()
    return found
