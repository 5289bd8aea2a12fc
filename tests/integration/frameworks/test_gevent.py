"""The synchronous clients in a program that gevent has patched: they work, and other greenlets run while they wait."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka.broker import EmbeddedBroker

PATCHED = """
from gevent import monkey
monkey.patch_all()
import asyncio, sys, gevent, gevent.event
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.errors import WakeupError
servers = sys.argv[1]
"""
PATIENCE_S = 120


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[str]:
    pytest.importorskip("gevent", reason="gevent is not installed")
    with EmbeddedBroker(tmp_path) as broker:
        yield broker.bootstrap_servers


def run(code: str, servers: str) -> str:
    command = [sys.executable, "-W", "error", "-c", PATCHED + code, servers]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_records_go_there_and_back(servers: str) -> None:
    code = """
with KafkaProducer(bootstrap_servers=servers, compression_type="gzip") as producer:
    assert producer.send("green", b"one").get(timeout=60).offset == 0
    called = gevent.event.AsyncResult()
    producer.send("green", b"two").add_callback(called.set)
    producer.flush()
    print(called.get(timeout=60).offset)
options = dict(auto_offset_reset="earliest", consumer_timeout_ms=30_000)
with KafkaConsumer("green", bootstrap_servers=servers, group_id="g", **options) as consumer:
    print([next(consumer).value for _ in range(2)])
    consumer.commit()
with KafkaAdminClient(bootstrap_servers=servers) as admin:
    print("green" in admin.list_topics())
"""
    assert run(code, servers).splitlines() == ["1", "[b'one', b'two']", "True"]


def test_other_greenlets_run_while_one_polls(servers: str) -> None:
    code = """
with KafkaConsumer("quiet", bootstrap_servers=servers) as consumer:
    polling = gevent.spawn(consumer.poll, 600_000)
    while not consumer._core.clock._inside:
        gevent.sleep(0)
    consumer.wakeup()  # this greenlet runs although the other waits
    try:
        polling.get(timeout=60)
    except WakeupError:
        print("woken")
"""
    assert run(code, servers).splitlines() == ["woken"]


def test_greenlets_share_a_producer(servers: str) -> None:
    code = """
with KafkaProducer(bootstrap_servers=servers) as producer:
    sending = [gevent.spawn(lambda: producer.send("shared", b"x").get(timeout=60).offset) for _ in range(50)]
    gevent.joinall(sending, raise_error=True)
    print(sorted(each.value for each in sending) == list(range(50)))
"""
    assert run(code, servers).splitlines() == ["True"]


def test_asyncio_runs_in_another_greenlet(servers: str) -> None:
    code = """
async def main():
    for _ in range(100):
        await asyncio.sleep(0)
        await asyncio.to_thread(producer.send, "both", b"x")
    assert asyncio.current_task() is not None
    return "done"
with KafkaProducer(bootstrap_servers=servers) as producer:
    print(asyncio.run(main()))
    producer.flush()
    print(producer.send("both", b"last").get(timeout=60).offset)
"""
    assert run(code, servers).splitlines() == ["done", "100"]
