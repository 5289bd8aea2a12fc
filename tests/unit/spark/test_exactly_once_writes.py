"""Writes of exactly once on the embedded broker, step by step as Spark makes them, but without Spark."""

from collections.abc import Iterator

import pyarrow as pa
import pytest

from kafka import KafkaConsumer
from kafka.broker import EmbeddedBroker
from kafka.spark.exactly_once import driver
from kafka.spark.exactly_once.decision import BATCH_WRITE
from kafka.spark.exactly_once.judgement import Write
from kafka.spark.exactly_once.prefix_access import admin_configs, ask_brokers
from kafka.spark.exactly_once.task import TransactionalProducers, write_in_transaction
from kafka.spark.options import WriteOptions, parse_write

pytestmark = pytest.mark.once


class Writes:
    """A driver, and the process of a task."""

    def __init__(self, broker: EmbeddedBroker, **given: str) -> None:
        base = {"topic": "out", "exactlyOnce": "true", "transactionalIdPrefix": "p"}
        options = {"kafka.bootstrap.servers": broker.bootstrap_servers, **base, **given}
        self.broker = broker
        self.options: WriteOptions = parse_write({name.lower(): value for name, value in options.items()})
        self.producers = TransactionalProducers()

    def ask(self, steps):
        return ask_brokers(admin_configs(self.options.configs), "p", steps)

    def plan(self) -> driver.Plan:
        return self.ask(lambda access: driver.plan(access, self.options, ""))

    def task(self, plan: driver.Plan, write: Write, *values: str) -> driver.TaskResult:
        rows = iter([pa.record_batch({"value": list(values)})])
        return write_in_transaction(self.options, ("value",), rows, plan, write, self.producers)

    def commit(self, *results: driver.TaskResult) -> None:
        self.ask(lambda access: driver.commit(access, self.options, results))

    def micro_batch(self, number: int, *values: str, run: str = "run") -> None:
        """As a foreachBatch function writes it."""
        self.commit(self.task(self.plan(), Write("p", "query", run, number, ""), *values))

    def batch(self, *values: str) -> None:
        plan = self.plan()
        self.commit(self.task(plan, Write("p", BATCH_WRITE, plan.run, 0, ""), *values))

    def committed(self) -> list[str]:
        with KafkaConsumer(
            "out",
            bootstrap_servers=self.broker.bootstrap_servers,
            isolation_level="read_committed",
            auto_offset_reset="earliest",
            consumer_timeout_ms=500,
        ) as consumer:
            return sorted(record.value.decode() for record in consumer)


@pytest.fixture
def broker() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker() as started:
        yield started


def test_each_micro_batch_of_a_foreach_batch_function_is_written_though_all_have_one_batch_id(broker):
    writes = Writes(broker, transactionalBatchId="the same for all")
    writes.micro_batch(0, "a")
    writes.micro_batch(1, "b")
    writes.micro_batch(1, "b", run="after a crash")
    assert writes.committed() == ["a", "b"]


def test_a_batch_write_that_was_committed_under_its_name_is_not_written_again(broker):
    writes = Writes(broker, transactionalBatchId="a night's")
    writes.batch("a")
    writes.batch("a")
    assert writes.committed() == ["a"]
