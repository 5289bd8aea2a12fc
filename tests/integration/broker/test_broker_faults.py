"""The clients on a broker that was asked to do wrong."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import KafkaAdminClient, NewTopic
from kafka.broker import EmbeddedBroker
from kafka.errors import MessageSizeTooLargeError, NotLeaderForPartitionError

WAIT_S = 30.0
QUICK = {"retry_backoff_ms": 5, "reconnect_backoff_ms": 5, "reconnect_backoff_max_ms": 20}


@pytest.fixture
def faulty(embedded_broker: EmbeddedBroker) -> Iterator[EmbeddedBroker]:
    yield embedded_broker
    embedded_broker.faults.clear()


@pytest.fixture
def topic(faulty: EmbeddedBroker) -> str:
    name = f"faulty-{uuid.uuid4()}"
    admin = KafkaAdminClient(bootstrap_servers=faulty.bootstrap_servers)
    try:
        admin.create_topics([NewTopic(name, 1, 1)])
    finally:
        admin.close()
    return name


@pytest.fixture
def producer(faulty: EmbeddedBroker) -> Iterator[KafkaProducer]:
    made = KafkaProducer(bootstrap_servers=faulty.bootstrap_servers, client_id="writer", **QUICK)
    yield made
    made.close(timeout=WAIT_S)


def read(faulty: EmbeddedBroker, topic: str, count: int) -> list[bytes]:
    consumer = KafkaConsumer(
        bootstrap_servers=faulty.bootstrap_servers, consumer_timeout_ms=int(WAIT_S * 1000), **QUICK
    )
    partition = TopicPartition(topic, 0)
    consumer.assign([partition])
    consumer.seek(partition, 0)
    found = []
    try:
        for record in consumer:
            found.append(record.value)
            if len(found) == count:
                break
        assert consumer.position(partition) == consumer.end_offsets([partition])[partition]
    finally:
        consumer.close()
    return found


def test_a_record_refused_for_a_while_is_sent_again(
    faulty: EmbeddedBroker, topic: str, producer: KafkaProducer
) -> None:
    rule = faulty.faults.fail(NotLeaderForPartitionError, api="Produce", topic=topic, client_id="writer", times=3)
    assert producer.send(topic, b"a").get(WAIT_S).offset == 0
    assert rule.hits == 3


def test_a_record_refused_for_good_fails(faulty: EmbeddedBroker, topic: str, producer: KafkaProducer) -> None:
    faulty.faults.fail(MessageSizeTooLargeError, api="Produce", topic=topic, times=1)
    with pytest.raises(MessageSizeTooLargeError):
        producer.send(topic, b"a").get(WAIT_S)
    assert producer.send(topic, b"b").get(WAIT_S).offset == 0


def test_a_lost_answer_doubles_nothing(faulty: EmbeddedBroker, topic: str, producer: KafkaProducer) -> None:
    lost = faulty.faults.hang_up(api="Produce", topic=topic, handled=True, times=2)
    assert producer.send(topic, b"a").get(WAIT_S).offset == 0
    assert lost.hits == 2
    assert producer.send(topic, b"b").get(WAIT_S).offset == 1
    assert read(faulty, topic, 2) == [b"a", b"b"]


def test_fetches_that_are_refused_or_cut_lose_nothing(
    faulty: EmbeddedBroker, topic: str, producer: KafkaProducer
) -> None:
    values = [b"%d" % number for number in range(100)]
    for value in values:
        producer.send(topic, value)
    producer.flush(WAIT_S)
    rules = [
        faulty.faults.fail(NotLeaderForPartitionError, api="Fetch", topic=topic, times=2),
        faulty.faults.cut_answers(60, api="Fetch", topic=topic, times=2),
        faulty.faults.refuse_connections(after=1, times=1),
    ]
    assert read(faulty, topic, 100) == values
    assert [rule.hits for rule in rules] == [2, 2, 1]


def test_a_broker_that_is_restarted_keeps_what_it_has(
    faulty: EmbeddedBroker, topic: str, producer: KafkaProducer
) -> None:
    assert producer.send(topic, b"a").get(WAIT_S).offset == 0
    faulty.restart()
    assert producer.send(topic, b"b").get(WAIT_S).offset == 1
    assert read(faulty, topic, 2) == [b"a", b"b"]
