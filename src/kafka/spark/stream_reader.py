"""The streaming source. It plans with `stream_plan`, and reads with `read_task`.

Spark plans a query in one process, where a single object of this class answers all calls except `read`. `read` runs in
task processes, on a copy that was pickled before the first call.
"""

import logging
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from kafka.errors import KafkaConfigurationError, KafkaError
from kafka.formats.registry.errors import SchemaRegistryError
from kafka.spark.default_source import planned_types, schema_fields
from kafka.spark.monitoring.group_commits import GroupCommits, commits_of
from kafka.spark.options.parsing import ReadOptions, log_warnings, parse_read, requested_columns
from kafka.spark.options.row_schema import not_null
from kafka.spark.planning.checkpoint_layout import Layout, backlog, from_layout
from kafka.spark.planning.cluster_lookup import ClusterLookup
from kafka.spark.planning.stream_plan import StreamPlanner, count_offsets
from kafka.spark.pyspark_versions import (
    TELLS_TRIGGER,
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    ReadMinRows,
    SupportsTriggerAvailableNow,
    task_of,
)
from kafka.spark.spark_calls import begin_call, reduce_with_version, rows_without_traceback, without_traceback
from kafka.spark.tasks.planned_rows import SPARKS_READER, PlannedRows
from kafka.spark.tasks.read_task import read_task

if TYPE_CHECKING:
    import pyarrow

    from kafka.spark.typed.decoding import TypedRead

log = logging.getLogger(__name__)

ONE_BATCH = (
    "%s; with the triggers availableNow and once, PySpark before 4.2 ends a query after one micro-batch: "
    "kafka.spark.run_available(writer) repeats it until it has read everything available at the start"
)
LAST_COMMIT_S = 5.0
"""Maximum time in seconds to wait for the last commit to the group in `commitGroup` when a query ends."""


class KafkaStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):  # type: ignore[misc]  # untyped
    """Reads micro-batches. Their offsets in the checkpoint have the layout of Spark's own connector.

    Arguments:
        options: the options that Spark passes.
        schema: the columns to read, a `StructType`.
        schemas: schemas of typed keys and values, found when the source was created; None with a user schema.

    If an option is wrong, every call raises a `KafkaConfigurationError` that names it. The constructor does not raise,
    because Spark would then report its own error about the missing reader.
    """

    def __init__(self, options: Mapping[str, str], schema: Any, schemas: str | None = None) -> None:
        self._wrong: KafkaError | None = None
        self._typed: TypedRead | None = None
        try:
            self._read = parse_read(options, streaming=True)
            fields = schema_fields(schema)
            self._typed, types = planned_types(self._read, schemas)
            self._columns = requested_columns(options, fields, types)
            self._not_null = not_null(fields)
        except (KafkaConfigurationError, SchemaRegistryError) as error:
            self._wrong = error
        self._lookup: ClusterLookup | None = None
        self._planner: StreamPlanner | None = None
        self._commits: GroupCommits | None = None
        self._planned: PlannedRows | None = None
        self._rows: list[pyarrow.RecordBatch] | None = None
        self._available_now = False
        self._end: Layout | None = None
        """The end of the last planned micro-batch."""
        self._asked: Layout | None = None
        """The last result of `latestOffset`."""
        self._has_warned = False

    def __reduce__(self) -> tuple[Any, ...]:
        stays = dict.fromkeys(("_lookup", "_planner", "_commits", "_planned", "_rows", "_end", "_asked"))
        return reduce_with_version(self, {**self.__dict__, **stays})

    @property
    def _options(self) -> ReadOptions:
        if self._wrong is not None:
            raise self._wrong
        return self._read

    def _plan(self) -> StreamPlanner:
        if self._planner is None:
            log_warnings(self._options.warnings)
            self._lookup = ClusterLookup(self._options)
            self._planner = StreamPlanner(self._options, self._lookup, time.monotonic)
            self._commits = commits_of(self._options)
        return self._planner

    @without_traceback
    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802  # Spark's name
        """Return the limit of a micro-batch."""
        if self._options.max_offsets is not None:
            return ReadMaxRows(self._options.max_offsets)
        if self._options.min_offsets is not None:
            return ReadMinRows(self._options.min_offsets)
        return ReadAllAvailable()

    @without_traceback
    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802  # Spark's name
        """Limit the query to the records that are available now. Spark calls this for the trigger availableNow."""
        self._plan().freeze()
        self._available_now = True

    @without_traceback
    def initialOffset(self) -> Layout:  # noqa: N802  # Spark's name
        """Return the offsets at which a new query starts."""
        return self._plan().initial()

    @without_traceback
    def latestOffset(  # noqa: N802  # Spark's name
        self, start: Layout | None = None, limit: ReadLimit | None = None
    ) -> Layout:
        """Return the offsets at which the next micro-batch ends. With both arguments, Spark uses admission control.

        All offsets before ``start`` are finished. Spark calls `commit` later, and never for the last batch of a query.
        PySpark before 4.2 passes neither argument: the batch starts at the end of the last one, and the query may end
        after it.
        """
        now_ms = None
        if start is None or limit is None:
            start = self._plan().initial() if self._end is None else self._end
            limit = self.getDefaultReadLimit()
            now_ms = time.time_ns() // 1_000_000
        self._check_schemas(start)
        rows = limit.max_rows if isinstance(limit, ReadMaxRows) else None
        end = self._plan().latest(start, rows, everything=isinstance(limit, ReadAllAvailable), now_ms=now_ms)
        if now_ms is not None:
            self._warn_of_backlog(start, end)
        if end != start:
            end = self._beside_schemas(end)
        self._end = self._asked = end
        if end != start:
            self._planned_rows().begin(self._plan().tasks(start, end))
        if self._commits is not None:
            self._commits.finished(from_layout(start))
            if self._available_now and end == start:  # the query ends here, without another call
                self._commits.flush(LAST_COMMIT_S)
        return end

    def _check_schemas(self, start: Layout) -> None:
        """Raise `KafkaConfigurationError` if the checkpoint was written with other schemas than this read uses."""
        if self._typed is not None:
            from kafka.spark.typed.reader_schema import check_unchanged

            check_unchanged(self._typed.schemas, start)

    def _beside_schemas(self, end: Layout) -> Layout:
        """Return the end of a micro-batch together with the schemas for reading it."""
        if self._typed is None:
            return end
        from kafka.spark.typed.reader_schema import beside_offsets

        return beside_offsets(self._typed.schemas, end)

    def _warn_of_backlog(self, start: Layout, end: Layout) -> None:
        """Warn if the first batch leaves offsets unread, because Spark may not run another one."""
        waiting = count_offsets(from_layout(end), backlog(end)) if end != start else 0
        if waiting and not self._has_warned:
            log.warning(ONE_BATCH, f"maxOffsetsPerTrigger leaves {waiting} offsets for later micro-batches")
        self._has_warned = True

    def reportLatestOffset(self) -> Layout | None:  # noqa: N802  # Spark's name
        """Return the log end offsets, which Spark includes in progress reports."""
        return self._plan().newest() or None

    @without_traceback
    def partitions(self, start: Layout, end: Layout) -> list[InputPartition]:
        """Return the tasks for a micro-batch, which may have been planned before a restart."""
        if not TELLS_TRIGGER and end not in (start, self._asked):
            log.warning(ONE_BATCH, "an unfinished micro-batch is run again as planned")
        self._check_schemas(start)
        self._check_schemas(end)
        self._end = end
        tasks = self._plan().tasks(start, end)
        self._rows = self._planned_rows().of(tasks)
        return [InputPartition(task) for task in tasks]

    def _planned_rows(self) -> PlannedRows:
        if self._planned is None:
            self._planned = PlannedRows(self._options, self._columns, self._not_null, time.monotonic, typed=self._typed)
        return self._planned

    @property  # type: ignore[misc]  # it is what others ask, as with proxies
    def __class__(self) -> type:
        """The class that Spark expects while there are prefetched rows; otherwise, the actual class."""
        return type(self) if self._rows is None or SPARKS_READER is None else SPARKS_READER

    def getCache(self, start: Layout, end: Layout) -> "Iterator[pyarrow.RecordBatch] | None":  # noqa: N802  # Spark's name
        """Return the rows of the last planned micro-batch, but only once; None if a task must read the rows."""
        rows, self._rows = self._rows, None
        return None if rows is None else iter(rows)

    def read(self, partition: InputPartition | None) -> Iterator["pyarrow.RecordBatch"]:
        """Return the rows of one task, as Arrow batches."""
        begin_call()
        return rows_without_traceback(
            read_task(self._options, self._columns, task_of(partition), self._not_null, self._typed)
        )

    def commit(self, end: Layout) -> None:
        """Do nothing, because Spark has already told `latestOffset` which offsets are finished."""

    def stop(self) -> None:
        """Commit the finished offsets to the group in `commitGroup`, and close the planner's connections."""
        if self._commits is not None:
            self._commits.close(LAST_COMMIT_S)
            self._commits = None
        if self._lookup is not None:
            self._lookup.close()
            self._lookup = self._planner = None
