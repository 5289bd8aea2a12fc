"""The future of a `send_arrow`, which stands for many batches."""

from __future__ import annotations

import asyncio
import gc
import threading
from typing import Any

import pytest

from kafka.errors import IllegalStateError, KafkaTimeoutError, TopicAuthorizationFailedError
from kafka.net.interruptible import Latch
from kafka.producer.arrow_future import ArrowResult, FutureArrowResult, OffsetRange
from kafka.producer.batch.memory_pool import Reservation
from kafka.record import BatchBuilder, Compression
from kafka.structs import TopicPartition
from kafka.wire.api.init_producer_id import InitProducerIdResponse
from unit.producer.fake_producer import FakeProducer, producing
from unit.producer.producing_cluster import Fault, ProducingCluster
from unit.virtual_loop import simulate

PATIENCE_S = 30
FIRST, SECOND = TopicPartition("t", 0), TopicPartition("t", 1)


async def sent(producer: FakeProducer, *partitions: int) -> FutureArrowResult:
    """As if `send_arrow` had sent a batch of one row to each of these partitions."""
    batches = []
    for partition in partitions:
        batches.append((await producer.send(b"x", partition=partition)).place()[0])
        queue = producer.core.buffer.topics["t"].queues[partition]
        queue.close_open()
    return FutureArrowResult(producer.core, asyncio.get_running_loop(), batches)


def test_neither_value_nor_error_before_all_rows_are_delivered() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 2}, brokers=2)
        async with producing(cluster) as producer:
            cluster.faults.extend([Fault(), Fault(delay=5)])
            future = await sent(producer, 0, 1)
            await asyncio.sleep(1)
            assert [len(cluster.log(p).values) for p in (0, 1)].count(1) == 1
            assert not future.is_done
            assert (future.value, future.exception) == (None, None)
            assert not future.succeeded()
            assert not future.failed()
            with pytest.raises(IllegalStateError, match="use await"):
                future.get()
            assert await future == ArrowResult(2, {FIRST: [OffsetRange(0, 1)], SECOND: [OffsetRange(0, 1)]})
            assert future.is_done
            assert future.succeeded()
            assert not future.failed()
            assert future.exception is None
            assert future.value == future.get() == await future

    simulate(scenario)


def test_only_adjacent_rows_form_one_range() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 2})
        async with producing(cluster) as producer:
            assert (await (await sent(producer, 0, 0, 1, 0))).offsets[FIRST] == [OffsetRange(0, 3)]
            first = await sent(producer, 0)
            await (await producer.send(b"between", partition=0))
            second = await sent(producer, 0)
            await asyncio.gather(*(asyncio.ensure_future(_awaited(each)) for each in (first, second)))
            batches = [*first._batches, *second._batches]
            both = FutureArrowResult(producer.core, asyncio.get_running_loop(), batches)
            assert await both == ArrowResult(2, {FIRST: [OffsetRange(3, 1), OffsetRange(5, 1)]})

    simulate(scenario)


def test_without_acknowledgements_offsets_are_unknown() -> None:
    async def scenario() -> None:
        async with producing(ProducingCluster({"t": 2}), acks=0) as producer:
            result = await (await sent(producer, 0, 0))
            assert result.offsets == {FIRST: [OffsetRange(-1, 1), OffsetRange(-1, 1)]}

    simulate(scenario)


def test_callbacks_run_in_order_by_outcome_and_late_ones_immediately(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        told: list[Any] = []

        def explode(_: object) -> None:
            told.append("explodes")
            raise ZeroDivisionError

        async with producing(cluster) as producer:
            future = await sent(producer, 0)
            future.add_callback(explode).add_errback(told.append)
            future.add_callback(lambda tag, result, more: told.append((tag, result.rows, more)), 1, more=2)
            future.add_both(lambda tag, result: told.append((tag, result.rows)), "both")
            assert told == []
            await future
            await asyncio.sleep(0)
            assert told == ["explodes", (1, 1, 2), ("both", 1)]
            future.add_callback(lambda result: told.append("late")).add_errback(told.append)
            assert told[3:] == ["late"]

    simulate(scenario)
    assert [record.getMessage() for record in caplog.records] == ["a callback of send_arrow() raised"]


def test_a_failure_counts_its_rows_and_calls_errbacks() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 2})
        told: list[Any] = []
        async with producing(cluster) as producer:
            cluster.faults.append(Fault(error=TopicAuthorizationFailedError, only=1))
            future = await sent(producer, 0, 1)
            future.add_callback(told.append).add_both(lambda error: told.append(("both", type(error))))
            future.add_errback(lambda tag, error: told.append((tag, type(error))), "errback")
            with pytest.raises(
                TopicAuthorizationFailedError, match=r"1 of 2 rows .* the first of them to t-1"
            ) as raised:
                await future
            assert raised.value.__cause__ is not None
            await asyncio.sleep(0)
            assert told == [("both", TopicAuthorizationFailedError), ("errback", TopicAuthorizationFailedError)]
            assert future.value is None
            assert future.failed()
            assert isinstance(future.exception, TopicAuthorizationFailedError)

    simulate(scenario)


@pytest.mark.parametrize("told", [False, True])
def test_flush_raises_a_failure_that_neither_a_holder_nor_an_errback_can_see(told: bool) -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster) as producer:
            cluster.faults.append(Fault(error=TopicAuthorizationFailedError))
            future = (await sent(producer, 0)).add_callback(lambda _: None)
            if told:
                future.add_errback(lambda _: None)
            del future
            await asyncio.sleep(1)
            gc.collect()
            if told:
                await producer.core.flush()
            else:
                with pytest.raises(TopicAuthorizationFailedError, match="in 1 batch"):
                    await producer.core.flush()

    simulate(scenario)


def test_rows_are_numbered_under_producer_id_0() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        cluster.script("InitProducerId", InitProducerIdResponse(producer_id=0))
        async with producing(cluster) as producer:
            await producer.core.find_topic("t")
            builder = BatchBuilder(2, Compression.NONE, size_limit=1_000)
            builder.append(1, None, b"x", ())
            data = builder.build_in_place()
            batch = producer.core.buffer.add_encoded(FIRST, data, 1, Reservation())  # as send_arrow() does
            await FutureArrowResult(producer.core, asyncio.get_running_loop(), [batch])
            assert cluster.log(0).batches == [(0, 0, 0, 1)]

    simulate(scenario)


async def test_a_thread_waits_for_rows_at_most_its_timeout() -> None:
    cluster = ProducingCluster({"t": 1})
    cluster.faults.append(Fault(delay=0.05))
    async with producing(cluster) as producer:
        future = await sent(producer, 0)
        with pytest.raises(KafkaTimeoutError, match=r"not all acknowledged within 0.001 seconds"):
            await asyncio.to_thread(future.get, 0.001)
        assert (await asyncio.to_thread(future.get, 30)).rows == 1


async def test_a_waiting_thread_gets_an_error_when_the_loop_stops() -> None:
    cluster = ProducingCluster({"t": 1})
    cluster.faults.append(Fault(delay=0.05))
    async with producing(cluster) as producer:
        future = await sent(producer, 0)
        future._ended = Latch()
        future._ended.set()
        with pytest.raises(IllegalStateError, match="loop was stopped"):
            await asyncio.to_thread(future.get)
        assert not future.is_done
        assert future.value is None


async def test_waiters_for_rows_get_an_error_when_the_loop_dies() -> None:
    cluster = ProducingCluster({"t": 1})
    async with producing(cluster) as producer:
        await producer.core.find_topic("t")
        cluster.stop_broker(1)
        future, late = await sent(producer, 0), await sent(producer, 0)
        while future._watch is None:
            await asyncio.sleep(0)
        told: list[object] = []
        future.add_errback(told.append)

        def wait() -> None:
            try:
                future.get()
            except IllegalStateError as error:
                told.append(error)

        waiting = threading.Thread(target=wait, daemon=True)
        waiting.start()
        while not future._ended._waiting:
            await asyncio.sleep(0)
        coroutine: Any = future._watch.get_coro()
        coroutine.close()  # as a loop does that cannot run any more
        producer.core.loop_failed(IllegalStateError("the loop has died"))
        await asyncio.to_thread(waiting.join, PATIENCE_S)
        assert not waiting.is_alive()
        while len(told) < 2:  # the errback runs in another thread
            await asyncio.sleep(0)
        assert [str(each).rpartition(": ")[2] for each in told] == ["the loop has died"] * 2
        assert future.failed()
        with pytest.raises(IllegalStateError, match="the loop has died"):
            late.get()
        after = FutureArrowResult(producer.core, asyncio.get_running_loop(), late._batches)
        with pytest.raises(IllegalStateError, match="the loop has died"):
            await asyncio.to_thread(after.get)
        assert after._ended.is_set


async def _awaited(future: FutureArrowResult) -> ArrowResult:
    return await future
