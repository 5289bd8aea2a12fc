"""Scenarios that go alike on `KafkaConsumer` and `AsyncKafkaConsumer`, on the embedded broker."""

from __future__ import annotations

import asyncio
import copy
import pickle
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import pytest

from harness.topics import create_topic
from kafka import KafkaConsumer, KafkaProducer, OffsetAndMetadata, TopicPartition
from kafka.broker import EmbeddedBroker
from kafka.consumer import AsyncKafkaConsumer
from kafka.errors import CommitFailedError, IllegalArgumentError, IllegalStateError, KafkaTimeoutError
from kafka.net.buffers import FrameBuffer, shared_pool
from unit.consumer.faces import PATIENCE_S, Face


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedBroker]:
    # a group does not wait for more members
    with EmbeddedBroker(tmp_path_factory.mktemp("broker"), group_initial_rebalance_delay_ms=0) as broker:
        yield broker


@pytest.fixture(scope="module")
def producer(broker: EmbeddedBroker) -> Iterator[KafkaProducer]:
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers, retry_backoff_ms=1) as producer:
        yield producer


class Scene:
    """A topic of two partitions with ten records each, and consumers of a group of its own."""

    def __init__(self, kind: str, broker: EmbeddedBroker, producer: KafkaProducer) -> None:
        self.topic = f"t-{uuid.uuid4()}"
        create_topic(broker.bootstrap_servers, self.topic, 2, {"retention.ms": "-1"})
        self.first, self.second = TopicPartition(self.topic, 0), TopicPartition(self.topic, 1)
        for number in range(20):
            producer.send(self.topic, b"%d" % number, partition=number % 2)
        producer.flush()
        self.face = Face(
            kind,
            bootstrap_servers=broker.bootstrap_servers,
            group_id=f"g-{self.topic}",
            auto_offset_reset="earliest",
            heartbeat_interval_ms=200,
            retry_backoff_ms=1,
        )


@pytest.fixture(params=["sync", "asyncio"])
async def scene(
    request: pytest.FixtureRequest, broker: EmbeddedBroker, producer: KafkaProducer
) -> AsyncIterator[Scene]:
    scene = Scene(request.param, broker, producer)
    yield scene
    await scene.face.close_all()


async def committed(scene: Scene, *partitions: TopicPartition) -> list[int | None]:
    """What a consumer that comes later finds committed."""
    other = await scene.face.another().open()
    found = [await other.committed(tp) for tp in partitions]
    await other.close()
    return found


async def test_closing_waits_for_a_commit_that_nothing_came_before_and_calls_back(scene: Scene) -> None:
    consumer = await scene.face.open(enable_auto_commit=False)
    await consumer.assign([scene.first])
    told: list[Any] = []
    offsets = {scene.first: OffsetAndMetadata(5, "note", -1)}
    future = await consumer.commit_async(offsets, callback=lambda *args: told.append(args))
    await consumer.close()
    assert told == [(offsets, None)]
    assert await consumer.settled(future) is None
    assert await committed(scene, scene.first) == [5]


async def test_a_commit_that_closing_cannot_wait_for_fails_and_calls_back(scene: Scene) -> None:
    consumer = await scene.face.open(enable_auto_commit=False)
    await consumer.assign([scene.first])
    told: list[Any] = []
    future = await consumer.commit_async(
        {scene.first: OffsetAndMetadata(5, "", -1)}, callback=lambda *args: told.append(args)
    )
    await consumer.close(timeout_ms=0)
    assert len(told) == 1
    assert isinstance(told[0][1], CommitFailedError)
    assert isinstance(await consumer.settled(future), CommitFailedError)


async def test_commit_async_calls_back_from_within_a_later_poll(scene: Scene) -> None:
    consumer = await scene.face.open(enable_auto_commit=False)
    await consumer.assign([scene.first])
    await consumer.read(10)
    told: list[Any] = []
    future = await consumer.commit_async(callback=lambda *args: told.append(args))
    assert await consumer.settled(future) is None
    assert told == []
    await consumer.poll(0)
    [(offsets, outcome)] = told
    assert (offsets[scene.first].offset, outcome) == (10, None)
    await consumer.close()


async def test_a_callback_that_raises_is_raised_by_poll_and_the_next_ones_are_called(scene: Scene) -> None:
    consumer = await scene.face.open(enable_auto_commit=False)
    await consumer.assign([scene.first])
    told: list[Any] = []

    def fail(*args: Any) -> None:
        raise KeyError("on purpose")

    futures = [await consumer.commit_async({}, callback=call) for call in (fail, lambda *args: told.append(args))]
    for future in futures:
        assert await consumer.settled(future) is None
    with pytest.raises(KeyError, match="on purpose"):
        await consumer.poll(0)
    await consumer.poll(0)
    assert told == [({}, None)]
    await consumer.close()


async def test_the_default_callback_is_told_of_automatic_commits(scene: Scene) -> None:
    told: list[Any] = []
    consumer = await scene.face.open(
        scene.topic, auto_commit_interval_ms=20, default_offset_commit_callback=lambda *args: told.append(args)
    )
    await consumer.read(20)
    await consumer.poll_until(lambda: bool(told))
    assert told[0][1] is None
    before = len(told)
    await consumer.close()
    assert len(told) > before
    assert {tp: each.offset for tp, each in told[-1][0].items()} == {scene.first: 10, scene.second: 10}


async def test_a_block_left_by_an_error_commits_nothing_by_itself(scene: Scene) -> None:
    consumer = await scene.face.open(auto_commit_interval_ms=3_600_000)
    await consumer.assign([scene.first])

    async def fail() -> None:
        async with consumer.block():
            await consumer.read(10)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    assert await committed(scene, scene.first) == [None]


async def test_a_block_left_in_peace_commits_what_was_handed_out(scene: Scene) -> None:
    consumer = await scene.face.open(auto_commit_interval_ms=3_600_000)
    await consumer.assign([scene.first])
    async with consumer.block():
        await consumer.read(10)
    assert await committed(scene, scene.first) == [10]


async def test_nothing_is_committed_by_a_subscriber_that_is_no_member_yet(scene: Scene) -> None:
    consumer = await scene.face.open(scene.topic)
    await consumer.commit()
    with pytest.raises(CommitFailedError):
        await consumer.commit({scene.first: OffsetAndMetadata(3, "", -1)})
    await consumer.poll(0)
    await consumer.commit()
    await consumer.close()
    assert await committed(scene, scene.first) == [None]


async def test_a_listener_may_commit_whenever_it_is_called(scene: Scene) -> None:
    consumer = scene.face
    calls: list[str] = []

    def told(kind: str, partitions: set[TopicPartition]) -> Any:
        calls.append(kind)
        return consumer.consumer.commit()

    await consumer.open()
    await consumer.subscribe([scene.topic], listener=consumer.listener(told))
    await consumer.read(20)
    await consumer.close()
    assert calls == ["revoked", "assigned", "revoked"]
    assert await committed(scene, scene.first, scene.second) == [10, 10]


async def test_a_listener_and_a_callback_may_poll(scene: Scene) -> None:
    consumer = await scene.face.open()
    told: list[str] = []

    def poll(kind: str, partitions: set[TopicPartition]) -> Any:
        told.append(kind)
        return consumer.consumer.poll(0)

    await consumer.subscribe([scene.topic], listener=consumer.listener(poll))
    await consumer.poll_until(lambda: "assigned" in told)
    assert told == ["revoked", "assigned"]
    await consumer.commit_async({}, callback=lambda *args: poll("committed", set()))
    await consumer.poll_until(lambda: "committed" in told)
    await consumer.close()
    assert told == ["revoked", "assigned", "committed", "revoked"]


async def test_a_callback_is_called_where_a_listener_commits(scene: Scene) -> None:
    consumer = scene.face
    told: list[str] = []

    def commit(kind: str, partitions: set[TopicPartition]) -> Any:
        told.append(kind)
        return consumer.consumer.commit()

    await consumer.open(enable_auto_commit=False)
    await consumer.subscribe([scene.topic], listener=consumer.listener(commit))
    await consumer.read(20)
    future = await consumer.commit_async(callback=lambda *args: told.append("committed"))
    assert await consumer.settled(future) is None
    await consumer.unsubscribe()
    assert told == ["revoked", "assigned", "revoked", "committed"]
    await consumer.close()


async def test_a_listener_may_close_and_who_closes_beside_it_waits(scene: Scene) -> None:
    consumer = await scene.face.open()
    told: list[str] = []

    def close(kind: str, partitions: set[TopicPartition]) -> Any:
        told.append(kind)
        return consumer.consumer.close() if partitions and kind == "revoked" else None

    await consumer.subscribe([scene.topic], listener=consumer.listener(close))
    await consumer.read(20)
    if consumer.kind == "sync":
        await consumer.close()
    else:
        await asyncio.gather(consumer.close(), consumer.close())
    assert told == ["revoked", "assigned", "revoked"]
    assert consumer.consumer._core.client._closed


@pytest.mark.parametrize("also", ["listener", "callback"])
async def test_what_is_called_while_closing_may_close_in_a_task_of_its_own(scene: Scene, also: str) -> None:
    consumer = await scene.face.open()
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

    await consumer.subscribe([scene.topic], listener=consumer.listener(closes))
    await consumer.read(20)
    if also == "callback":
        callback: Any = (lambda *args: in_a_task()) if consumer.kind == "asyncio" else close
        await consumer.commit_async(callback=callback)
    await consumer.close(timeout_ms=5_000)
    assert told == ["closed"]
    assert consumer.consumer._core.client._closed


async def test_who_closes_beside_waits_no_longer_than_asked(scene: Scene) -> None:
    """A listener waits for something that closes the consumer, of which the consumer cannot know."""
    consumer = await scene.face.open()
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
    await consumer.subscribe([scene.topic], listener=consumer.listener(listen))
    await consumer.read(20)
    await consumer.close(timeout_ms=5_000)
    await task
    assert len(refused) == 1
    assert consumer.consumer._core.client._closed


async def test_each_listener_is_told_of_its_own_partitions(scene: Scene) -> None:
    consumer = await scene.face.open()
    told: list[tuple[str, str, int]] = []
    for name in ("one", "two"):

        def note(kind: str, partitions: set[TopicPartition], name: str = name) -> None:
            told.append((name, kind, len(partitions)))

        await consumer.subscribe([scene.topic], listener=consumer.listener(note))
        await consumer.poll_until(lambda name=name: (name, "assigned", 2) in told)
    await consumer.close()
    assert told == [
        ("one", "revoked", 0),
        ("one", "assigned", 2),
        ("one", "revoked", 2),
        ("two", "assigned", 2),
        ("two", "revoked", 2),
    ]


async def test_a_subscriber_that_is_refused_an_assignment_keeps_what_it_has(scene: Scene) -> None:
    consumer = await scene.face.open()
    told: list[str] = []
    await consumer.subscribe([scene.topic], listener=consumer.listener(lambda kind, partitions: told.append(kind)))
    await consumer.poll_until(lambda: "assigned" in told)
    with pytest.raises(IllegalStateError, match=r"call unsubscribe\(\) before assign"):
        await consumer.assign([scene.first])
    assert told == ["revoked", "assigned"]
    assert await consumer.assignment() == {scene.first, scene.second}


async def test_closing_twice_and_calling_what_is_closed(scene: Scene) -> None:
    consumer = await scene.face.open(scene.topic)
    await consumer.close()
    await consumer.close()
    with pytest.raises(IllegalStateError):
        await consumer.poll(0)
    with pytest.raises(IllegalStateError):
        await consumer.commit_async()


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


async def test_what_is_closed_says_so_whatever_is_called(scene: Scene) -> None:
    consumer = await scene.face.open()
    await consumer.assign([scene.first])
    await consumer.close()
    for call in CALLS:
        with pytest.raises(IllegalStateError, match="the consumer is closed"):
            await call(consumer, scene.first)


async def test_records_come_once_and_in_order_and_positions_move_with_them(scene: Scene) -> None:
    consumer = await scene.face.open(max_poll_records=7)
    await consumer.assign([scene.first, scene.second])
    records = await consumer.read(20)
    for tp in (scene.first, scene.second):
        assert [record.offset for record in records if record.partition == tp.partition] == list(range(10))
        assert await consumer.position(tp) == 10
        assert await consumer.highwater(tp) == 10
    assert [record.value for record in records if record.partition == 1] == [b"%d" % n for n in range(1, 20, 2)]
    assert await consumer.poll(0) == {}


async def test_records_come_again_where_positions_were_left(scene: Scene) -> None:
    consumer = await scene.face.open()
    await consumer.assign([scene.first])
    while not (first := await consumer.poll(200, max_records=3, update_offsets=False)):
        pass
    assert await consumer.position(scene.first) == 0
    again = await consumer.poll(0, max_records=3)
    assert [record.offset for record in first] == [record.offset for record in again] == [0, 1, 2]
    assert await consumer.position(scene.first) == 3


async def test_seeking_pausing_and_looking_up(scene: Scene) -> None:
    consumer = await scene.face.open()
    both = [scene.first, scene.second]
    await consumer.assign(both)
    assert await consumer.beginning_offsets(both) == dict.fromkeys(both, 0)
    assert await consumer.end_offsets(both) == dict.fromkeys(both, 10)
    times = {scene.first: 2**50, scene.second: 0}
    found = await consumer.offsets_for_times(times)
    assert (found[scene.first], found[scene.second].offset) == (None, 0)
    await consumer.pause(scene.second)
    await consumer.seek(scene.first, 8)
    assert [record.offset for record in await consumer.read(2)] == [8, 9]
    await consumer.seek_to_beginning(scene.first)
    assert await consumer.position(scene.first) == 0
    await consumer.seek_to_end()
    assert [await consumer.position(tp) for tp in both] == [10, 10]
    assert await consumer.paused() == {scene.second}
    await consumer.resume(scene.second)
    await consumer.seek(scene.second, 9)
    assert (await consumer.getone()).offset == 9
    assert await consumer.partitions_for_topic(scene.topic) == {0, 1}
    assert scene.topic in await consumer.topics()
    assert await consumer.bootstrap_connected()
    with pytest.raises(KafkaTimeoutError, match="has no partition 7"):
        await consumer.end_offsets([TopicPartition(scene.topic, 7)], timeout_ms=100)


async def test_columns_and_arrow_have_the_same_rows(scene: Scene) -> None:
    consumer = await scene.face.open()
    await consumer.assign([scene.first])
    await consumer.seek_to_beginning()
    while not (columns := await consumer.poll_columns(200)):
        pass
    await consumer.seek_to_beginning()
    while not (batch := await consumer.poll_arrow(200)).num_rows:
        pass
    assert batch.column("offset").to_pylist() == list(columns[scene.first].offsets) == list(range(10))
    assert (await consumer.poll_arrow(0)).schema == batch.schema


async def test_iteration_moves_positions_with_each_record_and_ends_in_time(scene: Scene) -> None:
    consumer = await scene.face.open(consumer_timeout_ms=300)
    await consumer.assign([scene.first])
    assert [(await consumer.next()).offset for _ in range(3)] == [0, 1, 2]
    assert await consumer.position(scene.first) == 3
    assert [record.offset for record in await consumer.iterate()] == list(range(3, 10))
    await consumer.seek(scene.first, 9)
    assert (await consumer.next()).offset == 9


async def test_iteration_ends_when_the_consumer_is_closed(scene: Scene) -> None:
    consumer = await scene.face.open()
    await consumer.assign([scene.first])
    await consumer.next()
    await consumer.close()
    assert await consumer.next() is None
    assert await committed(scene, scene.first) == [1]


async def test_iteration_without_anything_to_read_is_an_error_and_polling_a_warning(
    scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    consumer = await scene.face.open()
    with pytest.raises(IllegalStateError, match="nothing is subscribed to or assigned") as caught:
        await consumer.next()
    assert isinstance(caught.value, AssertionError)
    for _ in range(3):
        assert await consumer.poll(0) == {}
    assert [line for line in caplog.messages if "can give nothing" in line] == [caplog.messages[-1]]
    await consumer.assign([scene.first])
    await consumer.unsubscribe()
    with pytest.raises(IllegalStateError):
        await consumer.next()


async def test_a_wakeup_ends_one_poll(scene: Scene) -> None:
    consumer = await scene.face.open()
    await consumer.assign([scene.first])
    await consumer.seek_to_end()
    await consumer.wakeup()
    assert await consumer.poll(3_600_000) == {}


async def test_a_wakeup_from_another_thread_ends_a_poll_that_waits(scene: Scene) -> None:
    consumer = await scene.face.open()
    await consumer.assign([scene.first])
    await consumer.seek(scene.first, 10)
    runner = consumer.consumer._driver.runner
    waits, waiting = runner.wait, threading.Event()

    def wait(timeout_s: float) -> Any:
        waiting.set()
        return waits(timeout_s)

    def wake() -> None:
        assert waiting.wait(PATIENCE_S)
        consumer.consumer.wakeup()

    runner.wait = wait
    thread = threading.Thread(target=wake)
    thread.start()
    assert await consumer.poll(3_600_000) == {}
    thread.join()


async def test_a_subscription_may_change_while_joining_and_end(scene: Scene, broker: EmbeddedBroker) -> None:
    other = f"{scene.topic}-other"
    create_topic(broker.bootstrap_servers, other, 1, {})
    consumer = await scene.face.open(scene.topic)
    await consumer.poll(0)  # begins to join
    await consumer.subscribe([other])
    await consumer.poll_until(lambda: consumer.consumer.assignment() == {TopicPartition(other, 0)})
    assert await consumer.subscription() == {other}
    await consumer.unsubscribe()
    assert (await consumer.subscription(), await consumer.assignment()) == (None, set())
    await consumer.assign([scene.first])
    await consumer.read(10)


async def test_a_subscription_without_a_group_keeps_the_place_of_what_stays(
    scene: Scene, broker: EmbeddedBroker, producer: KafkaProducer
) -> None:
    other = f"{scene.topic}-other"
    create_topic(broker.bootstrap_servers, other, 1, {"retention.ms": "-1"})
    producer.send(other, b"x")
    producer.flush()
    consumer = await scene.face.open(scene.topic, group_id=None)
    assert len(await consumer.read(20)) == 20
    with pytest.raises(IllegalStateError, match="group_id"):
        await consumer.commit()
    with pytest.raises(IllegalStateError, match="group_id"):
        await consumer.commit_async()
    await consumer.subscribe([scene.topic, other])
    [record] = await consumer.read(1)
    assert (record.topic, record.offset) == (other, 0)
    assert await consumer.assignment() == {scene.first, scene.second, TopicPartition(other, 0)}
    assert await consumer.position(scene.first) == 10
    await consumer.subscribe([other])
    await consumer.poll_until(lambda: consumer.consumer.assignment() == {TopicPartition(other, 0)})
    assert await consumer.position(TopicPartition(other, 0)) == 1


@pytest.mark.parametrize("listener", [object(), "revoked", lambda *_: None])
async def test_a_listener_that_is_none_is_refused_at_once(scene: Scene, listener: object) -> None:
    consumer = await scene.face.open()
    with pytest.raises(TypeError, match="ConsumerRebalanceListener, not"):
        await consumer.subscribe([scene.topic], listener=listener)
    assert await consumer.subscription() is None


async def test_a_thread_has_no_use_for_a_listener_of_coroutines_and_a_loop_takes_both(scene: Scene) -> None:
    consumer = await scene.face.open()
    coroutines = Face("asyncio").listener(lambda *_: None)
    if consumer.kind == "sync":
        with pytest.raises(TypeError, match="not AsyncListener"):
            await consumer.subscribe([scene.topic], listener=coroutines)
    else:
        await consumer.subscribe([scene.topic], listener=Face("sync").listener(lambda *_: None))
        await consumer.poll_until(lambda: len(consumer.consumer.assignment()) == 2)


Wrong = Callable[[Face, TopicPartition], Awaitable[Any]]


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
async def test_what_kafka_python_asserts_is_an_assertion_error_too(
    scene: Scene, call: Wrong, error: type[Exception]
) -> None:
    consumer = await scene.face.open()
    if error is not IllegalStateError:
        await consumer.assign([scene.first])
    with pytest.raises(AssertionError) as caught:
        await call(consumer, scene.first)
    assert isinstance(caught.value, error)
    assert str(caught.value) == caught.value.args[0]
    assert not str(caught.value).startswith(type(caught.value).__name__)


@pytest.mark.parametrize("lose", [pickle.dumps, copy.copy, copy.deepcopy])
async def test_a_consumer_says_that_it_cannot_be_pickled_or_copied(scene: Scene, lose: Callable[[Any], Any]) -> None:
    consumer = await scene.face.open()
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


def test_a_consumer_that_is_open_when_the_program_ends_says_what_that_means(broker: EmbeddedBroker) -> None:
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


async def test_each_record_of_an_iteration_is_a_sign_of_life(scene: Scene) -> None:
    face = await scene.face.open(consumer_timeout_ms=5_000)
    await face.assign([scene.first, scene.second])
    clock = face.consumer._core.clock
    for _ in range(20):
        clock.progressed = False
        assert await face.next() is not None
        assert clock.progressed


async def test_a_consumer_that_is_closed_gives_back_the_memory_of_what_it_fetched(
    scene: Scene, producer: KafkaProducer, monkeypatch: pytest.MonkeyPatch
) -> None:
    take, taken = shared_pool.take, list[FrameBuffer]()

    def recorded(size: int) -> FrameBuffer:
        taken.append(take(size))
        return taken[-1]

    monkeypatch.setattr(shared_pool, "take", recorded)
    for partition in (0, 1):
        producer.send(scene.topic, b"x" * 50_000, partition=partition)
    producer.flush()
    face = await scene.face.open()
    await face.assign([scene.first, scene.second])
    assert len(await face.poll(10_000, max_records=1)) == 1
    assert any(frame._buffer is not None for frame in taken), "the other partition is not decoded yet"
    await face.close()
    assert all(frame._buffer is None for frame in taken)
