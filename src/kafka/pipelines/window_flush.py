"""Writes the last windows of a streaming query that ends.

Spark writes a window when the watermark has passed the window's end. The watermark follows the latest row, so when a
query has read everything and ends, its last windows stay in the state. `flush` runs the query again with a **marker**:
a row of a second source, whose time moves the watermark to the end of the last window. The query itself stays the same,
and so does its checkpoint.

`Markers.watermark` sets the watermark of a frame and adds the second source: a directory of small JSON files, which
Spark's file source reads. This has several advantages over a source of our own. A micro-batch without markers contains
no task for it, the checkpoint records which markers have been read, Spark reads each of them exactly once, and reports
its rows apart from those of the Kafka source. A filter removes the marker again, above the watermark. Its condition
uses the time, because Spark moves other conditions below the watermark, which would then not see the marker.

A marker contains the new watermark and no time, because each source adds its own delay. The new watermark is as early
as possible: the end of the last window in the state. With a time in the far future, all later rows would be late.
"""

from __future__ import annotations

import dataclasses
import datetime
import logging
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from kafka.errors import IllegalStateError
from kafka.pipelines.durations import Duration, microseconds, shown, spark_text

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType

log = logging.getLogger(__name__)

MAX_RUNS = 4
"""Maximum number of runs for one `flush`.

Spark moves the watermark after the marker's micro-batch, and writes the windows in the next one. From PySpark 4.2 on,
one run contains both. With earlier versions, a query with a Kafka source needs two runs, as does any query without
empty micro-batches. Windows over the results of other windows need further runs.
"""
LATEST_US = 64_060_588_800_000_000
"""The beginning of the year 4000, in microseconds since 1970. A window beyond it comes from a wrong time."""

_UNTIL = "until_us"
_MARKER = "__kafka_pipelines_marker"
_SOURCE_EVOLUTION = "spark.sql.streaming.queryEvolution.enableSourceEvolution"


@dataclasses.dataclass(frozen=True, slots=True)
class Flush:
    """What `flush` did.

    Arguments:
        runs: how often the query was run; 0 if no window was open.
        until: the watermark after the flush: later rows for windows that end by then are late. None if no window was
            open.
    """

    runs: int
    until: datetime.datetime | None


class Markers:
    """The directory with the markers of a query.

    Arguments:
        directory: a directory of this query alone, next to its checkpoint, and like the checkpoint within reach of
            all executors. It is created if necessary. Delete it only together with the checkpoint.
    """

    def __init__(self, directory: str | Path) -> None:
        self.directory = str(directory)

    def watermark(self, frame: DataFrame, time: str, delay: Duration) -> DataFrame:
        """Set the watermark of a streaming frame so that `flush` can move it. Batch frames are returned unchanged.

        Adding or removing the markers of a query changes its sources, so the query then needs a new checkpoint.

        Arguments:
            frame: the rows, without a watermark.
            time: the column with the event time, a timestamp.
            delay: how late rows can be.

        Returns the rows of the frame, with the same columns; all columns are nullable. Markers are not among them.
        """
        from pyspark.sql import functions as f

        if not frame.isStreaming:
            return frame
        delay_us = microseconds("watermark: delay", delay)
        until = f.timestamp_micros(f.col(_UNTIL))
        moment = f.timestamp_micros(f.col(_UNTIL) + f.lit(delay_us))
        markers = self._read(frame.sparkSession).select(
            *[
                (moment if field.name == time else f.lit(None).cast(field.dataType)).alias(field.name)
                for field in frame.schema.fields
            ],
            until.alias(_MARKER),
        )
        rows = frame.withColumn(_MARKER, f.lit(None).cast("timestamp")).union(markers)
        marked = rows.withWatermark(time, spark_text(delay_us))
        is_row = f.col(_MARKER).isNull() | (f.col(_quoted(time)) < f.col(_MARKER))
        return marked.where(is_row).drop(_MARKER)

    def _read(self, spark: SparkSession) -> DataFrame:
        from pyspark.errors import AnalysisException

        if "://" not in self.directory:
            Path(self.directory).mkdir(parents=True, exist_ok=True)
        try:
            return self._stream(spark)
        except AnalysisException as error:
            if error.getCondition() != "PATH_NOT_FOUND":
                raise
        spark.range(0).selectExpr(f"id as {_UNTIL}").write.mode("append").json(self.directory)
        return self._stream(spark)

    def _stream(self, spark: SparkSession) -> DataFrame:
        reader = spark.readStream
        if hasattr(reader, "name") and spark.conf.get(_SOURCE_EVOLUTION, "false") == "true":
            reader = reader.name("markers")
        return reader.schema(f"{_UNTIL} bigint").json(self.directory)

    def write(self, spark: SparkSession, until_us: int) -> None:
        """Add a marker, which the query reads in its next micro-batch.

        Arguments:
            spark: the session.
            until_us: the watermark to reach, in microseconds since 1970. A later watermark stays as it is.
        """
        rows = spark.range(0, 1, 1, 1).selectExpr(f"{until_us} as {_UNTIL}")
        rows.write.mode("append").json(self.directory)  # the name of the file is new each time


def flush(
    spark: SparkSession,
    checkpoint: str | Path,
    markers: Markers,
    run: Callable[[], object],
    *,
    waits: Duration = "0 seconds",
) -> Flush:
    """Write the windows that a query has left in its state, and wait until they are written.

    Call this when the query has read everything and has ended. If the process is killed during the flush, a later run
    of the query, or the next call, completes it: each window is written once, as always with this checkpoint. Rows
    that arrive after the flush has begun, for one of these windows, may be late. Windows that such rows open stay in
    the state until the next run.

    Arguments:
        spark: the session.
        checkpoint: the checkpoint of the query.
        markers: the markers with which the query was built.
        run: starts the query with the same plan and checkpoint, and returns when it has read everything, such as
            ``lambda: kafka.spark.run_available(writer)``.
        waits: the sum of `within` of the stream-stream joins in the query. Their rows stay in the state for this long
            after the latest time in the state.

    Raises `IllegalStateError` if windows stay in the state, and what `run` raises.
    """
    waits_us = microseconds("flush: waits", waits)
    target_us: int | None = None
    for number in range(MAX_RUNS + 1):
        found = open_windows(spark, checkpoint)
        is_reached = target_us is not None and (found is None or found.first_us + waits_us > target_us)
        if found is None or (is_reached and (found.operators == 1 or number == MAX_RUNS)):
            until = None if target_us is None else _moment(target_us)
            log.info("flushed the windows until %s in %d run(s)", until, number)
            return Flush(number, until)
        if number == MAX_RUNS:
            break
        if target_us is None or is_reached:  # otherwise, the watermark has moved, and the next run writes the windows
            target_us = -(-found.last_us // 1_000) * 1_000 + waits_us + (1_000 if waits_us else 0)
            _check(target_us)
        markers.write(spark, target_us)
        run()
    raise IllegalStateError(
        "expected a query that writes its windows, and removes them from its state, once the watermark has passed "
        f"their end; after {MAX_RUNS} runs with the watermark {_moment(target_us or 0)}, some are still there. "
        "Set the watermark of each source with Markers.watermark, group by a window of that time, use the output "
        "mode append or update, and pass the sum of 'within' of all joins of streams as 'waits'"
    )


def _check(until_us: int) -> None:
    if until_us > LATEST_US:
        raise IllegalStateError(
            f"expected the last window to end before the year 4000, got an end {until_us} microseconds after 1970: a "
            "row has a wrong time. A flush would advance the watermark to that time, and all later rows would be late. "
            "Reject such rows with 'times' or the option maxTimestampAhead, and start with a new checkpoint"
        )
    ahead_us = until_us - int(datetime.datetime.now(datetime.UTC).timestamp() * 1e6)
    if ahead_us > 86_400_000_000:
        log.warning(
            "the last window ends %s in the future: until then, all rows will be late. Reject rows with wrong "
            "times with 'times' or the option maxTimestampAhead",
            shown(ahead_us),
        )


def _moment(until_us: int) -> datetime.datetime:
    return datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC) + datetime.timedelta(microseconds=until_us)


_AGGREGATIONS = ("stateStoreSave", "sessionWindowStateStoreSaveExec")
_JOIN = "symmetricHashJoin"


@dataclasses.dataclass(frozen=True, slots=True)
class OpenWindows:
    """The windows in the state of a query, and the rows in the state of its joins.

    Arguments:
        first_us: the earliest end of a window, or time of a row, in microseconds since 1970.
        last_us: the latest one.
        operators: number of aggregations and joins in the query. With several, the result of one may open a window of
            the next one.
    """

    first_us: int
    last_us: int
    operators: int


def open_windows(spark: SparkSession, checkpoint: str | Path) -> OpenWindows | None:
    """Return what is in the state of a query that has ended and would be written if the watermark advanced.

    This counts the windows of aggregations and the rows of joins; the state of other steps contains nothing to write.
    Returns None if there is nothing.

    Arguments:
        spark: the session, with which Spark's reader for the state is used.
        checkpoint: the checkpoint of the query.
    """
    known = spark.read.format("state-metadata").load(str(checkpoint))
    operators = {(row.operatorId, row.operatorName) for row in known.select("operatorId", "operatorName").collect()}
    ranges: list[tuple[int, int] | None] = []
    known_operators = 0
    for number, name in sorted(operators):
        state = spark.read.format("statestore").option("operatorId", str(number))
        if name in _AGGREGATIONS:
            ranges.append(_range_us(state.load(str(checkpoint)), whole_rows=False))
        elif name == _JOIN:
            sides = [state.option("joinSide", side).load(str(checkpoint)) for side in ("left", "right")]
            ranges += [_range_us(side, whole_rows=True) for side in sides]
        else:
            continue
        known_operators += 1
    found = [each for each in ranges if each is not None]
    if not found:
        return None
    firsts, lasts = zip(*found, strict=True)
    return OpenWindows(min(firsts), max(lasts), known_operators)


def _range_us(state: DataFrame, *, whole_rows: bool) -> tuple[int, int] | None:
    """Return the earliest and latest end of a window, or time if there are no windows; None without any.

    Arguments:
        state: the state, with the struct columns `key` and `value`.
        whole_rows: whether `value` contains rows, as in a join, and not the result of an aggregation.
    """
    from pyspark.sql import functions as f

    part = "value" if whole_rows else "key"
    times = _windows(state, part) or _windows(state, "value") or _times(state, part)  # sessions are in the value
    if not times:
        return None
    time = f.unix_micros(f.greatest(*times) if len(times) > 1 else times[0])
    (row,) = state.agg(f.min(time).alias("first"), f.max(time).alias("last")).collect()
    return None if row["first"] is None else (row["first"], row["last"])


def _windows(state: DataFrame, part: str) -> list[Column]:
    """Return the ends of the windows in a part of the state: structs of two timestamps, start and end."""
    from pyspark.sql import functions as f
    from pyspark.sql.types import StructType, TimestampType

    def is_window(kind: object) -> bool:
        return isinstance(kind, StructType) and [(each.name, each.dataType) for each in kind.fields] == [
            ("start", TimestampType()),
            ("end", TimestampType()),
        ]

    return [f.col(f"{part}.{_quoted(each.name)}.end") for each in _fields(state, part) if is_window(each.dataType)]


def _times(state: DataFrame, part: str) -> list[Column]:
    from pyspark.sql import functions as f
    from pyspark.sql.types import TimestampType

    fields = _fields(state, part)
    return [f.col(f"{part}.{_quoted(each.name)}") for each in fields if isinstance(each.dataType, TimestampType)]


def _fields(state: DataFrame, part: str) -> StructType:
    kind: StructType = state.schema[part].dataType
    return kind


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
