"""Steps with event times for the query of a pipeline: watermarks, duplicates and joins.

Each step takes DataFrames and returns one, checks its columns first, and treats batches and streams alike: a batch has
the result that the stream has if no row is late. `apply_steps` applies the steps that a source declares. To declare
another step, add it there.

Spark has one watermark for a whole query. It follows the slowest source, unless
``spark.sql.streaming.multipleWatermarkPolicy`` is ``max``. A row is late if its time is before the watermark; Spark
drops late rows in these steps and in aggregations, and reports their number.
"""

from __future__ import annotations

import datetime
import logging
import uuid
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Protocol

from kafka.errors import IllegalArgumentError
from kafka.pipelines.durations import Duration, microseconds, shown, spark_text
from kafka.pipelines.first_rows import first_rows
from kafka.pipelines.step_checks import check_key, quoted, reference, with_time

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from kafka.pipelines.window_flush import Markers

log = logging.getLogger(__name__)

POSITION = "kafka"
"""The struct column with the position of a row's record."""
UNTIMED = "kafka_pipelines_untimed"
"""The name under which the number of rows without a time is observed, with a suffix for each step."""
PREFIX = "right_"
"""Prefix for columns of the right side of a join whose names occur on the left side, too."""

_DELAY_MS = "spark.watermarkDelayMs"
"""The key under which Spark keeps the delay in the metadata of the column that has the watermark."""
_JOINS = {
    "inner": "inner",
    "left": "left_outer",
    "left_outer": "left_outer",
    "right": "right_outer",
    "right_outer": "right_outer",
    "full": "full_outer",
    "full_outer": "full_outer",
    "semi": "left_semi",
    "left_semi": "left_semi",
}


class DeclaredWatermark(Protocol):
    """The key `watermark` of a source."""

    @property
    def time(self) -> str:
        """The column with the event time."""

    @property
    def delay(self) -> str:
        """How late rows can be."""


class DeclaredDedupe(Protocol):
    """The key `dedupe` of a source."""

    @property
    def by(self) -> Sequence[str]:
        """The columns that are equal in duplicates."""

    @property
    def within(self) -> str:
        """The longest time between duplicates."""

    @property
    def time(self) -> str | None:
        """The column with the event time; None for the time of the watermark."""


class DeclaredSteps(Protocol):
    """A source with the steps that it declares."""

    @property
    def watermark(self) -> DeclaredWatermark | None:
        """The watermark, or None."""

    @property
    def dedupe(self) -> DeclaredDedupe | None:
        """Which rows are duplicates, or None."""


def apply_steps(frame: DataFrame, source: DeclaredSteps, markers: Markers | None = None) -> DataFrame:
    """Apply the watermark and the removal of duplicates that a source declares.

    Arguments:
        frame: the rows of the source that passed its rules.
        source: the declaration of the source.
        markers: for a pipeline with ``flush_at_end``, its markers (`window_flush`); None for others.

    Returns the rows for the query. Raises `IllegalArgumentError` if a declared column is missing or has another type.
    """
    if source.watermark is not None:
        frame = watermark(frame, source.watermark.time, source.watermark.delay, markers=markers)
    if source.dedupe is not None:
        time = source.dedupe.time or (source.watermark.time if source.watermark is not None else "ts")
        frame = dedupe(frame, source.dedupe.by, source.dedupe.within, time, markers=markers)
    return frame


def watermark(frame: DataFrame, time: str, delay: Duration, *, markers: Markers | None = None) -> DataFrame:
    """Set the watermark of a frame: the latest time of its rows minus a delay.

    Arguments:
        frame: the rows.
        time: the column with the event time, a timestamp. For a field within a struct column, such as
            ``kafka.timestamp``, the result has another column with the time: see `step_checks.time_column`.
        delay: how late rows can be. A longer delay means more state and later results.
        markers: with these, `window_flush.flush` can write the last windows of the query.

    Returns the rows. A batch has no watermark, because all its rows are known. Raises `IllegalArgumentError` if the
    column is missing or not a timestamp, or the frame has a watermark.
    """
    delay_us = microseconds("watermark: delay", delay)
    frame, time = with_time(frame, time, "watermark")
    if found := watermarks(frame):
        raise IllegalArgumentError(
            f"watermark: expected a frame without a watermark, got one on {_listed(found)}. Set it once for each source"
        )
    if not frame.isStreaming:
        return frame
    if markers is not None:
        return markers.watermark(frame, time, datetime.timedelta(microseconds=delay_us))
    return frame.withWatermark(time, spark_text(delay_us))


def watermarks(frame: DataFrame) -> Mapping[str, int]:
    """Return the columns of a frame that have a watermark, with the delay in microseconds."""
    return {field.name: field.metadata[_DELAY_MS] * 1_000 for field in frame.schema if _DELAY_MS in field.metadata}


def dedupe(
    frame: DataFrame,
    by: str | Iterable[str],
    within: Duration = "10 minutes",
    time: str = "ts",
    *,
    markers: Markers | None = None,
) -> DataFrame:
    """Keep the first row of each key, and drop its duplicates within a time.

    A stream keeps the row that arrives first, and drops later ones until the watermark has passed its time by `within`.
    So a row with the same key that is further away is dropped as well if it arrives before that. State: one key for
    each row from the time between the watermark and the latest row, about twice `within`.

    A batch keeps the row with the earliest time, and then the one with the first position in the column `kafka`. A row
    with the same key is kept again if its time is more than `within` after the last row that was kept.

    Rows whose time is NULL are dropped, because Spark would compare them with an arbitrary part of the stream. To make
    them dead letters instead, declare the column as required; `Source.dedupe` does so.

    Arguments:
        frame: the rows.
        by: the column or columns that are equal in duplicates. NULL equals NULL.
        within: the longest time between a row and its duplicates.
        time: the column with the event time, a timestamp. If a stream has no watermark, this sets one with the delay
            `within`; if it has one, it must be on this column, with a delay of at least `within`, and Spark keeps keys
            for that delay.
        markers: as for `watermark`.

    Returns the remaining rows, with the same columns, and the one of `step_checks.time_column` if the time is a field.
    Raises `IllegalArgumentError` for a missing column, a type that cannot be compared, or an unsuitable watermark.
    """
    from pyspark.sql import functions as f

    within_us = microseconds("dedupe: within", within)
    keys = [by] if isinstance(by, str) else list(by)
    if not keys:
        raise IllegalArgumentError("dedupe: expected at least one column in 'by', got none")
    for key in keys:
        check_key(frame, key, "dedupe")
    frame, column = with_time(frame, time, "dedupe")
    if not frame.isStreaming:
        return first_rows(frame.where(f.col(quoted(column)).isNotNull()), keys, column, within_us, POSITION)
    found = watermarks(frame)
    if not found:
        frame = watermark(frame, column, within, markers=markers)
    elif set(found) != {column}:
        raise IllegalArgumentError(
            f"dedupe: expected a watermark on {time!r} alone, got one on {_listed(found)}. Spark compares times in one "
            "column: pass that column as 'time', or remove duplicates before the streams are joined"
        )
    elif found[column] < within_us:
        raise IllegalArgumentError(
            f"dedupe: expected 'within' of at most {shown(found[column])}, the delay of the watermark on {column!r}, "
            f"got {shown(within_us)}. Spark keeps keys for the delay of the watermark: increase the delay"
        )
    nested = {f"__by_{i}": key for i, key in enumerate(keys) if key not in frame.columns}
    rows = _timed(frame, column)
    for name, key in nested.items():
        rows = rows.withColumn(name, f.col(reference(frame, key)))
    return rows.dropDuplicatesWithinWatermark([*(key for key in keys if key in frame.columns), *nested]).drop(*nested)


def longest_wait(within: Duration, *delays: Duration) -> datetime.timedelta:
    """Return how long a row of a stream-stream join stays in the state, in event time.

    Arguments:
        within: the longest time between the rows of a pair.
        delays: the delays of the two watermarks.

    Returns `within` and the longer delay. A row waits longer if one stream is behind the other, by that difference.
    """
    delay_us = max((microseconds("join: delay", each) for each in delays), default=0)
    return datetime.timedelta(microseconds=microseconds("join: within", within) + delay_us)


def join(
    left: DataFrame,
    right: DataFrame,
    on: str | Iterable[str],
    within: Duration | None = None,
    time: str = "ts",
    *,
    right_time: str | None = None,
    how: str = "inner",
    delay: Duration | None = None,
    prefix: str = PREFIX,
    markers: Markers | None = None,
) -> DataFrame:
    """Join rows with equal columns whose times are close to each other.

    For two streams, this sets both watermarks, and Spark drops a row from its state when no partner can arrive any
    more: after `longest_wait`. So the state contains the rows of both streams from that time: with `within` and `delay`
    of 10 minutes and 1,000 rows per second in both streams together, 1.2 million rows. An outer join writes a row
    without a partner only then. Rows whose time is NULL are dropped: they would never leave the state.

    For a static side, such as a table, `within` is optional, and there is no state. Without it, this is a join on the
    columns alone.

    Arguments:
        left, right: the rows. If both are streams, they may have watermarks, on these times.
        on: the column or columns that are equal in a pair; they occur once in the result. NULL equals nothing.
        within: the longest time between the rows of a pair, in both directions. Needed for two streams.
        time: the column with the event time of the left side, a timestamp.
        right_time: the one of the right side; None if it has the same name.
        how: "inner", "left", "right", "full" or "semi".
        delay: how late rows of the streams can be; None for `within`. A stream that has a watermark keeps it.
        prefix: prefix for columns of the right side whose names occur on the left side, too. Of two columns `kafka`,
            only the left one is kept.
        markers: as for `watermark`.

    Returns the pairs. Raises `IllegalArgumentError` for missing columns, different types, or names that occur twice
    with the prefix, too.
    """
    from pyspark.sql import functions as f

    keys = [on] if isinstance(on, str) else list(on)
    if how not in _JOINS:
        raise IllegalArgumentError(f"join: expected how to be inner, left, right, full or semi, got {how!r}")
    if not keys:
        raise IllegalArgumentError("join: expected at least one column in 'on', got none")
    are_streams = left.isStreaming and right.isStreaming
    if are_streams and within is None:
        raise IllegalArgumentError(
            "join: expected 'within' for two streams, got None. Without it, Spark would keep all rows in its state"
        )
    for key in keys:
        types = [check_key(side, key, f"join: {name} side", top=True) for name, side in _sides(left, right)]
        if types[0] != types[1]:
            raise IllegalArgumentError(
                f"join: expected {key!r} to have one type, got {types[0]} and {types[1]}: cast one"
            )
    right_time = right_time or time
    if within is not None:
        microseconds("join: within", within)
        left, time = _prepared(left, time, "join: left side", are_streams, delay or within, markers)
        right, right_time = _prepared(right, right_time, "join: right side", are_streams, delay or within, markers)
    if are_streams and within is not None:
        delays = [datetime.timedelta(microseconds=us) for side in (left, right) for us in watermarks(side).values()]
        log.info(
            "join on %s: a row waits for a partner up to %s of event time, and longer if one stream is behind the "
            "other; the state contains the rows of both streams from that time",
            ", ".join(keys),
            longest_wait(within, *delays),
        )
    renamed = _renamed(left, right, keys, prefix)
    other = right.select(*[f.col(quoted(name)).alias(f"__right_{name}") for name in right.columns])
    conditions = [f.col(quoted(key)) == f.col(quoted(f"__right_{key}")) for key in keys]
    if within is not None:
        moment, other_moment = f.col(quoted(time)), f.col(quoted(f"__right_{right_time}"))
        span = f.expr(f"interval {microseconds('join: within', within)} microseconds")
        conditions.append((other_moment >= moment - span) & (other_moment <= moment + span))
    joined = left.join(other, reduce(and_, conditions), _JOINS[how])
    if _JOINS[how] == "left_semi":
        return joined
    columns = [_key_or_column(name, keys, _JOINS[how]) for name in left.columns]
    return joined.select(*columns, *[f.col(quoted(f"__right_{name}")).alias(new) for name, new in renamed.items()])


def _key_or_column(name: str, keys: Sequence[str], how: str) -> Column:
    """Return a column of the left side; a key is that of the side that has a row."""
    from pyspark.sql import functions as f

    column, other = f.col(quoted(name)), f.col(quoted(f"__right_{name}"))
    if name in keys and how in ("right_outer", "full_outer"):
        return (other if how == "right_outer" else f.coalesce(column, other)).alias(name)
    return column


def _sides(left: DataFrame, right: DataFrame) -> tuple[tuple[str, DataFrame], ...]:
    return ("left", left), ("right", right)


def _prepared(
    frame: DataFrame, time: str, what: str, are_streams: bool, delay: Duration, markers: Markers | None
) -> tuple[DataFrame, str]:
    """Return a side of a join without rows that have no time, with a watermark if needed, and its column of times."""

    frame, column = with_time(frame, time, what)
    found = watermarks(frame)
    if are_streams and not found:
        frame = watermark(frame, column, delay, markers=markers)
    elif are_streams and set(found) != {column}:
        raise IllegalArgumentError(f"{what}: expected a watermark on {time!r} alone, got one on {_listed(found)}")
    return _timed(frame, column), column


def _timed(frame: DataFrame, column: str) -> DataFrame:
    """Return the rows that have a time. Of a stream, the others are counted, and events contain their number."""
    from pyspark.sql import functions as f

    has_time = f.col(quoted(column)).isNotNull()
    if frame.isStreaming:
        name = f"{UNTIMED}_{uuid.uuid4().hex[:12]}"
        frame = frame.observe(name, f.count_if(~has_time).alias(UNTIMED))
    return frame.where(has_time)


def _renamed(left: DataFrame, right: DataFrame, keys: Sequence[str], prefix: str) -> dict[str, str]:
    """Return the new names of the columns of the right side that are in the result, by their names."""
    taken = {name.lower() for name in left.columns}
    names = [name for name in right.columns if name not in keys and not (name == POSITION and name in left.columns)]
    renamed = {name: prefix + name if name.lower() in taken else name for name in names}
    for name, new in renamed.items():
        if new.lower() in taken or list(renamed.values()).count(new) > 1:
            raise IllegalArgumentError(
                f"join: expected different names for the columns of both sides, got {name!r} on both, and {new!r}, "
                "too: pass another prefix, or rename or drop a column"
            )
    return renamed


def _listed(found: Iterable[str]) -> str:
    return ", ".join(map(repr, found))
