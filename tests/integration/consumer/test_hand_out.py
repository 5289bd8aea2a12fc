"""Positions move past what reached the caller, whatever is raised on the way."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from integration.consumer_support import PATIENCE_S, produce
from kafka import AsyncKafkaConsumer, KafkaConsumer, TopicPartition
from kafka.errors import CorruptRecordError, IllegalStateError, WakeupError
from kafka.record import Columns

if TYPE_CHECKING:
    from conftest import Broker, MakeTopic

COUNT = 50
Open = Callable[..., KafkaConsumer]


@pytest.fixture
def tp(broker: Broker, make_topic: MakeTopic) -> TopicPartition:
    """A partition with the values 0 to 49."""
    topic = make_topic()
    produce(broker.bootstrap_servers, topic, 0, [b"%d" % number for number in range(COUNT)])
    return TopicPartition(topic, 0)


@pytest.fixture
def open_consumer(broker: Broker, tp: TopicPartition) -> Iterator[Open]:
    """Return a function that opens a consumer that reads the partition from the start."""
    opened: list[KafkaConsumer] = []

    def open_one(**options: Any) -> KafkaConsumer:
        options = {"auto_offset_reset": "earliest", "consumer_timeout_ms": 2_000} | options
        opened.append(consumer := KafkaConsumer(bootstrap_servers=broker.bootstrap_servers, **options))
        consumer.assign([tp])
        return consumer

    yield open_one
    for consumer in opened:
        consumer.close(timeout_ms=5_000)


class InterruptedOnce:
    """A deserializer that is interrupted at a value, the first time."""

    def __init__(self, at: int, raised: type[BaseException]) -> None:
        self.at = at
        self.raised: type[BaseException] | None = raised

    def __call__(self, data: bytes) -> int:
        raised = self.raised
        if int(data) == self.at and raised is not None:
            self.raised = None
            raise raised
        return int(data)


def read(consumer: KafkaConsumer, **options: Any) -> list[int]:
    return [record.offset for record in consumer.poll(10_000, **options)]


@pytest.mark.parametrize("raised", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_in_a_deserializer_loses_nothing(
    tp: TopicPartition, open_consumer: Open, raised: type[BaseException]
) -> None:
    consumer = open_consumer(value_deserializer=InterruptedOnce(25, raised))
    with pytest.raises(raised):
        read(consumer)
    assert consumer.position(tp) == 0
    assert read(consumer) == list(range(COUNT))


def test_an_interrupted_iteration_goes_on_with_the_record_it_was_at(tp: TopicPartition, open_consumer: Open) -> None:
    consumer = open_consumer(value_deserializer=InterruptedOnce(25, KeyboardInterrupt), max_poll_records=10)
    seen: list[int] = []
    with pytest.raises(KeyboardInterrupt):
        seen.extend(record.offset for record in consumer)
    assert consumer.position(tp) == len(seen) == 20
    assert [record.offset for record in consumer] == list(range(20, COUNT))


def test_what_fails_while_arrow_batches_are_made_loses_nothing(
    tp: TopicPartition, open_consumer: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_memory(columns: Columns) -> Any:
        raise MemoryError

    consumer = open_consumer()
    monkeypatch.setattr(Columns, "to_arrow", no_memory)
    with pytest.raises(MemoryError):
        consumer.poll_arrow(10_000)
    monkeypatch.undo()
    assert consumer.position(tp) == 0
    assert consumer.poll_arrow(10_000).column("offset").to_pylist() == list(range(COUNT))


def test_a_poll_that_updates_no_offsets_gives_the_same_records_again(tp: TopicPartition, open_consumer: Open) -> None:
    consumer = open_consumer(group_id="looks-first", enable_auto_commit=False)
    for _ in range(3):
        assert read(consumer, max_records=10, update_offsets=False) == list(range(10))
        assert consumer.position(tp) == 0
    assert read(consumer) == list(range(COUNT))
    consumer.commit()
    assert consumer.committed(tp) == COUNT


def test_an_iteration_holds_its_consumer(broker: Broker, tp: TopicPartition) -> None:
    options: dict[str, Any] = {"auto_offset_reset": "earliest", "consumer_timeout_ms": 2_000}
    offsets = []
    for record in KafkaConsumer(tp.topic, bootstrap_servers=broker.bootstrap_servers, **options):
        gc.collect()
        offsets.append(record.offset)
    assert offsets == list(range(COUNT))


def test_closing_within_the_loop_ends_it(tp: TopicPartition, open_consumer: Open) -> None:
    consumer = open_consumer()
    seen = []
    for record in consumer:
        seen.append(record.offset)
        if len(seen) == 5:
            consumer.close()
    assert seen == list(range(5))


def test_polling_within_the_loop_hands_out_each_record_once(tp: TopicPartition, open_consumer: Open) -> None:
    consumer = open_consumer(max_poll_records=7)
    seen = []
    for record in consumer:
        seen.append(record.offset)
        if record.offset % 10 == 0:
            seen += read(consumer, max_records=2)
        assert consumer.position(tp) == len(seen)
    assert seen == list(range(COUNT))


def test_iteration_goes_through_next(open_consumer: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    traced = []
    plain = KafkaConsumer.__next__

    def with_span(consumer: KafkaConsumer) -> Any:
        record = plain(consumer)
        traced.append(record.offset)
        return record

    monkeypatch.setattr(KafkaConsumer, "__next__", with_span)
    assert [record.offset for record in open_consumer()] == traced == list(range(COUNT))


def test_two_threads_in_the_poll_of_one_consumer_are_told(tp: TopicPartition, open_consumer: Open) -> None:
    entered, go_on = threading.Event(), threading.Event()

    def slow(data: bytes) -> bytes:
        entered.set()
        assert go_on.wait(PATIENCE_S)
        return data

    consumer = open_consumer(value_deserializer=slow)
    polls: list[list[int]] = []
    thread = threading.Thread(target=lambda: polls.append(read(consumer)), name="the first")
    thread.start()
    assert entered.wait(PATIENCE_S)
    for call in (consumer.poll, consumer.poll_columns, consumer.__next__):
        with pytest.raises(IllegalStateError, match=r"'MainThread' polls .* 'the first'"):
            call()
    consumer.wakeup()
    go_on.set()
    thread.join(PATIENCE_S)
    assert polls == [list(range(COUNT))]
    with pytest.raises(WakeupError):  # another thread may poll now
        consumer.poll(0)


def test_a_batch_that_decompresses_to_more_than_is_allowed_is_an_error_with_its_place(
    broker: Broker, make_topic: MakeTopic
) -> None:
    topic = make_topic()
    produce(broker.bootstrap_servers, topic, 0, [b"before"])
    produce(broker.bootstrap_servers, topic, 0, [bytes(800_000)], **{"compression.type": "gzip"})
    produce(broker.bootstrap_servers, topic, 0, [b"after"])
    tp = TopicPartition(topic, 0)
    consumer = KafkaConsumer(bootstrap_servers=broker.bootstrap_servers, max_decompressed_batch_bytes=100_000)
    try:
        consumer.assign([tp])
        consumer.seek(tp, 0)
        assert [record.value for record in consumer.poll(10_000)] == [b"before"]
        with pytest.raises(CorruptRecordError, match=rf"{topic}-0 with offset 1 .* the 100000 bytes allowed"):
            consumer.poll(10_000)
        assert consumer.position(tp) == 1
        consumer.seek(tp, 2)
        assert [record.value for record in consumer.poll(10_000)] == [b"after"]
    finally:
        consumer.close()


async def test_the_asyncio_face_hands_out_in_the_same_way(broker: Broker, tp: TopicPartition) -> None:
    deserializer = InterruptedOnce(25, SystemExit)
    options: dict[str, Any] = {"auto_offset_reset": "earliest", "consumer_timeout_ms": 2_000, "max_poll_records": 30}
    consumer = AsyncKafkaConsumer(
        bootstrap_servers=broker.bootstrap_servers, value_deserializer=deserializer, **options
    )
    async with consumer:
        await consumer.assign([tp])
        with pytest.raises(SystemExit):
            await consumer.poll(10_000)
        assert await consumer.position(tp) == 0
        peeked = await consumer.poll(10_000, update_offsets=False)
        assert [record.offset for record in peeked] == list(range(30))
        seen = []
        async for record in consumer:
            seen.append(record.offset)
            if len(seen) == 5:
                seen += [record.offset for record in await consumer.poll(10_000, max_records=3)]
            if len(seen) == 40:
                await consumer.close()
        assert seen == list(range(40))
