"""Reads small micro-batches in the process that plans them, which saves one Python task per micro-batch.

Spark accepts rows from its planner process if the reader is an instance of a wrapper class (`SPARKS_READER`) that is
intended for `SimpleDataSourceStreamReader`. It checks this with `isinstance`, and requests rows after each plan. If
there are none, or the block in which it stores them is lost, a task reads the planned ranges as usual. So this module
only affects how long a small micro-batch takes.
"""

import contextlib
import dataclasses
import logging
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeAlias

from kafka.spark.options.parsing import ReadOptions
from kafka.spark.planning.ranges import OffsetRange, Task
from kafka.spark.tasks.read_task import read_task

if TYPE_CHECKING:
    import pyarrow

    from kafka.spark.typed.decoding import TypedRead

log = logging.getLogger(__name__)

try:
    from pyspark.sql.datasource_internal import _SimpleStreamReaderWrapper
except ImportError:  # a private class of Spark, which may disappear
    SPARKS_READER: type | None = None
else:
    SPARKS_READER = _SimpleStreamReaderWrapper

MOST_OFFSETS = 1_000
"""Maximum number of offsets in a small micro-batch.

Spark's driver stores and serializes each row as a JVM object, with an object for each header and nested value.
"""
MOST_BYTES = 1 << 20
POLL_TIMEOUT_DIVISOR = 4
"""The planner waits for records for a quarter of `kafkaConsumer.pollTimeoutMs`.

After that, a task waits for the records, and reports missing ones.
"""
RETRY_AFTER_S = 60.0
"""Seconds after a failure during which tasks read all micro-batches."""


Rows: TypeAlias = "Future[list[pyarrow.RecordBatch] | None]"


class PlannedRows:
    """Reads micro-batches that are small and have one task.

    Arguments:
        options: the options of the read.
        columns: the names of the columns, in order.
        not_null: columns that Spark's schema declares as not null.
        clock: a monotonic clock, in seconds.
        read: reads the rows of ranges, like `read_task`.
        typed: how to decode keys and values; None if they are bytes. A registry that does not answer is left to tasks,
            which wait for it.
    """

    def __init__(
        self,
        options: ReadOptions,
        columns: Sequence[str],
        not_null: Collection[str],
        clock: Callable[[], float],
        read: Callable[..., Iterator["pyarrow.RecordBatch"]] = read_task,
        *,
        typed: "TypedRead | None" = None,
    ) -> None:
        self._options = dataclasses.replace(options, poll_timeout_ms=options.poll_timeout_ms // POLL_TIMEOUT_DIVISOR)
        self._columns = columns
        self._not_null = not_null
        self._clock = clock
        self._read = read
        self._typed = typed and typed.without_waiting()
        self._offset_bytes = 0.0
        self._not_before = clock()
        self._begun: tuple[tuple[Task, ...], Rows] | None = None

    def begin(self, tasks: Sequence[Task]) -> None:
        """Start reading a plan's ranges in a thread while Spark writes its offset log. Spark then requests the rows."""
        if self._begun is not None and not self._begun[1].done():
            return
        rows: Rows = Future()

        def work() -> None:
            try:
                rows.set_result(self._read_plan(tasks))
            except BaseException as error:
                rows.set_exception(error)

        try:
            threading.Thread(target=work, name="kafka-spark-planned-rows", daemon=True).start()
        except RuntimeError as error:  # too many threads: the rows are read when Spark requests them
            log.debug("a small batch is not prefetched: %s", error)
        else:
            self._begun = tuple(tasks), rows

    def of(self, tasks: Sequence[Task]) -> list["pyarrow.RecordBatch"] | None:
        """Return the rows of the planned ranges; None if a task must read them."""
        begun, self._begun = self._begun, None
        if begun is not None and begun[0] == tuple(tasks):
            return begun[1].result()
        return self._read_plan(tasks)

    def _read_plan(self, tasks: Sequence[Task]) -> list["pyarrow.RecordBatch"] | None:
        if SPARKS_READER is None or len(tasks) != 1:
            return None
        count = sum(map(len, tasks[0]))
        if not 0 < count <= MOST_OFFSETS or count * self._offset_bytes > MOST_BYTES or self._clock() < self._not_before:
            return None
        try:
            return self._within_bounds(tasks[0], count) or None
        except Exception:  # the task will encounter the error again, and report it to the user
            log.debug("could not read a small batch while planning it", exc_info=True)
            self._not_before = self._clock() + RETRY_AFTER_S
            return None

    def _within_bounds(self, ranges: Sequence[OffsetRange], count: int) -> list["pyarrow.RecordBatch"]:
        """Return the rows, or no rows if they have too many bytes. The average size is stored for later batches."""
        batches: list[pyarrow.RecordBatch] = []
        size = 0
        rows: Any = self._read(self._options, self._columns, ranges, self._not_null, self._typed)
        with contextlib.closing(rows):  # returns the consumer to the cache even if reading ends early
            for batch in rows:
                batches.append(batch)
                size += batch.nbytes
                if size > MOST_BYTES:
                    batches = []
                    break
        self._offset_bytes = size / count
        return batches
