"""`AsyncKafkaConsumer` on the test's own loop, on both brokers."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

import pytest

from integration.consumer_support import produce, when_it_waits
from kafka import TopicPartition
from kafka.consumer.async_consumer import AsyncKafkaConsumer
from kafka.consumer.subscription.subscription_state import AsyncConsumerRebalanceListener
from kafka.errors import IllegalStateError, NoBrokersAvailable, RecordDeserializationError

if TYPE_CHECKING:
    from conftest import Broker, MakeTopic


async def poll_until(condition: Callable[[], bool], *consumers: AsyncKafkaConsumer) -> None:
    async with asyncio.timeout(30):
        while not condition():
            for consumer in consumers:
                await consumer.poll(20)


def loop_threads() -> int:
    """How many loop threads of the synchronous clients there are."""
    return sum(thread.name == "kafka-loop" for thread in threading.enumerate())


async def test_records_arrow_and_positions(broker: Broker, make_topic: MakeTopic) -> None:
    topic = make_topic(2)
    for partition in range(2):
        produce(broker.bootstrap_servers, topic, partition, [b"%d" % n for n in range(300)])
    partitions = [TopicPartition(topic, 0), TopicPartition(topic, 1)]
    async with AsyncKafkaConsumer(bootstrap_servers=broker.bootstrap_servers, auto_offset_reset="earliest") as consumer:
        await consumer.assign(partitions)
        seen = []
        async with asyncio.timeout(30):
            while len(seen) < 600:
                seen += [(r.partition, r.offset) for r in await consumer.getmany(timeout_ms=1_000)]
        assert sorted(seen) == [(p, n) for p in range(2) for n in range(300)]
        assert await consumer.end_offsets(partitions) == dict.fromkeys(partitions, 300)
        assert await consumer.beginning_offsets(partitions) == dict.fromkeys(partitions, 0)
        found = await consumer.offsets_for_times({partitions[0]: 10_000})
        assert found[partitions[0]] is not None
        assert found[partitions[0]].offset == 9
        consumer.seek_to_beginning()
        rows = 0
        async with asyncio.timeout(30):
            while rows < 600:
                rows += (await consumer.poll_arrow(1_000)).num_rows
        consumer.seek(partitions[0], 5)
        assert (await consumer.getone()).offset == 5
        assert await consumer.position(partitions[0]) == 6
        assert topic in await consumer.topics()
        assert await consumer.partitions_for_topic(topic) == {0, 1}
    with pytest.raises(IllegalStateError):
        await consumer.poll()


async def test_iteration_and_its_end(broker: Broker, make_topic: MakeTopic) -> None:
    topic = make_topic()
    produce(broker.bootstrap_servers, topic, 0, [b"1", b"2", b"x", b"4"])
    options: dict[str, Any] = {"auto_offset_reset": "earliest", "consumer_timeout_ms": 500, "value_deserializer": int}
    async with AsyncKafkaConsumer(bootstrap_servers=broker.bootstrap_servers, **options) as consumer:
        tp = TopicPartition(topic, 0)
        await consumer.assign([tp])
        seen: list[int] = []

        async def collect() -> None:
            async for record in consumer:
                seen.append(record.value)

        with pytest.raises(RecordDeserializationError):
            await collect()
        assert seen == [1, 2]
        consumer.seek(tp, 3)
        assert [record.value async for record in consumer] == [4]
        with pytest.raises(StopAsyncIteration):
            await anext(consumer)  # type: ignore[arg-type]  # it has __anext__


async def test_a_group_rebalances_and_tells_listeners(broker: Broker, make_topic: MakeTopic) -> None:
    topic = make_topic(4)
    told: list[tuple[str, int]] = []

    class Listener(AsyncConsumerRebalanceListener):
        async def on_partitions_revoked(self, revoked: Collection[TopicPartition]) -> None:
            await asyncio.sleep(0)
            told.append(("revoked", len(revoked)))

        async def on_partitions_assigned(self, assigned: Collection[TopicPartition]) -> None:
            await asyncio.sleep(0)
            told.append(("assigned", len(assigned)))

    options: dict[str, Any] = {
        "bootstrap_servers": broker.bootstrap_servers,
        "group_id": f"group-{topic}",
        "heartbeat_interval_ms": 200,
        "session_timeout_ms": 6_000,
        "auto_offset_reset": "earliest",
    }
    before = loop_threads()
    async with AsyncKafkaConsumer(**options) as first:
        first.subscribe([topic], listener=Listener())
        await poll_until(lambda: len(first.assignment()) == 4, first)
        async with AsyncKafkaConsumer(topic, **options) as second:
            await poll_until(lambda: len(first.assignment()) == len(second.assignment()) == 2, first, second)
        await poll_until(lambda: len(first.assignment()) == 4, first)
        produce(broker.bootstrap_servers, topic, 3, [b"x"])
        record = await first.getone()
        await first.commit()
        assert await first.committed(TopicPartition(topic, 3)) == record.offset + 1
        assert loop_threads() == before
    assert told[:2] == [("revoked", 0), ("assigned", 4)]
    assert told[-1] == ("revoked", 4)


async def test_closing_ends_a_poll_that_waits(broker: Broker, make_topic: MakeTopic) -> None:
    consumer = AsyncKafkaConsumer(bootstrap_servers=broker.bootstrap_servers)
    with pytest.raises(IllegalStateError, match="start"):
        await consumer.poll()
    await consumer.start()
    await consumer.assign([TopicPartition(make_topic(), 0)])
    waits, loop = asyncio.Event(), asyncio.get_running_loop()
    closing = when_it_waits(consumer, lambda: loop.call_soon_threadsafe(waits.set))
    waiting = asyncio.create_task(consumer.poll(3_600_000))
    await waits.wait()
    await asyncio.gather(consumer.close(), consumer.close())
    assert await waiting == {}
    closing.join()


async def test_no_broker_is_an_error_and_leaves_nothing_behind() -> None:
    consumer = AsyncKafkaConsumer(bootstrap_servers="127.0.0.1:1", bootstrap_timeout_ms=200)
    with pytest.raises(NoBrokersAvailable):
        await consumer.start()
    await consumer.close()
