"""What the documentation of `KafkaConsumer` in kafka-python 0.9 shows and says, on both brokers."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from kafka import KafkaConsumer, KafkaProducer
from kafka.common import (
    ConsumerTimeout,
    KafkaConfigurationError,
    KafkaMessage,
    OffsetOutOfRangeError,
    UnknownTopicOrPartitionError,
)

if TYPE_CHECKING:
    from conftest import Broker, MakeTopic

pytestmark = pytest.mark.filterwarnings("ignore:.*deprecated.*:DeprecationWarning")

Open = Callable[..., Any]
Kafka: Any = KafkaConsumer


@pytest.fixture
def open_consumer(broker: Broker) -> Iterator[Open]:
    """Return a function that opens a consumer as the documentation does."""
    opened: list[Any] = []

    def open_one(*topics: Any, **options: Any) -> Any:
        opened.append(Kafka(*topics, metadata_broker_list=[broker.bootstrap_servers], **options))
        return opened[-1]

    yield open_one
    for consumer in opened:
        consumer.close()


def send(broker: Broker, topic: str, *values: bytes, partition: int = 0) -> None:
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for value in values:
            producer.send(topic, value, b"key", partition=partition)


PATIENCE_S = 60


def rest(consumer: Any, count: int) -> list[KafkaMessage]:
    """What iteration gives until ``consumer_timeout_ms``, which is an exception, once it has given that many."""
    found: list[KafkaMessage] = []
    deadline = time.monotonic() + PATIENCE_S

    def read() -> None:
        for message in iter(lambda: consumer.next(), None):
            found.append(message)

    while True:  # a fetch may take longer than it is waited for
        with pytest.raises(ConsumerTimeout):
            read()
        if len(found) >= count or time.monotonic() > deadline:
            return found


def test_a_tail_consumer_without_stored_offsets(broker: Broker, make_topic: MakeTopic, open_consumer: Open) -> None:
    topic = make_topic()
    send(broker, topic, b"before")
    kafka = open_consumer(topic)
    send(broker, topic, b"0", b"1", b"2", b"3")
    seen = []
    for m in kafka:
        seen.append((m.topic, m.partition, m.offset, m.key, m.value))
        if len(seen) == 2:
            break
    assert seen == [(topic, 0, 1, b"key", b"0"), (topic, 0, 2, b"key", b"1")]
    assert kafka.next() == KafkaMessage(topic, 0, 3, b"key", b"2")
    batch = []
    while not batch:
        batch = [m.value for m in kafka.fetch_messages()]
    assert batch == [b"3"]
    assert repr(kafka) == f"<KafkaConsumer topics=({topic}-0)>"


def test_several_topics_and_automatic_commits(broker: Broker, make_topic: MakeTopic, open_consumer: Open) -> None:
    topic1, topic2, group = make_topic(), make_topic(), f"group-{uuid.uuid4()}"
    send(broker, topic1, b"0", b"1", b"2")
    send(broker, topic2, b"3", b"4", b"5")
    options = {"group_id": group, "auto_offset_reset": "smallest", "consumer_timeout_ms": 3_000}
    kafka = open_consumer(topic1, topic2, auto_commit_enable=True, auto_commit_interval_ms=30 * 1000, **options)
    processed = []
    for m in kafka:
        processed.append(m.value)
        kafka.task_done(m)
        if len(processed) == 2:
            break
    m = kafka.next()
    processed.append(m.value)
    kafka.task_done(m)
    assert set(kafka.offsets("commit").values()) == {None}
    assert kafka.commit()
    while len(processed) < 6:
        for m in kafka.fetch_messages():
            processed.append(m.value)
            kafka.task_done(m)
    assert sorted(processed) == [b"0", b"1", b"2", b"3", b"4", b"5"]
    assert len(rest(open_consumer(topic1, topic2, **options), 3)) == 3
    assert kafka.commit()
    assert rest(open_consumer(topic1, topic2, **options), 0) == []


def test_forms_of_topics_and_offsets(broker: Broker, make_topic: MakeTopic, open_consumer: Open) -> None:
    topic1, topic2, topic3 = make_topic(2), make_topic(3), make_topic(2)
    for topic, partitions in ((topic1, 2), (topic2, 3), (topic3, 2)):
        for partition in range(partitions):
            send(broker, topic, b"0", b"1", partition=partition)
    kafka = open_consumer(auto_offset_reset="smallest", consumer_timeout_ms=2_000)

    def places(count: int) -> set[tuple[str, int, int]]:
        return {(m.topic, m.partition, m.offset) for m in rest(kafka, count)}

    kafka.set_topic_partitions(topic1, (topic2, 2), {topic3: 0})
    chosen = [(topic1, 0), (topic1, 1), (topic2, 2), (topic3, 0)]
    assert places(8) == {(*place, offset) for place in chosen for offset in (0, 1)}
    kafka.set_topic_partitions((topic1, 0, 1), (topic2, 1, 2))
    assert kafka.offsets("fetch") == {(topic1, 0): 1, (topic2, 1): 2}
    assert places(1) == {(topic1, 0, 1)}
    kafka.set_topic_partitions({(topic1, 0): 1, (topic2, 1): 0})
    assert places(3) == {(topic1, 0, 1), (topic2, 1, 0), (topic2, 1, 1)}
    kafka.set_topic_partitions({topic3: [0, 1]}, {topic1: (1,)})
    assert {place[:2] for place in places(6)} == {(topic3, 0), (topic3, 1), (topic1, 1)}
    for wrong in (5, {topic1: "0"}, (topic1, "0")):
        with pytest.raises(KafkaConfigurationError, match=r"Unknown (topic|partition) type"):
            kafka.set_topic_partitions(wrong)
    with pytest.raises(UnknownTopicOrPartitionError, match=f"Partition 9 not found in Topic {topic1}"):
        kafka.set_topic_partitions((topic1, 9))


def test_a_new_choice_of_topics_drops_what_was_fetched(
    broker: Broker, make_topic: MakeTopic, open_consumer: Open
) -> None:
    topic = make_topic(2)
    send(broker, topic, b"0", b"1")
    send(broker, topic, b"2", partition=1)
    kafka = open_consumer((topic, 0), auto_offset_reset="smallest", consumer_timeout_ms=60_000)
    assert kafka.next().value == b"0"
    kafka.set_topic_partitions((topic, 1))
    assert kafka.next().value == b"2"


def test_offsets_and_their_copies(broker: Broker, make_topic: MakeTopic, open_consumer: Open) -> None:
    topic = make_topic()
    place = (topic, 0)
    send(broker, topic, b"0", b"1")
    kafka = open_consumer(
        topic, group_id=f"group-{uuid.uuid4()}", auto_offset_reset="smallest", consumer_timeout_ms=60_000
    )
    assert kafka.offsets() == {
        "fetch": {place: 0}, "commit": {place: None}, "task_done": {place: None}, "highwater": {place: None}
    }  # fmt: skip
    kafka.task_done(kafka.next())
    kafka.offsets("task_done").clear()
    assert [kafka.offsets(name)[place] for name in ("fetch", "commit", "task_done", "highwater")] == [1, None, 0, 2]
    assert kafka.commit() is True
    assert kafka.offsets("commit") == {place: 1}
    assert kafka.commit() is False
    assert kafka.get_partition_offsets(topic, 0, request_time_ms=-1, max_num_offsets=1) == [2]
    assert kafka.get_partition_offsets(topic, 0, request_time_ms=-2, max_num_offsets=5) == [0]
    with pytest.raises(KeyError):
        kafka.task_done(KafkaMessage("another", 0, 0, None, b""))


def test_what_is_out_of_order_is_logged(
    broker: Broker, make_topic: MakeTopic, open_consumer: Open, caplog: pytest.LogCaptureFixture
) -> None:
    topic = make_topic()
    send(broker, topic, b"0", b"1", b"2")
    kafka = open_consumer(
        topic, group_id=f"group-{uuid.uuid4()}", auto_offset_reset="smallest", consumer_timeout_ms=60_000
    )
    messages = [kafka.next() for _ in range(3)]
    for number in (0, 2):
        kafka.task_done(messages[number])
    assert "non-continuous offset: 2 != 0 + 1" in caplog.text
    kafka.commit()
    kafka.task_done(messages[1])
    assert "previously committed offset" in caplog.text
    assert {record.levelno for record in caplog.records if record.name == "kafka.consumer.kafka"} == {logging.WARNING}


@pytest.mark.parametrize(("reset", "expected"), [("smallest", [b"0", b"1"]), ("largest", [])])
def test_an_offset_out_of_range_goes_where_auto_offset_reset_says(
    broker: Broker, make_topic: MakeTopic, open_consumer: Open, reset: str, expected: list[bytes]
) -> None:
    topic = make_topic()
    send(broker, topic, b"0", b"1")
    kafka = open_consumer((topic, 0, 99), auto_offset_reset=reset, consumer_timeout_ms=2_000)
    assert [m.value for m in rest(kafka, len(expected))] == expected


def test_an_offset_out_of_range_without_a_policy_is_raised(
    broker: Broker, make_topic: MakeTopic, open_consumer: Open
) -> None:
    topic = make_topic()
    with pytest.raises(OffsetOutOfRangeError, match=r"largest\|smallest"):
        open_consumer(topic, auto_offset_reset="other")
    kafka = open_consumer((topic, 0, 99), auto_offset_reset="other", consumer_timeout_ms=60_000)
    with pytest.raises(OffsetOutOfRangeError):
        kafka.next()


def test_a_message_goes_through_deserializer_class(broker: Broker, make_topic: MakeTopic, open_consumer: Open) -> None:
    topic = make_topic()
    send(broker, topic, b"1", b"no number")
    kafka = open_consumer(
        topic, auto_offset_reset="smallest", consumer_timeout_ms=60_000, deserializer_class=int, fetch_min_bytes=1,
        fetch_message_max_bytes=1024 * 1024, fetch_wait_max_ms=50,
    )  # fmt: skip
    assert kafka.next().value == 1
    for _ in range(2):
        with pytest.raises(ValueError, match="no number"):
            kafka.next()
    assert kafka.offsets("fetch") == {(topic, 0): 1}


def test_commits_after_a_number_of_messages(broker: Broker, make_topic: MakeTopic, open_consumer: Open) -> None:
    topic = make_topic()
    send(broker, topic, b"0", b"1", b"2")
    kafka = open_consumer(
        topic, group_id=f"group-{uuid.uuid4()}", auto_offset_reset="smallest", consumer_timeout_ms=60_000,
        auto_commit_enable=True, auto_commit_interval_messages=2,
    )  # fmt: skip
    committed = []
    for _ in range(3):
        kafka.task_done(kafka.next())
        committed.append(kafka.offsets("commit")[topic, 0])
    assert committed == [None, 2, 2]


def test_what_is_configured_wrongly_is_refused(
    broker: Broker, make_topic: MakeTopic, open_consumer: Open, caplog: pytest.LogCaptureFixture
) -> None:
    topic = make_topic()
    with pytest.raises(KafkaConfigurationError, match=r"Unknown configuration key\(s\).*'invented'"):
        open_consumer(topic, invented=1)
    with pytest.raises(KafkaConfigurationError, match="group"):
        open_consumer(topic, auto_commit_enable=True)
    with pytest.raises(KafkaConfigurationError, match="required to configure KafkaConsumer"):
        Kafka(topic, auto_commit_enable=False)
    with pytest.raises(KafkaConfigurationError, match=r"\(group_id\)"):
        open_consumer(topic).commit()
    assert "Cannot commit without a group_id" in caplog.text
    with pytest.raises(KafkaConfigurationError, match="No topics or partitions configured"):
        next(open_consumer().fetch_messages())
