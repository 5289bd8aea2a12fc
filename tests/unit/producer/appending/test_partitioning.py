"""Options about where records without a key go (KIP-794), and `send()` that never waits."""

from __future__ import annotations

import asyncio
import collections
import random
from typing import Any

import pytest

from kafka.errors import KafkaTimeoutError, TopicAuthorizationFailedError
from kafka.producer.batch.queues import TopicQueues
from kafka.producer.batch.shared_queues import BufferOptions, SharedQueues
from kafka.producer.send.schedule import BrokerQueue, PartitionAvailability
from unit.producer.fake_producer import producing
from unit.producer.producing_cluster import Fault, ProducingCluster
from unit.virtual_loop import simulate

# Where records go


def picks(queues: TopicQueues, times: int = 3000) -> collections.Counter[int]:
    return collections.Counter(queues.pick_sticky(10) for _ in range(times))


def test_partitions_with_longer_queues_get_fewer_records() -> None:
    queues = TopicQueues("t", 3, (0, 1, 2), 10, random.Random(1), adaptive=True)
    waiting: Any = [object()] * 9
    queues.queues[0].closed.extend(waiting)
    found = picks(queues)
    # One moves on each time: from 1 and 2 mostly to each other, as 0 has a tenth of their weight.
    assert found[0] < 0.25 * found[1]
    assert 0.9 < found[1] / found[2] < 1.1
    assert found[0] > 0


def test_partitions_with_equal_queues_get_equally_many_records() -> None:
    found = picks(TopicQueues("t", 3, (0, 1, 2), 10, random.Random(1), adaptive=True))
    assert max(found.values()) < 1.15 * min(found.values())


def test_partitions_of_a_stalled_broker_are_avoided_until_it_recovers() -> None:
    async def scenario() -> None:
        loop = asyncio.get_running_loop()
        buffer = SharedQueues(BufferOptions(10, 1000), loop, random.Random(1), lambda work: work())
        buffer.learn_topic("t", 4, (0, 1, 2, 3))
        queues = buffer.topics["t"]
        attempts: Any = None
        slow, quick = BrokerQueue(1, attempts), BrokerQueue(2, attempts)
        availability = PartitionAvailability(buffer, lambda tp: 1 if tp.partition < 2 else 2, 0.5)
        slow.ready[queues.queues[0]] = quick.ready[queues.queues[2]] = None
        for now, late in ((1.0, set()), (1.4, set()), (1.5, {0, 1}), (9.0, {0, 1})):
            availability.sent(quick)
            availability.look((slow, quick), now)
            assert queues.late == late, now
        assert set(picks(queues)) == {2, 3}
        availability.sent(slow)
        availability.look((slow, quick), 9.1)
        assert not queues.late
        assert set(picks(queues)) == {0, 1, 2, 3}
        availability.look((slow,), 9.7)
        assert queues.late == {0, 1}
        slow.ready.clear()
        availability.look((slow,), 9.8)
        assert not queues.late

    simulate(scenario)


def test_no_partition_is_avoided_if_all_brokers_stall() -> None:
    queues = TopicQueues("t", 2, (0, 1), 10, random.Random(1))
    queues.late = frozenset({0, 1})
    assert set(picks(queues)) == {0, 1}


@pytest.mark.parametrize("silent", [0, 1])
def test_a_producer_avoids_a_silent_broker(silent: int) -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 2}, brokers=2)
        cluster.down.add(silent + 1)  # brokers are numbered from 1
        options = {"partitioner_availability_timeout_ms": 200, "batch_size": 10, "delivery_timeout_ms": 5_000}
        async with producing(cluster, **options) as producer:
            for _ in range(50):
                await producer.send(b"v")
                await asyncio.sleep(0.05)
            late = [len(log.values) for log in (cluster.log(0), cluster.log(1))]
            assert late[silent] == 0
            assert late[1 - silent] > 40

    simulate(scenario)


@pytest.mark.parametrize("ignore", [False, True])
def test_keys_can_be_ignored(ignore: bool) -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 4})
        options = {"partitioner_ignore_keys": ignore, "batch_size": 10}
        async with producing(cluster, **options) as producer:
            for _ in range(40):
                await (await producer.send(b"v", key=b"k"))
        counts = [len(cluster.log(number).values) for number in range(4)]
        assert sum(counts) == 40
        assert sorted(counts)[:3] == [0, 0, 0] if not ignore else min(counts) > 4

    simulate(scenario)


# Topics


def test_idle_topics_are_kept_for_metadata_max_idle_ms() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster, metadata_max_idle_ms=10_000) as producer:
            await (await producer.send(b"a"))
            await asyncio.sleep(9)
            cluster.publish()
            assert cluster.watched == {"t"}
            await asyncio.sleep(2)
            cluster.publish()
            assert not cluster.watched

    simulate(scenario)


@pytest.mark.parametrize("max_block_ms", [0, 100])
def test_missing_topics_are_looked_up_for_metadata_max_idle_ms(max_block_ms: int) -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster, metadata_max_idle_ms=10_000, max_block_ms=max_block_ms) as producer:
            for name in ("a", "b"):
                with pytest.raises(KafkaTimeoutError):
                    await producer.send(b"v", topic=name)
            await asyncio.sleep(9)
            with pytest.raises(KafkaTimeoutError):
                await producer.send(b"v", topic="b")
            await asyncio.sleep(2)
            cluster.publish()
            assert cluster.watched == {"b"}
            await asyncio.sleep(11)
            cluster.publish()
            assert not cluster.watched

    simulate(scenario)


# Never waiting


def test_an_unknown_topic_is_looked_up_while_send_raises_immediately() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        loop = asyncio.get_running_loop()
        async with producing(cluster, max_block_ms=0) as producer:
            began = loop.time()
            with pytest.raises(KafkaTimeoutError, match="'t', or the partition that was named, is not known yet"):
                await producer.send(b"lost")
            assert loop.time() == began
            await asyncio.sleep(1)
            await (await producer.send(b"sent"))
            with pytest.raises(KafkaTimeoutError, match="max_block_ms is 0"):
                await producer.send(b"lost", partition=7)
            with pytest.raises(KafkaTimeoutError, match="max_block_ms is 0"):
                await producer.send_arrow("u", {"value": [b"lost"]})
        assert cluster.log(0).values == [b"sent"]

    simulate(scenario)


def test_the_error_of_a_topic_is_raised_the_next_time() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster, max_block_ms=0) as producer:
            cluster.topic_errors["u"] = TopicAuthorizationFailedError.errno
            with pytest.raises(KafkaTimeoutError):
                await producer.send(b"v", topic="u")
            await asyncio.sleep(1)
            with pytest.raises(TopicAuthorizationFailedError):
                await producer.send(b"v", topic="u")

    simulate(scenario)


def test_without_memory_send_raises_immediately() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        loop = asyncio.get_running_loop()
        async with producing(cluster, max_block_ms=0, buffer_memory=200, batch_size=100) as producer:
            with pytest.raises(KafkaTimeoutError):
                await producer.send(b"lost")
            await asyncio.sleep(1)
            cluster.faults.append(Fault(delay=5.0))
            began = loop.time()
            first = await producer.send(b"v" * 90)
            with pytest.raises(KafkaTimeoutError, match="became free within max_block_ms"):
                await producer.send(b"v" * 90)
            assert loop.time() == began
            await first

    simulate(scenario)
