"""What is no argument for a consumer is refused where it is given, by an error that says what was expected."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from typing import Any

import numpy as np
import pytest

from harness.topics import create_topic
from kafka import KafkaConsumer, KafkaProducer, OffsetAndMetadata, TopicPartition
from kafka.broker import EmbeddedBroker
from kafka.consumer.arguments import check_offsets
from kafka.consumer.async_consumer import AsyncKafkaConsumer
from kafka.errors import ConsumerTimeout, IllegalArgumentError
from unit.consumer.faces import Face

TOPIC = "t"
TP = TopicPartition(TOPIC, 0)
NO_OFFSETS: list[Any] = [-1, 2**63, 2**80, 1.5, float("nan"), "1", None]
NO_TIMEOUTS: list[Any] = [-1, float("nan"), -0.5, "1", np.float64("nan"), np.int64(-1)]


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(tmp_path_factory.mktemp("broker")) as broker:
        create_topic(broker.bootstrap_servers, TOPIC, 1, {"retention.ms": "-1"})
        with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
            for number in range(5):
                producer.send(TOPIC, b"%d" % number)
        yield broker


@pytest.fixture(params=["sync", "asyncio"])
async def face(request: pytest.FixtureRequest, broker: EmbeddedBroker) -> AsyncIterator[Face]:
    servers = broker.bootstrap_servers
    face = Face(request.param, bootstrap_servers=servers, group_id=f"g-{request.param}", enable_auto_commit=False)
    await face.open()
    await face.assign([TP])
    yield face
    await face.close_all()


@pytest.mark.parametrize("offset", NO_OFFSETS)
async def test_an_offset_is_an_int64_from_0(face: Face, offset: Any) -> None:
    with pytest.raises(IllegalArgumentError, match="an offset must be a whole number"):
        await face.seek(TP, offset)
    with pytest.raises(ValueError, match="the offset to commit"):
        await face.commit({TP: OffsetAndMetadata(offset)})
    with pytest.raises(ValueError, match="the offset to commit"):
        await face.commit_async({TP: OffsetAndMetadata(offset)})
    await face.seek(TP, 2)
    assert [record.offset for record in await face.read(3)] == [2, 3, 4]


async def test_a_callback_of_a_commit_can_be_called(face: Face) -> None:
    with pytest.raises(TypeError, match="callback must be a callable or None, not 3"):
        await face.commit_async({TP: OffsetAndMetadata(1)}, callback=3)


@pytest.mark.parametrize(
    ("metadata", "error"), [(1, TypeError), (b"x", TypeError), ("\ud800", ValueError), ("x" * 40_000, ValueError)]
)
async def test_metadata_of_a_commit_are_text(face: Face, metadata: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="the metadata to commit"):
        await face.commit({TP: OffsetAndMetadata(1, metadata)})


@pytest.mark.parametrize("epoch", [-2, 2**31, 0.5, "1"])
async def test_a_leader_epoch_of_a_commit_is_an_int32(face: Face, epoch: Any) -> None:
    with pytest.raises(IllegalArgumentError, match="the leader epoch to commit"):
        await face.commit({TP: OffsetAndMetadata(1, "", epoch)})


@pytest.mark.parametrize("number", [np.int64, np.int32, np.uint8])
async def test_numbers_of_numpy_are_taken(face: Face, number: Any) -> None:
    await face.assign([TopicPartition(TOPIC, number(0))])
    await face.seek(TP, number(1))
    assert await face.position(TopicPartition(TOPIC, number(0))) == 1
    records: list[Any] = []
    while not records:
        records += await face.poll(number(100), max_records=number(2), update_offsets=np.bool_(True))
    assert [record.offset for record in records] == [1, 2]
    await face.commit({TopicPartition(TOPIC, number(0)): OffsetAndMetadata(number(3), "", number(0))})
    assert await face.committed(TP) == 3
    assert await face.end_offsets([TopicPartition(TOPIC, number(0))], timeout_ms=np.float32(30_000)) == {TP: 5}


async def test_plain_tuples_are_partitions(face: Face) -> None:
    plain: Any = (TOPIC, 0)
    await face.assign([plain])
    await face.pause(plain)
    await face.resume(plain)
    await face.seek(plain, 4)
    assert await face.position(plain) == 4
    assert await face.beginning_offsets([plain]) == {TP: 0}
    assert await face.end_offsets([plain]) == {TP: 5}
    assert set(await face.offsets_for_times({plain: 0})) == {TP}
    assert all(type(tp) is TopicPartition for tp in await face.end_offsets([plain]))
    await face.commit({plain: OffsetAndMetadata(1)})
    assert await face.committed(plain) == 1


NO_PARTITION: list[Any] = [TOPIC, None, 0, (TOPIC,), (0, TOPIC), (TOPIC, "0"), [TOPIC, 0], [TP], (b"t", 0)]


@pytest.mark.parametrize("given", NO_PARTITION)
async def test_invalid_partitions_are_refused(face: Face, given: Any) -> None:
    if given != [TP]:
        with pytest.raises(TypeError, match="partition"):
            await face.committed(given)
    for call in (face.position, face.pause, face.resume, face.highwater, face.seek_to_end):
        with pytest.raises(TypeError, match="partition"):
            await call(given)
    with pytest.raises(TypeError, match="partition"):
        await face.seek(given, 0)
    for call in (face.assign, face.beginning_offsets, face.end_offsets):
        with pytest.raises(TypeError, match="partition"):
            await call([given])
    assert await face.assignment() == {TP}


async def test_one_partition_is_not_several(face: Face) -> None:
    for call in (face.assign, face.beginning_offsets, face.end_offsets):
        with pytest.raises(TypeError, match="put it into a list"):
            await call(TP)
        for given in (5, TOPIC, None, (TOPIC, 0)):
            with pytest.raises(TypeError, match="partition"):
                await call(given)
    for times in (TP, [TP], None):
        with pytest.raises(TypeError, match="times to look up must be a dict"):
            await face.offsets_for_times(times)


@pytest.mark.parametrize("number", [-1, 2**31, 2**80])
async def test_numbers_that_no_partition_has_are_refused(face: Face, number: int) -> None:
    tp = TopicPartition(TOPIC, number)
    for call in (face.assign, face.end_offsets):
        with pytest.raises(IllegalArgumentError, match="a partition number must be from 0"):
            await call([tp])
    assert await face.assignment() == {TP}


@pytest.mark.parametrize("timestamp", [-1, float("nan"), float("inf"), 2**63, "soon", None])
async def test_times_that_cannot_be_are_refused(face: Face, timestamp: Any) -> None:
    with pytest.raises(IllegalArgumentError, match="the time to look up"):
        await face.offsets_for_times({TP: timestamp})


@pytest.mark.parametrize("timeout", NO_TIMEOUTS)
async def test_a_timeout_is_a_number_from_0(face: Face, timeout: Any) -> None:
    refused = pytest.raises(IllegalArgumentError, match="a timeout must be")
    for call in (face.poll, face.poll_columns, face.poll_arrow):
        with refused:
            await call(timeout)
    for call in (face.close, face.commit, face.getmany):
        with refused:
            await call(timeout_ms=timeout)
    for call in (face.position, face.committed):
        with refused:
            await call(TP, timeout_ms=timeout)
    for call in (face.beginning_offsets, face.end_offsets):
        with refused:
            await call([TP], timeout_ms=timeout)
    future = await face.commit_async({TP: OffsetAndMetadata(1)})
    with refused:
        future.get(timeout)
    assert await face.settled(future) is None


@pytest.mark.parametrize("most", [0, -1, 1.5, "1", float("nan")])
async def test_max_records_must_be_a_positive_integer(face: Face, most: Any) -> None:
    for call in (face.poll, face.poll_columns, face.poll_arrow):
        with pytest.raises(IllegalArgumentError, match="max_records"):
            await call(0, max_records=most)


@pytest.mark.parametrize("pattern", ["(", "[", "*", "x{99999999999999999999}"])
async def test_a_pattern_that_cannot_be_compiled_says_why(face: Face, pattern: str) -> None:
    await face.unsubscribe()
    with pytest.raises(ValueError, match=re.escape(repr(pattern))) as refused:
        await face.subscribe(pattern=pattern)
    assert isinstance(refused.value.__cause__, re.error | OverflowError)
    assert await face.subscription() is None


@pytest.mark.parametrize("pattern", [5, b"t", re.compile(b"t")])
async def test_a_pattern_is_text(face: Face, pattern: Any) -> None:
    await face.unsubscribe()
    with pytest.raises(TypeError, match="pattern of topic names"):
        await face.subscribe(pattern=pattern)


@pytest.mark.parametrize("topics", [5, b"t", [None]])
async def test_topics_are_names(face: Face, topics: Any) -> None:
    await face.unsubscribe()
    with pytest.raises(TypeError, match="topic"):
        await face.subscribe(topics)


@pytest.mark.parametrize("make", [KafkaConsumer, AsyncKafkaConsumer])
@pytest.mark.parametrize("option", ["client_id", "group_id", "client_rack"])
def test_text_that_cannot_be_sent_is_refused_at_construction(make: Any, option: str) -> None:
    with pytest.raises(ValueError, match=option):
        make(**{option: "\ud800"})


@pytest.mark.parametrize("offsets", [{TP: 5}, {TP: None}, {TOPIC: OffsetAndMetadata(5)}, {None: 5}, [TP], None])
def test_offsets_to_commit_are_a_dict_of_partitions_to_offsets(offsets: Any) -> None:
    with pytest.raises(IllegalArgumentError, match="offsets to commit must be a dict of TopicPartition"):
        check_offsets(offsets)


def test_next_ends_as_each_generation_ended_it(broker: EmbeddedBroker) -> None:
    with KafkaConsumer(TOPIC, bootstrap_servers=broker.bootstrap_servers, consumer_timeout_ms=1) as consumer:
        for kind in (StopIteration, ConsumerTimeout):
            with pytest.raises(kind, match="consumer_timeout_ms"):
                consumer.next()
        with pytest.raises(AssertionError, match="group_id"):
            consumer.commit()


def test_a_record_that_kafka_python_asserts_not_to_be_is_an_assertion_error(broker: EmbeddedBroker) -> None:
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for record in ({}, {"value": b"v", "partition": 17}):
            with pytest.raises(AssertionError, match=r"key or value|partition is 17"):
                producer.send(TOPIC, **record)
