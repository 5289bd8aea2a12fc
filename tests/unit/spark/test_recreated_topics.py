"""A topic that is deleted and made again, with fewer, as many or more partitions, under reads and writes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

import kafka
from kafka import KafkaProducer
from kafka.admin import KafkaAdminClient, NewTopic
from kafka.broker import EmbeddedBroker
from kafka.spark.batch_plan import plan_batch
from kafka.spark.cluster_lookup import ClusterLookup
from kafka.spark.data_loss import DataLossError
from kafka.spark.exactly_once import driver
from kafka.spark.exactly_once.judgement import Write
from kafka.spark.exactly_once.prefix_access import admin_configs, ask_brokers
from kafka.spark.exactly_once.task import TransactionalProducers, write_in_transaction
from kafka.spark.options import ReadOptions, parse_read, parse_write
from kafka.spark.read_task import read_task
from kafka.spark.stream_plan import StreamPlanner
from kafka.spark.write_task import write_task

pytestmark = [
    pytest.mark.once,
    pytest.mark.parametrize("partitions", [1, 2, 4], ids=["fewer", "as many", "more"]),
]
BEFORE, AFTER = 20, 14
"""How many records the topic of two partitions had, and how many it has then."""


class Topic:
    """The topic `t`."""

    def __init__(self, servers: str, admin: KafkaAdminClient) -> None:
        self.servers = servers
        self._admin = admin
        self._make(2)

    def _make(self, partitions: int) -> None:
        self._admin.create_topics([NewTopic("t", partitions, 1)])
        self.partitions = partitions

    def fill(self, records: int) -> None:
        with KafkaProducer(bootstrap_servers=self.servers) as producer:
            for number in range(records):
                producer.send("t", b"%d" % number, partition=number % self.partitions)

    def make_again(self, partitions: int) -> None:
        self._admin.delete_topics(["t"])
        self._make(partitions)

    def reading(self, strict: bool, streaming: bool) -> ReadOptions:
        options = {"kafka.bootstrap.servers": self.servers, "subscribe": "t", "startingoffsets": "earliest"}
        return parse_read({**options, "failondataloss": str(strict)}, streaming=streaming)

    def writing(self, **more: str) -> Any:
        return parse_write({"kafka.bootstrap.servers": self.servers, "topic": "t", **more})


@pytest.fixture
def topic() -> Iterator[Topic]:
    with EmbeddedBroker() as broker, KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
        yield Topic(broker.bootstrap_servers, admin)


def rows_of(options: ReadOptions, tasks: Any) -> int:
    return sum(batch.num_rows for task in tasks for batch in read_task(options, ("value",), task))


def batches() -> Iterator[pa.RecordBatch]:
    return iter(pa.table({"key": [b"%d" % n for n in range(30)], "value": [b"v"] * 30}).to_batches())


def test_a_stream_ends_or_reads_the_new_topic_from_its_beginning(
    topic: Topic, partitions: int, caplog: pytest.LogCaptureFixture
) -> None:
    strict, options = (topic.reading(each, streaming=True) for each in (True, False))
    topic.fill(BEFORE)
    now = [0.0]
    with ClusterLookup(options) as lookup:
        planner, strictly = (StreamPlanner(each, lookup, lambda: now[0]) for each in (options, strict))
        begin = planner.initial()
        end = planner.latest(begin, None, everything=True)
        assert rows_of(options, planner.tasks(begin, end)) == BEFORE
        topic.make_again(partitions)
        topic.fill(AFTER)
        now[0] += 60.0
        with pytest.raises(DataLossError, match="topic 't' was deleted and made again"):
            strictly.latest(end, None, everything=True)
        later = planner.latest(end, None, everything=True)
        assert rows_of(options, planner.tasks(end, later)) == AFTER
    assert "reading goes on" not in caplog.text  # at the same offsets: the source has said what it does


def test_a_batch_frame_that_was_loaded_before_lacks_what_the_new_topic_does_not_have(
    topic: Topic, partitions: int
) -> None:
    strict, options = (topic.reading(each, streaming=False) for each in (True, False))
    topic.fill(BEFORE)
    with ClusterLookup(options) as lookup:
        tasks = plan_batch(options, lookup)
        topic.make_again(partitions)
        topic.fill(AFTER)
        assert rows_of(options, plan_batch(options, lookup)) == AFTER  # of another load()
    with pytest.raises(DataLossError):
        rows_of(strict, tasks)
    there = [-(-(AFTER - number) // partitions) for number in range(partitions)]
    assert rows_of(options, tasks) == sum(min(each, BEFORE // 2) for each in there[:2])


def test_a_sink_goes_on_with_the_new_topic(topic: Topic, partitions: int) -> None:
    options = topic.writing()
    assert write_task(options, ("key", "value"), batches()) == 30
    topic.make_again(partitions)
    assert write_task(options, ("key", "value"), batches()) == 30
    found = list(kafka.read("t", bootstrap_servers=topic.servers))
    assert len(found) == 30
    assert {each.partition for each in found} == set(range(partitions))


def test_a_sink_that_writes_exactly_once_goes_on_with_the_new_topic(topic: Topic, partitions: int) -> None:
    options = topic.writing(exactlyonce="true", transactionalidprefix="p")
    producers = TransactionalProducers()

    def ask(steps: Any) -> Any:
        return ask_brokers(admin_configs(options.configs), "p", steps)

    def micro_batch(number: int) -> None:
        plan = ask(lambda access: driver.plan(access, options, "/checkpoint"))
        write = Write("p", "query", "run", number, "/checkpoint")
        result = write_in_transaction(options, ("key", "value"), batches(), plan, write, producers)
        ask(lambda access: driver.commit(access, options, [result]))

    micro_batch(0)
    topic.make_again(partitions)
    for number in (1, 2):
        micro_batch(number)
    producers.close()
    assert len(list(kafka.read("t", bootstrap_servers=topic.servers, isolation_level="read_committed"))) == 60
