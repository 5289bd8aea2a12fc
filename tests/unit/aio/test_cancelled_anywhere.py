"""At whichever `await` a call is cancelled, no record is lost or returned twice, and nothing is left running."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka import AsyncKafkaAdminClient, AsyncKafkaConsumer, AsyncKafkaProducer, KafkaAdminClient, TopicPartition
from kafka.aio import AIOKafkaConsumer, AIOKafkaProducer
from kafka.broker import EmbeddedBroker
from unit.aio.cancelling import each_wait, nothing_runs, outcome_at

pytestmark = pytest.mark.once
COUNT = 400
_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("broker")
    with EmbeddedBroker(folder, group_initial_rebalance_delay_ms=0) as broker:
        yield broker.bootstrap_servers


@pytest.fixture
def topic(servers: str) -> str:
    name = f"cancelled-{next(_numbers)}"
    with KafkaAdminClient(bootstrap_servers=servers) as admin:
        admin.create_topics({name: {"num_partitions": 1}}, wait_for_metadata=True)
    return name


async def fill(servers: str, topic: str, count: int = COUNT) -> None:
    async with AsyncKafkaProducer(bootstrap_servers=servers) as producer:
        for number in range(count):
            await producer.send(topic, b"%d" % number, partition=0)


async def values(servers: str, topic: str) -> list[bytes]:
    tp = TopicPartition(topic, 0)
    async with AsyncKafkaConsumer(bootstrap_servers=servers, auto_offset_reset="earliest") as consumer:
        await consumer.assign([tp])
        end = (await consumer.end_offsets([tp]))[tp]
        found: list[bytes] = []
        while await consumer.position(tp) < end:
            found += [record.value for record in await consumer.poll(1_000)]
        return found


CLIENTS = [AsyncKafkaConsumer, AsyncKafkaProducer, AsyncKafkaAdminClient, AIOKafkaConsumer, AIOKafkaProducer]


def make(client: type[Any], servers: str, topic: str) -> Any:
    if "Consumer" in client.__name__:
        return client(topic, bootstrap_servers=servers, group_id=f"{topic}-{next(_numbers)}")
    return client(bootstrap_servers=servers)


@pytest.mark.parametrize("client", CLIENTS)
async def test_a_cancelled_start_leaves_nothing_behind(client: type[Any], servers: str, topic: str) -> None:
    made: list[Any] = []

    async def start() -> None:
        made.append(make(client, servers, topic))
        await made[-1].start()

    async for done, _ in each_wait(start):
        if done:
            await made[-1].close() if hasattr(made[-1], "close") else await made[-1].stop()
        await nothing_runs()
    assert len(made) > 1


@pytest.mark.parametrize("client", CLIENTS)
async def test_a_cancelled_close_continues(client: type[Any], servers: str, topic: str) -> None:
    for at in itertools.count(1):
        each = make(client, servers, topic)
        await each.start()
        close = each.close if hasattr(each, "close") else each.stop
        done, _ = await outcome_at(close, at)
        await close()
        await nothing_runs()
        if done:
            break


@pytest.mark.slow
@pytest.mark.parametrize("face", [AsyncKafkaConsumer, AIOKafkaConsumer])
@pytest.mark.parametrize("way", ["getone", "getone of one", "getmany", "getmany of one", "next"])
async def test_a_cancelled_read_loses_no_record(face: type[Any], way: str, servers: str, topic: str) -> None:
    await fill(servers, topic)
    tp = TopicPartition(topic, 0)
    options = {"group_id": f"{topic}-{next(_numbers)}", "auto_offset_reset": "earliest", "max_poll_records": 7}
    async with face(topic, bootstrap_servers=servers, **options) as consumer:

        async def read() -> list[Any]:
            if way.startswith("getmany"):
                partitions = [tp] if way.endswith("one") and consumer.assignment() else []
                found = await consumer.getmany(*partitions, timeout_ms=1_000, max_records=3)
                return list(itertools.chain.from_iterable(found.values()))
            if way == "getone of one" and consumer.assignment():
                return [await consumer.getone(tp)]
            return [await (anext(consumer) if way == "next" else consumer.getone())]

        seen: list[int] = []
        at = 0
        while len(seen) < COUNT:
            at = at % 12 + 1
            _, records = await outcome_at(read, at)
            seen += [record.offset for record in records or ()]
        assert seen == list(range(COUNT))
    await nothing_runs()


@pytest.mark.parametrize("face", [AsyncKafkaConsumer, AIOKafkaConsumer])
async def test_a_cancelled_commit_can_be_repeated(face: type[Any], servers: str, topic: str) -> None:
    await fill(servers, topic)
    tp = TopicPartition(topic, 0)
    options = {"group_id": f"{topic}-{next(_numbers)}", "auto_offset_reset": "earliest", "enable_auto_commit": False}
    async with face(topic, bootstrap_servers=servers, **options) as consumer:
        before = 0
        await consumer.getone()

        async for _ in each_wait(consumer.commit):
            position = await consumer.position(tp)
            assert before <= (await consumer.committed(tp) or 0) <= position
            await consumer.commit()
            before = await consumer.committed(tp)
            assert before == position
            await consumer.getone()
    await nothing_runs()


@pytest.mark.slow
@pytest.mark.parametrize("face", [AsyncKafkaProducer, AIOKafkaProducer])
@pytest.mark.parametrize("way", ["send", "send_and_wait", "flush"])
async def test_a_cancelled_send_writes_once_or_not_at_all(face: type[Any], way: str, servers: str, topic: str) -> None:
    sent: set[bytes] = set()
    tried: list[bytes] = []
    for at in range(1, 12):
        async with face(bootstrap_servers=servers) as producer:  # a new producer, which has no metadata of the topic
            for again in range(2):
                tried.append(b"%d.%d" % (at, again))

                async def send(producer: Any = producer) -> None:
                    if way == "send_and_wait":
                        await producer.send_and_wait(topic, tried[-1], partition=0)
                        return
                    await producer.send(topic, tried[-1], partition=0)
                    if way == "flush":
                        await producer.flush()

                done, _ = await outcome_at(send, at)
                if done:
                    sent.add(tried[-1])
        await nothing_runs()
    found = await values(servers, topic)
    assert sorted(set(found)) == sorted(found)
    assert sent <= set(found) <= set(tried)
    assert sent


async def test_tasks_that_read_different_partitions_get_only_those(servers: str) -> None:
    name = f"apart-{next(_numbers)}"
    async with AsyncKafkaAdminClient(bootstrap_servers=servers) as admin:
        await admin.create_topics({name: {"num_partitions": 3}}, wait_for_metadata=True)
    async with AsyncKafkaProducer(bootstrap_servers=servers) as producer:
        for number in range(60):
            await producer.send(name, b"%d" % number, partition=number % 3)
    partitions = [TopicPartition(name, number) for number in range(3)]
    async with AsyncKafkaConsumer(bootstrap_servers=servers, auto_offset_reset="earliest") as consumer:
        await consumer.assign(partitions)

        async def read(tp: TopicPartition) -> list[tuple[int, int]]:
            records = [await consumer.getone(tp) for _ in range(20)]
            return [(record.partition, record.offset) for record in records]

        found = await asyncio.gather(*map(read, partitions))
    assert found == [[(number, offset) for offset in range(20)] for number in range(3)]
