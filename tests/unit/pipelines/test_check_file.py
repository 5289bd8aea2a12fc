"""Checks of whole declarations, without servers."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kafka.pipelines import Pipeline, kafka_sink, kafka_source, rule
from kafka.pipelines.checks import Report, check, check_file

HEAD = """\
pipeline: flight-delays
kafka: {bootstrap.servers: "localhost:9092"}
"""
SOURCE = """\
source:
  topic: flights
  value: {format: json, schema: "carrier string, origin string, dep_delay double"}
  rules:
    - {name: carrier is known, holds: carrier is not null}
"""
REST = """\
rules:
  - {name: delay is plausible, holds: dep_delay between -120 and 2000}
query: select origin, dep_delay from source
sink: {topic: delays, key: origin}
dead_letters: {topic: flights.dead}
"""
AVRO = (
    '{"type":"record","name":"Delay","fields":[{"name":"origin","type":"string"},{"name":"minutes","type":"double"}]}'
)


def report(tmp_path: Path, text: str) -> Report:
    """Check a declaration."""
    file = tmp_path / "p.yaml"
    file.write_text(text, encoding="utf-8")
    return check_file(file, servers=False)


def problems(tmp_path: Path, text: str) -> list[str]:
    """Return the problems of a declaration, with places relative to the file's folder."""
    return [str(each).removeprefix(f"{tmp_path}/") for each in report(tmp_path, text).problems]


def test_a_good_pipeline_has_no_problem(tmp_path: Path) -> None:
    found = report(tmp_path, HEAD + SOURCE + REST)
    assert found.problems == ()
    assert {each.place.key for each in found.passed} >= {"source.rules[0].holds", "rules[0].holds", "query", "sink.key"}


def test_every_problem_is_reported_with_its_line_and_key(tmp_path: Path) -> None:
    text = (HEAD + SOURCE + REST).replace("carrier is not", "carier is not")
    text = text.replace("dep_delay between", "delay between")
    text = text.replace("select origin", "select orgin").replace("key: origin", "key: destination")
    assert problems(tmp_path, text) == [
        "p.yaml:7: source.rules[0].holds: there is no column 'carier'; did you mean 'carrier'?",
        "p.yaml:9: rules[0].holds: there is no column 'delay'; did you mean 'dep_delay'?",
        "p.yaml:10: query: there is no column 'orgin'; did you mean 'origin'?",
        "p.yaml:11: sink.key: the query returns no column 'destination'; the query returns orgin, dep_delay",
    ]


def test_an_invalid_declaration_is_reported_with_all_its_problems(tmp_path: Path) -> None:
    text = HEAD + SOURCE + REST.replace("topic: delays", "topik: delays")
    text = text.replace("pipeline: flight-delays", "pipeline: 1 2")
    found = problems(tmp_path, text)
    assert found[0].startswith("p.yaml:1: pipeline: expected a name of")
    assert found[1:] == [
        "p.yaml:11: sink.topic: this key is missing",
        "p.yaml:11: sink.topik: unknown key; did you mean 'topic'?; known are topic, key, value, exactly_once, options",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: [", "p.yaml:1: not YAML: "),
        ("- 1", "p.yaml: expected keys and values"),
        ("a: 1\na: 2", "p.yaml:2: a: this key is already on line 1"),
        (HEAD + "sources: [1]\nquery: x\nsink: {topic: t}\n", "p.yaml:3: sources: expected "),
        (HEAD + "source: text\nrules: []\nsink: {topic: t}\n", "p.yaml:3: source: expected "),
        (HEAD + "sources: {a: [1]}\nquery: x\nsink: {topic: t}\n", "p.yaml:3: sources.a: expected "),
    ],
)
def test_text_that_is_not_a_declaration(tmp_path: Path, text: str, expected: str) -> None:
    assert [each.startswith(expected) for each in problems(tmp_path, text)] == [True]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "topic: flights\n",
            "topic: flights\n  options: {maxOffsetPerTrigger: 5}\n",
            "p.yaml:5: source.options.maxOffsetPerTrigger: option 'maxoffsetpertrigger' is unknown to kafka_columnar;",
        ),
        (
            '"localhost:9092"}',
            '"localhost:9092", "security.protocl": SSL}',
            "p.yaml:2: kafka.security.protocl: option 'security.protocl' is unknown to",
        ),
        ("topic: flights.dead", "topic: flights", "p.yaml:12: dead_letters: expected a topic that is not among the"),
        ("topic: flights.dead", "topic: delays", "p.yaml:12: dead_letters.topic: the sink writes to 'delays', too"),
        (
            "topic: flights\n",
            "pattern: 'flights.*'\n",
            "p.yaml:12: dead_letters: expected a topic that is not among the sources, got 'flights.dead', which the",
        ),
        ("carrier string", "carrier strin", "p.yaml:5: source.value.schema: not a schema of columns: Expected a type"),
        (
            "carrier string",
            "kafka string, carrier string",
            "p.yaml:5: source.value: the values have a field 'kafka', but this name is reserved",
        ),
        (
            "carrier string",
            "Origin string, carrier string",
            "p.yaml:5: source.value: the fields 'Origin' and 'origin' differ only in case",
        ),
        (
            "topic: flights\n",
            "topic: flights\n  required: [carrier, dest]\n",
            "p.yaml:5: source.required[1]: there is no column 'dest'",
        ),
        ("select origin,", "select origin, origin,", "p.yaml:10: query: the query returns several columns"),
        (
            "key: origin}",
            "key: origin, value: {format: string}, options: {x: 1}}",
            "p.yaml:11: sink.options.x: option 'x' is unknown",
        ),
        (
            "query: select origin,",
            "query: select dep_delay as a, origin,",
            "",
        ),
        (
            "topic: delays, key: origin",
            f"topic: delays, key: origin, value: {{format: avro, schema: '{AVRO}'}}",
            "p.yaml:11: sink.value.schema: the columns of the query (origin, dep_delay) do not fit the schema: the col",
        ),
        (
            "topic: delays, key: origin",
            "topic: delays, key: origin, value: {format: avro, schema: '{}'}",
            "p.yaml:11: sink.value.schema: not a valid schema: ",
        ),
        (
            "topic: delays, key: origin",
            "topic: delays, key: origin, value: {format: avro, schema_file: missing.avsc}",
            "p.yaml:11: sink.value.schema_file: option 'valueSchemaFile': cannot read the file",
        ),
        (
            "select origin, dep_delay",
            "select origin, dep_delay, origin as value",
            "",
        ),
    ],
)
def test_single_problems(tmp_path: Path, old: str, new: str, expected: str) -> None:
    text = HEAD + SOURCE + REST
    assert old in text
    found = problems(tmp_path, text.replace(old, new, 1))
    assert [each[: len(expected)] for each in found] == ([expected] if expected else [])


def test_a_format_without_fields_needs_the_column_value(tmp_path: Path) -> None:
    text = HEAD + SOURCE + REST.replace("key: origin", "value: {format: string}")
    (found,) = problems(tmp_path, text)
    assert found.startswith("p.yaml:11: sink.value.format: the format string writes the column 'value', but the query")


def test_schema_files_are_relative_to_the_declaration(tmp_path: Path) -> None:
    (tmp_path / "delay.avsc").write_text(AVRO)
    text = HEAD + SOURCE + REST.replace("dep_delay from", "dep_delay as minutes from")
    text = text.replace("key: origin", "key: origin, value: {format: avro, schema_file: delay.avsc}")
    found = report(tmp_path, text)
    assert found.problems == ()
    assert "the schema has the columns of the query" in [each.text for each in found.passed]


@pytest.mark.parametrize("format_", ["json-schema", "protobuf"])
def test_columns_come_from_any_schema(tmp_path: Path, format_: str) -> None:
    schemas = {
        "json-schema": '{"type":"object","properties":{"carrier":{"type":"string"},"dep_delay":{"type":"number"}}}',
        "protobuf": 'syntax = \\"proto3\\"; message F { string carrier = 1; double dep_delay = 2; }',
    }
    quote = '"' if format_ == "protobuf" else "'"
    value = f"{{format: {format_}, schema: {quote}{schemas[format_]}{quote}}}"
    json = '{format: json, schema: "carrier string, origin string, dep_delay double"}'
    text = HEAD + SOURCE.replace(json, value) + REST
    assert [each.partition(": query: ")[2] for each in problems(tmp_path, text) if "query" in each] == [
        "there is no column 'origin'; the columns are carrier, dep_delay, kafka"
    ]


def test_several_sources_and_their_rules(tmp_path: Path) -> None:
    text = f"""{HEAD}sources:
  flights:
    topic: flights
    value: {{format: json, schema: "carrier string, origin string"}}
    rules: [{{name: a, holds: carier is null, otherwise: drop}}]
  carriers:
    topic: carriers
    value: {{format: json, schema: "carrier string, name string"}}
query: select f.origin, c.nam from flights f join carriers c on f.carrier = c.carrier
sink: {{topic: delays}}
"""
    assert problems(tmp_path, text) == [
        "p.yaml:7: sources.flights.rules[0].holds: there is no column 'carier'; did you mean 'carrier'?",
        "p.yaml:11: query: c: there is no column 'nam'; did you mean 'name'?",
    ]


def test_a_pipeline_in_python_has_keys_but_no_lines() -> None:
    pipeline = Pipeline("p", kafka={"bootstrap.servers": "localhost:9092"}, dead_letters="dead")
    flights = pipeline.source(kafka_source("flights", value_format="json", value_schema="a int"))
    flights.rules(rule("b", "b > 0"))

    @pipeline.sink(kafka_sink("out"))
    def out(flights: Any) -> Any:
        return flights

    found = check(pipeline.declaration, servers=False)
    assert [str(each) for each in found.problems] == [
        "sources.flights.rules[0].holds: there is no column 'b'; the columns are a, kafka"
    ]


@pytest.mark.parametrize(
    ("query", "change"),
    [
        ("select origin, count(*) as n from source group by origin", ""),
        ("select distinct origin from source", ""),
        ("select max(dep_delay) as origin from source", ""),
        ("select origin from source", "  dedupe: {by: origin, within: 1 hour, time: kafka.timestamp}\n"),
    ],
)
def test_rules_that_are_evaluated_twice_cannot_be_random(tmp_path: Path, query: str, change: str) -> None:
    text = (HEAD + SOURCE + REST).replace("select origin, dep_delay from source", query).replace("key: origin", "")
    text = text.replace("dep_delay between -120 and 2000", "rand() < 0.5 or uuid() = carrier").replace(
        "  topic: flights\n", f"  topic: flights\n{change}"
    )
    text = text.replace("{topic: delays, }", "{topic: delays}")
    found = [each for each in problems(tmp_path, text) if "differs each time" in each]
    assert len(found) == 2
    assert all("Spark evaluates rules twice for a query with state" in each and "warning" not in each for each in found)
    once = text.replace(query, "select origin from source").replace(change or "none", "")
    assert all("warning: " in each for each in problems(tmp_path, once) if "differs each time" in each)
    assert "differs each time" in " ".join(problems(tmp_path, once))


@pytest.mark.parametrize(
    "sink",
    [
        "{{postgresql: delays, url: 'postgresql://{address}/db'}}",
        "{{iceberg: flights.delays, catalog: {{type: rest, uri: 'http://{address}'}}}}",
        "{{tables_by_topic: '{{topic}}', format: postgresql, url: 'postgresql://{address}/db'}}",
    ],
)
def test_an_offline_check_connects_to_no_server(tmp_path: Path, sink: str) -> None:
    with socket.create_server(("localhost", 0)) as server:
        server.setblocking(False)
        address = f"localhost:{server.getsockname()[1]}"
        written = f"sink: {sink.format(address=address)}"
        text = (HEAD + SOURCE + REST).replace("sink: {topic: delays, key: origin}", written)
        assert address in text
        text = text.replace("localhost:9092", address)
        assert problems(tmp_path, text) == []
        with pytest.raises(BlockingIOError):
            server.accept()


@pytest.mark.slow
def test_a_check_does_not_import_pyspark(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(HEAD + SOURCE + REST)
    code = (
        "import sys; from kafka.pipelines.checks import check_file; "
        "print(check_file(sys.argv[1], servers=False).problems); assert not {'pyspark', 'pandas'} & set(sys.modules)"
    )
    command = [sys.executable, "-c", code, tmp_path / "p.yaml"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "()\n", "")


def test_columns_of_times_watermarks_and_duplicates(tmp_path: Path) -> None:
    text = (HEAD + SOURCE + REST).replace('dep_delay double"', 'dep_delay double, at timestamp, day date, id long"')

    def found(times: str, watermark: str, by: str) -> list[str]:
        keys = (
            f"  times: {times}\n  watermark: {{time: {watermark}, delay: 1 hour}}\n"
            f"  dedupe: {{by: {by}, within: 1 hour}}\n"
        )
        return problems(tmp_path, text.replace("  topic: flights\n", f"  topic: flights\n{keys}", 1))

    assert found("[at, day, carrier, kafka.timestamp]", "at", "[id]") == []
    expected, given = "expected a column of type", "got 'dep_delay' of type double"
    assert found("[dep_delay, att]", "day", "[idd]") == [
        f"p.yaml:5: source.times[0]: {expected} date or string or timestamp or timestamp_ntz, {given}",
        "p.yaml:5: source.times[1]: there is no column 'att'; did you mean 'at'?",
        f"p.yaml:6: source.watermark.time: {expected} timestamp or timestamp_ntz, got 'day' of type date",
        "p.yaml:7: source.dedupe.by[0]: there is no column 'idd'; did you mean 'id'?",
    ]


def test_a_query_can_use_the_column_that_a_step_adds_for_a_field_with_the_time(tmp_path: Path) -> None:
    """`kafka_timestamp` for a watermark on `kafka.timestamp`; without the watermark, there is no such column."""

    def found(step: str) -> list[str]:
        text = (
            "pipeline: p\nkafka: {bootstrap.servers: 'localhost:1'}\n"
            f"source:\n  topic: a\n  value: {{format: json, schema: 'id int'}}\n{step}"
            "query: select window(kafka_timestamp, '1 hour').start as hour, count(*) as n from source "
            "group by window(kafka_timestamp, '1 hour')\nsink: {topic: b}\n"
        )
        (tmp_path / "p.yaml").write_text(text)
        return [str(each) for each in check_file(tmp_path / "p.yaml", servers=False).errors]

    assert found("  watermark: {time: kafka.timestamp, delay: 1 hour}\n") == []
    (missing,) = found("")
    assert "there is no column 'kafka_timestamp'" in missing
