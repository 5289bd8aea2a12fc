"""State in memory, kept in step with the partitions: snapshots seek back when a partition is taken over."""

from __future__ import annotations

import asyncio
import os
from collections import Counter

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener, TopicPartition

SERVERS, TOPIC, GROUP = os.environ["KAFKA_BOOTSTRAP_SERVERS"], os.environ["TOPIC"], os.environ["GROUP"]


class Counts(ConsumerRebalanceListener):
    def __init__(self, consumer: AIOKafkaConsumer) -> None:
        self.consumer = consumer
        self.counts: dict[TopicPartition, Counter[str]] = {}

    def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
        for tp in revoked:
            self.counts.pop(tp, None)

    async def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:
        for tp in assigned:
            self.counts[tp] = Counter()
            self.consumer.seek(tp, 1)  # as of the snapshot


async def main() -> None:
    async with AIOKafkaProducer(bootstrap_servers=SERVERS, compression_type="lz4") as producer:
        for partition in range(3):
            for word in ["a", "b", "a", "c"]:
                await producer.send_and_wait(TOPIC, word.encode(), partition=partition)
    consumer = AIOKafkaConsumer(
        bootstrap_servers=SERVERS,
        group_id=GROUP,
        enable_auto_commit=False,
        value_deserializer=bytes.decode,
        max_poll_records=4,
    )
    listener = Counts(consumer)
    await consumer.start()
    consumer.subscribe(topics=[TOPIC], listener=listener)
    count = 0
    while count < 9:
        result = await consumer.getmany(timeout_ms=1000)
        for tp, messages in result.items():
            count += len(messages)
            listener.counts[tp].update(message.value for message in messages)
    for partition in range(3):
        print(partition, sorted(listener.counts[TopicPartition(TOPIC, partition)].items()))
    await consumer.stop()


asyncio.run(main())
