"""A producer core on a fake cluster."""

from __future__ import annotations

import contextlib
import random
from collections.abc import AsyncIterator
from typing import Any

from kafka.config import parse_producer
from kafka.producer._async.calls import AsyncProducerCalls
from kafka.producer.appending.checks import Blocked
from kafka.producer.core import ProducerCore
from kafka.producer.future import FutureRecordMetadata
from kafka.producer.runners import LoopRunner
from unit.producer.producing_cluster import ProducingCluster


class FakeProducer(AsyncProducerCalls):
    """The asyncio face, on a fake cluster."""

    def __init__(self, cluster: ProducingCluster, seed: int = 1, **configs: Any) -> None:
        self.cluster = cluster
        self._runner = LoopRunner()
        self.core = self._core = ProducerCore(
            parse_producer(configs),
            self._runner.loop,
            cluster=cluster,
            now_ns=lambda: 1_700_000_000_000_000_000,
            rng=random.Random(seed),
        )

    async def send(
        self,
        value: bytes | None,
        key: bytes | None = None,
        topic: str = "t",
        headers: Any = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
    ) -> FutureRecordMetadata:
        try:
            return self.core.appender.append(topic, value, key, headers, partition, timestamp_ms)
        except Blocked as reason:
            blocked = reason.with_traceback(None)
        return await self._send_when_possible(blocked, topic, value, key, headers, partition, timestamp_ms)


@contextlib.asynccontextmanager
async def producing(cluster: ProducingCluster, seed: int = 1, **configs: Any) -> AsyncIterator[FakeProducer]:
    """A started producer, closed at the end."""
    producer = FakeProducer(cluster, seed, **configs)
    await producer.core.start()
    try:
        yield producer
    finally:
        await producer.core.close(0 if cluster.down else None)
