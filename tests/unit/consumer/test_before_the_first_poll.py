"""A subscription without a group has its partitions before the first `poll()`, as in every release of kafka-python."""

from __future__ import annotations

import re
import uuid
from collections.abc import Collection
from typing import Any

import pytest

from kafka import ConsumerRebalanceListener, KafkaAdminClient, KafkaConsumer, TopicPartition
from kafka.aio import AIOKafkaConsumer
from kafka.aio.errors import ConsumerStoppedError
from kafka.broker import EmbeddedBroker
from kafka.consumer.core import ConsumerCore
from kafka.errors import IllegalStateError
from unit.consumer.consumer_setup import ConsumerSetup


async def open_alone(setup: ConsumerSetup, *topics: str, **options: Any) -> Any:
    """The setup's consumer, without a group."""
    return await setup.face.open(*topics, **{"group_id": None, **options})


async def test_a_program_that_looks_up_times_and_seeks_before_it_polls(setup: ConsumerSetup) -> None:
    consumer = await open_alone(setup, setup.topic, consumer_timeout_ms=300)
    partitions = [TopicPartition(setup.topic, number) for number in await consumer.partitions_for_topic(setup.topic)]
    found = await consumer.offsets_for_times(dict.fromkeys(partitions, 1000))
    for tp in partitions:
        await consumer.seek(tp, found[tp].offset + 4)
    seen: list[tuple[int, int]] = []
    while len(seen) < 12:  # it ends where a fetch takes longer, and goes on
        seen += [(each.partition, each.offset) for each in await consumer.iterate()]
    assert sorted(seen) == [(partition, offset) for partition in (0, 1) for offset in range(4, 10)]


@pytest.mark.parametrize("way", ["topics", "subscribe", "pattern"])
async def test_the_assignment_is_there_and_can_be_used(setup: ConsumerSetup, way: str) -> None:
    consumer = await open_alone(setup, *([setup.topic] if way == "topics" else []))
    if way == "subscribe":
        await consumer.subscribe([setup.topic])
    elif way == "pattern":
        await consumer.subscribe(pattern=f"^{re.escape(setup.topic)}$")
    if setup.face.kind == "asyncio" and way != "topics":
        await consumer.partitions_for_topic(setup.topic)  # assignment() cannot wait there
        if way == "pattern":
            await consumer.poll_until(lambda: len(consumer.consumer.assignment()) == 2)
    assert await consumer.assignment() == {setup.first, setup.second}
    assert await consumer.position(setup.first) == 0
    await consumer.pause(setup.second)
    assert await consumer.paused() == {setup.second}
    await consumer.seek_to_end(setup.first)
    assert await consumer.position(setup.first) == 10
    await consumer.seek_to_beginning()
    await consumer.seek(setup.first, 7)
    assert [record.offset for record in await consumer.read(3)] == [7, 8, 9]
    await consumer.resume(setup.second)
    assert [record.partition for record in await consumer.read(10)] == [1] * 10


class Told(ConsumerRebalanceListener):
    """Writes down what it is told."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, set[TopicPartition]]] = []

    def on_partitions_revoked(self, revoked: Collection[TopicPartition]) -> None:
        self.calls.append(("revoked", set(revoked)))

    def on_partitions_assigned(self, assigned: Collection[TopicPartition]) -> None:
        self.calls.append(("assigned", set(assigned)))


async def test_a_listener_is_called_once_within_poll(setup: ConsumerSetup) -> None:
    told = Told()
    consumer = await open_alone(setup)
    await consumer.subscribe([setup.topic], listener=told)
    await consumer.partitions_for_topic(setup.topic)
    assert await consumer.assignment() == {setup.first, setup.second}
    assert told.calls == []
    await consumer.seek(setup.first, 8)
    assert len(await consumer.read(12)) == 12
    assert told.calls == [("assigned", {setup.first, setup.second})]


async def test_another_subscription_before_the_first_poll_takes_the_place_of_the_first(
    setup: ConsumerSetup, broker: EmbeddedBroker
) -> None:
    other = f"u-{uuid.uuid4()}"
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
        admin.create_topics([other], wait_for_metadata=True)
    consumer = await open_alone(setup, setup.topic)
    assert len(await consumer.assignment()) == 2
    await consumer.subscribe([other])
    await consumer.partitions_for_topic(other)
    assert await consumer.assignment() == {TopicPartition(other, 0)}
    with pytest.raises(IllegalStateError):
        await consumer.seek(setup.first, 0)


async def test_the_partitions_of_a_group_come_with_the_poll_as_ever(setup: ConsumerSetup) -> None:
    consumer = await setup.face.open(setup.topic)
    await consumer.partitions_for_topic(setup.topic)
    assert await consumer.assignment() == set()
    with pytest.raises(IllegalStateError):
        await consumer.seek(setup.first, 0)


def test_a_topic_that_does_not_exist_is_looked_up_once(broker: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_up: list[float] = []
    original = ConsumerCore.look_up_topics

    def counted(core: ConsumerCore, timeout_ms: float) -> Any:
        looked_up.append(timeout_ms)
        return original(core, timeout_ms)

    monkeypatch.setattr(ConsumerCore, "look_up_topics", counted)
    with KafkaConsumer(
        f"n-{uuid.uuid4()}", bootstrap_servers=broker.bootstrap_servers, allow_auto_create_topics=False
    ) as consumer:
        assert consumer.assignment() == consumer.paused() == consumer.assignment() == set()
        assert looked_up == [5_000]  # not the minute that calls have which cannot do without the topics


async def test_a_consumer_of_kafka_aio_seeks_right_after_its_start(setup: ConsumerSetup) -> None:
    consumer = AIOKafkaConsumer(setup.topic, bootstrap_servers=setup.servers, auto_offset_reset="earliest")
    await consumer.start()
    try:
        assert consumer.assignment() == {setup.first, setup.second}
        consumer.seek(setup.first, 9)
        consumer.seek(setup.second, 9)
        assert {(await consumer.getone()).offset for _ in range(2)} == {9}
    finally:
        await consumer.stop()


async def test_a_consumer_of_kafka_aio_may_unsubscribe_after_its_end(setup: ConsumerSetup) -> None:
    consumer = AIOKafkaConsumer(setup.topic, bootstrap_servers=setup.servers, auto_offset_reset="earliest")
    await consumer.start()
    assert (await consumer.getone()).topic == setup.topic
    await consumer.stop()
    assert consumer.highwater(setup.first) in (None, 10)
    consumer.seek(setup.first, 3)
    consumer.pause(setup.first)
    assert consumer.paused() == {setup.first}
    consumer.resume(setup.first)
    consumer.unsubscribe()
    assert consumer.assignment() == consumer.subscription() == frozenset()
    consumer.subscribe(["another"])
    assert consumer.subscription() == {"another"}
    with pytest.raises(ConsumerStoppedError):
        await consumer.getone()
    await consumer.stop()
    never = AIOKafkaConsumer(setup.topic, bootstrap_servers=setup.servers)
    await never.stop()
    never.unsubscribe()
    assert never.subscription() == frozenset()
