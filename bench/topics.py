"""The topics of the benchmarks: what they hold, and how they are filled."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from bench.workload import make_records
from harness.topics import create_topic

PARTITIONS = 4
LEADER_TIMEOUT_S = 30.0
CODECS = ("none", "lz4", "zstd", "snappy", "gzip")


@dataclass(frozen=True)
class Topic:
    """A topic with the first `count` records of a size, spread over the partitions by their keys.

    `per_batch` is the number of records per batch; 0: as many as a producer with a linger time puts into it.
    """

    codec: str
    size: int
    count: int
    per_batch: int = 0
    partitions: int = PARTITIONS

    @property
    def name(self) -> str:
        """Its name on the broker."""
        batches = f"-by-{self.per_batch}" if self.per_batch else ""
        spread = f"-in-{self.partitions}" if self.partitions != PARTITIONS else ""
        return f"bench-{self.codec}-{self.size}-{self.count}{batches}{spread}"

    @property
    def title(self) -> str:
        """Its name in a table."""
        batches = f", {self.per_batch} a batch" if self.per_batch else ""
        spread = f", {self.partitions:,} partitions" if self.partitions != PARTITIONS else ""
        return f"{self.size:,} bytes, {self.codec}{batches}{spread}"


def fill(bootstrap_servers: str, topic: Topic) -> None:
    """Produce the topic's records with a peer, so that what is measured did not also write what it reads.

    A topic that was filled before, by another run on the same cluster, is left as it is.

    Raises:
        RuntimeError: it holds something, but not its records; or they could not be delivered.
    """
    from confluent_kafka import Producer

    create_topic(bootstrap_servers, topic.name, topic.partitions)
    held = held_records(bootstrap_servers, topic.name, topic.partitions)
    if held == topic.count:
        return
    if held:
        raise RuntimeError(f"{topic.name} holds {held} records, neither {topic.count} nor none: delete it")
    failures: list[object] = []
    producer = Producer(
        {
            "bootstrap.servers": bootstrap_servers,
            "compression.type": topic.codec,
            "linger.ms": 50,
            "batch.size": 262144,
            "batch.num.messages": topic.per_batch or 100000,
            "queue.buffering.max.messages": 1000000,
            "delivery.report.only.error": True,
            "partitioner": "murmur2",
            "on_delivery": lambda error, message: failures.append(error) if error else None,
        }
    )
    keys, values = make_records(topic.count, topic.size)
    for key, value in zip(keys, values, strict=True):
        while True:
            try:
                producer.produce(topic.name, value, key)
                break
            except BufferError:  # compressing takes longer than handing over the records
                producer.poll(0.1)
    if producer.flush(120) or failures:
        raise RuntimeError(f"{topic.name} could not be filled: {failures[:1] or 'time is up'}")


def held_records(bootstrap_servers: str, name: str, partitions: int = PARTITIONS) -> int:
    """How many records a topic holds."""
    from confluent_kafka import Consumer

    consumer = Consumer({"bootstrap.servers": bootstrap_servers, "group.id": "bench"})
    try:
        return sum(_held_by_partition(consumer, name, number) for number in range(partitions))
    finally:
        consumer.close()


def _held_by_partition(consumer: Any, name: str, number: int) -> int:
    """How many records a partition holds. Its leader may have been named before it knows of it."""
    from confluent_kafka import KafkaError, KafkaException, TopicPartition

    deadline = time.monotonic() + LEADER_TIMEOUT_S
    while True:
        try:
            low, high = consumer.get_watermark_offsets(TopicPartition(name, number), LEADER_TIMEOUT_S)
            return int(high - low)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.NOT_LEADER_FOR_PARTITION or time.monotonic() > deadline:
                raise
            time.sleep(0.1)
