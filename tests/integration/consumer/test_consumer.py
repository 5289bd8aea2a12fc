"""`KafkaConsumer` without a group's assignment: polling, seeking, looking up, on both brokers."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Producer

from integration.consumer_support import PATIENCE_S, is_since, poll_until, produce, read, when_it_waits
from kafka import KafkaConsumer, OffsetAndMetadata, TopicPartition
from kafka.errors import (
    IllegalArgumentError,
    IllegalStateError,
    KafkaConfigurationError,
    KafkaTimeoutError,
    NoBrokersAvailable,
    NoOffsetForPartitionError,
    OffsetOutOfRangeError,
    RecordDeserializationError,
    WakeupError,
)

if TYPE_CHECKING:
    from conftest import Broker, MakeTopic
    from harness.releases import Kafka

Open = Callable[..., KafkaConsumer]


@pytest.fixture
def open_consumer(broker: Broker) -> Iterator[Open]:
    """Return a function that opens a consumer on `broker`; all are closed at the end."""
    opened: list[KafkaConsumer] = []

    def open_one(*topics: str, **options: Any) -> KafkaConsumer:
        consumer = KafkaConsumer(*topics, bootstrap_servers=broker.bootstrap_servers, **options)
        opened.append(consumer)
        return consumer

    yield open_one
    for consumer in opened:
        consumer.close(timeout_ms=5_000)


def numbered(count: int) -> list[bytes]:
    return [b"v%d" % number for number in range(count)]


def test_poll_hands_out_every_record_once_and_in_order(
    broker: Broker, make_topic: MakeTopic, open_consumer: Open
) -> None:
    topic = make_topic(3)
    for partition in range(3):
        produce(broker.bootstrap_servers, topic, partition, numbered(1_000))
    partitions = [TopicPartition(topic, partition) for partition in range(3)]
    consumer = open_consumer(auto_offset_reset="earliest", max_poll_records=123)
    consumer.assign(partitions)
    records = []
    while len(records) < 3_000:
        batch = consumer.poll(5_000)
        assert 0 < len(batch) <= 123
        records += list(batch)
    for tp in partitions:
        assert [r.value for r in records if r.partition == tp.partition] == numbered(1_000)
        assert [r.offset for r in records if r.partition == tp.partition] == list(range(1_000))
        assert consumer.position(tp) == 1_000
        assert consumer.highwater(tp) == 1_000
    first = records[0]
    headers = [("n", b"0")] if is_since(broker, (0, 11)) else []
    assert (first.topic, first.key, first.timestamp, first.headers) == (topic, b"k0", 1_000, headers)
    assert consumer.poll(0) == {}


def test_positions_move_only_past_what_was_handed_out(
    broker: Broker, make_topic: MakeTopic, open_consumer: Open
) -> None:
    topic = make_topic()
    produce(broker.bootstrap_servers, topic, 0, numbered(100))
    tp = TopicPartition(topic, 0)
    consumer = open_consumer(auto_offset_reset="earliest")
    consumer.assign([tp])
    assert [r.offset for r in consumer.poll(5_000, max_records=7)] == list(range(7))
    assert consumer.position(tp) == 7
    assert [r.offset for r in consumer.poll(5_000, max_records=3)] == [7, 8, 9]
    iterator = iter(consumer)
    assert next(iterator).offset == 10
    assert next(iterator).offset == 11
    assert consumer.position(tp) == 12
    assert [r.offset for r in consumer.poll(5_000, max_records=2)] == [12, 13]
    assert next(consumer).offset == 14
    consumer.seek(tp, 50)
    assert next(consumer).offset == 50


def test_poll_arrow_and_poll_columns_give_the_rows_that_poll_gives(
    broker: Broker, make_topic: MakeTopic, open_consumer: Open
) -> None:
    topic = make_topic(2)
    for partition in range(2):
        produce(broker.bootstrap_servers, topic, partition, [*numbered(500), None])
    partitions = [TopicPartition(topic, 0), TopicPartition(topic, 1)]
    consumer = open_consumer()
    consumer.assign(partitions)
    consumer.seek_to_beginning()
    expected = sorted((r.partition, r.offset, r.timestamp, r.key, r.value) for r in read(consumer, 1_002))

    consumer.seek_to_beginning()
    rows: list[tuple[Any, ...]] = []
    while len(rows) < 1_002:
        batch = consumer.poll_arrow(5_000)
        assert batch.num_rows
        names = ("partition", "offset", "timestamp", "key", "value")
        table = batch.set_column(3, "timestamp", batch.column("timestamp").cast("int64"))
        rows += zip(*(table.column(name).to_pylist() for name in names), strict=True)
    assert sorted(rows) == expected
    assert consumer.poll_arrow(0).num_rows == 0
    assert consumer.poll_arrow(0).schema == batch.schema

    consumer.seek_to_beginning()
    rows = []
    while len(rows) < 1_002:
        for tp, columns in consumer.poll_columns(5_000, max_records=100).items():
            rows += [
                (tp.partition, columns.offsets[i], columns.timestamps[i], columns.key(i), columns.value(i))
                for i in range(len(columns))
            ]
    assert sorted(rows) == expected


def test_seek_position_and_ends(broker: Broker, make_topic: MakeTopic, open_consumer: Open) -> None:
    topic = make_topic(2)
    produce(broker.bootstrap_servers, topic, 0, numbered(100))
    full, empty = TopicPartition(topic, 0), TopicPartition(topic, 1)
    consumer = open_consumer()
    assert consumer.beginning_offsets([full, empty]) == {full: 0, empty: 0}
    assert consumer.end_offsets([full, empty]) == {full: 100, empty: 0}
    consumer.assign([full, empty])
    assert consumer.position(full) == 100
    consumer.seek(full, 42)
    assert consumer.position(full) == 42
    assert next(iter(consumer.poll(5_000))).offset == 42
    consumer.seek_to_beginning(full)
    assert consumer.position(full) == 0
    assert next(iter(consumer.poll(5_000))).offset == 0
    consumer.seek_to_end()
    assert (consumer.position(full), consumer.position(empty)) == (100, 0)
    assert consumer.poll(100) == {}
    produce(broker.bootstrap_servers, topic, 1, [b"new"])
    assert [r.value for r in read(consumer, 1)] == [b"new"]
    with pytest.raises(IllegalStateError):
        consumer.seek(TopicPartition(topic, 7), 0)
    with pytest.raises(IllegalArgumentError):
        consumer.seek(full, -1)


def test_offsets_for_times(broker: Broker, make_topic: MakeTopic, open_consumer: Open) -> None:
    topic = make_topic(2)
    produce(broker.bootstrap_servers, topic, 0, numbered(10))
    full, empty = TopicPartition(topic, 0), TopicPartition(topic, 1)
    consumer = open_consumer()
    found = consumer.offsets_for_times({full: 4_500, empty: 1})
    assert found[full] is not None
    assert (found[full].offset, found[full].timestamp) == (4, 5_000)
    assert found[empty] is None
    assert consumer.offsets_for_times({full: 10_001}) == {full: None}
    assert consumer.offsets_for_times({}) == {}
    with pytest.raises(ValueError):
        consumer.offsets_for_times({full: -1})


def test_topics_and_partitions(make_topic: MakeTopic, open_consumer: Open) -> None:
    topic = make_topic(3)
    consumer = open_consumer(allow_auto_create_topics=False)
    assert topic in consumer.topics()
    assert "__consumer_offsets" not in consumer.topics()
    assert consumer.partitions_for_topic(topic) == {0, 1, 2}
    assert consumer.partitions_for_topic("there-is-no-such-topic") == set()
    assert consumer.bootstrap_connected()


def test_paused_partitions_are_held_back_and_go_on_where_they_stopped(
    broker: Broker, make_topic: MakeTopic, open_consumer: Open
) -> None:
    topic = make_topic(2)
    for partition in range(2):
        produce(broker.bootstrap_servers, topic, partition, numbered(50))
    one, other = TopicPartition(topic, 0), TopicPartition(topic, 1)
    consumer = open_consumer(auto_offset_reset="earliest")
    consumer.assign([one, other])
    consumer.pause(one)
    assert consumer.paused() == {one}
    assert {r.partition for r in read(consumer, 50)} == {1}
    assert consumer.poll(200) == {}
    assert consumer.position(one) == 0
    consumer.resume(one)
    assert [r.offset for r in read(consumer, 50)] == list(range(50))
    consumer.seek(one, 0)
    assert len(consumer.poll(5_000, max_records=5)) == 5
    consumer.pause(one)
    assert consumer.poll(200) == {}
    consumer.resume(one)
    assert next(iter(consumer.poll(5_000))).offset == 5


def test_an_offset_out_of_range_follows_the_reset_policy(
    broker: Broker, make_topic: MakeTopic, open_consumer: Open
) -> None:
    topic = make_topic()
    produce(broker.bootstrap_servers, topic, 0, numbered(10))
    tp = TopicPartition(topic, 0)
    earliest = open_consumer(auto_offset_reset="earliest")
    earliest.assign([tp])
    earliest.seek(tp, 1_000)
    assert [r.offset for r in read(earliest, 10)] == list(range(10))

    latest = open_consumer(auto_offset_reset="latest")
    latest.assign([tp])
    latest.seek(tp, 1_000)
    poll_until(lambda: latest.position(tp) == 10, latest)

    none = open_consumer(auto_offset_reset="none")
    none.assign([tp])
    with pytest.raises(NoOffsetForPartitionError):
        read(none, 1)
    none.seek(tp, 1_000)
    for _ in range(2):  # it stands until a seek
        with pytest.raises(OffsetOutOfRangeError) as caught:
            read(none, 1)
        assert caught.value.args[0] == {tp: 1_000}
    none.seek(tp, 9)
    assert [r.offset for r in read(none, 1)] == [9]


def test_a_seek_comes_before_positions_are_looked_for(
    make_topic: MakeTopic, broker: Broker, open_consumer: Open
) -> None:
    topic = make_topic(2)
    produce(broker.bootstrap_servers, topic, 0, numbered(10))
    one, other = TopicPartition(topic, 0), TopicPartition(topic, 1)
    consumer = open_consumer(auto_offset_reset="none")
    consumer.assign([one])
    consumer.end_offsets([one])  # what assign() has begun is done before this is answered
    consumer.seek(one, 8)
    assert [r.offset for r in read(consumer, 2)] == [8, 9]

    consumer.assign([one, other])
    consumer.poll(0)  # the position of the other one is found to lack, and nobody hears of it
    consumer.end_offsets([one, other])
    consumer.seek(other, 0)
    consumer.seek(one, 9)
    assert [r.offset for r in read(consumer, 1)] == [9]


def test_a_new_assignment_does_not_wait_for_long_polls(
    broker: Broker, make_topic: MakeTopic, open_consumer: Open
) -> None:
    topic = make_topic(2)
    for partition in range(2):
        produce(broker.bootstrap_servers, topic, partition, numbered(10))
    consumer = open_consumer(fetch_max_wait_ms=20_000)
    for number in range(6):
        tp = TopicPartition(topic, number % 2)
        consumer.assign([tp])
        consumer.seek(tp, 9)
        assert [r.offset for r in read(consumer, 1, patience_s=15)] == [9]  # before a long poll ends


def test_iteration_ends_after_consumer_timeout_and_can_be_taken_up_again(
    broker: Broker, make_topic: MakeTopic, open_consumer: Open
) -> None:
    topic = make_topic()
    produce(broker.bootstrap_servers, topic, 0, numbered(1_200))
    consumer = open_consumer(auto_offset_reset="earliest", consumer_timeout_ms=2_000)
    consumer.assign([TopicPartition(topic, 0)])

    def values(count: int) -> list[bytes]:
        found: list[bytes] = []
        while len(found) < count:  # it ends where a fetch takes longer, and goes on
            found += [record.value for record in consumer]
        return found

    assert values(1_200) == numbered(1_200)
    with pytest.raises(StopIteration):
        next(consumer)
    produce(broker.bootstrap_servers, topic, 0, [b"later"])
    assert values(1) == [b"later"]
    consumer.seek(TopicPartition(topic, 0), 0)
    seen: list[int] = []
    while len(seen) < 10:
        for record in consumer:
            seen.append(record.offset)
            if len(seen) == 10:
                break
    while len(seen) < 1_201:
        seen += [record.offset for record in consumer]
    assert seen == list(range(1_201))


def test_a_record_that_cannot_be_deserialized_is_raised_with_its_place_and_can_be_passed(
    broker: Broker, make_topic: MakeTopic, open_consumer: Open
) -> None:
    topic = make_topic()
    produce(broker.bootstrap_servers, topic, 0, [b"1", b"2", b"x", b"4"])
    tp = TopicPartition(topic, 0)
    consumer = open_consumer(auto_offset_reset="earliest", value_deserializer=int)
    consumer.assign([tp])
    assert [r.value for r in consumer.poll(10_000)] == [1, 2]
    for _ in range(2):
        with pytest.raises(RecordDeserializationError) as caught:
            consumer.poll(10_000)
        assert (caught.value.topic_partition, caught.value.offset) == (tp, 2)
        assert isinstance(caught.value.__cause__, ValueError)
        assert isinstance(caught.value, ValueError)  # as in kafka-python, where nothing is wrapped
    assert consumer.position(tp) == 2
    with pytest.raises(RecordDeserializationError):
        next(consumer)
    consumer.seek(tp, caught.value.offset + 1)
    assert next(consumer).value == 4


def test_commits_of_a_consumer_with_partitions_assigned_by_hand(
    broker: Broker, make_topic: MakeTopic, open_consumer: Open
) -> None:
    topic = make_topic(2)
    produce(broker.bootstrap_servers, topic, 0, numbered(100))
    tp, other = TopicPartition(topic, 0), TopicPartition(topic, 1)
    options = {"group_id": f"group-{topic}", "auto_offset_reset": "earliest", "enable_auto_commit": False}
    first = open_consumer(**options)
    first.assign([tp, other])
    assert first.committed(tp) is None
    first.poll(5_000, max_records=10)
    first.commit()
    assert first.committed(tp) == 10
    assert first.committed(tp).offset == 10
    first.commit({tp: OffsetAndMetadata(33, "note", 0)})
    epoch = 0 if is_since(broker, (2, 1)) else -1  # brokers of before keep none
    assert first.committed(tp, metadata=True) == OffsetAndMetadata(33, "note", epoch)
    assert first.committed(tp).metadata == "note"

    done: list[Any] = []
    future = first.commit_async({tp: OffsetAndMetadata(50)}, lambda offsets, outcome: done.append((offsets, outcome)))
    future.get(10)
    poll_until(lambda: bool(done), first)
    assert done[0][0] == {tp: OffsetAndMetadata(50)}
    assert future.succeeded()

    second = open_consumer(**options)
    second.assign([tp])
    assert second.position(tp) == 50
    with pytest.raises(IllegalStateError):
        open_consumer().commit({tp: OffsetAndMetadata(1)})


def test_hundreds_of_partitions_are_read(broker: Broker, make_topic: MakeTopic, open_consumer: Open) -> None:
    topic = make_topic(200)
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    for number in range(2_000):
        producer.produce(topic, b"%d" % number, partition=number % 200)
    assert producer.flush(PATIENCE_S) == 0
    consumer = open_consumer(auto_offset_reset="earliest")
    consumer.assign([TopicPartition(topic, partition) for partition in range(200)])
    assert sorted(int(r.value) for r in read(consumer, 2_000)) == list(range(2_000))


def test_small_fetches_of_large_records_keep_going(broker: Broker, make_topic: MakeTopic, open_consumer: Open) -> None:
    topic = make_topic(2)
    values = [bytes([number % 256]) * 50_000 for number in range(60)]
    produce(broker.bootstrap_servers, topic, 0, values, **{"batch.size": 60_000})
    produce(broker.bootstrap_servers, topic, 1, values, **{"batch.size": 60_000})
    consumer = open_consumer(
        auto_offset_reset="earliest", max_partition_fetch_bytes=1_000, fetch_max_bytes=2_000, max_poll_records=7
    )
    consumer.assign([TopicPartition(topic, 0), TopicPartition(topic, 1)])
    records = read(consumer, 120)
    assert [r.value for r in records if r.partition == 1] == values


@pytest.mark.parametrize("sessions", [True, False])
def test_partitions_come_and_go_with_and_without_fetch_sessions(
    broker: Broker, make_topic: MakeTopic, open_consumer: Open, sessions: bool
) -> None:
    topic = make_topic(4)
    partitions = [TopicPartition(topic, partition) for partition in range(4)]
    for partition in range(4):
        produce(broker.bootstrap_servers, topic, partition, numbered(20))
    consumer = open_consumer(auto_offset_reset="earliest", enable_incremental_fetch_sessions=sessions)
    for chosen in (partitions[:2], partitions[2:], partitions, partitions[1:3]):
        consumer.assign(chosen)
        consumer.seek_to_beginning()
        records = read(consumer, 20 * len(chosen))
        assert sorted({r.partition for r in records}) == sorted(tp.partition for tp in chosen)
        assert len(records) == 20 * len(chosen)
    produce(broker.bootstrap_servers, topic, 1, [b"more"])
    assert [r.value for r in read(consumer, 1)] == [b"more"]


def test_close_from_another_thread_ends_a_poll(make_topic: MakeTopic, open_consumer: Open) -> None:
    consumer = open_consumer()
    consumer.assign([TopicPartition(make_topic(), 0)])
    closer = when_it_waits(consumer, consumer.close)
    assert consumer.poll(3_600_000) == {}
    closer.join()
    with pytest.raises(IllegalStateError):
        consumer.poll(0)
    consumer.close()


def test_a_signals_handler_may_wake_a_poll(make_topic: MakeTopic, open_consumer: Open) -> None:
    consumer = open_consumer()
    consumer.assign([TopicPartition(make_topic(), 0)])
    before = signal.signal(signal.SIGUSR1, lambda *_: consumer.wakeup())
    try:
        sender = when_it_waits(
            consumer, lambda: signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)
        )
        with pytest.raises(WakeupError):
            consumer.poll(3_600_000)
        sender.join()
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_wakeup_ends_a_poll(make_topic: MakeTopic, open_consumer: Open) -> None:
    consumer = open_consumer()
    consumer.assign([TopicPartition(make_topic(), 0)])
    waker = when_it_waits(consumer, consumer.wakeup)
    with pytest.raises(WakeupError):
        consumer.poll(3_600_000)
    waker.join()
    waited = when_it_waits(consumer, lambda: None)
    assert consumer.poll(200) == {}
    waited.join()  # the second poll was ended by nothing but its time


def test_unknown_partitions_time_out_by_name(open_consumer: Open) -> None:
    consumer = open_consumer(allow_auto_create_topics=False)
    with pytest.raises(KafkaTimeoutError, match="no-such-topic"):
        consumer.end_offsets([TopicPartition("no-such-topic", 0)], timeout_ms=500)
    consumer.assign([TopicPartition("no-such-topic", 0)])
    assert consumer.poll(100) == {}
    with pytest.raises(KafkaTimeoutError, match="no-such-topic"):
        consumer.position(TopicPartition("no-such-topic", 0), timeout_ms=300)


def test_a_topic_that_is_created_later_is_found(broker: Broker, make_topic: MakeTopic, open_consumer: Open) -> None:
    from harness.topics import create_topic, new_topic_name

    topic = new_topic_name("later")
    consumer = open_consumer(auto_offset_reset="earliest", allow_auto_create_topics=False)
    consumer.assign([TopicPartition(topic, 0)])
    assert consumer.poll(100) == {}
    create_topic(broker.bootstrap_servers, topic)
    produce(broker.bootstrap_servers, topic, 0, [b"here"])
    assert [r.value for r in read(consumer, 1)] == [b"here"]


def test_a_topic_that_subscribing_creates_is_reported(
    make_topic: MakeTopic, open_consumer: Open, caplog: pytest.LogCaptureFixture
) -> None:
    topic = make_topic(3)
    misspelt = topic + "x"
    consumer = open_consumer(misspelt)

    def lines() -> list[str]:
        return [each.getMessage() for each in caplog.records if each.name.endswith("created_topics")]

    poll_until(lambda: bool(lines()), consumer)
    (line,) = lines()
    assert f"topic {misspelt!r} did not exist; the broker has created it with " in line
    assert repr(topic) in line


def test_what_cannot_be_opened_says_why() -> None:
    with pytest.raises(NoBrokersAvailable, match=r"127\.0\.0\.1"):
        KafkaConsumer(bootstrap_servers="127.0.0.1:1", bootstrap_timeout_ms=300)
    with pytest.raises(KafkaConfigurationError, match="group_id"):
        KafkaConsumer(groupid="x")


@pytest.mark.apache
@pytest.mark.needs(broker=(0, 11), why="transactions (KIP-98)")
def test_read_committed_leaves_out_aborted_and_open_transactions(apache_kafka: Kafka) -> None:
    from harness.topics import create_topic, new_topic_name

    servers, topic = apache_kafka.bootstrap_servers, new_topic_name("transactions")
    create_topic(servers, topic)
    tp = TopicPartition(topic, 0)
    producer = Producer({"bootstrap.servers": servers, "transactional.id": topic})
    producer.init_transactions()
    for round_, keep in enumerate((True, False, True, False)):
        producer.begin_transaction()
        for number in range(10):
            producer.produce(topic, b"%d-%d" % (round_, number), partition=0)
        producer.flush()
        if keep:
            producer.commit_transaction()
        else:
            producer.abort_transaction()
    committed = [b"%d-%d" % (round_, number) for round_ in (0, 2) for number in range(10)]
    options: dict[str, Any] = {"bootstrap_servers": servers, "auto_offset_reset": "earliest"}
    with KafkaConsumer(isolation_level="read_committed", **options) as consumer:
        consumer.assign([tp])
        assert [r.value for r in read(consumer, 20)] == committed
        # The end is decided by positions: they move over markers and aborted records.
        end = consumer.end_offsets([tp])[tp]
        assert end == 44
        poll_until(lambda: consumer.position(tp) == end, consumer)
        producer.begin_transaction()
        producer.produce(topic, b"open", partition=0)
        producer.flush()
        assert consumer.end_offsets([tp])[tp] == end
        assert consumer.poll(300) == {}
        producer.commit_transaction()
        assert [r.value for r in read(consumer, 1)] == [b"open"]
    with KafkaConsumer(**options) as consumer:
        consumer.assign([tp])
        assert len(read(consumer, 41)) == 41
