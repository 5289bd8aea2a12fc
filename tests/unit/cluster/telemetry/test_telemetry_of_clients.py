"""Clients that push their metrics leave nothing behind, however they end."""

from __future__ import annotations

import asyncio
import gc
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from kafka import (
    AsyncKafkaAdminClient,
    AsyncKafkaConsumer,
    AsyncKafkaProducer,
    AsyncKafkaShareConsumer,
    KafkaAdminClient,
    KafkaConsumer,
    KafkaProducer,
    KafkaShareConsumer,
)
from kafka.admin import ConfigResource
from kafka.broker import EmbeddedBroker
from kafka.net import LoopThread
from kafka.net.fork import owners_on

SYNC = [(KafkaProducer, {}), (KafkaConsumer, {}), (KafkaShareConsumer, {"group_id": "g"}), (KafkaAdminClient, {})]
ASYNC = [
    (AsyncKafkaProducer, {}),
    (AsyncKafkaConsumer, {}),
    (AsyncKafkaShareConsumer, {"group_id": "g"}),
    (AsyncKafkaAdminClient, {}),
]
pytestmark = pytest.mark.once


@pytest.fixture(scope="module")
def broker() -> Iterator[EmbeddedBroker]:
    """One that wants to be told everything."""
    with EmbeddedBroker(client_telemetry=True) as broker:
        with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers, enable_metrics_push=False) as admin:
            admin.alter_configs([ConfigResource("CLIENT_METRICS", "all", {"metrics": "*", "interval.ms": "100"})])
        yield broker


def options(broker: EmbeddedBroker, more: dict[str, Any]) -> dict[str, Any]:
    return {"bootstrap_servers": broker.bootstrap_servers, "client_id": "c", **more}


async def until_nothing_is_left(loop: asyncio.AbstractEventLoop) -> None:
    async with asyncio.timeout(20):
        while any(not each.closed for each in owners_on(loop)) or asyncio.all_tasks() != {asyncio.current_task()}:
            gc.collect()
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("ends_by", ["close", "drop"])
@pytest.mark.parametrize(("kind", "more"), SYNC)
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_client_on_the_shared_loop(kind: type[Any], more: dict[str, Any], ends_by: str, broker) -> None:
    client = kind(**options(broker, more))
    client.client_instance_id(timeout_ms=20_000)
    if ends_by == "close":
        client.close()
        assert broker.pushed_metrics()[-1].terminating
    del client
    gc.collect()
    loop = LoopThread.shared()
    loop.run(until_nothing_is_left(loop.loop))


@pytest.mark.parametrize("ends_by", ["close", "drop", "cancel"])
@pytest.mark.parametrize(("kind", "more"), ASYNC)
async def test_a_client_on_the_programs_loop(kind: type[Any], more: dict[str, Any], ends_by: str, broker) -> None:
    client = kind(**options(broker, more))
    await client.start()
    await client.client_instance_id(timeout_ms=20_000)
    if ends_by == "close":
        await client.close()
        assert broker.pushed_metrics()[-1].terminating
    elif ends_by == "cancel":
        closing = asyncio.create_task(client.close())
        await asyncio.sleep(0)
        closing.cancel()
        await asyncio.wait((closing,))
        await client.close()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        del client
        gc.collect()
        await until_nothing_is_left(asyncio.get_running_loop())
