"""A topic that is deleted and recreated, with fewer, as many or more partitions, during reads and writes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest

import kafka
from kafka import KafkaProducer
from kafka.admin import KafkaAdminClient, NewTopic
from kafka.broker import EmbeddedBroker
from kafka.record import Columns
from kafka.spark.client_cache import make_consumer
from kafka.spark.exactly_once import driver_steps
from kafka.spark.exactly_once.prefix_access import admin_configs, ask_brokers
from kafka.spark.exactly_once.replay_check import Write
from kafka.spark.exactly_once.task import TransactionalProducers, write_in_transaction
from kafka.spark.options.parsing import ReadOptions, parse_read, parse_write
from kafka.spark.planning.batch_plan import plan_batch
from kafka.spark.planning.checkpoint_layout import Layout
from kafka.spark.planning.cluster_lookup import ClusterLookup
from kafka.spark.planning.data_loss import DataLossError
from kafka.spark.planning.ranges import Task
from kafka.spark.planning.stream_plan import StreamPlanner
from kafka.spark.tasks.read_task import RangeFetch, read_task
from kafka.spark.tasks.write_task import write_task

pytestmark = [
    pytest.mark.once,
    pytest.mark.parametrize("partitions", [1, 2, 4], ids=["fewer", "as many", "more"]),
]
BEFORE, AFTER = 20, 14
"""Numbers of records of the topic with two partitions before and after."""


class Topic:
    """The topic `t`."""

    def __init__(self, servers: str, admin: KafkaAdminClient) -> None:
        self.servers = servers
        self._admin = admin
        self._make(2)

    def _make(self, partitions: int) -> None:
        self._admin.create_topics([NewTopic("t", partitions, 1)])
        self.partitions = partitions

    def fill(self, records: int, text: bytes = b"old") -> None:
        with KafkaProducer(bootstrap_servers=self.servers) as producer:
            for number in range(records):
                producer.send("t", b"%s %d" % (text, number), partition=number % self.partitions)
                producer.flush()  # one batch each, because one fetch would return all of a larger batch

    def make_again(self, partitions: int) -> None:
        self._admin.delete_topics(["t"])
        self._make(partitions)

    def reading(self, strict: bool, streaming: bool) -> ReadOptions:
        options = {"kafka.bootstrap.servers": self.servers, "subscribe": "t", "startingoffsets": "earliest"}
        options |= {"kafka.max.partition.fetch.bytes": "1", "kafka.metadata.max.age.ms": "100"}
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


@pytest.mark.slow
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
        with pytest.raises(DataLossError, match="topic 't' was deleted and recreated"):
            strictly.latest(end, None, everything=True)
        later = planner.latest(end, None, everything=True)
        assert rows_of(options, planner.tasks(end, later)) == AFTER
    assert "reading continues" not in caplog.text  # at the same offsets: the source logs its own message


class PlannedStream:
    """A stream that has planned a micro-batch of all records of the topic."""

    def __init__(self, topic: Topic, strict: bool) -> None:
        self.options = topic.reading(strict, streaming=True)
        self._lookup = ClusterLookup(self.options)
        self._now = 0.0
        self._planner = StreamPlanner(self.options, self._lookup, lambda: self._now)
        self.end: Layout = {}
        self.tasks = self.next_tasks()

    def next_tasks(self) -> list[Task]:
        self._now += 60.0
        start = self.end or self._planner.initial()
        self.end = self._planner.latest(start, None, everything=True)
        return self._planner.tasks(start, self.end)

    def close(self) -> None:
        self._lookup.close()


@pytest.fixture
def strict_and_lenient(topic: Topic) -> Iterator[list[PlannedStream]]:
    topic.fill(BEFORE)
    with contextlib.ExitStack() as stack:
        both = [PlannedStream(topic, strict) for strict in (True, False)]
        for each in both:
            stack.callback(each.close)
        yield both


@pytest.mark.slow
def test_a_micro_batch_planned_before_reads_nothing_of_the_new_topic(
    topic: Topic, partitions: int, strict_and_lenient: list[PlannedStream]
) -> None:
    topic.make_again(partitions)
    topic.fill(BEFORE * 2, b"new")  # the planned offsets exist
    strict, lenient = strict_and_lenient
    with pytest.raises(
        DataLossError, match=r"t-. was to be read from offset 0, but its topic was deleted and recreated"
    ):
        rows_of(strict.options, strict.tasks)
    assert rows_of(lenient.options, lenient.tasks) == 0
    assert rows_of(lenient.options, lenient.next_tasks()) == BEFORE * 2


@pytest.mark.slow
def test_a_running_micro_batch_reads_nothing_of_the_new_topic(
    topic: Topic, partitions: int, strict_and_lenient: list[PlannedStream]
) -> None:
    strict, lenient = strict_and_lenient
    with ClusterLookup(strict.options) as lookup, contextlib.ExitStack() as stack:
        running, values = [], []
        for each in strict_and_lenient:
            consumer = stack.enter_context(contextlib.closing(make_consumer(dict(each.options.configs))))
            running.append(RangeFetch(consumer, lookup, each.options, each.tasks[0]).columns())
            values.append(values_of(next(running[-1])))
        topic.make_again(partitions)
        topic.fill(BEFORE * 2, b"new")
        with pytest.raises(DataLossError, match="but its topic was deleted and recreated after"):
            list(running[0])
        for columns in running[1]:
            values[1] += values_of(columns)
    assert all(value.startswith(b"old") for value in values[1])
    assert 1 <= len(values[1]) < BEFORE
    assert rows_of(lenient.options, lenient.next_tasks()) == BEFORE * 2


def values_of(columns: Columns) -> list[bytes]:
    return [bytes(record.value or b"") for record in columns.to_records()]


@pytest.mark.slow
def test_a_frame_loaded_before_lacks_the_records_of_the_deleted_topic(topic: Topic, partitions: int) -> None:
    strict, options = (topic.reading(each, streaming=False) for each in (True, False))
    topic.fill(BEFORE)
    with ClusterLookup(options) as lookup:
        tasks = plan_batch(options, lookup)
        topic.make_again(partitions)
        topic.fill(AFTER)
        assert rows_of(options, plan_batch(options, lookup)) == AFTER  # for another load()
    with pytest.raises(DataLossError):
        rows_of(strict, tasks)
    there = [-(-(AFTER - number) // partitions) for number in range(partitions)]
    assert rows_of(options, tasks) == sum(min(each, BEFORE // 2) for each in there[:2])


def test_a_sink_continues_with_the_new_topic(topic: Topic, partitions: int) -> None:
    options = topic.writing()
    assert write_task(options, ("key", "value"), batches()) == 30
    topic.make_again(partitions)
    assert write_task(options, ("key", "value"), batches()) == 30
    found = list(kafka.read("t", bootstrap_servers=topic.servers))
    assert len(found) == 30
    assert {each.partition for each in found} == set(range(partitions))


class ExactlyOnceQuery:
    """A query that writes thirty rows in each micro-batch, exactly once."""

    def __init__(self, topic: Topic) -> None:
        self._topic = topic
        self._options = topic.writing(exactlyonce="true", transactionalidprefix="p")
        self._producers = TransactionalProducers()

    def _ask(self, steps: Any) -> Any:
        return ask_brokers(admin_configs(self._options.configs), "p", steps)

    def micro_batch(self, number: int, before_commit: Callable[[], None] = lambda: None, run: str = "run") -> None:
        plan = self._ask(lambda access: driver_steps.plan(access, self._options, "/checkpoint"))
        write = Write("p", "query", run, number, "/checkpoint")
        result = write_in_transaction(self._options, ("key", "value"), batches(), plan, write, self._producers)
        before_commit()
        self._ask(lambda access: driver_steps.commit(access, self._options, [result]))

    def committed(self) -> int:
        servers = self._topic.servers
        return len(list(kafka.read("t", bootstrap_servers=servers, isolation_level="read_committed")))

    def close(self) -> None:
        self._producers.close()


@pytest.fixture
def exactly_once(topic: Topic) -> Iterator[ExactlyOnceQuery]:
    with contextlib.closing(ExactlyOnceQuery(topic)) as query:
        yield query


def test_an_exactly_once_sink_continues_with_the_new_topic(
    topic: Topic, partitions: int, exactly_once: ExactlyOnceQuery
) -> None:
    exactly_once.micro_batch(0)
    topic.make_again(partitions)
    for number in (1, 2):
        exactly_once.micro_batch(number)
    assert exactly_once.committed() == 60


@pytest.mark.slow
def test_a_micro_batch_of_the_deleted_topic_is_committed_and_lost_with_it(
    topic: Topic, partitions: int, exactly_once: ExactlyOnceQuery
) -> None:
    exactly_once.micro_batch(0)
    exactly_once.micro_batch(1, before_commit=lambda: topic.make_again(partitions))
    assert exactly_once.committed() == 0
    exactly_once.micro_batch(2)
    assert exactly_once.committed() == 30
    exactly_once.micro_batch(2, run="after a crash")  # a decided batch is not written again
    assert exactly_once.committed() == 30
    topic.make_again(partitions)
    exactly_once.micro_batch(2, run="after another one")  # the decision is deleted with the topic
    assert exactly_once.committed() == 30
