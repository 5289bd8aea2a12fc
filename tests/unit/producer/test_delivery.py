"""Records arrive once, in order, whatever befalls requests; what does not arrive is reported."""

from __future__ import annotations

import asyncio
import itertools
import logging
import random
from typing import Any

import pytest

from fakes.cluster import SILENCE
from kafka.errors import (
    ClusterAuthorizationFailedError,
    CoordinatorNotAvailableError,
    InvalidProducerEpochError,
    InvalidRecordError,
    KafkaTimeoutError,
    LeaderNotAvailableError,
    MessageSizeTooLargeError,
    NotEnoughReplicasAfterAppendError,
    NotEnoughReplicasError,
    NotLeaderForPartitionError,
    OutOfOrderSequenceNumberError,
    RequestTimedOutError,
    TopicAuthorizationFailedError,
    UnknownProducerIdError,
    UnsupportedForMessageFormatError,
)
from unit.producer.fake_producer import producing
from unit.producer.producing_cluster import Fault, ProducingCluster
from unit.virtual_loop import simulate


def test_a_record_is_delivered_and_its_future_says_where() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster) as producer:
            first = await producer.send(b"a", b"k", headers=[("h", b"xy")])
            second = await producer.send(None, b"k", timestamp_ms=5)
            metadata = await second
            assert (metadata.offset, metadata.timestamp, metadata.serialized_value_size) == (1, 5, -1)
            assert first.is_done
            assert first.succeeded()
            assert not first.failed()
            assert first.value == first.get()
            assert first.get() == ("t", 0, ("t", 0), 0, 1_700_000_000_000, None, 1, 1, 3)
            assert cluster.log(0).values == [b"a", None]

    simulate(scenario)


def test_lingering_gathers_records_into_one_batch() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster, linger_ms=50) as producer:
            for i in range(10):
                await producer.send(b"%d" % i)
                await asyncio.sleep(0.004)
            assert not cluster.produced
            await asyncio.sleep(0.05)
            assert [count for *_, count in cluster.log(0).batches] == [10]

    simulate(scenario)


def test_a_full_batch_does_not_linger() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster, linger_ms=10_000, batch_size=1000) as producer:
            for _ in range(20):
                await producer.send(b"x" * 90)
            await asyncio.sleep(0.1)
            assert len(cluster.log(0).values) == 18
            await producer.core.flush()
            assert len(cluster.log(0).values) == 20

    simulate(scenario)


def test_a_request_has_one_batch_per_partition_and_respects_its_size_limit() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 8})
        async with producing(cluster, max_request_size=2000, batch_size=900, linger_ms=1) as producer:
            for i in range(160):
                await producer.send(b"x" * 80, partition=i % 8)
            await producer.core.flush()
        for _, request in cluster.produced:
            partitions = [each.index for topic in request.topic_data for each in topic.partition_data]
            assert len(partitions) == len(set(partitions))
            assert sum(len(each.records) for t in request.topic_data for each in t.partition_data) <= 2000

    simulate(scenario)


def test_batches_share_a_request_up_to_its_size_limit() -> None:
    sizes: list[int] = []

    async def batches(limit: int) -> list[int]:
        cluster = ProducingCluster({"t": 2})
        async with producing(cluster, max_request_size=limit, linger_ms=5) as producer:
            for partition in (0, 1):
                batch, _ = (await producer.send(b"x" * 100, partition=partition)).place()
            sizes[:] = [batch.builder.size_in_bytes]
            await producer.core.flush()
        sizes.append(len(cluster.produced[0][1].topic_data[0].partition_data[0].records or b""))
        return [len(request.topic_data[0].partition_data) for _, request in cluster.produced]

    assert simulate(lambda: batches(10_000)) == [2]
    both = sum(sizes)
    assert simulate(lambda: batches(both)) == [2]
    assert simulate(lambda: batches(both - 1)) == [1, 1]


def test_requests_are_pipelined_up_to_the_limit_and_no_further() -> None:
    async def scenario(limit: int) -> int:
        cluster = ProducingCluster({"t": 1})
        cluster.latency_s = 0.1
        async with producing(cluster, batch_size=0, max_in_flight_requests_per_connection=limit) as producer:
            for i in range(50):
                await producer.send(b"%d" % i)
            await producer.core.flush()
        assert cluster.log(0).values == [b"%d" % i for i in range(50)]
        return cluster.most_in_flight

    assert simulate(lambda: scenario(5)) == 5
    assert simulate(lambda: scenario(1)) == 1


@pytest.mark.parametrize(
    "fault",
    [
        Fault(lost="request"),
        Fault(lost="answer"),
        Fault(error=NotLeaderForPartitionError),
        Fault(error=NotEnoughReplicasAfterAppendError),
        Fault(error=OutOfOrderSequenceNumberError),
        Fault(error=UnknownProducerIdError),
        Fault(error=InvalidProducerEpochError),
    ],
    ids=lambda fault: fault.lost or fault.error.__name__,
)
@pytest.mark.parametrize("hit", [0, 1, 3])
def test_pipelined_batches_keep_their_order_over_a_fault(fault: Fault, hit: int) -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster, batch_size=0) as producer:
            await (await producer.send(b"begin"))
            cluster.faults.extend([Fault(delay=0.05)] * hit + [fault])
            futures = [await producer.send(b"%d" % i) for i in range(20)]
            await producer.core.flush()
        assert cluster.log(0).values == [b"begin"] + [b"%d" % i for i in range(20)]
        assert [future.get().offset for future in futures] == list(range(1, 21))

    simulate(scenario)


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed", [*range(10), *(pytest.param(seed, marks=pytest.mark.exhaustive) for seed in range(10, 40))]
)
def test_under_random_faults_nothing_is_lost_doubled_or_reordered(seed: int) -> None:
    rng = random.Random(seed)
    errors = [
        *(None, None, None, LeaderNotAvailableError, NotLeaderForPartitionError),
        *(RequestTimedOutError, NotEnoughReplicasError, NotEnoughReplicasAfterAppendError),
    ]

    def fault() -> Fault:
        return Fault(
            rng.uniform(0.001, 0.2),
            rng.choice(errors),
            rng.choice(["", "", "", "request", "answer"]),
            rng.choice([None, 0, 1]),
        )

    async def scenario() -> None:
        cluster = ProducingCluster({"t": 3}, brokers=2)
        async with producing(cluster, seed, batch_size=200, linger_ms=rng.choice([0, 5])) as producer:
            epoch = 1
            sent: dict[int, list[bytes]] = {0: [], 1: [], 2: []}
            futures = []
            for i in range(200):
                if i % 10 == 0:
                    cluster.faults.extend(fault() for _ in range(4))
                partition = rng.randrange(3)
                sent[partition].append(b"%d" % i)
                futures.append(await producer.send(b"%d" % i, partition=partition))
                if rng.random() < 0.1:
                    await asyncio.sleep(rng.uniform(0, 0.3))
                if rng.random() < 0.02:
                    epoch += 1
                    cluster.lead(rng.randrange(3), 1 + rng.randrange(2), epoch)
            await producer.core.flush()
            assert all(future.succeeded() for future in futures)
            assert {p: cluster.log(p).values for p in sent} == sent
            assert producer.core.buffer.memory.free == producer.core.buffer.memory.total

    simulate(scenario)


def test_a_lost_producer_state_begins_a_new_epoch_from_sequence_0() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster, batch_size=0) as producer:
            for i in range(3):
                await (await producer.send(b"%d" % i))
            cluster.faults.append(Fault(error=UnknownProducerIdError))
            await (await producer.send(b"3"))
            await (await producer.send(b"4"))
        assert cluster.log(0).batches == [
            (1000, 0, 0, 1),
            (1000, 0, 1, 1),
            (1000, 0, 2, 1),
            (1000, 1, 0, 1),
            (1000, 1, 1, 1),
        ]
        assert cluster.ids_given == 1

    simulate(scenario)


def test_a_fenced_producer_gets_another_id() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster, batch_size=0) as producer:
            await (await producer.send(b"0"))
            cluster.faults.append(Fault(error=InvalidProducerEpochError))
            futures = [await producer.send(b"%d" % i) for i in range(1, 8)]
            await producer.core.flush()
        assert cluster.log(0).values == [b"%d" % i for i in range(8)]
        assert [batch[:3] for batch in cluster.log(0).batches[-7:]] == [(2000, 0, i) for i in range(7)]
        assert all(future.succeeded() for future in futures)

    simulate(scenario)


def test_a_refused_record_fails_alone_and_later_ones_arrive() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster, batch_size=0) as producer:
            await (await producer.send(b"first"))
            cluster.faults.append(Fault(error=InvalidRecordError))
            futures = [await producer.send(b"%d" % i) for i in range(8)]
            with pytest.raises(InvalidRecordError):
                await futures[0]
            await producer.core.flush()  # somebody has looked at the failure
            assert cluster.log(0).values == [b"first"] + [b"%d" % i for i in range(1, 8)]

    simulate(scenario)


def test_a_batch_too_large_for_the_broker_is_split_and_its_futures_follow() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        cluster.max_batch_bytes = 700
        called: list[int] = []
        async with producing(cluster, linger_ms=5) as producer:
            futures = [await producer.send(b"%03d" % i + b"x" * 97) for i in range(30)]
            for future in futures:
                future.add_callback(lambda metadata: called.append(metadata.offset))
            await producer.core.flush()
            assert [future.get().offset for future in futures] == list(range(30))
            await (await producer.send(b"after"))
        assert [value[:3] for value in cluster.log(0).values[:30] if value] == [b"%03d" % i for i in range(30)]
        assert sorted(called) == list(range(30))
        assert {batch[1] for batch in cluster.log(0).batches} == {0}, "splitting needs no new epoch"
        assert producer.core.buffer.memory.free == producer.core.buffer.memory.total

    simulate(scenario)


def test_one_record_too_large_for_the_broker_fails() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        cluster.max_batch_bytes = 500
        async with producing(cluster, linger_ms=5) as producer:
            futures = [await producer.send(value) for value in (b"a", b"x" * 600, b"b")]
            with pytest.raises(MessageSizeTooLargeError):
                await futures[1]
            assert (await futures[0]).offset == 0
            assert (await futures[2]).offset == 1

    simulate(scenario)


def test_records_expire_when_there_is_no_broker_and_say_why() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster, delivery_timeout_ms=3_000, request_timeout_ms=1_000) as producer:
            await (await producer.send(b"a"))
            cluster.stop_broker(1)
            loop = asyncio.get_running_loop()
            began = loop.time()
            future = await producer.send(b"b")
            with pytest.raises(KafkaTimeoutError, match=r"delivery_timeout_ms \(3000\).*broker 1 refuses connections"):
                await future
            assert loop.time() - began == pytest.approx(3, abs=0.2)

    simulate(scenario)


def test_records_wait_for_a_broker_that_comes_back_without_spending_retries() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster, retries=1) as producer:
            cluster.stop_broker(1)
            future = await producer.send(b"a", partition=0)
            await asyncio.sleep(60)
            cluster.down.clear()
            assert (await future).offset == 0

    simulate(scenario)


def test_records_wait_for_a_partition_that_has_no_leader() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster) as producer:
            await (await producer.send(b"a"))
            cluster.lead(0, -1, 2)
            cluster.publish()
            future = await producer.send(b"b")
            await asyncio.sleep(5)
            assert not future.is_done
            cluster.lead(0, 1, 3)
            assert (await future).offset == 1
            assert cluster.refreshes < 70

    simulate(scenario)


def test_an_expired_batch_leaves_no_gap_that_stops_the_others() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        times = {"delivery_timeout_ms": 2_000, "request_timeout_ms": 500, "retry_backoff_max_ms": 200}
        async with producing(cluster, batch_size=0, **times) as producer:
            await (await producer.send(b"a"))
            cluster.faults.extend([Fault(lost="request")] * 1)
            cluster.faults.extend([Fault(error=NotEnoughReplicasError)] * 40)
            lost = await producer.send(b"lost")
            with pytest.raises(KafkaTimeoutError):
                await lost
            cluster.faults.clear()
            assert (await (await producer.send(b"b"))).offset == 1
            assert cluster.log(0).values == [b"a", b"b"]

    simulate(scenario)


def test_retries_are_counted() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster, retries=2) as producer:
            cluster.faults.extend([Fault(error=NotEnoughReplicasError)] * 3)
            future = await producer.send(b"a")
            with pytest.raises(Exception, match="NotEnoughReplicas"):
                await future
            assert len(cluster.produced) == 3

    simulate(scenario)


def test_acks_0_resolves_without_an_offset() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster, acks=0) as producer:
            metadata = await (await producer.send(b"a"))
            assert metadata.offset == -1
        assert cluster.ids_given == 0
        assert cluster.log(0).values == [b"a"]

    simulate(scenario)


@pytest.mark.parametrize("acks", [0, 1])
def test_explicit_acks_disable_idempotence_silently(acks: int, caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster, acks=acks) as producer:
            await (await producer.send(b"a"))
        assert cluster.log(0).batches == [(-1, -1, -1, 1)]

    simulate(scenario)
    assert not caplog.records


def test_sending_continues_without_idempotence_after_one_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 2})
        cluster.script("InitProducerId", CoordinatorNotAvailableError.errno, ClusterAuthorizationFailedError.errno)
        async with producing(cluster) as producer:
            for i in range(10):
                await (await producer.send(b"%d" % i, partition=i % 2))
        assert {batch[0] for p in (0, 1) for batch in cluster.log(p).batches} == {-1}

    simulate(scenario)
    assert [record.levelno for record in caplog.records].count(logging.WARNING) == 1
    assert "without idempotence" in caplog.text


def test_requested_idempotence_is_not_given_up() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        cluster.script("InitProducerId", ClusterAuthorizationFailedError.errno)
        async with producing(cluster, enable_idempotence=True) as producer:
            future = await producer.send(b"a")
            with pytest.raises(ClusterAuthorizationFailedError):
                await future
            with pytest.raises(ClusterAuthorizationFailedError):
                await producer.send(b"b")
        assert not cluster.produced

    simulate(scenario)


def test_other_partitions_continue_while_one_fails() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 2})
        async with producing(cluster, linger_ms=5) as producer:
            await (await producer.send(b"x", partition=0))
            cluster.faults.append(Fault(error=TopicAuthorizationFailedError, only=0))
            bad, good = await producer.send(b"a", partition=0), await producer.send(b"b", partition=1)
            assert (await good).offset == 0
            with pytest.raises(TopicAuthorizationFailedError):
                await bad

    simulate(scenario)


@pytest.mark.parametrize(("version", "magic"), [(0, 0), (1, 0), (2, 1), (3, 2)])
def test_old_brokers_get_old_batches(version: int, magic: int) -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1}, produce_version=version)
        async with producing(cluster, acks=1) as producer:
            await (await producer.send(b"a", b"k"))
        (topic,) = cluster.produced[0][1].topic_data
        assert bytes(topic.partition_data[0].records)[16] == magic
        assert cluster.log(0).values == [b"a"]

    simulate(scenario)


@pytest.mark.parametrize("start_version", [2, 13])
def test_headers_are_refused_not_dropped_by_an_old_broker(start_version: int) -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1}, produce_version=start_version)
        async with producing(cluster, acks=1) as producer:
            cluster.versions["Produce"] = (0, 2)
            cluster.cut(1)
            await (await producer.send(b"a"))
            with pytest.raises(UnsupportedForMessageFormatError, match=r"(?i)headers"):
                await (await producer.send(b"b", headers=[("h", b"x")]))
            await (await producer.send(b"c"))
        assert cluster.log(0).values == [b"a", b"c"]

    simulate(scenario)


def test_the_limit_of_requests_in_flight_applies_per_broker() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 12})
        cluster.latency_s = 0.1
        async with producing(cluster, max_request_size=300, max_in_flight_requests_per_connection=2) as producer:
            for number in range(48):
                await producer.send(b"x" * 100, partition=number % 12)
            await producer.core.flush()
            assert cluster.most_in_flight == 2
            assert producer.core.metrics.snapshot()["producer-metrics"]["requests-in-flight"] == 0

    simulate(scenario)


def test_a_closed_producer_gets_no_metadata_notifications() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster) as producer:
            await producer.send(b"x")
            assert cluster._listeners
        assert not cluster._listeners

    simulate(scenario)


def test_a_batch_that_cannot_be_encoded_leaves_the_others_in_one_request() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 3}, produce_version=3)
        async with producing(cluster, linger_ms=5) as producer:
            encode = producer.core._sender._produce.encode

            def fails(batch: Any, magic: int) -> int:
                if batch.topic_partition.partition == 1:
                    raise UnsupportedForMessageFormatError
                return encode(batch, magic)

            producer.core._sender._produce.encode = fails  # type: ignore[method-assign]
            futures = [await producer.send(b"x", partition=partition) for partition in range(3)]
            await asyncio.sleep(1)
            (request,) = [request for _, request in cluster.produced]
            assert sorted(each.index for each in request.topic_data[0].partition_data) == [0, 2]
            assert [future.failed() for future in futures] == [False, True, False]
            assert isinstance(futures[1].exception, UnsupportedForMessageFormatError)

    simulate(scenario)


def test_closing_stops_requests_for_an_id() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        cluster.serve("InitProducerId", lambda call: SILENCE)
        async with producing(cluster, request_timeout_ms=1_000) as producer:
            await producer.send(b"x")
            await asyncio.sleep(0.1)
            await producer.core.close(0)
        asked = len(cluster.requests("InitProducerId"))
        await asyncio.sleep(120)
        assert asked == len(cluster.requests("InitProducerId")) == 1
        assert asyncio.all_tasks() == {asyncio.current_task()}

    simulate(scenario)


def test_cancelled_waiters_are_forgotten() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        cluster.faults.append(Fault(delay=5))
        async with producing(cluster) as producer:
            future = await producer.send(b"x")
            called: list[int] = []
            batches = list(producer.core.buffer.incomplete)
            waiting = asyncio.create_task(producer.core.settle(batches, lambda: called.append(1)))
            await asyncio.sleep(1)
            assert any(producer.core._outcomes._watches.values())
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
            assert not any(producer.core._outcomes._watches.values())
            await future
            assert not called

    simulate(scenario)


def test_closing_stops_the_callback_runner_once() -> None:
    async def scenario() -> None:
        ended: list[str] = []
        async with producing(ProducingCluster({"t": 1})) as producer:
            producer.core.callbacks.finish = lambda: ended.append("callbacks")
            await producer.core.close()
            assert ended == ["callbacks"]
        assert ended == ["callbacks"]

    simulate(scenario)


def test_unknown_brokers_get_the_newest_batch_format() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        del cluster.versions["Produce"]
        async with producing(cluster) as producer:
            assert producer.core.buffer.magic == 2

    simulate(scenario)


def test_a_missing_leader_is_looked_up_repeatedly(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster, delivery_timeout_ms=20_000) as producer:
            await producer.send(b"first")
            await asyncio.sleep(1)
            asked: list[float] = []
            monkeypatch.setattr(
                cluster, "request_refresh", lambda *args: asked.append(asyncio.get_running_loop().time())
            )
            monkeypatch.setattr(type(cluster.metadata), "leader_for_partition", lambda self, place: None)
            await producer.send(b"second")
            await asyncio.sleep(5)
            monkeypatch.undo()
            assert len(asked) >= 10
            assert all(0 < later - earlier < 1 for earlier, later in itertools.pairwise(asked))

    simulate(scenario)
