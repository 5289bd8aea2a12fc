"""Logs with gaps, without heads, with markers at their ends, and made anew: a consumer gets to the end of each."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from integration.consumer_support import PATIENCE_S, poll_until, read
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import NewTopic
from kafka.errors import KafkaError, TopicAlreadyExistsError, TopicRecreatedError
from kafka.record import batch_headers

if TYPE_CHECKING:
    from conftest import Broker, MakeTopic
    from harness.releases import Kafka

EACH_LEVEL = pytest.mark.parametrize("isolation_level", ["read_uncommitted", "read_committed"])


@contextlib.contextmanager
def opened(broker: Broker, *topics: str, **options: Any) -> Iterator[KafkaConsumer]:
    """A consumer of partition 0 of each topic, from the start."""
    options = {"auto_offset_reset": "earliest", **options}
    with KafkaConsumer(bootstrap_servers=broker.bootstrap_servers, **options) as consumer:
        consumer.assign([TopicPartition(topic, 0) for topic in topics])
        yield consumer


def read_to_end(consumer: KafkaConsumer) -> list[bytes]:
    """All values up to the end that the log has now, at which the position has to arrive."""
    (tp,) = consumer.assignment()
    (end,) = consumer.end_offsets([tp]).values()
    values: list[bytes] = []
    deadline = time.monotonic() + PATIENCE_S
    while consumer.position(tp) < end:
        assert time.monotonic() < deadline, f"at {consumer.position(tp)} of {end}, with {len(values)} records"
        for records in consumer.poll(100).values():
            values += [record.value for record in records]
    assert consumer.position(tp) == end
    return values


def write(broker: Broker, topic: str, values: list[bytes], key: bytes | None = None, **options: Any) -> None:
    """Each value in a batch of its own."""
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers, **options) as producer:
        for value in values:
            producer.send(topic, value, key, partition=0).get(PATIENCE_S)


@EACH_LEVEL
@pytest.mark.needs(broker=(0, 11), why="transactions (KIP-98)")
def test_a_log_that_ends_with_markers(broker: Broker, make_topic: MakeTopic, isolation_level: str) -> None:
    topic = make_topic()
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers, transactional_id=f"id-{topic}") as producer:
        producer.init_transactions()
        for number in range(3):
            producer.begin_transaction()
            producer.send(topic, b"%d" % number, partition=0)
            producer.commit_transaction()
        producer.begin_transaction()
        producer.send(topic, b"aborted", partition=0).get(PATIENCE_S)
        producer.abort_transaction()
    aborted = [b"aborted"] if isolation_level == "read_uncommitted" else []
    with opened(broker, topic, isolation_level=isolation_level) as consumer:
        assert read_to_end(consumer) == [b"0", b"1", b"2", *aborted]
        assert consumer.position(TopicPartition(topic, 0)) == 8
        write(broker, topic, [b"more"])
        assert read_to_end(consumer) == [b"more"]


@EACH_LEVEL
@pytest.mark.needs(broker=(0, 11), why="DeleteRecords (KIP-107)")
def test_a_head_that_is_deleted_while_it_is_read(broker: Broker, make_topic: MakeTopic, isolation_level: str) -> None:
    topic = make_topic()
    tp = TopicPartition(topic, 0)
    write(broker, topic, [b"%d" % number for number in range(60)])
    sizes = {"max_poll_records": 5, "max_partition_fetch_bytes": 300}
    with (
        opened(broker, topic, isolation_level=isolation_level, **sizes) as consumer,
        KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        first = [record.value for record in read(consumer, 1)]
        admin.delete_records({tp: 40})
        values = first + read_to_end(consumer)
        numbers = [int(value) for value in values]
        assert numbers == sorted(set(numbers))
        assert numbers[-20:] == list(range(40, 60))
        admin.delete_records({tp: 60})  # nothing is left
        assert consumer.beginning_offsets([tp]) == {tp: 60}
        consumer.seek(tp, 10)
        assert read_to_end(consumer) == []
        write(broker, topic, [b"more"])
        assert read_to_end(consumer) == [b"more"]


@pytest.mark.apache
@pytest.mark.needs(broker=(3, 9), why="frequent log compaction, which the tests only set up with KRaft")
def test_gaps_and_empty_batches_that_compaction_leaves(apache_kafka: Kafka, make_topic_on: Any) -> None:
    config = {
        "cleanup.policy": "compact",
        "segment.ms": "100",
        "min.cleanable.dirty.ratio": "0.001",
        "min.compaction.lag.ms": "0",
        "delete.retention.ms": "0",
    }
    topic = make_topic_on(apache_kafka)(config=config)
    last = {b"k%d" % number: b"last %d" % number for number in range(3)}
    for key in last:
        write(apache_kafka, topic, [b"old"] * 5, key)  # producers of which the cleaner keeps an emptied batch
    for key, value in last.items():
        write(apache_kafka, topic, [value], key)
    written, tails, kept = 18, 0, 18

    def is_compacted() -> bool:
        nonlocal tails, kept
        write(apache_kafka, topic, [b"tail"], b"tail")  # in a segment of its own, as time has passed
        tails += 1
        with opened(apache_kafka, topic) as consumer:
            values = read_to_end(consumer)
            assert consumer.position(TopicPartition(topic, 0)) == written + tails
        kept = len([value for value in values if value != b"tail"])
        assert [value for value in values if value.startswith(b"last")] == list(last.values())
        return kept == len(last)

    poll_until(is_compacted, patience_s=60)
    logs = (apache_kafka.data_folder() / f"{topic}-0").glob("*.log")
    assert 0 in {header.count for log in logs for header in batch_headers(log.read_bytes())}
    for level in ("read_uncommitted", "read_committed"):
        with opened(apache_kafka, topic, isolation_level=level, max_poll_records=1) as consumer:
            consumer.seek(TopicPartition(topic, 0), 7)  # where there is nothing any more
            assert read_to_end(consumer)[:3] == list(last.values())


@pytest.mark.needs(broker=(1, 0), why="topic deletion enabled by default")
@pytest.mark.parametrize(
    "policy",
    ["earliest", pytest.param("none", marks=pytest.mark.needs(broker=(2, 8), why="topic ids (KIP-516)"))],
)
def test_a_topic_that_is_deleted_and_made_again(broker: Broker, make_topic: MakeTopic, policy: str) -> None:
    topic = make_topic()
    write(broker, topic, [b"%d" % number for number in range(10)])
    options = {"auto_offset_reset": policy, "metadata_max_age_ms": 1_000, "allow_auto_create_topics": False}
    with (
        opened(broker, topic, **options) as consumer,
        KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        tp = TopicPartition(topic, 0)
        consumer.seek(tp, 0)
        assert len(read_to_end(consumer)) == 10
        admin.delete_topics([topic])

        def made_again() -> bool:
            with contextlib.suppress(TopicAlreadyExistsError):
                admin.create_topics([NewTopic(topic, 1, 1)])
                return True
            return False

        poll_until(made_again)
        write(broker, topic, [b"new %d" % number for number in range(3)])
        found: list[bytes] = []
        errors: list[KafkaError] = []

        def arrived() -> bool:
            try:
                found.extend(record.value for records in consumer.poll(100).values() for record in records)
            except TopicRecreatedError as error:  # the next poll() reads the new topic
                errors.append(error)
            return len(found) >= 3

        poll_until(arrived)
        assert found == [b"new 0", b"new 1", b"new 2"]
        assert len(errors) == (1 if policy == "none" else 0)
        assert consumer.position(tp) == 3


@pytest.mark.needs(broker=(0, 11), why="lookup by time of records that are a day old")
def test_a_policy_of_a_duration_begins_so_far_before_now(broker: Broker, make_topic: MakeTopic) -> None:
    topic, empty = make_topic(), make_topic()
    now_ms = time.time_ns() // 1_000_000
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for hours in (30, 20, 2, 0):
            sent = producer.send(topic, b"%d" % hours, partition=0, timestamp_ms=now_ms - hours * 3_600_000)
            sent.get(PATIENCE_S)
    for duration, expected in (("PT3H", [b"2", b"0"]), ("P1D", [b"20", b"2", b"0"]), ("PT0S", [])):
        with opened(broker, topic, auto_offset_reset=f"by_duration:{duration}") as consumer:
            assert read_to_end(consumer) == expected
    with opened(broker, empty, auto_offset_reset="by_duration:PT1H") as consumer:
        assert consumer.position(TopicPartition(empty, 0)) == 0
