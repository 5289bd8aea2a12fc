"""What users see when the event loop that all clients of a process share fails."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading

import pytest

from kafka import KafkaConsumer, KafkaProducer
from kafka.broker import EmbeddedBroker
from kafka.errors import IllegalStateError
from kafka.net import LoopThread


def break_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the selector fail, as when other code closes its file descriptor."""
    thread = LoopThread.shared()

    def broken(timeout: float | None = None) -> None:
        raise OSError(9, "Bad file descriptor")

    monkeypatch.setattr(thread.loop._selector, "select", broken)  # type: ignore[attr-defined]
    thread.call(lambda: None)


def test_whoever_waits_is_told_and_the_next_clients_work(
    kafka_broker: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    servers = kafka_broker.bootstrap_servers
    producer = KafkaProducer(bootstrap_servers=servers, linger_ms=600_000)
    consumer = KafkaConsumer("t", bootstrap_servers=servers)
    consumer.poll(0)
    future = producer.send("t", b"never sent")
    polling = threading.Event()

    def poll() -> None:
        polling.set()
        consumer.poll(600_000)

    with concurrent.futures.ThreadPoolExecutor() as pool:
        # flush() would send what lingers, and be done before the loop breaks.
        for_the_loop = pool.submit(lambda: LoopThread.shared().run(asyncio.sleep(3600)))
        waiting = [pool.submit(poll), for_the_loop, pool.submit(future.get)]
        assert polling.wait(60)
        break_loop(monkeypatch)
        for each in waiting:
            with pytest.raises(IllegalStateError, match="create a new one"):
                each.result(60)
    with pytest.raises(IllegalStateError, match="create a new one"):
        producer.send("t", b"refused")
    monkeypatch.undo()
    for client in (producer, consumer):  # both are let go of, and say what they could not do
        with pytest.raises(IllegalStateError, match="the event loop of this client has failed"):
            client.close()
    with KafkaProducer(bootstrap_servers=servers) as again:
        assert again.send("t", b"sent").get(60).offset == 0
