"""The protocol of the sink that delivers exactly once, without Spark: driver and tasks crash at seeded steps.

Each replay splits the rows of its batch over another number of tasks. Tasks die as processes do: what they have left
open stays open until somebody ends it.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from kafka import KafkaConsumer
from kafka.broker import EmbeddedBroker
from kafka.errors import KafkaConfigurationError, KafkaError
from kafka.producer.transactions import end_transactions
from kafka.spark import transactions
from kafka.spark.exactly_once import driver_steps
from kafka.spark.exactly_once.decision import BATCH_WRITE
from kafka.spark.exactly_once.prefix_access import PrefixAccess, ask_brokers
from kafka.spark.exactly_once.replay_check import (
    DriverFencedError,
    NotDecidedError,
    PrefixInUseError,
    SecondWriteError,
    TransactionLostError,
    Write,
)
from kafka.spark.exactly_once.task import TransactionalProducers, write_in_transaction
from kafka.spark.options.parsing import ExactlyOnceOptions, WriteOptions
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    pass

PARTITIONS = 3
KEYS = 7


@pytest.fixture(scope="module")
def of_version_1(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with EmbeddedBroker(tmp_path_factory.mktemp("version-1"), transaction_version=1) as broker:
        yield broker


class CrashError(Exception):
    """A process is killed."""


class Crashing:
    """A driver's access to the brokers that is killed before or after a step, or in the middle of one."""

    def __init__(self, access: PrefixAccess, dice: Dice) -> None:
        self._access = access
        self._dice = dice

    @property
    def prefix(self) -> str:
        return self._access.prefix

    async def end(self, identities: Any, *, commit: bool) -> Any:
        some = list(identities)
        self._dice.roll()
        half = await self._access.end(some[: len(some) // 2], commit=commit)
        self._dice.roll()
        return half | await self._access.end(some[len(some) // 2 :], commit=commit)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._access, name)

        async def step(*args: Any, **kwargs: Any) -> Any:
            self._dice.roll()
            result = await method(*args, **kwargs)
            self._dice.roll()
            return result

        return step


class Dice:
    """Kills with a probability, from a seed."""

    def __init__(self, seed: int, probability: float) -> None:
        self.random = random.Random(seed)
        self.probability = probability
        self.crashes = 0

    def roll(self) -> None:
        if self.random.random() < self.probability:
            self.crashes += 1
            raise CrashError


class Query:
    """What Spark does with the sink of a stream: plan, run the tasks, commit, or abort and raise.

    Arguments:
        checkpoint: told to the sink; "" as in a foreachBatch function.
    """

    def __init__(
        self,
        servers: str,
        topic: str,
        *,
        prefix: str | None = None,
        query: str = "the query",
        checkpoint: str = "/checkpoint",
        timeout_ms: int | None = None,
        batch_id: str | None = None,
        dice: Dice | None = None,
    ) -> None:
        self.configs = (("bootstrap_servers", servers),)
        self.topic = topic
        self.prefix = prefix or f"of-{topic}"
        self.query, self.checkpoint = query, checkpoint
        self.options = WriteOptions(
            topic, self.configs, exactly_once=ExactlyOnceOptions(self.prefix, batch_id, timeout_ms)
        )
        self.dice = dice or Dice(0, 0)
        self.run = "run 0"
        self.processes = [TransactionalProducers(), TransactionalProducers()]
        self.dead: list[TransactionalProducers] = []

    def ask(self, steps: Callable[[Any], Any]) -> Any:
        return ask_brokers(self.configs, self.prefix, lambda access: steps(Crashing(access, self.dice)))

    def plan(self) -> driver_steps.Plan:
        plan: driver_steps.Plan = self.ask(lambda access: driver_steps.plan(access, self.options, self.checkpoint))
        return plan

    def task(self, plan: driver_steps.Plan, batch: int, rows: list[tuple[str, str]]) -> driver_steps.TaskResult:
        run = self.run if self.query != BATCH_WRITE else plan.run
        write = Write(self.prefix, self.query, run, batch, self.checkpoint)
        number = self.dice.random.randrange(len(self.processes))
        table = pa.table({"key": [key for key, _ in rows], "value": [value for _, value in rows]})
        try:
            self.dice.roll()
            batches = iter(table.to_batches())
            columns = ("key", "value")
            result = write_in_transaction(self.options, columns, batches, plan, write, self.processes[number])
            self.dice.roll()
        except CrashError:  # another process takes its place, and what it has written is left open
            self.dead.append(self.processes[number])
            self.processes[number] = TransactionalProducers()
            raise
        return result

    def tasks(
        self, plan: driver_steps.Plan, batch: int, rows: list[tuple[str, str]], count: int
    ) -> list[driver_steps.TaskResult]:
        split: list[list[tuple[str, str]]] = [[] for _ in range(count)]
        for key, value in rows:
            split[zlib.crc32(key.encode()) % count].append((key, value))
        return [self.attempts(plan, batch, some) for some in split]

    def attempts(self, plan: driver_steps.Plan, batch: int, rows: list[tuple[str, str]]) -> driver_steps.TaskResult:
        while True:
            try:
                return self.task(plan, batch, rows)
            except CrashError:
                continue

    def commit(self, results: list[driver_steps.TaskResult]) -> None:
        self.ask(lambda access: driver_steps.commit(access, self.options, results))

    def abort(self, results: list[driver_steps.TaskResult]) -> None:
        self.ask(lambda access: driver_steps.abort(access, results))

    def write(self, batch: int, rows: list[tuple[str, str]], count: int = 2) -> None:
        results: list[driver_steps.TaskResult] = []
        plan = self.plan()
        results = self.tasks(plan, batch, rows, count)
        try:
            self.commit(results)
        except KafkaError:
            self.abort(results)
            raise

    def close(self) -> None:
        for process in [*self.processes, *self.dead]:
            process.close()


def rows_of(batch: int) -> list[tuple[str, str]]:
    return [(f"k{number % KEYS}", f"{batch:04}-{number:02}") for number in range(1 + batch * 7 % 12)]


def read(servers: str, topic: str) -> list[tuple[str, str]]:
    """The committed records of a topic, in order in each partition."""
    with KafkaConsumer(
        bootstrap_servers=servers, group_id=None, auto_offset_reset="earliest", isolation_level="read_committed"
    ) as consumer:
        partitions = [TopicPartition(topic, number) for number in range(PARTITIONS)]
        consumer.assign(partitions)
        consumer.seek_to_beginning(*partitions)
        ends = consumer.end_offsets(partitions)
        found: list[tuple[str, str]] = []
        while any(consumer.position(each) < ends[each] for each in partitions):
            for records in consumer.poll(timeout_ms=500).values():
                found += [(record.key.decode(), record.value.decode()) for record in records]
    return found


def check_each_once(servers: str, topic: str, batches: int) -> None:
    expected = [row for batch in range(batches) for row in rows_of(batch)]
    found = read(servers, topic)
    assert sorted(found) == sorted(expected)
    for key in {key for key, _ in expected}:
        assert [row for row in found if row[0] == key] == [row for row in expected if row[0] == key], "in order"


def simulate(servers: str, topic: str, seed: int, checkpoint: str, batches: int) -> int:
    """Write batches, with crashes; gives how many there were."""
    dice = Dice(seed, 0.04)
    query = Query(servers, topic, checkpoint=checkpoint, dice=dice)
    runs = batch = 0
    while batch < batches:
        try:
            query.write(batch, rows_of(batch), dice.random.randrange(1, 5))
            dice.roll()  # after commit(), before Spark has written down that the batch is done
        except CrashError:
            runs += 1
            query.run = f"run {runs}"
            continue
        batch += 1
    query.close()
    return dice.crashes


@pytest.mark.parametrize("checkpoint", ["/checkpoint", ""])
@pytest.mark.parametrize("seed", [1, 2])
def test_each_row_is_read_once_and_in_order_wherever_driver_and_tasks_crash(broker, make_topic, seed, checkpoint):
    topic = make_topic(partitions=PARTITIONS)
    assert simulate(broker.bootstrap_servers, topic, seed, checkpoint, 15) > 5
    check_each_once(broker.bootstrap_servers, topic, 15)


@pytest.mark.parametrize("checkpoint", ["/checkpoint", ""])
def test_the_same_with_transactions_of_version_1(of_version_1, make_topic_on, checkpoint):
    topic = make_topic_on(of_version_1)(partitions=PARTITIONS)
    assert simulate(of_version_1.bootstrap_servers, topic, 3, checkpoint, 15) > 5
    check_each_once(of_version_1.bootstrap_servers, topic, 15)


@pytest.fixture
def make_query(broker, make_topic) -> Iterator[Callable[..., Query]]:
    made: list[Query] = []

    def make(**given: Any) -> Query:
        given.setdefault("topic", None)
        topic = given.pop("topic") or make_topic(partitions=PARTITIONS)
        made.append(Query(broker.bootstrap_servers, topic, **given))
        return made[-1]

    yield make
    for query in made:
        query.close()


def test_of_two_live_drivers_the_older_one_is_fenced_and_says_so(broker, make_query):
    older = make_query()
    older.write(0, rows_of(0))
    newer = make_query(topic=older.topic)
    newer.run = "run 1"
    results = older.tasks(older.plan(), 1, rows_of(1), 2)
    newer.write(1, rows_of(1))
    with pytest.raises((DriverFencedError, NotDecidedError), match=r"taken over|ended before"):
        older.commit(results)
    older.abort(results)
    check_each_once(broker.bootstrap_servers, older.topic, 2)


class StoppedError(Exception):
    """A process is stopped, and may go on at any time."""


def stop_before_aborting(steps: Callable[[], Any]) -> Callable[[PrefixAccess], Any]:
    """Have a driver stop when it is about to abort what was left open; gives what it does when it goes on."""
    found: list[Any] = []

    async def stop(_: PrefixAccess, transactional_ids: Any) -> None:
        found.append(transactional_ids)
        raise StoppedError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PrefixAccess, "abort_ids", stop)
        with pytest.raises(StoppedError):
            steps()
    return lambda access: access.abort_ids(found[0])


def commit_while(query: Query, results: list[driver_steps.TaskResult], wakes: Callable[[Any], Any]) -> None:
    """Commit, and let a driver that was stopped go on once it is decided, but not committed yet."""
    finish = driver_steps._finish

    async def finish_late(access: Any, decided: Any) -> None:
        await wakes(access)
        await finish(access, decided)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(driver_steps, "_finish", finish_late)
        query.commit(results)


def drivers_of(servers: str, topic: str, checkpoint: str) -> tuple[Query, Query]:
    """Two drivers of a query in one session: their tasks run in the same processes."""
    older, newer = (Query(servers, topic, checkpoint=checkpoint) for _ in range(2))
    newer.processes, newer.run = older.processes[:1], "run 1"
    older.processes = older.processes[:1]
    return older, newer


def check_a_driver_that_slept_before_it_aborted(servers: str, topic: str) -> None:
    older, newer = drivers_of(servers, topic, "/checkpoint")
    older.write(0, rows_of(0))
    older.tasks(older.plan(), 1, rows_of(1), 2)  # and its driver dies
    wakes = stop_before_aborting(older.plan)
    commit_while(newer, newer.tasks(newer.plan(), 1, rows_of(1), 2), wakes)
    check_each_once(servers, topic, 2)
    newer.close()


def check_a_driver_that_slept_while_another_one_was_not_sure(servers: str, topic: str) -> None:
    older, newer = drivers_of(servers, topic, "")
    results = older.tasks(older.plan(), 0, rows_of(0), 2)
    plan = newer.plan()
    later = newer.tasks(plan, 0, rows_of(0), 2)
    wakes = stop_before_aborting(lambda: older.commit(results))
    with pytest.raises(DriverFencedError, match="another driver has taken over"):
        commit_while(newer, later, wakes)
    newer.run = "run 2"
    newer.write(0, rows_of(0))
    newer.ask(wakes)
    newer.write(1, rows_of(1))
    check_each_once(servers, topic, 2)
    newer.close()


SLEEPERS = pytest.mark.parametrize(
    "check",
    [check_a_driver_that_slept_before_it_aborted, check_a_driver_that_slept_while_another_one_was_not_sure],
    ids=["it had fenced others", "others were not sure"],
)


@SLEEPERS
def test_a_driver_that_slept_before_it_aborts_what_was_left_open_loses_nothing_of_its_successor(
    broker, make_topic, check
):
    check(broker.bootstrap_servers, make_topic(partitions=PARTITIONS))


@SLEEPERS
def test_it_loses_nothing_with_transactions_of_version_1_either(of_version_1, make_topic_on, check):
    check(of_version_1.bootstrap_servers, make_topic_on(of_version_1)(partitions=PARTITIONS))


def test_a_driver_that_is_fenced_while_its_transactions_are_open_has_decided_nothing(broker, make_query):
    older = make_query()
    older.write(0, rows_of(0))
    results = older.tasks(older.plan(), 1, [], 1)
    newer = make_query(topic=older.topic)
    newer.plan()
    with pytest.raises(DriverFencedError, match="another driver has taken over transactionalIdPrefix"):
        older.commit(results)


def test_another_query_is_refused_by_name_and_does_not_fence_the_first(broker, make_query):
    first = make_query()
    first.write(0, rows_of(0))
    plan = first.plan()
    other = make_query(topic=first.topic, query="another query", checkpoint="/another")
    with pytest.raises(PrefixInUseError, match="belongs to query the query with the checkpoint /checkpoint"):
        other.write(0, rows_of(1))
    first.commit(first.tasks(plan, 1, rows_of(1), 2))
    check_each_once(broker.bootstrap_servers, first.topic, 2)


def test_a_second_write_of_a_micro_batch_is_refused_in_its_run_and_when_it_is_replayed(broker, make_query):
    query = make_query(checkpoint="")
    query.write(0, rows_of(0))
    for run in ("run 0", "run 1"):
        query.run = run
        if run == "run 1":
            query.write(0, rows_of(0))
        with pytest.raises(SecondWriteError, match="needs a prefix of its own"):
            query.write(0, rows_of(0))
    check_each_once(broker.bootstrap_servers, query.topic, 1)


def test_a_task_that_was_given_up_cannot_harm_the_one_in_its_place(broker, make_query):
    query = make_query()
    plan = query.plan()
    late = Query(broker.bootstrap_servers, query.topic)
    late.attempts(plan, 0, rows_of(0))
    results = query.tasks(plan, 0, rows_of(0), 2)
    late.attempts(plan, 0, rows_of(0))
    query.commit(results)
    late.close()
    check_each_once(broker.bootstrap_servers, query.topic, 1)


def test_what_a_killed_task_of_the_last_batch_has_left_open_holds_no_reader_up(broker, make_query):
    query = make_query()
    for batch in range(2):  # in the second the drivers before are fenced already when it is planned
        plan = query.plan()
        killed = Query(broker.bootstrap_servers, query.topic)
        killed.attempts(plan, batch, rows_of(batch))
        query.commit(query.tasks(plan, batch, rows_of(batch), 2))
        assert transactions(query.prefix, bootstrap_servers=broker.bootstrap_servers).open == ()
        killed.close()
    check_each_once(broker.bootstrap_servers, query.topic, 2)


def test_what_was_ended_before_the_decision_fails_the_batch_and_nothing_is_committed(broker, make_query):
    query = make_query()
    results = query.tasks(query.plan(), 0, rows_of(3), 2)
    assert results[0].written is not None
    identity = results[0].written.transaction
    assert end_transactions([identity], commit=False, bootstrap_servers=broker.bootstrap_servers) == {identity: None}
    with pytest.raises(NotDecidedError, match=r"nothing of the batch is committed: of-.*aborted manually"):
        query.commit(results)
    query.abort(results)
    assert read(broker.bootstrap_servers, query.topic) == []
    query.run = "run 1"
    query.write(0, rows_of(0))
    check_each_once(broker.bootstrap_servers, query.topic, 1)


def test_a_transaction_that_is_lost_after_the_decision_is_told_with_its_partitions(broker, make_query, monkeypatch):
    query = make_query()
    results = query.tasks(query.plan(), 0, rows_of(3), 2)
    decide = PrefixAccess.decide

    async def decide_and_lose(access: PrefixAccess, *args: Any) -> None:
        await decide(access, *args)
        assert results[0].written is not None
        await access.abort_ids([results[0].written.transaction.transactional_id])  # as if it had timed out

    monkeypatch.setattr(PrefixAccess, "decide", decide_and_lose)
    with pytest.raises(TransactionLostError, match=rf"batch 0 of the query are lost.*{query.topic}-\[\d"):
        query.commit(results)
    query.abort(results)
    assert read(broker.bootstrap_servers, query.topic), "the other transaction is committed"
    query.run = "run 1"
    with pytest.raises(TransactionLostError, match="1 of its 2 transactions were aborted"):
        query.write(0, rows_of(3))


def test_a_batch_write_is_a_new_one_unless_it_has_a_name(broker, make_query):
    plain = make_query(query=BATCH_WRITE, checkpoint="")
    plain.write(0, rows_of(0))
    plain.write(0, rows_of(0))
    assert read(broker.bootstrap_servers, plain.topic) == rows_of(0) * 2
    for name in ("x", "y", "x"):
        named = make_query(topic=plain.topic, query=BATCH_WRITE, checkpoint="", batch_id=name)
        named.write(0, rows_of(0))
    assert read(broker.bootstrap_servers, plain.topic) == rows_of(0) * 4


def test_of_two_batch_writes_of_one_name_at_the_same_time_one_is_written(broker, make_query):
    older = make_query(query=BATCH_WRITE, checkpoint="", batch_id="x")
    newer = make_query(query=BATCH_WRITE, checkpoint="", batch_id="x", topic=older.topic)
    plan = older.plan()
    newer.write(0, rows_of(0))
    older.commit(older.tasks(plan, 0, rows_of(0), 2))
    assert read(broker.bootstrap_servers, older.topic) == rows_of(0)


def test_what_is_left_of_a_query_is_listed_and_aborted(broker, make_query):
    query = make_query()
    query.write(0, rows_of(0))
    results = query.tasks(query.plan(), 1, rows_of(1), 2)
    found = transactions(query.prefix, bootstrap_servers=broker.bootstrap_servers)
    names = {each.written.transaction.transactional_id for each in results if each.written is not None}
    assert {each.transactional_id for each in found.open} == names
    assert not any(each.is_decided for each in found.open)
    assert found.decided is not None
    assert (found.decided.query, found.decided.batch) == ("the query", 0)
    found.abort()
    found = transactions(query.prefix, bootstrap_servers=broker.bootstrap_servers)
    assert found.open == ()
    with pytest.raises((DriverFencedError, NotDecidedError)):
        query.commit(results)
    found.forget()
    assert transactions(query.prefix, bootstrap_servers=broker.bootstrap_servers).decided is None
    make_query(topic=query.topic, query="another query").write(0, rows_of(5))


def test_a_timeout_that_the_brokers_do_not_allow_is_refused_with_the_option(broker, make_query):
    query = make_query(timeout_ms=16 * 60_000)
    with pytest.raises(KafkaConfigurationError, match=r"kafka\.transaction\.timeout\.ms.*960000|960000.*timeout\.ms"):
        query.write(0, rows_of(0))
    if broker.kind == "apache":  # the embedded broker does not show the setting
        with pytest.raises(KafkaConfigurationError, match=r"is 960000, but the brokers allow 900000"):
            query.plan()


def test_a_batch_of_very_many_tasks_is_decided_in_several_offsets(broker, make_query, monkeypatch):
    monkeypatch.setattr("kafka.spark.exactly_once.decision.PART_CHARACTERS", 100)
    query = make_query()
    for batch in range(2):
        query.write(batch, rows_of(batch), 4)
    query.run = "run 1"
    query.write(1, rows_of(1), 3)
    check_each_once(broker.bootstrap_servers, query.topic, 2)
