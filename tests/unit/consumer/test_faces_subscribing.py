"""Subscriptions and rebalance listeners of `KafkaConsumer` and `AsyncKafkaConsumer` alike."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from harness.topics import create_topic
from kafka import KafkaProducer, SubscriptionPattern, TopicPartition
from kafka.broker import EmbeddedBroker
from kafka.errors import IllegalStateError
from unit.consumer.consumer_setup import ConsumerSetup, committed
from unit.consumer.faces import Face


async def test_a_listener_may_commit_whenever_it_is_called(setup: ConsumerSetup) -> None:
    consumer = setup.face
    calls: list[str] = []

    def told(kind: str, partitions: set[TopicPartition]) -> Any:
        calls.append(kind)
        return consumer.consumer.commit()

    await consumer.open()
    await consumer.subscribe([setup.topic], listener=consumer.listener(told))
    await consumer.read(20)
    await consumer.close()
    assert calls == ["revoked", "assigned", "revoked"]
    assert await committed(setup, setup.first, setup.second) == [10, 10]


async def test_a_listener_and_a_callback_may_poll(setup: ConsumerSetup) -> None:
    consumer = await setup.face.open()
    told: list[str] = []

    def poll(kind: str, partitions: set[TopicPartition]) -> Any:
        told.append(kind)
        return consumer.consumer.poll(0)

    await consumer.subscribe([setup.topic], listener=consumer.listener(poll))
    await consumer.poll_until(lambda: "assigned" in told)
    assert told == ["revoked", "assigned"]
    await consumer.commit_async({}, callback=lambda *args: poll("committed", set()))
    await consumer.poll_until(lambda: "committed" in told)
    await consumer.close()
    assert told == ["revoked", "assigned", "committed", "revoked"]


async def test_a_listener_may_close_while_another_thread_waits(setup: ConsumerSetup) -> None:
    consumer = await setup.face.open()
    told: list[str] = []

    def close(kind: str, partitions: set[TopicPartition]) -> Any:
        told.append(kind)
        return consumer.consumer.close() if partitions and kind == "revoked" else None

    await consumer.subscribe([setup.topic], listener=consumer.listener(close))
    await consumer.read(20)
    if consumer.kind == "sync":
        await consumer.close()
    else:
        await asyncio.gather(consumer.close(), consumer.close())
    assert told == ["revoked", "assigned", "revoked"]
    assert consumer.consumer._core.client._closed


async def test_each_listener_is_called_for_its_own_partitions(setup: ConsumerSetup) -> None:
    consumer = await setup.face.open()
    told: list[tuple[str, str, int]] = []
    for name in ("one", "two"):

        def note(kind: str, partitions: set[TopicPartition], name: str = name) -> None:
            told.append((name, kind, len(partitions)))

        await consumer.subscribe([setup.topic], listener=consumer.listener(note))
        await consumer.poll_until(lambda name=name: (name, "assigned", 2) in told)
    await consumer.close()
    assert told == [
        ("one", "revoked", 0),
        ("one", "assigned", 2),
        ("one", "revoked", 2),
        ("two", "assigned", 2),
        ("two", "revoked", 2),
    ]


async def test_a_subscriber_keeps_its_partitions_when_assign_is_refused(setup: ConsumerSetup) -> None:
    consumer = await setup.face.open()
    told: list[str] = []
    await consumer.subscribe([setup.topic], listener=consumer.listener(lambda kind, partitions: told.append(kind)))
    await consumer.poll_until(lambda: "assigned" in told)
    with pytest.raises(IllegalStateError, match=r"call unsubscribe\(\) before assign"):
        await consumer.assign([setup.first])
    assert told == ["revoked", "assigned"]
    assert await consumer.assignment() == {setup.first, setup.second}


async def test_a_subscription_may_change_while_joining_and_end(setup: ConsumerSetup, broker: EmbeddedBroker) -> None:
    other = f"{setup.topic}-other"
    create_topic(broker.bootstrap_servers, other, 1, {})
    consumer = await setup.face.open(setup.topic)
    await consumer.poll(0)  # begins to join
    await consumer.subscribe([other])
    await consumer.poll_until(lambda: consumer.consumer.assignment() == {TopicPartition(other, 0)})
    assert await consumer.subscription() == {other}
    await consumer.unsubscribe()
    assert (await consumer.subscription(), await consumer.assignment()) == (None, set())
    await consumer.assign([setup.first])
    await consumer.read(10)


async def test_a_subscription_without_a_group_keeps_positions(
    setup: ConsumerSetup, broker: EmbeddedBroker, producer: KafkaProducer
) -> None:
    other = f"{setup.topic}-other"
    create_topic(broker.bootstrap_servers, other, 1, {"retention.ms": "-1"})
    producer.send(other, b"x")
    producer.flush()
    consumer = await setup.face.open(setup.topic, group_id=None)
    assert len(await consumer.read(20)) == 20
    with pytest.raises(IllegalStateError, match="group_id"):
        await consumer.commit()
    with pytest.raises(IllegalStateError, match="group_id"):
        await consumer.commit_async()
    await consumer.subscribe([setup.topic, other])
    [record] = await consumer.read(1)
    assert (record.topic, record.offset) == (other, 0)
    assert await consumer.assignment() == {setup.first, setup.second, TopicPartition(other, 0)}
    assert await consumer.position(setup.first) == 10
    await consumer.subscribe([other])
    await consumer.poll_until(lambda: consumer.consumer.assignment() == {TopicPartition(other, 0)})
    assert await consumer.position(TopicPartition(other, 0)) == 1


@pytest.mark.parametrize("listener", [object(), "revoked", lambda *_: None])
async def test_a_listener_that_is_none_is_refused_at_once(setup: ConsumerSetup, listener: object) -> None:
    consumer = await setup.face.open()
    with pytest.raises(TypeError, match="ConsumerRebalanceListener, not"):
        await consumer.subscribe([setup.topic], listener=listener)
    assert await consumer.subscription() is None


async def test_a_thread_has_no_use_for_a_listener_of_coroutines_and_a_loop_takes_both(setup: ConsumerSetup) -> None:
    consumer = await setup.face.open()
    coroutines = Face("asyncio").listener(lambda *_: None)
    if consumer.kind == "sync":
        with pytest.raises(TypeError, match="not AsyncListener"):
            await consumer.subscribe([setup.topic], listener=coroutines)
    else:
        await consumer.subscribe([setup.topic], listener=Face("sync").listener(lambda *_: None))
        await consumer.poll_until(lambda: len(consumer.consumer.assignment()) == 2)


@pytest.mark.parametrize("first", [True, False])
async def test_the_coordinator_matches_a_subscription_pattern(setup: ConsumerSetup, first: bool) -> None:
    consumer = await setup.face.open(group_protocol="consumer", heartbeat_interval_ms=3_000)
    told: list[tuple[str, set[TopicPartition]]] = []
    listener = consumer.listener(lambda kind, partitions: told.append((kind, partitions)))
    pattern = SubscriptionPattern(f"{setup.topic[:-1]}.")
    if first:
        await consumer.subscribe(pattern, listener=listener)
    else:
        await consumer.subscribe(pattern=pattern, listener=listener)
    assert await consumer.subscription() == set()
    await consumer.read(20)
    assert await consumer.subscription() == {setup.topic}
    await consumer.close()
    assert told == [("assigned", {setup.first, setup.second}), ("revoked", {setup.first, setup.second})]
    assert await committed(setup, setup.first, setup.second) == [10, 10]


async def test_a_subscription_pattern_requires_the_consumer_protocol(setup: ConsumerSetup) -> None:
    consumer = await setup.face.open()
    for arguments in ({"topics": SubscriptionPattern("t")}, {"pattern": SubscriptionPattern("t")}):
        with pytest.raises(IllegalStateError, match="group_protocol='consumer'"):
            await consumer.subscribe(**arguments)
    with pytest.raises(IllegalStateError, match="one pattern"):
        await consumer.subscribe(SubscriptionPattern("t"), pattern="t")
    for wrong in ("", None, 3):
        with pytest.raises(ValueError, match="regular expression"):
            SubscriptionPattern(wrong)  # type: ignore[arg-type]


async def test_topics_may_be_none_beside_a_pattern(setup: ConsumerSetup) -> None:
    consumer = await setup.face.open()
    with pytest.raises(IllegalStateError, match="topics or a pattern"):
        await consumer.subscribe(None)
    await consumer.subscribe(topics=None, pattern=f"^{setup.topic}$")
    await consumer.read(20)
    await consumer.close()
