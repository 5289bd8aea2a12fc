"""Quotas of clients on Apache Kafka (KIP-124, KIP-219): the broker asks for pauses, and the clients keep them."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from integration.consumer_support import PATIENCE_S, read
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.errors import NoError
from kafka.net import pending_requests

if TYPE_CHECKING:
    from harness.releases import Kafka

pytestmark = [pytest.mark.apache, pytest.mark.needs(broker=(2, 6), why="AlterClientQuotas")]
RATE, SIZE, COUNT = 10_000, 10_000, 11
"""Bytes a second, over ten seconds; what exceeds it by one record costs a pause of about a second."""


class Pause(NamedTuple):
    """What a broker has asked for, in the loop's seconds."""

    queue: Any
    since: float
    until: float


class Watched:
    """What connections did: pauses that were asked for, and when requests left."""

    def __init__(self) -> None:
        self.pauses: list[Pause] = []
        self.sent: list[tuple[Any, float]] = []

    def sent_in_pauses(self) -> int:
        """How many requests left on a connection while it was to be quiet; a timer may be a hundredth early."""
        return sum(
            queue is pause.queue and pause.since < at < pause.until - 0.01
            for pause in self.pauses
            for queue, at in self.sent
        )


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Watched:
    seen = Watched()
    made, throttle = pending_requests.SendQueue.__init__, pending_requests.SendQueue.throttle

    def init(queue: Any, loop: Any, transmit: Any, *others: Any) -> None:
        def sending(outgoing: Any) -> None:
            seen.sent.append((queue, loop.time()))
            transmit(outgoing)

        made(queue, loop, sending, *others)

    def throttled(queue: Any, seconds: float) -> None:
        now = queue._loop.time()
        seen.pauses.append(Pause(queue, now, now + seconds))
        throttle(queue, seconds)

    monkeypatch.setattr(pending_requests.SendQueue, "__init__", init)
    monkeypatch.setattr(pending_requests.SendQueue, "throttle", throttled)
    return seen


@pytest.fixture
def limited(apache_kafka: Kafka) -> Iterator[str]:
    """A client id with quotas."""
    name = f"limited-{uuid.uuid4()}"
    entity, rates = {"client-id": name}, {"producer_byte_rate": RATE, "consumer_byte_rate": RATE}
    with KafkaAdminClient(bootstrap_servers=apache_kafka.bootstrap_servers) as admin:
        assert admin.alter_client_quotas([(entity, rates)]) == [(entity, NoError)]
        deadline = time.monotonic() + PATIENCE_S
        while not admin.describe_client_quotas(entity):
            assert time.monotonic() < deadline
        yield name
        admin.alter_client_quotas([(entity, dict.fromkeys(rates))])


def test_clients_keep_the_pauses_that_a_broker_asks_for(apache_kafka: Kafka, limited: str, watched: Watched) -> None:
    topic, servers = f"topic-{uuid.uuid4()}", apache_kafka.bootstrap_servers
    with KafkaAdminClient(bootstrap_servers=servers) as admin:
        admin.create_topics({topic: {"num_partitions": 1}}, wait_for_metadata=True)

    with KafkaProducer(bootstrap_servers=servers, client_id=limited) as producer:
        group = "producer-metrics"
        assert producer.metrics()[group]["produce-throttle-time-max"] <= 0
        for number in range(COUNT):
            producer.send(topic, b"%d" % number * SIZE, partition=0)
            producer.flush(PATIENCE_S)  # a request for each record
        metrics = producer.metrics()[group]
        assert metrics["produce-throttle-time-max"] >= metrics["produce-throttle-time-avg"] > 0
        producer.send(topic, b"after the pause", partition=0).get(PATIENCE_S)
    assert watched.pauses
    assert max(pause.until - pause.since for pause in watched.pauses) <= PATIENCE_S
    assert watched.sent_in_pauses() == 0

    produced = len(watched.pauses)
    options = {"auto_offset_reset": "earliest", "max_partition_fetch_bytes": SIZE, "fetch_max_bytes": SIZE}
    with KafkaConsumer(bootstrap_servers=servers, client_id=limited, **options) as consumer:
        consumer.assign([TopicPartition(topic, 0)])
        records = read(consumer, COUNT + 1, PATIENCE_S)
        assert [record.value[:1] for record in records[:10]] == [b"%d" % number for number in range(10)]
        assert len(records) == COUNT + 1
        metrics = consumer.metrics()["consumer-fetch-manager-metrics"]
        assert metrics["fetch-throttle-time-max"] >= metrics["fetch-throttle-time-avg"] > 0
    assert len(watched.pauses) > produced
    assert watched.sent_in_pauses() == 0
