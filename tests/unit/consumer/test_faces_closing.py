"""The end of a `KafkaConsumer` and an `AsyncKafkaConsumer` alike, and calls that are refused."""

from __future__ import annotations

import asyncio
import copy
import gc
import pickle
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from harness.topics import create_topic
from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.broker import EmbeddedBroker
from kafka.consumer import AsyncKafkaConsumer
from kafka.errors import IllegalArgumentError, IllegalStateError, KafkaTimeoutError
from kafka.net import LoopThread
from kafka.net.buffers import FrameBuffer, shared_pool
from kafka.serializer import Deserializer
from unit.consumer.consumer_setup import ConsumerSetup
from unit.consumer.faces import PATIENCE_S, Face

CALLS: list[Callable[[Face, TopicPartition], Awaitable[Any]]] = [
    lambda face, tp: face.poll_columns(0),
    lambda face, tp: face.poll_arrow(0),
    lambda face, tp: face.getone(),
    lambda face, tp: face.commit({}),
    lambda face, tp: face.committed(tp),
    lambda face, tp: face.position(tp),
    lambda face, tp: face.beginning_offsets([]),
    lambda face, tp: face.end_offsets([]),
    lambda face, tp: face.offsets_for_times({}),
    lambda face, tp: face.partitions_for_topic("t"),
    lambda face, tp: face.topics(),
    lambda face, tp: face.subscribe(["t"]),
    lambda face, tp: face.unsubscribe(),
    lambda face, tp: face.assign([tp]),
    lambda face, tp: face.seek(tp, 1),
    lambda face, tp: face.seek_to_beginning(),
    lambda face, tp: face.seek_to_end(),
    lambda face, tp: face.pause(tp),
    lambda face, tp: face.resume(tp),
    lambda face, tp: face.highwater(tp),
]


Wrong = Callable[[Face, TopicPartition], Awaitable[Any]]


@pytest.mark.parametrize("also", ["listener", "callback"])
async def test_a_callback_in_close_may_close_in_another_task(setup: ConsumerSetup, also: str) -> None:
    consumer = await setup.face.open()
    told: list[str] = []

    def close(*args: Any) -> Any:
        """Close beside: on a loop in a task that is waited for, else as a call within."""
        told.append("closed")
        return consumer.consumer.close()

    async def in_a_task() -> None:
        async with asyncio.timeout(PATIENCE_S):
            await asyncio.create_task(close())

    def closes(kind: str, partitions: set[TopicPartition]) -> Any:
        if kind != "revoked" or not partitions or also != "listener":
            return None
        return in_a_task() if consumer.kind == "asyncio" else close()

    await consumer.subscribe([setup.topic], listener=consumer.listener(closes))
    await consumer.read(20)
    if also == "callback":
        callback: Any = (lambda *args: in_a_task()) if consumer.kind == "asyncio" else close
        await consumer.commit_async(callback=callback)
    await consumer.close(timeout_ms=5_000)
    assert told == ["closed"]
    assert consumer.consumer._core.client._closed


async def test_a_concurrent_close_waits_no_longer_than_its_timeout(setup: ConsumerSetup) -> None:
    """A listener waits for something that closes the consumer, of which the consumer cannot know."""
    consumer = await setup.face.open()
    wanted = asyncio.Event()
    refused: list[BaseException] = []

    async def closes() -> None:
        await wanted.wait()
        with pytest.raises(KafkaTimeoutError, match="has not closed the consumer within") as raised:
            await consumer.close(timeout_ms=50)
        refused.append(raised.value)

    async def waits() -> None:
        wanted.set()
        await asyncio.wait({task}, timeout=PATIENCE_S)

    def listen(kind: str, partitions: set[TopicPartition]) -> Any:
        if kind != "revoked" or not partitions:
            return None
        if consumer.kind == "asyncio":
            return waits()
        wanted.set()
        thread = threading.Thread(target=asyncio.run, args=(closes(),))
        thread.start()
        thread.join(PATIENCE_S)
        return None

    task = asyncio.create_task(closes() if consumer.kind == "asyncio" else asyncio.sleep(0))
    await consumer.subscribe([setup.topic], listener=consumer.listener(listen))
    await consumer.read(20)
    await consumer.close(timeout_ms=5_000)
    await task
    assert len(refused) == 1
    assert consumer.consumer._core.client._closed


async def test_closing_twice_and_calling_a_closed_consumer(setup: ConsumerSetup) -> None:
    consumer = await setup.face.open(setup.topic)
    await consumer.close()
    await consumer.close()
    with pytest.raises(IllegalStateError):
        await consumer.poll(0)
    with pytest.raises(IllegalStateError):
        await consumer.commit_async()


async def test_a_listeners_exception_in_close_is_raised_once(setup: ConsumerSetup) -> None:
    consumer = await setup.face.open()

    def fail(kind: str, partitions: set[TopicPartition]) -> None:
        if kind == "revoked" and partitions:
            raise ZeroDivisionError

    await consumer.subscribe([setup.topic], listener=consumer.listener(fail))
    await consumer.read(20)
    with pytest.raises(ZeroDivisionError):
        await consumer.close()
    assert consumer.consumer._core.client._closed
    await consumer.close()


class Closed(Deserializer):
    """Counts how often it is closed, and raises then."""

    def __init__(self) -> None:
        super().__init__()
        self.times = 0

    def deserialize(self, topic: str, bytes_: bytes | None) -> Any:
        return bytes_

    def close(self) -> None:
        self.times += 1
        raise ZeroDivisionError


async def test_a_consumer_that_is_closed_closes_its_deserializers_once(setup: ConsumerSetup) -> None:
    key, value = Closed(), Closed()
    consumer = await setup.face.open(setup.topic, key_deserializer=key, value_deserializer=value)
    await consumer.read(20)
    with pytest.raises(ZeroDivisionError):
        await consumer.close()
    await consumer.close()
    assert (key.times, value.times) == (1, 1)
    assert consumer.consumer._core.client._closed


def test_a_consumer_that_was_closed_in_the_loops_thread_can_still_be_closed(broker: EmbeddedBroker) -> None:
    """As where a finalizer of the user's is run there."""
    consumer = KafkaConsumer(bootstrap_servers=broker.bootstrap_servers)
    refused: list[BaseException] = []
    done = threading.Event()

    def finalize() -> None:
        try:
            consumer.close()
        except IllegalStateError as error:
            refused.append(error)
        done.set()

    LoopThread.shared().call(finalize)
    assert done.wait(PATIENCE_S)
    assert "in a thread other than the loop's" in str(refused[0])
    consumer.close()
    core: Any = consumer._core
    assert core.client._closed


async def test_every_method_of_a_closed_consumer_raises(setup: ConsumerSetup) -> None:
    consumer = await setup.face.open()
    await consumer.assign([setup.first])
    await consumer.close()
    for call in CALLS:
        with pytest.raises(IllegalStateError, match="the consumer is closed"):
            await call(consumer, setup.first)


async def test_iteration_without_anything_to_read_is_an_error_and_polling_a_warning(
    setup: ConsumerSetup, caplog: pytest.LogCaptureFixture
) -> None:
    consumer = await setup.face.open()
    with pytest.raises(IllegalStateError, match="nothing is subscribed to or assigned") as caught:
        await consumer.next()
    assert isinstance(caught.value, AssertionError)
    for _ in range(3):
        assert await consumer.poll(0) == {}
    assert [line for line in caplog.messages if "cannot return anything" in line] == [caplog.messages[-1]]
    await consumer.assign([setup.first])
    await consumer.unsubscribe()
    with pytest.raises(IllegalStateError):
        await consumer.next()


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda face, tp: face.subscribe(), IllegalStateError),
        (lambda face, tp: face.seek(tp, -1), IllegalArgumentError),
        (lambda face, tp: face.seek(tp, 1.5), IllegalArgumentError),
        (lambda face, tp: face.seek(TopicPartition("other", 0), 1), KeyError),
        (lambda face, tp: face.seek_to_beginning(TopicPartition("other", 0)), ValueError),
        (lambda face, tp: face.pause(TopicPartition("other", 0)), KeyError),
        (lambda face, tp: face.position(TopicPartition("other", 0)), IllegalStateError),
        (lambda face, tp: face.poll(max_records=0), IllegalArgumentError),
        (lambda face, tp: face.poll(-1), IllegalArgumentError),
        (lambda face, tp: face.commit(timeout_ms=-1), IllegalArgumentError),
    ],
)
async def test_kafka_pythons_assertions_are_assertion_errors_too(
    setup: ConsumerSetup, call: Wrong, error: type[Exception]
) -> None:
    consumer = await setup.face.open()
    if error is not IllegalStateError:
        await consumer.assign([setup.first])
    with pytest.raises(AssertionError) as caught:
        await call(consumer, setup.first)
    assert isinstance(caught.value, error)
    assert str(caught.value) == caught.value.args[0]
    assert not str(caught.value).startswith(type(caught.value).__name__)


@pytest.mark.parametrize("lose", [pickle.dumps, copy.copy, copy.deepcopy])
async def test_a_consumer_says_that_it_cannot_be_pickled_or_copied(
    setup: ConsumerSetup, lose: Callable[[Any], Any]
) -> None:
    consumer = await setup.face.open()
    with pytest.raises(TypeError, match=r"a (Async)?KafkaConsumer owns connections .* cannot be pickled or copied"):
        lose(consumer.consumer)


async def test_a_consumer_of_a_loop_that_is_dropped_says_so_and_closes_itself(broker: EmbeddedBroker) -> None:
    held: list[Any] = [AsyncKafkaConsumer(bootstrap_servers=broker.bootstrap_servers)]
    await held[0].start()
    core = held[0]._core
    with pytest.warns(ResourceWarning, match="without being closed"):
        held.clear()
    async with asyncio.timeout(PATIENCE_S):
        while not core.client._closed:
            await asyncio.sleep(0.01)


async def test_a_consumer_of_a_loop_that_is_dropped_while_it_closes_goes_on_closing(broker: EmbeddedBroker) -> None:
    asked, go_on = asyncio.Event(), asyncio.Event()

    async def wait(offsets: Any, error: Any) -> None:
        asked.set()
        await go_on.wait()

    held: list[Any] = [AsyncKafkaConsumer(bootstrap_servers=broker.bootstrap_servers, group_id="dropped")]
    await held[0].start()
    core = held[0]._core
    await held[0].commit_async({}, wait)
    closing = asyncio.create_task(held[0].close())
    async with asyncio.timeout(PATIENCE_S):
        await asked.wait()
    closing.cancel()
    await asyncio.wait({closing})
    del closing
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        held.clear()
        gc.collect()
    assert not warned
    assert not core.close_begun, "what close() was asked to wait for comes first"
    go_on.set()
    async with asyncio.timeout(PATIENCE_S):
        while not core.client._closed:
            await asyncio.sleep(0)


@pytest.mark.slow
def test_an_open_consumer_warns_at_exit(broker: EmbeddedBroker) -> None:
    program = (
        "import logging\n"
        "from kafka import KafkaConsumer\n"
        "logging.basicConfig(format='%(message)s')\n"
        f"options = dict(bootstrap_servers={broker.bootstrap_servers!r})\n"
        "member, reader = KafkaConsumer('t', group_id='left-open', **options), KafkaConsumer(**options)\n"
        "while not member.assignment(): member.poll(100)\n"
    )
    create_topic(broker.bootstrap_servers, "t", 1, {})
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    [line] = done.stderr.splitlines()
    assert line.startswith("a consumer of group 'left-open' was not closed before the program ended: ")
    with KafkaConsumer("t", group_id="left-open", bootstrap_servers=broker.bootstrap_servers) as successor:
        begun = time.monotonic()
        while not successor.assignment():
            successor.poll(100)
            assert time.monotonic() - begun < PATIENCE_S, "the member that ended has not left its group"


async def test_a_closed_consumer_releases_fetched_data(
    setup: ConsumerSetup, producer: KafkaProducer, monkeypatch: pytest.MonkeyPatch
) -> None:
    take, taken = shared_pool.take, list[FrameBuffer]()

    def recorded(size: int) -> FrameBuffer:
        taken.append(take(size))
        return taken[-1]

    monkeypatch.setattr(shared_pool, "take", recorded)
    for partition in (0, 1):
        producer.send(setup.topic, b"x" * 50_000, partition=partition)
    producer.flush()
    face = await setup.face.open()
    await face.assign([setup.first, setup.second])
    assert len(await face.poll(10_000, max_records=1)) == 1
    assert any(frame._buffer is not None for frame in taken), "the other partition is not decoded yet"
    await face.close()
    assert all(frame._buffer is None for frame in taken)
