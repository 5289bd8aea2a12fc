"""Finds out from a declaration whether its query keeps state, without Spark.

Dead letters of such a pipeline cannot be replayed. Commands use this to suggest what works: a backfill.
`kafka.pipelines.planning` decides with Spark's plan.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from kafka.pipelines.checks.expressions import SyntaxProblem, parsed
from kafka.pipelines.declaration import FUNCTION

if TYPE_CHECKING:
    from kafka.pipelines.declaration import Declaration

_STATE = (exp.Group, exp.Distinct, exp.AggFunc, exp.Join, exp.SetOperation)
"""What makes a query of a stream keep state, or what at least is planned like a query that does."""


def keeps_state(declaration: Declaration) -> bool:
    """Return whether the query keeps state, as far as the declaration says.

    False also stands for queries that cannot be read without Spark: Python functions, and what is not valid SQL.

    Arguments:
        declaration: the pipeline.
    """
    sources = declaration.all_sources
    if len(sources) > 1 or any(each.dedupe is not None for each in sources.values()):
        return True
    if declaration.query is None or declaration.query == FUNCTION:
        return False
    try:
        query = parsed(declaration.query)
    except SyntaxProblem:
        return False
    return query.find(*_STATE) is not None
