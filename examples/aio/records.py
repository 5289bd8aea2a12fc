"""Everything that a record has: headers, tombstones, times, sizes; and what errors a wrong one gives."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord, TopicPartition

SERVERS, TOPIC = os.environ["KAFKA_BOOTSTRAP_SERVERS"], os.environ["TOPIC"]


async def main() -> None:
    async with AIOKafkaProducer(bootstrap_servers=SERVERS, compression_type="gzip") as producer:
        headers = [("trace", b"\x01\x02"), ("empty", b""), ("trace", b"again")]
        await producer.send_and_wait(TOPIC, b"value", b"key", 0, 1_600_000_000_123, headers)
        await producer.send_and_wait(TOPIC, None, key=b"gone", partition=0, timestamp_ms=1_600_000_000_124)
        await producer.send_and_wait(TOPIC, value=b"no key", partition=0, timestamp_ms=1_600_000_000_125)
        several: list[dict[str, Any]] = [
            {"value": "text"},
            {"value": b"v", "key": "text"},
            {"value": b"v", "partition": 99},
            {},
        ]
        for wrong in several:
            try:
                await producer.send_and_wait(TOPIC, **wrong)
            except (TypeError, AssertionError):
                print("refused", sorted(wrong))

    consumer = AIOKafkaConsumer(bootstrap_servers=SERVERS, auto_offset_reset="earliest")
    await consumer.start()
    consumer.assign([TopicPartition(TOPIC, 0)])
    for _ in range(3):
        message = await consumer.getone()
        assert isinstance(message, ConsumerRecord)
        assert message.topic == TOPIC
        print(message.partition, message.offset, message.timestamp, message.timestamp_type)
        print("  ", message.key, message.value, message.serialized_key_size, message.serialized_value_size)
        print("  ", [tuple(header) for header in message.headers], message.checksum)
    await consumer.stop()


asyncio.run(main())
