"""A producer that asks for idempotence and every codec, and groups without commits that follow the end."""

from __future__ import annotations

import asyncio
import os

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

SERVERS, TOPIC, GROUP = os.environ["KAFKA_BOOTSTRAP_SERVERS"], os.environ["TOPIC"], os.environ["GROUP"]


async def main() -> None:
    for codec in (None, "gzip", "snappy", "lz4", "zstd"):
        producer = AIOKafkaProducer(
            bootstrap_servers=SERVERS,
            enable_idempotence=True,
            compression_type=codec,
            acks="all",
            linger_ms=2,
            request_timeout_ms=30_000,
            retry_backoff_ms=50,
        )
        async with producer:
            await asyncio.gather(*[producer.send_and_wait(TOPIC, b"z" * 100, partition=0) for _ in range(20)])
    for acks in (0, 1, "all"):
        async with AIOKafkaProducer(bootstrap_servers=SERVERS, acks=acks) as producer:
            done = await producer.send_and_wait(TOPIC, b"acks", partition=0)
            print(acks, (done.partition, done.offset) if acks else done)
    try:
        AIOKafkaProducer(bootstrap_servers=SERVERS, enable_idempotence=True, acks=1)
    except ValueError:
        print("idempotence needs acks=all")
    async with AIOKafkaConsumer(TOPIC, bootstrap_servers=SERVERS, group_id=GROUP) as consumer:
        while not consumer.assignment():
            await asyncio.sleep(0.02)
        print(sorted([tp.partition for tp in consumer.assignment()]))
        for tp in consumer.assignment():
            await consumer.position(tp)
        async with AIOKafkaProducer(bootstrap_servers=SERVERS) as producer:
            await producer.send_and_wait(TOPIC, b"new", partition=0)
        print("from the end on:", (await consumer.getone()).value)


asyncio.run(main())
