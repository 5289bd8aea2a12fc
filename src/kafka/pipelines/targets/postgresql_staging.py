"""Copies the rows of a frame to a staging table in PostgreSQL, from Spark's tasks.

Each attempt of a task copies its rows in one transaction, and marks them with a text of its own. The driver gets the
marks of the attempts that Spark accepts. Rows of other attempts stay behind in the staging table, which is dropped.
"""

from __future__ import annotations

import dataclasses
import io
import uuid
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from kafka.pipelines.targets.target import RejectedRowError, TargetError, first_line
from kafka.pipelines.targets.task_files import Task, first_null, in_tasks

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

_RESULT = "attempt string, rows bigint, rejected string, failed string"


@dataclasses.dataclass(frozen=True)
class Staged:
    """The rows that tasks have copied.

    Attributes:
        attempts: the marks of the attempts whose rows count.
        rows: the number of their rows.
    """

    ATTEMPT: ClassVar[str] = "kafka_attempt"
    """Column of the staging table with the mark."""
    attempts: tuple[str, ...]
    rows: int


def copy_rows(frame: DataFrame, conninfo: str, table: str, *, present: Sequence[str], what: str) -> Staged:
    """Copy the rows of a frame to a staging table.

    Arguments:
        frame: the rows; `postgresql_types.json_columns` has converted their columns.
        conninfo: the connection string.
        table: the quoted name of the staging table.
        present: columns that must not be NULL.
        what: the target, for errors.

    Raises `RejectedRowError` if such a column is NULL, and `TargetError` if PostgreSQL rejects a value.
    """
    found = in_tasks(frame, _task(conninfo, table, tuple(present)), _RESULT)
    for row in found:
        if row.rejected is not None:
            raise RejectedRowError(
                f"{what}: expected a value in each column of key ({', '.join(present)}), got a row with {row.rejected}"
            )
        if row.failed is not None:
            raise TargetError(f"{what}: {row.failed}")
    return Staged(tuple(row.attempt for row in found if row.rows), sum(row.rows for row in found))


def _task(conninfo: str, table: str, present: tuple[str, ...]) -> Task:
    """Return the function for a task. Errors are results, because Spark would add the task's code to their messages."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import psycopg
        import pyarrow as pa

        attempt, rows, rejected, failed = uuid.uuid4().hex, 0, None, None
        try:
            rows, rejected = _copy(batches, conninfo, table, present, attempt)
        except psycopg.OperationalError:
            raise  # such as a lost connection: Spark tries the task again
        except psycopg.Error as error:
            where = first_line(RuntimeError(error.diag.context or ""))
            failed = first_line(error) + (f" ({where})" if where else "")
        for _ in batches:  # Spark expects a task to read all its rows
            pass
        texts = {"attempt": attempt, "rejected": rejected, "failed": failed}
        columns: dict[str, pa.Array[Any]] = {name: pa.array([text], pa.string()) for name, text in texts.items()}
        columns["rows"] = pa.array([rows], pa.int64())
        yield pa.RecordBatch.from_pydict({name: columns[name] for name in ("attempt", "rows", "rejected", "failed")})

    return run


def _copy(
    batches: Iterator[pa.RecordBatch], conninfo: str, table: str, present: Sequence[str], attempt: str
) -> tuple[int, str | None]:
    """Copy the rows of a task. Return their number, and the text of a rejected row, in which case none is copied."""
    import psycopg

    first = next((batch for batch in batches if batch.num_rows), None)
    if first is None:
        return 0, None
    names = ", ".join('"' + name.replace('"', '""') + '"' for name in (*first.schema.names, Staged.ATTEMPT))
    rows = 0
    with (
        psycopg.connect(conninfo) as connection,
        connection.cursor() as cursor,
    ):
        rejected = None
        with cursor.copy(f"copy {table} ({names}) from stdin (format csv)".encode()) as copy:
            batch: pa.RecordBatch | None = first
            while batch is not None and rejected is None:
                rejected = first_null(batch, present)
                copy.write(csv(batch, attempt))
                rows += batch.num_rows
                batch = next(batches, None)
        if rejected is not None:
            connection.rollback()
            return 0, rejected
    return rows, None


def csv(batch: pa.RecordBatch, attempt: str) -> bytes:
    """Return the rows as CSV for COPY: NULL is an empty field, and all texts are in quotes."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    marks = pa.repeat(attempt, batch.num_rows)
    columns = []
    for each in batch.columns:
        if pa.types.is_timestamp(each.type) and each.type.tz is not None:
            each = each.cast(pa.timestamp("us", "UTC"))  # the session's time zone may have no offset in the text
        columns.append(each)
    names = [str(index) for index in range(len(columns) + 1)]
    table = pa.RecordBatch.from_arrays([*columns, marks], names=names)
    stream = io.BytesIO()
    arrow_csv.write_csv(table, stream, arrow_csv.WriteOptions(include_header=False, quoting_style="needed"))
    return stream.getvalue()
