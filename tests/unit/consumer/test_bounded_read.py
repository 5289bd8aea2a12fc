"""Bounded reads give exactly what the topics held at the call, on both faces."""

from __future__ import annotations

import datetime
import gc
import inspect
import json
import re
import sys
import uuid
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

import kafka
from harness.topics import create_topic
from kafka import KafkaAdminClient, KafkaProducer, TopicPartition
from kafka.broker import EmbeddedBroker
from kafka.consumer.bounds import READ_ARGUMENTS, Time, parse_bound
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


@pytest.fixture
def admin(broker: EmbeddedBroker) -> Iterator[KafkaAdminClient]:
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers, retry_backoff_ms=1) as admin:
        yield admin


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


async def test_exactly_the_records_present_at_the_call_are_read(reader: Reader, producer: KafkaProducer) -> None:
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
    with pytest.raises(IllegalArgumentError, match=r"start contains .* not among the partitions"):
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


async def test_progress_is_reported_up_to_all_offsets(reader: Reader, capsys: pytest.CaptureFixture[str]) -> None:
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
        with pytest.raises(IllegalStateError, match="already being iterated over"):
            next(iter(read))
        one.close()
        assert len(list(read)) == 20
    else:
        other = read.__aiter__()
        await anext(other)
        with pytest.raises(IllegalStateError, match="already being iterated over"):
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


def test_an_unreferenced_read_is_read_to_its_end(broker: EmbeddedBroker, producer: KafkaProducer) -> None:
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


async def test_records_deleted_after_the_call_are_reported(reader: Reader, admin: KafkaAdminClient) -> None:
    read = await reader.open()
    admin.delete_records({TopicPartition(reader.topic, 1): 4})
    text = rf"offsets 0 to 3 of {reader.topic}-1 no longer exist: deleted .*; on_missing='skip' reads"
    with pytest.raises(OffsetOutOfRangeError, match=text):
        await reader.records(read)
    assert read.missing == {}
    assert (await reader.all())[1] == [4, 5, 6, 7, 8, 9]


async def outputs(reader: Reader, read: Any) -> dict[str, list[tuple[int, int]]]:
    """Partition and offset of all that each way to read gives."""

    async def all_of(found: Any) -> list[Any]:
        return list(found) if reader.kind == "sync" else [each async for each in found]

    def pairs(table: Any) -> list[tuple[int, int]]:
        return sorted(zip(table["partition"].to_pylist(), table["offset"].to_pylist(), strict=True))

    pandas, polars = await reader.done(read.to_pandas()), await reader.done(read.to_polars())
    return {
        "records": sorted((each.partition, each.offset) for each in await reader.records(read)),
        "columns": sorted((each.partition, offset) for each in await all_of(read.columns()) for offset in each.offsets),
        "batches": sorted(pair for each in await all_of(read.batches()) for pair in pairs(each)),
        "arrow": pairs(await reader.done(read.to_arrow())),
        "pandas": sorted(zip(pandas["partition"], pandas["offset"], strict=True)),
        "polars": sorted(polars.select("partition", "offset").rows()),
    }


async def test_remaining_records_are_read_and_missing_ones_counted(
    reader: Reader, admin: KafkaAdminClient, caplog: pytest.LogCaptureFixture
) -> None:
    first, second = TopicPartition(reader.topic, 0), TopicPartition(reader.topic, 1)
    told: list[tuple[int, int]] = []
    read = await reader.open(on_missing="skip", progress=lambda done, total: told.append((done, total)))
    admin.delete_records({first: 10, second: 4})
    there = [(1, offset) for offset in range(4, 10)]
    assert await outputs(reader, read) == dict.fromkeys(
        ("records", "columns", "batches", "arrow", "pandas", "polars"), there
    )
    assert read.missing == {first: 10, second: 4}, "of one iteration, not of all"
    assert repr(read) == f"{type(read).__name__}(2 partitions, 20 offsets, 14 of them missing)"
    assert told[-1] == (20, 20)
    assert f"0 to 3 of {reader.topic}-1 no longer exist: deleted" in caplog.text


async def test_records_that_are_deleted_in_the_middle_are_left_out(
    reader: Reader, admin: KafkaAdminClient, producer: KafkaProducer
) -> None:
    tp = TopicPartition(f"m-{uuid.uuid4()}", 0)
    for number in range(10):  # each in a batch of its own, or one fetch would have them all
        producer.send(tp.topic, b"%d" % number, partition=0).get(30)
    read = await reader.open(tp, on_missing="skip", max_partition_fetch_bytes=1)
    seen = []

    def one(record: Any) -> None:
        if not seen:
            admin.delete_records({tp: 8})
        seen.append(record.offset)

    if reader.kind == "sync":
        for record in read:
            one(record)
    else:
        async for record in read:
            one(record)
    fetched_before = len(seen) - 2
    assert seen == [*range(fetched_before), 8, 9]
    assert 1 <= fetched_before < 8
    assert read.missing == {tp: 8 - fetched_before}


@pytest.mark.slow
@pytest.mark.parametrize("partitions", [0, 1, 2, 3], ids=["gone", "fewer", "as many", "more"])
@pytest.mark.parametrize("skips", [True, False])
async def test_a_topic_that_is_deleted_is_missing_and_another_of_its_name_is_not_read(
    reader: Reader,
    admin: KafkaAdminClient,
    producer: KafkaProducer,
    caplog: pytest.LogCaptureFixture,
    partitions: int,
    skips: bool,
) -> None:
    other = f"o-{uuid.uuid4()}"
    admin.create_topics({other: {"num_partitions": 1}}, wait_for_metadata=True)
    producer.send(other, b"kept", partition=0).get(30)
    read = await reader.open([reader.topic, other], **({"on_missing": "skip"} if skips else {}))
    admin.delete_topics([reader.topic])
    if partitions:
        admin.create_topics({reader.topic: {"num_partitions": partitions}}, wait_for_metadata=True)
        for number in range(20 * partitions):
            producer.send(reader.topic, b"new %d" % number, partition=number % partitions)
        producer.flush()
    if skips:
        assert [(each.topic, each.value) for each in await reader.records(read)] == [(other, b"kept")]
        assert read.missing == {TopicPartition(reader.topic, number): 10 for number in (0, 1)}
    else:
        with pytest.raises(OffsetOutOfRangeError, match=r"offsets 0 to 9 of .*-0.*: their topic was deleted since"):
            await reader.records(read)
    assert (reader.topic in admin.list_topics()) is bool(partitions), "a read makes no topics"
    assert "reading continues" not in caplog.text, "it says itself what becomes of the topic"


async def test_a_log_that_was_cut_back_is_not_passed_over(reader: Reader, broker: EmbeddedBroker) -> None:
    read = await reader.open(on_missing="skip")
    failing = broker.faults.fail(OffsetOutOfRangeError, api="Fetch", topic=reader.topic)
    try:
        with pytest.raises(OffsetOutOfRangeError):
            await reader.records(read)
    finally:
        failing.remove()
    assert read.missing == {}


async def test_the_last_records_are_those_that_are_left(reader: Reader, admin: KafkaAdminClient) -> None:
    tp = TopicPartition(reader.topic, 0)
    read = await reader.open(tp, last=4, on_missing="skip")
    admin.delete_records({tp: 8})
    assert (offsets(await reader.records(read)), read.missing) == ({0: [8, 9]}, {tp: 2})


async def test_a_read_that_times_out_names_the_cause(reader: Reader, broker: EmbeddedBroker) -> None:
    read = await reader.open(timeout_ms=1_000)
    rule = broker.faults.hang_up(api="Fetch", topic=reader.topic)
    try:
        with pytest.raises(KafkaTimeoutError, match=r"no data arrived for 1000 ms .*; meanwhile .* failed: "):
            await reader.records(read)
    finally:
        rule.remove()


async def test_a_silent_leader_ends_a_read(reader: Reader, broker: EmbeddedBroker) -> None:
    read = await reader.open(timeout_ms=100)
    silent = broker.faults.drop_answers(api="Fetch", topic=reader.topic)
    try:
        with pytest.raises(
            KafkaTimeoutError, match=rf"no data arrived for 100 ms from {reader.topic}-0 at offset 0 of 10"
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
        ({"topics": [5]}, TypeError, "expected a TopicPartition"),
        ({"start": "begin"}, IllegalArgumentError, "'latest', an offset, a datetime or a timedelta before now as"),
        ({"end": -1}, IllegalArgumentError, "expected an offset of 0 or more as end, got -1; last=N"),
        ({"start": 1.5}, TypeError, "expected an offset, a datetime"),
        ({"start": True}, TypeError, "expected an offset, a datetime"),
        ({"start": datetime.datetime(1960, 1, 1, tzinfo=datetime.UTC)}, IllegalArgumentError, "a time since 1970"),
        ({"start": datetime.datetime.min}, IllegalArgumentError, "a time since 1970"),
        ({"start": datetime.timedelta(days=99_999)}, IllegalArgumentError, "a time since 1970"),
        ({"last": 0}, IllegalArgumentError, "a number of records from 1 on"),
        ({"last": True}, IllegalArgumentError, "a number of records from 1 on"),
        ({"begin": 10}, KafkaConfigurationError, "option 'begin' is unknown; start= says where to begin"),
        ({"limit": 10}, KafkaConfigurationError, "option 'limit' is unknown; last=N gives"),
        ({"strat": 3}, KafkaConfigurationError, "'strat' is neither an argument .*; did you mean 'start'"),
        ({"timeout": 3}, KafkaConfigurationError, "did you mean 'timeout_ms'"),
        ({"bootstrap_server": "h"}, KafkaConfigurationError, "did you mean 'bootstrap_servers'"),
        ({"group_id": "g"}, IllegalArgumentError, "leave out group_id"),
        ({"timeout_ms": -1}, IllegalArgumentError, "timeout"),
        ({"on_missing": "ignore"}, IllegalArgumentError, "expected 'raise' or 'skip' as on_missing, got 'ignore'"),
    ],
)
async def test_unreadable_records_are_reported(
    reader: Reader, arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        await reader.open(**arguments)


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ("2h", r"; write datetime.timedelta\(hours=2\) for that time before now"),
        ("15 min", r"; write datetime.timedelta\(minutes=15\) for"),
        ("2026-11-01T12:00", r"; write datetime.datetime.fromisoformat\('2026-11-01T12:00'\) for a time"),
        ("17", "; write 17 without quotation marks for an offset"),
        ("beginning", "; did you mean 'earliest'"),
        ("begin", "; did you mean 'earliest'"),
        ("newest", "; did you mean 'latest'"),
        ("lates", "; did you mean 'latest'"),
        ("whenever", "got 'whenever'$"),
    ],
)
def test_a_text_that_is_not_a_bound_gets_a_hint(given: str, hint: str) -> None:
    with pytest.raises(IllegalArgumentError, match=hint):
        parse_bound("start", given, 100_000)


def test_the_names_for_hints_are_those_of_the_arguments() -> None:
    arguments = inspect.signature(kafka.read).parameters
    assert set(arguments) - {"topics", "configs"} == set(READ_ARGUMENTS)


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


async def test_a_progress_bar_without_rich_raises_with_install_instructions(
    reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "rich.progress", None)
    with pytest.raises(ImportError, match=r"a progress bar needs rich .*: pip install rich$"):
        await reader.records(await reader.open(progress=True))


async def test_a_misspelt_topic_raises_with_the_nearest_name(reader: Reader) -> None:
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
