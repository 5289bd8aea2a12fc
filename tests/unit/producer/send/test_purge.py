"""`purge()`: records that are dropped, and what goes on."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from kafka import KafkaProducer
from kafka.broker import EmbeddedBroker
from kafka.errors import NotEnoughReplicasError, RecordPurgedError, TransactionAbortableError
from unit.producer.fake_producer import FakeProducer, producing
from unit.producer.producing_cluster import Fault, ProducingCluster
from unit.producer.transaction_cluster import TransactionalCluster
from unit.producer.transactions.test_transactions import both_versions, run
from unit.virtual_loop import simulate


def test_unsent_records_are_purged_and_others_continue(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        cluster.faults.append(Fault(delay=1))
        told: list[Any] = []
        async with producing(cluster, batch_size=100, linger_ms=0) as producer:
            sent = await producer.send(bytes(90))
            await asyncio.sleep(0.1)
            waiting = [(await producer.send(b"%d" % number)).add_errback(told.append) for number in range(20)]
            unseen = await producer.send(b"unseen")
            assert await producer.purge() == 21
            assert all(isinstance(future.exception, RecordPurgedError) for future in waiting)
            assert str(waiting[0].exception) == "dropped by purge() before it was sent"
            del waiting, unseen
            await producer.flush()
            assert len(told) == 20
            assert sent.succeeded()
            await (await producer.send(b"later"))
            assert await producer.purge(in_flight=True) == 0
            assert cluster.log(0).values == [bytes(90), b"later"]
            assert [epoch for _, epoch, _, _ in cluster.log(0).batches] == [0, 0], "no sequence number was used up"
            assert producer.core.buffer.memory.free == producer.core.buffer.memory.total

    simulate(scenario)
    assert not [record for record in caplog.records if record.levelno > logging.INFO]


@pytest.mark.parametrize("fault", [Fault(delay=1), Fault(delay=1, lost="answer"), Fault(1, NotEnoughReplicasError)])
def test_records_in_flight_are_purged_and_later_ones_start_a_new_epoch(fault: Fault) -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster) as producer:
            await (await producer.send(b"before"))
            cluster.faults.append(fault)
            sent = await producer.send(b"sent")
            await asyncio.sleep(0.1)
            assert await producer.purge() == 0
            assert await producer.purge(in_queue=False, in_flight=True) == 1
            assert str(sent.exception) == "dropped by purge(); it was sent, and may have been written"
            assert producer.core.buffer.memory.free == producer.core.buffer.memory.total
            await producer.flush()
            later = [await producer.send(b"%d" % number) for number in range(3)]
            await asyncio.gather(*later)
            assert cluster.log(0).values[-3:] == [b"0", b"1", b"2"]
            assert cluster.log(0).values.count(b"sent") == (fault.error is None)
            assert cluster.log(0).batches[-1][1] == 1
            assert producer.core.buffer.memory.free == producer.core.buffer.memory.total

    simulate(scenario)


def test_purged_records_are_not_purged_again_and_not_overtaken() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster) as producer:
            await (await producer.send(b"before"))
            cluster.faults.append(Fault(delay=1))
            await producer.send(b"dropped")
            await asyncio.sleep(0.1)
            assert await producer.purge(in_flight=True) == 1
            assert await producer.purge(in_flight=True) == 0
            later = await producer.send(b"later")
            await asyncio.sleep(0.5)
            assert len(cluster.produced) == 2, "a new epoch would fence what is still on its way"
            await later
            assert cluster.log(0).values == [b"before", b"dropped", b"later"]

    simulate(scenario)


def test_records_waiting_for_a_retry_count_as_in_flight() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        cluster.faults.append(Fault(error=NotEnoughReplicasError))
        async with producing(cluster, retry_backoff_ms=5_000, retry_backoff_max_ms=5_000) as producer:
            refused = await producer.send(b"refused")
            await asyncio.sleep(1)
            waiting = await producer.send(b"waiting")
            assert await producer.purge() == 1
            assert isinstance(waiting.exception, RecordPurgedError)
            assert not refused.is_done
            assert await producer.purge(in_flight=True) == 1
            await (await producer.send(b"later"))
            assert cluster.log(0).values == [b"later"]

    simulate(scenario)


def test_a_purge_wakes_senders_that_wait_for_memory() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster, batch_size=1_000, buffer_memory=1_000) as producer:
            cluster.faults.append(Fault(delay=5))
            first = await producer.send(bytes(900))
            blocked = asyncio.ensure_future(producer.send(b"blocked"))
            await asyncio.sleep(0.1)
            assert not blocked.done()
            await producer.purge(in_flight=True)
            assert first.failed()
            await (await blocked)
            assert cluster.log(0).values[-1] == b"blocked"

    simulate(scenario)


@both_versions
def test_a_transaction_with_a_purged_record_must_be_aborted(version: int) -> None:
    cluster = TransactionalCluster(version=version)

    async def scenario(producer: FakeProducer) -> None:
        await producer.begin_transaction()
        await producer.send(b"dropped", partition=0)
        assert await producer.purge() == 1
        with pytest.raises(TransactionAbortableError, match=r"dropped by purge\(\)"):
            await producer.commit_transaction()
        await producer.abort_transaction()
        async with producer.transaction():
            await producer.send(b"kept", partition=0)
        assert cluster.log(0).values == [b"kept"]

    run(cluster, scenario)


@both_versions
def test_the_transaction_after_one_with_purged_records_in_flight_succeeds(version: int) -> None:
    cluster = TransactionalCluster(version=version)

    async def scenario(producer: FakeProducer) -> None:
        await producer.begin_transaction()
        await (await producer.send(b"before", partition=0))
        cluster.faults.append(Fault(delay=1))
        await producer.send(b"dropped", partition=0)
        await asyncio.sleep(0.1)
        assert await producer.purge(in_flight=True) == 1
        await producer.abort_transaction()
        async with producer.transaction():
            await producer.send(b"kept", partition=0)
        assert cluster.log(0).values[-1] == b"kept"

    run(cluster, scenario)


def test_the_synchronous_producer_purges_from_any_thread() -> None:
    with (
        EmbeddedBroker() as broker,
        KafkaProducer(bootstrap_servers=broker.bootstrap_servers, linger_ms=600_000) as producer,
    ):
        futures = [producer.send("t", b"x") for _ in range(10)]
        assert producer.purge() == 10
        with pytest.raises(RecordPurgedError, match="before it was sent"):
            futures[0].get(60)
        kept = producer.send("t", b"y")
        producer.flush()
        assert kept.get(60).offset == 0
