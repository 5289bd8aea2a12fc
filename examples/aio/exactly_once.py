"""Consume, process, produce: each batch with its offsets in a transaction."""

from __future__ import annotations

import asyncio
import os
from collections import defaultdict

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

SERVERS, TOPIC, OUT, GROUP = (os.environ[name] for name in ("KAFKA_BOOTSTRAP_SERVERS", "TOPIC", "TOPIC_OUT", "GROUP"))


async def process(consumer: AIOKafkaConsumer, producer: AIOKafkaProducer, count: int) -> None:
    done = 0
    while done < count:
        batches = await consumer.getmany(timeout_ms=1000, max_records=10)
        if not batches:
            continue
        async with producer.transaction():
            offsets: dict[TopicPartition, int] = {}
            totals: defaultdict[bytes, int] = defaultdict(int)
            for tp, messages in batches.items():
                for message in messages:
                    totals[message.key] += int(message.value)
                offsets[tp] = messages[-1].offset + 1
                done += len(messages)
            for key, total in totals.items():
                await producer.send(OUT, value=b"%d" % total, key=key)
            await producer.send_offsets_to_transaction(offsets, GROUP)


async def main() -> None:
    async with AIOKafkaProducer(bootstrap_servers=SERVERS) as producer:
        for number in range(40):
            await producer.send_and_wait(TOPIC, b"%d" % number, key=b"even" if number % 2 == 0 else b"odd")

    producer = AIOKafkaProducer(bootstrap_servers=SERVERS, transactional_id=f"{GROUP}-tx")
    consumer = AIOKafkaConsumer(
        TOPIC,
        bootstrap_servers=SERVERS,
        group_id=GROUP,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        isolation_level="read_committed",
    )
    await producer.start()
    await consumer.start()
    try:
        await process(consumer, producer, 40)
        committed = 0
        while committed < 40:  # the last transaction's offsets show a moment after it has ended
            offsets = [await consumer.committed(TopicPartition(TOPIC, number)) for number in range(3)]
            committed = sum(each or 0 for each in offsets)
        print("committed", committed)
        try:
            async with producer.transaction():
                await producer.send(OUT, b"1000000", key=b"even")
                raise ValueError("changed my mind")
        except ValueError as error:
            print("aborted:", error)
        await producer.begin_transaction()
        await producer.send(OUT, b"1000000", key=b"odd")
        await producer.abort_transaction()
    finally:
        await consumer.stop()
        await producer.stop()

    reader = AIOKafkaConsumer(
        OUT,
        bootstrap_servers=SERVERS,
        auto_offset_reset="earliest",
        isolation_level="read_committed",
    )
    await reader.start()
    sums: defaultdict[bytes, int] = defaultdict(int)
    while messages := [each for many in (await reader.getmany(timeout_ms=1000)).values() for each in many]:
        for message in messages:
            sums[message.key] += int(message.value)
    await reader.stop()
    print("sums", sorted(sums.items()))


asyncio.run(main())
