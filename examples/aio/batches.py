"""Read in batches with getmany()."""

from __future__ import annotations

import asyncio
import os

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

SERVERS, TOPIC, GROUP = os.environ["KAFKA_BOOTSTRAP_SERVERS"], os.environ["TOPIC"], os.environ["GROUP"]


async def main() -> None:
    producer = AIOKafkaProducer(bootstrap_servers=SERVERS, linger_ms=5)
    await producer.start()
    futures = [await producer.send(TOPIC, b"%d" % number, partition=number % 3) for number in range(90)]
    for done in await asyncio.gather(*futures):
        assert done.topic == TOPIC
    await producer.stop()

    consumer = AIOKafkaConsumer(TOPIC, bootstrap_servers=SERVERS, group_id=GROUP, auto_offset_reset="earliest")
    await consumer.start()
    try:
        found: dict[int, list[int]] = {}
        largest = 0
        while sum(len(values) for values in found.values()) < 90:
            batches = await consumer.getmany(timeout_ms=1000, max_records=10)
            largest = max(largest, sum(len(messages) for messages in batches.values()))
            for partition, messages in batches.items():
                assert type(messages) is list
                found.setdefault(partition.partition, []).extend(int(message.value) for message in messages)
        print("never more than 10:", largest <= 10)
        for number in sorted(found):
            print(number, found[number] == list(range(number, 90, 3)))
        print("and then", await consumer.getmany(timeout_ms=50))
        print("without waiting", dict(await consumer.getmany()))
    finally:
        await consumer.stop()


asyncio.run(main())
