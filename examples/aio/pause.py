"""Pause partitions whose work has piled up, and resume them; and read single partitions."""

from __future__ import annotations

import asyncio
import os

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.errors import IllegalStateError

SERVERS, TOPIC = os.environ["KAFKA_BOOTSTRAP_SERVERS"], os.environ["TOPIC"]


async def main() -> None:
    async with AIOKafkaProducer(bootstrap_servers=SERVERS) as producer:
        for partition in range(3):
            for number in range(4):
                await producer.send_and_wait(TOPIC, b"%d.%d" % (partition, number), partition=partition)

    one, two, three = (TopicPartition(TOPIC, number) for number in range(3))
    consumer = AIOKafkaConsumer(bootstrap_servers=SERVERS, auto_offset_reset="earliest")
    await consumer.start()
    consumer.assign([one, two, three])
    print("one of the second", (await consumer.getone(two)).value)
    print("many of the second", [m.value for m in (await consumer.getmany(two, timeout_ms=5000))[two]])
    consumer.pause(one)
    print("paused", sorted(tp.partition for tp in consumer.paused()))
    seen: list[bytes] = []
    while len(seen) < 4:
        for messages in (await consumer.getmany(timeout_ms=1000)).values():
            seen += [message.value for message in messages]
    print("without the first", sorted(seen))
    print("nothing", await consumer.getmany(timeout_ms=100))
    consumer.resume(one)
    seen = []
    while len(seen) < 4:
        for messages in (await consumer.getmany(one, three, timeout_ms=1000)).values():
            seen += [message.value for message in messages]
    print("the first", sorted(seen), "paused", set(consumer.paused()))
    for call in (consumer.pause, consumer.resume):
        try:
            call(TopicPartition(TOPIC, 7))
        except IllegalStateError:
            print("not assigned")
    try:
        consumer.seek(TopicPartition(TOPIC, 7), 0)
    except IllegalStateError:
        print("no seek")
    try:
        consumer.seek(one, -1)
    except ValueError:
        print("no such offset")
    await consumer.stop()


asyncio.run(main())
