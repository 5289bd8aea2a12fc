"""confluent-kafka, the binding of librdkafka."""

from __future__ import annotations

import uuid
from typing import Any

import confluent_kafka

from bench.gather import sum_up
from bench.job import BATCH_BYTES, BATCH_RECORDS, PATIENCE_S, TRANSACTION_RECORDS, Job, Watch
from bench.share_group import SHARE_RECORDS, new_share_group
from bench.trips import Pairs, round_trips
from bench.workload import make_records

VERSION = f"{confluent_kafka.__version__} (librdkafka {confluent_kafka.libversion()[0]})"
SEND_LINGER_MS = 5
"""Its default, with which it needs less of the processor than with more."""
SERVE_EVERY = 1_000
QUEUE_RECORDS = 1_000_000
CONSUME = 500
FAST: dict[str, Any] = {
    "enable.auto.offset.store": False,
    "queued.min.messages": 30_000,
    "fetch.queue.backoff.ms": 1,
}
"""Larger fetches and longer queues make it slower: its records then lie in more memory than the caches hold. With its
default of a second as back-off it stands still whenever a queue is full."""


def _consumer(job: Job, partitions: int = 0, **settings: Any) -> Any:
    """A consumer that reads from the beginning, without a group; `partitions` 0 is all."""
    required = {"bootstrap.servers": job.bootstrap_servers, "group.id": "bench", "enable.auto.commit": False}
    consumer = confluent_kafka.Consumer(required | settings)
    offset = confluent_kafka.OFFSET_BEGINNING
    chosen = range(partitions or job.partitions)
    consumer.assign([confluent_kafka.TopicPartition(job.topic, partition, offset) for partition in chosen])
    return consumer


def poll(job: Job, watch: Watch) -> None:
    """Lists of messages."""
    read(job, watch, FAST, CONSUME)


poll_arrow = poll
"""It has no columns: its best is what the columns are compared with."""


def share(job: Job, watch: Watch) -> None:
    """Lists of messages of a share group."""
    group = new_share_group(job.bootstrap_servers)
    settings = {"bootstrap.servers": job.bootstrap_servers, "group.id": group, "max.poll.records": SHARE_RECORDS}
    consumer = confluent_kafka.ShareConsumer(settings)
    consumer.subscribe([job.topic])
    while not watch.done():
        messages: Any = consumer.poll(1.0)
        watch.sums.add([m.key() for m in messages], [m.value() for m in messages])
    consumer.close()


share_arrow = share


def memory(job: Job, watch: Watch) -> None:
    """Lists of messages, with the defaults."""
    read(job, watch, {}, CONSUME)


memory_arrow = memory


def read(job: Job, watch: Watch, settings: dict[str, Any], most: int) -> None:
    """Take the records in lists of at most `size`."""
    consumer = _consumer(job, **settings)
    while not watch.done():
        # It waits for the full number of records, so asking for more than exist would wait until the timeout.
        messages = consumer.consume(min(most, job.count - watch.sums.count), 1.0)
        watch.sums.add([m.key() for m in messages], [m.value() for m in messages])
    consumer.close()


def count(job: Job, watch: Watch) -> None:
    """Count messages, whatever they are."""
    consumer = _consumer(job, **FAST)
    while not watch.done():
        watch.sums.count += len(consumer.consume(CONSUME, 0.1))
    consumer.close()


def iterate(job: Job, watch: Watch) -> None:
    """One message after the other."""
    consumer = _consumer(job, **FAST)
    keys: list[bytes] = []
    values: list[bytes] = []
    left = job.count
    while True:
        message = consumer.poll(1.0)
        if message is not None:
            keys.append(message.key())
            values.append(message.value())
            left -= 1
        if (len(keys) == BATCH_RECORDS or not left or message is None) and sum_up(keys, values, watch):
            break
    consumer.close()


def send(job: Job, watch: Watch) -> None:
    """`produce()` with a callback a record: the only way to learn what became of it."""
    keys, values = make_records(job.count, job.size)
    delivered = 0

    def on_delivery(error: object, message: object) -> None:
        nonlocal delivered
        if error is None:
            delivered += 1

    producer = confluent_kafka.Producer(
        {
            "bootstrap.servers": job.bootstrap_servers,
            "linger.ms": SEND_LINGER_MS,
            "batch.size": BATCH_BYTES,
            "batch.num.messages": 1_000_000,
            "queue.buffering.max.messages": QUEUE_RECORDS,
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
        if not number % SERVE_EVERY:
            serve(0)
    producer.flush()
    watch.stop()
    watch.acknowledged(delivered)


send_callback = send
send_arrow = send


def transactions(job: Job, watch: Watch) -> None:
    """Records in transactions; a commit sends what lingers."""
    keys, values = make_records(job.count, job.size)
    producer = confluent_kafka.Producer(
        {
            "bootstrap.servers": job.bootstrap_servers,
            "linger.ms": SEND_LINGER_MS,
            "batch.size": BATCH_BYTES,
            "partitioner": "murmur2_random",
            "transactional.id": f"bench-{uuid.uuid4()}",
        }
    )
    producer.init_transactions(PATIENCE_S)
    producer.list_topics(job.topic, 10)
    watch.start()
    for begin in range(0, job.count, TRANSACTION_RECORDS):
        producer.begin_transaction()
        end = begin + TRANSACTION_RECORDS
        for key, value in zip(keys[begin:end], values[begin:end], strict=True):
            producer.produce(job.topic, value, key)
        producer.commit_transaction()
    watch.stop()
    watch.acknowledged(job.count)


def round_trip(job: Job, watch: Watch) -> None:
    """One record under way."""
    producer = confluent_kafka.Producer(
        {"bootstrap.servers": job.bootstrap_servers, "linger.ms": 0, "acks": "all", "enable.idempotence": True}
    )
    consumer = _consumer(job, 1)
    delivered: list[object] = []

    def on_delivery(error: object, message: object) -> None:
        delivered.append(error or message)

    def send(key: bytes, value: bytes) -> None:
        producer.produce(job.topic, value, key, 0, on_delivery=on_delivery)
        while not delivered:
            producer.poll(PATIENCE_S)
        if isinstance(delivered.pop(), confluent_kafka.KafkaError):
            raise RuntimeError("a record was not delivered")

    def receive() -> Pairs:
        message = consumer.poll(1.0)
        return [(message.key(), message.value())] if message is not None else []

    round_trips(job, watch, send, receive)
    consumer.close()


round_trip_async = round_trip
"""It has no asyncio that is as quick."""
