"""Checks of the columns that steps get: they exist, times are timestamps, and keys can be compared.

`steps` calls these before it builds a plan, because Spark's own errors name neither the step nor what to do. The names
of columns are top-level ones, or paths to fields of struct columns, such as ``kafka.timestamp``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka.config.option import nearest
from kafka.errors import IllegalArgumentError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def time_column(time: str) -> str:
    """Return the name of the column with an event time: `time`, with ``_`` for dots.

    Spark's watermarks need a column of their own, so for a field within a struct column, such as ``kafka.timestamp``,
    `watermark` adds one: ``kafka_timestamp``.
    """
    return time.replace(".", "_")


def with_time(frame: DataFrame, time: str, what: str) -> tuple[DataFrame, str]:
    """Return the frame with a top-level column for the event time, and that column's name."""
    from pyspark.sql import functions as f

    if "." in time and time not in frame.columns:
        name = time_column(time)
        if name in frame.columns:
            checked_time(frame, name, what)
            return frame, name
        checked_time(frame, time, what)
        return frame.withColumn(name, f.col(time)), name
    checked_time(frame, time, what)
    return frame, time


def checked_time(frame: DataFrame, time: str, what: str) -> None:
    kind = _type_of(frame, time, what)
    if kind != "timestamp":
        raise IllegalArgumentError(
            f"{what}: expected {time!r} to be a timestamp, got {kind}. Convert it first, for example with "
            f"timestamp_millis({time}) for milliseconds since 1970, or cast({time} as timestamp) for text"
        )


def check_key(frame: DataFrame, key: str, what: str, *, top: bool = False) -> str:
    """Check that a column exists and can be compared, and return its type."""
    if top and key not in frame.columns and "." in key:
        raise IllegalArgumentError(f"{what}: expected a column, got the field {key!r}: select it as a column first")
    kind = _type_of(frame, key, what)
    if "map<" in kind or kind == "variant":
        raise IllegalArgumentError(f"{what}: expected a column that can be compared, got {key!r} of type {kind}")
    return kind


def _type_of(frame: DataFrame, name: str, what: str) -> str:
    """Return the type of a column or field, as text such as ``timestamp``."""
    from pyspark.errors import AnalysisException

    if name in frame.columns:
        return str(frame.schema[name].dataType.simpleString())
    try:
        if "." in name:
            return str(frame.select(name).schema[0].dataType.simpleString())
    except AnalysisException:
        pass
    raise IllegalArgumentError(
        f"{what}: expected a column of the frame, got {name!r}{nearest(name, frame.columns)}; "
        f"its columns are {', '.join(frame.columns)}"
    )


def reference(frame: DataFrame, name: str) -> str:
    """Return a reference to a column or field for `Column` functions."""
    return quoted(name) if name in frame.columns else name


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
