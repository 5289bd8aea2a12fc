"""The exactly-once sink, as Spark calls it, and the steps of its tasks.

Each task writes in its own transaction, leaves it open, and returns the transaction's identity to the driver.
"""

import collections
import contextlib
import dataclasses
import itertools
import logging
import os
import re
import secrets
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyspark import TaskContext
from pyspark.sql.datasource import WriterCommitMessage

from kafka.errors import InvalidTransactionTimeoutError, KafkaConfigurationError, KafkaError
from kafka.spark.client_cache import Configs
from kafka.spark.exactly_once import driver_steps
from kafka.spark.exactly_once.decision import BATCH_WRITE, Written, task_id
from kafka.spark.exactly_once.driver_steps import Plan, TaskResult
from kafka.spark.exactly_once.prefix_access import admin_configs, ask_brokers
from kafka.spark.exactly_once.replay_check import ExactlyOnceError, Write, is_done
from kafka.spark.options.parsing import WriteOptions
from kafka.spark.tasks.write_task import deliver

if TYPE_CHECKING:
    import pyarrow

    from kafka import KafkaProducer
    from kafka.producer.arrow_future import ArrowResult
    from kafka.producer.transactions import TransactionIdentity

log = logging.getLogger(__name__)

QUERY, BATCH, RUN = "sql.streaming.queryId", "streaming.sql.batchId", "spark.jobGroup.id"
"""The properties of a Spark task that identify its micro-batch."""
_MOST_IDLE = 8
_RUN_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def write_of_task(
    properties: Mapping[str, str | None], prefix: str, *, streaming: bool, checkpoint: str, run: str
) -> Write:
    """Identify the write of a task by the task's properties.

    Arguments:
        properties: the values of `QUERY`, `BATCH` and `RUN`.
        streaming: True for the sink of a stream; False for a batch write, possibly in a foreachBatch function.
        checkpoint: the location of the query's checkpoint, if the sink knows it; otherwise "".
        run: the id of a batch write.

    Raises `ExactlyOnceError` if the task of a stream does not know its query, batch or run.
    """
    query, batch, query_run = properties[QUERY], properties[BATCH], properties[RUN]
    if query is None and not streaming:
        return Write(prefix, BATCH_WRITE, run, 0, "")
    if query is None or batch is None or query_run is None or _RUN_ID.fullmatch(query_run) is None:
        raise ExactlyOnceError(
            "this version of Spark, or a job group set in a foreachBatch function, hides from the sink which "
            f"micro-batch it writes ({QUERY}: {query}, {BATCH}: {batch}, {RUN}: {query_run}), which exactlyOnce "
            "requires"
        )
    return Write(prefix, query, query_run, int(batch), checkpoint)


def write_in_transaction(
    options: WriteOptions,
    columns: Sequence[str],
    batches: Iterator["pyarrow.RecordBatch"],
    plan: Plan,
    write: Write,
    producers: "TransactionalProducers",
) -> TaskResult:
    """Write all rows of a task in a transaction, and leave it open; see `write_task` for the first three arguments.

    If the write is decided, its rows are read but not written: Spark only runs the preceding steps of the task, such as
    those of stateful operators, if their rows are read.
    """
    is_marked = plan.is_marked and write.query == BATCH_WRITE  # micro-batches in a foreachBatch function are numbered
    if is_marked or is_done(write, plan.decided):
        rows = sum(batch.num_rows for batch in batches)
        return TaskResult(write, plan.driver, plan.newest, plan.timeout_ms, rows, None)
    first = next((batch for batch in batches if batch.num_rows), None)
    if first is None:
        return TaskResult(write, plan.driver, plan.newest, plan.timeout_ms, 0, None)
    selected = (batch.select(columns) for batch in itertools.chain([first], batches) if batch.num_rows)
    partitions: dict[str, set[int]] = {}

    def note(result: "ArrowResult") -> None:
        for topic, number in result.offsets:
            partitions.setdefault(topic, set()).add(number)

    run = None if write.query == BATCH_WRITE else write.run
    with producers.borrow(options.configs, write.prefix, plan, run) as slot:
        rows = deliver(slot.producer, options, selected, note)
        slot.transaction = slot.producer.prepare_transaction()
    assert slot.transaction is not None, "there was a row"
    written = Written(slot.transaction, {topic: tuple(sorted(numbers)) for topic, numbers in partitions.items()})
    return TaskResult(write, plan.driver, plan.newest, plan.timeout_ms, rows, written)


class Slot:
    """A producer in this process, and the purpose of its last transaction.

    Arguments:
        key: the producer's options, prefix and transaction timeout.
        number: the number in its transactional id, unique in this process.
        producer: the producer, which is lent to one task at a time.
    """

    def __init__(self, key: tuple[Configs, str, int], number: int, producer: "KafkaProducer") -> None:
        self.key = key
        self.number = number
        self.producer = producer
        self.token = ""
        """The attempt at a write to which the last transaction belongs."""
        self.run: str | None = None
        """The query's run to which the last transaction belongs; None for a batch write."""
        self.transaction: "TransactionIdentity | None" = None

    @property
    def prefix(self) -> str:
        """The `transactionalIdPrefix`."""
        return self.key[1]

    def is_of_another_attempt(self, prefix: str, plan: Plan) -> bool:
        """Return whether the slot's last transaction belongs to an earlier attempt at a write with this prefix."""
        return self.prefix == prefix and self.token != plan.token

    def is_reusable(self, plan: Plan, run: str | None) -> bool:
        """Return whether the transactional id can be reused, because no driver can still abort earlier transactions.

        This is the case in the same run, whose attempts follow each other, and after a batch write whose transaction
        is committed.
        """
        return self.transaction in plan.committed if run is None else self.run == run


class TransactionalProducers:
    """The producers in this process whose transactions are ended by the driver.

    A producer is reused for a later attempt of the same run, and for another batch write if its transaction is
    committed. The same applies to the transactional id of a closed producer, because Kafka keeps each id for a week.
    Other ids are abandoned: a driver that was interrupted after listing open transactions may still abort them by their
    ids.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._begin_process()

    def _begin_process(self) -> None:
        self._pid = os.getpid()
        self._name = secrets.token_hex(5)
        self._numbers = itertools.count()
        self._slots: collections.deque[Slot] = collections.deque()
        self._closed: collections.deque[Slot] = collections.deque()
        """Slots whose producers are closed; their numbers can be reused."""

    @contextlib.contextmanager
    def borrow(self, configs: Configs, prefix: str, plan: Plan, run: str | None) -> Iterator[Slot]:
        """Lend a producer with a new transaction. If the block raises, abort the transaction and close the producer.

        Arguments:
            run: the id of the query's run; None for a batch write.

        Raises `KafkaConfigurationError` if brokers do not allow the transaction timeout.
        """
        slot = self._take((configs, prefix, plan.timeout_ms), plan, run)
        try:
            try:
                slot.producer.init_transactions()
            except InvalidTransactionTimeoutError as error:
                raise KafkaConfigurationError(
                    f"the brokers do not allow transactions of {plan.timeout_ms} ms (transaction.max.timeout.ms): set "
                    "the option 'kafka.transaction.timeout.ms'"
                ) from error
            slot.producer.begin_transaction()
            yield slot
        except BaseException:
            _let_go(slot)
            raise
        slot.token, slot.run = plan.token, run
        self._give_back(slot)

    def close(self) -> None:
        """Close all producers without ending prepared transactions."""
        with self._lock:
            slots, self._slots = self._slots, collections.deque()
        for slot in slots:
            slot.producer.close(timeout=0)

    def _take(self, key: tuple[Configs, str, int], plan: Plan, run: str | None) -> Slot:
        configs, prefix, timeout_ms = key
        with self._lock:
            if self._pid != os.getpid():  # a forked process needs its own ids
                self._begin_process()
            given_up = self._give_up(prefix, plan, run)
            slot = next((each for each in self._slots if each.key == key and each.token != plan.token), None)
            if slot is not None:
                self._slots.remove(slot)
            else:
                number = self._number(prefix, plan)
        for each in given_up:
            each.producer.close(timeout=0)
        if slot is not None:
            return slot
        from kafka import KafkaProducer

        given: dict[str, Any] = dict(configs)
        given["transactional_id"] = task_id(prefix, f"{self._name}.{number}")
        given["transaction_timeout_ms"] = timeout_ms
        return Slot(key, number, KafkaProducer(**given))

    def _give_up(self, prefix: str, plan: Plan, run: str | None) -> list[Slot]:
        """Abandon ids of earlier attempts that must not be reused; return the slots whose producers must be closed."""

        def is_over(slot: Slot) -> bool:
            return slot.is_of_another_attempt(prefix, plan) and not slot.is_reusable(plan, run)

        given_up = [each for each in self._slots if is_over(each)]
        self._slots = collections.deque(each for each in self._slots if not is_over(each))
        self._closed = collections.deque(each for each in self._closed if not is_over(each))
        return given_up

    def _number(self, prefix: str, plan: Plan) -> int:
        """Return the number of a closed producer whose transaction belongs to an earlier attempt, or a new number."""
        for each in self._closed:
            if each.is_of_another_attempt(prefix, plan):
                self._closed.remove(each)
                return each.number
        return next(self._numbers)

    def _give_back(self, slot: Slot) -> None:
        surplus = None
        with self._lock:
            self._slots.append(slot)
            if len(self._slots) > _MOST_IDLE:
                surplus = self._slots.popleft()
                self._closed.append(surplus)
        if surplus is not None:
            surplus.producer.close(timeout=0)  # does not end a prepared transaction


def _let_go(slot: Slot) -> None:
    """Close the producer, which aborts its transaction. If that takes too long, the driver aborts it."""
    try:
        slot.producer.close(timeout=_ABORT_S)
    except KafkaError:
        log.warning("a producer could not be closed cleanly", exc_info=True)


_ABORT_S = 5

PRODUCERS = TransactionalProducers()
"""The producers in this process whose transactions are ended by the driver."""


@dataclasses.dataclass
class Prepared(WriterCommitMessage):  # type: ignore[misc]  # PySpark's classes are untyped here
    """A task's message to the driver."""

    result: driver_steps.TaskResult


class TransactionalWriter:
    """Writes rows in transactions, and commits a write completely or not at all.

    `plan` has already been called on the instance that is sent to the tasks. To commit or abort a stream's
    micro-batch, Spark creates other instances, on which `plan` is not called.

    Arguments:
        options: the options of the write.
        columns: the columns to write.
        streaming: True for the sink of a stream; False for a batch write.
        checkpoint: the location of the query's checkpoint, if Spark provides it; otherwise "".
    """

    def __init__(self, options: WriteOptions, columns: Sequence[str], *, streaming: bool, checkpoint: str) -> None:
        assert options.exactly_once is not None
        self._options = options
        self._columns = columns
        self._streaming = streaming
        self._checkpoint = checkpoint
        self._prefix = options.exactly_once.prefix
        self._plan: driver_steps.Plan | None = None

    def plan(self) -> None:
        """Plan the write, unless it has already been planned."""
        if self._plan is None:
            self._plan = self._ask(lambda access: driver_steps.plan(access, self._options, self._checkpoint))

    def write(self, batches: Iterator["pyarrow.RecordBatch"]) -> Prepared:
        """Write the rows of one task."""
        assert self._plan is not None, "the write was planned"
        context = TaskContext.get()
        assert context is not None, "it is called in a task"
        properties = {name: context.getLocalProperty(name) for name in (QUERY, BATCH, RUN)}
        write = write_of_task(
            properties, self._prefix, streaming=self._streaming, checkpoint=self._checkpoint, run=self._plan.run
        )
        return Prepared(write_in_transaction(self._options, self._columns, batches, self._plan, write, PRODUCERS))

    def commit(self, messages: Sequence[Prepared | None]) -> None:
        """Decide the write, and commit it."""
        results = [message.result for message in messages if message is not None]
        if results:
            self._ask(lambda access: driver_steps.commit(access, self._options, results))

    def abort(self, messages: Sequence[Prepared | None]) -> None:
        """Abort the write unless it is decided. Does not raise, because Spark already reports an error."""
        results = [None if message is None else message.result for message in messages]
        try:
            self._ask(lambda access: driver_steps.abort(access, results))
        except KafkaError as error:
            log.warning(
                "rows already written could not be aborted yet; the next attempt aborts them, or Kafka when their "
                "transaction times out: %s",
                error,
            )

    def _ask(self, steps: Any) -> Any:
        return ask_brokers(admin_configs(self._options.configs), self._prefix, steps)
