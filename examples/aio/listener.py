"""A rebalance listener that commits and seeks, and two members that share the partitions."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.abc import ConsumerRebalanceListener

SERVERS, TOPIC, GROUP = os.environ["KAFKA_BOOTSTRAP_SERVERS"], os.environ["TOPIC"], os.environ["GROUP"]


class Listener(ConsumerRebalanceListener):
    def __init__(self, name: str, consumer: AIOKafkaConsumer) -> None:
        self.name, self.consumer = name, consumer
        self.events: list[tuple[str, list[int]]] = []

    async def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
        self.events.append(("revoked", sorted(tp.partition for tp in revoked)))

    async def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:
        for tp in assigned:
            await self.consumer.position(tp)
        self.events.append(("assigned", sorted(tp.partition for tp in assigned)))


def make(name: str) -> tuple[AIOKafkaConsumer, Listener]:
    consumer = AIOKafkaConsumer(
        bootstrap_servers=SERVERS,
        group_id=GROUP,
        auto_offset_reset="earliest",
        heartbeat_interval_ms=200,
        session_timeout_ms=6000,
    )
    listener = Listener(name, consumer)
    consumer.subscribe([TOPIC], listener=listener)
    return consumer, listener


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.02)


async def main() -> None:
    async with AIOKafkaProducer(bootstrap_servers=SERVERS) as producer:
        for partition in range(3):
            await producer.send_and_wait(TOPIC, b"x", partition=partition)
    first, heard_first = make("first")
    second, heard_second = make("second")
    await first.start()
    # Nobody polls: the group is joined all the same.
    await until(lambda: len(first.assignment()) == 3)
    print("first alone has", len(first.assignment()))
    await second.start()
    await until(lambda: len(first.assignment()) + len(second.assignment()) == 3 and second.assignment())
    print("they share", sorted([len(first.assignment()), len(second.assignment())]))
    await second.stop()
    await until(lambda: len(first.assignment()) == 3)
    await first.stop()
    print("first was told", [event for event in heard_first.events if event[1]][:2])
    print(
        "second was told of one or two:",
        {len(partitions) for what, partitions in heard_second.events if partitions} <= {1, 2},
    )


asyncio.run(main())
