"""Build batches by hand, and choose their partitions."""

from __future__ import annotations

import asyncio
import os

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

SERVERS, TOPIC = os.environ["KAFKA_BOOTSTRAP_SERVERS"], os.environ["TOPIC"]


async def main() -> None:
    producer = AIOKafkaProducer(bootstrap_servers=SERVERS, max_batch_size=1000)
    await producer.start()
    sent = 0
    batch = producer.create_batch()
    while batch.append(key=b"%d" % sent, value=b"x" * 50, timestamp=None) is not None:
        sent += 1
    print("filled", 10 < sent < 20, batch.record_count() == sent, batch.size() <= 1000)
    future = await producer.send_batch(batch, TOPIC, partition=1)
    metadata = await future
    print("sent", metadata.partition, metadata.offset)
    small = producer.create_batch()
    small.append(key=None, value=b"with headers", timestamp=1_600_000_000_000, headers=[("h", b"1")])
    small.close()
    print("closed takes no more", small.append(key=None, value=b"late", timestamp=None))
    metadata = await (await producer.send_batch(small, TOPIC, partition=1))
    print("after it", metadata.offset == sent)
    await producer.stop()

    consumer = AIOKafkaConsumer(bootstrap_servers=SERVERS, auto_offset_reset="earliest")
    await consumer.start()
    consumer.assign([TopicPartition(TOPIC, 1)])
    messages = [await consumer.getone() for _ in range(sent + 1)]
    print("read", [int(each.key) for each in messages[:-1]] == list(range(sent)), messages[-1].timestamp)
    await consumer.stop()


asyncio.run(main())
