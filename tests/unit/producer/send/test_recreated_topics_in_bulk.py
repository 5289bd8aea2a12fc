"""A topic that is deleted and made again under `send_arrow()`, and under transactions."""

from __future__ import annotations

import asyncio
from typing import Any

import pyarrow as pa
import pytest

from kafka.errors import IllegalArgumentError, LeaderNotAvailableError, TransactionAbortableError
from kafka.partitioner.murmur2 import murmur2
from kafka.producer.arrow_encoder import ArrowEncoder
from kafka.producer.batch.memory_pool import Reservation
from kafka.structs import TopicPartition
from kafka.wire.api.add_partitions_to_txn import AddPartitionsToTxnResponse
from unit.producer.fake_producer import FakeProducer, producing
from unit.producer.producing_cluster import Fault, ProducingCluster
from unit.producer.transaction_cluster import TransactionalCluster, partitions_answer
from unit.producer.transactions.test_transactions import both_versions, run

KEYS = [b"key-%d" % number for number in range(12)]
ROWS = pa.table({"key": KEYS * 20, "value": [b"%d" % number for number in range(240)]})

# Rows: encoding runs in a real thread, for which a virtual clock would not wait.


def written(cluster: ProducingCluster, partitions: int) -> dict[bytes, list[int]]:
    """The values of each key, from the one partition that it belongs to."""
    found: dict[bytes, list[int]] = {}
    for partition in range(partitions):
        log = cluster.log(partition)
        for key, value in zip(log.keys, log.values, strict=True):
            assert key is not None
            assert value is not None
            assert (murmur2(key) & 0x7FFFFFFF) % partitions == partition
            found.setdefault(key, []).append(int(value))
    return found


IN_ORDER = {key: list(range(at, 240, len(KEYS))) for at, key in enumerate(KEYS)}


@pytest.mark.parametrize("partitions", [1, 5])
async def test_waiting_rows_go_to_the_partitions_of_the_new_topic(partitions: int) -> None:
    cluster = ProducingCluster({"t": 3})
    cluster.faults.append(Fault(delay=0.05, error=LeaderNotAvailableError))
    async with producing(cluster, max_in_flight_requests_per_connection=1) as producer:
        future = await producer.send_arrow("t", ROWS)
        cluster.make_anew("t", partitions)
        cluster.publish()
        result = await future
        assert result.rows == 240
        assert sum(each.records for ranges in result.offsets.values() for each in ranges) == 240
        assert set(result.offsets) == {TopicPartition("t", (murmur2(key) & 0x7FFFFFFF) % partitions) for key in KEYS}
        assert written(cluster, partitions) == IN_ORDER


async def test_rows_encoded_for_the_deleted_topic_are_repartitioned() -> None:
    cluster = ProducingCluster({"t": 3})
    async with producing(cluster) as producer:
        await producer.core.find_topic("t")
        encoder = ArrowEncoder(producer.core, "t", ROWS)
        chunk = [*encoder.encode(0, 120), *encoder.encode(120, 240)]
        for number, rows in enumerate(chunk):
            if number == 2:
                cluster.make_anew("t", 2)
                cluster.publish()
            reserved = Reservation()
            producer.core.buffer.memory.reserve(len(rows.data), into=reserved)
            encoder.enqueue(rows, reserved)
        await producer.flush()
        assert {batch.topic_partition.partition for batch in encoder.batches[2:]} == {0, 1}
        assert written(cluster, 2) == IN_ORDER
        assert producer.core.buffer.memory.free == producer.core.buffer.memory.total


async def test_only_rows_with_a_removed_partition_fail() -> None:
    cluster = ProducingCluster({"t": 3})
    table = pa.table({"value": [b"a", b"b", b"c", b"d"], "key": [b"k"] * 4, "partition": [2, None, 2, 0]})
    key_place = (murmur2(b"k") & 0x7FFFFFFF) % 3
    async with producing(cluster) as producer:
        await producer.core.find_topic("t")
        encoder = ArrowEncoder(producer.core, "t", table)
        rows = {each.partition: each for each in encoder.encode(0, 4)}
        assert rows[2].named == ([0, 1, 2, 3] if key_place == 2 else [0, 2])
        cluster.faults.append(Fault(delay=0.05, error=LeaderNotAvailableError))
        future = await producer.send_arrow("t", table)
        cluster.make_anew("t", 1)
        cluster.publish()
        with pytest.raises(IllegalArgumentError, match=r"2 of 4 rows were not delivered.*partitions 0 to 0 now"):
            await future
        assert sorted(value for value in cluster.log(0).values if value) == [b"b", b"d"]
        with pytest.raises(IllegalArgumentError, match=r"but partition is 2; 0 of 4 rows are on their way"):
            encoder.enqueue(rows[2], Reservation())


@pytest.mark.parametrize(
    ("partitions", "named"),
    [([1, 1, 1, 1], [0, 4]), ([None] * 4, None), ([None, 1, 1, None], [1, 3]), ([1, None, 1, 1], [0, 1, 2, 4])],
)
async def test_rows_with_a_chosen_partition_are_remembered(partitions: list[int | None], named: Any) -> None:
    cluster = ProducingCluster({"t": 2})
    key = next(key for key in KEYS if (murmur2(key) & 0x7FFFFFFF) % 2 == 1)
    column = pa.array(partitions, pa.int32())
    async with producing(cluster) as producer:
        await producer.core.find_topic("t")
        encoder = ArrowEncoder(producer.core, "t", {"value": [b"x"] * 4, "key": [key] * 4, "partition": column})
        (rows,) = encoder.encode(0, 4)
        assert rows.named == named


# Transactions

each_number = pytest.mark.parametrize("partitions", [1, 3, 5], ids=["fewer", "as many", "more"])


@both_versions
def test_transactions_continue_with_the_new_topic(version: int) -> None:
    cluster = TransactionalCluster({"t": 3}, version=version)

    async def scenario(producer: FakeProducer) -> None:
        for partitions in (3, 1, 2):
            cluster.make_anew("t", partitions)
            if version == 1:  # requests name the topic, so that brokers do not tell
                cluster.publish()
            async with producer.transaction():
                for key in KEYS:
                    await producer.send(b"v", key)
            assert sum(len(cluster.log(p).values) for p in range(partitions)) == len(KEYS)

    run(cluster, scenario)
    assert [committed for *_, committed in cluster.ended] == [True] * 3


@each_number
@both_versions
def test_a_transaction_without_writes_to_the_deleted_topic_is_committed(version: int, partitions: int) -> None:
    cluster = TransactionalCluster({"t": 3}, version=version)

    async def scenario(producer: FakeProducer) -> None:
        async with producer.transaction():
            cluster.faults.append(Fault(delay=0.5, error=LeaderNotAvailableError))
            sent = [await producer.send(b"v", key) for key in KEYS]
            await asyncio.sleep(0.1)
            cluster.make_anew("t", partitions)
            cluster.publish()
        places = [(murmur2(key) & 0x7FFFFFFF) % partitions for key in KEYS]
        assert [(await future).partition for future in sent] == places
        assert sorted(key for number in range(partitions) for key in cluster.log(number).keys if key) == sorted(KEYS)

    run(cluster, scenario)
    assert [committed for *_, committed in cluster.ended] == [True]


@each_number
@both_versions
def test_a_transaction_with_writes_to_the_deleted_topic_must_be_aborted(version: int, partitions: int) -> None:
    cluster = TransactionalCluster({"t": 3}, version=version)

    async def scenario(producer: FakeProducer) -> None:
        await producer.begin_transaction()
        await asyncio.gather(*[await producer.send(b"lost", key) for key in KEYS])
        cluster.make_anew("t", partitions)
        cluster.publish()
        with pytest.raises(
            TransactionAbortableError, match="topic 't' was deleted and recreated while the transaction"
        ):
            await producer.commit_transaction()
        await producer.abort_transaction()
        async with producer.transaction():
            for key in KEYS:
                await producer.send(b"again", key)
        written = [value for number in range(partitions) for value in cluster.log(number).values]
        assert written == [b"again"] * len(KEYS)

    run(cluster, scenario)
    assert [committed for *_, committed in cluster.ended] == [False, True]


def test_a_removed_partition_is_not_added_to_a_transaction() -> None:
    cluster = TransactionalCluster({"t": 3}, version=1)
    answered = cluster._add_partitions

    def refuse_what_is_gone(call: Any) -> AddPartitionsToTxnResponse:
        asked = [p for topic in call.request.v3_and_below_topics for p in topic.partitions]
        return partitions_answer(call.request, 3) if max(asked) >= cluster.topics["t"] else answered(call)

    cluster.serve("AddPartitionsToTxn", refuse_what_is_gone)

    async def scenario(producer: FakeProducer) -> None:
        async with producer.transaction():
            cluster.topics["t"] = 1
            sent = [await producer.send(b"v", key) for key in KEYS]
            await asyncio.sleep(1)
            cluster.make_anew("t", 1)
            cluster.publish()
        assert {(await future).partition for future in sent} == {0}

    run(cluster, scenario)
    assert [committed for *_, committed in cluster.ended] == [True]
