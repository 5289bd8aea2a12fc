"""confluent-kafka, the binding of librdkafka."""

from __future__ import annotations

from typing import Any

import confluent_kafka

from bench.job import BATCH_BYTES, BATCH_RECORDS, FETCH_BYTES, LINGER_MS, PARTITION_FETCH_BYTES, Job, Watch
from bench.workload import make_records

VERSION = str(confluent_kafka.__version__)


def _consumer(job: Job) -> Any:
    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": job.bootstrap_servers,
            "group.id": "bench",
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "fetch.max.bytes": FETCH_BYTES,
            "receive.message.max.bytes": FETCH_BYTES + (1 << 20),
            "max.partition.fetch.bytes": PARTITION_FETCH_BYTES,
            "queued.min.messages": 500_000,
            "queued.max.messages.kbytes": 262144,
        }
    )
    offset = confluent_kafka.OFFSET_BEGINNING
    consumer.assign([confluent_kafka.TopicPartition(job.topic, p, offset) for p in range(job.partitions)])
    return consumer


def poll(job: Job, watch: Watch) -> None:
    """Lists of messages."""
    consumer = _consumer(job)
    while not watch.done():
        messages = consumer.consume(BATCH_RECORDS, 1.0)
        watch.sums.add([m.key() for m in messages], [m.value() for m in messages])
    consumer.close()


poll_arrow = poll
"""It has no columns: its best is what the columns are compared with."""


def iterate(job: Job, watch: Watch) -> None:
    """One message after the other."""
    consumer = _consumer(job)
    keys: list[bytes] = []
    values: list[bytes] = []
    left = job.count
    while True:
        message = consumer.poll(1.0)
        if message is not None:
            keys.append(message.key())
            values.append(message.value())
            left -= 1
        if len(keys) == BATCH_RECORDS or not left or message is None:
            watch.sums.add(keys, values)
            keys.clear()
            values.clear()
            if watch.done():
                break
    consumer.close()


def send(job: Job, watch: Watch) -> None:
    """`produce()` with a callback a record: the only way to learn what became of it."""
    keys, values = make_records(job.count, job.size)
    delivered: list[object] = []

    def on_delivery(error: object, message: object) -> None:
        if error is None:
            delivered.append(message)

    producer = confluent_kafka.Producer(
        {
            "bootstrap.servers": job.bootstrap_servers,
            "linger.ms": LINGER_MS,
            "batch.size": BATCH_BYTES,
            "batch.num.messages": 1_000_000,
            "queue.buffering.max.messages": 1_000_000,
            "queue.buffering.max.kbytes": 262144,
            "compression.type": job.codec,
            "partitioner": "murmur2_random",
            "acks": "all",
            "enable.idempotence": True,
        }
    )
    producer.list_topics(job.topic, 10)
    watch.start()
    produce, serve = producer.produce, producer.poll
    for number, (key, value) in enumerate(zip(keys, values, strict=True)):
        while True:
            try:
                produce(job.topic, value, key, on_delivery=on_delivery)
                break
            except BufferError:
                serve(0.1)
        if not number % 1000:
            serve(0)
    producer.flush()
    watch.stop()
    watch.acknowledged(len(delivered))


send_callback = send
send_arrow = send
