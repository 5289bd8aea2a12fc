"""aiokafka."""

from __future__ import annotations

import asyncio
import importlib
from typing import Any

from bench.gather import gather_async
from bench.job import LINGER_MS, Job, Watch
from bench.trips import Pairs, async_round_trips
from bench.workload import make_records

peer: Any = importlib.import_module("aiokafka")
POLL_RECORDS = 500
BATCH_BYTES = 1 << 20
"""Larger fetches, and more records a call, make it slower; larger batches than the others have make it faster."""
VERSION = str(peer.__version__)


def _consumer(job: Job) -> Any:
    consumer = peer.AIOKafkaConsumer(
        bootstrap_servers=job.bootstrap_servers,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        group_id=None,
        max_poll_records=POLL_RECORDS,
    )
    consumer.assign([peer.TopicPartition(job.topic, partition) for partition in range(job.partitions)])
    return consumer


def getmany(job: Job, watch: Watch) -> None:
    """`getmany()`."""

    async def read() -> None:
        consumer = _consumer(job)
        await consumer.start()
        while not watch.done():
            for records in (await consumer.getmany(timeout_ms=1000)).values():
                watch.sums.add([r.key for r in records], [r.value for r in records])
        await consumer.stop()

    asyncio.run(read())


def iterate_async(job: Job, watch: Watch) -> None:
    """`async for`."""

    async def read() -> None:
        consumer = _consumer(job)
        await consumer.start()
        await gather_async(consumer, job, watch)
        await consumer.stop()

    asyncio.run(read())


def send_async(job: Job, watch: Watch) -> None:
    """`send()` and its future."""
    keys, values = make_records(job.count, job.size)

    async def write() -> None:
        producer = peer.AIOKafkaProducer(
            bootstrap_servers=job.bootstrap_servers,
            linger_ms=LINGER_MS,
            max_batch_size=BATCH_BYTES,
            max_request_size=16 << 20,
            compression_type=None if job.codec == "none" else job.codec,
            acks="all",
            enable_idempotence=True,
        )
        await producer.start()
        await producer.partitions_for(job.topic)
        watch.start()
        futures = [await producer.send(job.topic, value, key) for key, value in zip(keys, values, strict=True)]
        await producer.flush()
        watch.stop()
        watch.acknowledged(sum(future.done() and future.exception() is None for future in futures))
        await producer.stop()

    asyncio.run(write())


def round_trip_async(job: Job, watch: Watch) -> None:
    """One record under way."""

    async def travel() -> None:
        servers = {"bootstrap_servers": job.bootstrap_servers}
        producer = peer.AIOKafkaProducer(**servers, linger_ms=0, acks="all", enable_idempotence=True)
        consumer = peer.AIOKafkaConsumer(
            **servers, auto_offset_reset="earliest", enable_auto_commit=False, group_id=None
        )
        consumer.assign([peer.TopicPartition(job.topic, 0)])
        await producer.start()
        await consumer.start()

        async def receive() -> Pairs:
            found = await consumer.getmany(timeout_ms=1000)
            return [(record.key, record.value) for records in found.values() for record in records]

        await async_round_trips(
            job, watch, lambda key, value: producer.send_and_wait(job.topic, value, key, partition=0), receive
        )
        await consumer.stop()
        await producer.stop()

    asyncio.run(travel())
