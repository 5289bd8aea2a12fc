"""Finds the groups of an aggregating query in the plan that Spark has analyzed: its key columns and its counts.

`grouping_of` rebuilds the plan of a batch query so that each group also has the number of its rows, and the end of its
window of time. It accepts an aggregation with projections and conditions above it, whatever is below. The plan is a
Java object (`LogicalPlan`); with Spark Connect there is none.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from kafka.pipelines.source_rows import PREFIX

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

COUNT = f"{PREFIX}group_rows"
"""The column with the number of rows of a group."""
END = f"{PREFIX}group_end"
"""The column with the end of a group's window of time; NULL without windows."""
_SAME_ROWS = frozenset({"SubqueryAlias", "View", "EventTimeWatermark", "ResolvedHint"})
_OTHER_STATE = frozenset({"Aggregate", "Join", "Deduplicate", "DeduplicateWithinWatermark", "Distinct", "Window"})
"""Nodes below an aggregation that keep state, too. A batch removes duplicates with a window function."""


class NotGrouped(Exception):
    """The groups cannot be found. The message says why, as the end of a sentence."""


@dataclasses.dataclass(frozen=True, slots=True)
class Grouping:
    """The groups of a query.

    Arguments:
        frame: the result of the query, with the columns `COUNT` and `END`.
        keys: the columns of the query that do not depend on an aggregate function.
        counts: the columns of the query that are the number of rows, such as ``count(*)``.
        has_window: whether the groups are windows of time.
        is_additive: whether the count of a group for several batches is the sum of those for each batch, because there
            is no condition on groups, no session, and no other step with state.
    """

    frame: DataFrame
    keys: tuple[str, ...]
    counts: tuple[str, ...]
    has_window: bool
    is_additive: bool


def grouping_of(result: DataFrame) -> Grouping:
    """Return the groups of the result of a batch query. Raises `NotGrouped`."""
    jdf = getattr(result, "_jdf", None)
    if jdf is None:
        raise NotGrouped("Spark Connect does not show plans")
    from pyspark.sql import DataFrame as ClassicDataFrame

    spark = result.sparkSession
    plan = jdf.queryExecution().analyzed()
    if _name(plan) == "WithCTE":
        plan = spark._jvm.org.apache.spark.sql.catalyst.optimizer.InlineCTE(True, False).apply(plan)
    groups = _Groups(spark._jvm)
    carried = groups.carried(plan)
    output = [each for each in _items(carried.output()) if not each.name().startswith(PREFIX)]
    ids = {each.name(): each.exprId().id() for each in output}
    frames = getattr(spark._jvm.org.apache.spark.sql.classic, "Dataset$")
    return Grouping(
        frame=ClassicDataFrame(getattr(frames, "MODULE$").ofRows(spark._jsparkSession, carried), spark),
        keys=tuple(name for name, each in ids.items() if each not in groups.aggregated),
        counts=tuple(name for name, each in ids.items() if each in groups.counts),
        has_window=groups.has_window,
        is_additive=groups.is_additive,
    )


class _Groups:
    """Rebuilds a plan from its aggregation upwards.

    Arguments:
        jvm: the view of the JVM with Spark's classes.

    Attributes:
        aggregated: the ids of the columns that depend on aggregate functions.
        counts: the ids of the columns that are the number of rows.
    """

    def __init__(self, jvm: Any) -> None:
        self._expressions = jvm.org.apache.spark.sql.catalyst.expressions
        self._plans = jvm.org.apache.spark.sql.catalyst.plans.logical
        self._types = jvm.org.apache.spark.sql.types.DataTypes
        self._sequence = jvm.org.apache.spark.api.python.PythonUtils.toSeq
        self._none = jvm.scala.Option.empty
        self.aggregated: set[int] = set()
        self.counts: set[int] = set()
        self.has_window = False
        self.is_additive = True

    def carried(self, plan: Any) -> Any:
        """Return the plan with the columns `COUNT` and `END`. Raises `NotGrouped`."""
        name = _name(plan)
        if name in _SAME_ROWS:
            return self.carried(plan.child())
        if name == "Aggregate":
            return self._aggregate(plan)
        if name == "Project":
            child = self.carried(plan.child())
            columns = _items(plan.projectList())
            for each in columns:
                self._note(each)
            return self._plans.Project(self._sequence([*columns, *self._hidden(child)]), child)
        if name == "Filter":
            self.is_additive = False
            return self._plans.Filter(plan.condition(), self.carried(plan.child()))
        raise NotGrouped("its result is not that of an aggregation (group by) with columns computed from it")

    def _hidden(self, plan: Any) -> list[Any]:
        return [each for each in _items(plan.output()) if each.name() in (COUNT, END)]

    def _note(self, column: Any) -> None:
        """Note whether a column of a projection depends on aggregate functions."""
        inner = column.child() if _name(column) == "Alias" else column
        if _name(inner) == "AttributeReference" and inner.exprId().id() in self.counts:
            self.counts.add(column.exprId().id())
        if any(each.exprId().id() in self.aggregated for each in _references(column)):
            self.aggregated.add(column.exprId().id())

    def _aggregate(self, plan: Any) -> Any:
        columns, groups = _items(plan.aggregateExpressions()), _items(plan.groupingExpressions())
        for each in columns:
            if any(_name(part) == "AggregateExpression" for part in _parts(each)):
                self.aggregated.add(each.exprId().id())
            if _name(each) == "Alias" and _is_count(each.child()):
                self.counts.add(each.exprId().id())
        below = {_name(each) for each in _nodes(plan.child())}
        windows = [each for each in groups if _is_window(each)]
        self.has_window = bool(windows)
        is_session = any(_name(each) == "AttributeReference" and "session" in each.name() for each in windows)
        self.is_additive &= not below & _OTHER_STATE and not is_session
        functions = self._expressions.aggregate
        one = self._expressions.Literal.create(1, self._types.IntegerType)
        count = functions.Count(self._sequence([one])).toAggregateExpression()
        if windows:
            end = self._expressions.GetStructField(windows[0], 1, self._none())
        else:
            end = self._expressions.Literal.create(None, self._types.TimestampType)
        hidden = [self._alias(count, COUNT), self._alias(end, END)]
        others = [plan.productElement(index) for index in range(3, plan.productArity())]
        return self._plans.Aggregate(
            plan.groupingExpressions(), self._sequence([*columns, *hidden]), plan.child(), *others
        )

    def _alias(self, expression: Any, name: str) -> Any:
        ids = getattr(getattr(self._expressions, "NamedExpression$"), "MODULE$")
        empty = self._sequence([])
        return self._expressions.Alias(expression, name, ids.newExprId(), empty, self._none(), empty)


def _is_window(expression: Any) -> bool:
    """Return whether a grouping expression is a window of time: a struct of its start and its end."""
    return str(expression.dataType().simpleString()) in (
        "struct<start:timestamp,end:timestamp>",
        "struct<start:timestamp_ntz,end:timestamp_ntz>",
    )


def _is_count(expression: Any) -> bool:
    """Return whether an expression counts all rows of a group, such as ``count(*)``."""
    if _name(expression) != "AggregateExpression" or expression.isDistinct() or expression.filter().isDefined():
        return False
    function = expression.aggregateFunction()
    return _name(function) == "Count" and all(
        each.foldable() and not each.nullable() for each in _items(function.children())
    )


def _references(expression: Any) -> list[Any]:
    return [each for each in _parts(expression) if _name(each) == "AttributeReference"]


def _parts(expression: Any) -> list[Any]:
    """Return an expression and everything in it."""
    return [expression, *(part for each in _items(expression.children()) for part in _parts(each))]


def _nodes(plan: Any) -> list[Any]:
    """Return a plan and all plans below it."""
    return [plan, *(node for each in _items(plan.children()) for node in _nodes(each))]


def _name(node: Any) -> str:
    return str(node.getClass().getSimpleName())


def _items(sequence: Any) -> list[Any]:
    """Return the items of a Scala sequence."""
    return [sequence.apply(index) for index in range(sequence.size())]
