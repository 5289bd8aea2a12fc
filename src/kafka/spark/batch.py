"""The batch source: plans with `batch_plan`, reads with `read_task`, in Spark's processes for each."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceReader, InputPartition

from kafka.spark.calls import begin_call, rows_told_plainly, told_plainly, travelling
from kafka.spark.default_source import planned_types, schema_fields
from kafka.spark.options.columns import not_null
from kafka.spark.options.parsing import parse_read, requested_columns, tell
from kafka.spark.planning.batch_plan import plan_batch
from kafka.spark.planning.cluster_lookup import ClusterLookup
from kafka.spark.tasks.read_task import read_task
from kafka.spark.versions import task_of

if TYPE_CHECKING:
    import pyarrow


class KafkaBatchReader(DataSourceReader):  # type: ignore[misc]  # PySpark's classes are untyped here
    """Reads ranges of offsets that are planned once for each `load()`: a frame is a snapshot.

    Arguments:
        options: as Spark hands them over.
        schema: the columns to read, a `StructType`.
        schemas: those of typed keys and values, as they were when the source was made; None where a schema of the
            user's stands for them.

    Raises `KafkaConfigurationError` that names the option.
    """

    @told_plainly
    def __init__(self, options: Mapping[str, str], schema: Any, schemas: str | None = None) -> None:
        self._options = parse_read(options, streaming=False)
        fields = schema_fields(schema)
        self._typed, types = planned_types(self._options, schemas)
        self._columns = requested_columns(options, fields, types)
        self._not_null = not_null(fields)

    def __reduce__(self) -> tuple[Any, ...]:
        return travelling(self, self.__dict__)

    @told_plainly
    def partitions(self) -> list[InputPartition]:
        """The tasks of the read."""
        begin_call()
        tell(self._options.warnings)
        with ClusterLookup(self._options) as lookup:
            return [InputPartition(task) for task in plan_batch(self._options, lookup)]

    def read(self, partition: InputPartition | None) -> Iterator["pyarrow.RecordBatch"]:
        """The rows of one task, as Arrow batches."""
        begin_call()
        return rows_told_plainly(
            read_task(self._options, self._columns, task_of(partition), self._not_null, self._typed)
        )
