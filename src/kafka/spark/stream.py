"""The streaming source: plans with `stream_plan`, reads with `read_task`.

Spark keeps one process for a query's planning, where one object of this class answers all calls but `read`; that one
runs in task processes, on a copy that was pickled before the first call.
"""

import logging
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from kafka.errors import KafkaConfigurationError, KafkaError
from kafka.formats.registry.errors import SchemaRegistryError
from kafka.spark.calls import begin_call, rows_told_plainly, told_plainly, travelling
from kafka.spark.default_source import planned_types, schema_fields
from kafka.spark.monitoring.group_commits import GroupCommits, commits_of
from kafka.spark.options.columns import not_null
from kafka.spark.options.parsing import ReadOptions, parse_read, requested_columns, tell
from kafka.spark.planning.backlog import backlog
from kafka.spark.planning.checkpoint import Layout, from_layout
from kafka.spark.planning.cluster_lookup import ClusterLookup
from kafka.spark.planning.stream_plan import StreamPlanner, count_offsets
from kafka.spark.tasks.planned_rows import SPARKS_READER, PlannedRows
from kafka.spark.tasks.read_task import read_task
from kafka.spark.versions import (
    TELLS_TRIGGER,
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    ReadMinRows,
    SupportsTriggerAvailableNow,
    task_of,
)

if TYPE_CHECKING:
    import pyarrow

    from kafka.spark.typed.decoding import TypedRead

log = logging.getLogger(__name__)

ONE_BATCH = (
    "%s; with the triggers availableNow and once, PySpark before 4.2 ends a query after one micro-batch: "
    "kafka.spark.run_available(writer) repeats it until it has read everything available at the start"
)
LAST_COMMIT_S = 5.0
"""How long the end of a query waits for the group of `commitGroup`."""


class KafkaStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):  # type: ignore[misc]  # untyped
    """Reads micro-batches, their offsets kept in the query's checkpoint in the layout of Spark's own connector.

    Arguments:
        options: as Spark hands them over.
        schema: the columns to read, a `StructType`.
        schemas: those of typed keys and values, as they were when the source was made; None where a schema of the
            user's stands for them.

    Every call raises `KafkaConfigurationError` that names the option, if one is wrong. The constructor does not: Spark
    would report an error of its own about the reader that it did not get.
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
        """Of the micro-batch that was planned last."""
        self._asked: Layout | None = None
        """What `latestOffset` gave last."""
        self._has_warned = False

    def __reduce__(self) -> tuple[Any, ...]:
        stays = dict.fromkeys(("_lookup", "_planner", "_commits", "_planned", "_rows", "_end", "_asked"))
        return travelling(self, {**self.__dict__, **stays})

    @property
    def _options(self) -> ReadOptions:
        if self._wrong is not None:
            raise self._wrong
        return self._read

    def _plan(self) -> StreamPlanner:
        if self._planner is None:
            tell(self._options.warnings)
            self._lookup = ClusterLookup(self._options)
            self._planner = StreamPlanner(self._options, self._lookup, time.monotonic)
            self._commits = commits_of(self._options)
        return self._planner

    @told_plainly
    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802  # Spark's name
        """What limits a micro-batch."""
        if self._options.max_offsets is not None:
            return ReadMaxRows(self._options.max_offsets)
        if self._options.min_offsets is not None:
            return ReadMinRows(self._options.min_offsets)
        return ReadAllAvailable()

    @told_plainly
    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802  # Spark's name
        """Spark announces that the query is to end at what is there now."""
        self._plan().freeze()
        self._available_now = True

    @told_plainly
    def initialOffset(self) -> Layout:  # noqa: N802  # Spark's name
        """Where a new query begins."""
        return self._plan().initial()

    @told_plainly
    def latestOffset(  # noqa: N802  # Spark's name
        self, start: Layout | None = None, limit: ReadLimit | None = None
    ) -> Layout:
        """Where the next micro-batch ends; Spark chooses admission control by the two arguments.

        Whatever lies before ``start`` is done: `commit` comes later, and not at all for the last batch of a query.
        PySpark before 4.2 gives neither: the batch begins where the last one ended, and the query may end after it.
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
            if self._available_now and end == start:  # the query ends here, and Spark does not say so
                self._commits.flush(LAST_COMMIT_S)
        return end

    def _check_schemas(self, start: Layout) -> None:
        """Raise `KafkaConfigurationError` where the checkpoint was read with other schemas than it is now."""
        if self._typed is not None:
            from kafka.spark.typed.reader_schema import check_unchanged

            check_unchanged(self._typed.schemas, start)

    def _beside_schemas(self, end: Layout) -> Layout:
        """The end of a micro-batch with the schemas that it is read with."""
        if self._typed is None:
            return end
        from kafka.spark.typed.reader_schema import beside_offsets

        return beside_offsets(self._typed.schemas, end)

    def _warn_of_backlog(self, start: Layout, end: Layout) -> None:
        """Warn of what the first batch of a query leaves; Spark does not say whether there will be others."""
        waiting = count_offsets(from_layout(end), backlog(end)) if end != start else 0
        if waiting and not self._has_warned:
            log.warning(ONE_BATCH, f"maxOffsetsPerTrigger leaves {waiting} offsets for later micro-batches")
        self._has_warned = True

    def reportLatestOffset(self) -> Layout | None:  # noqa: N802  # Spark's name
        """The ends of the logs, which Spark shows in the query's progress."""
        return self._plan().newest() or None

    @told_plainly
    def partitions(self, start: Layout, end: Layout) -> list[InputPartition]:
        """The tasks of a micro-batch, which after a restart may have been planned before it."""
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
            self._planned = PlannedRows(
                self._options, self._columns, self._not_null, time.monotonic, is_typed=self._typed is not None
            )
        return self._planned

    @property  # type: ignore[misc]  # it is what others ask, as with proxies
    def __class__(self) -> type:
        """While there are rows for Spark to take, what Spark looks for in a reader that has them (`planned_rows`)."""
        return type(self) if self._rows is None or SPARKS_READER is None else SPARKS_READER

    def getCache(self, start: Layout, end: Layout) -> "Iterator[pyarrow.RecordBatch] | None":  # noqa: N802  # Spark's name
        """The rows of the micro-batch that was planned last, once; None where its task is to read them."""
        rows, self._rows = self._rows, None
        return None if rows is None else iter(rows)

    def read(self, partition: InputPartition | None) -> Iterator["pyarrow.RecordBatch"]:
        """The rows of one task, as Arrow batches."""
        begin_call()
        return rows_told_plainly(
            read_task(self._options, self._columns, task_of(partition), self._not_null, self._typed)
        )

    def commit(self, end: Layout) -> None:
        """Nothing to do: `latestOffset` knows sooner what is done."""

    def stop(self) -> None:
        """Let go of the planner's connections, once the group of `commitGroup` has what is done."""
        if self._commits is not None:
            self._commits.close(LAST_COMMIT_S)
            self._commits = None
        if self._lookup is not None:
            self._lookup.close()
            self._lookup = self._planner = None
