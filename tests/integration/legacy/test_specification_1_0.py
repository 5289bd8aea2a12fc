"""What the documentation of kafka-python 1.0 says of its consumer and producer, on both brokers."""

from __future__ import annotations

import threading
import uuid
from typing import TYPE_CHECKING, Any

import pytest

from kafka import (
    ConsumerRebalanceListener,
    HashedPartitioner,
    KafkaConsumer,
    KafkaProducer,
    OffsetAndMetadata,
    RoundRobinPartitioner,
    SimpleClient,
    SimpleConsumer,
    TopicPartition,
)
from kafka.common import IllegalStateError, KafkaTimeoutError, OffsetMetadataTooLargeError
from kafka.context import OffsetCommitContext
from kafka.partitioner import LegacyPartitioner

if TYPE_CHECKING:
    from conftest import Broker, MakeTopic

pytestmark = pytest.mark.filterwarnings("ignore:.*deprecated.*:DeprecationWarning")


def test_the_state_of_a_consumer(broker: Broker, make_topic: MakeTopic) -> None:
    topic = make_topic(2)
    first, second = TopicPartition(topic, 0), TopicPartition(topic, 1)
    send: Any
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        send = producer.send
        assert send(topic, b"value", b"key", 0).get(60).partition == 0  # the fourth argument of 1.0
    with KafkaConsumer(
        bootstrap_servers=broker.bootstrap_servers, group_id=f"group-{uuid.uuid4()}", api_version="auto"
    ) as consumer:
        for wrong in (lambda: consumer.subscribe(), consumer.seek_to_beginning, consumer.seek_to_end):
            with pytest.raises(AssertionError):
                wrong()
        listener: Any = object()
        with pytest.raises(TypeError, match="ConsumerRebalanceListener"):
            consumer.subscribe([topic], listener=listener)
        consumer.assign([first])
        assert consumer.assignment() == {first}
        with pytest.raises(IllegalStateError):
            consumer.subscribe([topic])
        for offset in (-1, "0"):
            with pytest.raises(AssertionError):
                consumer.seek(first, offset)  # type: ignore[arg-type]
        for each in (
            lambda: consumer.seek(second, 0),
            lambda: consumer.seek_to_beginning(second),
            lambda: consumer.seek_to_end(second),
            lambda: consumer.poll(-1),
        ):
            with pytest.raises(AssertionError):
                each()
        assert consumer.committed(first) is None
        assert consumer.highwater(first) is None
        consumer.seek_to_beginning()
        consumer.pause(first)
        assert not consumer.poll(timeout_ms=100)
        assert consumer.paused() == {first}
        consumer.resume(first)
        found: Any = {}
        while not found:
            found = consumer.poll(timeout_ms=1000)
        assert [(record.key, record.value) for record in found[first]] == [(b"key", b"value")]
        assert (consumer.position(first), consumer.highwater(first)) == (1, 1)
        assert consumer.partitions_for_topic(topic) == {0, 1}
        assert topic in consumer.topics()
        told: list[Any] = []
        offsets = {first: OffsetAndMetadata(1, "")}
        future = consumer.commit_async(offsets, callback=lambda *outcome: told.append(outcome))
        while not told:
            consumer.poll(timeout_ms=100)
        assert told == [(offsets, None)]
        assert future.is_done
        assert consumer.committed(first) == 1
        consumer.unsubscribe()
        assert consumer.assignment() == set()


def test_what_a_subscription_excludes_and_whom_it_tells(broker: Broker, make_topic: MakeTopic) -> None:
    topic = make_topic(2)
    told: list[tuple[str, Any]] = []

    class Listener(ConsumerRebalanceListener):
        def on_partitions_revoked(self, revoked: Any) -> None:
            told.append(("revoked", revoked))

        def on_partitions_assigned(self, assigned: Any) -> None:
            told.append(("assigned", assigned))

    mine = {TopicPartition(topic, 0), TopicPartition(topic, 1)}
    with KafkaConsumer(bootstrap_servers=broker.bootstrap_servers, group_id=f"group-{uuid.uuid4()}") as consumer:
        with pytest.raises(IllegalStateError, match="either topics or a pattern"):
            consumer.subscribe([topic], pattern=topic)
        consumer.subscribe([topic], listener=Listener())
        assert consumer.assignment() == set()
        with pytest.raises(IllegalStateError, match="unsubscribe"):
            consumer.assign([TopicPartition(topic, 0)])
        while not consumer.assignment():
            consumer.poll(timeout_ms=100)
        assert (consumer.subscription(), consumer.assignment()) == ({topic}, mine)
        assert told == [("revoked", set()), ("assigned", mine)]
        with pytest.raises(OffsetMetadataTooLargeError):
            consumer.commit({TopicPartition(topic, 0): OffsetAndMetadata(0, "x" * 4097)})
        consumer.commit({TopicPartition(topic, 0): OffsetAndMetadata(0, "x" * 4096)})
        consumer.subscribe(pattern=f"^{topic}$")  # without the listener of before
        consumer.unsubscribe()
        assert (consumer.subscription(), consumer.assignment()) == (None, set())
    assert told[2:] in ([], [("revoked", mine)])
    with KafkaConsumer(bootstrap_servers=broker.bootstrap_servers) as alone:
        alone.assign([TopicPartition(topic, 0)])
        with pytest.raises(AssertionError, match="group_id"):
            alone.commit()


def test_a_partitioner_and_serializers_are_called_with_what_is_documented(
    broker: Broker, make_topic: MakeTopic
) -> None:
    topic = make_topic(3)
    calls = []

    def choose(key: bytes, every: list[int], available: list[int]) -> int:
        calls.append((key, sorted(every), sorted(available)))
        return 2

    with KafkaProducer(
        bootstrap_servers=[broker.bootstrap_servers],
        acks=1,
        key_serializer=str.encode,
        value_serializer=lambda value: None if value is None else b"%d" % value,
        partitioner=choose,
        retries=3,
        batch_size=0,
        linger_ms=5,
        compression_type="gzip",
    ) as producer:
        future = producer.send(topic, value=5, key="k")
        producer.flush(timeout=30)
        assert future.is_done
        metadata = future.get()
        assert (metadata.topic, metadata.partition, metadata.offset) == (topic, 2, 0)
        assert calls == [(b"k", [0, 1, 2], [0, 1, 2])]
        producer.send(topic, key="k").get(60)  # deletes
    with pytest.raises(ValueError, match="needs a key or value"):
        KafkaProducer(bootstrap_servers=broker.bootstrap_servers).send(topic)


def test_without_acknowledgements_there_is_no_offset(broker: Broker, make_topic: MakeTopic) -> None:
    topic = make_topic()
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers, acks=0) as producer:
        assert producer.send(topic, b"x").get(60).offset == -1


def test_a_topic_that_nobody_creates_is_a_timeout(broker: Broker) -> None:
    with (
        KafkaProducer(
            bootstrap_servers=broker.bootstrap_servers, max_block_ms=300, allow_auto_create_topics=False
        ) as producer,
        pytest.raises(KafkaTimeoutError),
    ):
        producer.send(f"missing-{uuid.uuid4()}", b"x")


def test_partitioners_of_1_0() -> None:
    assert HashedPartitioner is LegacyPartitioner
    partitioner = RoundRobinPartitioner([0, 1])
    assert [partitioner.partition(None) for _ in range(4)] == [0, 1, 0, 1]
    assert partitioner.partition(None, [7, 8]) == 7
    assert partitioner.partition(None, partitions=[7, 8]) == 8


def test_the_example_of_an_offset_commit_context(broker: Broker, make_topic: MakeTopic) -> None:
    """A message that cannot be processed comes again, with all that come after it."""
    topic, group = make_topic(), f"group-{uuid.uuid4()}"
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for number in range(4):
            producer.send(topic, b"%d" % number).get(60)
    client = SimpleClient(broker.bootstrap_servers)
    consumer = SimpleConsumer(client, group, topic, auto_commit=False)
    consumer.provide_partition_info()
    consumer.fetch_last_known_offsets()
    processed: list[bytes] = []
    refused = [b"2"]
    delay = threading.Event()

    def can_process(message: Any) -> bool:
        if message.message.value in refused:
            refused.clear()
            return False
        return True

    while len(processed) < 4:
        with OffsetCommitContext(consumer) as context:  # type: ignore[arg-type]
            for partition, message in consumer.get_messages(4, block=False):
                if not can_process(message):
                    break
                processed.append(message.message.value)
                context.mark(partition, message.offset)
            if not context:
                delay.wait(0.01)
    assert processed == [b"0", b"1", b"2", b"3"]
    assert SimpleConsumer(client, group, topic, auto_commit=False).offsets == {0: 4}
    consumer.stop()
    client.close()
