"""Calls of `AIOKafkaConsumer` on the embedded broker: committed offsets, lag, and limits on records."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Iterator

import pytest

from kafka import KafkaAdminClient, KafkaProducer, TopicPartition
from kafka.aio import AIOKafkaConsumer
from kafka.broker import EmbeddedBroker


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(tmp_path_factory.mktemp("broker"), group_initial_rebalance_delay_ms=0) as broker:
        yield broker


@pytest.fixture
async def consumer(broker: EmbeddedBroker) -> AsyncIterator[AIOKafkaConsumer]:
    """A consumer of both partitions of a topic, with five records in each."""
    topic = f"t-{uuid.uuid4()}"
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
        admin.create_topics({topic: {"num_partitions": 2}}, wait_for_metadata=True)
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for number in range(10):
            producer.send(topic, b"%d" % number, partition=number % 2)
    consumer = AIOKafkaConsumer(
        bootstrap_servers=broker.bootstrap_servers,
        group_id=topic,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
    )
    await consumer.start()
    consumer.assign([TopicPartition(topic, 0), TopicPartition(topic, 1)])
    yield consumer
    await consumer.stop()


async def test_records_per_partition_are_limited_and_lag_is_known(consumer: AIOKafkaConsumer) -> None:
    first = min(consumer.assignment())
    assert consumer.current_lag(first) is None
    came: dict[TopicPartition, list[int]] = {tp: [] for tp in consumer.assignment()}
    while sum(map(len, came.values())) < 10:
        found = await consumer.getmany(timeout_ms=30_000, max_records_per_partition=2)
        for tp, records in found.items():
            assert len(records) <= 2
            came[tp] += [record.offset for record in records]
            assert consumer.current_lag(tp) == 5 - len(came[tp])
    assert list(came.values()) == [list(range(5))] * 2


async def test_seeking_to_committed_offsets_takes_one_request(
    consumer: AIOKafkaConsumer, broker: EmbeddedBroker
) -> None:
    first, second = sorted(consumer.assignment())
    await consumer.commit({first: 3, second: 4})
    asked = broker.faults.delay(0, api="OffsetFetch", times=None)
    assert await consumer.seek_to_committed() == {first: 3, second: 4}
    assert asked.hits == 1
    asked.remove()
    assert [await consumer.position(tp) for tp in (first, second)] == [3, 4]
    assert await consumer.committed(first) == 3


async def test_a_start_does_not_wait_for_a_topic_that_matches_a_pattern(broker: EmbeddedBroker) -> None:
    topic = f"t-{uuid.uuid4()}"
    consumer = AIOKafkaConsumer(
        bootstrap_servers=broker.bootstrap_servers,
        auto_offset_reset="earliest",
        request_timeout_ms=3_600_000,
        metadata_max_age_ms=100,
    )
    consumer.subscribe(pattern=f"^{topic}")
    async with consumer:
        assert consumer.assignment() == frozenset()
        with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
            producer.send(topic, b"value").get(60)
        assert (await consumer.getone()).value == b"value"
    second = AIOKafkaConsumer(bootstrap_servers=broker.bootstrap_servers)
    second.subscribe(pattern=f"^{topic}")
    async with second:
        assert second.assignment() == {TopicPartition(topic, 0)}


async def test_topics_may_be_none_with_a_pattern(broker: EmbeddedBroker) -> None:
    topic = f"t-{uuid.uuid4()}"
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        producer.send(topic, b"value").get(60)
    consumer = AIOKafkaConsumer(bootstrap_servers=broker.bootstrap_servers, auto_offset_reset="earliest")
    consumer.subscribe(topics=None, pattern=f"^{topic}$")
    with pytest.raises(TypeError, match="either topics or a pattern"):
        consumer.subscribe(topics=None)
    async with consumer:
        assert (await consumer.getone()).value == b"value"


@pytest.mark.parametrize("in_group", [True, False])
async def test_a_recreated_topic_is_read_from_its_beginning(broker: EmbeddedBroker, in_group: bool) -> None:
    topic = f"t-{uuid.uuid4()}"
    consumer = AIOKafkaConsumer(
        topic,
        bootstrap_servers=broker.bootstrap_servers,
        group_id=topic if in_group else None,
        auto_offset_reset="earliest",
        metadata_max_age_ms=100,
        allow_auto_create_topics=False,
    )
    with (
        KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
        KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer,
    ):

        def make(partitions: int, text: bytes) -> set[bytes]:
            values = [b"%s %d" % (text, number) for number in range(20)]
            admin.create_topics({topic: {"num_partitions": partitions}}, wait_for_metadata=True)
            for number, value in enumerate(values):
                producer.send(topic, value, partition=number % partitions)
            producer.flush()
            return set(values)

        written = make(2, b"first")
        await consumer.start()
        try:
            for partitions, text in ((0, b""), (1, b"fewer"), (1, b"as many"), (3, b"more")):
                if partitions:
                    admin.delete_topics([topic])
                    written = make(partitions, text)
                values: list[bytes | None] = []
                async with asyncio.timeout(30):
                    while len(values) < 20:
                        found = await consumer.getmany(timeout_ms=100)
                        values += [record.value for records in found.values() for record in records]
                assert sorted(value or b"" for value in values) == sorted(written)
        finally:
            await consumer.stop()
