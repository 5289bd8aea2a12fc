"""Writes the rows of a frame to Parquet files in Spark's tasks, and returns the list of files to the driver.

Each attempt of a task writes files with names of its own. Only the files of attempts that Spark accepts are in the
list, so a target that commits the list has each row once, whatever happened to other attempts. The driver never holds
rows.
"""

from __future__ import annotations

import dataclasses
import datetime
import json
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from kafka.pipelines.targets.storage import Storage
from kafka.pipelines.targets.target import RejectedRowError, shown_row

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

_RESULT = "path string, partition array<string>, rows bigint, size bigint, rejected string"
_GROUP_ROWS = 1 << 17
_GROUP_BYTES = 64 << 20
"""Limits of a row group, in rows and in bytes in memory."""

Values = tuple[str | None, ...]
"""The values of the partition columns, as text; None for NULL."""


@dataclasses.dataclass(frozen=True, order=True)
class TaskFile:
    """A file that a task has written.

    Attributes:
        path: path within the storage.
        partition: values of the partition columns in all its rows.
        rows: number of rows.
        size: size in bytes.
    """

    path: str
    partition: Values
    rows: int
    size: int


@dataclasses.dataclass(frozen=True)
class Writing:
    """How tasks write files.

    Attributes:
        storage: where files are created.
        folder: directory within the storage.
        schema: the Arrow schema of the files, without the partition columns.
        partitions: columns that are not in files; all rows of a file have the same values of them.
        present: columns that must not be NULL.
        reason: why they must not be NULL, for the error.
        suffix: end of the names of files.
    """

    storage: Storage
    folder: str
    schema: pa.Schema
    partitions: tuple[str, ...] = ()
    present: tuple[str, ...] = ()
    reason: str = ""
    suffix: str = ".parquet"


def write_files(frame: DataFrame, writing: Writing) -> list[TaskFile]:
    """Write the rows of a frame to files, and return the files, sorted by path.

    Raises `RejectedRowError`, with one of the rows, if a column in `Writing.present` is NULL. The files that were
    written until then are deleted.
    """
    found = in_tasks(frame, _task(writing), _RESULT)
    files = sorted(TaskFile(row.path, tuple(row.partition), row.rows, row.size) for row in found if row.path)
    rejected = [row.rejected for row in found if row.rejected is not None]
    if rejected:
        for each in files:
            writing.storage.delete(each.path)
        raise RejectedRowError(f"{writing.reason}, got a row with {rejected[0]}")
    return files


Task = Callable[[Iterator["pa.RecordBatch"]], Iterator["pa.RecordBatch"]]
"""Gets the rows of a Spark task, and returns rows for the driver."""


def in_tasks(frame: DataFrame, task: Task, result: str) -> list[Any]:
    """Call a function in each task with its rows, and return the rows that the functions return.

    Arguments:
        frame: the rows.
        task: the function. Spark sends it to the tasks with what it refers to.
        result: the columns of the returned rows, in Spark's DDL.
    """
    names = list(frame.columns)

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return task(batch.rename_columns(names) for batch in batches)

    plain = frame.toDF(*[f"c{index}" for index in range(len(names))])  # mapInArrow fails for names with dots
    return list(plain.mapInArrow(run, result).collect())


def _task(writing: Writing) -> Task:
    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        attempt = _Attempt(writing)
        for batch in batches:
            attempt.write(batch)
        rows = attempt.finish()
        columns: list[Any] = [list(each) for each in zip(*rows, strict=True)] if rows else [[], [], [], [], []]
        types = [pa.string(), pa.list_(pa.string()), pa.int64(), pa.int64(), pa.string()]
        yield pa.RecordBatch.from_arrays(
            [pa.array(values, kind) for values, kind in zip(columns, types, strict=True)],
            names=["path", "partition", "rows", "size", "rejected"],
        )

    return run


class _Attempt:
    """The files of an attempt of a task: one for each partition."""

    def __init__(self, writing: Writing) -> None:
        self._writing = writing
        self._name = uuid.uuid4().hex
        self._open: dict[Values, _OpenFile] = {}
        self._rejected: str | None = None

    def write(self, batch: pa.RecordBatch) -> None:
        self._rejected = self._rejected or first_null(batch, self._writing.present)
        if self._rejected is not None:
            return
        for values, part in split(batch, self._writing.partitions):
            if values not in self._open:
                path = f"{self._writing.folder}/{self._name}-{len(self._open):05}{self._writing.suffix}".lstrip("/")
                self._open[values] = _OpenFile(self._writing, path)
            self._open[values].write(part)

    def finish(self) -> list[tuple[str, Values, int, int, str | None]]:
        rows: list[tuple[Any, ...]] = []
        for values, each in self._open.items():
            each.close()
            rows.append((each.path, values, each.rows, each.size, None))
        if self._rejected is not None:
            rows.append((None, (), 0, 0, self._rejected))
        return rows


class _OpenFile:
    """A file that is being written. It collects batches into row groups."""

    def __init__(self, writing: Writing, path: str) -> None:
        from pyarrow import parquet

        self.path = path
        self.rows = 0
        self.size = 0
        self._schema = writing.schema
        self._stream = writing.storage.create(path)
        self._writer = parquet.ParquetWriter(self._stream, writing.schema, compression="zstd")
        self._group: list[pa.RecordBatch] = []

    def write(self, batch: pa.RecordBatch) -> None:
        self._group.append(conform(batch, self._schema))
        self.rows += batch.num_rows
        if (
            sum(each.num_rows for each in self._group) >= _GROUP_ROWS
            or sum(each.nbytes for each in self._group) >= _GROUP_BYTES
        ):
            self._flush()

    def close(self) -> None:
        self._flush()
        self._writer.close()
        self.size = self._stream.tell()
        self._stream.close()

    def _flush(self) -> None:
        import pyarrow as pa

        if self._group:
            self._writer.write_table(pa.Table.from_batches(self._group, self._schema))
            self._group = []


def conform(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Return the columns of a schema from a batch of Spark's, converted to the types of the schema."""
    import pyarrow as pa

    columns = [batch.column(batch.schema.get_field_index(field.name)).cast(field.type) for field in schema]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def first_null(batch: pa.RecordBatch, names: Sequence[str]) -> str | None:
    """Return the text of the first row in which one of the named columns is NULL; None if there is no such row."""
    import pyarrow.compute as pc

    for name in names:
        values = batch.column(batch.schema.get_field_index(name))
        if values.null_count:
            index = pc.index(values.is_null(), True).as_py()
            return shown_row(batch.slice(index, 1).to_pylist()[0])
    return None


def split(batch: pa.RecordBatch, names: Sequence[str]) -> Iterator[tuple[Values, pa.RecordBatch]]:
    """Yield the values of the named columns, as text, with the rows that have them."""
    import pyarrow.compute as pc

    if not names:
        if batch.num_rows:
            yield (), batch
        return
    column = batch.column(batch.schema.get_field_index(names[0]))
    for value in pc.unique(column):
        chosen = column.is_null() if not value.is_valid else pc.equal(column, value)
        for values, rows in split(batch.filter(chosen), names[1:]):
            yield (value_text(value.as_py()), *values), rows


def value_text(value: Any) -> str | None:
    """Return the value of a partition column as text, in the form that Hive and Delta use."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return value.isoformat()
    return json.dumps(value)


PARTITION_TYPES = ("date", "string", "tinyint", "smallint", "int", "bigint", "boolean")
"""Spark's types that a partition column may have."""
