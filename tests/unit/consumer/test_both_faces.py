"""Reading goes alike on `KafkaConsumer` and `AsyncKafkaConsumer`, on the embedded broker."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from kafka import KafkaProducer, TopicPartition
from kafka.broker import EmbeddedBroker
from kafka.config import parse_consumer
from kafka.errors import (
    IllegalArgumentError,
    IllegalStateError,
    KafkaTimeoutError,
    UnknownTopicOrPartitionError,
    WakeupError,
)
from unit.consumer.consumer_setup import ConsumerSetup, committed
from unit.consumer.faces import PATIENCE_S


async def test_records_come_once_and_in_order_and_positions_move_with_them(setup: ConsumerSetup) -> None:
    consumer = await setup.face.open(max_poll_records=7)
    await consumer.assign([setup.first, setup.second])
    records = await consumer.read(20)
    for tp in (setup.first, setup.second):
        assert [record.offset for record in records if record.partition == tp.partition] == list(range(10))
        assert await consumer.position(tp) == 10
        assert await consumer.highwater(tp) == 10
    assert [record.value for record in records if record.partition == 1] == [b"%d" % n for n in range(1, 20, 2)]
    assert await consumer.poll(0) == {}


async def test_the_lag_is_as_of_the_last_fetch(setup: ConsumerSetup) -> None:
    consumer = await setup.face.open()
    await consumer.assign([setup.first])
    assert await consumer.current_lag(setup.first) in (None, 10), "whether something is fetched is up to the loop"
    assert len(await consumer.poll(30_000, max_records=3)) == 3
    assert await consumer.current_lag(setup.first) == 7
    await consumer.seek(setup.first, 2)
    assert await consumer.current_lag(setup.first) == 8
    await consumer.seek_to_end(setup.first)
    assert await consumer.current_lag(setup.first) in (None, 0), "whether the position is known is up to the loop"
    assert await consumer.position(setup.first) == 10
    assert await consumer.current_lag(setup.first) == 0
    with pytest.raises(IllegalStateError, match="assign"):
        await consumer.current_lag(setup.second)


@pytest.mark.parametrize(("isolation_level", "lag"), [("read_committed", 3), ("read_uncommitted", 5)])
async def test_open_transactions_do_not_count_as_lag_with_read_committed(
    setup: ConsumerSetup, broker: EmbeddedBroker, isolation_level: str, lag: int
) -> None:
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers, transactional_id=setup.topic) as producer:
        producer.init_transactions()
        producer.begin_transaction()
        for _ in range(2):
            producer.send(setup.topic, b"open", partition=0).get(30)
        consumer = await setup.face.open(isolation_level=isolation_level)
        await consumer.assign([setup.first])
        await consumer.read_up_to(7)
        assert await consumer.current_lag(setup.first) == lag
        assert (await consumer.health()).lag == {setup.first: lag}
        metrics = await consumer.metrics(raw=True)
        assert [metric.value() for name, metric in metrics.items() if name.name == "records-lag"] == [lag]
        assert min(metric.value() for name, metric in metrics.items() if name.name == "records-lag-avg") >= lag
        assert max(metric.value() for name, metric in metrics.items() if name.name == "records-lag-max") < lag + 7
        producer.abort_transaction()


@pytest.mark.parametrize("call", ["poll", "getmany", "poll_columns", "poll_arrow"])
async def test_so_many_records_of_each_partition_come_at_a_time(setup: ConsumerSetup, call: str) -> None:
    consumer = await setup.face.open(enable_auto_commit=False)
    await consumer.assign([setup.first, setup.second])
    came: dict[int, list[int]] = {0: [], 1: []}
    while sum(map(len, came.values())) < 20:
        found = await getattr(consumer, call)(timeout_ms=30_000, max_records_per_partition=3)
        if call == "poll_arrow":
            pairs = list(zip(found["partition"].to_pylist(), found["offset"].to_pylist(), strict=True))
        elif call == "poll_columns":
            pairs = [(tp.partition, offset) for tp, each in found.items() for offset in each.offsets]
        else:
            pairs = [(record.partition, record.offset) for record in found]
        for number, offset in pairs:
            came[number].append(offset)
        assert max(sum(number == other for other, _ in pairs) for number in (0, 1)) <= 3
        assert [await consumer.position(tp) for tp in (setup.first, setup.second)] == [len(came[0]), len(came[1])]
    assert came == {0: list(range(10)), 1: list(range(10))}
    await consumer.commit()
    assert await committed(setup, setup.first, setup.second) == [10, 10]
    with pytest.raises(
        IllegalArgumentError, match="max_records_per_partition must be a whole number of at least 1, not"
    ):
        await getattr(consumer, call)(max_records_per_partition=0)


async def test_getmany_calls_the_poll_of_subclasses_and_tracers(
    setup: ConsumerSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    consumer = await setup.face.open()
    kind = type(consumer.consumer)
    before, traced = kind.poll, []

    def poll(self: Any, *args: Any, **options: Any) -> Any:
        traced.append(args)
        return before(self, *args, **options)

    await consumer.assign([setup.first])
    monkeypatch.setattr(kind, "poll", poll)
    assert len(await consumer.getmany(timeout_ms=30_000, max_records=3)) == 3
    assert traced == [(30_000, 3)]
    assert len(await consumer.getmany(setup.first, timeout_ms=30_000, max_records=3)) == 3
    assert len(traced) == 1


async def test_getmany_calls_a_poll_that_has_only_the_arguments_of_kafka_python(
    setup: ConsumerSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    consumer = await setup.face.open()
    kind = type(consumer.consumer)
    before = kind.poll

    def poll(self: Any, timeout_ms: float = 0, max_records: int | None = None, update_offsets: bool = True) -> Any:
        return before(self, timeout_ms, max_records, update_offsets)

    await consumer.assign([setup.first])
    monkeypatch.setattr(kind, "poll", poll)
    assert len(await consumer.getmany(timeout_ms=30_000, max_records=3)) == 3


async def test_both_limits_of_records_hold(setup: ConsumerSetup) -> None:
    consumer = await setup.face.open()
    await consumer.assign([setup.first, setup.second])
    came: list[list[int]] = []
    while sum(map(sum, came)) < 20:
        found = await consumer.poll(30_000, max_records=5, max_records_per_partition=4)
        came.append([len(each) for each in found.values()])
        assert sum(came[-1]) <= 5
        assert max(came[-1]) <= 4


async def test_records_are_returned_again_if_positions_stay(setup: ConsumerSetup) -> None:
    consumer = await setup.face.open()
    await consumer.assign([setup.first])
    while not (first := await consumer.poll(200, max_records=3, update_offsets=False)):
        pass
    assert await consumer.position(setup.first) == 0
    again = await consumer.poll(0, max_records=3)
    assert [record.offset for record in first] == [record.offset for record in again] == [0, 1, 2]
    assert await consumer.position(setup.first) == 3


@pytest.mark.once
async def test_offsets_are_looked_up_for_a_request_timeout_that_was_given(setup: ConsumerSetup) -> None:
    consumer = await setup.face.open(request_timeout_ms=600)
    missing = TopicPartition(f"{setup.topic}.missing", 0)  # it may be a new topic, which brokers do not know yet
    for call, given in (
        ("offsets_for_times", {missing: 0}),
        ("beginning_offsets", [missing]),
        ("end_offsets", [missing]),
    ):
        began = time.monotonic()
        with pytest.raises(KafkaTimeoutError):
            await getattr(consumer, call)(given)
        assert time.monotonic() - began < 30
    await consumer.close()
    slower = parse_consumer({"request_timeout_ms": 600, "default_api_timeout_ms": 700})
    assert (slower.look_up_timeout_ms, parse_consumer({}).look_up_timeout_ms) == (700, 60_000)


async def test_seeking_pausing_and_looking_up(setup: ConsumerSetup) -> None:
    consumer = await setup.face.open()
    both = [setup.first, setup.second]
    await consumer.assign(both)
    assert await consumer.beginning_offsets(both) == dict.fromkeys(both, 0)
    assert await consumer.end_offsets(both) == dict.fromkeys(both, 10)
    times = {setup.first: 2**50, setup.second: 0}
    found = await consumer.offsets_for_times(times)
    assert (found[setup.first], found[setup.second].offset) == (None, 0)
    await consumer.pause(setup.second)
    await consumer.seek(setup.first, 8)
    assert [record.offset for record in await consumer.read(2)] == [8, 9]
    await consumer.seek_to_beginning(setup.first)
    assert await consumer.position(setup.first) == 0
    await consumer.seek_to_end()
    assert [await consumer.position(tp) for tp in both] == [10, 10]
    assert await consumer.paused() == {setup.second}
    await consumer.resume(setup.second)
    await consumer.seek(setup.second, 9)
    assert (await consumer.getone()).offset == 9
    assert await consumer.partitions_for_topic(setup.topic) == {0, 1}
    assert setup.topic in await consumer.topics()
    assert await consumer.bootstrap_connected()
    with pytest.raises(UnknownTopicOrPartitionError, match="has no partition 7, only the partitions 0 to 1"):
        await consumer.end_offsets([TopicPartition(setup.topic, 7)])


async def test_columns_and_arrow_have_the_same_rows(setup: ConsumerSetup) -> None:
    consumer = await setup.face.open()
    await consumer.assign([setup.first])
    await consumer.seek_to_beginning()
    while not (columns := await consumer.poll_columns(200)):
        pass
    await consumer.seek_to_beginning()
    while not (batch := await consumer.poll_arrow(200)).num_rows:
        pass
    assert batch.column("offset").to_pylist() == list(columns[setup.first].offsets) == list(range(10))
    assert (await consumer.poll_arrow(0)).schema == batch.schema


async def test_iteration_moves_positions_with_each_record_and_ends_in_time(setup: ConsumerSetup) -> None:
    consumer = await setup.face.open(consumer_timeout_ms=300)
    await consumer.assign([setup.first])
    seen: list[int] = []
    while len(seen) < 3:  # it ends where a fetch takes longer, and goes on
        if (record := await consumer.next()) is not None:
            seen.append(record.offset)
            assert await consumer.position(setup.first) == len(seen)
    while len(seen) < 10:
        seen += [record.offset for record in await consumer.iterate()]
    assert seen == list(range(10))
    await consumer.seek(setup.first, 9)
    while (record := await consumer.next()) is None:
        pass
    assert record.offset == 9
    assert await consumer.next() is None


async def test_iteration_ends_when_the_consumer_is_closed(setup: ConsumerSetup) -> None:
    consumer = await setup.face.open()
    await consumer.assign([setup.first])
    await consumer.next()
    await consumer.close()
    assert await consumer.next() is None
    assert await committed(setup, setup.first) == [1]


async def test_a_wakeup_ends_one_poll(setup: ConsumerSetup) -> None:
    consumer = await setup.face.open()
    await consumer.assign([setup.first])
    await consumer.seek_to_end()
    await consumer.wakeup()
    with pytest.raises(WakeupError):
        await consumer.poll(3_600_000)
    assert await consumer.poll(0) == {}


async def test_a_wakeup_takes_nothing_and_ends_an_iteration_too(setup: ConsumerSetup) -> None:
    consumer = await setup.face.open()
    await consumer.assign([setup.first])
    await consumer.seek_to_beginning()
    await consumer.wakeup()
    with pytest.raises(WakeupError):
        await consumer.next()
    await consumer.wakeup()
    with pytest.raises(WakeupError):
        await consumer.poll(3_600_000)
    assert (await consumer.next()).offset == 0


async def test_a_wakeup_from_another_thread_ends_a_poll_that_waits(setup: ConsumerSetup) -> None:
    consumer = await setup.face.open()
    await consumer.assign([setup.first])
    await consumer.seek(setup.first, 10)
    runner = consumer.consumer._poll_loop.runner
    waits, waiting = runner.wait, threading.Event()

    def wait(timeout_s: float) -> Any:
        waiting.set()
        return waits(timeout_s)

    def wake() -> None:
        assert waiting.wait(PATIENCE_S)
        consumer.consumer.wakeup()

    runner.wait = wait
    thread = threading.Thread(target=wake)
    thread.start()
    with pytest.raises(WakeupError):
        await consumer.poll(3_600_000)
    thread.join()


async def test_each_record_of_an_iteration_is_a_sign_of_life(setup: ConsumerSetup) -> None:
    face = await setup.face.open(consumer_timeout_ms=5_000)
    await face.assign([setup.first, setup.second])
    clock = face.consumer._core.clock
    for _ in range(20):
        clock.progressed = False
        assert await face.next() is not None
        assert clock.progressed
