"""The rows of small micro-batches, read in the process that plans them, which spares Spark a Python task for each.

Spark takes rows from its planner process of readers that are wrapped in a class of its own (`SPARKS_READER`): those of
`SimpleDataSourceStreamReader`. It asks `isinstance`, and takes rows after each plan; where there are none, or the block
in which it keeps them is lost, its task reads the ranges of the plan as usual. So nothing depends on this module but
the time that a small micro-batch takes.
"""

import contextlib
import dataclasses
import logging
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeAlias

from kafka.spark.options.columns import HEADERS
from kafka.spark.options.parsing import ReadOptions
from kafka.spark.planning.ranges import OffsetRange, Task
from kafka.spark.tasks.read_task import read_task

if TYPE_CHECKING:
    import pyarrow

log = logging.getLogger(__name__)

try:
    from pyspark.sql.datasource_internal import _SimpleStreamReaderWrapper
except ImportError:  # it is Spark's own, and may go
    SPARKS_READER: type | None = None
else:
    SPARKS_READER = _SimpleStreamReaderWrapper

MOST_OFFSETS = 1_000
"""Spark's driver keeps each of these rows as an object of the JVM, and serializes it: a task is better for more."""
MOST_BYTES = 1 << 20
PATIENCE_SHARE = 4
"""For a fourth of `kafkaConsumer.pollTimeoutMs` records are waited for; then a task waits, and says what is missing."""
AGAIN_AFTER_S = 60.0
"""So long after a failure tasks read everything."""


Rows: TypeAlias = "Future[list[pyarrow.RecordBatch] | None]"


class PlannedRows:
    """Reads micro-batches that are small, and of one task.

    Arguments:
        options: of the read.
        columns: names from `schema.COLUMNS`, in order.
        not_null: those of them that Spark's schema declares so.
        clock: seconds that only grow.
        read: gives the rows of ranges, as `read_task` does.
        is_typed: whether keys or values are typed: Spark's driver would make objects of what they consist of.
    """

    def __init__(
        self,
        options: ReadOptions,
        columns: Sequence[str],
        not_null: Collection[str],
        clock: Callable[[], float],
        read: Callable[..., Iterator["pyarrow.RecordBatch"]] = read_task,
        *,
        is_typed: bool = False,
    ) -> None:
        self._options = dataclasses.replace(options, poll_timeout_ms=options.poll_timeout_ms // PATIENCE_SHARE)
        self._columns = columns
        self._not_null = not_null
        self._clock = clock
        self._read = read
        self._is_typed = is_typed
        self._offset_bytes = 0.0
        self._not_before = clock()
        self._begun: tuple[tuple[Task, ...], Rows] | None = None

    def begin(self, tasks: Sequence[Task]) -> None:
        """Begin to read a plan for which Spark will ask, in a thread: meanwhile Spark writes its log of offsets."""
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
        except RuntimeError as error:  # there are too many: the rows are read when Spark asks
            log.debug("a small batch is not prefetched: %s", error)
        else:
            self._begun = tuple(tasks), rows

    def of(self, tasks: Sequence[Task]) -> list["pyarrow.RecordBatch"] | None:
        """The rows of a plan; None where a task is to read them."""
        begun, self._begun = self._begun, None
        if begun is not None and begun[0] == tuple(tasks):
            return begun[1].result()
        return self._read_plan(tasks)

    def _read_plan(self, tasks: Sequence[Task]) -> list["pyarrow.RecordBatch"] | None:
        if SPARKS_READER is None or len(tasks) != 1 or HEADERS in self._columns or self._is_typed:
            return None
        count = sum(map(len, tasks[0]))
        if not 0 < count <= MOST_OFFSETS or count * self._offset_bytes > MOST_BYTES or self._clock() < self._not_before:
            return None
        try:
            return self._within_bounds(tasks[0], count) or None
        except Exception:  # whatever it is, the task meets it again, and tells it where users look for it
            log.debug("could not read a small batch while planning it", exc_info=True)
            self._not_before = self._clock() + AGAIN_AFTER_S
            return None

    def _within_bounds(self, ranges: Sequence[OffsetRange], count: int) -> list["pyarrow.RecordBatch"]:
        """The rows, or none where they have too many bytes, which is remembered."""
        batches: list[pyarrow.RecordBatch] = []
        size = 0
        rows: Any = self._read(self._options, self._columns, ranges, self._not_null)
        with contextlib.closing(rows):  # the consumer is given back also where reading ends early
            for batch in rows:
                batches.append(batch)
                size += batch.nbytes
                if size > MOST_BYTES:
                    batches = []
                    break
        self._offset_bytes = size / count
        return batches
