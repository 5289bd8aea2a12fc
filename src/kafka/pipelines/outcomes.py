"""Computes again what a pipeline does with each record of a range, for audits.

Nothing is written. The rules and the query are those of the declaration that is passed, so pass the one that was in
force when the records were processed.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kafka.pipelines.backfill import records_of
from kafka.pipelines.bounded_runs import Ranges
from kafka.pipelines.combined_rows import Form
from kafka.pipelines.declaration import Declaration
from kafka.pipelines.planning import RESULT, plan
from kafka.pipelines.source_rows import Hidden

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

OUT = "out"
"""The query returns the row."""
FILTERED = "filtered"
"""The row passes the rules, but the query leaves it out."""
PROCESSED = "processed"
"""The row passes the rules. What the query returns for it is unknown, because the query is not one of single rows."""
DROPPED = "dropped"
DEAD = "dead"


def outcomes(
    declaration: Declaration,
    spark: SparkSession,
    ranges: Ranges,
    *,
    function: Callable[..., Any] | None = None,
    at: datetime.datetime | None = None,
) -> DataFrame:
    """Return what a pipeline does with each record.

    Arguments:
        declaration: the pipeline.
        spark: the session.
        ranges: the offsets of the records.
        function: the query if it is a Python function.
        at: the time of the micro-batch, with which the built-in rule for times compares, with a time zone; None for
            the current time. It does not apply to `current_timestamp` in other rules.

    Returns a DataFrame with the columns ``topic``, ``partition``, ``offset`` and ``outcome``: one of the constants of
    this module. The position of a record is unique. A record for which the micro-batch fails has the outcome `DEAD`.
    """
    from pyspark.sql import functions as f

    fixed = without_failing(declaration)
    records = {name: records_of(fixed, spark, name, source, ranges) for name, source in fixed.all_sources.items()}
    checked: dict[str, DataFrame] = {}

    def keep(frame: DataFrame, name: str, counts: object) -> DataFrame:
        checked[name] = frame
        return frame

    planned = plan(fixed, records, function, keep, now=None if at is None else moment_sql(at))
    passes, dead, dropped = f.col(Hidden.PASSES), f.col(Hidden.DEAD), f.col(Hidden.DROPPED)
    rejected = f.when(dead, DEAD).when(dropped, DROPPED)
    columns = [f.col(Hidden.TOPIC).alias("topic"), f.col(Hidden.PARTITION).alias("partition")]
    columns.append(f.col(Hidden.OFFSET).alias("offset"))
    if planned.form is Form.ROWS:
        outcome = rejected.when(passes, OUT).otherwise(FILTERED)
        return planned.frame.select(*columns, outcome.alias("outcome"))
    parts = [
        rows.select(*columns, rejected.otherwise(PROCESSED).alias("outcome"))
        for name, rows in checked.items()
        if name != RESULT
    ]
    result = parts[0]
    for part in parts[1:]:
        result = result.unionByName(part)
    return result


def moment_sql(at: datetime.datetime) -> str:
    """Return SQL for a time with a time zone."""
    return f"timestamp'{at.astimezone(datetime.UTC):%Y-%m-%d %H:%M:%S.%f}Z'"


def without_failing(declaration: Declaration) -> Declaration:
    """Return the declaration with dead letters instead of failures, so that the computation does not stop."""
    from kafka.pipelines.declaration import DeadLetters, Otherwise

    sources = {
        name: source.model_copy(
            update={
                "rules": tuple(
                    rule.model_copy(update={"otherwise": Otherwise.DEAD_LETTER})
                    if rule.otherwise is Otherwise.FAIL
                    else rule
                    for rule in source.rules
                )
            }
        )
        for name, source in declaration.all_sources.items()
    }
    letters = declaration.dead_letters or DeadLetters(topic="none")
    return declaration.canonical().model_copy(update={"sources": sources, "rules": (), "dead_letters": letters})
