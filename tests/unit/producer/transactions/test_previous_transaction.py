"""What a producer asks before it writes to a transaction that begins right after the last one (version 2)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from fakes.cluster import SILENCE, Answer
from kafka.errors import TransactionAbortedError, TransactionalIdAuthorizationFailedError
from kafka.structs import OffsetAndMetadata, TopicPartition
from kafka.wire.api.describe_transactions import DescribeTransactionsResponse, TransactionState
from unit.producer.fake_producer import FakeProducer, producing
from unit.producer.transaction_cluster import TransactionalCluster
from unit.virtual_loop import simulate

Scenario = Callable[[FakeProducer], Coroutine[Any, Any, None]]


def state(name: str, code: int = 0) -> DescribeTransactionsResponse:
    """A coordinator's answer about the producer's transactional id."""
    return DescribeTransactionsResponse(
        transaction_states=[TransactionState(error_code=code, transactional_id="x", transaction_state=name)]
    )


def run(cluster: TransactionalCluster, scenario: Scenario) -> list[str]:
    """A scenario with a producer that has its id; returns what was asked after that."""

    async def whole() -> None:
        async with producing(cluster, transactional_id="x") as producer:
            await producer.init_transactions()
            await scenario(producer)

    simulate(whole)
    return cluster.apis()[1:]


def describing(*answers: Answer, version: int = 2) -> TransactionalCluster:
    """A cluster whose coordinator says this of its transactions, and then that they are complete."""
    cluster = TransactionalCluster(version=version)
    del cluster.versions["DescribeTransactions"]
    cluster.serve("DescribeTransactions", lambda call: state("CompleteCommit"))
    cluster.script("DescribeTransactions", *answers)
    return cluster


async def write(producer: FakeProducer, value: bytes) -> None:
    async with producer.transaction():
        await producer.send(value, partition=0)


ONE = ["Produce", "EndTxn"]
ASK = "DescribeTransactions"


def test_an_immediate_transaction_is_written_once_the_previous_one_is_complete() -> None:
    cluster = describing(state("PrepareCommit"), state("PrepareAbort"))

    async def scenario(producer: FakeProducer) -> None:
        for value in (b"a", b"b"):
            await write(producer, value)

    assert run(cluster, scenario) == [*ONE, ASK, ASK, ASK, *ONE]
    assert cluster.log(0).values == [b"a", b"b"]
    first, second, third = cluster.times(ASK)
    assert 0 < second - first < third - second < 0.01
    assert cluster.times("Produce")[1] >= third


def test_no_check_after_a_pause_an_empty_transaction_or_in_version_1() -> None:
    async def with_pauses(producer: FakeProducer) -> None:
        for value in (b"a", b"b"):
            await write(producer, value)
            await asyncio.sleep(0.2)

    async def with_nothing(producer: FakeProducer) -> None:
        for _ in range(2):
            async with producer.transaction():
                pass

    async def at_once(producer: FakeProducer) -> None:
        for value in (b"a", b"b"):
            await write(producer, value)

    assert ASK not in run(describing(), with_pauses)
    assert ASK not in run(describing(), with_nothing)
    assert ASK not in run(describing(version=1), at_once)


def test_offsets_wait_for_the_previous_transaction_too() -> None:
    cluster = describing(state("PrepareCommit"))
    offsets = {TopicPartition("in", 0): OffsetAndMetadata(7, "", None)}

    async def scenario(producer: FakeProducer) -> None:
        await write(producer, b"a")
        async with producer.transaction():
            await producer.send_offsets_to_transaction(offsets, "g")

    assert run(cluster, scenario) == [*ONE, ASK, ASK, "TxnOffsetCommit", "EndTxn"]


def test_an_aborted_transaction_does_not_wait_for_the_previous_one() -> None:
    cluster = describing(*[state("PrepareCommit")] * 100)

    async def scenario(producer: FakeProducer) -> None:
        await write(producer, b"a")
        await producer.begin_transaction()
        future = await producer.send(b"b", partition=0)
        await producer.abort_transaction()
        with pytest.raises(TransactionAbortedError):
            await future
        assert producer.cluster.times("Produce")[0] + 0.1 > asyncio.get_running_loop().time()

    assert [api for api in run(cluster, scenario) if api != ASK] == ONE


def test_without_permission_to_ask_the_producer_writes_and_stops_asking() -> None:
    cluster = describing(*[state("", TransactionalIdAuthorizationFailedError.errno)] * 9)

    async def scenario(producer: FakeProducer) -> None:
        for value in (b"a", b"b", b"c"):
            await write(producer, value)

    assert run(cluster, scenario) == [*ONE, ASK, *ONE, *ONE]


def test_a_silent_coordinator_delays_writing_by_one_second() -> None:
    cluster = describing(SILENCE)

    async def scenario(producer: FakeProducer) -> None:
        for value in (b"a", b"b"):
            await write(producer, value)
        first, second = cluster.times("Produce")
        assert 1.0 <= second - first < 1.1

    # The end of the second waits on the same connection, until that is given up.
    assert run(cluster, scenario) == [*ONE, ASK, "Produce", "EndTxn", "EndTxn"]
    assert cluster.log(0).values == [b"a", b"b"]


def test_closing_stops_the_check() -> None:
    cluster = describing(SILENCE)

    async def scenario(producer: FakeProducer) -> None:
        await write(producer, b"a")
        await producer.begin_transaction()
        await asyncio.sleep(0.01)

    assert run(cluster, scenario) == [*ONE, ASK]
