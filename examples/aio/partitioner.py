"""A partitioner of one's own, and the default one."""

from __future__ import annotations

import asyncio
import os

from aiokafka import AIOKafkaProducer

SERVERS, TOPIC = os.environ["KAFKA_BOOTSTRAP_SERVERS"], os.environ["TOPIC"]


def by_length(key: bytes, all_partitions: list[int], available: list[int]) -> int:
    return all_partitions[len(key) % len(all_partitions)]


async def main() -> None:
    async with AIOKafkaProducer(bootstrap_servers=SERVERS, partitioner=by_length) as producer:
        for key in (b"a", b"bb", b"ccc", b"dddd"):
            print(key, (await producer.send_and_wait(TOPIC, b"v", key=key)).partition)
    async with AIOKafkaProducer(bootstrap_servers=SERVERS) as producer:
        for key in (b"a", b"bb", b"ccc", b"dddd", "é".encode()):
            print(key, (await producer.send_and_wait(TOPIC, b"v", key=key)).partition)


asyncio.run(main())
