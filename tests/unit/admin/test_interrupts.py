"""Ctrl-C while an admin client is created or closed, and a finalizer that closes it: no connection is left open."""

import asyncio
import contextlib
import gc
import os
import threading

import pytest

from kafka.admin import KafkaAdminClient
from kafka.admin import client as client_module
from kafka.net import LoopThread
from kafka.net.fork import owners_on
from unit.interrupt import PACKAGE, interrupts
from unit.sampling import EVERY

PATHS = [
    os.path.join(PACKAGE, *part)
    for part in (("admin", "client.py"), ("net", "loop_thread.py"), ("net", "loop_call.py"))
]


def assert_nothing_is_left(where):
    """Check that the loop's connections and the tasks that request metadata end."""
    gc.collect()
    loop = LoopThread.shared()

    async def left():
        async with asyncio.timeout(10):
            while any(not each.closed for each in owners_on(loop.loop)) or len(asyncio.all_tasks()) > 1:
                await asyncio.sleep(0)

    try:
        loop.run(left())
    except TimeoutError:
        pytest.fail(f"interrupted in {where}: a connection or a task is left")


@pytest.mark.parametrize("every", EVERY)
@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited")
def test_interrupted_creation_leaves_nothing_behind(kafka_broker, every):
    def make():
        return KafkaAdminClient(bootstrap_servers=kafka_broker.bootstrap_servers)

    for interrupt in interrupts(lambda: make().close(), *PATHS, every=every):
        with contextlib.suppress(KeyboardInterrupt):
            with interrupt:
                client = make()
            client.close()
        client = None
        assert_nothing_is_left(interrupt.where)


@pytest.mark.parametrize("every", EVERY)
@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited")
def test_interrupted_closing_leaves_nothing_behind(kafka_broker, every):
    def make():
        return KafkaAdminClient(bootstrap_servers=kafka_broker.bootstrap_servers)

    client = make()
    for interrupt in interrupts(client.close, *PATHS, every=every):
        client = make()
        with contextlib.suppress(KeyboardInterrupt), interrupt:
            client.close()
        client = None
        assert_nothing_is_left(interrupt.where)


def test_closing_in_the_loop_thread_does_not_block_it(kafka_broker, monkeypatch):
    """A user's finalizer may run there."""
    monkeypatch.setattr(client_module, "_CLOSE_TIMEOUT_S", None)  # no timeout
    client = KafkaAdminClient(bootstrap_servers=kafka_broker.bootstrap_servers)
    closed = threading.Event()
    LoopThread.shared().call(lambda: (client.close(), closed.set()))
    in_time = closed.wait(10)
    for call in list(LoopThread.shared()._waiting) if not in_time else ():
        call.fail(TimeoutError())  # unblock the loop
    assert in_time
    client = None
    assert_nothing_is_left("the loop's thread")
