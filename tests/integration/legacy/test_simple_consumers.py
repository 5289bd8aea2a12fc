"""The consumers of kafka-python 0.9 and 1.x on today's brokers, as their own programs use them."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from kafka import KafkaConsumer, KafkaProducer, MultiProcessConsumer, SimpleClient, SimpleConsumer
from kafka.common import ConsumerFetchSizeTooSmall, ConsumerTimeout
from kafka.context import OffsetCommitContext
from kafka.structs import OffsetAndMetadata, TopicPartition

if TYPE_CHECKING:
    from conftest import MakeTopic

pytestmark = pytest.mark.filterwarnings("ignore:.*deprecated.*:DeprecationWarning")


@pytest.fixture
def client(broker: Any) -> Iterator[SimpleClient]:
    client = SimpleClient(broker.bootstrap_servers, timeout=30)
    yield client
    client.close()


@pytest.fixture
def group() -> str:
    return f"group-{uuid.uuid4()}"


def send(broker: Any, topic: str, partition: int, *values: bytes) -> None:
    """Write with today's producer, a batch each."""
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for value in values:
            producer.send(topic, value, partition=partition).get(60)


def numbers(count: int) -> list[bytes]:
    return [b"%d" % number for number in range(count)]


def test_simple_consumer_reads_commits_and_goes_on(
    broker: Any, make_topic: MakeTopic, client: SimpleClient, group: str
) -> None:
    topic = make_topic(2)
    for partition in (0, 1):
        send(broker, topic, partition, *numbers(10))
    consumer = SimpleConsumer(client, group, topic, auto_commit_every_n=4, iter_timeout=5)
    consumer.provide_partition_info()
    assert consumer.pending() == 20
    first = consumer.get_messages(6, timeout=30)
    consumer.stop()
    assert len(first) == 6

    rest = list(SimpleConsumer(client, group, topic, auto_commit=False, iter_timeout=5))
    assert sorted([each.message.value for _, each in first] + [each.message.value for each in rest]) == sorted(
        numbers(10) * 2
    )


def test_simple_consumer_shares_offsets_with_todays_consumers(
    broker: Any, make_topic: MakeTopic, client: SimpleClient, group: str
) -> None:
    topic = make_topic()
    here = TopicPartition(topic, 0)
    send(broker, topic, 0, *numbers(5))
    consumer = SimpleConsumer(client, group, topic, auto_commit=False)
    consumer.get_messages(3, timeout=30)
    assert consumer.commit() is True
    with KafkaConsumer(bootstrap_servers=broker.bootstrap_servers, group_id=group) as today:
        assert today.committed(here) == 3
        today.assign([here])
        today.commit({here: OffsetAndMetadata(1, "")})
    consumer.fetch_last_known_offsets()
    assert consumer.offsets == {0: 1}
    for whence, offset, expected in [(0, 2, b"2"), (2, -1, b"4"), (1, -3, b"2")]:
        consumer.seek(offset, whence)
        assert consumer.get_message(timeout=30).message.value == expected
        consumer.seek(-1, 1) if whence == 1 else None
    consumer.stop()


def test_simple_consumer_and_large_messages(broker: Any, make_topic: MakeTopic, client: SimpleClient) -> None:
    topic = make_topic(2)
    send(broker, topic, 0, b"x" * 30_000, b"x" * 3_000, b"x" * 33_000)
    send(broker, topic, 1, *[b"y" * 20_000] * 3)
    consumer = SimpleConsumer(client, None, topic, max_buffer_size=None)
    assert sorted(len(each.message.value) for each in consumer.get_messages(6, timeout=30)) == [
        3_000, *[20_000] * 3, 30_000, 33_000,
    ]  # fmt: skip
    consumer.stop()
    consumer = SimpleConsumer(client, None, topic, partitions=[0])
    assert [len(each.message.value) for each in consumer.get_messages(2, timeout=30)] == [30_000, 3_000]
    with pytest.raises(ConsumerFetchSizeTooSmall):
        consumer.get_message(timeout=30)
    consumer.stop()


def test_offset_commit_context_around_a_simple_consumer(
    broker: Any, make_topic: MakeTopic, client: SimpleClient, group: str
) -> None:
    topic = make_topic()
    send(broker, topic, 0, *numbers(4))
    consumer = SimpleConsumer(client, group, topic, auto_commit=False)
    consumer.provide_partition_info()
    consumer.fetch_last_known_offsets()
    with OffsetCommitContext(consumer) as context:  # type: ignore[arg-type]
        for partition, message in consumer.get_messages(3, timeout=30)[:2]:
            context.mark(partition, message.offset)
    assert consumer.get_message(timeout=30)[1].message.value == b"2"
    consumer.stop()
    assert SimpleConsumer(client, group, topic, auto_commit=False).offsets == {0: 2}


def test_multiprocess_consumer_reads_commits_and_goes_on(
    broker: Any, make_topic: MakeTopic, client: SimpleClient, group: str
) -> None:
    topic = make_topic(3)
    for partition in range(3):
        send(broker, topic, partition, *numbers(10))
    consumer = MultiProcessConsumer(client, group, topic, partitions_per_proc=2, auto_commit_every_t=3_600_000)
    assert len(consumer.procs) == 2
    assert consumer.pending() == 30
    first = consumer.get_messages(11, timeout=30)
    consumer.stop()
    assert not any(process.is_alive() for process in consumer.procs)

    other = MultiProcessConsumer(client, group, topic, num_procs=3)
    assert other.pending() == 19
    rest = other.get_messages(19, timeout=30)
    other.stop()
    assert sorted(each.message.value for each in first + rest) == sorted(numbers(10) * 3)


def test_kafka_consumer_of_0_9_marks_commits_and_goes_on(broker: Any, make_topic: MakeTopic, group: str) -> None:
    topic = make_topic(2)
    for partition in (0, 1):
        send(broker, topic, partition, *numbers(5))
    options: Any = {
        "metadata_broker_list": [broker.bootstrap_servers],
        "group_id": group,
        "auto_offset_reset": "smallest",
        "auto_commit_enable": True,
        "auto_commit_interval_messages": 2,
        "consumer_timeout_ms": 1_000,
        "deserializer_class": int,
    }
    consumer: Any = KafkaConsumer(topic, **options)
    seen = []
    for _ in range(3):
        message = consumer.next()
        seen.append((message.partition, message.value))
        consumer.task_done(message)
    assert sum(offset or 0 for offset in consumer.offsets("commit").values()) == 2
    assert consumer.commit() is True
    consumer.close()

    with KafkaConsumer(bootstrap_servers=broker.bootstrap_servers, group_id=group) as today:
        stored = [today.committed(TopicPartition(topic, partition)) or 0 for partition in (0, 1)]
    assert sum(stored) == 3

    other: Any = KafkaConsumer(topic, **options)

    def read() -> None:
        for message in other:
            seen.append((message.partition, message.value))

    with pytest.raises(ConsumerTimeout):
        read()
    assert sorted(seen) == [(partition, value) for partition in (0, 1) for value in range(5)]
    other.set_topic_partitions({(topic, 0): 3})
    assert [message.value for message in other.fetch_messages()] == [3, 4]
    other.close()
