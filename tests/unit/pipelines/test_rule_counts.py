"""Counts of rows by rule and by outcome, from the histograms that Spark observes, and the built-in rules as SQL."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka.pipelines.built_in_rules import built_in
from kafka.pipelines.declaration import DECODES, FieldFormat, Otherwise, Rule, Source
from kafka.pipelines.outcomes import without_failing
from kafka.pipelines.rule_counts import read_counts
from kafka.pipelines.source_declaration import REQUIRED, TIMES, TimeBounds
from kafka.pipelines.yaml_file import parse

pytestmark = pytest.mark.once

BINS = 13
"""Number of rules that a histogram has bins for."""


def rules(count: int) -> list[Rule]:
    """Rules whose outcomes take turns: keep, drop, dead letter and fail."""
    outcomes = list(Otherwise)
    return [Rule(name=f"r{index}", holds="true", otherwise=outcomes[index % 4]) for index in range(count)]


def strictest(failures: int, given: list[Rule]) -> Otherwise | None:
    """What happens to a row that fails the rules of these bits."""
    failed = {rule.otherwise for index, rule in enumerate(given) if failures >> index & 1}
    return next((each for each in (Otherwise.FAIL, Otherwise.DEAD_LETTER, Otherwise.DROP) if each in failed), None)


def histogram(numbers: list[int], shift: float) -> str:
    """The histogram of numbers as Spark writes it: without 0, and with means of bins that are not exact."""
    return json.dumps(
        [{"x": number + shift, "y": float(count)} for number, count in Counter(numbers).items() if number]
    )


@given(st.integers(1, 30).flatmap(lambda n: st.tuples(st.just(n), st.lists(st.integers(0, 2**n - 1), max_size=30))))
def test_each_row_has_one_outcome_and_counts_for_each_rule_that_it_fails(case: tuple[int, list[int]]) -> None:
    count, failures = case
    given = rules(count)
    observed: dict[str, Any] = {"rows": len(failures)}
    for first in range(0, count, BINS):
        part = [each >> first & (1 << min(BINS, count - first)) - 1 for each in failures]
        observed[f"rules_{first}"] = histogram(part, 1e-9)
    outcomes = [strictest(each, given) for each in failures]
    if count > BINS:
        order = [Otherwise.DROP, Otherwise.DEAD_LETTER, Otherwise.FAIL]
        bins = Counter(order.index(each) for each in outcomes if each is not None)
        observed["outcomes"] = json.dumps([{"x": index - 1e-9, "y": number} for index, number in bins.items()])
    found = read_counts(given, observed)
    assert found.rows == len(failures)
    assert found.processed == outcomes.count(None)
    assert found.dropped == outcomes.count(Otherwise.DROP)
    assert found.dead == outcomes.count(Otherwise.DEAD_LETTER)
    by_rule = {f"r{index}": sum(each >> index & 1 for each in failures) for index in range(count)}
    assert found.rules == {name: number for name, number in by_rule.items() if number}


def test_bins_of_one_number_are_added() -> None:
    bins = [{"x": 2.0000001, "y": 3}, {"x": 1.9999999, "y": 4}, {"x": 4.0, "y": 1}]
    found = read_counts(rules(3), {"rows": 20, "rules_0": json.dumps(bins)})
    assert (found.rows, found.processed, found.dropped, found.dead) == (20, 12, 7, 1)
    assert found.rules == {"r1": 7, "r2": 1}


def test_without_rows_and_failures_all_counts_are_zero() -> None:
    for observed in (None, {"rows": None, "rules_0": None}, {"rows": 0, "rules_0": "[]"}):
        found = read_counts(rules(3), observed)
        assert (found.rows, found.processed, found.dropped, found.dead, found.rules) == (0, 0, 0, 0, {})
    assert read_counts([], {"rows": 7}).processed == 7


def test_the_built_in_rules_of_a_source() -> None:
    times = (
        TimeBounds(column="a", past="5 days", future=None),
        TimeBounds(column="b.c", future="1 hour"),
        TimeBounds(column="d", past="2 days", future="3 days"),
        TimeBounds(column="e", future=None),
    )
    value, key = FieldFormat.model_validate({"format": "json", "schema": "a int"}), FieldFormat(format="string")
    source = Source(topic="t", key=key, value=value, required=("a", "order"), times=times)
    found = {rule.name: rule for rule in built_in(source, Otherwise.DROP, "NOW")}
    assert list(found) == [DECODES, REQUIRED, TIMES]
    assert {rule.otherwise for rule in found.values()} == {Otherwise.DROP}
    assert found[DECODES].expression == "value_error is null and key_error is null"
    assert found[REQUIRED].expression == "`a` is not null and `order` is not null"
    assert found[TIMES].expression.split(" and ") == [
        "cast(`a` as timestamp) >= NOW - interval 5 days",
        "cast(`b`.`c` as timestamp) <= NOW + interval 1 hour",
        "cast(`d` as timestamp) >= NOW - interval 2 days",
        "cast(`d` as timestamp) <= NOW + interval 3 days",
        "cast(`e` as timestamp) is not null",
    ]
    plain = Source(topic="t", value=FieldFormat(format="bytes"))
    assert built_in(plain) == ()
    assert [rule.expression for rule in built_in(Source(topic="t", value=value))] == ["value_error is null"]


def test_an_audit_takes_records_that_stop_a_pipeline_for_dead_letters() -> None:
    declaration = parse(
        """
pipeline: p
kafka: {bootstrap.servers: "localhost:9092"}
source:
  topic: t
  value: {format: json, schema: n int}
  rules:
    - {name: a, holds: n > 0, otherwise: fail}
    - {name: b, holds: n > 1, otherwise: drop}
    - {name: c, holds: n > 2, otherwise: keep}
sink: {topic: out}
"""
    )
    found = without_failing(declaration)
    (source,) = found.all_sources.values()
    assert [(rule.name, rule.otherwise) for rule in source.rules] == [
        ("a", Otherwise.DEAD_LETTER),
        ("b", Otherwise.DROP),
        ("c", Otherwise.KEEP),
    ]
    assert found.built_in_outcome is Otherwise.DEAD_LETTER
    assert declaration.built_in_outcome is Otherwise.FAIL
