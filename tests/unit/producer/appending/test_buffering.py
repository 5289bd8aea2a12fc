"""Memory is bounded, waiting is bounded, and flush, close and failures say what they should."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import random
from functools import partial
from typing import Any

import pytest

from kafka.errors import (
    IllegalArgumentError,
    IllegalStateError,
    KafkaTimeoutError,
    MessageSizeTooLargeError,
    TopicAuthorizationFailedError,
)
from kafka.producer.appending.checks import PreparedRecord
from kafka.producer.appending.record_buffer import RecordBuffer
from kafka.producer.batch.memory_pool import MemoryPool, Reservation
from kafka.producer.batch.shared_queues import BufferOptions
from unit.interrupt import PACKAGE, interrupts
from unit.producer.fake_producer import FakeProducer, producing
from unit.producer.producing_cluster import Fault, ProducingCluster
from unit.virtual_loop import simulate


def test_memory_is_bounded_and_senders_wait_in_order() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 2})
        cluster.latency_s = 0.05
        async with producing(cluster, buffer_memory=4_000, batch_size=1_000, linger_ms=60_000) as producer:
            held = 0
            for i in range(200):
                await producer.send(b"x" * 300, partition=i % 2)
                memory = producer.core.buffer.memory
                assert memory.free >= 0
                held = max(held, memory.total - memory.free)
            await producer.core.flush()
            assert held == 4_000
            assert memory.free == memory.total
            assert len(cluster.log(0).values) == len(cluster.log(1).values) == 100

    simulate(scenario)


def test_lingering_ends_while_a_sender_waits_for_memory() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 8})
        async with producing(cluster, buffer_memory=4_000, batch_size=1_000, linger_ms=60_000) as producer:
            began = asyncio.get_running_loop().time()
            for partition in range(8):
                await producer.send(b"x", partition=partition)
            assert asyncio.get_running_loop().time() - began < 1

    simulate(scenario)


def test_lingering_ends_while_rows_wait_for_memory() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster, buffer_memory=2_000, batch_size=1_000, linger_ms=60_000) as producer:
            await (await producer.send(b"x"))
            await producer.send(b"x")
            await asyncio.sleep(1)
            began = asyncio.get_running_loop().time()
            await producer.core.reservations.acquire(1_500, Reservation())
            assert asyncio.get_running_loop().time() - began < 1
            producer.core.buffer.memory.release(1_500)

    simulate(scenario)


def test_each_waiting_sender_checks_for_memory_only_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = 0
    reserve = MemoryPool.reserve

    def counted(self: MemoryPool, *args: Any, **kwargs: Any) -> bool:
        nonlocal looks
        looks += 1
        return reserve(self, *args, **kwargs)

    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster, buffer_memory=4_000, batch_size=1_000) as producer:
            await producer.core.find_topic("t")
            sends = [asyncio.create_task(producer.send(b"%d" % i + bytes(900))) for i in range(500)]
            await asyncio.gather(*sends)
            await producer.core.flush()
        assert [int(value.rstrip(b"\0")) for value in cluster.log(0).values] == list(range(500)), "in turn"

    monkeypatch.setattr(MemoryPool, "reserve", counted)
    simulate(scenario)
    assert 500 <= looks < 500 * 5


def test_memory_of_a_sender_that_gives_up_goes_to_later_ones() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster, buffer_memory=4_000, batch_size=1_000) as producer:
            memory, reservations = producer.core.buffer.memory, producer.core.reservations
            assert memory.reserve(3_800)
            much, little = Reservation(), Reservation()
            first = asyncio.create_task(reservations.acquire(4_000, much))
            second = asyncio.create_task(reservations.acquire(500, little))
            await asyncio.sleep(0)
            memory.release(600)
            assert not little.held
            first.cancel()
            await second
            assert (much.held, little.held) == (0, 500)
            memory.give_back(little)
            memory.release(3_200)

    simulate(scenario)


def test_waiting_for_memory_ends_after_max_block_ms() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster, buffer_memory=2_000, batch_size=1_000, max_block_ms=500) as producer:
            await (await producer.send(b"x"))
            cluster.stop_broker(1)
            await producer.send(b"x" * 800)
            await producer.send(b"x" * 800)
            began = asyncio.get_running_loop().time()
            with pytest.raises(KafkaTimeoutError, match=r"buffer_memory \(2000\).*max_block_ms \(500\)"):
                await producer.send(b"x" * 800)
            assert asyncio.get_running_loop().time() - began == pytest.approx(0.5)

    simulate(scenario)


def test_a_record_above_max_request_size_is_refused_immediately() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster, max_request_size=1_000) as producer:
            refused = await producer.send(b"x" * 1_000)
            assert refused.is_done
            with pytest.raises(MessageSizeTooLargeError, match=r"max_request_size \(1000\)"):
                refused.get(0)
            told: list[object] = []
            assert (await producer.send(b"x" * 1_000)).add_errback(told.append).failed()
            assert [type(each) for each in told] == [MessageSizeTooLargeError]
            await producer.core.flush()
            await producer.send(b"x" * 1_000)
            with pytest.raises(MessageSizeTooLargeError, match="1 record"):
                await producer.core.flush()
            assert not producer.core.buffer.incomplete

    simulate(scenario)


def test_a_record_that_cannot_be_encoded_takes_no_memory() -> None:
    async def scenario() -> None:
        async with producing(ProducingCluster({"t": 1})) as producer:
            with pytest.raises(ValueError, match="timestamp"):
                await producer.send(b"x", timestamp_ms=-5)
            memory = producer.core.buffer.memory
            assert memory.free == memory.total
            await (await producer.send(b"y"))

    simulate(scenario)


def test_send_waits_for_an_unknown_topic() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({})
        async with producing(cluster) as producer:
            asyncio.get_running_loop().call_later(3, cluster.topics.__setitem__, "t", 1)
            assert (await (await producer.send(b"x"))).offset == 0
            assert cluster.watched == {"t"}

    simulate(scenario)


def test_waiting_for_a_topic_ends_after_max_block_ms() -> None:
    async def scenario() -> None:
        async with producing(ProducingCluster({}), max_block_ms=2_000) as producer:
            with pytest.raises(KafkaTimeoutError, match=r"no metadata of topic 't' within max_block_ms \(2000\)"):
                await producer.send(b"x")

    simulate(scenario)


def test_an_unauthorized_topic_fails_immediately() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({})
        cluster.topic_errors["t"] = TopicAuthorizationFailedError.errno
        async with producing(cluster) as producer:
            began = asyncio.get_running_loop().time()
            with pytest.raises(TopicAuthorizationFailedError, match="'t'"):
                await producer.send(b"x")
            assert asyncio.get_running_loop().time() - began < 1

    simulate(scenario)


def test_a_new_partition_is_found_and_a_missing_one_refused() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster) as producer:
            await producer.send(b"x")
            cluster.topics["t"] = 3
            assert (await (await producer.send(b"y", partition=2))).partition == 2
            with pytest.raises(IllegalArgumentError, match="partitions 0 to 2, but partition is 3"):
                await producer.send(b"z", partition=3)
            with pytest.raises(IllegalArgumentError):
                await producer.send(b"z", partition=-1)
            with pytest.raises(TypeError):
                await producer.send(b"z", partition="1")

    simulate(scenario)


def test_flush_raises_unseen_failures_once_with_their_number() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 2})
        async with producing(cluster, linger_ms=5) as producer:
            cluster.faults.append(Fault(error=TopicAuthorizationFailedError))
            for i in range(10):
                await producer.send(b"%d" % i, partition=i % 2)
            with pytest.raises(
                TopicAuthorizationFailedError, match=r"10 record\(s\) in 2 batch\(es\).*5 record\(s\) for t-"
            ):
                await producer.core.flush()
            await producer.core.flush()

    simulate(scenario)


def test_flush_does_not_raise_failures_seen_by_an_errback(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        told: list[object] = []
        async with producing(cluster) as producer:
            cluster.faults.append(Fault(error=TopicAuthorizationFailedError))
            (await producer.send(b"x")).add_errback(told.append)
            await producer.core.flush()
            assert [type(error) for error in told] == [TopicAuthorizationFailedError]

    simulate(scenario)
    assert not caplog.records


def test_failures_with_dropped_futures_are_logged_once_per_batch(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster, linger_ms=5) as producer:
            cluster.faults.append(Fault(error=TopicAuthorizationFailedError))
            for _ in range(7):
                await producer.send(b"x")
            await asyncio.sleep(1)

    gc.collect()  # so that no future of another test is collected below
    caplog.clear()
    simulate(scenario)
    gc.collect()
    (line,) = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert line.startswith("7 record(s) for t-0 not delivered: [Error 29]")


def test_a_flush_timeout_does_not_fail_the_records() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        cluster.latency_s = 5
        async with producing(cluster) as producer:
            future = await producer.send(b"x")
            with pytest.raises(KafkaTimeoutError, match=r"1 record\(s\) not acknowledged within 1 seconds"):
                await producer.core.flush(1)
            assert (await future).offset == 0

    simulate(scenario)


def test_close_delivers_buffered_records_and_accepts_no_more() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster, linger_ms=60_000) as producer:
            future = await producer.send(b"x")
        assert future.get().offset == 0
        assert cluster.closed
        with pytest.raises(IllegalStateError, match="closed"):
            await producer.send(b"y")

    simulate(scenario)


def test_close_with_a_timeout_fails_the_remaining_records() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 2})
        async with producing(cluster) as producer:
            await (await producer.send(b"x", partition=0))
            cluster.latency_s = 60
            futures = [await producer.send(b"y", partition=p) for p in (0, 1)]
            await asyncio.sleep(0.1)
            futures.append(await producer.send(b"z", partition=0))
            began = asyncio.get_running_loop().time()
            await asyncio.gather(producer.core.close(2), producer.core.close(2))
            assert asyncio.get_running_loop().time() - began == pytest.approx(2, abs=0.1)
            for future in futures:
                with pytest.raises(KafkaTimeoutError, match="closed before"):
                    future.get()
        assert len(asyncio.all_tasks()) == 1

    simulate(scenario)


def test_close_ends_waiting_for_memory() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster, buffer_memory=1_000, batch_size=1_000) as producer:
            await (await producer.send(b"x"))
            cluster.stop_broker(1)
            await producer.send(b"x")
            waiting = asyncio.create_task(producer.send(b"x" * 900))
            await asyncio.sleep(0.1)
            await producer.core.close(0)
            with pytest.raises(IllegalStateError, match="closed"):
                await waiting

    simulate(scenario)


def test_a_record_that_waits_for_memory_while_its_topic_is_forgotten_is_sent() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1, "u": 1})
        async with producing(cluster, buffer_memory=2_000, batch_size=2_000) as producer:
            await (await producer.send(b"first"))
            await asyncio.sleep(299)
            cluster.latency_s = 20
            await producer.send(b"holds all memory", topic="u")
            waiting = asyncio.create_task(producer.send(b"second"))
            await asyncio.sleep(10)
            cluster.publish()
            assert "t" not in producer.core.buffer.topics
            assert (await (await waiting)).offset == 1
            assert (await (await producer.send(b"third"))).offset == 2
            assert producer.core.buffer.memory.free == producer.core.buffer.memory.total

    simulate(scenario)


@pytest.mark.parametrize("refused", [False, True])
async def test_reserved_memory_is_returned_when_the_record_is_refused(refused: bool) -> None:
    buffer = RecordBuffer(BufferOptions(1_000, 10_000), asyncio.get_running_loop(), random.Random(1), lambda run: run())
    buffer.learn_topic("t", 1, [0])
    buffer.append(PreparedRecord("t", 0, 1234, b"k", b"value", None, -1, 100))
    before = buffer.memory.free
    reserved = Reservation()
    assert buffer.memory.reserve(before, into=reserved)
    waiting = buffer.memory.waiter(1, Reservation())
    if refused:
        buffer.refuse(IllegalStateError("closed"))
    with pytest.raises((ValueError, IllegalStateError)):
        buffer.append(PreparedRecord("t", 0, -5, b"k", b"value", None, -1, 100), reserved)
    buffer.give_back(reserved)
    assert buffer.memory.free == before - (0 if refused else 1)
    assert waiting.done(), "others who wait go on"


async def test_an_interrupted_send_leaks_no_memory() -> None:
    record = PreparedRecord("t", 0, 1234, b"k", bytes(600), None, -1, 700)

    def with_a_batch() -> RecordBuffer:
        loop = asyncio.get_running_loop()
        buffer = RecordBuffer(BufferOptions(1_000, 10_000), loop, random.Random(1), lambda run: run())
        buffer.learn_topic("t", 1, [0])
        buffer.append(record)
        buffer.take_dirty()
        return buffer

    for interrupt in interrupts(partial(with_a_batch().append, record), PACKAGE):
        buffer, told = with_a_batch(), asyncio.Event()
        [queue], [first] = buffer.queues(), buffer.incomplete
        buffer.on_dirty = told.set
        with contextlib.suppress(KeyboardInterrupt), interrupt:
            buffer.append(record)
        assert not buffer.lock._is_owned(), interrupt.where  # type: ignore[attr-defined]
        lying = [*queue.closed, *([queue.open] if queue.open is not None else [])]
        assert lying[0] is first, interrupt.where
        assert buffer.incomplete == set(lying), interrupt.where
        assert buffer.memory.free == 10_000 - 1_000 * len(lying), interrupt.where
        if queue.open is not first:
            await asyncio.sleep(0)
            assert told.is_set(), interrupt.where
            assert buffer.take_dirty() == [queue], interrupt.where


def test_callbacks_run_in_order_and_a_failing_one_affects_no_other(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        called: list[object] = []

        def bad(_: object) -> None:
            raise ZeroDivisionError

        async with producing(cluster, linger_ms=5) as producer:
            first = (await producer.send(b"a")).add_callback(bad).add_callback(lambda m: called.append(m.offset))
            second = (await producer.send(b"b")).add_both(
                lambda tag, m, more: called.append((tag, m.offset, more)), 1, more=2
            )
            assert not called
            await producer.core.flush()
            assert called == [0, (1, 1, 2)]
            first.add_callback(lambda m: called.append("late")).add_errback(lambda e: called.append("never"))
            assert called[2:] == ["late"]
            assert second.exception is None
            assert not second.retriable()

    simulate(scenario)
    assert "ZeroDivisionError" in caplog.text


def test_a_callback_may_send() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster) as producer:
            more = []
            (await producer.send(b"a")).add_callback(lambda _: more.append(producer.core.appender.append("t", b"b")))
            await producer.core.flush()
            await more[0]
        assert cluster.log(0).values == [b"a", b"b"]

    simulate(scenario)


def test_get_on_the_producer_loop_raises_instead_of_hanging() -> None:
    async def scenario() -> None:
        async with producing(ProducingCluster({"t": 1})) as producer:
            future = await producer.send(b"a")
            with pytest.raises(IllegalStateError, match="wait for itself"):
                future.get(1)

    simulate(scenario)


def test_an_unstarted_producer_raises_an_error() -> None:
    async def scenario() -> None:
        producer = FakeProducer(ProducingCluster({"t": 1}))
        with pytest.raises(IllegalStateError, match="not started"):
            await producer.core.flush()

    simulate(scenario)


def test_metrics_count_events() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster, linger_ms=5) as producer:
            for _ in range(10):
                await producer.send(b"x")
            await producer.core.flush()
            cluster.faults.append(Fault(error=TopicAuthorizationFailedError))
            (await producer.send(b"x")).add_errback(lambda _: None)
            await producer.core.flush()
            values = producer.core.metrics.snapshot()["producer-metrics"]
            assert values["record-send-total"] == 10
            assert values["record-error-total"] == 1
            assert values["records-per-batch-avg"] == 5.5  # of what was sent, ten records and one
            assert values["incomplete-batches"] == 0

    simulate(scenario)
