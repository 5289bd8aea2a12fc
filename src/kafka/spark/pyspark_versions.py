"""Differences between PySpark versions from 4.0 on, with replacements for classes that older versions lack.

- Before 4.2, Spark calls `latestOffset()` without arguments: it passes neither the start of the micro-batch nor its
  limit. `Trigger.AvailableNow` runs one micro-batch, and `reportLatestOffset` is not called.
- Before 4.2, a plan without tasks is read by one task whose partition is None.
- Before 4.1, the writer of a stream receives Arrow batches only if it is also a batch writer for Arrow.
"""

from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceArrowWriter, DataSourceStreamWriter, InputPartition

if TYPE_CHECKING:
    from kafka.spark.planning.ranges import Task

try:
    from pyspark.sql.streaming.datasource import (
        ReadAllAvailable,
        ReadLimit,
        ReadMaxRows,
        ReadMinRows,
        SupportsTriggerAvailableNow,
    )

    TELLS_TRIGGER = True
except ImportError:
    import dataclasses

    TELLS_TRIGGER = False

    class ReadLimit:  # type: ignore[no-redef]
        """The limit of a micro-batch."""

    @dataclasses.dataclass
    class ReadAllAvailable(ReadLimit):  # type: ignore[no-redef, misc]
        """A limit that allows everything."""

    @dataclasses.dataclass
    class ReadMaxRows(ReadLimit):  # type: ignore[no-redef, misc]
        """A maximum number of rows."""

        max_rows: int

    @dataclasses.dataclass
    class ReadMinRows(ReadLimit):  # type: ignore[no-redef, misc]
        """A minimum number of rows."""

        min_rows: int

    class SupportsTriggerAvailableNow:  # type: ignore[no-redef]
        """An empty base class, which this version of Spark does not use."""


try:
    from pyspark.sql.datasource import DataSourceStreamArrowWriter
except ImportError:

    class DataSourceStreamArrowWriter(DataSourceStreamWriter, DataSourceArrowWriter):  # type: ignore[no-redef, misc]
        """A stream writer to which Spark passes Arrow batches, as to any `DataSourceArrowWriter`."""


__all__ = [
    "TELLS_TRIGGER",
    "DataSourceStreamArrowWriter",
    "ReadAllAvailable",
    "ReadLimit",
    "ReadMaxRows",
    "ReadMinRows",
    "SupportsTriggerAvailableNow",
    "task_of",
]


def task_of(partition: InputPartition | None) -> "Task | tuple[Any, ...]":
    """Return the ranges that a task must read: none for the task that Spark runs if a plan has no tasks."""
    return (None if partition is None else partition.value) or ()
