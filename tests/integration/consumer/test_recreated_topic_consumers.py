"""A topic that is deleted and created again, or gets partitions, under running members, on both brokers."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.errors import TopicRecreatedError
from kafka.spark.options.parsing import ReadOptions, parse_read
from kafka.spark.planning.cluster_lookup import ClusterLookup
from kafka.spark.planning.data_loss import DataLossError
from kafka.spark.planning.ranges import Task
from kafka.spark.planning.stream_plan import StreamPlanner
from kafka.spark.tasks.read_task import read_task

if TYPE_CHECKING:
    from conftest import Broker, MakeTopic

PATIENCE_S = 60.0
PROTOCOLS = [
    "classic",
    pytest.param("consumer", marks=pytest.mark.needs(broker=(4, 0), why="groups of the consumer protocol (KIP-848)")),
]


@pytest.fixture
def admin(broker: Broker) -> Iterator[KafkaAdminClient]:
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as client:
        yield client


def write(broker: Broker, topic: str, text: bytes, partition: int = 0) -> set[bytes]:
    values = [b"%s %d" % (text, number) for number in range(30)]
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for value in values:
            producer.send(topic, value, partition=partition)
    return set(values)


def member(broker: Broker, topic: str, protocol: str, **options: Any) -> KafkaConsumer:
    settings = {"bootstrap_servers": broker.bootstrap_servers, "group_id": f"g-{topic}", "group_protocol": protocol}
    return KafkaConsumer(
        topic, **{**settings, "allow_auto_create_topics": False, "metadata_max_age_ms": 500, **options}
    )


def read(consumer: KafkaConsumer, wanted: set[bytes]) -> list[bytes]:
    """Poll until all of these values have come."""
    values: list[bytes] = []
    deadline = time.monotonic() + PATIENCE_S
    while not wanted <= set(values):
        assert time.monotonic() < deadline, f"{len(values)} of {len(wanted)} records"
        values += [record.value for record in consumer.poll(200)]
    return values


def create_again(admin: KafkaAdminClient, topic: str, partitions: int = 1) -> None:
    admin.delete_topics([topic])
    deadline = time.monotonic() + PATIENCE_S
    while topic in admin.list_topics():
        assert time.monotonic() < deadline
    admin.create_topics({topic: {"num_partitions": partitions}}, wait_for_metadata=True)


@pytest.mark.needs(broker=(2, 8), why="topic ids (KIP-516)")
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_member_that_closes_leaves_the_new_topic_whole_to_those_who_come_later(
    broker: Broker, make_topic: MakeTopic, admin: KafkaAdminClient, protocol: str
) -> None:
    topic = make_topic()
    with member(broker, topic, protocol, auto_offset_reset="earliest") as consumer:
        read(consumer, write(broker, topic, b"old"))
        consumer.commit()
        create_again(admin, topic)
    offsets = admin.list_consumer_group_offsets(f"g-{topic}")
    assert [each.offset for each in offsets.values()] in ([], [0])
    written = write(broker, topic, b"new")
    with member(broker, topic, protocol, auto_offset_reset="earliest") as consumer:
        read(consumer, written)


@pytest.mark.needs(broker=(3, 1), why="fetching by topic id (KIP-516)")
@pytest.mark.parametrize("partitions", [1, 2, 3], ids=["fewer", "as many", "more"])
def test_a_micro_batch_of_spark_that_was_planned_before_reads_nothing_of_the_new_topic(
    broker: Broker, make_topic: MakeTopic, admin: KafkaAdminClient, partitions: int
) -> None:
    pytest.importorskip("pyarrow")
    topic = make_topic(2)
    for partition in range(2):
        write(broker, topic, b"old", partition)
    given = {"kafka.bootstrap.servers": broker.bootstrap_servers, "subscribe": topic, "startingoffsets": "earliest"}
    strict, lenient = (parse_read({**given, "failondataloss": each}, streaming=True) for each in ("true", "false"))
    with ClusterLookup(lenient) as lookup:
        planner = StreamPlanner(lenient, lookup, time.monotonic)
        begin = planner.initial()
        end = planner.latest(begin, None, everything=True)
        tasks = planner.tasks(begin, end)
        create_again(admin, topic, partitions)
        written = set().union(*(write(broker, topic, b"new %d" % each, each) for each in range(partitions)))
        with pytest.raises(DataLossError, match="but its topic was deleted and recreated"):
            values_of(strict, tasks)
        assert values_of(lenient, tasks) == []
        later = StreamPlanner(lenient, lookup, time.monotonic)
        assert sorted(values_of(lenient, later.tasks(end, later.latest(end, None, everything=True)))) == sorted(written)


def values_of(options: ReadOptions, tasks: list[Task]) -> list[bytes]:
    batches = (batch for task in tasks for batch in read_task(options, ("value",), task))
    return [value for batch in batches for value in batch["value"].to_pylist()]


@pytest.mark.needs(broker=(2, 8), why="topic ids (KIP-516)")
@pytest.mark.parametrize("in_group", [False, True], ids=["without a group", "in a group"])
def test_the_error_has_the_positions_of_a_topic_that_was_away_for_a_while(
    broker: Broker, make_topic: MakeTopic, admin: KafkaAdminClient, in_group: bool
) -> None:
    topic = make_topic()
    first = TopicPartition(topic, 0)
    options: dict[str, Any] = {} if in_group else {"group_id": None}
    with member(
        broker, topic, "classic", auto_offset_reset="earliest", on_topic_recreated="raise", **options
    ) as consumer:
        read(consumer, write(broker, topic, b"old"))
        admin.delete_topics([topic])
        while consumer.assignment():
            consumer.poll(100)
        admin.create_topics({topic: {"num_partitions": 1}}, wait_for_metadata=True)
        with pytest.raises(TopicRecreatedError) as raised:
            read(consumer, {b"nothing before it raises"})
        assert raised.value.positions == {first: 30}
        read(consumer, write(broker, topic, b"new"))


@pytest.mark.needs(broker=(2, 8), why="topic ids (KIP-516)")
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_member_that_runs_on_reads_the_new_topic_from_its_beginning(
    broker: Broker, make_topic: MakeTopic, admin: KafkaAdminClient, protocol: str
) -> None:
    topic = make_topic()
    with member(broker, topic, protocol, auto_offset_reset="latest") as consumer:
        while not consumer.assignment():
            consumer.poll(100)
        assert consumer.position(TopicPartition(topic, 0)) == 0
        read(consumer, write(broker, topic, b"old"))
        create_again(admin, topic, 2)
        values = read(consumer, write(broker, topic, b"one", 1) | write(broker, topic, b"two", 0))
        assert len(values) == len(set(values))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_new_partitions_are_read_from_their_beginning(
    broker: Broker, make_topic: MakeTopic, admin: KafkaAdminClient, protocol: str
) -> None:
    topic = make_topic()
    options = {"auto_offset_reset": "latest", "auto_offset_reset_new_partitions": "earliest"}
    with member(broker, topic, protocol, **options) as consumer:
        while not consumer.assignment():
            consumer.poll(100)
        assert consumer.position(TopicPartition(topic, 0)) == 0
        admin.create_partitions({topic: 2})
        admin.wait_for_topics([topic])
        read(consumer, write(broker, topic, b"new", 1))


@pytest.mark.needs(broker=(2, 8), why="topic ids (KIP-516)")
def test_a_member_goes_on_where_it_was_in_a_new_topic_when_its_group_rebalances_before_a_commit(
    broker: Broker, make_topic: MakeTopic, admin: KafkaAdminClient
) -> None:
    topic = make_topic()
    with member(broker, topic, "classic", auto_offset_reset="latest", enable_auto_commit=False) as consumer:
        while not consumer.assignment():
            consumer.poll(100)
        assert consumer.position(TopicPartition(topic, 0)) == 0
        create_again(admin, topic)
        for text in (b"first", b"second", b"third"):
            written = write(broker, topic, text)
            assert sorted(read(consumer, written)) == sorted(written)
            consumer.enforce_rebalance()
