"""Rules on Spark: each row lands on exactly one side, whatever the expressions do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import functions as f

from kafka.pipelines.declaration import MAX_RULES, Otherwise, Rule
from kafka.pipelines.rules import Evaluation

from .spark_support import spark

__all__ = ["spark"]

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

Row = tuple[int | None, str | None]
Value = bool | int | str | None


class Failed(Exception):
    """The expression raises an error for a row."""


class Expression:
    """An SQL expression, and what it is for a row: a value, None for NULL, or `Failed`."""

    def __init__(self, sql: str, of: Callable[[Row], Value]) -> None:
        self.sql = sql
        self.of = of

    def __repr__(self) -> str:
        return self.sql


def failing(row: Row) -> Value:
    raise Failed


def divided(row: Row) -> Value:
    if row[0] == 0:
        raise Failed
    return None if row[0] is None else row[0] > 0  # 100 / n > 0


def as_number(row: Row) -> Value:
    if row[1] is None:
        return None
    if not row[1].lstrip("-").isdecimal():
        raise Failed
    return int(row[1]) > 0


def month(row: Row) -> Value:
    if row[0] is None:
        return None
    if row[0] < 1:
        raise Failed
    return row[0] > 2


LEAVES = [
    Expression("n > 2", lambda row: None if row[0] is None else row[0] > 2),
    Expression("n is null", lambda row: row[0] is None),
    Expression("t = 'a'", lambda row: None if row[1] is None else row[1] == "a"),
    Expression("t in ('a', '7')", lambda row: None if row[1] is None else row[1] in ("a", "7")),
    Expression("100 / n > 0", divided),
    Expression("100 / n > -1e9", lambda row: None if divided(row) is None else True),
    Expression("cast(t as int) > 0", as_number),
    Expression("month(make_date(2024, n, 1)) > 2", month),
    Expression("raise_error('boom') is null", failing),
    Expression("1 / 0 > 0", failing),
    Expression("true", lambda row: True),
    Expression("false", lambda row: False),
    Expression("cast(null as boolean)", lambda row: None),
]


def negated(inner: Expression) -> Expression:
    def of(row: Row) -> Value:
        value = inner.of(row)
        return None if value is None else not value

    return Expression(f"not ({inner.sql})", of)


def chosen(condition: Expression, inner: Expression) -> Expression:
    """CASE is the operator whose order of evaluation Spark guarantees."""
    return Expression(
        f"case when {condition.sql} then {inner.sql} else false end",
        lambda row: inner.of(row) if condition.of(row) else False,
    )


def coalesced(inner: Expression) -> Expression:
    def of(row: Row) -> Value:
        value = inner.of(row)
        return True if value is None else value

    return Expression(f"coalesce({inner.sql}, true)", of)


expressions = st.recursive(
    st.sampled_from(LEAVES),
    lambda inner: st.one_of(inner.map(negated), st.builds(chosen, inner, inner), inner.map(coalesced)),
    max_leaves=4,
)
rows = st.lists(
    st.tuples(st.one_of(st.none(), st.integers(-3, 5)), st.sampled_from([None, "", "a", "7", "-1", "x1"])),
    min_size=1,
    max_size=12,
)
rule_sets = st.lists(st.tuples(expressions, st.sampled_from(list(Otherwise)), st.booleans()), min_size=0, max_size=9)


def passes(expression: Expression, keep_null: bool, row: Row) -> bool:
    """The definition: a rule passes only if its expression is true, or NULL with `keep_null`."""
    try:
        value = expression.of(row)
    except Failed:
        return False
    return keep_null if value is None else bool(value)


def evaluated(spark: Any, rules: list[Rule], data: list[Row]) -> list[dict[str, Any]]:
    frame = spark.createDataFrame(
        [(number, *row) for number, row in enumerate(data)], "offset bigint, n int, t string"
    ).coalesce(1)
    evaluation = Evaluation(rules, f.col("offset"))
    failures = f.col("failures")
    outcomes = [evaluation.has_outcome(failures, each).alias(each.value) for each in Otherwise]
    frame = frame.withColumn("failures", evaluation.failures()).select(
        "offset",
        "failures",
        *outcomes,
        evaluation.is_processed(failures).alias("processed"),
        evaluation.failed_names(failures).alias("names"),
    )
    return [row.asDict() for row in frame.orderBy("offset").collect()]


def test_each_row_has_one_outcome(spark: Any) -> None:
    strictness = list(Otherwise)

    @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
    @given(rule_sets, rows)
    def check(drawn: list[tuple[Expression, Otherwise, bool]], data: list[Row]) -> None:
        rules = [
            Rule(name=f"rule {i}", holds=expression.sql, otherwise=otherwise, keep_null=keep_null)
            for i, (expression, otherwise, keep_null) in enumerate(drawn)
        ]
        for row, found in zip(data, evaluated(spark, rules, data), strict=True):
            failed = [i for i, (expression, _, keep_null) in enumerate(drawn) if not passes(expression, keep_null, row)]
            assert found["names"] == [f"rule {i}" for i in failed]
            assert found["failures"] == sum(1 << i for i in failed)
            strictest = max((rules[i].otherwise for i in failed), key=strictness.index, default=None)
            assert [each for each in Otherwise if found[each.value]] == ([] if strictest is None else [strictest])
            assert found["processed"] == (strictest in (None, Otherwise.KEEP))

    check()


def test_an_expression_that_two_rules_share_fails_neither_query_nor_other_rules(spark: Any) -> None:
    rules = [
        Rule(name="first", holds="100 / n > 0"),
        Rule(name="second", holds="100 / n < 1000"),
        Rule(name="third", holds="t = 'a'"),
    ]
    found = evaluated(spark, rules, [(0, "a"), (5, "a"), (None, "b")])
    assert [row["names"] for row in found] == [["first", "second"], [], ["first", "second", "third"]]


def test_a_rule_can_be_a_column(spark: Any) -> None:
    found = evaluated(spark, [Rule(name="small", holds=f.col("n") < 3, otherwise="drop")], [(1, None), (4, None)])
    assert [row["drop"] for row in found] == [False, True]


def test_a_source_can_have_many_rules(spark: Any) -> None:
    rules = [Rule(name=str(i), holds=f"n <> {i}", otherwise="keep") for i in range(MAX_RULES)]
    found = evaluated(spark, rules, [(MAX_RULES - 1, None), (0, None), (99, None)])
    assert [row["names"] for row in found] == [[str(MAX_RULES - 1)], ["0"], []]


def test_rules_cost_no_job_without_rows(spark: Any) -> None:
    assert evaluated(spark, [], [(1, "a")]) == [
        {"offset": 0, "failures": 0, **{each.value: False for each in Otherwise}, "processed": True, "names": []}
    ]
