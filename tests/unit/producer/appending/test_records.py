"""What send() accepts, how it is serialized, and which partition it goes to."""

from __future__ import annotations

import asyncio
import enum
import gc
import itertools
import random
import weakref
from collections import Counter
from decimal import Decimal
from typing import Any

import pytest

from kafka import _variant
from kafka.config import ProducerOptions
from kafka.errors import IllegalArgumentError, MessageSizeTooLargeError
from kafka.partitioner import DefaultPartitioner, Partitioner, RoundRobinPartitioner, StickyPartitioner, murmur2
from kafka.producer import KafkaProducer
from kafka.producer.appending.appender import RecordSender
from kafka.producer.appending.checks import PreparedRecord
from kafka.producer.appending.record_buffer import RecordBuffer
from kafka.producer.batch.producer_batch import ProducerBatch
from kafka.producer.batch.queues import TopicQueues
from kafka.producer.batch.shared_queues import BufferOptions
from kafka.producer.future import FutureRecordMetadata, RecordMetadata
from kafka.structs import TopicPartition
from unit.producer.fake_producer import FakeProducer, producing
from unit.producer.producing_cluster import ProducingCluster
from unit.virtual_loop import simulate


def sending(**configs: Any) -> Any:
    """Run `check(producer)` on a producer for a topic of three partitions."""

    def run(check: Any) -> ProducingCluster:
        async def scenario() -> ProducingCluster:
            cluster = ProducingCluster({"t": 3})
            async with producing(cluster, **configs) as producer:
                await check(producer)
            return cluster

        return simulate(scenario)

    return run


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        ({"value": "text"}, TypeError, "value of a record for topic 't' must be bytes or None, not str; pass bytes"),
        ({"value": b"", "key": 5}, TypeError, "key_serializer"),
        ({"value": None}, IllegalArgumentError, "key or value"),
        ({"value": b"", "headers": {"a": b"b"}}, TypeError, "list of"),
        ({"value": b"", "headers": [("a", "b")]}, TypeError, "pair"),
        ({"value": b"", "headers": [(b"a", b"b")]}, TypeError, "pair"),
        ({"value": b"", "headers": ["ab"]}, TypeError, "pair"),
        ({"value": b"", "topic": "no/slash"}, IllegalArgumentError, "is not a topic name"),
        ({"value": b"", "topic": ""}, IllegalArgumentError, "is not a topic name"),
        ({"value": b"", "topic": b"t"}, TypeError, "str"),
        ({"value": b"", "topic": []}, TypeError, "a topic's name must be a str, not list"),
        ({"value": b"", "headers": [("\ud800", b"")]}, IllegalArgumentError, "a header's key for topic 't'"),
        ({"value": b"", "partition": 1.5}, TypeError, "int"),
        ({"value": b"", "timestamp_ms": 2**61 + 1}, ValueError, r"from -1 to 2\*\*61, not 2305843009213693953"),
        ({"value": b"", "timestamp_ms": 2**70}, ValueError, r"from -1 to 2\*\*61, not 1180591620717411303424"),
        ({"value": b"", "timestamp_ms": -(2**70)}, ValueError, r"from -1 to 2\*\*61"),
        ({"value": b"", "timestamp_ms": -2}, ValueError, "milliseconds since 1970-01-01 UTC, from -1"),
        ({"value": b"", "timestamp_ms": 5.5}, TypeError, r"must be an int, milliseconds since .*, not float"),
        ({"value": b"", "timestamp_ms": 5.0}, TypeError, r"must be an int, milliseconds since .*, not float"),
        ({"value": b"", "timestamp_ms": "5"}, TypeError, r"must be an int, milliseconds since .*, not str"),
    ],
)
def test_invalid_records_are_refused_with_the_expected_type(given: dict[str, Any], error: Any, text: str) -> None:
    async def check(producer: FakeProducer) -> None:
        await producer.send(b"first")
        with pytest.raises(error, match=text):
            await producer.send(**given)

    sending()(check)


def test_other_kinds_of_buffers_are_accepted() -> None:
    async def check(producer: FakeProducer) -> None:
        await producer.send(bytearray(b"v"), memoryview(b"k"), partition=0)
        await producer.send(b"w", headers=[("h", None), ["i", bytearray(b"x")]], partition=0)

    cluster = sending()(check)
    assert cluster.log(0).values == [b"v", b"w"]
    assert cluster.log(0).keys == [b"k", None]


def test_subclasses_of_the_argument_types_are_accepted() -> None:
    class Data(bytes):
        def __bytes__(self) -> bytes:
            return b"another"

    class Number:
        def __init__(self, number: int) -> None:
            self._number = number

        def __index__(self) -> int:
            return self._number

    async def check(producer: FakeProducer) -> None:
        sent = await producer.send(
            Data(b"v"), Data(b"k"), headers=[("h", Data(b"x"))], partition=Number(0), timestamp_ms=Number(1234)
        )
        assert (await sent).timestamp == 1234
        with pytest.raises(IllegalArgumentError, match="partition is 9"):
            await producer.send(b"", partition=Number(9))
        with pytest.raises(TypeError, match=r"partition .* not bool"):
            await producer.send(b"", partition=True)

    cluster = sending()(check)
    assert (cluster.log(0).values, cluster.log(0).keys) == ([b"v"], [b"k"])


@pytest.mark.parametrize("timeout", [-1, -0.5, float("-inf"), float("nan"), Decimal("NaN")])
def test_an_invalid_timeout_is_refused(timeout: Any) -> None:
    async def check(producer: FakeProducer) -> None:
        for wait in (producer.flush, producer.close):
            with pytest.raises(ValueError, match="a timeout is a number of seconds from 0, or None, not"):
                await wait(timeout)
            with pytest.raises(TypeError, match="a timeout is a number of seconds, or None, not '5'"):
                await wait("5")  # type: ignore[arg-type]
        await producer.flush(0.5)
        await producer.flush(Decimal("0.1"))  # type: ignore[arg-type]
        await producer.send(b"still open")

    sending()(check)


def test_serializers_run_and_their_errors_name_the_topic() -> None:
    def explode(value: Any) -> bytes:
        raise ZeroDivisionError("boom")

    async def check(producer: FakeProducer) -> None:
        await producer.send("ä", 5, partition=1)

    cluster = sending(value_serializer=str.encode, key_serializer=lambda key: b"%d" % key)(check)
    assert (cluster.log(1).values, cluster.log(1).keys) == (["ä".encode()], [b"5"])

    async def check_error(producer: FakeProducer) -> None:
        with pytest.raises(ZeroDivisionError) as raised:
            await producer.send("x")
        assert raised.value.__notes__ == ["raised by the value serializer, for a str that goes to topic 't'"]

    sending(value_serializer=explode)(check_error)


def test_a_serializer_must_return_bytes() -> None:
    async def check(producer: FakeProducer) -> None:
        with pytest.raises(TypeError, match="that is what the value_serializer returned"):
            await producer.send(b"x")

    sending(value_serializer=lambda value: "text")(check)


def test_serializer_objects_of_both_generations_work() -> None:
    class Old:
        def serialize(self, topic: str, value: Any) -> bytes:
            return f"{topic}:{value}".encode()

        closed = False

        def close(self) -> None:
            self.closed = True

    class New:
        def serialize(self, topic: str, headers: Any, data: Any) -> bytes:
            return f"{topic}:{headers}:{data}".encode()

    async def check(producer: FakeProducer) -> None:
        await producer.send(1, 2, headers=[("a", b"b")], partition=0)

    old = Old()
    cluster = sending(key_serializer=old, value_serializer=New())(check)
    assert (cluster.log(0).keys, cluster.log(0).values) == ([b"t:2"], [b"t:[('a', b'b')]:1"])
    assert old.closed


def test_rows_without_a_timestamp_get_the_time_in_milliseconds() -> None:
    async def check(producer: FakeProducer) -> None:
        assert producer.core.now_ms() == 1_700_000_000_000

    sending()(check)


def test_keys_are_partitioned_as_in_java() -> None:
    async def check(producer: FakeProducer) -> None:
        for i in range(100):
            await producer.send(b"", b"key-%d" % i)

    cluster = sending()(check)
    for partition in range(3):
        assert cluster.log(partition).keys
        for key in cluster.log(partition).keys:
            assert key is not None
            assert (murmur2(key) & 0x7FFFFFFF) % 3 == partition == DefaultPartitioner()(key, [0, 1, 2], [])


def test_records_without_a_key_stay_on_a_partition_for_a_batch_and_spread_evenly() -> None:
    queues = TopicQueues("t", 4, [0, 1, 2], 1_000, random.Random(3))
    filling: Any = object()
    for queue in queues.queues:
        queue.open = filling
    picks = [queues.pick_sticky(100) for _ in range(3_000)]
    runs = [picks[i : i + 10] for i in range(0, 3_000, 10)]
    assert all(len(set(run)) == 1 for run in runs)
    assert all(before[0] != after[0] for before, after in itertools.pairwise(runs))
    assert set(picks) == {0, 1, 2}, "a partition without a leader is passed over"
    assert all(count > 700 for count in Counter(picks).values())
    queues.update(4, [3])
    assert queues.pick_sticky(1) == 3, "the partition that it stayed on has lost its leader"


def test_a_callable_partitioner_sees_the_key_and_the_partitions() -> None:
    seen: list[Any] = []

    def last(key: bytes | None, all_partitions: list[int], available: list[int]) -> int:
        seen.append((key, all_partitions, available))
        return all_partitions[-1]

    async def check(producer: FakeProducer) -> None:
        await producer.send(b"x", b"k")

    cluster = sending(partitioner=last)(check)
    assert seen == [(b"k", [0, 1, 2], [0, 1, 2])]
    assert cluster.log(2).values == [b"x"]


def test_a_partitioner_object_sees_the_whole_record() -> None:
    class ByValue(Partitioner):
        def partition(self, topic: str, key: Any, key_bytes: Any, value: Any, value_bytes: Any, cluster: Any) -> int:
            assert (topic, key, key_bytes, value_bytes) == ("t", "k", b"k", b"2")
            assert cluster.partitions_for_topic("t") == {0, 1, 2}
            return int(value)

    async def check(producer: FakeProducer) -> None:
        await producer.send(2, "k")

    configs = {"key_serializer": str.encode, "value_serializer": lambda value: b"%d" % value}
    assert sending(partitioner=ByValue(), **configs)(check).log(2).values == [b"2"]


@pytest.mark.parametrize("partitioner", [RoundRobinPartitioner(), StickyPartitioner()])
def test_the_other_partitioners_are_accepted(partitioner: Any) -> None:
    async def check(producer: FakeProducer) -> None:
        for _ in range(6):
            await producer.send(b"x")

    cluster = sending(partitioner=partitioner)(check)
    counts = sorted(len(cluster.log(p).values) for p in range(3))
    assert counts == ([2, 2, 2] if isinstance(partitioner, RoundRobinPartitioner) else [0, 0, 6])


def test_an_invalid_partition_of_a_partitioner_is_refused() -> None:
    async def check(producer: FakeProducer) -> None:
        with pytest.raises(IllegalArgumentError, match="the partitioner's choice is 9"):
            await producer.send(b"x")

    sending(partitioner=lambda *_: 9)(check)


def test_an_int_in_the_place_of_headers_is_the_partition_as_in_kafka_python_1() -> None:
    async def check(producer: FakeProducer) -> None:
        await producer.send(b"x", b"k", headers=0)
        await producer.send(b"y", b"k", headers=2)

    cluster = sending()(check)
    assert cluster.log(0).values == [b"x"]
    assert cluster.log(2).values == [b"y"]


def test_the_defaults_of_all_options_are_known_without_a_producer() -> None:
    assert KafkaProducer.DEFAULT_CONFIG["request_timeout_ms"] == 30_000
    assert KafkaProducer.DEFAULT_CONFIG["batch_size"] == ProducerOptions().batch_size
    assert "group_id" not in KafkaProducer.DEFAULT_CONFIG


def test_options_in_effect_say_whether_batches_are_numbered() -> None:
    def numbered(**options: Any) -> object:
        with KafkaProducer(api_version=(2, 5), bootstrap_servers="127.0.0.1:9", **options) as producer:
            return producer.config["enable_idempotence"]

    assert numbered() is True
    assert numbered(acks=1) is False
    assert numbered(retries=0) is False
    assert numbered(enable_idempotence=False) is False


async def test_metadata_passed_to_callbacks_is_not_tracked_by_the_garbage_collector() -> None:
    if _variant.variant() == "plain":
        pytest.skip("the plain variant makes tuples as Python does")
    taken: list[RecordMetadata] = []
    future = (await _delivered()).add_callback(taken.append)
    assert taken == [future.value]
    assert taken[0] == RecordMetadata("t", 0, TopicPartition("t", 0), 7, 1234, None, 1, 5, -1)
    assert not gc.is_tracked(taken[0])


async def test_equal_metadata_hash_alike() -> None:
    given = [(await _delivered()).value for _ in range(300)]
    assert all(each.__class__ is RecordMetadata and isinstance(each, tuple) for each in given)
    assert set(given) == {RecordMetadata("t", 0, TopicPartition("t", 0), 7, 1234, None, 1, 5, -1)}


async def test_a_future_knows_its_partition_before_it_is_done_as_tracing_packages_expect() -> None:
    future = _sent(_buffer())
    assert not future.is_done
    assert future._produce_future.topic_partition == TopicPartition("t", 0)


async def test_waiting_callbacks_are_not_tracked_by_the_garbage_collector() -> None:
    if _variant.variant() == "plain":
        pytest.skip("plain Python cannot take objects from the collector")
    taken: list[int] = []
    buffer = _buffer()
    futures = [_sent(buffer).add_callback(lambda metadata: taken.append(metadata.offset)) for _ in range(50)]
    batch, _ = futures[0].place()
    assert not gc.is_tracked(batch.callbacks.functions)
    gc.collect()
    batch.succeed(7, -1)
    assert taken == list(range(7, 57))
    assert batch.callbacks is None


async def test_a_method_added_repeatedly_is_stored_once_and_called_each_time() -> None:
    class Counter:
        def __init__(self) -> None:
            self.offsets: list[int] = []

        def add(self, metadata: RecordMetadata) -> None:
            self.offsets.append(metadata.offset)

    first, second, outcomes = Counter(), Counter(), list[object]()
    buffer = _buffer()
    futures = [_sent(buffer) for _ in range(3)]
    for future in futures:
        method = first.add
        again = weakref.ref(method)
        future.add_callback(method)
    del method
    assert again() is None
    futures[0].add_callback(second.add)
    futures[1].add_both(outcomes.append).add_errback(outcomes.append).add_both(outcomes.append)
    batch, _ = futures[0].place()
    batch.succeed(7, -1)
    assert first.offsets == [7, 8, 9]
    assert second.offsets == [7]
    assert outcomes == [futures[1].value] * 2


async def test_callbacks_follow_their_records_into_the_parts_of_a_batch() -> None:
    buffer = _buffer()
    futures = [
        buffer.append(PreparedRecord("t", 0, 1000 + n, b"k" * n, None if n == 2 else b"v", None, n, 100))
        for n in range(4)
    ]
    seen: list[tuple[str, object]] = []
    for name in ("a", "b"):
        for future in futures:
            future.add_callback(lambda told, name: seen.append((name, told)), name=name)
    futures[3].add_both(lambda told: seen.append(("both", told))).add_errback(lambda told: seen.append(("error", told)))
    batch, _ = futures[0].place()
    parts = [ProducerBatch.encoded(buffer, batch.topic_partition, 0.0, b"", records, 0) for records in (1, 2, 1)]
    batch.split_into(parts)
    futures[1].add_callback(lambda told: seen.append(("late", told)))
    parts[1].succeed(40, -1)
    later = [
        RecordMetadata("t", 0, TopicPartition("t", 0), 39 + n, 1000 + n, None, n, (-1, 1)[n < 2], n) for n in (1, 2)
    ]
    assert seen == [("a", later[0]), ("a", later[1]), ("b", later[0]), ("b", later[1]), ("late", later[0])]
    seen.clear()
    parts[0].succeed(7, 5)
    assert seen == [(name, RecordMetadata("t", 0, TopicPartition("t", 0), 7, 5, None, 0, 1, 0)) for name in "ab"]
    seen.clear()
    lost = MessageSizeTooLargeError("too large")
    parts[2].fail(lost)
    assert seen == [("both", lost), ("error", lost)]


async def _delivered() -> FutureRecordMetadata:
    """The future of a record that is in the log."""
    future = _sent(_buffer())
    batch, _ = future.place()
    batch.succeed(7, -1)
    return future


def _buffer() -> RecordBuffer:
    buffer = RecordBuffer(BufferOptions(1000, 10_000), asyncio.get_running_loop(), random.Random(1), lambda run: run())
    buffer.learn_topic("t", 1, [0])
    return buffer


def _sent(buffer: RecordBuffer) -> FutureRecordMetadata:
    return buffer.append(PreparedRecord("t", 0, 1234, b"k", b"value", None, -1, 100))


def test_a_topic_may_be_a_member_of_an_enum() -> None:
    class Topic(enum.StrEnum):
        KNOWN = "t"

    sent: list[Any] = []
    sender = RecordSender.__new__(RecordSender)

    async def check(producer: FakeProducer) -> None:
        sent.append(
            (await producer.send(b"x", topic=Topic.KNOWN, headers=[("a", b"")])).place()[0].topic_partition.topic
        )
        sender._appender = producer.core.appender
        sent.append(sender.send(Topic.KNOWN, b"x").place()[0].topic_partition.topic)

    sending()(check)
    assert [(topic, type(topic)) for topic in sent] == [("t", str), ("t", str)]
