"""A producer core on a fake cluster."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator
from typing import Any

from kafka.config import parse_producer
from kafka.producer.core import ProducerCore
from kafka.producer.intake.blocked import NeedsMemory, NeedsTopic
from kafka.producer.outcome.future import FutureRecordMetadata
from unit.producer.fake_cluster import FakeCluster


class FakeProducer:
    """What the asyncio face does, on a fake cluster."""

    def __init__(self, cluster: FakeCluster, seed: int = 1, **configs: Any) -> None:
        self.cluster = cluster
        self.core = ProducerCore(
            parse_producer(configs),
            asyncio.get_running_loop(),
            cluster=cluster,
            now_ns=lambda: 1_700_000_000_000_000_000,
            rng=random.Random(seed),
        )

    async def send(self, value: bytes | None, key: bytes | None = None, **more: Any) -> FutureRecordMetadata:
        topic = more.pop("topic", "t")
        try:
            return self.core.appender.append(topic, value, key, **more)
        except NeedsTopic as blocked:
            await self.core.find_topic(blocked.topic, blocked.partition)
            return await self.send(value, key, topic=topic, **more)
        except NeedsMemory as blocked:
            await self.core.acquire(blocked.amount)
            return self.core.buffer.append(blocked.record, blocked.amount)


@contextlib.asynccontextmanager
async def producing(cluster: FakeCluster, seed: int = 1, **configs: Any) -> AsyncIterator[FakeProducer]:
    """A started producer, closed at the end."""
    producer = FakeProducer(cluster, seed, **configs)
    await producer.core.start()
    try:
        yield producer
    finally:
        await producer.core.close(0 if cluster.down else None)
