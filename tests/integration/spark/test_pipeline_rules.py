"""Rules on Spark: each row lands on exactly one side, whatever the expressions do."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import functions as f

from kafka.pipelines.declaration import DECODES, MAX_RULES, REQUIRED, RESERVED, TIMES, Otherwise, Rule, Source
from kafka.pipelines.pipeline import kafka_source
from kafka.pipelines.rules import Evaluation, built_in

from .spark_support import spark

__all__ = ["spark"]

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

Row = tuple[int | None, str | None]
SCHEMA = "offset bigint, n int, t string"
NOT_NULL = "offset bigint not null, n int not null, t string not null"
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
drawn_rules = st.tuples(expressions, st.sampled_from(list(Otherwise)), st.booleans(), st.booleans())
rule_sets = st.lists(drawn_rules, min_size=0, max_size=9)
built_in_sets = st.tuples(st.booleans(), st.booleans(), st.booleans())

BROKEN = "x1"
"""The text of a row whose value does not decode."""
COLUMNS = (
    "*",
    f"if(t = '{BROKEN}', named_struct('cause', 'broken'), null) as value_error",
    "case when n < 0 then current_timestamp() + interval 2 days when n >= 0 then current_timestamp() end as at",
)
"""The columns for built-in rules: a row with a negative number has a time that is too far in the future."""


def source_of(decodes: bool, required: bool, times: bool) -> Source:
    """Return a source with some of the built-in rules."""
    value_format = "string" if decodes else "bytes"
    return kafka_source(
        "t", value_format=value_format, required=["n"] if required else [], times=["at"] if times else []
    )


def failed_built_ins(source: Source, row: Row) -> list[str]:
    """The definition of the built-in rules for rows with `COLUMNS`."""
    number, text = row
    is_failed = {DECODES: text == BROKEN, REQUIRED: number is None, TIMES: number is None or number < 0}
    return [rule.name for rule in built_in(source) if is_failed[rule.name]]


def passes(expression: Expression, keep_null: bool, row: Row) -> bool:
    """The definition: a rule passes only if its expression is true, or NULL with `keep_null`."""
    try:
        value = expression.of(row)
    except Failed:
        return False
    return keep_null if value is None else bool(value)


def evaluated(
    spark: Any, rules: list[Rule], data: list[Row], schema: str = SCHEMA, *, added: bool = False
) -> list[dict[str, Any]]:
    frame = spark.createDataFrame([(number, *row) for number, row in enumerate(data)], schema).coalesce(1)
    frame = frame.selectExpr(*COLUMNS)
    evaluation = Evaluation(rules, f.col("offset"))
    failures = f.col("failures")
    outcomes = [evaluation.has_outcome(failures, each).alias(each.value) for each in Otherwise]
    with_failures = (
        evaluation.add_to(frame, "failures") if added else frame.withColumn("failures", evaluation.failures())
    )
    frame = with_failures.select(
        "offset",
        "failures",
        *outcomes,
        evaluation.is_processed(failures).alias("processed"),
        evaluation.failed_names(failures).alias("names"),
    )
    return [row.asDict() for row in frame.orderBy("offset").collect()]


def test_each_row_has_one_outcome(spark: Any) -> None:
    strictness = list(Otherwise)

    @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
    @given(
        rule_sets,
        rows,
        built_in_sets,
        st.sampled_from([Otherwise.FAIL, Otherwise.DEAD_LETTER]),
        st.booleans(),
        st.booleans(),
    )
    def check(
        drawn: list[tuple[Expression, Otherwise, bool, bool]],
        data: list[Row],
        built_ins: tuple[bool, bool, bool],
        built_in_outcome: Otherwise,
        not_null: bool,
        added: bool,
    ) -> None:
        source = source_of(*built_ins)
        if not_null:
            data = [(9 if number is None else number, "" if text is None else text) for number, text in data]
        own = [
            Rule(
                name=f"rule {i}",
                holds=f.expr(expression.sql) if as_column else expression.sql,
                otherwise=otherwise,
                keep_null=keep_null,
            )
            for i, (expression, otherwise, keep_null, as_column) in enumerate(drawn)
        ]
        rules = [*built_in(source, built_in_outcome), *own]
        outcome_of = {rule.name: rule.otherwise for rule in rules}
        names = [rule.name for rule in rules]
        rows_found = evaluated(spark, rules, data, NOT_NULL if not_null else SCHEMA, added=added)
        for row, found in zip(data, rows_found, strict=True):
            failed = failed_built_ins(source, row)
            if DECODES in failed:
                failed = [DECODES]
            else:
                failed += [
                    f"rule {i}"
                    for i, (expression, _, keep_null, _) in enumerate(drawn)
                    if not passes(expression, keep_null, row)
                ]
            assert found["names"] == failed
            assert found["failures"] == sum(1 << names.index(name) for name in failed)
            strictest = max((outcome_of[name] for name in failed), key=strictness.index, default=None)
            assert [each for each in Otherwise if found[each.value]] == ([] if strictest is None else [strictest])
            sides = [found["processed"], found["drop"], found["dead_letter"], found["fail"]]
            assert sides.count(True) == 1
            assert found["processed"] == (strictest in (None, Otherwise.KEEP))

    check()


@contextlib.contextmanager
def settings_of(spark: Any, **values: str) -> Iterator[None]:
    names = {"ansi": "spark.sql.ansi.enabled", "codegen": "spark.sql.codegen.wholeStage"}
    for name, value in values.items():
        spark.conf.set(names[name], value)
    try:
        yield
    finally:
        for name in values:
            spark.conf.unset(names[name])


@pytest.mark.parametrize("added", [False, True])
@pytest.mark.parametrize("schema", [SCHEMA, NOT_NULL])
@pytest.mark.parametrize("codegen", ["true", "false"])
def test_an_expression_that_rules_share_fails_neither_query_nor_other_rules(
    spark: Any, codegen: str, schema: str, added: bool
) -> None:
    rules = [
        Rule(name="first", holds="100 / n > 0"),
        Rule(name="second", holds="100 / n < 1000"),
        Rule(name="third", holds="t = 'a'"),
        Rule(name="fourth", holds=f.lit(100) / f.col("n") > 0, keep_null=True),
        Rule(name="fifth", holds="100 / n is not null"),
    ]
    with settings_of(spark, ansi="true", codegen=codegen):
        found = evaluated(spark, rules, [(0, "a"), (5, "a"), (-1, "b")], schema, added=added)
    shared = ["first", "second", "fourth", "fifth"]
    assert [row["names"] for row in found] == [shared, [], ["first", "third", "fourth"]]


def test_spark_does_not_remove_the_condition_of_the_evaluation(spark: Any) -> None:
    frame = spark.createDataFrame([(0, 0)], "offset bigint not null, n int not null").where("offset >= 0")
    evaluation = Evaluation([Rule(name=str(i), holds=f"100 / n > {i}") for i in range(3)], f.col("offset"))
    rows = frame.withColumn("failures", evaluation.failures()).where("failures > 0").select("failures", "offset")
    assert [row["failures"] for row in rows.collect()] == [7]


def test_a_rule_can_be_a_column(spark: Any) -> None:
    found = evaluated(
        spark, [Rule(name="small", holds=f.col("n") < 3, otherwise=Otherwise.DROP)], [(1, None), (4, None)]
    )
    assert [row["drop"] for row in found] == [False, True]


def test_the_rules_are_evaluated_once_on_columns_that_are_extracted_once(spark: Any) -> None:
    rules = [Rule(name=str(i), holds=f"n > {i}", otherwise=Otherwise.DROP) for i in range(3)]
    value = spark.range(5).selectExpr("id as offset", "named_struct('n', id) as value").repartition(1)
    frame = value.select("offset", "value.*")
    evaluation = Evaluation(rules, f.col("offset"))
    added = evaluation.add_to(frame, "failures").where("failures = 0")
    assert [row.asDict() for row in added.collect()] == [{"offset": i, "n": i, "failures": 0} for i in (3, 4)]
    plan = added._jdf.queryExecution().optimizedPlan().toString()
    assert plan.count("value#") <= 3, plan  # the plan creates the struct and extracts its field once
    assert plan.count("tryeval") == 4, plan  # all rules together, and each of them


def test_a_source_can_have_many_rules(spark: Any) -> None:
    built_ins = built_in(source_of(True, True, True), Otherwise.KEEP)
    assert [rule.name for rule in built_ins] == list(RESERVED)
    rules = [*built_ins, *(Rule(name=str(i), holds=f"n <> {i}", otherwise=Otherwise.KEEP) for i in range(MAX_RULES))]
    found = evaluated(spark, rules, [(MAX_RULES - 1, None), (0, None), (99, None), (1, BROKEN), (None, None)])
    assert [row["names"] for row in found[:4]] == [[str(MAX_RULES - 1)], ["0"], [], [DECODES]]
    assert found[4]["names"] == [REQUIRED, TIMES, *map(str, range(MAX_RULES))]
    assert found[0]["failures"] == 1 << 62


def test_rules_cost_no_job_without_rows(spark: Any) -> None:
    assert evaluated(spark, [], [(1, "a")]) == [
        {"offset": 0, "failures": 0, **{each.value: False for each in Otherwise}, "processed": True, "names": []}
    ]
