"""kafka-python. It has the same import name, so it is installed in a separate folder."""

from __future__ import annotations

import importlib
from typing import Any

from bench.gather import gather
from bench.job import BATCH_BYTES, FETCH_BYTES, LINGER_MS, PARTITION_FETCH_BYTES, PATIENCE_S, Job, Watch
from bench.trips import Pairs, round_trips
from bench.workload import make_records

peer: Any = importlib.import_module("kafka")
VERSION = str(peer.__version__)
POLL_RECORDS = 2_000
if hasattr(peer, "_variant"):
    raise ImportError("this is not kafka-python: its folder has to come first in PYTHONPATH")


def _consumer(job: Job) -> Any:
    consumer = peer.KafkaConsumer(
        bootstrap_servers=job.bootstrap_servers,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        group_id=None,
        max_poll_records=POLL_RECORDS,
        fetch_max_bytes=FETCH_BYTES,
        max_partition_fetch_bytes=PARTITION_FETCH_BYTES,
    )
    consumer.assign([peer.TopicPartition(job.topic, partition) for partition in range(job.partitions)])
    return consumer


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
    gather(consumer, job, watch)
    consumer.close()


def send(job: Job, watch: Watch) -> None:
    """`send()` and its future."""
    keys, values = make_records(job.count, job.size)
    producer = peer.KafkaProducer(
        bootstrap_servers=job.bootstrap_servers,
        linger_ms=LINGER_MS,
        batch_size=BATCH_BYTES,
        max_request_size=16 << 20,
        compression_type=None if job.codec == "none" else job.codec,
        acks="all",
    )
    producer.partitions_for(job.topic)
    watch.start()
    futures = [producer.send(job.topic, value, key) for key, value in zip(keys, values, strict=True)]
    producer.flush()
    watch.stop()
    watch.acknowledged(sum(bool(future.succeeded()) for future in futures))
    producer.close()


send_callback = send


def round_trip(job: Job, watch: Watch) -> None:
    """One record under way."""
    servers = {"bootstrap_servers": job.bootstrap_servers}
    producer = peer.KafkaProducer(**servers, linger_ms=0, acks="all")
    consumer = peer.KafkaConsumer(**servers, auto_offset_reset="earliest", enable_auto_commit=False, group_id=None)
    consumer.assign([peer.TopicPartition(job.topic, 0)])

    def receive() -> Pairs:
        found = consumer.poll(timeout_ms=1000)
        return [(record.key, record.value) for records in found.values() for record in records]

    round_trips(
        job, watch, lambda key, value: producer.send(job.topic, value, key, partition=0).get(PATIENCE_S), receive
    )
    consumer.close()
    producer.close()
