"""A worker that stops in good order on SIGTERM: it finishes what it has in hand, commits and leaves."""

from __future__ import annotations

import asyncio
import os
import signal

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

SERVERS, TOPIC, GROUP = os.environ["KAFKA_BOOTSTRAP_SERVERS"], os.environ["TOPIC"], os.environ["GROUP"]


async def run(stop: asyncio.Event) -> None:
    consumer = AIOKafkaConsumer(
        TOPIC, bootstrap_servers=SERVERS, group_id=GROUP, enable_auto_commit=False, auto_offset_reset="earliest"
    )
    await consumer.start()
    handled = 0
    try:
        while not stop.is_set():
            for tp, messages in (await consumer.getmany(timeout_ms=200)).items():
                handled += len(messages)
                await consumer.commit({tp: messages[-1].offset + 1})
                if handled == 5:
                    os.kill(os.getpid(), signal.SIGTERM)
    finally:
        await consumer.stop()
    print("handled", handled)


async def main() -> None:
    async with AIOKafkaProducer(bootstrap_servers=SERVERS) as producer:
        for number in range(5):
            await producer.send_and_wait(TOPIC, b"%d" % number, partition=1)
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    await run(stop)
    async with AIOKafkaConsumer(bootstrap_servers=SERVERS, group_id=GROUP) as consumer:
        print("committed", await consumer.committed(TopicPartition(TOPIC, 1)))


asyncio.run(main())
