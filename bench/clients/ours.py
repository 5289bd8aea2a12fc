"""This package."""

from __future__ import annotations

import uuid
from typing import Any

import kafka
from bench.gather import gather
from bench.job import (
    BATCH_BYTES,
    FETCH_BYTES,
    LINGER_MS,
    PATIENCE_S,
    TRANSACTION_RECORDS,
    Job,
    Watch,
)
from bench.share_group import SHARE_RECORDS, new_share_group
from bench.trips import Pairs, round_trips
from bench.workload import make_records
from kafka import _variant, version

POLL_RECORDS = 2_000
RECORDS_FETCH = {"fetch_max_bytes": FETCH_BYTES, "max_partition_fetch_bytes": 2 << 20}
COLUMNS_FETCH = {"max_partition_fetch_bytes": 4 << 20}
"""Larger than by default: the loop's thread needs the interpreter less often for fewer and larger answers."""
OWN_VERSION = getattr(version, "DISTRIBUTION_VERSION", version.__version__)
"""The distribution's version. In older trees, which these clients run too, the two versions were one."""
VERSION = f"{OWN_VERSION} ({_variant.variant()})"


def consumer_settings(job: Job) -> dict[str, Any]:
    """The options of a consumer that reads a topic from its beginning, without a group."""
    return {
        "bootstrap_servers": job.bootstrap_servers,
        "auto_offset_reset": "earliest",
        "enable_auto_commit": False,
        "group_id": None,
        "max_poll_records": POLL_RECORDS,
        **RECORDS_FETCH,
    }


def producer_settings(job: Job) -> dict[str, Any]:
    """The options of a producer that sends much."""
    return {
        "bootstrap_servers": job.bootstrap_servers,
        "linger_ms": LINGER_MS,
        "batch_size": BATCH_BYTES,
        "buffer_memory": 256 << 20,
        "max_request_size": 16 << 20,
        "compression_type": None if job.codec == "none" else job.codec,
        "acks": "all",
    }


def _consumer(job: Job, partitions: int = 0, **settings: Any) -> kafka.KafkaConsumer:
    consumer = kafka.KafkaConsumer(**settings or consumer_settings(job))
    consumer.assign([kafka.TopicPartition(job.topic, partition) for partition in range(partitions or job.partitions)])
    return consumer


def _producer(job: Job) -> kafka.KafkaProducer:
    producer = kafka.KafkaProducer(**producer_settings(job))
    producer.partitions_for(job.topic)
    return producer


def poll_arrow(job: Job, watch: Watch) -> None:
    """Arrow batches."""
    _poll_arrow(_consumer(job, **consumer_settings(job) | COLUMNS_FETCH), watch)


def memory_arrow(job: Job, watch: Watch) -> None:
    """Arrow batches, with the defaults."""
    _poll_arrow(_consumer(job, **_defaults(job)), watch)


def _poll_arrow(consumer: kafka.KafkaConsumer, watch: Watch) -> None:
    while not watch.done():
        watch.sums.add_arrow(consumer.poll_arrow(timeout_ms=1000))
    consumer.close()


def poll(job: Job, watch: Watch) -> None:
    """Lists of ConsumerRecords."""
    _poll(_consumer(job), watch)


def memory(job: Job, watch: Watch) -> None:
    """Lists of ConsumerRecords, with the defaults."""
    _poll(_consumer(job, **_defaults(job)), watch)


def _poll(consumer: kafka.KafkaConsumer, watch: Watch) -> None:
    while not watch.done():
        for records in consumer.poll(timeout_ms=1000).values():
            watch.sums.add([r.key for r in records], [r.value for r in records])
    consumer.close()


def share(job: Job, watch: Watch) -> None:
    """Lists of records of a share group."""
    consumer = _share_consumer(job)
    while not watch.done():
        for records in consumer.poll(timeout_ms=1000).values():
            watch.sums.add([r.key for r in records], [r.value for r in records])
    consumer.close()


def share_arrow(job: Job, watch: Watch) -> None:
    """Arrow batches of records of a share group."""
    consumer = _share_consumer(job)
    while not watch.done():
        watch.sums.add_arrow(consumer.poll_arrow(timeout_ms=1000))
    consumer.close()


def _share_consumer(job: Job) -> kafka.KafkaShareConsumer:
    group = new_share_group(job.bootstrap_servers)
    return kafka.KafkaShareConsumer(
        job.topic, bootstrap_servers=job.bootstrap_servers, group_id=group, max_poll_records=SHARE_RECORDS
    )


def count(job: Job, watch: Watch) -> None:
    """Count records, whatever they are."""
    consumer = _consumer(job)
    while not watch.done():
        watch.sums.count += consumer.poll_arrow(timeout_ms=1000).num_rows
    consumer.close()


def _defaults(job: Job) -> dict[str, Any]:
    return {"bootstrap_servers": job.bootstrap_servers, "auto_offset_reset": "earliest"}


def iterate(job: Job, watch: Watch) -> None:
    """One ConsumerRecord after the other."""
    consumer = _consumer(job)
    gather(consumer, job, watch)
    consumer.close()


def send(job: Job, watch: Watch) -> None:
    """`send()` and its future."""
    keys, values = make_records(job.count, job.size)
    producer = _producer(job)
    watch.start()
    futures = [producer.send(job.topic, value, key) for key, value in zip(keys, values, strict=True)]
    producer.flush()
    watch.stop()
    watch.acknowledged(sum(future.succeeded() for future in futures))
    producer.close()


def send_callback(job: Job, watch: Watch) -> None:
    """`send()` with a callback a record."""
    keys, values = make_records(job.count, job.size)
    producer = _producer(job)
    delivered = 0

    def on_delivery(metadata: object) -> None:
        nonlocal delivered
        delivered += 1

    watch.start()
    for key, value in zip(keys, values, strict=True):
        producer.send(job.topic, value, key).add_callback(on_delivery)
    producer.flush()
    watch.stop()
    watch.acknowledged(delivered)
    producer.close()


def transactions(job: Job, watch: Watch) -> None:
    """Records in transactions; a commit sends what lingers."""
    keys, values = make_records(job.count, job.size)
    producer = kafka.KafkaProducer(**producer_settings(job), transactional_id=f"bench-{uuid.uuid4()}")
    producer.init_transactions()
    producer.partitions_for(job.topic)
    watch.start()
    for begin in range(0, job.count, TRANSACTION_RECORDS):
        producer.begin_transaction()
        end = begin + TRANSACTION_RECORDS
        for key, value in zip(keys[begin:end], values[begin:end], strict=True):
            producer.send(job.topic, value, key)
        producer.commit_transaction()
    watch.stop()
    watch.acknowledged(job.count)
    producer.close()


def send_arrow(job: Job, watch: Watch) -> None:
    """Arrow tables."""
    import pyarrow as pa

    keys, values = make_records(job.count, job.size)
    table: Any = pa.table({"key": pa.array(keys, pa.binary()), "value": pa.array(values, pa.binary())})
    batches = table.to_batches(max_chunksize=100_000)
    producer = _producer(job)
    watch.start()
    futures = [producer.send_arrow(job.topic, batch) for batch in batches]
    producer.flush()
    watch.stop()
    watch.acknowledged(sum(batch.num_rows for batch, f in zip(batches, futures, strict=True) if f.succeeded()))
    producer.close()


def round_trip(job: Job, watch: Watch) -> None:
    """One record under way."""
    producer = kafka.KafkaProducer(bootstrap_servers=job.bootstrap_servers, linger_ms=0)
    consumer = _consumer(job, 1, **_defaults(job), group_id=None)

    def receive() -> Pairs:
        return [(record.key, record.value) for record in consumer.poll(timeout_ms=1000)]

    round_trips(
        job, watch, lambda key, value: producer.send(job.topic, value, key, partition=0).get(PATIENCE_S), receive
    )
    consumer.close()
    producer.close()
