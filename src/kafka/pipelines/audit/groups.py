"""Balances an aggregating query by its groups: what the sink must contain follows from a new evaluation of the query.

Late rows and open windows are left out. A row is late if its window had ended at the watermark of the micro-batch
before. Events say which micro-batches have late rows; these are evaluated one by one. In output mode append, a window
is in the sink only after the watermark has passed its end. `group_plans` finds the groups, `sink_rows` reads the sink,
and `windows` compares them.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute

from kafka.pipelines.audit.group_plans import COUNT, END, Grouping, NotGrouped, grouping_of
from kafka.pipelines.audit.scope import Ranges, Scope
from kafka.pipelines.audit.sink_rows import sink_rows
from kafka.pipelines.audit.windows import GroupBalance, compare_groups, texts
from kafka.pipelines.declaration import Declaration

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pc: Any = pyarrow.compute
MAX_ROWS = 2_000_000
"""Maximum number of groups that are compared, because they are collected."""
_MOST_PARTS = 200
"""Maximum number of parts that are evaluated one by one."""


@dataclasses.dataclass(frozen=True, slots=True)
class Part:
    """What is evaluated together.

    Arguments:
        declaration: the declaration with which it was processed.
        at: the time of the micro-batch, if that matters.
        ranges: the offsets.
        late_ms: rows of windows that end by this time are late, in ms since 1970; None if no row is late.
    """

    declaration: Declaration
    at: datetime.datetime | None
    ranges: Ranges
    late_ms: int | None = None


class NotCompared(Exception):
    """The groups cannot be compared. The message says why, and what to do, as a part of a sentence."""


def balance_groups(
    declaration: Declaration,
    spark: SparkSession,
    function: Callable[..., Any] | None,
    scope: Scope,
    parts: Sequence[Part],
    watermark_ms: int | None,
) -> GroupBalance:
    """Compare the groups in the sink with a new evaluation.

    Arguments:
        declaration: the pipeline.
        spark: the session.
        function: the query if it is a Python function.
        scope: what is audited.
        parts: everything that the stream has read; those with late rows one by one.
        watermark_ms: the watermark of the last complete micro-batch, in ms since 1970; None if it is unknown.

    Raises `NotCompared`.
    """
    if any(each.same_sink and each.ranges for each in scope.backfills):
        raise NotCompared("a backfill has written windows to the sink, too")
    if len(parts) > _MOST_PARTS:
        raise NotCompared(
            f"{len(parts):,} micro-batches have late rows or declarations of their own; audit at most {_MOST_PARTS}"
        )
    evaluated = [_evaluated(part, spark, function, len(parts) > 1) for part in parts]
    grouping = evaluated[0][0]
    count = grouping.counts[0]
    updates = declaration.output_mode == "update"
    if not updates and not grouping.has_window:
        raise NotCompared("its groups are not windows of time, so it is unknown which ones are complete")
    if not updates and watermark_ms is None:
        raise NotCompared("the checkpoint does not contain the watermark of the last micro-batch any more")
    late, kept = 0, []
    for (_, table), part in zip(evaluated, parts, strict=True):
        is_late = _ended(table, part.late_ms)
        late += int(pc.sum(table.filter(is_late).column(COUNT)).as_py() or 0)
        kept.append(table.filter(pc.invert(is_late)))
    expected = _summed(kept, grouping.keys)
    is_open = pc.invert(_ended(expected, None if updates else watermark_ms))
    opened = 0 if updates else int(pc.sum(is_open).as_py() or 0)
    expected = expected if updates else expected.filter(pc.invert(is_open))
    columns = [*grouping.keys, count]
    found = sink_rows(declaration, spark, grouping.frame.select(*columns).schema, MAX_ROWS + 1)
    if found is None:
        raise NotCompared("the audit reads windows only from topics, with values in a format that has columns")
    if found.num_rows > MAX_ROWS:
        raise NotCompared(f"the sink has more than {MAX_ROWS:,} rows")
    expected = expected.select([*grouping.keys, COUNT]).rename_columns(columns)
    balance = compare_groups(expected, found, grouping.keys, count, updates=updates)
    return dataclasses.replace(balance, late=late, open=opened)


def _evaluated(
    part: Part, spark: SparkSession, function: Callable[..., Any] | None, is_one_of_several: bool
) -> tuple[Grouping, pa.Table]:
    """Return the groups of a part: their keys, the number of rows and the end of the window. Raises `NotCompared`."""
    from kafka.pipelines.backfill import records_of
    from kafka.pipelines.outcomes import moment_sql, without_failing
    from kafka.pipelines.planning import result_of

    fixed = without_failing(part.declaration)
    ranges = {tp: (start, end) for tp, (start, end) in part.ranges.items()}
    records = {name: records_of(fixed, spark, name, source, ranges) for name, source in fixed.all_sources.items()}
    result = result_of(fixed, records, function, None if part.at is None else moment_sql(part.at))
    try:
        grouping = grouping_of(result)
    except NotGrouped as error:
        raise NotCompared(str(error)) from None
    if not grouping.counts:
        raise NotCompared(
            "it has no column with the number of rows of each group: add one to the query, such as count(*) as rows"
        )
    if is_one_of_several and not grouping.is_additive:
        raise NotCompared(
            "some micro-batches have late rows or declarations of their own, and the query is not a single aggregation "
            "without sessions and conditions on groups, so their windows cannot be added up"
        )
    frame = grouping.frame.select(*[f"`{name}`" for name in (*grouping.keys, COUNT, END)])
    table = frame.limit(MAX_ROWS + 1).toArrow()
    if table.num_rows > MAX_ROWS:
        raise NotCompared(f"there are more than {MAX_ROWS:,} windows; select fewer partitions or a shorter time")
    if grouping.keys:
        groups = pa.table({name: texts(table.column(name)) for name in grouping.keys})
        if groups.group_by(list(grouping.keys)).aggregate([]).num_rows < table.num_rows:
            raise NotCompared(
                f"the columns {', '.join(grouping.keys)} do not identify a group: add all columns of group by to the "
                "query's result"
            )
    elif table.num_rows > 1:
        raise NotCompared("its result has no column of group by: add them to the query's result")
    return grouping, table


def _ended(table: pa.Table, watermark_ms: int | None) -> Any:
    """Return a mask of the windows that end by a watermark; all False without one."""
    if watermark_ms is None or not table.num_rows:
        return pa.array(np.zeros(table.num_rows, np.bool_))
    end_us = table.column(END).cast(pa.timestamp("us", table.column(END).type.tz)).cast(pa.int64())
    return pc.fill_null(pc.less_equal(end_us, watermark_ms * 1000), False).combine_chunks()


def _summed(tables: Sequence[pa.Table], keys: Sequence[str]) -> pa.Table:
    """Return the groups of all tables, with the sums of their numbers of rows."""
    if len(tables) == 1:
        return tables[0]
    joined = pa.concat_tables(tables)
    names = {f"key {index}": texts(joined.column(key)) for index, key in enumerate(keys)}
    given = joined
    for name, column in names.items():
        given = given.append_column(name, column)
    if not names:
        given, names = given.append_column("key", pa.array(["all"] * joined.num_rows)), {"key": None}
    numbered = given.append_column("row", pa.array(range(joined.num_rows), pa.int64()))
    grouped = numbered.group_by(list(names), use_threads=False).aggregate([(COUNT, "sum"), ("row", "first")])
    firsts = joined.take(grouped.column("row_first"))
    return firsts.set_column(firsts.column_names.index(COUNT), COUNT, grouped.column(f"{COUNT}_sum"))


def late_bounds(scope: Scope, watermarks_ms: Mapping[int, int], *, allows_multiple: bool = True) -> dict[int, int]:
    """Return the watermark up to which windows are late, for each micro-batch that may have late rows.

    Arguments:
        scope: what is audited.
        watermarks_ms: the watermarks of micro-batches in the checkpoint, by number.
        allows_multiple: whether Spark's ``spark.sql.streaming.statefulOperator.allowMultiple`` is true: rows are then
            late by the watermark of the micro-batch before.

    Raises `NotCompared` if a watermark is unknown.
    """
    known = {**watermarks_ms}
    for batch in scope.batches:
        if batch.event is not None and batch.event.watermark_ms is not None:
            known[batch.number] = batch.event.watermark_ms
    found = {}
    for batch in scope.batches:
        if batch.event is not None and not batch.event.late and not batch.event.recovered:
            continue
        if batch.first < batch.number:
            raise NotCompared(f"{batch.name} have late rows, and have been folded into one event")
        number = batch.number - 1 if allows_multiple else batch.number
        if number < 0:
            continue
        if number not in known:
            raise NotCompared(f"the watermark of micro-batch {number} is unknown, so late rows cannot be told")
        found[batch.number] = known[number]
    return found
