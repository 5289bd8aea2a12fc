"""Ctrl-C while a consumer is closed: no connection and no task stays behind once it is dropped."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import time
from typing import Any

import pytest

from kafka import KafkaAdminClient, KafkaConsumer
from kafka.broker import EmbeddedBroker
from kafka.consumer.core import ConsumerCore
from kafka.net import LoopCall, LoopThread
from kafka.net.fork import owners_on
from unit.interrupt import PACKAGE, interrupts
from unit.sampling import EVERY

PATHS = [
    os.path.join(PACKAGE, *part)
    for part in (
        ("consumer", "_sync", "calls.py"),
        ("consumer", "_sync", "poll_loop.py"),
        ("consumer", "runners"),
        ("net", "loop_thread.py"),
        ("net", "loop_call.py"),
        ("net", "interruptible.py"),
    )
]
PATIENCE_S = 10


def is_anything_left() -> bool:
    """Whether the loop keeps connections or tasks."""
    gc.collect()
    loop = LoopThread.shared()

    async def left() -> bool:
        deadline = loop.loop.time() + PATIENCE_S
        while any(not each.closed for each in owners_on(loop.loop)) or len(asyncio.all_tasks()) > 1:
            if loop.loop.time() > deadline:
                return True
            await asyncio.sleep(0)
        return False

    return loop.run(left())


@pytest.mark.slow
@pytest.mark.parametrize("every", EVERY)
@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited")
def test_closing_interrupted_at_any_point_leaves_nothing(kafka_broker: EmbeddedBroker, every: int) -> None:
    def make() -> KafkaConsumer:
        consumer = KafkaConsumer(bootstrap_servers=kafka_broker.bootstrap_servers, group_id="g")
        consumer.assign([])
        return consumer

    consumer = make()
    for interrupt in interrupts(consumer.close, *PATHS, every=every):
        consumer = make()
        with contextlib.suppress(KeyboardInterrupt), interrupt:
            consumer.close()
        del consumer
        assert not is_anything_left(), f"interrupted in {interrupt.where}"


def test_a_consumer_leaves_its_group_though_the_wait_for_that_is_interrupted(
    kafka_broker: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    servers = kafka_broker.bootstrap_servers
    consumer = KafkaConsumer("t", bootstrap_servers=servers, group_id="left")
    while not consumer.assignment():
        consumer.poll(100)
    go_on, close, wait = asyncio.Event(), ConsumerCore.close, LoopCall.wait

    async def held(core: ConsumerCore, timeout_ms: float) -> None:
        await go_on.wait()
        await close(core, timeout_ms)

    def interrupted(call: LoopCall[Any], timeout_s: float | None = None) -> bool:
        if call._coroutine.__name__ == "held":
            raise KeyboardInterrupt
        return wait(call, timeout_s)

    monkeypatch.setattr(ConsumerCore, "close", held)
    monkeypatch.setattr(LoopCall, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        consumer.close()
    LoopThread.shared().call(go_on.set)
    with KafkaAdminClient(bootstrap_servers=servers) as admin:
        deadline = time.monotonic() + PATIENCE_S
        while members_of(admin, "left"):
            assert time.monotonic() < deadline


def members_of(admin: KafkaAdminClient, group: str) -> Any:
    return admin.describe_consumer_groups([group])[0].members
