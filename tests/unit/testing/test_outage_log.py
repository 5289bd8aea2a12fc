"""An outage of ten minutes does not flood the log: each client logs the failure at once, and then at intervals."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from kafka import AsyncKafkaAdminClient, AsyncKafkaConsumer, AsyncKafkaProducer
from kafka.errors import KafkaError
from kafka.testing.ledger import CommitLedger
from kafka.testing.simulated_cluster import SimulatedCluster
from kafka.testing.simulated_loop import SimulatedLoop, run_simulated

HOST, TOPIC = "broker-1", "numbers"
OUTAGE_S = 600.0
MOST_LINES = 60

Work = Callable[[str], Awaitable[None]]


async def consume(servers: str, **options: object) -> None:
    async with AsyncKafkaConsumer(TOPIC, bootstrap_servers=servers, group_id="g", **options) as consumer:  # type: ignore[arg-type]
        while True:
            with contextlib.suppress(KafkaError):
                await consumer.poll(timeout_ms=500)
            await asyncio.sleep(0.1)


async def consume_by_848(servers: str) -> None:
    await consume(servers, group_protocol="consumer")


async def produce(servers: str) -> None:
    async with AsyncKafkaProducer(bootstrap_servers=servers) as producer:
        while True:
            with contextlib.suppress(KafkaError):
                await producer.send(TOPIC, b"1")
            await asyncio.sleep(0.5)


async def administer(servers: str) -> None:
    async with AsyncKafkaAdminClient(bootstrap_servers=servers) as admin:
        while True:
            with contextlib.suppress(KafkaError):
                await admin.describe_cluster()
            await asyncio.sleep(1)


@pytest.mark.slow
@pytest.mark.once
@pytest.mark.parametrize("work", [consume, consume_by_848, produce, administer])
@pytest.mark.parametrize("silent", [False, True], ids=["refused", "silent"])
def test_ten_minutes_without_brokers_log_at_most_sixty_lines(
    work: Work, silent: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, SimulatedLoop)
        cluster = SimulatedCluster(loop, tmp_path, CommitLedger([], {}, {}))
        await cluster.start_all()
        working = asyncio.ensure_future(work(cluster.bootstrap_servers))
        await asyncio.sleep(30)
        caplog.clear()
        if silent:
            loop.network.silence(HOST, OUTAGE_S)
        else:
            await cluster.crash(HOST)
        await asyncio.sleep(OUTAGE_S)
        await cluster.start(HOST)
        await asyncio.sleep(60)
        assert not working.done()
        lines = [each for each in caplog.records if not each.name.startswith(("kafka.broker", "asyncio"))]
        assert 0 < len(lines) <= MOST_LINES, "\n".join(f"{each.name}: {each.getMessage()}" for each in lines)
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
        await cluster.stop_all()

    with caplog.at_level(logging.INFO, logger="kafka"):
        run_simulated(scenario)
