"""The sink of exactly once, as Spark calls it: in the driver's processes, and in those of tasks."""

import dataclasses
import logging
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pyspark import TaskContext
from pyspark.sql.datasource import WriterCommitMessage

from kafka.errors import KafkaError
from kafka.spark.exactly_once import driver
from kafka.spark.exactly_once.prefix_access import admin_configs, ask_brokers
from kafka.spark.exactly_once.task import BATCH, PRODUCERS, QUERY, RUN, who_writes, write_in_transaction
from kafka.spark.options import WriteOptions

if TYPE_CHECKING:
    import pyarrow

log = logging.getLogger(__name__)


@dataclasses.dataclass
class Prepared(WriterCommitMessage):  # type: ignore[misc]  # PySpark's classes are untyped here
    """What a task tells the driver."""

    result: driver.TaskResult


class TransactionalWriter:
    """Writes rows in transactions, and commits all of a write or nothing.

    The object that is sent to the tasks is planned before, once. Of a stream's, Spark makes others to commit and to
    abort, which are not.

    Arguments:
        options: of the write.
        columns: those that are written.
        streaming: whether it is the sink of a stream, or else a batch write.
        checkpoint: where the query's checkpoint is, as far as Spark tells; else "".
    """

    def __init__(self, options: WriteOptions, columns: Sequence[str], *, streaming: bool, checkpoint: str) -> None:
        assert options.exactly_once is not None
        self._options = options
        self._columns = columns
        self._streaming = streaming
        self._checkpoint = checkpoint
        self._prefix = options.exactly_once.prefix
        self._plan: driver.Plan | None = None

    def plan(self) -> None:
        """Ask the brokers what the tasks need to know."""
        if self._plan is None:
            self._plan = self._ask(lambda access: driver.plan(access, self._options, self._checkpoint))

    def write(self, batches: Iterator["pyarrow.RecordBatch"]) -> Prepared:
        """Write the rows of one task."""
        assert self._plan is not None, "the write was planned"
        context = TaskContext.get()
        assert context is not None, "it is called in a task"
        properties = {name: context.getLocalProperty(name) for name in (QUERY, BATCH, RUN)}
        write = who_writes(
            properties, self._prefix, streaming=self._streaming, checkpoint=self._checkpoint, run=self._plan.run
        )
        return Prepared(write_in_transaction(self._options, self._columns, batches, self._plan, write, PRODUCERS))

    def commit(self, messages: Sequence[Prepared | None]) -> None:
        """Decide and commit."""
        results = [message.result for message in messages if message is not None]
        if results:
            self._ask(lambda access: driver.commit(access, self._options, results))

    def abort(self, messages: Sequence[Prepared | None]) -> None:
        """Abort what is not decided. Does not raise: Spark has an error to tell already."""
        results = [None if message is None else message.result for message in messages]
        try:
            self._ask(lambda access: driver.abort(access, results))
        except KafkaError as error:
            log.warning(
                "rows already written could not be aborted yet; the next attempt aborts them, or Kafka when their "
                "transaction times out: %s",
                error,
            )

    def _ask(self, steps: Any) -> Any:
        return ask_brokers(admin_configs(self._options.configs), self._prefix, steps)
