"""At whichever `await` a transactional call is cancelled, it can be repeated, and it is decided once."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka import AsyncKafkaConsumer, AsyncKafkaProducer, KafkaAdminClient, TopicPartition
from kafka.aio import AIOKafkaProducer
from kafka.broker import EmbeddedBroker
from kafka.errors import IllegalStateError, TransactionAbortedError
from kafka.producer.transactions.state_machine import TransactionState
from kafka.structs import OffsetAndMetadata
from unit.aio.cancelling import each_moment, each_wait, nothing_runs

pytestmark = pytest.mark.once
FACES = [AsyncKafkaProducer, AIOKafkaProducer]
_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("broker")
    with EmbeddedBroker(folder) as broker:
        yield broker.bootstrap_servers


@pytest.fixture
def topic(servers: str) -> str:
    name = f"transactions-{next(_numbers)}"
    with KafkaAdminClient(bootstrap_servers=servers) as admin:
        admin.create_topics({name: {"num_partitions": 1}}, wait_for_metadata=True)
    return name


def make(face: type[Any], servers: str) -> Any:
    return face(bootstrap_servers=servers, transactional_id=f"x-{next(_numbers)}")


async def started(producer: Any) -> Any:
    await producer.start()
    return producer


async def ready(producer: Any) -> Any:
    """Start a producer, and initialize its transactions."""
    await producer.start()
    if isinstance(producer, AsyncKafkaProducer):
        await producer.init_transactions()
    return producer


async def shut(producer: Any) -> None:
    await (producer.close() if hasattr(producer, "close") else producer.stop())


def state_of(producer: Any) -> TransactionState:
    inner = producer if isinstance(producer, AsyncKafkaProducer) else producer._producer
    found: TransactionState = inner.transaction_state
    return found


async def committed_values(servers: str, topic: str) -> list[bytes]:
    """Return the values that a read_committed consumer gets."""
    tp = TopicPartition(topic, 0)
    options = {"auto_offset_reset": "earliest", "isolation_level": "read_committed"}
    async with AsyncKafkaConsumer(bootstrap_servers=servers, **options) as consumer:
        await consumer.assign([tp])
        end = (await consumer.end_offsets([tp]))[tp]
        found: list[bytes] = []
        while await consumer.position(tp) < end:
            found += [record.value for record in await consumer.poll(1_000)]
        return found


async def test_a_cancelled_init_can_be_repeated(servers: str, topic: str) -> None:
    made: list[AsyncKafkaProducer] = []

    async def get_an_id() -> None:
        await made[-1].init_transactions()

    async def start() -> None:
        made.append(await started(make(AsyncKafkaProducer, servers)))

    await start()
    async for done, _ in each_moment(get_an_id):
        if not done and state_of(made[-1]) is not TransactionState.READY:
            with pytest.raises(IllegalStateError, match="init_transactions"):
                await made[-1].begin_transaction()
            await get_an_id()
        assert state_of(made[-1]) is TransactionState.READY
        async with made[-1].transaction():
            await made[-1].send(topic, b"%d" % len(made), partition=0)
        await made[-1].close()
        await nothing_runs()
        await start()
    await made[-1].close()
    assert len(made) > 10
    assert await committed_values(servers, topic) == [b"%d" % each for each in range(1, len(made))]


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("call", ["commit_transaction", "abort_transaction"])
async def test_a_cancelled_end_is_decided_once(face: type[Any], call: str, servers: str, topic: str) -> None:
    producer = await ready(make(face, servers))
    sent: list[bytes] = []
    futures: list[Any] = []
    other = {"commit_transaction": "abort_transaction", "abort_transaction": "commit_transaction"}[call]

    async def end() -> None:
        await getattr(producer, call)()

    async def begin() -> None:
        await producer.begin_transaction()
        sent.append(b"%d" % len(sent))
        futures.append(await producer.send(topic, sent[-1], partition=0))
        if len(sent) % 2:
            await futures[-1]  # lets the coordinator know the transaction

    await begin()
    async for done, _ in each_moment(end):
        if state_of(producer) in (TransactionState.COMMITTING, TransactionState.ABORTING):
            for wrong in (other, "begin_transaction"):
                with pytest.raises(IllegalStateError, match=call):
                    await getattr(producer, wrong)()
        if not done and state_of(producer) is not TransactionState.READY:
            await end()
        assert state_of(producer) is TransactionState.READY
        await begin()
    await end()
    await shut(producer)
    await nothing_runs()
    assert len(sent) > 5
    assert await committed_values(servers, topic) == (sent if call == "commit_transaction" else [])
    outcomes = await asyncio.gather(*futures, return_exceptions=True)
    failed = [each for each in outcomes if isinstance(each, BaseException)]
    assert all(isinstance(each, TransactionAbortedError) for each in failed)
    assert not (failed and call == "commit_transaction")


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("ends", ["commit_transaction", "abort_transaction"])
@pytest.mark.parametrize("again", [False, True])
async def test_offsets_of_a_cancelled_call_belong_to_their_transaction(
    face: type[Any], ends: str, again: bool, servers: str, topic: str
) -> None:
    producer = await ready(make(face, servers))
    tp, group = TopicPartition(topic, 0), f"g-{next(_numbers)}"
    number = 0

    async def send_offsets() -> None:
        await producer.send_offsets_to_transaction({tp: OffsetAndMetadata(number, "", -1)}, group)

    async with AsyncKafkaConsumer(bootstrap_servers=servers, group_id=group) as consumer:
        before = await consumer.committed(tp)
        await producer.begin_transaction()
        async for done, _ in each_moment(send_offsets):
            assert state_of(producer) is TransactionState.OPEN
            if again:
                await send_offsets()
            await getattr(producer, ends)()
            now = await consumer.committed(tp)
            if ends == "abort_transaction":
                assert now == before
            else:
                assert now == number if again or done else now in (before, number)
            before = now
            number += 1
            await producer.begin_transaction()
    await producer.abort_transaction()
    await shut(producer)
    await nothing_runs()
    assert number > 5


@pytest.mark.parametrize("face", FACES)
async def test_a_cancelled_begin_has_begun_or_not(face: type[Any], servers: str, topic: str) -> None:
    producer = await ready(make(face, servers))
    async for done, _ in each_wait(producer.begin_transaction):
        assert state_of(producer) is (TransactionState.OPEN if done else TransactionState.READY)
    await producer.send(topic, b"v", partition=0)
    await producer.commit_transaction()
    await shut(producer)
    await nothing_runs()
    assert await committed_values(servers, topic) == [b"v"]


@pytest.mark.parametrize("face", FACES)
async def test_a_cancelled_block_commits_all_or_nothing(face: type[Any], servers: str, topic: str) -> None:
    producer = await ready(make(face, servers))
    blocks = 0
    whole: set[int] = set()

    async def block() -> None:
        async with producer.transaction():
            for number in range(3):
                await producer.send(topic, b"%d.%d" % (blocks, number), partition=0)

    goes_on = {
        TransactionState.COMMITTING: "commit_transaction",
        TransactionState.ABORTING: "abort_transaction",
    }
    async for done, _ in each_moment(block):
        if state_of(producer) is not TransactionState.READY:
            await getattr(producer, goes_on[state_of(producer)])()
        assert state_of(producer) is TransactionState.READY
        if done:
            whole.add(blocks)
        blocks += 1
    await shut(producer)
    await nothing_runs()
    found = Counter(int(value.partition(b".")[0]) for value in await committed_values(servers, topic))
    assert set(found.values()) == {3}
    assert whole <= set(found)
    assert blocks > 10


async def test_a_cancelled_prepare_can_be_repeated(servers: str, topic: str) -> None:
    producer = await ready(make(AsyncKafkaProducer, servers))
    sent = 0

    async def begin() -> None:
        nonlocal sent
        await producer.begin_transaction()
        await producer.send(topic, b"%d" % sent, partition=0)
        sent += 1

    await begin()
    async for done, identity in each_moment(producer.prepare_transaction):
        again = await producer.prepare_transaction()
        assert again == (identity if done else again) == producer.transaction_identity
        assert state_of(producer) is TransactionState.PREPARED
        await producer.commit_transaction()
        await begin()
    await producer.commit_transaction()
    await producer.close()
    await nothing_runs()
    assert sent > 10
    assert await committed_values(servers, topic) == [b"%d" % each for each in range(sent)]
