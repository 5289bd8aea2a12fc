"""What differs between versions of PySpark from 4.0 on, with stand-ins for what older ones lack.

- Before 4.2 Spark calls `latestOffset()` without arguments: it tells neither where the micro-batch begins nor what
  limits it. `Trigger.AvailableNow` is one micro-batch. Nobody asks for the ends of the logs (`reportLatestOffset`).
- Before 4.2 a plan without tasks is read by a task with None for its partition.
- Before 4.1 a stream's writer takes Arrow batches if it is of the class of those that write frames.
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
        """What limits a micro-batch."""

    @dataclasses.dataclass
    class ReadAllAvailable(ReadLimit):  # type: ignore[no-redef, misc]
        """Nothing does."""

    @dataclasses.dataclass
    class ReadMaxRows(ReadLimit):  # type: ignore[no-redef, misc]
        """The largest number of rows."""

        max_rows: int

    @dataclasses.dataclass
    class ReadMinRows(ReadLimit):  # type: ignore[no-redef, misc]
        """The smallest number of rows."""

        min_rows: int

    class SupportsTriggerAvailableNow:  # type: ignore[no-redef]
        """Spark does not look for it."""


try:
    from pyspark.sql.datasource import DataSourceStreamArrowWriter
except ImportError:

    class DataSourceStreamArrowWriter(DataSourceStreamWriter, DataSourceArrowWriter):  # type: ignore[no-redef, misc]
        """Spark hands Arrow batches to what is a `DataSourceArrowWriter`, in a stream, too."""


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
    """What a task is to read: nothing where the plan has no tasks, as Spark runs one all the same."""
    return (None if partition is None else partition.value) or ()
