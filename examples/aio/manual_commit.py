"""Commit by hand: all, one partition, with metadata; read what is committed; go on from there."""

import asyncio
import os

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.structs import OffsetAndMetadata

SERVERS, TOPIC, GROUP = os.environ["KAFKA_SERVERS"], os.environ["TOPIC"], os.environ["GROUP"]


def make_consumer():
    return AIOKafkaConsumer(
        TOPIC,
        bootstrap_servers=SERVERS,
        group_id=GROUP,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
    )


async def main():
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
        for _ in range(3):
            message = await consumer.getone()
        await consumer.commit({tp: message.offset + 1})
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
