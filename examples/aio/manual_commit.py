"""Commit by hand: all, one partition, with metadata; read what is committed; go on from there."""

from __future__ import annotations

import asyncio
import os

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.structs import OffsetAndMetadata

SERVERS, TOPIC, GROUP = os.environ["KAFKA_BOOTSTRAP_SERVERS"], os.environ["TOPIC"], os.environ["GROUP"]


def make_consumer() -> AIOKafkaConsumer:
    return AIOKafkaConsumer(
        TOPIC,
        bootstrap_servers=SERVERS,
        group_id=GROUP,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
    )


async def main() -> None:
    async with AIOKafkaProducer(bootstrap_servers=SERVERS) as producer:
        for number in range(6):
            await producer.send_and_wait(TOPIC, b"m%d" % number, partition=0)

    tp = TopicPartition(TOPIC, 0)
    async with make_consumer() as consumer:
        first = await consumer.getone()
        print("first", first.value, "position", await consumer.position(tp))
        print("committed before", await consumer.committed(tp))
        await consumer.commit()
        print("committed", await consumer.committed(tp))
        three = [await consumer.getone() for _ in range(3)]
        await consumer.commit({tp: three[-1].offset + 1})
        print("committed", await consumer.committed(tp))
        await consumer.commit({tp: (2, "two are enough")})
        print("committed", await consumer.committed(tp))
        await consumer.commit({tp: OffsetAndMetadata(3, "")})

    async with make_consumer() as consumer:
        message = await consumer.getone()
        print("goes on with", message.offset, message.value)
        await consumer.seek_to_committed()
        message = await consumer.getone()
        print("again", message.offset, message.value)


asyncio.run(main())
