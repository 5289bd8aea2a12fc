"""Requests answered over Kafka: a client that waits for its reply by correlation id, and a server with a semaphore."""

from __future__ import annotations

import asyncio
import os
import uuid

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord, TopicPartition

SERVERS, TOPIC, OUT = (os.environ[name] for name in ("KAFKA_BOOTSTRAP_SERVERS", "TOPIC", "TOPIC_OUT"))


async def serve(producer: AIOKafkaProducer) -> None:
    limit = asyncio.Semaphore(4)
    consumer = AIOKafkaConsumer(TOPIC, bootstrap_servers=SERVERS, auto_offset_reset="earliest")
    await consumer.start()

    async def answer(message: ConsumerRecord[bytes, bytes]) -> None:
        async with limit:
            await producer.send_and_wait(OUT, b"%d" % (int(message.value) ** 2), headers=list(message.headers))

    try:
        async with asyncio.TaskGroup() as group:
            async for message in consumer:
                group.create_task(answer(message))
    finally:
        await consumer.stop()


class Client:
    def __init__(self, producer: AIOKafkaProducer) -> None:
        self.producer = producer
        self.waiting: dict[bytes, asyncio.Future[int]] = {}

    async def listen(self) -> None:
        consumer = AIOKafkaConsumer(bootstrap_servers=SERVERS)
        await consumer.start()
        consumer.assign([TopicPartition(OUT, 0)])
        await consumer.seek_to_beginning()
        try:
            async for message in consumer:
                future = self.waiting.pop(dict(message.headers)["id"] or b"", None)
                if future is not None:
                    future.set_result(int(message.value))
        finally:
            await consumer.stop()

    async def ask(self, number: int) -> int:
        name = uuid.uuid4().hex.encode()
        future = self.waiting[name] = asyncio.get_running_loop().create_future()
        await self.producer.send(TOPIC, b"%d" % number, headers=[("id", name)])
        return await asyncio.wait_for(future, 20)


async def main() -> None:
    async with AIOKafkaProducer(bootstrap_servers=SERVERS) as producer:
        client = Client(producer)
        tasks = [asyncio.create_task(serve(producer)), asyncio.create_task(client.listen())]
        print(await asyncio.gather(*(client.ask(number) for number in range(12))))
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


asyncio.run(main())
