"""Bounded reads give exactly what the topics held at the call, on both faces."""

from __future__ import annotations

import datetime
import gc
import inspect
import json
import re
import sys
import uuid
from collections.abc import Iterable
from typing import Any

import pytest

import kafka
from harness.topics import create_topic
from kafka import KafkaProducer, TopicPartition
from kafka.broker import EmbeddedBroker
from kafka.consumer.bounded.bounds import Time, parse_bound
from kafka.errors import (
    IllegalArgumentError,
    IllegalStateError,
    KafkaConfigurationError,
    KafkaTimeoutError,
    OffsetOutOfRangeError,
    RecordDeserializationError,
    UnknownTopicOrPartitionError,
)

EPOCH_MS = 1_700_000_000_000


class Reader:
    """Calls `kafka.read` or `kafka.read_async`."""

    def __init__(self, kind: str, broker: EmbeddedBroker, topic: str) -> None:
        self.kind, self.topic = kind, topic
        self._options = {"bootstrap_servers": broker.bootstrap_servers, "retry_backoff_ms": 1}

    async def open(self, topics: Any = None, **arguments: Any) -> Any:
        call: Any = kafka.read if self.kind == "sync" else kafka.read_async
        found = call(self.topic if topics is None else topics, **{**self._options, **arguments})
        return await found if inspect.iscoroutine(found) else found

    async def all(self, topics: Any = None, **arguments: Any) -> dict[int, list[int]]:
        """The offsets that a read gives, by partition."""
        return offsets(await self.records(await self.open(topics, **arguments)))

    async def records(self, read: Any) -> list[Any]:
        return list(read) if self.kind == "sync" else [record async for record in read]

    async def read_and_close(self, read: Any) -> None:
        """Close a read at each of its records, and go on."""
        if self.kind == "sync":
            for _ in read:
                read.close()
        else:
            async for _ in read:
                await read.close()

    async def done(self, value: Any) -> Any:
        return await value if inspect.iscoroutine(value) else value


def offsets(records: Iterable[Any]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for record in records:
        found.setdefault(record.partition, []).append(record.offset)
    return found


@pytest.fixture(params=["sync", "asyncio"])
def reader(request: pytest.FixtureRequest, broker: EmbeddedBroker, producer: KafkaProducer) -> Reader:
    """A topic of two partitions with ten records each, whose times are a second apart."""
    topic = f"r-{uuid.uuid4()}"
    create_topic(broker.bootstrap_servers, topic, 2, {"retention.ms": "-1"})
    for number in range(20):
        producer.send(topic, b"%d" % number, partition=number % 2, timestamp_ms=EPOCH_MS + 1_000 * (number // 2))
    producer.flush()
    return Reader(request.param, broker, topic)


async def test_what_is_there_at_the_call_is_read_and_nothing_that_comes_later(
    reader: Reader, producer: KafkaProducer
) -> None:
    read = await reader.open()
    for partition in (0, 1):
        producer.send(reader.topic, b"later", partition=partition)
    producer.flush()
    assert read.ranges == {TopicPartition(reader.topic, number): (0, 10) for number in (0, 1)}
    assert repr(read) == f"{type(read).__name__}(2 partitions, 20 offsets)"
    whole = {0: list(range(10)), 1: list(range(10))}
    assert offsets(await reader.records(read)) == whole
    assert offsets(await reader.records(read)) == whole, "it can be read again"


async def test_a_topic_without_records_ends_at_once(reader: Reader, broker: EmbeddedBroker) -> None:
    empty = f"e-{uuid.uuid4()}"
    create_topic(broker.bootstrap_servers, empty, 3)
    read = await reader.open(empty)
    assert await reader.records(read) == []
    table = await reader.done(read.to_arrow())
    assert table.num_rows == 0
    assert table.column_names == (await reader.done((await reader.open()).to_arrow())).column_names


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ({"start": 3, "end": 6}, range(3, 6)),
        ({"start": 3}, range(3, 10)),
        ({"end": 4}, range(4)),
        ({"start": 8, "end": 99}, range(8, 10)),
        ({"start": 50}, range(0)),
        ({"start": 6, "end": 3}, range(0)),
        ({"start": "latest"}, range(0)),
        ({"last": 4}, range(6, 10)),
        ({"last": 100}, range(10)),
        ({"last": 2, "end": 5}, range(3, 5)),
        ({"last": 4, "start": 8}, range(8, 10)),
        ({"start": datetime.datetime.fromtimestamp(EPOCH_MS / 1000 + 4, datetime.UTC)}, range(4, 10)),
        ({"start": datetime.datetime.fromtimestamp(EPOCH_MS / 1000 + 4)}, range(4, 10)),
        ({"end": datetime.datetime.fromtimestamp(EPOCH_MS / 1000 + 4.5, datetime.UTC)}, range(5)),
        ({"start": datetime.timedelta(days=1)}, range(0)),
        ({"end": datetime.timedelta(days=1)}, range(10)),
    ],
)
async def test_a_read_keeps_within_its_bounds(reader: Reader, bounds: dict[str, Any], expected: range) -> None:
    assert await reader.all(**bounds) == ({0: list(expected), 1: list(expected)} if expected else {})


async def test_partitions_can_have_bounds_of_their_own(reader: Reader) -> None:
    first, second = TopicPartition(reader.topic, 0), TopicPartition(reader.topic, 1)
    assert await reader.all(start={first: 7}, end={second: 2}) == {0: [7, 8, 9], 1: [0, 1]}
    assert await reader.all(second) == {1: list(range(10))}
    assert await reader.all([first, reader.topic, first], last=1) == {0: [9], 1: [9]}
    with pytest.raises(IllegalArgumentError, match=r"start has .* not among the partitions"):
        await reader.open(second, start={first: 7})


async def test_it_is_had_as_arrow_pandas_and_polars(reader: Reader) -> None:
    read = await reader.open(last=3)
    table = await reader.done(read.to_arrow())
    assert sorted(table.column("offset").to_pylist()) == [7, 7, 8, 8, 9, 9]
    frame = await reader.done(read.to_pandas())
    assert sorted(frame["value"]) == sorted(b"%d" % number for number in range(14, 20))
    polars = await reader.done(read.to_polars())
    assert polars.shape == (6, table.num_columns)
    batches = list(read.batches()) if reader.kind == "sync" else [each async for each in read.batches()]
    assert sum(batch.num_rows for batch in batches) == 6


async def test_progress_is_told_up_to_all_offsets(reader: Reader, capsys: pytest.CaptureFixture[str]) -> None:
    told: list[tuple[int, int]] = []
    await reader.all(end=5, progress=lambda done, total: told.append((done, total)))
    assert told == sorted(told)
    assert told[-1] == (10, 10)
    await reader.all(progress=True)
    assert "20/20" in capsys.readouterr().out
    with pytest.raises(TypeError, match="expected progress to be True, False or a function"):
        await reader.open(progress="yes")


async def test_two_reads_at_a_time_are_refused(reader: Reader) -> None:
    read = await reader.open()
    if reader.kind == "sync":
        one = iter(read)
        next(one)
        with pytest.raises(IllegalStateError, match="being read already"):
            next(iter(read))
        one.close()
        assert len(list(read)) == 20
    else:
        other = read.__aiter__()
        await anext(other)
        with pytest.raises(IllegalStateError, match="being read already"):
            await anext(read.__aiter__())
        await other.aclose()
        assert len([record async for record in read]) == 20


async def test_a_read_that_is_closed_can_be_left(reader: Reader) -> None:
    read = await reader.open()
    if reader.kind == "sync":
        with read as same:
            assert same is read
    else:
        async with read as same:
            assert same is read
    assert offsets(await reader.records(read))[0] == list(range(10)), "a closed one opens a consumer again"


async def test_a_read_that_is_closed_under_way_fails(reader: Reader) -> None:
    read = await reader.open()
    with pytest.raises(IllegalStateError, match="closed"):
        await reader.read_and_close(read)
    assert len(await reader.records(read)) == 20


async def test_the_last_of_fewer_records_are_not_counted(reader: Reader, broker: EmbeddedBroker) -> None:
    silent = broker.faults.drop_answers(api="Fetch", topic=reader.topic)
    try:
        read = await reader.open(last=10, timeout_ms=100)
    finally:
        silent.remove()
    assert read.ranges == {TopicPartition(reader.topic, number): (0, 10) for number in (0, 1)}
    await reader.done(read.close())


def test_a_read_that_nobody_keeps_is_read_to_its_end(broker: EmbeddedBroker, producer: KafkaProducer) -> None:
    topic = f"g-{uuid.uuid4()}"
    producer.send(topic, b"1").get(10)
    seen = []
    for record in kafka.read(topic, bootstrap_servers=broker.bootstrap_servers):
        gc.collect()
        seen.append(record.value)
    assert seen == [b"1"]


@pytest.mark.parametrize("isolation", ["read_uncommitted", "read_committed"])
async def test_markers_and_aborted_records_leave_no_hole_to_wait_in(
    reader: Reader, broker: EmbeddedBroker, isolation: str
) -> None:
    topic = f"x-{uuid.uuid4()}"
    create_topic(broker.bootstrap_servers, topic, 1)
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers, transactional_id=topic) as producer:
        producer.init_transactions()
        for number in range(6):
            producer.begin_transaction()
            producer.send(topic, b"%d" % number, partition=0)
            producer.flush()  # so that there is something to abort
            if number % 2:
                producer.abort_transaction()
            else:
                producer.commit_transaction()
    committed = isolation == "read_committed"
    there = [0, 4, 8] if committed else [0, 2, 4, 6, 8, 10]
    read = await reader.open(topic, isolation_level=isolation)
    assert read.ranges == {TopicPartition(topic, 0): (0, 12)}
    assert offsets(await reader.records(read)) == {0: there}
    assert await reader.all(topic, isolation_level=isolation, last=2) == {0: there[-2:]}
    assert await reader.all(topic, isolation_level=isolation, last=9) == {0: there}


async def test_what_is_deleted_after_the_call_is_told(reader: Reader) -> None:
    read = await reader.open()
    admin = kafka.KafkaAdminClient(bootstrap_servers=reader._options["bootstrap_servers"])
    admin.delete_records({TopicPartition(reader.topic, 1): 4})
    admin.close()
    with pytest.raises(
        OffsetOutOfRangeError, match=rf"offsets 0 to 3 of {reader.topic}-1 were to be read and are gone"
    ):
        await reader.records(read)
    assert (await reader.all())[1] == [4, 5, 6, 7, 8, 9]


async def test_a_silent_leader_ends_a_read(reader: Reader, broker: EmbeddedBroker) -> None:
    read = await reader.open(timeout_ms=100)
    silent = broker.faults.drop_answers(api="Fetch", topic=reader.topic)
    try:
        with pytest.raises(
            KafkaTimeoutError, match=rf"nothing came for 100 ms from {reader.topic}-0 at offset 0 of 10"
        ):
            await reader.records(read)
    finally:
        silent.remove()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"topics": "nope"}, UnknownTopicOrPartitionError, "there is no topic 'nope'"),
        ({"topics": []}, IllegalArgumentError, "at least one topic"),
        ({"topics": 5}, TypeError, "expected topics"),
        ({"topics": [5]}, TypeError, "a partition is a TopicPartition"),
        ({"start": "begin"}, IllegalArgumentError, "'latest', an offset, a datetime or a timedelta before now as"),
        ({"end": -1}, IllegalArgumentError, "expected an offset of 0 or more as end, got -1; last=N"),
        ({"start": 1.5}, TypeError, "expected an offset, a datetime"),
        ({"start": True}, TypeError, "expected an offset, a datetime"),
        ({"start": datetime.datetime(1960, 1, 1, tzinfo=datetime.UTC)}, IllegalArgumentError, "a time since 1970"),
        ({"start": datetime.datetime.min}, IllegalArgumentError, "a time since 1970"),
        ({"start": datetime.timedelta(days=99_999)}, IllegalArgumentError, "a time since 1970"),
        ({"last": 0}, IllegalArgumentError, "a number of records from 1 on"),
        ({"last": True}, IllegalArgumentError, "a number of records from 1 on"),
        ({"limit": 10}, KafkaConfigurationError, "option 'limit' is unknown; last=N gives"),
        ({"group_id": "g"}, IllegalArgumentError, "leave out group_id"),
        ({"timeout_ms": -1}, IllegalArgumentError, "timeout"),
    ],
)
async def test_what_cannot_be_read_is_said(
    reader: Reader, arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        await reader.open(**arguments)


@pytest.mark.parametrize(("before_s", "timestamp_ms"), [(0, 100_000), (1.5, 98_500), (100, 0), (-7, 107_000)])
def test_a_timedelta_counts_back_from_now(before_s: float, timestamp_ms: int) -> None:
    assert parse_bound("start", datetime.timedelta(seconds=before_s), 100_000) == Time(timestamp_ms)


@pytest.mark.parametrize(
    ("missing", "calls", "install"),
    [
        ("pyarrow", ["to_arrow", "to_pandas", "to_polars", "batches"], "pip install 'kafka-columnar[arrow]'"),
        ("pandas", ["to_pandas"], "pip install pandas"),
        ("polars", ["to_polars"], "pip install polars"),
    ],
)
async def test_a_package_that_is_missing_is_named_before_anything_is_read(
    reader: Reader, monkeypatch: pytest.MonkeyPatch, missing: str, calls: list[str], install: str
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    told: list[int] = []
    read = await reader.open(progress=lambda done, total: told.append(done))

    async def ask(call: str) -> None:
        found = getattr(read, call)()
        if call == "batches":
            next(found) if reader.kind == "sync" else await anext(found)
        else:
            await reader.done(found)

    for call in calls:
        with pytest.raises(ImportError, match=re.escape(f"{call}() needs {missing} (")) as caught:
            await ask(call)
        assert str(caught.value).endswith(install)
    assert not told
    await reader.done(read.close())


async def test_a_bar_without_rich_says_what_to_install(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rich.progress", None)
    with pytest.raises(ImportError, match=r"a progress bar needs rich .*: pip install rich$"):
        await reader.records(await reader.open(progress=True))


async def test_a_topic_that_is_misspelt_is_told_with_the_nearest(reader: Reader) -> None:
    with pytest.raises(UnknownTopicOrPartitionError, match=f"to read; did you mean {reader.topic!r}"):
        await reader.open(f"{reader.topic}s")


async def test_a_partition_that_is_not_there_is_said(reader: Reader) -> None:
    with pytest.raises(UnknownTopicOrPartitionError, match=r"has the partitions 0, 1, but not 2"):
        await reader.open(TopicPartition(reader.topic, 2))


async def test_deserializers_and_their_policy_are_the_consumers(reader: Reader, producer: KafkaProducer) -> None:
    producer.send(reader.topic, b"{", partition=0)
    producer.send(reader.topic, b"7", partition=0)
    producer.flush()
    read = await reader.open(TopicPartition(reader.topic, 0), start=9, value_deserializer=json.loads)
    with pytest.raises(RecordDeserializationError) as caught:
        await reader.records(read)
    assert (caught.value.offset, caught.value.record.value) == (10, b"{")
    skipping = await reader.open(
        TopicPartition(reader.topic, 0),
        start=9,
        value_deserializer=json.loads,
        on_deserialization_error=lambda error: None,
    )
    assert [record.value for record in await reader.records(skipping)] == [18, 7]
