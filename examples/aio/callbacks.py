"""Futures of a producer: gathered, waited for, called back, shielded."""

from __future__ import annotations

import asyncio
import os

from aiokafka import AIOKafkaProducer

SERVERS, TOPIC = os.environ["KAFKA_BOOTSTRAP_SERVERS"], os.environ["TOPIC"]


async def main() -> None:
    producer = AIOKafkaProducer(bootstrap_servers=SERVERS, linger_ms=10)
    await producer.start()
    try:
        called: list[int] = []
        future = await producer.send(TOPIC, b"called back", partition=0)
        future.add_done_callback(lambda done: called.append(done.result().offset))
        print("a future", asyncio.isfuture(future), "done", future.done())
        await future
        await asyncio.sleep(0)
        print("called", called)

        futures = [await producer.send(TOPIC, b"%d" % number, partition=1) for number in range(20)]
        results = await asyncio.gather(*futures)
        print("gathered", [each.offset for each in results] == list(range(20)))

        more = {await producer.send(TOPIC, b"w", partition=2) for _ in range(3)}
        done, pending = await asyncio.wait(more, timeout=10)
        print("waited", sorted(each.result().offset for each in done), len(pending))

        metadata = await asyncio.wait_for(asyncio.shield(await producer.send(TOPIC, b"s", partition=0)), 10)
        print(metadata.partition, metadata.offset, metadata.topic_partition == (TOPIC, 0), metadata.timestamp_type)
        print("time is known", (metadata.timestamp or 0) > 1_600_000_000_000)

        await producer.send(TOPIC, b"last", partition=0)
        await producer.flush()
        metadata = await producer.send_and_wait(TOPIC, b"after", partition=0, timestamp_ms=1234567890123)
        print("after flush", metadata.offset, metadata.timestamp)
        print("partitions", sorted(await producer.partitions_for(TOPIC)))
    finally:
        await producer.stop()


asyncio.run(main())
