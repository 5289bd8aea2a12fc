"""A call or a record whose time is up says what is known of the cause."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from kafka.errors import (
    KafkaError,
    KafkaTimeoutError,
    LeaderNotAvailableError,
    NotEnoughReplicasError,
    UnknownTopicOrPartitionError,
)
from kafka.producer.arrow_future import FutureArrowResult
from kafka.producer.transactions.state_machine import TransactionIdentity
from kafka.producer.transactions.two_phase_commit import end_all
from kafka.structs import ConsumerGroupMetadata, OffsetAndMetadata, TopicPartition
from unit.producer.fake_producer import FakeProducer, producing
from unit.producer.producing_cluster import Fault, ProducingCluster
from unit.producer.transaction_cluster import TransactionalCluster, offsets_answer, partitions_answer
from unit.producer.transactions.test_transactions import both_versions, run
from unit.virtual_loop import simulate

UNKNOWN = UnknownTopicOrPartitionError
REFUSED = [Fault(error=NotEnoughReplicasError)] * 2_000
WHY = "NotEnoughReplicasError"


@both_versions
def test_a_timeout_names_the_missing_topic_of_offsets(version: int) -> None:
    cluster = TransactionalCluster(version=version)
    cluster.serve("TxnOffsetCommit", lambda call: offsets_answer(call.request, UNKNOWN.errno))

    async def scenario(producer: FakeProducer) -> None:
        await producer.begin_transaction()
        offsets = {TopicPartition("mispelt", 0): OffsetAndMetadata(1, "")}
        why = r"not done within max_block_ms \(2000\); TxnOffsetCommit failed with: .*partition 0 of topic 'mispelt'"
        with pytest.raises(KafkaTimeoutError, match=why) as raised:
            await producer.send_offsets_to_transaction(offsets, ConsumerGroupMetadata("g"))
        assert isinstance(raised.value.__cause__, UNKNOWN)
        await producer.abort_transaction()

    run(cluster, scenario, max_block_ms=2_000)


@pytest.mark.parametrize("what", ["AddPartitionsToTxn", "a batch for t-0"])
def test_a_commit_timeout_names_its_cause(what: str) -> None:
    cluster = TransactionalCluster(version=1)

    async def scenario(producer: FakeProducer) -> None:
        if what == "AddPartitionsToTxn":
            cluster.serve(what, lambda call: partitions_answer(call.request, LeaderNotAvailableError.errno))
        else:
            cluster.faults.extend(REFUSED)
        await producer.begin_transaction()
        await producer.send(b"x", partition=0)
        with pytest.raises(KafkaTimeoutError, match=rf"; {what} (failed with|is not written): .*Error") as raised:
            await producer.commit_transaction()
        assert isinstance(raised.value.__cause__, KafkaError)
        await producer.core.close(0)

    run(cluster, scenario, max_block_ms=2_000)


def test_timeouts_of_end_transactions_name_their_cause() -> None:
    cluster = TransactionalCluster()

    async def scenario(producer: FakeProducer) -> None:
        cluster.script("EndTxn", *[LeaderNotAvailableError.errno] * 200)
        identity = TransactionIdentity("x", 1000, 0, 2)
        outcome = await end_all(cluster, [identity], True, 1_000, producer.core._backoff)
        assert "check again (EndTxn: [Error 5] LeaderNotAvailableError" in str(outcome[identity])

    run(cluster, scenario)


def test_timeouts_of_flush_and_close_name_their_cause() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        cluster.faults.extend(REFUSED)
        producer = FakeProducer(cluster)
        await producer.core.start()
        future = await producer.send(b"x")
        with pytest.raises(KafkaTimeoutError, match=rf"they are still on their way: .*{WHY}") as raised:
            await producer.flush(2)
        assert isinstance(raised.value.__cause__, NotEnoughReplicasError)
        rows = FutureArrowResult(producer.core, asyncio.get_running_loop(), [future.place()[0]])
        with ThreadPoolExecutor(1) as pool:
            for each in (future, rows):
                assert WHY in str(pool.submit(each.get, 0).exception())
        await producer.core.close(0)
        with pytest.raises(KafkaTimeoutError, match=rf"was closed before the record was acknowledged: .*{WHY}"):
            future.get()

    simulate(scenario)


def test_a_timeout_of_waiting_for_memory_names_its_cause() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        cluster.faults.extend(REFUSED)
        options: dict[str, Any] = {"batch_size": 1_000, "buffer_memory": 1_000, "max_block_ms": 1_000}
        async with producing(cluster, **options) as producer:
            first = await producer.send(bytes(900))
            with pytest.raises(KafkaTimeoutError, match=rf"what is buffered is not (sent|written): .*{WHY}"):
                await producer.send(bytes(900))
            cluster.faults.clear()
            await first

    simulate(scenario)


def test_an_expired_record_names_its_missing_topic() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster) as producer:
            await (await producer.send(b"x"))
            del cluster.topics["t"]
            await cluster.refresh_metadata(["t"])
            await producer.send(b"y")
            with pytest.raises(KafkaTimeoutError, match=r"still on their way: .*UnknownTopicOrPartitionError"):
                await producer.flush(2)
            await producer.core.close(0)

    simulate(scenario)
