"""A task's steps: write in a transaction of its own, leave it open, and tell its identity."""

import collections
import contextlib
import itertools
import logging
import os
import re
import secrets
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kafka.errors import InvalidTransactionTimeoutError, KafkaConfigurationError, KafkaError
from kafka.spark.cache import Configs
from kafka.spark.exactly_once.decision import BATCH_WRITE, Written
from kafka.spark.exactly_once.driver import Plan, TaskResult
from kafka.spark.exactly_once.errors import ExactlyOnceError
from kafka.spark.exactly_once.judgement import Write, is_done
from kafka.spark.exactly_once.names import task_id
from kafka.spark.options import WriteOptions
from kafka.spark.write_task import deliver

if TYPE_CHECKING:
    import pyarrow

    from kafka import KafkaProducer
    from kafka.producer.arrow.future import ArrowResult

log = logging.getLogger(__name__)

QUERY, BATCH, RUN = "sql.streaming.queryId", "streaming.sql.batchId", "spark.jobGroup.id"
"""The properties of a Spark task that say which micro-batch it belongs to."""
_MOST_IDLE = 8
_RUN_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def who_writes(
    properties: Mapping[str, str | None], prefix: str, *, streaming: bool, checkpoint: str, run: str
) -> Write:
    """Who writes, by the properties of the task.

    Arguments:
        properties: the values of `QUERY`, `BATCH` and `RUN`.
        streaming: whether it is a stream's sink, or else a batch write, which may be one of a foreachBatch function.
        checkpoint: where the query's checkpoint is, as far as the sink is told; else "".
        run: of a batch write: its id.

    Raises `ExactlyOnceError` where a stream's task does not know its query, batch or run.
    """
    query, batch, query_run = properties[QUERY], properties[BATCH], properties[RUN]
    if query is None and not streaming:
        return Write(prefix, BATCH_WRITE, run, 0, "")
    if query is None or batch is None or query_run is None or _RUN_ID.fullmatch(query_run) is None:
        raise ExactlyOnceError(
            f"this version of Spark, or a job group that was set in a foreachBatch function, keeps from the sink which "
            f"micro-batch it writes ({QUERY}: {query}, {BATCH}: {batch}, {RUN}: {query_run}), which exactlyOnce needs"
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
    """Write all rows of a task in a transaction that is left open; see `write_task` for the first three arguments.

    A write that is decided takes its rows without writing them: what comes before it in Spark's task, such as the state
    of a stateful query, is done only then.
    """
    is_marked = (
        plan.is_marked and write.query == BATCH_WRITE
    )  # the micro-batches of a foreachBatch function have numbers
    if is_marked or is_done(write, plan.decided):
        rows = sum(batch.num_rows for batch in batches)
        return TaskResult(write, plan.driver, plan.timeout_ms, rows, None)
    first = next((batch for batch in batches if batch.num_rows), None)
    if first is None:
        return TaskResult(write, plan.driver, plan.timeout_ms, 0, None)
    selected = (batch.select(columns) for batch in itertools.chain([first], batches) if batch.num_rows)
    partitions: dict[str, set[int]] = {}

    def note(result: "ArrowResult") -> None:
        for topic, number in result.offsets:
            partitions.setdefault(topic, set()).add(number)

    with producers.borrow(options.configs, write.prefix, plan) as producer:
        rows = deliver(producer, options.topic, selected, note)
        identity = producer.prepare_transaction()
    assert identity is not None, "there was a row"
    written = Written(identity, {topic: tuple(sorted(numbers)) for topic, numbers in partitions.items()})
    return TaskResult(write, plan.driver, plan.timeout_ms, rows, written)


class _Slot:
    """A producer of this process, and for which attempt at a write its transaction is."""

    def __init__(self, key: tuple[Configs, str, int], number: int, producer: "KafkaProducer") -> None:
        self.key = key
        self.number = number
        self.producer = producer
        self.token = ""


class TransactionalProducers:
    """The producers of this process whose transactions others end.

    One is taken again for a later attempt at a write: the driver has ended everything of earlier ones by then. So is
    the name of one that was closed, as Kafka remembers each transactional id for a week.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._begin_process()

    def _begin_process(self) -> None:
        self._pid = os.getpid()
        self._name = secrets.token_hex(5)
        self._numbers = itertools.count()
        self._slots: collections.deque[_Slot] = collections.deque()
        self._free: collections.deque[tuple[int, str, str]] = collections.deque()
        """Numbers of producers that were closed, each with its prefix and the attempt that its transaction is of."""

    @contextlib.contextmanager
    def borrow(self, configs: Configs, prefix: str, plan: Plan) -> Iterator["KafkaProducer"]:
        """Lend a producer with a new transaction; if an exception passes, it is aborted and the producer closed.

        Raises `KafkaConfigurationError` where the brokers do not allow the transaction's timeout.
        """
        slot = self._take((configs, prefix, plan.timeout_ms), plan.token)
        try:
            try:
                slot.producer.init_transactions()
            except InvalidTransactionTimeoutError as error:
                raise KafkaConfigurationError(
                    f"the brokers do not allow transactions of {plan.timeout_ms} ms (transaction.max.timeout.ms): set "
                    "the option 'kafka.transaction.timeout.ms'"
                ) from error
            slot.producer.begin_transaction()
            yield slot.producer
        except BaseException:
            _let_go(slot)
            raise
        slot.token = plan.token
        self._give_back(slot)

    def close(self) -> None:
        """Close all producers; prepared transactions stay as they are."""
        with self._lock:
            slots, self._slots = self._slots, collections.deque()
        for slot in slots:
            slot.producer.close(timeout=0)

    def _take(self, key: tuple[Configs, str, int], token: str) -> _Slot:
        with self._lock:
            if self._pid != os.getpid():  # a forked process has names of its own
                self._begin_process()
            for slot in self._slots:
                if slot.key == key and slot.token != token:
                    self._slots.remove(slot)
                    return slot
            configs, prefix, timeout_ms = key
            number = self._number(prefix, token)
        from kafka import KafkaProducer

        given: dict[str, Any] = dict(configs)
        given["transactional_id"] = task_id(prefix, f"{self._name}.{number}")
        given["transaction_timeout_ms"] = timeout_ms
        return _Slot(key, number, KafkaProducer(**given))

    def _number(self, prefix: str, token: str) -> int:
        """One of a closed producer if its transaction is of an earlier attempt, else a new one."""
        for each in self._free:
            if each[1] == prefix and each[2] != token:
                self._free.remove(each)
                return each[0]
        return next(self._numbers)

    def _give_back(self, slot: _Slot) -> None:
        surplus = None
        with self._lock:
            self._slots.append(slot)
            if len(self._slots) > _MOST_IDLE:
                surplus = self._slots.popleft()
                self._free.append((surplus.number, surplus.key[1], surplus.token))
        if surplus is not None:
            surplus.producer.close(timeout=0)  # a prepared transaction stays as it is


def _let_go(slot: _Slot) -> None:
    """Abort what is open, in short: the driver aborts it otherwise."""
    try:
        slot.producer.close(timeout=_ABORT_S)
    except KafkaError:
        log.warning("a producer could not be closed cleanly", exc_info=True)


_ABORT_S = 5

PRODUCERS = TransactionalProducers()
"""Producers of this process whose transactions the driver ends."""
