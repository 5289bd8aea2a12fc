"""The topics of the benchmarks: what they hold, and how they are filled."""

from __future__ import annotations

from dataclasses import dataclass

from bench.workload import make_records

PARTITIONS = 4
CODECS = ("none", "lz4", "zstd", "snappy", "gzip")


@dataclass(frozen=True)
class Topic:
    """A topic with the first `count` records of a size, spread over the partitions by their keys."""

    codec: str
    size: int
    count: int

    @property
    def name(self) -> str:
        """Its name on the broker."""
        return f"bench-{self.codec}-{self.size}-{self.count}"

    @property
    def title(self) -> str:
        """Its name in a table."""
        return f"{self.size:,} bytes, {self.codec}"


def fill(bootstrap_servers: str, topic: Topic) -> None:
    """Produce the topic's records with a peer, so that what is measured did not also write what it reads."""
    from confluent_kafka import Producer

    from harness.topics import create_topic

    create_topic(bootstrap_servers, topic.name, PARTITIONS)
    failures: list[object] = []
    producer = Producer(
        {
            "bootstrap.servers": bootstrap_servers,
            "compression.type": topic.codec,
            "linger.ms": 50,
            "batch.size": 262144,
            "batch.num.messages": 100000,
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
