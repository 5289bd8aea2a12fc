"""A web service's shape: an app with a lifespan, a producer that requests share, and a consumer in the background."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncIterator

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

SERVERS, TOPIC, GROUP = os.environ["KAFKA_BOOTSTRAP_SERVERS"], os.environ["TOPIC"], os.environ["GROUP"]


class App:
    def __init__(self) -> None:
        self.seen: dict[str, dict[str, int]] = {}
        self.changed = asyncio.Event()

    @contextlib.asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        self.producer = AIOKafkaProducer(
            bootstrap_servers=SERVERS,
            key_serializer=str.encode,
            value_serializer=lambda value: json.dumps(value).encode(),
        )
        self.consumer = AIOKafkaConsumer(
            TOPIC,
            bootstrap_servers=SERVERS,
            group_id=GROUP,
            auto_offset_reset="earliest",
            value_deserializer=lambda value: json.loads(value),
        )
        await self.producer.start()
        await self.consumer.start()
        task = asyncio.create_task(self.consume())
        try:
            yield
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
            await self.consumer.stop()
            await self.producer.stop()

    async def consume(self) -> None:
        async for message in self.consumer:
            self.seen[message.key.decode()] = message.value
            self.changed.set()

    async def post(self, name: str, amount: int) -> dict[str, int]:
        metadata = await self.producer.send_and_wait(TOPIC, {"amount": amount}, key=name)
        return {"status": 202, "partition": metadata.partition, "offset": metadata.offset}

    async def get(self, name: str) -> dict[str, int]:
        while name not in self.seen:
            self.changed.clear()
            await self.changed.wait()
        return self.seen[name]


async def main() -> None:
    app = App()
    async with app.lifespan():
        for number, name in enumerate(["ada", "bob", "eve"]):
            print("POST", name, await app.post(name, number))
        for name in ["ada", "bob", "eve"]:
            print("GET", name, await asyncio.wait_for(app.get(name), 20))
    print("stopped")


asyncio.run(main())
