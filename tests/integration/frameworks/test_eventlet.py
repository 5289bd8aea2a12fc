"""The synchronous clients in a program that eventlet has patched work, and other greenlets run while they wait."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka.broker import EmbeddedBroker

PATCHED = """
import eventlet
eventlet.monkey_patch()
import sys
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.errors import WakeupError
servers = sys.argv[1]
"""
PATIENCE_S = 120


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[str]:
    pytest.importorskip("eventlet", reason="eventlet is not installed", exc_type=ImportError)
    with EmbeddedBroker(tmp_path) as broker:
        yield broker.bootstrap_servers


def run(code: str, servers: str) -> str:
    command = [sys.executable, "-W", "error::ResourceWarning", "-c", PATCHED + code, servers]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_records_go_there_and_back(servers: str) -> None:
    code = """
with KafkaProducer(bootstrap_servers=servers, compression_type="gzip") as producer:
    assert producer.send("green", b"one").get(timeout=60).offset == 0
    producer.send("green", b"two")
    producer.flush()
options = dict(auto_offset_reset="earliest", consumer_timeout_ms=30_000)
with KafkaConsumer("green", bootstrap_servers=servers, group_id="g", **options) as consumer:
    print([next(consumer).value for _ in range(2)])
    consumer.commit()
with KafkaAdminClient(bootstrap_servers=servers) as admin:
    print("green" in admin.list_topics())
"""
    assert run(code, servers).splitlines() == ["[b'one', b'two']", "True"]


def test_other_greenlets_run_while_one_polls(servers: str) -> None:
    code = """
with KafkaConsumer("quiet", bootstrap_servers=servers) as consumer:
    polling = eventlet.spawn(consumer.poll, 600_000)
    while not consumer._core.clock._inside:
        eventlet.sleep(0)
    consumer.wakeup()  # this greenlet runs although the other waits
    try:
        polling.wait()
    except WakeupError:
        print("woken")
"""
    assert run(code, servers).splitlines() == ["woken"]


def test_greenlets_share_a_producer(servers: str) -> None:
    code = """
with KafkaProducer(bootstrap_servers=servers) as producer:
    sending = [eventlet.spawn(lambda: producer.send("shared", b"x").get(timeout=60).offset) for _ in range(50)]
    print(sorted(each.wait() for each in sending) == list(range(50)))
"""
    assert run(code, servers).splitlines() == ["True"]
