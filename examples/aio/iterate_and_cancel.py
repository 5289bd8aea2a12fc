"""A consumer that is iterated in a task, which is cancelled; another goes on where it was."""

from __future__ import annotations

import asyncio
import os

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerStoppedError

SERVERS, TOPIC, GROUP = os.environ["KAFKA_BOOTSTRAP_SERVERS"], os.environ["TOPIC"], os.environ["GROUP"]


async def main() -> None:
    async with AIOKafkaProducer(bootstrap_servers=SERVERS) as producer:
        for number in range(10):
            await producer.send_and_wait(TOPIC, b"%d" % number, partition=0)

        consumer = AIOKafkaConsumer(TOPIC, bootstrap_servers=SERVERS, group_id=GROUP, auto_offset_reset="earliest")
        await consumer.start()
        seen: list[int] = []
        ten = asyncio.Event()

        async def read() -> None:
            try:
                async for message in consumer:
                    seen.append(message.offset)
                    if len(seen) == 10:
                        ten.set()
            except asyncio.CancelledError:
                print("cancelled after", len(seen))
                raise

        task = asyncio.create_task(read())
        await asyncio.wait_for(ten.wait(), 20)
        await asyncio.sleep(0)
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            print("the task is over", seen)
        try:
            await asyncio.wait_for(consumer.getone(), 0.1)
        except TimeoutError:
            print("nothing more")
        await producer.send_and_wait(TOPIC, b"eleven", partition=0)
        message = await asyncio.wait_for(consumer.getone(), 20)
        print("goes on with", message.offset, message.value)
        await consumer.stop()

        consumer = AIOKafkaConsumer(TOPIC, bootstrap_servers=SERVERS, group_id=GROUP, auto_offset_reset="earliest")
        await consumer.start()
        await producer.send_and_wait(TOPIC, b"twelve", partition=0)
        print("committed at the stop:", (await consumer.getone()).offset)
        await consumer.stop()
    try:
        async for message in consumer:
            print("never", message)
    except ConsumerStoppedError:
        print("a consumer that is stopped is not iterated")


asyncio.run(main())
