"""A pipeline: one task per stage with queues between them, and offsets committed when the last stage is done."""

from __future__ import annotations

import asyncio
import os

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord, TopicPartition

SERVERS, TOPIC, OUT, GROUP = (os.environ[name] for name in ("KAFKA_BOOTSTRAP_SERVERS", "TOPIC", "TOPIC_OUT", "GROUP"))
COUNT = 30
Read = asyncio.Queue[ConsumerRecord[bytes, bytes]]
Ready = asyncio.Queue[tuple[ConsumerRecord[bytes, bytes], bytes]]


async def read(consumer: AIOKafkaConsumer, queue: Read) -> None:
    async for message in consumer:
        await queue.put(message)


async def work(queue: Read, ready: Ready) -> None:
    while True:
        message = await queue.get()
        await ready.put((message, message.value.upper()))


async def write(ready: Ready, producer: AIOKafkaProducer, consumer: AIOKafkaConsumer) -> None:
    for _ in range(COUNT):
        message, value = await ready.get()
        await producer.send_and_wait(OUT, value, key=message.key)
        await consumer.commit({TopicPartition(message.topic, message.partition): message.offset + 1})


async def main() -> None:
    async with AIOKafkaProducer(bootstrap_servers=SERVERS) as producer:
        for number in range(COUNT):
            await producer.send(TOPIC, b"word-%d" % number, key=b"%d" % (number % 5))
        await producer.flush()
        consumer = AIOKafkaConsumer(
            TOPIC, bootstrap_servers=SERVERS, group_id=GROUP, enable_auto_commit=False, auto_offset_reset="earliest"
        )
        async with consumer:
            queue: Read = asyncio.Queue(10)
            ready: Ready = asyncio.Queue(10)
            tasks = [asyncio.create_task(read(consumer, queue)), asyncio.create_task(work(queue, ready))]
            await asyncio.wait_for(write(ready, producer, consumer), 30)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            committed = [await consumer.committed(TopicPartition(TOPIC, number)) for number in range(3)]
            print("committed", sum(each or 0 for each in committed))
        async with AIOKafkaConsumer(OUT, bootstrap_servers=SERVERS, auto_offset_reset="earliest") as reader:
            values = [(await reader.getone()).value for _ in range(COUNT)]
        print("written", sorted(values) == sorted(b"WORD-%d" % number for number in range(COUNT)))


asyncio.run(main())
