"""Tests of pipelines on Spark: what passes, what is reported, and the cases of a new project."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kafka.pipelines import Pipeline, kafka_sink, kafka_source, load, rule
from kafka.pipelines.project import create
from kafka.pipelines.testing import load_cases, pipeline_test, run_cases

from .spark_support import spark

__all__ = ["spark"]

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

ROWS = [
    {"carrier": "UA", "origin": "EWR", "delay": 5.0},
    {"value": {"carrier": "UA", "origin": "JFK", "delay": 9999.0}, "headers": {"h": "x"}, "key": "k"},
    b"not JSON",
    {"carrier": "UA", "origin": "XXX", "delay": 1},
]


def pipeline(**settings: Any) -> Pipeline:
    """Return a pipeline whose query is a function. Its servers do not exist."""
    declared = Pipeline("flights", kafka={"bootstrap.servers": "nowhere:1"}, dead_letters="flights.dead", **settings)
    source = kafka_source(
        "flights", value_format="json", value_schema="carrier string, origin string, delay double", start="latest"
    )
    declared.source(source).rules(
        rule("delay is plausible", "delay between -120 and 2000"),
        rule("airport is ours", "origin in ('EWR', 'JFK', 'LGA')", otherwise="drop"),
    )

    @declared.sink(kafka_sink("delays", key="origin"))
    def delays(flights: Any) -> Any:
        return flights.where("delay > 0").select("origin", "delay")

    return declared


def test_rows_in_and_rows_out(spark: Any) -> None:
    result = pipeline_test(
        pipeline(),
        rows=ROWS,
        expect=[{"value": {"origin": "EWR", "delay": 5}, "key": "EWR"}],
        dead={1: ["delay is plausible"], 2: ["decodes"]},
        dropped=1,
        spark=spark,
    )
    assert result is not None
    assert (result.rows, result.out, result.dead, result.dropped) == (4, 1, 2, 1)


def test_differences_are_an_assertion_error(spark: Any) -> None:
    with pytest.raises(AssertionError) as raised:
        pipeline_test(
            pipeline(), rows=ROWS, expect=[{"origin": "EWR", "delay": 6}], dead={0: ["decodes"], 2: []}, spark=spark
        )
    rule = "delay between -120 and 2000"
    assert str(raised.value).splitlines() == [
        "pipeline flights:",
        "rows of the sink differ:",
        '- {"origin": "EWR", "delay": 6}',
        '+ {"origin": "EWR", "delay": 5.0}',
        "    delay: expected 6, got 5.0",
        "dead letters differ:",
        "- row 0: expected a dead letter for 'decodes', got none",
        f"+ row 1: dead letter for 'delay is plausible': delay is plausible: {rule} is not true",
        "  row 2: expected a dead letter, got one for 'decodes'",
        "dropped rows: expected 0, got 1",
    ]


def test_a_run_that_must_fail(spark: Any) -> None:
    assert pipeline_test(pipeline(max_bad=0.1), rows=ROWS, fails="max_bad", spark=spark) is None


def test_avro_with_schemas_of_the_registry(spark: Any, tmp_path: Path) -> None:
    schema = '{"type":"record","name":"F","fields":[{"name":"id","type":"int"},{"name":"n","type":["null","string"]}]}'
    (tmp_path / "p.yaml").write_text(
        """
pipeline: avro
kafka: {bootstrap.servers: "nowhere:1", security.protocol: SASL_SSL}
registry: {url: "http://nowhere:2"}
source: {topic: in, value: {format: avro}}
rules: [{name: id is positive, holds: id > 0}]
query: select id, upper(n) as n from source
sink: {topic: out, value: {format: avro}}
dead_letters: {topic: dead}
"""
    )
    pipeline_test(
        tmp_path / "p.yaml",
        rows=[{"id": 1, "n": "a"}, {"id": -1, "n": None}, {"raw": "x"}],
        expect=[{"id": 1, "n": "A"}],
        dead={1: ["id is positive"], 2: ["decodes"]},
        schemas=[{"subject": "in-value", "schema": schema}],
        spark=spark,
    )


def test_the_cases_of_a_new_project_pass(spark: Any, tmp_path: Path) -> None:
    create(tmp_path)
    cases = load_cases(tmp_path / "flights.test.yaml").cases
    results = list(run_cases(load(tmp_path / "flights.yaml"), cases, spark))
    assert [(each.case.name, each.differences) for each in results] == [(each.name, ()) for each in cases]
