"""Subscribe by a pattern, change the subscription, give it up."""

from __future__ import annotations

import asyncio
import os
import re

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

SERVERS, TOPIC, OUT, GROUP = (os.environ[name] for name in ("KAFKA_BOOTSTRAP_SERVERS", "TOPIC", "TOPIC_OUT", "GROUP"))


async def main() -> None:
    async with AIOKafkaProducer(bootstrap_servers=SERVERS) as producer:
        await producer.send_and_wait(TOPIC, b"in", partition=0)
        await producer.send_and_wait(OUT, b"out")
        consumer = AIOKafkaConsumer(
            bootstrap_servers=SERVERS,
            group_id=GROUP,
            auto_offset_reset="earliest",
            metadata_max_age_ms=1000,
            enable_auto_commit=False,
        )
        await consumer.start()
        consumer.subscribe(pattern=f"^{re.escape(TOPIC)}$")
        message = await consumer.getone()
        print("by pattern", message.topic == TOPIC, message.value, set(consumer.subscription()) == {TOPIC})
        print(
            "partitions",
            sorted(consumer.partitions_for_topic(TOPIC) or ()),
            consumer.partitions_for_topic("no-such-topic"),
        )
        print("known", {TOPIC, OUT} <= set(await consumer.topics()))
        consumer.unsubscribe()
        print("nothing", set(consumer.subscription()), set(consumer.assignment()))
        consumer.subscribe([OUT])
        message = await consumer.getone()
        print("by name", message.topic == OUT, message.value)
        try:
            consumer.subscribe(topics=[OUT], pattern="x")
        except (TypeError, ValueError):
            print("either or")
        await consumer.stop()


asyncio.run(main())
