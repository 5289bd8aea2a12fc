"""This package."""

from __future__ import annotations

from typing import Any

import kafka
from bench.job import BATCH_BYTES, BATCH_RECORDS, FETCH_BYTES, LINGER_MS, PARTITION_FETCH_BYTES, Job, Watch
from bench.workload import make_records
from kafka import _variant

VERSION = f"{kafka.__version__} ({_variant.variant()})"


def _consumer(job: Job) -> kafka.KafkaConsumer:
    consumer = kafka.KafkaConsumer(
        bootstrap_servers=job.bootstrap_servers,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        group_id=None,
        max_poll_records=BATCH_RECORDS,
        fetch_max_bytes=FETCH_BYTES,
        max_partition_fetch_bytes=PARTITION_FETCH_BYTES,
    )
    consumer.assign([kafka.TopicPartition(job.topic, partition) for partition in range(job.partitions)])
    return consumer


def poll_arrow(job: Job, watch: Watch) -> None:
    """Arrow batches."""
    consumer = _consumer(job)
    while not watch.done():
        watch.sums.add_arrow(consumer.poll_arrow(timeout_ms=1000))
    consumer.close()


def poll(job: Job, watch: Watch) -> None:
    """Lists of ConsumerRecords."""
    consumer = _consumer(job)
    while not watch.done():
        for records in consumer.poll(timeout_ms=1000).values():
            watch.sums.add([r.key for r in records], [r.value for r in records])
    consumer.close()


def iterate(job: Job, watch: Watch) -> None:
    """One ConsumerRecord after the other."""
    consumer = _consumer(job)
    keys: list[bytes] = []
    values: list[bytes] = []
    left = job.count
    for record in consumer:
        keys.append(record.key)
        values.append(record.value)
        left -= 1
        if len(keys) == BATCH_RECORDS or not left:
            watch.sums.add(keys, values)
            keys.clear()
            values.clear()
            if watch.done():
                break
    consumer.close()


def _producer(job: Job) -> kafka.KafkaProducer:
    return kafka.KafkaProducer(
        bootstrap_servers=job.bootstrap_servers,
        linger_ms=LINGER_MS,
        batch_size=BATCH_BYTES,
        buffer_memory=256 << 20,
        max_request_size=16 << 20,
        compression_type=None if job.codec == "none" else job.codec,
        acks="all",
    )


def send(job: Job, watch: Watch) -> None:
    """`send()` and its future."""
    keys, values = make_records(job.count, job.size)
    producer = _producer(job)
    producer.partitions_for(job.topic)
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
    producer.partitions_for(job.topic)
    delivered: list[object] = []
    watch.start()
    for key, value in zip(keys, values, strict=True):
        producer.send(job.topic, value, key).add_callback(delivered.append)
    producer.flush()
    watch.stop()
    watch.acknowledged(len(delivered))
    producer.close()


def send_arrow(job: Job, watch: Watch) -> None:
    """Arrow tables."""
    import pyarrow as pa

    keys, values = make_records(job.count, job.size)
    table: Any = pa.table({"key": pa.array(keys, pa.binary()), "value": pa.array(values, pa.binary())})
    batches = table.to_batches(max_chunksize=100_000)
    producer = _producer(job)
    producer.partitions_for(job.topic)
    watch.start()
    futures = [producer.send_arrow(job.topic, batch) for batch in batches]
    producer.flush()
    watch.stop()
    watch.acknowledged(sum(batch.num_rows for batch, f in zip(batches, futures, strict=True) if f.succeeded()))
    producer.close()
