"""Checks a pipeline immediately before a run, with `all_checks`, and refuses the run if there is a problem.

`kafka.pipelines.run.start` and ``kafka pipeline run`` call `check_before_run`. The lock against a second run is in
`start_checks`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from kafka.errors import KafkaConnectionError
from kafka.pipelines.checks.all_checks import check
from kafka.pipelines.checks.problem import Report
from kafka.pipelines.checks.queries import HasTable, no_tables
from kafka.pipelines.declaration import Declaration, InvalidDeclaration

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

LIMIT_S = 60.0
"""Time limit for all answers of servers, in seconds. A run waits longer for a slow server than a check does."""


def check_before_run(
    declaration: Declaration, spark: SparkSession | None = None, warn: Callable[[str], object] = log.warning
) -> Report:
    """Check everything that can be checked without Spark, once.

    Arguments:
        declaration: the pipeline.
        spark: the session of the run, if there is one, whose tables and views the query may use.
        warn: called with each warning; by default, warnings are logged.

    Returns the report. Raises `InvalidDeclaration` with a line for each error, and `KafkaConnectionError` if a broker
    or the schema registry does not respond.
    """
    report = check(declaration, limit_s=LIMIT_S, is_patient=True, has_table=_tables_of(spark))
    for warning in report.warnings:
        warn(f"pipeline {declaration.pipeline}: {warning.place}: {warning.text}")
    if report.errors:
        lines = [f"pipeline {declaration.pipeline} cannot start:", *map(str, report.errors)]
        text = ("\n" if len(lines) > 2 else " ").join(lines)
        if any(each.is_outage for each in report.errors):
            raise KafkaConnectionError(text)
        raise InvalidDeclaration(text)
    return report


def _tables_of(spark: SparkSession | None) -> HasTable:
    if spark is None:
        return no_tables
    catalog = spark.catalog
    return lambda name: bool(catalog.tableExists(name))
