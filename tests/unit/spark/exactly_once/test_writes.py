"""Exactly-once writes on the embedded broker, step by step as Spark performs them, but without Spark."""

from collections.abc import Iterator

import pyarrow as pa
import pytest

import kafka
from kafka.broker import EmbeddedBroker
from kafka.producer.transactions.transaction_requests import TransactionRequests
from kafka.spark.exactly_once import driver_steps, prefix_access
from kafka.spark.exactly_once.decision import BATCH_WRITE
from kafka.spark.exactly_once.prefix_access import PrefixAccess, admin_configs, ask_brokers
from kafka.spark.exactly_once.replay_check import Write
from kafka.spark.exactly_once.task import TransactionalProducers, write_in_transaction
from kafka.spark.options.parsing import WriteOptions, parse_write

pytestmark = pytest.mark.once


async def die(*_: object) -> None:
    """Replace a step that the driver no longer reaches."""
    raise ConnectionError("it is dead")


class DriverAndTask:
    """A driver, and the worker process of a task."""

    def __init__(self, broker: EmbeddedBroker, **given: str) -> None:
        base = {"topic": "out", "exactlyOnce": "true", "transactionalIdPrefix": "p"}
        options = {"kafka.bootstrap.servers": broker.bootstrap_servers, **base, **given}
        self.broker = broker
        self.options: WriteOptions = parse_write({name.lower(): value for name, value in options.items()})
        self.producers = TransactionalProducers()

    def ask(self, steps):
        return ask_brokers(admin_configs(self.options.configs), "p", steps)

    def plan(self) -> driver_steps.Plan:
        return self.ask(lambda access: driver_steps.plan(access, self.options, ""))

    def task(self, plan: driver_steps.Plan, write: Write, *values: str) -> driver_steps.TaskResult:
        rows = iter([pa.record_batch({"value": list(values)})])
        return write_in_transaction(self.options, ("value",), rows, plan, write, self.producers)

    def commit(self, *results: driver_steps.TaskResult) -> None:
        self.ask(lambda access: driver_steps.commit(access, self.options, results))

    def micro_batch(self, number: int, *values: str, run: str = "run") -> None:
        """Write a micro-batch as a foreachBatch function does."""
        self.commit(self.task(self.plan(), Write("p", "query", run, number, ""), *values))

    def batch_task(self, *values: str) -> driver_steps.TaskResult:
        plan = self.plan()
        return self.task(plan, Write("p", BATCH_WRITE, plan.run, 0, ""), *values)

    def batch(self, *values: str) -> None:
        self.commit(self.batch_task(*values))

    def committed(self) -> list[str]:
        committed = kafka.read("out", bootstrap_servers=self.broker.bootstrap_servers, isolation_level="read_committed")
        return sorted(record.value.decode() for record in committed)


@pytest.fixture
def broker() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker() as started:
        yield started


def test_micro_batches_of_foreach_batch_are_written_despite_the_same_batch_id(broker):
    writes = DriverAndTask(broker, transactionalBatchId="the same for all")
    writes.micro_batch(0, "a")
    writes.micro_batch(1, "b")
    writes.micro_batch(1, "b", run="after a crash")
    assert writes.committed() == ["a", "b"]


def test_a_batch_write_committed_under_its_id_is_not_repeated(broker):
    writes = DriverAndTask(broker, transactionalBatchId="a night's")
    writes.batch("a")
    writes.batch("a")
    assert writes.committed() == ["a"]


def test_a_batch_write_committed_before_its_tasks_is_not_sent_again(broker):
    writes = DriverAndTask(broker, transactionalBatchId="a night's")
    writes.batch("a")
    again = writes.batch_task("a", "b")
    assert (again.written, again.rows) == (None, 2)


def test_a_micro_batch_ignores_a_recorded_batch_id(broker):
    """The earlier write was a batch write, or the first micro-batch of a function in an earlier version."""
    writes = DriverAndTask(broker, transactionalBatchId="the same for all")
    writes.batch("a")
    writes.ask(lambda access: access.forget())
    assert writes.plan().is_marked
    writes.micro_batch(0, "b")
    assert writes.committed() == ["a", "b"]


def test_a_committed_batch_write_is_not_lost_after_another_one_fails(broker):
    first, second = (DriverAndTask(broker, transactionalBatchId=name) for name in ("first", "second"))
    second.producers = first.producers
    first.batch("a")
    failed = second.batch_task("b")
    second.ask(lambda access: driver_steps.abort(access, [failed]))
    first.batch("a")
    assert first.committed() == ["a"]


def test_a_committed_batch_write_is_not_lost_if_not_recorded(broker, monkeypatch):
    first, second = (DriverAndTask(broker, transactionalBatchId=name) for name in ("first", "second"))
    second.producers = first.producers
    with monkeypatch.context() as dying:
        dying.setattr(PrefixAccess, "note_finished", die)
        with pytest.raises(ConnectionError):
            first.batch("a")
    failed = second.batch_task("b")
    second.ask(lambda access: driver_steps.abort(access, [failed]))
    first.batch("a")
    assert first.committed() == ["a"]


def test_successive_batch_writes_use_the_same_transactional_id(broker):
    writes = DriverAndTask(broker)
    results = []
    for value in ("a", "b"):
        results.append(writes.batch_task(value))
        writes.commit(results[-1])
    assert len({each.written.transaction.transactional_id for each in results}) == 1
    assert writes.committed() == ["a", "b"]


def test_a_batch_write_continues_after_its_driver_died_while_deciding(broker, monkeypatch):
    monkeypatch.setattr(prefix_access, "LIMIT_MS", 10_000)
    writes = DriverAndTask(broker, transactionalBatchId="a night's")
    with monkeypatch.context() as dying:
        dying.setattr(TransactionRequests, "end", die)
        with pytest.raises(ConnectionError):
            writes.batch("a")
    writes.batch("a")
    assert writes.committed() == ["a"]


def test_a_recent_decision_is_not_aborted_by_the_next_task(broker, monkeypatch):
    writes = DriverAndTask(broker)
    writes.micro_batch(0, "a")
    before = writes.ask(lambda access: access.read(stable=False))
    with monkeypatch.context() as dying:
        dying.setattr(driver_steps, "_finish", die)
        with pytest.raises(ConnectionError):
            writes.micro_batch(1, "b")
    read = PrefixAccess.read

    async def read_behind(self, *, stable):
        return await read(self, stable=True) if stable else before  # until the markers are written

    monkeypatch.setattr(PrefixAccess, "read", read_behind)
    writes.micro_batch(1, "b", run="after a crash")
    assert writes.committed() == ["a", "b"]


@pytest.mark.slow
def test_batches_of_many_tasks_in_one_process_are_committed_under_the_same_transactional_ids(broker):
    writes = DriverAndTask(broker)
    names = set()
    for number in range(3):
        plan = writes.plan()
        write = Write("p", "query", "run", number, "")
        results = [writes.task(plan, write, f"{number}.{each}") for each in range(12)]
        writes.commit(*results)
        names |= {result.written.transaction.transactional_id for result in results}
    assert writes.committed() == sorted(f"{number}.{each}" for number in range(3) for each in range(12))
    assert len(names) == 12


def test_open_transactions_are_aborted_if_brokers_limit_timeouts():
    with EmbeddedBroker(transaction_max_timeout_ms=30_000) as broker:
        writes = DriverAndTask(broker, **{"kafka.transaction.timeout.ms": "20000"})
        plan = writes.plan()
        for _ in range(2):
            writes.task(plan, Write("p", "query", "run", 0, ""), "of a task that was given up")
        writes.producers = TransactionalProducers()  # those of another process
        writes.micro_batch(0, "a")
        assert writes.committed() == ["a"]
