"""The batch source. It plans with `batch_plan` in one of Spark's processes, and reads with `read_task` in others."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceReader, InputPartition

from kafka.spark.default_source import planned_types, schema_fields
from kafka.spark.options.parsing import log_warnings, parse_read, requested_columns
from kafka.spark.options.row_schema import not_null
from kafka.spark.planning.batch_plan import plan_batch
from kafka.spark.planning.cluster_lookup import ClusterLookup
from kafka.spark.pyspark_versions import task_of
from kafka.spark.spark_calls import begin_call, reduce_with_version, rows_without_traceback, without_traceback
from kafka.spark.tasks.read_task import read_task

if TYPE_CHECKING:
    import pyarrow


class KafkaBatchReader(DataSourceReader):  # type: ignore[misc]  # PySpark's classes are untyped here
    """Reads offset ranges that are planned once for each `load()`, so a DataFrame is a snapshot.

    Arguments:
        options: the options that Spark passes.
        schema: the columns to read, a `StructType`.
        schemas: schemas of typed keys and values, found when the source was created; None with a user schema.

    Raises a `KafkaConfigurationError` that names the invalid option.
    """

    @without_traceback
    def __init__(self, options: Mapping[str, str], schema: Any, schemas: str | None = None) -> None:
        self._options = parse_read(options, streaming=False)
        fields = schema_fields(schema)
        self._typed, types = planned_types(self._options, schemas)
        self._columns = requested_columns(options, fields, types)
        self._not_null = not_null(fields)

    def __reduce__(self) -> tuple[Any, ...]:
        return reduce_with_version(self, self.__dict__)

    @without_traceback
    def partitions(self) -> list[InputPartition]:
        """Return the tasks of the read."""
        begin_call()
        log_warnings(self._options.warnings)
        with ClusterLookup(self._options) as lookup:
            return [InputPartition(task) for task in plan_batch(self._options, lookup)]

    def read(self, partition: InputPartition | None) -> Iterator["pyarrow.RecordBatch"]:
        """Return the rows of one task, as Arrow batches."""
        begin_call()
        return rows_without_traceback(
            read_task(self._options, self._columns, task_of(partition), self._not_null, self._typed)
        )
