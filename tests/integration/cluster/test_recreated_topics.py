"""Producers of every kind go on with a topic that is deleted and made again under them, on real brokers."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest

import kafka.aio
from kafka import KafkaConsumer, KafkaProducer
from kafka.admin import KafkaAdminClient, NewTopic
from kafka.errors import IllegalArgumentError, KafkaError, TopicAlreadyExistsError, UnknownTopicOrPartitionError
from kafka.partitioner.murmur2 import murmur2
from kafka.producer import AsyncKafkaProducer
from kafka.structs import TopicPartition

PATIENCE_S = 60.0
KEYS = [b"key-%d" % number for number in range(30)]
STEPS = (1, 1, 4, 2)
"""Fewer partitions than the three of the beginning, as many, more, and fewer again."""
Options = dict[str, Any]


@pytest.fixture
def make_again(broker: Any) -> Iterator[Callable[[str, int], None]]:
    """A function that deletes a topic and makes it again with another number of partitions."""
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:

        def topic_id(topic: str) -> Any:
            with contextlib.suppress(UnknownTopicOrPartitionError):
                (described,) = admin.describe_topics([topic])
                return described.get("topic_id")
            return None

        def make_again(topic: str, partitions: int) -> None:
            deadline = time.monotonic() + PATIENCE_S
            before = topic_id(topic)
            admin.delete_topics([topic])
            is_made = False
            while True:
                with contextlib.suppress(TopicAlreadyExistsError, UnknownTopicOrPartitionError):
                    if not is_made:
                        admin.create_topics([NewTopic(topic, partitions, 1)])
                        is_made = True
                # The controller answers before the broker has deleted the old topic, which takes records until then.
                if is_made and (before is None or topic_id(topic) not in (before, None)):
                    return
                assert time.monotonic() < deadline
                time.sleep(0.05)

        yield make_again


def check(broker: Any, topic: str, partitions: int, isolation_level: str = "read_uncommitted") -> None:
    """Each key's record is there once, in the partition of its key."""
    places = [TopicPartition(topic, partition) for partition in range(partitions)]
    with KafkaConsumer(
        bootstrap_servers=broker.bootstrap_servers,
        auto_offset_reset="earliest",
        consumer_timeout_ms=PATIENCE_S * 1000,
        isolation_level=isolation_level,
    ) as consumer:
        consumer.assign(places)
        found: dict[bytes, int] = {}
        for record in consumer:
            assert record.key not in found
            found[record.key] = record.partition
            if len(found) == len(KEYS):
                break
        assert found == {key: (murmur2(key) & 0x7FFFFFFF) % partitions for key in KEYS}


def test_the_synchronous_producer_goes_on(broker: Any, make_topic: Any, make_again: Any) -> None:
    topic = make_topic(3)
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        producer.send(topic, b"v", KEYS[0]).get(PATIENCE_S)
        for partitions in STEPS:
            make_again(topic, partitions)
            futures = [producer.send(topic, b"v", key) for key in KEYS]
            assert {future.get(PATIENCE_S).topic for future in futures} == {topic}
            check(broker, topic, partitions)
            assert producer.partitions_for(topic) == set(range(partitions))


def test_rows_go_on_and_a_named_partition_that_is_gone_is_refused(
    broker: Any, make_topic: Any, make_again: Any
) -> None:
    topic = make_topic(3)
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for partitions in (3, *STEPS):
            if partitions != 3:
                make_again(topic, partitions)
            future = producer.send_arrow(topic, pa.table({"key": KEYS, "value": KEYS}))
            assert future.get(PATIENCE_S).rows == len(KEYS)
            check(broker, topic, partitions)
            keyless = producer.send_arrow(topic, pa.table({"value": KEYS}))
            assert {place.partition for place in keyless.get(PATIENCE_S).offsets} == set(range(partitions))
        with pytest.raises(IllegalArgumentError, match=f"topic '{topic}' has partitions 0 to 1, but partition is 3"):
            producer.send(topic, b"v", partition=3)
        waiting = producer.send(topic, b"v", partition=1)
        waiting.get(PATIENCE_S)
        make_again(topic, 1)
        with pytest.raises(IllegalArgumentError, match=r"partitions 0 to 0.* but partition is 1"):
            producer.send(topic, b"v", partition=1).get(PATIENCE_S)


def in_a_transaction(producer: KafkaProducer, topic: str) -> bool:
    """Send a record for each key; False if the transaction had to be aborted."""
    producer.begin_transaction()
    try:
        for key in KEYS:
            producer.send(topic, b"v", key)
        producer.commit_transaction()
    except KafkaError:
        producer.abort_transaction()
        return False
    return True


def test_transactions_go_on(broker: Any, make_topic: Any, make_again: Any) -> None:
    topic = make_topic(3)
    options: Options = {"bootstrap_servers": broker.bootstrap_servers, "transactional_id": topic}
    with KafkaProducer(**options) as producer:
        producer.init_transactions()
        for partitions in (3, *STEPS):
            if partitions != 3:
                make_again(topic, partitions)
            if not in_a_transaction(producer, topic):  # it had begun to write before it knew of the new topic
                assert in_a_transaction(producer, topic)
            check(broker, topic, partitions, "read_committed")


@pytest.mark.parametrize("kind", ["AsyncKafkaProducer", "kafka.aio"])
async def test_the_asyncio_producers_go_on(kind: str, broker: Any, make_topic: Any, make_again: Any) -> None:
    topic = await asyncio.to_thread(make_topic, 3)
    options: Options = {"bootstrap_servers": broker.bootstrap_servers}
    producer: Any = (
        AsyncKafkaProducer(**options) if kind == "AsyncKafkaProducer" else kafka.aio.AIOKafkaProducer(**options)
    )
    async with producer:
        for partitions in (3, *STEPS):
            if partitions != 3:
                await asyncio.to_thread(make_again, topic, partitions)
            futures: list[Awaitable[Any]] = [await producer.send(topic, value=b"v", key=key) for key in KEYS]
            async with asyncio.timeout(PATIENCE_S):
                await asyncio.gather(*futures)
            await asyncio.to_thread(check, broker, topic, partitions)
