"""A topic that is deleted and made again, with fewer, as many or more partitions, under a producer that goes on."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from kafka.errors import IllegalArgumentError, KafkaError, KafkaTimeoutError, LeaderNotAvailableError
from kafka.partitioner.murmur2 import murmur2
from kafka.producer.appending.checks import PreparedRecord
from kafka.producer.future import FutureRecordMetadata
from kafka.structs import TopicPartition
from unit.producer.fake_producer import FakeProducer, producing
from unit.producer.producing_cluster import Fault, ProducingCluster
from unit.virtual_loop import simulate
from unit.waiting import PATIENCE_S, let_pass, settable_clock, until

BY_NAME, BY_ID = 12, 13
"""Versions of Produce: up to 12 a request names its topics, from 13 on it has their ids (Kafka 4.1)."""
KEYS = [b"key-%d" % number for number in range(12)]


def place_of(key: bytes, partitions: int) -> int:
    """Where the default rule puts a key."""
    return (murmur2(key) & 0x7FFFFFFF) % partitions


async def send_round(producer: FakeProducer, number: int) -> list[FutureRecordMetadata]:
    """A record for each key, in their order."""
    return [await producer.send(b"%d" % number, key, headers=[("n", b"%d" % number)], timestamp_ms=5) for key in KEYS]


def written(cluster: ProducingCluster, partitions: int) -> dict[bytes, list[bytes | None]]:
    """The values of each key in the order of their log, from the one partition that it belongs to."""
    found: dict[bytes, list[bytes | None]] = {}
    for partition in range(partitions):
        log = cluster.log(partition)
        for key, value in zip(log.keys, log.values, strict=True):
            assert key is not None
            assert place_of(key, partitions) == partition
            found.setdefault(key, []).append(value)
    return found


@pytest.mark.parametrize("version", [BY_NAME, BY_ID])
@pytest.mark.parametrize("partitions", [1, 2, 3, 5])
def test_keyed_records_go_to_the_partitions_of_the_new_topic_in_the_order_of_their_key(
    partitions: int, version: int
) -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 3}, produce_version=version)
        async with producing(cluster, max_in_flight_requests_per_connection=1) as producer:
            await asyncio.gather(*await send_round(producer, 0))
            cluster.faults.append(Fault(delay=0.5, error=LeaderNotAvailableError))
            on_its_way = await send_round(producer, 1)
            await asyncio.sleep(0.1)
            waiting = await send_round(producer, 2)
            cluster.make_anew("t", partitions)
            cluster.publish()
            later = await send_round(producer, 3)
            results = await asyncio.gather(*on_its_way, *waiting, *later)
            assert [each.partition for each in results] == [place_of(key, partitions) for key in KEYS] * 3
            assert written(cluster, partitions) == {key: [b"1", b"2", b"3"] for key in KEYS}
            assert producer.core.buffer.memory.free == producer.core.buffer.memory.total
            assert await producer.partitions_for("t") == set(range(partitions))

    simulate(scenario)


@pytest.mark.parametrize("version", [BY_NAME, BY_ID])
def test_a_producer_detects_the_new_topic_by_refusals(version: int) -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 3}, produce_version=version)
        async with producing(cluster) as producer:
            await asyncio.gather(*await send_round(producer, 0))
            cluster.make_anew("t", 1)
            began = asyncio.get_running_loop().time()
            await asyncio.gather(*await send_round(producer, 1))
            assert sorted(key for key in cluster.log(0).keys if key) == sorted(KEYS)
            assert asyncio.get_running_loop().time() - began < 5

    simulate(scenario)


def test_a_moved_record_keeps_its_contents_and_callbacks(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 3})
        told: list[Any] = []
        async with producing(cluster, linger_ms=1000, compression_type="gzip") as producer:
            sent = await send_round(producer, 1)
            for future in sent:
                future.add_callback(told.append)
            cluster.make_anew("t", 1)
            cluster.publish()
            results = await asyncio.gather(*sent)
        assert sorted(told, key=results.index) == results
        assert sorted(each.offset for each in results) == list(range(len(KEYS)))
        assert {(each.timestamp, each.serialized_key_size, each.serialized_header_size) for each in results[:10]} == {
            (5, 5, 2)
        }
        assert cluster.log(0).headers == [[("n", b"1")]] * len(KEYS)

    simulate(scenario)
    assert "topic t was deleted and recreated: it has 1 partition(s) now, and had 3" in caplog.text


def test_a_record_with_a_removed_partition_fails_immediately() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 3})
        async with producing(cluster, linger_ms=60_000) as producer:
            key = next(key for key in KEYS if place_of(key, 3) == 2)
            named = await producer.send(b"a", key, partition=2)
            chosen = [await producer.send(b"b", key), await producer.send(b"c", key)]
            also_named = await producer.send(b"d", key, partition=2)
            kept = await producer.send(b"e", key, partition=1)
            cluster.make_anew("t", 2)
            cluster.publish()
            await asyncio.sleep(0.1)
            why = "topic 't' was deleted and recreated: it has partitions 0 to 1 now, but partition is 2"
            for future in (named, also_named):
                assert isinstance(future.exception, IllegalArgumentError)
                assert str(future.exception).endswith(why)
            with pytest.raises(IllegalArgumentError, match="topic 't' has partitions 0 to 1, but partition is 2"):
                await producer.send(b"f", partition=2)
            await producer.flush()
            assert [future.get().partition for future in chosen] == [place_of(key, 2)] * 2
            assert kept.get().partition == 1

    simulate(scenario)


def test_keyless_records_of_a_removed_partition_go_to_one_with_a_leader() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 5})
        async with producing(cluster, linger_ms=60_000, batch_size=100) as producer:
            for _ in range(40):
                await producer.send(bytes(90), partition=None)
            known = producer.core.buffer.known_topic("t")
            assert known is not None
            waiting = [queue.load() for queue in known.queues]
            assert min(waiting) > 0
            cluster.make_anew("t", 3)
            for leaderless in (0, 2):
                cluster.leaders[TopicPartition("t", leaderless)] = (-1, 1)
            cluster.publish()
            await asyncio.sleep(5)
            assert len(cluster.log(1).values) == waiting[1] + waiting[3] + waiting[4]
            cluster.leaders.clear()
            cluster.publish()

    simulate(scenario)


def test_records_whose_keys_are_ignored_stay_in_their_partition() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 3})
        async with producing(cluster, linger_ms=1000, partitioner_ignore_keys=True) as producer:
            sent = await send_round(producer, 0)
            known = producer.core.buffer.known_topic("t")
            assert known is not None
            (chosen,) = [queue.topic_partition.partition for queue in known.queues if queue.load()]
            cluster.make_anew("t", 5)
            cluster.publish()
            assert {each.partition for each in await asyncio.gather(*sent)} == {chosen}

    simulate(scenario)


@pytest.mark.parametrize("partitions", [3, 5])
def test_a_record_with_an_existing_chosen_partition_stays_there(partitions: int) -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 3})
        async with producing(cluster, linger_ms=60_000) as producer:
            sent = [await producer.send(b"v", key, partition=number % 3) for number, key in enumerate(KEYS)]
            cluster.make_anew("t", partitions)
            cluster.publish()
            sent += [await producer.send(b"v", KEYS[0], partition=partitions - 1)]
            await producer.flush()
            places = [number % 3 for number in range(len(KEYS))]
            assert [future.get().partition for future in sent] == [*places, partitions - 1]

    simulate(scenario)


@pytest.mark.parametrize("partitions", [4, 6])
def test_keyless_records_stay_if_the_number_of_partitions_does_not_shrink(partitions: int) -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 4})
        async with producing(cluster, linger_ms=1000, batch_size=200) as producer:
            sent = [await producer.send(b"%d" % number) for number in range(60)]
            before = [future.place()[0].topic_partition.partition for future in sent]
            cluster.make_anew("t", partitions)
            cluster.publish()
            assert [each.partition for each in await asyncio.gather(*sent)] == before

    simulate(scenario)


def test_keyless_records_stay_if_their_partition_exists() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 4})
        async with producing(cluster, linger_ms=1000, batch_size=200) as producer:
            sent = [await producer.send(b"%d" % number) for number in range(60)]
            before = [future.place()[0].topic_partition.partition for future in sent]
            cluster.make_anew("t", 2)
            cluster.publish()
            after = [each.partition for each in await asyncio.gather(*sent)]
            assert set(before) == {0, 1, 2, 3}
            assert all(was == now for was, now in zip(before, after, strict=True) if was < 2)
            assert set(after) == {0, 1}

    simulate(scenario)


def test_a_topic_recreated_with_fewer_then_more_partitions_uses_all() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 3})
        async with producing(cluster) as producer:
            for number, partitions in enumerate((3, 1, 4, 2)):
                cluster.make_anew("t", partitions)
                cluster.publish()
                await asyncio.gather(*await send_round(producer, number))
                assert written(cluster, partitions) == {key: [b"%d" % number] for key in KEYS}

    simulate(scenario)


def test_a_topic_recreated_twice_is_followed_to_the_last_one() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 3})
        cluster.faults.append(Fault(delay=1, error=LeaderNotAvailableError))
        async with producing(cluster) as producer:
            sent = await send_round(producer, 1)
            await asyncio.sleep(0.1)
            for partitions in (1, 2):
                cluster.make_anew("t", partitions)
                cluster.publish()
                sent += await send_round(producer, 2)
            await asyncio.gather(*sent)
            assert written(cluster, 2) == {key: [b"1", b"2", b"2"] for key in KEYS}

    simulate(scenario)


def test_records_possibly_in_the_new_topic_are_not_written_twice() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 2}, produce_version=BY_NAME)
        async with producing(cluster) as producer:
            await asyncio.gather(*await send_round(producer, 0))
            cluster.make_anew("t", 3)  # the request names the topic: it is carried out in the new one
            cluster.faults.append(Fault(lost="answer"))
            sent = await send_round(producer, 1)
            await asyncio.sleep(0.01)
            cluster.publish()
            await asyncio.gather(*sent)
            values = [value for partition in range(3) for value in cluster.log(partition).values]
            assert values == [b"1"] * len(KEYS)

    simulate(scenario)


def test_a_partition_of_the_new_topic_starts_a_new_sequence() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 1})
        async with producing(cluster) as producer:
            for number in range(3):
                await (await producer.send(b"%d" % number))
            deleted = cluster.make_anew("t", 1)
            cluster.publish()
            await (await producer.send(b"new"))
            await (await producer.send(b"newer"))
            assert deleted[0].batches == [(1000, 0, 0, 1), (1000, 0, 1, 1), (1000, 0, 2, 1)]
            assert cluster.log(0).batches == [(1000, 1, 0, 1), (1000, 1, 1, 1)]

    simulate(scenario)


def test_brokers_without_ids_are_trusted_once_they_agree_for_a_while() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 3}, produce_version=BY_NAME)
        cluster.topic_ids = False
        async with producing(cluster) as producer:
            await asyncio.gather(*await send_round(producer, 0))
            cluster.make_anew("t", 1)
            began = asyncio.get_running_loop().time()
            await asyncio.gather(*await send_round(producer, 1))
            assert sorted(key for key in cluster.log(0).keys if key) == sorted(KEYS)
            assert 5 <= asyncio.get_running_loop().time() - began < 8

    simulate(scenario)


def test_an_outdated_broker_without_ids_removes_no_partitions() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 3}, produce_version=BY_NAME)
        cluster.topic_ids = False
        async with producing(cluster) as producer:
            await asyncio.gather(*await send_round(producer, 0))
            for partitions in (2, 3, 2, 3):
                cluster.topics["t"] = partitions
                cluster.publish()
                assert producer.core.buffer.partition_count("t") == 3
                await asyncio.sleep(4)
            assert producer.core.buffer.topics["t"].generation == 0

    simulate(scenario)


def test_a_broker_with_the_deleted_topic_is_not_trusted_immediately() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 3})
        async with producing(cluster) as producer:
            await asyncio.gather(*await send_round(producer, 0))
            cluster.make_anew("t", 1)
            cluster.publish()
            cluster.generation["t"] = 0
            cluster.publish()
            assert producer.core.buffer.topics["t"].generation == 1
            await asyncio.sleep(5)
            cluster.publish()
            assert producer.core.buffer.topics["t"].generation == 2, "it has said so for five seconds"

    simulate(scenario)


def test_a_partition_of_only_the_deleted_topic_is_refused() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 3})
        async with producing(cluster) as producer:
            await asyncio.gather(*await send_round(producer, 0))
            cluster.make_anew("t", 1)
            cluster.publish()
            cluster.topics["t"], cluster.generation["t"] = 3, 0
            cluster.publish()
            with pytest.raises(IllegalArgumentError, match="topic 't' has partitions 0 to 0, but partition is 2"):
                await producer.send(b"v", partition=2)

    simulate(scenario)


def test_an_idle_topic_is_sent_to_before_its_identity_is_certain() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 3}, produce_version=BY_NAME)
        cluster.topic_ids = False
        async with producing(cluster, metadata_max_idle_ms=10_000) as producer:
            await asyncio.gather(*await send_round(producer, 0))
            await asyncio.sleep(11)
            cluster.publish()
            assert producer.core.buffer.current_topics() == []
            cluster.make_anew("t", 1)
            cluster.publish()
            await asyncio.gather(*await send_round(producer, 1))
            assert sorted(key for key in cluster.log(0).keys if key) == sorted(KEYS)

    simulate(scenario)


class InterposedLock:
    """A lock; something happens in the moment before it is taken for the first time."""

    def __init__(self, lock: Any, before: Callable[[], object]) -> None:
        self._lock = lock
        self._before = [before]

    def __enter__(self) -> None:
        while self._before:
            self._before.pop()()
        self._lock.acquire()

    def __exit__(self, *exc: object) -> None:
        self._lock.release()


@pytest.mark.parametrize("others", [False, True])
@pytest.mark.parametrize("partitions", [1, 5])
def test_recreation_between_choice_and_append_repeats_the_choice(partitions: int, others: bool) -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 3})
        async with producing(cluster, linger_ms=1000) as producer:
            await asyncio.gather(*await send_round(producer, 0))
            buffer = producer.core.buffer
            lock = buffer.lock

            def make_anew() -> None:
                cluster.make_anew("t", partitions)
                cluster.publish()
                for number in range(partitions if others else 0):  # so that each partition has an open batch
                    buffer.append(
                        PreparedRecord(
                            "t", number, 5, None, b"other", None, -1, 100, True, buffer.topics["t"].generation
                        )
                    )

            for key in KEYS:
                buffer.lock = InterposedLock(lock, make_anew)  # type: ignore[assignment]
                producer.core.appender.rebind()
                buffer.lock = lock
                made_again = buffer.topics["t"].generation + 1
                future = await producer.send(b"v", key)
                assert buffer.topics["t"].generation == made_again
                producer.core.appender.rebind()
                await producer.flush()
                assert (await future).partition == place_of(key, partitions)
                cluster.make_anew("t", 3)
                cluster.publish()

    simulate(scenario)


@pytest.mark.parametrize("partitions", [1, 5])
def test_recreation_during_partitioning_repeats_the_choice(partitions: int) -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 3})
        chosen: list[int] = []

        def choose(key: bytes | None, everything: Sequence[int], available: Sequence[int]) -> int:
            if not chosen:
                cluster.make_anew("t", partitions)
                cluster.publish()
            chosen.append(everything[-1])
            return everything[-1]

        async with producing(cluster, partitioner=choose) as producer:
            assert (await (await producer.send(b"v", b"k"))).partition == partitions - 1
            assert chosen == [2, partitions - 1]

    simulate(scenario)


def last_partition(key: bytes | None, everything: Sequence[int], available: Sequence[int]) -> int:
    """A user's partitioner."""
    return everything[-1]


async def test_a_user_partitioner_chooses_again_in_a_thread() -> None:
    cluster = ProducingCluster({"t": 3})
    async with producing(cluster, linger_ms=60_000, partitioner=last_partition) as producer:
        sent = await send_round(producer, 1)
        cluster.make_anew("t", 2)
        cluster.publish()
        later = await send_round(producer, 2)
        await producer.flush()
        assert {each.partition for each in await asyncio.gather(*sent, *later)} == {1}
        assert cluster.log(1).values == [b"1"] * len(KEYS) + [b"2"] * len(KEYS)


async def test_a_hanging_partitioner_is_named_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    settable_clock()
    cluster = ProducingCluster({"t": 3})
    chosen, released = threading.Event(), threading.Event()

    def stuck(key: bytes | None, everything: Sequence[int], available: Sequence[int]) -> int:
        if len(everything) == 2:
            chosen.set()
            released.wait(PATIENCE_S)
        return everything[-1]

    def told() -> list[str]:
        return [each.getMessage() for each in caplog.records if "has not returned" in each.getMessage()]

    async with producing(cluster, linger_ms=0, delivery_timeout_ms=31_000, partitioner=stuck) as producer:
        cluster.faults.extend([Fault(lost="request")] * 200)
        (lost, *_), name = await send_round(producer, 1), f"{__name__}.{stuck.__qualname__}"
        cluster.make_anew("t", 2)
        cluster.publish()
        await until(chosen.is_set)
        let_pass(5)
        await until(told)
        assert f"partitioner {name}, which chooses again, has not returned for 5 s: 12 record(s)" in told()[0]
        let_pass(31)
        await until(lambda: lost.is_done)
        assert isinstance(lost.exception, KafkaTimeoutError)
        assert f"the partitioner {name} has not returned" in str(lost.exception)
        cluster.faults.clear()
        released.set()
        assert (await (await producer.send(b"later", KEYS[0]))).partition == 1
        assert len(told()) == 1


@pytest.mark.parametrize(("partitions", "asked"), [(3, 0), (5, len(KEYS))])
async def test_a_partitioner_is_called_again_if_the_number_of_partitions_changed(partitions: int, asked: int) -> None:
    calls: list[int] = []

    def choose(key: bytes | None, everything: Sequence[int], available: Sequence[int]) -> int:
        calls.append(len(everything))
        return everything[-1]

    cluster = ProducingCluster({"t": 3})
    async with producing(cluster, linger_ms=60_000, partitioner=choose) as producer:
        sent = await send_round(producer, 1)
        cluster.make_anew("t", partitions)
        cluster.publish()
        await producer.flush()
        assert {future.get().partition for future in sent} == {partitions - 1}
    assert calls == [3] * len(KEYS) + [partitions] * asked


async def test_a_record_stays_in_its_partition_if_the_partitioner_raises() -> None:
    cluster = ProducingCluster({"t": 3})
    options: dict[str, Any] = {"partitioner": PartitionFromKey(), "key_serializer": lambda key: b"%d" % key["to"]}
    async with producing(cluster, linger_ms=60_000, **options) as producer:
        sent = [await producer.send(b"x", {"to": to}) for to in (0, 2)]  # type: ignore[arg-type]
        cluster.make_anew("t", 5)
        cluster.publish()
        await producer.flush()
        assert [future.get().partition for future in sent] == [0, 2]


class PartitionFromKey:
    """A user's partitioner that looks at what `send` was given, which there is no more."""

    def partition(self, topic: str, key: Any, key_bytes: Any, value: Any, value_bytes: Any, cluster: Any) -> int:
        return int(key["to"])


class LastPartition:
    """A user's partitioner that knows nothing of how many partitions there are now, and notes what it is given."""

    def __init__(self) -> None:
        self.given: list[tuple[Any, ...]] = []

    def partition(self, topic: str, key: Any, key_bytes: Any, value: Any, value_bytes: Any, cluster: Any) -> int:
        self.given.append((key, key_bytes, value, value_bytes))
        return 2


async def test_a_partitioner_gets_bytes_and_its_invalid_choices_fail() -> None:
    cluster, partitioner = ProducingCluster({"t": 3}), LastPartition()
    async with producing(cluster, linger_ms=60_000, partitioner=partitioner) as producer:
        lost = await producer.send(b"value", b"key")
        cluster.make_anew("t", 2)
        cluster.publish()
        await producer.flush()
        assert isinstance(lost.exception, IllegalArgumentError)
        assert "chose no other one" in str(lost.exception)
        assert partitioner.given[1:] == [(b"key", b"key", b"value", b"value")]


async def test_a_partitioner_that_keeps_choosing_a_removed_partition_fails_the_record() -> None:
    cluster = ProducingCluster({"t": 3})
    options: dict[str, Any] = {"partitioner": PartitionFromKey(), "key_serializer": lambda key: b"%d" % key["to"]}
    async with producing(cluster, linger_ms=60_000, **options) as producer:
        kept, lost = [await producer.send(b"x", {"to": to}) for to in (0, 2)]  # type: ignore[arg-type]
        cluster.make_anew("t", 1)
        cluster.publish()
        await producer.flush()
        assert isinstance(lost.exception, IllegalArgumentError)
        assert "recreated without partition 2, and the partitioner chose no other one" in str(lost.exception)
        assert isinstance(lost.exception.__cause__, TypeError)
        assert (await kept).partition == 0


def test_records_expire_while_their_topic_is_missing() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 3})
        async with producing(cluster, delivery_timeout_ms=31_000, linger_ms=0) as producer:
            cluster.faults.append(Fault(delay=25))
            sent = await send_round(producer, 1)
            await asyncio.sleep(1)
            waiting = await send_round(producer, 2)
            cluster.make_anew("t", 1)
            cluster.faults.extend([Fault(lost="request")] * 200)
            cluster.publish()
            await asyncio.sleep(32)
            assert all(future.failed() for future in (*sent, *waiting))
            assert isinstance(waiting[0].exception, KafkaTimeoutError)
            cluster.faults.clear()
            await (await producer.send(b"later", KEYS[0]))
            assert producer.core.buffer.memory.free == producer.core.buffer.memory.total

    simulate(scenario)


def test_a_record_that_waited_for_memory_goes_to_a_partition_that_exists() -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 3})
        async with producing(cluster, batch_size=1000, buffer_memory=1000) as producer:
            cluster.faults.append(Fault(delay=1))
            by_place = {place_of(key, 3): key for key in KEYS}
            first = await producer.send(b"a", by_place[0])
            blocked = asyncio.ensure_future(producer.send(b"b", by_place[2]))
            await asyncio.sleep(0.1)
            cluster.make_anew("t", 1)
            cluster.publish()
            assert (await (await blocked)).partition == 0
            assert (await first).partition == 0

    simulate(scenario)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(16))
def test_nothing_is_lost_duplicated_or_reordered_under_random_faults(seed: int) -> None:
    async def scenario() -> None:
        rng = random.Random(seed)
        version = (BY_NAME, BY_ID)[seed % 2]
        cluster = ProducingCluster({"t": 3}, brokers=2, produce_version=version)
        deleted = []
        sent: list[FutureRecordMetadata] = []
        async with producing(cluster, seed, batch_size=rng.choice((0, 300)), linger_ms=rng.choice((0, 5))) as producer:
            for number in range(150):
                if rng.random() < 0.04:
                    deleted.append(cluster.make_anew("t", rng.randint(1, 5)))
                    if rng.random() < 0.7:
                        cluster.publish()
                if rng.random() < 0.1:
                    lost = rng.choice(("", "request", "answer"))
                    error = rng.choice((None, LeaderNotAvailableError))
                    cluster.faults.append(Fault(rng.random() / 10, error, lost))
                sent.append(await producer.send(b"%d" % number, rng.choice(KEYS)))
                await asyncio.sleep(rng.random() / 50)
            cluster.publish()
            results = await asyncio.gather(*sent, return_exceptions=True)
        assert not [each for each in results if isinstance(each, BaseException)]
        values: dict[bytes, int] = {}
        for logs in (*deleted, {p: cluster.log(p) for p in range(cluster.topics["t"])}):
            seen: list[int] = []
            for log in logs.values():
                last: dict[bytes, int] = {}
                for key, value in zip(log.keys, log.values, strict=True):
                    assert key is not None
                    assert value is not None
                    in_order = last.get(key, -1) < int(value)
                    assert in_order or version == BY_NAME, "a request by name may come to the new topic out of turn"
                    last[key] = int(value)
                    seen.append(int(value))
            assert len(seen) == len(set(seen)), "no topic has a record twice"
            values.update((b"%d" % each, each) for each in seen)
        assert len(values) == 150, "every record is in the topic or was in one that was deleted"

    simulate(scenario)


@pytest.mark.parametrize("kind", ["close", "loop"])
def test_closing_while_records_are_moved_fails_them(kind: str) -> None:
    async def scenario() -> None:
        cluster = ProducingCluster({"t": 3})
        producer = FakeProducer(cluster)
        await producer.core.start()
        cluster.faults.append(Fault(delay=60))
        sent = await send_round(producer, 1)
        await asyncio.sleep(0.1)
        cluster.make_anew("t", 1)
        cluster.publish()
        if kind == "close":
            await producer.core.close(0)
        else:
            producer.core.loop_failed(KafkaError("the loop is gone"))
        assert all(future.failed() for future in sent)
        await producer.core.close(0)

    simulate(scenario)
