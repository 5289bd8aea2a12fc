"""Pipelines declared in Python."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kafka import pipelines
from kafka.errors import IllegalStateError
from kafka.pipelines.declaration import InvalidDeclaration
from kafka.pipelines.pipeline import Pipeline, kafka_sink, kafka_source, rule
from kafka.pipelines.yaml_file import parse

YAML = """\
pipeline: flight-delays
kafka: {bootstrap.servers: "localhost:9092"}
source:
  topic: flights
  value: {format: json, schema: "carrier string, origin string, dep_delay double, scheduled timestamp"}
  required: [carrier]
  times: [{column: scheduled, past: 3650 days}]
  max_offsets_per_trigger: 500
  watermark: {time: scheduled, delay: 10 minutes}
  dedupe: {by: [carrier, origin], within: 1 hour}
  backfill: {since: 2024-01-31}
rules:
  - {name: delay is plausible, holds: dep_delay between -120 and 2000}
  - {name: airport is ours, holds: "origin in ('EWR', 'JFK')", otherwise: drop, keep_null: true}
query: select origin, dep_delay from source where dep_delay > 0
sink: {topic: delays, key: origin, exactly_once: true}
dead_letters: {topic: flights.dead}
max_bad: 0.1
description: delays of our flights
checkpoint: here
output_mode: update
trigger: 10 seconds
flush_at_end: true
"""


def made(**more: Any) -> Pipeline:
    return Pipeline("flight-delays", kafka={"bootstrap.servers": "localhost:9092"}, dead_letters="flights.dead", **more)


def flights() -> Any:
    return kafka_source(
        "flights",
        value_format="json",
        value_schema="carrier string, origin string, dep_delay double, scheduled timestamp",
        required=["carrier"],
        times=[{"column": "scheduled", "past": "3650 days"}],
        max_offsets_per_trigger=500,
        watermark={"time": "scheduled", "delay": "10 minutes"},
        dedupe={"by": ["carrier", "origin"], "within": "1 hour"},
        backfill={"since": "2024-01-31"},
    )


def test_python_and_yaml_declare_the_same_object() -> None:
    pipeline = made(
        max_bad=0.1,
        description="delays of our flights",
        checkpoint=Path("here"),
        output_mode="update",
        trigger="10 seconds",
        flush_at_end=True,
    )
    pipeline.source(flights(), "source").rules(
        rule("delay is plausible", "dep_delay between -120 and 2000"),
        rule("airport is ours", "origin in ('EWR', 'JFK')", otherwise="drop", keep_null=True),
    )
    pipeline.sink(kafka_sink("delays", key="origin"), "select origin, dep_delay from source where dep_delay > 0")
    assert pipeline.declaration == parse(YAML)
    assert pipeline.function is None


def test_rules_can_be_added_in_several_calls() -> None:
    source = made().source(flights())
    source.rules(rule("a", "b")).rules(rule("c", "d"))
    assert [each.name for each in source.source.rules] == ["a", "c"]
    with pytest.raises(InvalidDeclaration, match=r"source flights: rules: expected unique names, got 'a' twice"):
        source.rules(rule("a", "e"))


def test_a_function_has_sources_as_parameters() -> None:
    pipeline = made()
    pipeline.source(flights())

    @pipeline.sink(kafka_sink("delays"))
    def delays(flights: Any) -> Any:
        return flights

    assert pipeline.function is delays
    assert list(pipeline.declaration.sources) == ["flights"]


def test_a_function_with_another_parameter_is_refused() -> None:
    pipeline = made()
    pipeline.source(flights())
    with pytest.raises(InvalidDeclaration, match=r"expected parameters that are sources \(flights\), got 'planes'"):

        @pipeline.sink(kafka_sink("delays"))
        def delays(planes: Any) -> Any:
            return planes


def test_a_pipeline_has_one_sink_and_one_query() -> None:
    pipeline = made()
    pipeline.source(flights())
    decorate = pipeline.sink(kafka_sink("delays"), "select * from flights")
    with pytest.raises(IllegalStateError, match="pass SQL or decorate a function"):
        decorate(lambda flights: flights)
    with pytest.raises(IllegalStateError, match="a pipeline writes to one sink"):
        pipeline.sink(kafka_sink("others"))


def test_a_source_has_a_name_of_its_own() -> None:
    pipeline = made()
    pipeline.source(flights())
    with pytest.raises(InvalidDeclaration, match="source 'flights': there is one of this name"):
        pipeline.source(flights())
    pipeline.source(flights(), "others")


@pytest.mark.parametrize(
    ("given", "name", "found"),
    [
        ({"topic": "flights.new"}, None, "'flights.new'"),
        ({"topic": "flights-new"}, None, "'flights-new'"),
        ({"topics": ["a", "b"]}, None, "a list of topics or a pattern"),
        ({"pattern": "a.*"}, None, "a list of topics or a pattern"),
        ({"topic": "flights"}, "", "''"),
        ({"topic": "flights"}, "a b", "'a b'"),
    ],
)
def test_a_source_needs_a_name_that_sql_and_python_allow(given: dict[str, Any], name: str | None, found: str) -> None:
    source = kafka_source(**given, value_format="string")
    with pytest.raises(InvalidDeclaration) as raised:
        made().source(source, name)
    assert str(raised.value) == (
        f"source: expected a name of letters, digits and underscores, got {found}; pass such a name: "
        "source(..., name='flights')"
    )
    assert made().source(source, "flights").name == "flights"


def test_a_pipeline_without_a_sink_is_not_complete() -> None:
    with pytest.raises(InvalidDeclaration, match="'flight-delays': it has no sink"):
        made().declaration  # noqa: B018  # reading it is the test


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: rule("a", "b", otherwise="deadletter"), "rule 'a': otherwise: expected keep, drop, dead_letter"),
        (lambda: rule("a", True), "rule 'a': holds: expected an SQL expression as text, got true"),
        (lambda: kafka_source("t", value_format="jsn"), "source t: value.format: expected .*; did you mean 'json'"),
        (lambda: kafka_source("t", value_format="json"), "source t: value: format json needs schema or schema_file"),
        (lambda: kafka_source("t", times="ts"), "source t: times: expected a list of columns, or timestamp for"),
        (
            lambda: kafka_source("t", watermark={"tim": "ts"}),
            "source t: watermark.tim: unknown key; did you mean 'time'",
        ),
        (lambda: kafka_source("t", backfill={"since": "x"}), "source t: backfill.since: expected earliest, a time in"),
        (lambda: kafka_source(), "source None: expected one of topic, topics and pattern, got none"),
        (lambda: kafka_sink("a b"), "sink a b: topic: expected the name of a topic"),
    ],
)
def test_a_wrong_part_is_refused_where_it_is_made(make: Any, problem: str) -> None:
    with pytest.raises(InvalidDeclaration, match=problem):
        make()


@pytest.mark.parametrize("library", ["pydantic", "yaml"])
def test_a_missing_library_is_named(library: str) -> None:
    program = (
        f"import sys; sys.modules[{library!r}] = None\n"
        "from kafka import pipelines\n"
        "try: pipelines.load\n"
        "except ModuleNotFoundError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == f"kafka.pipelines needs {library}: pip install 'kafka-columnar[pipelines]'\n"


def test_the_package_exports_what_a_program_needs() -> None:
    for name in pipelines.__all__:
        assert getattr(pipelines, name).__module__.startswith("kafka.pipelines.")
    assert set(pipelines.__all__) <= set(dir(pipelines))
