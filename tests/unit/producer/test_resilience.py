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
from kafka.structs import TopicPartition
from kafka.wire.api.metadata import MetadataResponsePartition, MetadataResponseTopic
from unit.producer.fake_producer import producing
from unit.producer.producing_cluster import Fault, ProducingCluster
from unit.virtual_loop import simulate

PLACE = TopicPartition("t", 0)


def test_an_answer_is_understood_whose_topic_has_left_the_metadata() -> None:
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


def test_topics_are_told_apart_by_their_ids() -> None:
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


def test_a_topic_made_anew_under_way_is_sent_to_under_its_new_id() -> None:
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


def test_a_leader_that_a_broker_names_is_sent_to_without_asking_for_metadata(
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


def test_sequence_numbers_begin_again_at_0_after_the_largest() -> None:
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
def test_after_the_last_epoch_comes_another_producer_id(error: type[BrokerResponseError]) -> None:
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


def test_a_batch_damaged_on_its_way_is_sent_again() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster) as producer:
            cluster.faults.append(Fault(error=CorruptRecordError))
            assert (await (await producer.send(b"a"))).offset == 0
            assert len(cluster.produced) == 2

    simulate(scenario)


def test_a_failed_delivery_tells_the_last_answer_its_broker_and_how_often_it_was_tried() -> None:
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


def test_when_retries_are_used_up_the_error_tells_their_number() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster, retries=2, enable_idempotence=False) as producer:
            cluster.faults.extend(Fault(error=NotLeaderForPartitionError) for _ in range(3))
            with pytest.raises(NotLeaderForPartitionError, match="the last of 3 attempts, to broker 1"):
                await (await producer.send(b"a"))

    simulate(scenario)


def test_a_broker_that_asks_for_a_pause_gets_it() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster) as producer:
            cluster.faults.append(Fault(throttle_ms=2_000))
            await (await producer.send(b"a"))
            began = asyncio.get_running_loop().time()
            await (await producer.send(b"b"))
            assert 2.0 <= asyncio.get_running_loop().time() - began < 2.1

    simulate(scenario)


def test_connecting_survives_whatever_is_raised_and_says_it_once(
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


def test_asking_for_an_id_survives_whatever_is_raised(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        cluster.script("InitProducerId", *(OSError(9, "Bad file descriptor") for _ in range(5)))
        async with producing(cluster) as producer:
            assert (await (await producer.send(b"a"))).offset == 0
            assert cluster.log(0).batches[0][0] == 1000

    with caplog.at_level(logging.WARNING):
        simulate(scenario)
    assert len([record for record in caplog.records if "Bad file descriptor" in record.getMessage()]) == 1


def test_a_fault_in_sending_is_survived_and_tried_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster) as producer:
            await (await producer.send(b"a"))
            faults = [ZeroDivisionError("a fault of ours")] * 3
            ready = cluster.ready_connection

            def faulty(*arguments: object) -> object:
                if faults:
                    raise faults.pop()
                return ready(*arguments)  # type: ignore[arg-type]

            monkeypatch.setattr(cluster, "ready_connection", faulty)
            assert (await (await producer.send(b"b"))).offset == 1

    simulate(scenario)
    assert len([record for record in caplog.records if "a fault of ours" in record.getMessage()]) == 1


@pytest.mark.parametrize("wrong", [-3, 2**31 - 1])
def test_partition_numbers_that_cannot_be_are_passed_over(wrong: int, caplog: pytest.LogCaptureFixture) -> None:
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


def test_topics_that_nothing_is_sent_to_are_asked_about_no_more_and_go_on_where_they_were() -> None:
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


def test_a_topic_that_is_missing_is_asked_for_less_and_less_often_and_warned_of(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({})
        async with producing(cluster, max_block_ms=20_000) as producer:
            with pytest.raises(
                KafkaTimeoutError, match=r"max_block_ms \(20000\); the cluster's last answer: \[Error 3\]"
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


def test_a_topic_that_is_there_after_some_tries_is_not_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({})
        async with producing(cluster) as producer:
            asyncio.get_running_loop().call_later(0.35, cluster.topics.__setitem__, "t", 1)
            assert (await (await producer.send(b"b"))).offset == 0

    simulate(scenario)
    assert not caplog.records


def test_a_partition_that_fails_again_and_again_is_warned_of_and_said_to_work_again(
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


def test_what_it_takes_to_settle_a_batch_does_not_grow_with_the_number_of_those_that_are_waited_for() -> None:
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


def test_whoever_gives_up_waiting_for_batches_leaves_the_others_waiting() -> None:
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


def test_flush_leaves_failures_to_those_who_hold_the_futures() -> None:
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
