"""What brokers and the network may do at any time costs the producer nothing but time, and is said."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

import pytest

from kafka.errors import (
    BrokerResponseError,
    CorruptRecordError,
    InvalidRecordError,
    KafkaTimeoutError,
    NotLeaderForPartitionError,
    OutOfOrderSequenceNumberError,
    UnknownProducerIdError,
)
from kafka.producer.send import batch_results
from kafka.producer.send.sender import Sender
from kafka.structs import TopicPartition
from kafka.wire.api.metadata import MetadataResponsePartition, MetadataResponseTopic
from unit.producer.fake_producer import producing
from unit.producer.producing_cluster import Fault, ProducingCluster
from unit.virtual_loop import simulate

PLACE = TopicPartition("t", 0)


def test_a_response_for_a_topic_missing_in_the_metadata_is_processed() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1, "u": 1})
        async with producing(cluster) as producer:
            cluster.faults.append(Fault(delay=1.0))
            future = await producer.send(b"a")
            await asyncio.sleep(0.5)
            assert cluster.produced, "the request is under way"
            del cluster.topics["t"]
            cluster.publish()
            assert (await future).offset == 0

    simulate(scenario)


def test_topics_are_distinguished_by_their_ids() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1, "u": 1})
        async with producing(cluster, linger_ms=10) as producer:
            cluster.faults.append(Fault())
            futures = [await producer.send(b"%d" % i, topic="tu"[i % 2]) for i in range(4)]
            assert [(m.topic, m.offset) for m in await asyncio.gather(*futures)] == [
                ("t", 0),
                ("u", 0),
                ("t", 1),
                ("u", 1),
            ]
            assert len(cluster.produced[-1][1].topic_data) == 2
            assert {each.topic_id for each in cluster.produced[-1][1].topic_data} == {
                cluster.topic_id("t"),
                cluster.topic_id("u"),
            }

    simulate(scenario)


def test_a_recreated_topic_is_sent_to_under_its_new_id() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster) as producer:
            await (await producer.send(b"a"))
            cluster.generation["t"] = 1
            cluster.publish()
            await (await producer.send(b"b"))
            first, second = (request.topic_data[0].topic_id for _, request in cluster.produced)
            assert first != second

    simulate(scenario)


def test_a_leader_named_by_a_response_is_used_without_a_metadata_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1}, brokers=2)
        async with producing(cluster) as producer:
            await (await producer.send(b"a"))
            await cluster.connection(2)
            cluster.lead(0, 2, 7)
            cluster.faults.append(Fault(error=NotLeaderForPartitionError, leader=(2, 7)))
            monkeypatch.setattr(cluster, "request_refresh", lambda topics=None: None)
            await (await producer.send(b"b"))
            assert [node for node, _ in cluster.produced] == [1, 1, 2]
            assert cluster.metadata.leader_epoch(PLACE) == 7

    simulate(scenario)


def test_sequence_numbers_wrap_to_0() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster, linger_ms=1) as producer:
            await (await producer.send(b"first"))
            (queue,) = producer.core.buffer.queues()
            queue.next_sequence = 2**31 - 2
            cluster.log(0).set_last_sequence(2**31 - 3)
            futures = [await producer.send(b"%d" % i) for i in range(4)]
            await asyncio.gather(*futures)
            await (await producer.send(b"after"))
            assert [sequence for _, _, sequence, _ in cluster.log(0).batches] == [0, 2**31 - 2, 2]
            assert cluster.log(0).values == [b"first", b"0", b"1", b"2", b"3", b"after"]

    simulate(scenario)


@pytest.mark.parametrize("error", [UnknownProducerIdError, OutOfOrderSequenceNumberError])
def test_a_new_producer_id_follows_the_last_epoch(error: type[BrokerResponseError]) -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster) as producer:
            await (await producer.send(b"a"))
            (queue,) = producer.core.buffer.queues()
            queue.producer_epoch = 2**15 - 2
            for value in (b"b", b"c"):
                cluster.faults.append(Fault(error=error))
                await (await producer.send(value))
            assert [(number, epoch) for number, epoch, *_ in cluster.log(0).batches] == [
                (1000, 0),
                (1000, 2**15 - 1),
                (2000, 0),
            ]

    simulate(scenario)


def test_a_batch_damaged_in_transit_is_sent_again() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster) as producer:
            cluster.faults.append(Fault(error=CorruptRecordError))
            assert (await (await producer.send(b"a"))).offset == 0
            assert len(cluster.produced) == 2

    simulate(scenario)


def test_a_failed_delivery_names_the_last_error_broker_and_attempts() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster, delivery_timeout_ms=5_000, request_timeout_ms=1_000, linger_ms=0) as producer:
            cluster.faults.extend(Fault(error=NotLeaderForPartitionError) for _ in range(1_000))
            future = await producer.send(b"a")
            with pytest.raises(
                KafkaTimeoutError, match=r"the last of \d+ attempts, to broker 1, failed with: \[Error 6\]"
            ) as lost:
                await future
            assert f"the last of {len(cluster.produced)} attempts" in str(lost.value)
            cluster.faults.clear()

    simulate(scenario)


def test_the_error_after_the_last_retry_names_the_number() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster, retries=2, enable_idempotence=False) as producer:
            cluster.faults.extend(Fault(error=NotLeaderForPartitionError) for _ in range(3))
            with pytest.raises(NotLeaderForPartitionError, match="the last of 3 attempts, to broker 1"):
                await (await producer.send(b"a"))

    simulate(scenario)


def test_throttle_times_are_respected() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster) as producer:
            cluster.faults.append(Fault(throttle_ms=2_000))
            await (await producer.send(b"a"))
            began = asyncio.get_running_loop().time()
            await (await producer.send(b"b"))
            assert 2.0 <= asyncio.get_running_loop().time() - began < 2.1

    simulate(scenario)


def test_connecting_survives_any_exception_and_logs_it_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster) as producer:
            await (await producer.send(b"a"))
            cluster.cut(1)
            faults = [OSError(9, "Bad file descriptor")] * 5
            connect = cluster.connection

            async def faulty(*arguments: Any) -> Any:
                if faults:
                    raise faults.pop()
                return await connect(*arguments)

            monkeypatch.setattr(cluster, "connection", faulty)
            assert (await (await producer.send(b"b"))).offset == 1
            assert not faults

    with caplog.at_level(logging.WARNING):
        simulate(scenario)
    assert len([record for record in caplog.records if "Bad file descriptor" in record.getMessage()]) == 1


def test_requesting_an_id_survives_any_exception(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        cluster.script("InitProducerId", *(OSError(9, "Bad file descriptor") for _ in range(5)))
        async with producing(cluster) as producer:
            assert (await (await producer.send(b"a"))).offset == 0
            assert cluster.log(0).batches[0][0] == 1000

    with caplog.at_level(logging.WARNING):
        simulate(scenario)
    assert len([record for record in caplog.records if "Bad file descriptor" in record.getMessage()]) == 1


def test_sending_survives_an_exception_and_retries(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster) as producer:
            await (await producer.send(b"a"))
            faults = [ZeroDivisionError("a fault of ours")] * 3
            serve = Sender._serve

            def faulty(*arguments: Any) -> None:
                if faults:
                    raise faults.pop()
                serve(*arguments)

            monkeypatch.setattr(Sender, "_serve", faulty)
            assert (await (await producer.send(b"b"))).offset == 1

    simulate(scenario)
    assert len([record for record in caplog.records if "a fault of ours" in record.getMessage()]) == 1


@pytest.mark.parametrize("wrong", [-3, 2**31 - 1])
def test_impossible_partition_numbers_are_ignored(wrong: int, caplog: pytest.LogCaptureFixture) -> None:
    class Hostile(ProducingCluster):
        def _topic(self, name: str) -> MetadataResponseTopic:
            topic = super()._topic(name)
            topic.partitions.append(MetadataResponsePartition(partition_index=wrong, leader_id=1))
            return topic

    async def scenario() -> None:
        cluster = Hostile({"t": 2})
        async with producing(cluster, batch_size=0) as producer:
            for i in range(20):
                await (await producer.send(b"%d" % i))
            cluster.publish()
            await (await producer.send(b"again", partition=1))
            assert len(list(producer.core.buffer.queues())) == (2 if wrong < 0 else 3)
            assert len(cluster.log(0).values) + len(cluster.log(1).values) == 21

    simulate(scenario)
    assert sum("they are ignored" in record.getMessage() for record in caplog.records) == 1


def test_idle_topics_are_not_refreshed_and_keep_their_state() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1, "u": 1})
        async with producing(cluster) as producer:
            await (await producer.send(b"a"))
            await (await producer.send(b"a", topic="u"))
            assert cluster.watched == {"t", "u"}
            await asyncio.sleep(200)
            await (await producer.send(b"b", topic="u"))
            await asyncio.sleep(200)
            cluster.publish()
            assert cluster.watched == {"u"}
            await (await producer.send(b"b"))
            assert cluster.watched == {"t", "u"}
            assert cluster.log(0).values == [b"a", b"b"]
            assert [sequence for _, _, sequence, _ in cluster.log(0).batches] == [0, 1]

    simulate(scenario)


def test_a_missing_topic_is_looked_up_with_growing_pauses_and_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({})
        async with producing(cluster, max_block_ms=20_000) as producer:
            with pytest.raises(
                KafkaTimeoutError,
                match=r"max_block_ms \(20000\); the cluster's last answer: \[Error 3\].*create it first",
            ):
                await producer.send(b"a")
            assert 15 < cluster.refreshes < 40
            cluster.topics["t"] = 1
            assert (await (await producer.send(b"b"))).offset == 0

    with caplog.at_level(logging.INFO):
        simulate(scenario)
    lines = [record.getMessage() for record in caplog.records]
    assert len(lines) == 1
    assert lines[0].startswith("looking for topic 't' to send to failed: [Error 3]")


def test_a_topic_found_after_some_attempts_causes_no_warning(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({})
        async with producing(cluster) as producer:
            asyncio.get_running_loop().call_later(0.35, cluster.topics.__setitem__, "t", 1)
            assert (await (await producer.send(b"b"))).offset == 0

    simulate(scenario)
    assert not caplog.records


def test_repeated_failures_of_a_partition_and_its_recovery_are_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster) as producer:
            cluster.faults.append(Fault(error=NotLeaderForPartitionError))
            assert (await (await producer.send(b"a"))).offset == 0
            assert not caplog.records, "a leader has moved"
            cluster.faults.extend(Fault(error=NotLeaderForPartitionError) for _ in range(5))
            assert (await (await producer.send(b"b"))).offset == 1

    with caplog.at_level(logging.INFO):
        simulate(scenario)
    first, last = (record.getMessage() for record in caplog.records)
    assert first.startswith("sending to t-0 failed: [Error 6]")
    assert last == "sending to t-0 works again"


def lines_run(file: str, during: Callable[[], object]) -> int:
    """How many lines of a module are run in this thread, by all that a function does."""
    lines = 0

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal lines
        if frame.f_code.co_filename != file:
            return None
        lines += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        during()
    finally:
        sys.settrace(before)
    return lines


def test_the_cost_of_completing_a_batch_does_not_grow_with_the_number_of_waiters() -> None:
    async def scenario(count: int) -> None:
        cluster = ProducingCluster({"t": 1})
        settled: list[int] = []
        async with producing(cluster, batch_size=0) as producer:
            cluster.faults.append(Fault(delay=1.0))
            futures = [await producer.send(b"%d" % i) for i in range(count)]
            waits = [
                producer.core.settle([future.place()[0]], partial(settled.append, i))  # as send_arrow() does
                for i, future in enumerate(futures)
            ]
            await asyncio.gather(*waits)
        assert settled == list(range(count))

    few, many = (lines_run(batch_results.__file__, partial(simulate, partial(scenario, count))) for count in (50, 100))
    assert many <= 2 * few


def test_a_cancelled_waiter_for_batches_does_not_affect_others() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster) as producer:
            cluster.faults.append(Fault(delay=2.0))
            batch, _ = (await producer.send(b"a")).place()
            told: list[str] = []
            others = [
                asyncio.create_task(producer.core.settle([batch], partial(told.append, name))) for name in ("b", "c")
            ]
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(producer.core.settle([batch], partial(told.append, "a")), 1)
            await asyncio.gather(*others)
            assert told == ["b", "c"]

    simulate(scenario)


def test_flush_does_not_raise_failures_of_held_futures() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster, linger_ms=10) as producer:
            cluster.faults.append(Fault(error=InvalidRecordError))
            held = await producer.send(b"a")
            await producer.core.flush()
            assert held.failed()
            cluster.faults.append(Fault(error=InvalidRecordError))
            await producer.send(b"b")
            with pytest.raises(BrokerResponseError, match=r"1 record\(s\) in 1 batch"):
                await producer.core.flush()
            cluster.faults.append(Fault(error=InvalidRecordError))
            dropped = await producer.send(b"c")
            await producer.core.flush()
            del dropped
            with pytest.raises(BrokerResponseError, match=r"1 record\(s\) in 1 batch"):
                await producer.core.flush()
            await producer.core.flush()

    simulate(scenario)
