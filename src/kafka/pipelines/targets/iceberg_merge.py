"""Finds the files of an Iceberg table that have keys of a batch, and merges their rows with the rows of the batch.

Tasks read the files with pyiceberg, so renamed columns and deleted rows are handled as Iceberg defines. The table's
statistics exclude most files; of the others, only the key's columns are read to find those that have keys of the batch.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from kafka.pipelines.targets.arrow_types import arrow_schema
from kafka.pipelines.targets.target import column
from kafka.pipelines.targets.task_files import conform

if TYPE_CHECKING:
    import pyarrow as pa
    from pyiceberg.expressions import BooleanExpression
    from pyiceberg.table import FileScanTask, Table
    from pyspark.sql import DataFrame

_RANKED_TYPES = ("tinyint", "smallint", "int", "bigint", "string", "date")
"""Spark's types whose lowest and highest value restrict the files to look at."""
_FILE = "_kafka_file"
_IS_NEW = "_kafka_is_new"
_RANK = "_kafka_rank"


@dataclasses.dataclass(frozen=True)
class TableFiles:
    """Data files of a table, with what is needed to read them."""

    files: tuple[FileScanTask, ...]


def touched_files(table: Table, rows: DataFrame, key: Sequence[str]) -> TableFiles:
    """Return the files of a table that have a key of a batch.

    Arguments:
        table: the table.
        rows: the rows of the batch.
        key: the columns of the key.
    """
    if table.current_snapshot() is None:
        return TableFiles(())
    condition = _range(rows, key)
    candidates = tuple(table.scan(row_filter=condition).plan_files()) if condition is not None else ()
    if not candidates:
        return TableFiles(())
    existing = _read(table, candidates, rows, key)
    keys = rows.select(*[column(name) for name in key]).distinct()
    found = existing.join(keys, list(key), "left_semi").select(_FILE).distinct().collect()
    return TableFiles(tuple(candidates[index] for index in sorted(row[0] for row in found)))


def column_names(table: Table) -> list[str]:
    """Return the names of a table's columns, without those of nested fields."""
    return [field.name for field in table.schema().fields]


def merged(table: Table, replaced: TableFiles, rows: DataFrame, key: Sequence[str], order: str) -> DataFrame:
    """Return the rows of files together with the rows of a batch: for each key, the row with the highest `order`.

    Of rows with equal `order`, the one from the batch is returned. Columns that the batch does not have are kept for
    rows from files, and NULL for others.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    names = column_names(table)
    new = rows.withColumn(_IS_NEW, f.lit(True))
    if not replaced.files:
        return _completed(new, table, rows).select(*[column(name) for name in names])
    old = _read(table, replaced.files, rows, names).drop(_FILE).withColumn(_IS_NEW, f.lit(False))
    both = old.unionByName(new, allowMissingColumns=True)
    latest = Window.partitionBy(*[column(name) for name in key]).orderBy(
        column(order).desc_nulls_last(), f.col(_IS_NEW).desc()
    )
    ranked = both.withColumn(_RANK, f.row_number().over(latest)).where(f.col(_RANK) == 1)
    return ranked.select(*[column(name) for name in names])


def _completed(new: DataFrame, table: Table, rows: DataFrame) -> DataFrame:
    """Return the frame with NULL in the columns that only the table has."""
    from pyspark.sql import functions as f

    for field in _spark_schema(table, rows, column_names(table)).fields:
        if field.name not in rows.columns:
            new = new.withColumn(field.name, f.lit(None).cast(field.dataType))
    return new


def _range(rows: DataFrame, key: Sequence[str]) -> BooleanExpression | None:
    """Return the condition that a file with a key of the batch meets; None if the batch is empty."""
    from pyiceberg.expressions import AlwaysTrue, And, GreaterThanOrEqual, LessThanOrEqual
    from pyspark.sql import functions as f

    ranked = [name for name in key if rows.schema[name].dataType.simpleString() in _RANKED_TYPES]
    limits = [each for name in ranked for each in (f.min(column(name)), f.max(column(name)))]
    found = list(rows.agg(f.count(f.lit(1)), *limits).collect()[0])
    if not found[0]:
        return None
    at_least: Any = GreaterThanOrEqual  # whose annotations are those of the model, not of its constructor
    at_most: Any = LessThanOrEqual
    condition: BooleanExpression = AlwaysTrue()
    for index, name in enumerate(ranked):
        lowest, highest = found[1 + 2 * index : 3 + 2 * index]
        if lowest is not None:
            condition = And(condition, And(at_least(name, lowest), at_most(name, highest)))
    return condition


def _read(table: Table, files: Sequence[FileScanTask], rows: DataFrame, names: Sequence[str]) -> DataFrame:
    """Return the rows of files, with the number of the file in the column `_FILE`. Tasks read the files."""
    from pyspark.sql import types as t

    spark = rows.sparkSession
    struct = _spark_schema(table, rows, names)
    struct = t.StructType([*struct.fields, t.StructField(_FILE, t.IntegerType())])
    numbers = spark.createDataFrame([(index,) for index in range(len(files))], "number int")
    partitions = min(len(files), max(1, int(spark.conf.get("spark.sql.shuffle.partitions", "2"))))
    parts = (table.metadata, dict(table.io.properties), tuple(files), tuple(names), arrow_schema(struct, "table"))
    return numbers.repartition(partitions).mapInArrow(_reader(parts), struct)


def _reader(parts: tuple[Any, ...]) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return the function for tasks that reads the files with the numbers that it gets."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa
        from pyiceberg.expressions import AlwaysTrue
        from pyiceberg.io import load_file_io
        from pyiceberg.io.pyarrow import ArrowScan

        metadata, properties, files, names, schema = parts
        io = load_file_io(properties, metadata.location)
        projected = metadata.schema().select(*names)
        for batch in batches:
            for number in batch.column(0).to_pylist():
                for found in ArrowScan(metadata, io, projected, AlwaysTrue()).to_record_batches([files[number]]):
                    columns = [found.column(name) for name in names]
                    marks = pa.repeat(pa.scalar(number, pa.int32()), found.num_rows)
                    yield conform(pa.RecordBatch.from_arrays([*columns, marks], names=[*names, _FILE]), schema)

    return run


def _spark_schema(table: Table, rows: DataFrame, names: Sequence[str]) -> Any:
    """Return Spark's types of the table's columns."""
    from pyiceberg.io.pyarrow import schema_to_pyarrow
    from pyspark.sql.pandas.types import from_arrow_schema

    found = from_arrow_schema(schema_to_pyarrow(table.schema().select(*names), include_field_ids=False), True)
    by_name = {field.name: field for field in found.fields}
    return type(found)([by_name[name] for name in names])
