"""Assign by hand, find offsets by time, and seek there."""

from __future__ import annotations

import asyncio
import os

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

SERVERS, TOPIC = os.environ["KAFKA_BOOTSTRAP_SERVERS"], os.environ["TOPIC"]
START = 1_700_000_000_000


async def main() -> None:
    producer = AIOKafkaProducer(bootstrap_servers=SERVERS)
    await producer.start()
    for number in range(10):
        await producer.send_and_wait(TOPIC, b"%d" % number, partition=0, timestamp_ms=START + number * 1000)
    await producer.stop()

    consumer = AIOKafkaConsumer(bootstrap_servers=SERVERS)
    await consumer.start()
    try:
        tp, empty = TopicPartition(TOPIC, 0), TopicPartition(TOPIC, 1)
        consumer.assign([tp, empty])
        print("assigned", sorted(each.partition for each in consumer.assignment()))
        offsets = await consumer.offsets_for_times({tp: START + 4500, empty: START})
        found = offsets[tp]
        assert found is not None
        print("found", found.offset, found.timestamp - START, offsets[empty])
        consumer.seek(tp, found.offset)
        message = await consumer.getone()
        print("reads", message.offset, message.timestamp - START, message.timestamp_type, message.value)
        print("ends", [offset for _, offset in sorted((await consumer.end_offsets([tp, empty])).items())])
        print("begins", [offset for _, offset in sorted((await consumer.beginning_offsets([tp, empty])).items())])
        await consumer.seek_to_beginning(tp)
        message = await consumer.getone()
        print("reads", message.offset, await consumer.position(tp))
        await consumer.seek_to_end(tp)
        print("end", await consumer.position(tp))
        print("highwater", consumer.highwater(tp))
    finally:
        await consumer.stop()


asyncio.run(main())
