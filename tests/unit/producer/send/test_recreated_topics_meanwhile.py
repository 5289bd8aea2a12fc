"""What else goes on in a producer while a topic of its is deleted and made again."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Callable

import pyarrow as pa
import pytest

from kafka.errors import LeaderNotAvailableError, TransactionAbortableError
from kafka.producer.arrow_encoder import ArrowEncoder
from kafka.producer.batch.memory_pool import Reservation
from unit.producer.fake_producer import FakeProducer, producing
from unit.producer.producing_cluster import Fault, ProducingCluster
from unit.producer.send.test_recreated_topics import BY_NAME, KEYS, place_of, send_round, written
from unit.producer.transaction_cluster import TransactionalCluster
from unit.producer.transactions.test_transactions import both_versions, run
from unit.virtual_loop import simulate


@pytest.mark.parametrize("partitions", [1, 2, 5])
def test_a_closing_producer_follows_a_recreated_topic(partitions: int) -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 3})
        producer = FakeProducer(cluster)
        await producer.core.start()
        await asyncio.gather(*await send_round(producer, 0))
        cluster.make_anew("t", partitions)
        sent = await send_round(producer, 1)
        await producer.core.close()
        assert [future.exception for future in sent] == [None] * len(KEYS)
        assert written(cluster, partitions) == {key: [b"1"] for key in KEYS}

    simulate(scenario)


def test_a_closing_producer_keeps_refreshing_its_topics() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        producer = FakeProducer(cluster, metadata_max_idle_ms=60_000)
        await producer.core.start()
        for _ in range(3):
            await (await producer.send(b"x"))
            await asyncio.sleep(50)
        cluster.faults.append(Fault(delay=1))
        sent = await producer.send(b"y")
        closing = asyncio.ensure_future(producer.core.close())
        await asyncio.sleep(0.5)
        cluster.publish()
        assert cluster.watched == {"t"}
        await closing
        assert sent.succeeded()

    simulate(scenario)


def test_a_batch_accepted_before_an_earlier_one_is_not_written_twice() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1}, produce_version=BY_NAME)
        async with producing(cluster, batch_size=0) as producer:
            await (await producer.send(b"0"))
            cluster.make_anew("t", 1)
            cluster.faults.append(Fault(delay=0.1, error=LeaderNotAvailableError))
            cluster.faults.append(Fault(delay=0.1, error=LeaderNotAvailableError))
            cluster.faults.append(Fault(delay=0.1, lost="answer"))
            sent = [await producer.send(b"%d" % number) for number in (1, 2, 3, 4)]
            await asyncio.sleep(0.15)
            cluster.publish()
            results = await asyncio.gather(*sent)
            values = cluster.log(0).values
            assert sorted(value for value in values if value) == [b"1", b"2", b"3", b"4"]
            assert [values[each.offset] for each in results] == [b"1", b"2", b"3", b"4"]
            assert values.index(b"1") < values.index(b"2")

    simulate(scenario)


def test_compression_for_other_topics_does_not_delay_a_move() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1, "busy": 2}, brokers=2)
        async with producing(cluster, compression_type="gzip", batch_size=40_000, linger_ms=0) as producer:

            async def compress_for_a_second(work: Callable[[], None]) -> None:
                await asyncio.sleep(1)
                work()

            assert producer.core._sender is not None
            producer.core._sender._compressor._elsewhere = compress_for_a_second
            feeds = [asyncio.ensure_future(feed(producer, 0, 0.0)), asyncio.ensure_future(feed(producer, 1, 0.5))]
            await (await producer.send(b"0"))
            await asyncio.sleep(5)
            cluster.make_anew("t", 1)
            cluster.publish()
            sent = await producer.send(b"1")
            await asyncio.sleep(10)
            for each in feeds:
                each.cancel()
            assert sent.succeeded()

    async def feed(producer: FakeProducer, partition: int, after: float) -> None:
        await asyncio.sleep(after)
        while True:
            await producer.send(bytes(38_000), topic="busy", partition=partition)
            await asyncio.sleep(0.9)

    simulate(scenario)


KEY_OF_1 = next(key for key in KEYS if place_of(key, 3) == 1)
"""Of a record for partition 1 of 3, whose leader is not that of partition 0."""


def test_batches_being_compressed_are_moved_afterwards() -> None:
    """In another thread: its records would be sent to another broker from memory that is being written to."""

    async def scenario() -> None:
        cluster = ProducingCluster({"t": 3}, brokers=2)
        async with producing(cluster, compression_type="gzip", batch_size=400_000, linger_ms=0) as producer:
            sent_before: list[bool] = []
            """Whether anything had been written each time that compressing was done."""

            async def compress_for_a_second(work: Callable[[], None]) -> None:
                await asyncio.sleep(1)
                sent_before.append(any(each.is_done for each in sent))
                work()

            assert producer.core._sender is not None
            await (await producer.send(b"0"))
            producer.core._sender._compressor._elsewhere = compress_for_a_second
            sent = [await producer.send(bytes(10_000), KEY_OF_1) for _ in range(4)]
            await asyncio.sleep(0.1)
            cluster.make_anew("t", 1)
            cluster.publish()
            await asyncio.gather(*sent)
            assert sent_before
            assert not sent_before[0]
            assert {each.get().partition for each in sent} == {0}

    simulate(scenario)


async def test_repartitioned_rows_do_not_keep_the_producer_alive() -> None:
    cluster = ProducingCluster({"t": 3})
    async with producing(cluster) as producer:
        await producer.core.find_topic("t")
        encoder = ArrowEncoder(producer.core, "t", pa.table({"value": [b"a"], "key": [b"k"]}))
        (rows,) = encoder.encode(0, 1)
        cluster.make_anew("t", 2)
        cluster.publish()
        encoder.enqueue(rows, Reservation())
        await producer.flush()
    core = weakref.ref(producer.core)
    del producer, encoder, cluster
    await asyncio.sleep(0)
    gc.collect()
    assert core() is None


@both_versions
def test_a_waiting_commit_fails_if_records_were_in_the_deleted_topic(version: int) -> None:
    cluster = TransactionalCluster({"t": 1}, version=version)
    cluster.versions["Produce"] = (0, BY_NAME)

    async def scenario(producer: FakeProducer) -> None:
        await producer.begin_transaction()
        await (await producer.send(b"a"))
        cluster.faults.append(Fault(delay=1))
        await producer.send(b"b")
        await asyncio.sleep(0.1)
        commit = asyncio.ensure_future(producer.commit_transaction())
        await asyncio.sleep(0.1)
        cluster.make_anew("t", 1)
        cluster.publish()
        with pytest.raises(TransactionAbortableError, match="'t' was deleted and recreated while the transaction"):
            await commit
        await producer.abort_transaction()

    run(cluster, scenario)
    assert [committed for *_, committed in cluster.ended] == [False]
