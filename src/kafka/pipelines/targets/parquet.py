"""The target Parquet: a directory of Parquet files, by date if `partition_by` is given, with each row exactly once.

Any reader of Parquet directories can read it: Spark, pandas and PyArrow the directory, DuckDB and Polars the files
``PATH/**/*.parquet``. `parquet_log` describes the layout, and how a batch is committed.

Spark's own file sink is not enough here. It lists the files of finished batches in ``_spark_metadata``, which only
Spark reads; other readers see the rows of an interrupted batch twice. The list also belongs to one streaming query,
but replays and backfills write to the same directory. ``partitionOverwriteMode=dynamic`` does not help either: it
replaces a partition, but a batch adds rows to dates that have rows of earlier batches.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from pydantic import Field

from kafka.pipelines.targets.arrow_types import arrow_schema
from kafka.pipelines.targets.parquet_log import ParquetLog
from kafka.pipelines.targets.storage import Directory, is_remote, local_problems
from kafka.pipelines.targets.target import (
    CHECK_S,
    Secrets,
    StoragePath,
    TargetError,
    TargetModel,
    Text,
    in_time,
    revealed,
)
from kafka.pipelines.targets.task_files import PARTITION_TYPES, Writing, write_files

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

_NAMED = re.compile(r"^(?P<expression>.*\S)\s+as\s+(?P<name>[A-Za-z_][A-Za-z0-9_]*)\s*$", re.IGNORECASE | re.DOTALL)


class ParquetSink(TargetModel):
    """A directory of Parquet files."""

    parquet: StoragePath = Field(
        description="Directory for the Parquet files: a path, or a URI such as s3://bucket/path."
    )
    partition_by: Text | None = Field(
        default=None,
        description="SQL expression whose value determines the subdirectory of a row, such as to_date(ts). The "
        "subdirectories are named date=VALUE, or NAME=VALUE with 'EXPRESSION as NAME'. A row without a value fails the "
        "batch.",
    )
    options: Secrets = Field(
        default={}, repr=False, description="Options for the storage, such as AWS_REGION; by default, the environment."
    )

    def write(self, frame: DataFrame, run: str, batch: int) -> None:
        log = ParquetLog(self._directory, run, batch)
        if log.finish():
            return
        columns, partition = self._partitioned(frame)
        schema = arrow_schema(frame.schema, self._what)
        self._check_schema(schema)
        files = write_files(
            columns,
            Writing(
                storage=self._directory,
                folder=log.staging,
                schema=schema,
                partitions=partition,
                present=partition,
                reason=f"{self._what}: expected a value of partition_by ({self.partition_by})",
                suffix=".staged",
            ),
        )
        log.commit(files, partition)

    @property
    def is_remote(self) -> bool:
        return is_remote(self.parquet)

    def check(self, limit_s: float = CHECK_S) -> list[str]:
        def look() -> list[str]:
            assert self._directory.filesystem
            return local_problems(self.parquet)

        return in_time(self._what, look, limit_s, "pyarrow.fs")

    def committed_files(self) -> list[str]:
        """Return the paths of the files of completed batches, sorted, relative to the directory.

        While a batch is written, and after an interruption until the batch is repeated, the directory may contain some
        of the batch's files. This list contains either all files of a batch or none of them.
        """
        return ParquetLog.committed_files(self._directory)

    @property
    def _what(self) -> str:
        return f"sink parquet {self.parquet}"

    @property
    def _directory(self) -> Directory:
        return Directory(self.parquet, revealed(self.options))

    def _partitioned(self, frame: DataFrame) -> tuple[DataFrame, tuple[str, ...]]:
        """Return the frame with the partition column, and the names of the partition columns."""
        if self.partition_by is None:
            return frame, ()
        from pyspark.sql import functions as f

        named = _NAMED.match(self.partition_by)
        expression, name = (named["expression"], named["name"]) if named else (self.partition_by, "date")
        if name.lower() in [each.lower() for each in frame.columns]:
            raise TargetError(
                f"{self._what}: partition_by creates the column {name!r}, but the query has a column of this name; use "
                "'EXPRESSION as NAME' with another name"
            )
        found = frame.withColumn(name, f.expr(expression))
        kind = found.schema[name].dataType.simpleString()
        if kind not in PARTITION_TYPES:
            raise TargetError(
                f"{self._what}: expected partition_by to be a {', '.join(PARTITION_TYPES)}, got {kind}: "
                f"{expression}; use to_date(...) for a date"
            )
        if kind == "string":  # Hive has no directory for an empty string
            found = found.withColumn(name, f.nullif(f.col(name), f.lit("")))
        return found, (name,)

    def _check_schema(self, schema: pa.Schema) -> None:
        """Compare with the columns of earlier batches, and store the columns of all batches next to the data."""
        path = "_committed/schema.json"
        stored = self._directory.read(path)
        earlier: dict[str, str] = json.loads(stored) if stored is not None else {}
        current = {field.name: str(field.type) for field in schema}
        changed = [
            f"column {name!r}: earlier batches have {earlier[name]}, the query {kind}"
            for name, kind in current.items()
            if earlier.get(name, kind) != kind
        ]
        if changed:
            raise TargetError(
                f"{self._what}: the query's columns do not fit: {'; '.join(changed)}; cast them, or write to a new "
                "directory"
            )
        if stored is None or current.keys() - earlier.keys():
            self._directory.write(path, json.dumps(earlier | current, indent=1).encode())
