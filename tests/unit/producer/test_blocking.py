"""Threads that wait for a `KafkaProducer`, on the embedded broker."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from kafka import AsyncKafkaProducer, KafkaProducer
from kafka.broker import EmbeddedBroker
from kafka.errors import (
    AssertedStateError,
    IllegalArgumentError,
    IllegalStateError,
    InvalidTopicError,
    KafkaTimeoutError,
    NotEnoughReplicasError,
)
from kafka.net import interruptible

PATIENCE_S = 30
_allocate = threading.Lock


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(tmp_path_factory.mktemp("broker")) as broker:
        yield broker


@pytest.fixture
def unavailable(broker: EmbeddedBroker) -> Iterator[Any]:
    """Nothing is delivered until this is removed."""
    rule = broker.faults.fail(NotEnoughReplicasError, api="Produce")
    yield rule
    rule.remove()


def producer_for(broker: EmbeddedBroker, **options: Any) -> KafkaProducer:
    defaults = {"bootstrap_servers": broker.bootstrap_servers, "retry_backoff_ms": 1, "retry_backoff_max_ms": 5}
    return KafkaProducer(**{**defaults, **options})


def test_a_thread_waits_for_memory_until_some_is_free(broker: EmbeddedBroker, unavailable: Any) -> None:
    with producer_for(broker, buffer_memory=2_000, batch_size=1_000) as producer:
        futures = [producer.send("t", bytes(900)) for _ in range(2)]
        sender = threading.Thread(target=lambda: futures.append(producer.send("t", bytes(900))))
        sender.start()
        unavailable.wait(3)
        assert sender.is_alive()
        unavailable.remove()
        sender.join(PATIENCE_S)
        assert len({future.get(PATIENCE_S) for future in futures}) == 3
        producer.flush()
        assert producer._core.buffer.memory.free == 2_000


def test_a_thread_waits_for_memory_at_most_max_block_ms(broker: EmbeddedBroker, unavailable: Any) -> None:
    with producer_for(broker, buffer_memory=2_000, batch_size=1_000, max_block_ms=50) as producer:
        for _ in range(2):
            producer.send("t", bytes(900))
        with pytest.raises(KafkaTimeoutError, match=r"no 1000 bytes of buffer_memory \(2000\) .* max_block_ms \(50\)"):
            producer.send("t", bytes(900))
        unavailable.remove()


def test_closing_ends_waiting_for_memory(broker: EmbeddedBroker, unavailable: Any) -> None:
    producer = producer_for(broker, buffer_memory=1_000, batch_size=1_000)
    producer.send("t", bytes(900)).add_errback(lambda _: None)
    raised: list[Exception] = []

    def send() -> None:
        try:
            producer.send("t", bytes(900))
        except Exception as error:
            raised.append(error)

    sender = threading.Thread(target=send)
    sender.start()
    unavailable.wait(3)
    producer.close(0)
    sender.join(PATIENCE_S)
    assert [type(each) for each in raised] == [AssertedStateError]


def test_a_sending_callback_does_not_deadlock(broker: EmbeddedBroker) -> None:
    with producer_for(
        broker, buffer_memory=1_000, batch_size=1_000, max_block_ms=60_000, linger_ms=600_000
    ) as producer:
        more: list[Any] = []

        def callback(_: object) -> None:
            more.append(producer.send("t", bytes(900)))
            producer.flush()
            more.append(threading.current_thread().name)

        producer.send("t", bytes(900)).add_callback(callback)
        producer.flush()
        assert more[0].succeeded()
        assert more[1].startswith("kafka-callbacks-kafka-python-producer-")


def test_flush_and_close_report_running_callbacks(
    broker: EmbeddedBroker, unavailable: Any, caplog: pytest.LogCaptureFixture
) -> None:
    producer = producer_for(broker)
    release = threading.Event()
    future = producer.send("t", b"x").add_callback(lambda _: release.wait(PATIENCE_S))
    unavailable.remove()
    future.get(PATIENCE_S)
    with pytest.raises(KafkaTimeoutError, match=r"callbacks are still running after 0.05 seconds"):
        producer.flush(0.05)
    assert future.is_done
    assert not caplog.records
    producer.close(0.05)
    assert [each.getMessage() for each in caplog.records if each.levelno >= logging.WARNING] == [
        "the producer is closed, but callbacks are still running"
    ]
    release.set()


def test_finished_callbacks_are_not_reported_without_time_to_wait(
    broker: EmbeddedBroker, caplog: pytest.LogCaptureFixture
) -> None:
    producer = producer_for(broker)
    ran: list[object] = []
    producer.send("t", b"x").add_callback(ran.append)
    producer.flush()
    assert ran
    producer.flush(0)
    producer.close(0)

    async def asynchronously() -> None:
        producer = AsyncKafkaProducer(bootstrap_servers=broker.bootstrap_servers)
        await producer.start()
        (await producer.send("t", b"x")).add_callback(ran.append)
        await producer.flush()
        await producer.flush(0)
        await producer.close(0)

    asyncio.run(asynchronously())
    assert "callbacks" not in caplog.text


def test_topics_and_partitions_are_looked_up_and_refused(broker: EmbeddedBroker) -> None:
    with producer_for(broker, max_block_ms=5_000) as producer:
        assert producer.partitions_for("t") == {0}
        with pytest.raises(IllegalArgumentError, match="partition is 5"):
            producer.send("t", b"x", partition=5)
        with pytest.raises((IllegalArgumentError, InvalidTopicError)):
            producer.send("no topic", b"x")
        assert producer.bootstrap_connected()
        assert producer.config["buffer_memory"] == 33_554_432
        assert producer.metrics()["producer-metrics"]["buffer-available-bytes"] == 33_554_432


def test_a_closed_producer_accepts_nothing(broker: EmbeddedBroker) -> None:
    with producer_for(broker, linger_ms=60_000) as producer:
        future = producer.send("t", b"x")
        with pytest.raises(KafkaTimeoutError, match="not acknowledged within 0 seconds"):
            producer.send("t", b"y").get(0)
    assert future.get(0).offset >= 0
    producer.close()
    with pytest.raises(IllegalStateError, match="the producer is closed") as closed:
        producer.send("t", b"x")
    assert isinstance(closed.value, AssertionError), "kafka-python 2 asserts it, and programs catch that"


@pytest.mark.parametrize(("version", "magic"), [((0, 9), 0), ((0, 10, 0), 1), ((0, 11), 2), ((4, 1), 2)])
def test_the_batch_format_of_a_broker_version(version: tuple[int, ...], magic: int) -> None:
    assert KafkaProducer.max_usable_produce_magic(version) == magic
    assert AsyncKafkaProducer.max_usable_produce_magic(version) == magic


def test_every_wait_checks_for_interrupts(
    broker: EmbeddedBroker, unavailable: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    slices: list[float] = []
    me = threading.current_thread()

    class Patient:
        """A lock that is asked for, never for longer than a slice."""

        def __init__(self) -> None:
            self._lock = _allocate()

        def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
            if self._lock.locked() and threading.current_thread() is me:
                slices.append(timeout)
                if len(slices) == 3:
                    raise KeyboardInterrupt
            return self._lock.acquire(blocking, timeout)

        def release(self) -> None:
            self._lock.release()

    with producer_for(broker, buffer_memory=2_000, batch_size=1_000, max_block_ms=5_000) as producer:
        rows = producer.send_arrow("t", {"value": [b"x"]})
        future = producer.send("t", bytes(500))
        for wait in (future.get, rows.get, lambda: producer.send("t", bytes(900)), producer.flush):
            with monkeypatch.context() as patched:
                patched.setattr(interruptible, "SLICE_S", 0.001)
                patched.setattr(threading, "Lock", Patient)
                slices.clear()
                with pytest.raises(KeyboardInterrupt):
                    wait()
                assert slices == [0.001] * 3
        unavailable.remove()
        assert future.get(PATIENCE_S).topic == "t"
        assert rows.get(PATIENCE_S).rows == 1


@pytest.mark.parametrize(
    ("timeout", "error"), [("x", TypeError), ([1], TypeError), (float("nan"), IllegalArgumentError)]
)
def test_the_timeout_of_get_must_be_a_number(broker: EmbeddedBroker, timeout: Any, error: type[Exception]) -> None:
    with producer_for(broker, linger_ms=60_000) as producer:
        future = producer.send("t", b"x")
        with pytest.raises(error, match="a timeout is a number of seconds, or None, not"):
            future.get(timeout)
        with pytest.raises(KafkaTimeoutError):
            future.get(-1)
