"""Several consumers of a group in a TaskGroup, each with a queue of work."""

from __future__ import annotations

import asyncio
import os

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

SERVERS, TOPIC, GROUP = os.environ["KAFKA_BOOTSTRAP_SERVERS"], os.environ["TOPIC"], os.environ["GROUP"]
COUNT = 60


async def worker(queue: asyncio.Queue[int]) -> None:
    async with AIOKafkaConsumer(
        TOPIC,
        bootstrap_servers=SERVERS,
        group_id=GROUP,
        auto_offset_reset="earliest",
        heartbeat_interval_ms=200,
    ) as consumer:
        async for message in consumer:
            await queue.put(int(message.value))


class Enough(Exception):
    pass


async def collect(queue: asyncio.Queue[int]) -> None:
    seen: set[int] = set()
    while len(seen) < COUNT:
        seen.add(await asyncio.wait_for(queue.get(), 30))
    print("all", seen == set(range(COUNT)))
    raise Enough


async def main() -> None:
    async with AIOKafkaProducer(bootstrap_servers=SERVERS) as producer:
        await asyncio.gather(
            *[producer.send_and_wait(TOPIC, b"%d" % number, partition=number % 3) for number in range(COUNT)]
        )
    queue: asyncio.Queue[int] = asyncio.Queue()
    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(2):
                group.create_task(worker(queue))
            group.create_task(collect(queue))
    except* Enough:
        print("the workers were cancelled")


asyncio.run(main())
