"""Carries hidden columns through a query that processes rows one by one.

`carry` takes the plan that Spark has analyzed for a query of projections and filters, and rebuilds it so that each
input row stays in the result together with its hidden columns. A filter becomes a condition in the column
`Hidden.PASSES`, and the query's expressions are only evaluated for rows that meet this condition. The micro-batch's
good rows and dead letters can therefore be written from one frame, and the source is read once.

The plan is a Java object (`LogicalPlan`). With Spark Connect there is none: `carry` returns None, and `connect_plans`
finds out whether a query is stateless.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafka.pipelines import connect_plans
from kafka.pipelines.source_rows import Hidden

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SAME_ROWS = frozenset({"SubqueryAlias", "View", "EventTimeWatermark"})
"""Nodes that return the rows of their input. Without state, a watermark has no effect."""
_STATELESS = _SAME_ROWS | connect_plans.STATELESS | {"CollectMetrics", "ResolvedHint"}
"""Nodes whose result for a micro-batch depends on this micro-batch alone."""

_LEFT_JOINS = frozenset({"INNER", "CROSS", "LEFT OUTER", "LEFT SEMI", "LEFT ANTI"})
_RIGHT_JOINS = frozenset({"INNER", "CROSS", "RIGHT OUTER"})
"""Joins of the rows of the source, on the left or on the right, with a table, which is read again for each batch."""

_SUBQUERIES = frozenset({"ScalarSubquery", "Exists", "ListQuery", "InSubquery", "LateralSubquery", "WindowExpression"})
"""Expressions that contain another query, or that depend on other rows."""


class _NotByRow(Exception):
    """The plan has a node or an expression that cannot be evaluated together with rejected rows."""


def carry(result: DataFrame) -> DataFrame | None:
    """Return the columns of a query with the hidden columns of each input row; None if it is not such a query.

    Arguments:
        result: the result of a query over `source_rows.visible(checked)`.
    """
    jdf = getattr(result, "_jdf", None)
    if jdf is None:
        return None
    from pyspark.sql import DataFrame as ClassicDataFrame

    spark = result.sparkSession
    plan = _inlined(result)
    try:
        carried = _Carrier(spark._jvm).carried(plan)
    except _NotByRow:
        return None
    frames = getattr(spark._jvm.org.apache.spark.sql.classic, "Dataset$")
    return ClassicDataFrame(getattr(frames, "MODULE$").ofRows(spark._jsparkSession, carried), spark)


def is_stateless(result: DataFrame) -> bool:
    """Return whether the result for a micro-batch depends on this micro-batch alone.

    With Spark Connect, the result is False for streams: functions for `foreachBatch` run on the server there, so that
    `Form.BATCH` cannot report how many rows a micro-batch returned.
    """
    if getattr(result, "_jdf", None) is None:
        return not result.isStreaming and connect_plans.is_stateless(result)
    return _is_stateless(_inlined(result))


def is_deterministic(projection: DataFrame) -> bool:
    """Return whether the columns of a projection always have the same values for a row. True with Spark Connect."""
    jdf = getattr(projection, "_jdf", None)
    plan = None if jdf is None else jdf.queryExecution().analyzed()
    return plan is None or all(each.deterministic() for each in _items(plan.expressions()))


def _inlined(result: DataFrame) -> Any:
    """Return the analyzed plan of a query, with its common table expressions (``with ... as``) in their places."""
    plan = result._jdf.queryExecution().analyzed()
    if _name(plan) != "WithCTE":
        return plan
    return result.sparkSession._jvm.org.apache.spark.sql.catalyst.optimizer.InlineCTE(True, False).apply(plan)


def _is_stateless(plan: Any) -> bool:
    if any(each.name() == Hidden.FAILURES for each in _items(plan.output())):
        return True  # the rows of the source
    children = _items(plan.children())
    if _name(plan) == "Join":
        return _is_join_with_table(plan)
    return _name(plan) in _STATELESS and bool(children) and all(map(_is_stateless, children))


def _is_join_with_table(plan: Any) -> bool:
    """Return whether a join has the rows of the source on one side, and the result is about these rows alone."""
    reads = [_reads_source(each) for each in (plan.left(), plan.right())]
    if reads == [True, False]:
        return str(plan.joinType().sql()) in _LEFT_JOINS and _is_stateless(plan.left())
    return reads == [False, True] and str(plan.joinType().sql()) in _RIGHT_JOINS and _is_stateless(plan.right())


def _reads_source(plan: Any) -> bool:
    """Return whether the rows of the source are part of a plan."""
    if any(each.name() == Hidden.FAILURES for each in _items(plan.output())):
        return True
    return any(map(_reads_source, _items(plan.children())))


def _name(node: Any) -> str:
    return str(node.getClass().getSimpleName())


def _items(sequence: Any) -> list[Any]:
    """Return the items of a Scala sequence."""
    return [sequence.apply(index) for index in range(sequence.size())]


class _Carrier:
    """Rebuilds a plan.

    Arguments:
        jvm: the view of the JVM with Spark's classes.
    """

    def __init__(self, jvm: Any) -> None:
        self._expressions = jvm.org.apache.spark.sql.catalyst.expressions
        self._plans = jvm.org.apache.spark.sql.catalyst.plans.logical
        self._sequence = jvm.org.apache.spark.api.python.PythonUtils.toSeq
        self._none = jvm.scala.Option.empty
        self._boolean = jvm.org.apache.spark.sql.types.DataTypes.BooleanType

    def carried(self, plan: Any) -> Any:
        """Return the rebuilt plan. Raises `_NotByRow`."""
        return self._carried(plan)

    def _carried(self, plan: Any) -> Any:
        output = _items(plan.output())
        if any(each.name() == Hidden.FAILURES for each in output):
            return plan
        name = _name(plan)
        if name in _SAME_ROWS:
            return self._carried(plan.child())
        if name == "Project":
            return self._project(plan)
        if name == "Filter":
            return self._filter(plan)
        raise _NotByRow

    def _project(self, plan: Any) -> Any:
        child = self._carried(plan.child())
        hidden = _hidden(child)
        columns = [self._guarded(each, hidden[Hidden.PASSES]) for each in _items(plan.projectList())]
        return self._plans.Project(self._sequence([*columns, *hidden.values()]), child)

    def _guarded(self, column: Any, passes: Any) -> Any:
        """Return a column that is null for rows that do not pass."""
        if _name(column) != "Alias":
            if _name(column) != "AttributeReference":
                raise _NotByRow
            return column
        expression = column.child()
        _check(expression)
        if expression.foldable() or _name(expression) == "AttributeReference":
            return column
        null = self._expressions.Literal.create(None, expression.dataType())
        return column.withNewChildren(self._sequence([self._expressions.If(passes, expression, null)]))

    def _filter(self, plan: Any) -> Any:
        child = self._carried(plan.child())
        hidden = _hidden(child)
        condition = plan.condition()
        _check(condition)
        false = self._expressions.Literal.create(False, self._boolean)
        holds = self._expressions.Coalesce(self._sequence([condition, false]))
        passes = self._expressions.If(hidden[Hidden.PASSES], holds, false)
        others = [each for each in _items(child.output()) if each.name() != Hidden.PASSES]
        return self._plans.Project(self._sequence([*others, self._alias(passes, Hidden.PASSES)]), child)

    def _alias(self, expression: Any, name: str) -> Any:
        ids = getattr(getattr(self._expressions, "NamedExpression$"), "MODULE$")
        empty = self._sequence([])
        return self._expressions.Alias(expression, name, ids.newExprId(), empty, self._none(), empty)


def _hidden(plan: Any) -> dict[str, Any]:
    """Return the attributes of the hidden columns, by name."""
    return {each.name(): each for each in _items(plan.output()) if each.name() in Hidden.ALL}


def _check(expression: Any) -> None:
    """Raise `_NotByRow` for an expression that Spark does not evaluate row by row within a projection."""
    if not expression.deterministic():
        raise _NotByRow
    if _name(expression) in _SUBQUERIES or _name(expression).endswith(("UDF", "UDAF", "UDTF")):
        raise _NotByRow
    for each in _items(expression.children()):
        _check(each)
