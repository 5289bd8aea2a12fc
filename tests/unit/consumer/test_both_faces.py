"""Scenarios that go alike on `KafkaConsumer` and `AsyncKafkaConsumer`, on the embedded broker."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from harness.topics import create_topic
from kafka import KafkaProducer, OffsetAndMetadata, TopicPartition
from kafka.broker import EmbeddedBroker
from kafka.errors import CommitFailedError, IllegalStateError
from unit.consumer.faces import Face


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(tmp_path_factory.mktemp("broker")) as broker:
        yield broker


@pytest.fixture(scope="module")
def producer(broker: EmbeddedBroker) -> Iterator[KafkaProducer]:
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
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
    await consumer.poll(0)
    await consumer.commit()
    with pytest.raises(CommitFailedError):
        await consumer.commit({scene.first: OffsetAndMetadata(3, "", -1)})
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


async def test_closing_twice_and_calling_what_is_closed(scene: Scene) -> None:
    consumer = await scene.face.open(scene.topic)
    await consumer.close()
    await consumer.close()
    with pytest.raises(IllegalStateError):
        await consumer.poll(0)
    with pytest.raises(IllegalStateError):
        await consumer.commit_async()
