"""Checks of rules: syntax, columns, functions and types."""

from __future__ import annotations

import pyarrow as pa
import pytest

from kafka.pipelines.checks.columns import Columns, columns_of_source
from kafka.pipelines.checks.expressions import check_condition
from kafka.pipelines.checks.problem import Findings, Places, Severity

VALUE = pa.struct(
    [
        ("carrier", pa.string()),
        ("dep_delay", pa.float64()),
        ("ok", pa.bool_()),
        ("stops", pa.list_(pa.struct([("code", pa.string())]))),
        ("tags", pa.map_(pa.string(), pa.int32())),
        ("at", pa.struct([("lat", pa.float64()), ("lon", pa.float64())])),
        ("ts", pa.timestamp("us", "UTC")),
    ]
)


def problems(text: str, columns: Columns | None = None) -> list[str]:
    """Return the problems of a rule."""
    findings = Findings(Places())
    check_condition(findings, ("rules", 0, "holds"), text, columns or columns_of_source(VALUE, None))
    return [str(each).removeprefix("rules[0].holds: ") for each in findings.problems]


@pytest.mark.parametrize(
    "text",
    [
        "carrier is not null",
        "Carrier = 'UA' or `dep_delay` > 0",
        "dep_delay between -120 and 2000",
        "carrier in ('UA', 'DL') and not ok",
        "ok",
        "carrier rlike '^[A-Z0-9]{2}$'",
        "carrier like any ('U%', 'D%')",
        "carrier <=> 'UA'",
        "at.lat > 0 and at.lon < 180",
        "tags['x'] > 1 and tags.y > 1",
        "stops[0].code = 'EWR'",
        "exists(stops, s -> s.code = 'EWR')",
        "forall(stops, s -> s.code is not null)",
        "array_contains(transform(stops, (s, i) -> s.code), 'EWR')",
        "kafka.partition = 0 and kafka.timestamp > current_timestamp() - interval 1 day",
        "try_cast(carrier as int) is not null",
        "case when ok then true else dep_delay > 0 end",
        "coalesce(ok, true)",
        "year(ts) = 2013 and hour(ts) in (1, 2)",
        "isnotnull(carrier) and regexp(carrier, 'a')",
        "my_registered_function_of_a_jar(carrier)",
        "dep_delay::int % 2 = 0",
        "null",
        "window(ts, '5 minutes').start is not null",
    ],
)
def test_good_rules_have_no_problem(text: str) -> None:
    assert problems(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("carier is null", "there is no column 'carier'; did you mean 'carrier'?"),
        ("dep_DLAY > 1", "there is no column 'dep_DLAY'; did you mean 'dep_delay'?"),
        ("zzz > 1", "there is no column 'zzz'; the columns are carrier, dep_delay, ok, stops, tags, at, ts, kafka"),
        ("at.lam > 1", "'at' has no field 'lam'; did you mean 'lat'?"),
        ("carrier.x = 1", "'carrier' is a string and has no field 'x'"),
        ("kafka.ofset > 1", "'kafka' has no field 'ofset'; did you mean 'offset'?"),
        (
            "dep_delay",
            "expected a Boolean expression, got a double: compare it with a value, such as dep_delay is not null",
        ),
        ("dep_delay + 1", "expected a Boolean expression, got a double"),
        ("'x'", "expected a Boolean expression, got a string"),
        ("ok and (dep_delay - 1)", "expected a Boolean expression (dep_delay - 1), got a double"),
        ("length(carrier)", "warning: expected a Boolean expression, got an int"),
        ("lenght(carrier) > 1", "warning: Spark has no function 'lenght'; did you mean 'length'?"),
        ("rand() > 0.5", "warning: RAND() differs each time: a repeated micro-batch may reject other rows"),
        ("sum(dep_delay) > 1", "a rule cannot contain the aggregate function sum"),
        ("count(*) over (partition by carrier) > 1", "a rule cannot contain a window function"),
        ("carrier in (select 1)", "a rule cannot contain a subquery"),
        ("explode(stops)", "a rule cannot contain the function explode, which returns several rows"),
        ("dep_delay >", "not valid SQL: something is missing after '>' at character 11"),
        ("carrier in ('UA'", "not valid SQL: expecting ) after \"'UA'\""),
        ("select 1", "expected a Boolean expression, got a statement"),
        ("ok; ok", "expected one SQL expression or query, got 2"),
        ("-- nothing", "expected one SQL expression or query, got none"),
    ],
)
def test_problems_are_described(text: str, expected: str) -> None:
    (found,) = problems(text)
    assert found.startswith(expected)


def test_all_problems_of_a_rule_are_reported() -> None:
    found = problems("max(carier) > 1 and first(delay) is null")
    assert len(found) == 4
    assert any("did you mean 'dep_delay'?" in each for each in found)


def test_without_columns_only_the_rest_is_checked() -> None:
    findings = Findings(Places())
    check_condition(findings, ("x",), "anything > 1", None)
    assert findings.problems == []
    check_condition(findings, ("x",), "avg(anything) > 1", None)
    assert [each.severity for each in findings.problems] == [Severity.ERROR]


def test_a_value_that_is_not_a_struct_is_the_column_value() -> None:
    columns = columns_of_source(pa.int64(), pa.string())
    assert columns.names == ["value", "kafka"]
    assert problems("value > 1 and kafka.key = 'a'", columns) == []


def test_deep_nesting_is_a_problem_or_none_but_no_error() -> None:
    assert len(problems("(" * 5_000 + "ok" + ")" * 5_000)) <= 1
