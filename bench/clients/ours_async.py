"""This package on asyncio."""

from __future__ import annotations

import asyncio
from typing import Any

import kafka
from bench.clients.ours import VERSION as VERSION
from bench.clients.ours import consumer_settings, producer_settings
from bench.gather import gather_async
from bench.job import Job, Watch
from bench.trips import Pairs, async_round_trips
from bench.workload import make_records


def _consumer(job: Job) -> kafka.AsyncKafkaConsumer:
    return kafka.AsyncKafkaConsumer(**consumer_settings(job))


async def _assign(consumer: kafka.AsyncKafkaConsumer, job: Job, partitions: int) -> None:
    await consumer.assign([kafka.TopicPartition(job.topic, partition) for partition in range(partitions)])


def getmany(job: Job, watch: Watch) -> None:
    """Lists of ConsumerRecords."""

    async def read() -> None:
        async with _consumer(job) as consumer:
            await _assign(consumer, job, job.partitions)
            while not watch.done():
                for records in (await consumer.getmany(timeout_ms=1000)).values():
                    watch.sums.add([r.key for r in records], [r.value for r in records])

    asyncio.run(read())


def iterate_async(job: Job, watch: Watch) -> None:
    """One ConsumerRecord after the other."""

    async def read() -> None:
        async with _consumer(job) as consumer:
            await _assign(consumer, job, job.partitions)
            await gather_async(consumer, job, watch)

    asyncio.run(read())


def send_async(job: Job, watch: Watch) -> None:
    """`send()` and its future."""
    keys, values = make_records(job.count, job.size)

    async def write() -> None:
        async with kafka.AsyncKafkaProducer(**producer_settings(job)) as producer:
            await producer.partitions_for(job.topic)
            watch.start()
            futures = [await producer.send(job.topic, value, key) for key, value in zip(keys, values, strict=True)]
            await producer.flush()
            watch.stop()
            watch.acknowledged(sum(future.succeeded() for future in futures))

    asyncio.run(write())


def round_trip_async(job: Job, watch: Watch) -> None:
    """One record under way."""

    async def travel() -> None:
        servers: dict[str, Any] = {"bootstrap_servers": job.bootstrap_servers}
        async with (
            kafka.AsyncKafkaProducer(**servers, linger_ms=0) as producer,
            kafka.AsyncKafkaConsumer(**servers, group_id=None, auto_offset_reset="earliest") as consumer,
        ):
            await _assign(consumer, job, 1)

            async def receive() -> Pairs:
                found = await consumer.getmany(timeout_ms=1000)
                return [(record.key, record.value) for record in found]

            await async_round_trips(
                job, watch, lambda key, value: producer.send_and_wait(job.topic, value, key, partition=0), receive
            )

    asyncio.run(travel())
