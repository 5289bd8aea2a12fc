"""Pipelines declared in YAML: what they declare, and where each problem is."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka.pipelines.declaration import InvalidDeclaration, Otherwise
from kafka.pipelines.yaml_file import load, parse

pytestmark = pytest.mark.once

FLIGHTS = """\
pipeline: flight-delays
kafka: {bootstrap.servers: localhost:9092, session.timeout.ms: 6000, enable.tls: true}
source:
  topic: flights
  value: {format: json, schema: "carrier string, dep_delay double"}
rules:
  - {name: carrier is known, holds: carrier is not null}
  - {name: airport is ours, holds: "origin in ('EWR', 'JFK')", otherwise: drop}
query: select carrier from source where dep_delay > 0
sink: {topic: delays, key: carrier}
dead_letters: {topic: flights.dead}
"""
SMALL = """\
pipeline: p
kafka: {bootstrap.servers: x}
source: {topic: t, value: {format: int}}
sink: {topic: s}
"""


def problems(text: str) -> list[str]:
    with pytest.raises(InvalidDeclaration) as raised:
        parse(text, "f.yaml")
    return str(raised.value).splitlines()


def test_a_file_declares_sources_rules_and_sink(tmp_path: Path) -> None:
    (tmp_path / "flights.yaml").write_text(FLIGHTS)
    found = load(tmp_path / "flights.yaml")
    assert list(found.sources) == ["source"]
    assert [rule.otherwise for rule in found.sources["source"].rules] == [Otherwise.DEAD_LETTER, Otherwise.DROP]
    assert found.sink.key == "carrier"
    assert found.sink.exactly_once
    assert found.sink.value.format == "json"
    assert found.dead_letters is not None
    assert found.dead_letters.topic == "flights.dead"


def test_options_are_text_whatever_yaml_makes_of_them() -> None:
    kafka = parse(FLIGHTS).kafka
    assert kafka == {"bootstrap.servers": "localhost:9092", "session.timeout.ms": "6000", "enable.tls": "true"}


def test_rules_in_the_source_and_next_to_it_are_the_same() -> None:
    inside = SMALL.replace("{format: int}}", "{format: int}, rules: [{name: a, holds: b, otherwise: drop}]}")
    assert parse(inside) == parse(SMALL + "rules: [{name: a, holds: b, otherwise: drop}]")


def test_every_problem_is_reported_with_its_line() -> None:
    text = FLIGHTS.replace("format: json, schema", "format: jsn, shema").replace("otherwise: drop", "otherwise: dropp")
    text = text.replace("holds: carrier is not null", "holds: yes").replace("topic: delays", "topik: delays")
    found = problems(text + "sink2: 1\n")
    assert [line.split(": ")[:2] for line in found] == [
        ["f.yaml:5", "source.value.format"],
        ["f.yaml:5", "source.value.shema"],
        ["f.yaml:7", "rules[0].holds"],
        ["f.yaml:8", "rules[1].otherwise"],
        ["f.yaml:10", "sink.topic"],
        ["f.yaml:10", "sink.topik"],
        ["f.yaml:12", "sink2"],
    ]
    assert found[0].endswith("got 'jsn'; did you mean 'json'?")
    assert "unknown key; did you mean 'schema'?; known are format, schema," in found[1]
    assert found[2].endswith("expected an SQL expression as text, got true")
    assert found[3].endswith("got 'dropp'; did you mean 'drop'?")
    assert found[4].endswith("this key is missing")
    assert "did you mean 'topic'?; known are topic, key," in found[5]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: [", "f.yaml:1: not YAML: expected the node content"),
        (
            "a: b: c",
            "f.yaml:1: not YAML: mapping values are not allowed here: is the line indented like its neighbours",
        ),
        (
            SMALL + "  x: 1\n",
            "f.yaml:5: not YAML: expected <block end>, but found '<block mapping start>': is the line",
        ),
        ("text", "f.yaml: expected keys and values, such as 'pipeline: NAME', got none"),
        ("", "f.yaml: expected keys and values"),
        ("a: \x01", "f.yaml: not YAML: "),
        (SMALL + "pipeline: q\n", "f.yaml:5: pipeline: this key is already on line 1"),
        (SMALL + "? [a]\n: b\n", "f.yaml:5: expected text as a key, got a list"),
        (SMALL + "x: &x\n  y: *x\n", "f.yaml:6: x.y: contains itself"),
        (SMALL + "x: 2024-02-30\n", "f.yaml:5: x: not a valid value: day is out of range"),
        ("a: " + "[" * 5000, "f.yaml: expected fewer levels, the file is nested too deeply"),
        (SMALL + "x: !!python/name:os.system\n", "f.yaml:5: not YAML: could not determine a constructor"),
        (
            SMALL + "x: !!python/object:os.system {}\n",
            "f.yaml:5: x: unknown tag tag:yaml.org,2002:python",
        ),
        (SMALL.replace("topic: t", "topic: t, topics: [u]"), "f.yaml:3: source: expected one of topic, topics and"),
        (SMALL.replace("topic: t, ", ""), "f.yaml:3: source: expected one of topic, topics and pattern, got none"),
        (SMALL.replace("format: int", "format: json"), "f.yaml:3: source.value: format json needs schema or"),
        (SMALL.replace("topic: s", "topic: a b"), "f.yaml:4: sink.topic: expected the name of a topic"),
        (SMALL.replace("topic: t,", "topic: t, start: soon,"), "f.yaml:3: source.start: expected earliest, latest or"),
        (SMALL + "max_bad: 2\n", "f.yaml:5: max_bad: expected a number below 1, got 2"),
        (SMALL + "rules: [{name: a, holds: b}]\n", "f.yaml:1: dead_letters: expected a topic, because rules have"),
        (
            SMALL + "rules: [{name: a, holds: b}, {name: a, holds: c}]\n",
            "f.yaml:5: rules: expected unique names, got 'a'",
        ),
        (SMALL.replace("source:", "sources: {}\nsink2:"), "f.yaml:4: sink2: unknown key"),
        (SMALL.replace("source:", "sources:"), "f.yaml:3: sources.topic: expected keys and values, got 't'"),
    ],
)
def test_a_wrong_file_is_refused(text: str, problem: str) -> None:
    assert any(line.startswith(problem) for line in problems(text)), problems(text)


def test_aliases_repeat_values_but_not_without_end() -> None:
    twice = SMALL.replace("{bootstrap.servers: x}", "&a {bootstrap.servers: x}").replace(
        "topic: s", "topic: s, options: *a"
    )
    assert parse(twice).sink.options == {"bootstrap.servers": "x"}
    for link in ("[*a{0}, *a{0}]", "{{b: *a{0}, c: *a{0}}}", "{{<<: [*a{0}, *a{0}]}}"):
        levels = [f"a{i + 1}: &a{i + 1} {link.format(i)}" for i in range(60)]
        found = problems("\n".join(["a0: &a0 {d: 1}", *levels]))
        assert len(found) == 1
        assert found[0].endswith(
            "expected at most 20000 values, got more: aliases repeat the values that they stand for"
        )


def test_paths_start_from_the_directory_of_the_file(tmp_path: Path) -> None:
    text = SMALL.replace("format: int", "format: json, schema_file: t.ddl")
    (tmp_path / "p.yaml").write_text(text)
    found = load(tmp_path / "p.yaml")
    assert found.checkpoint == str(tmp_path / "checkpoints" / "p")
    assert found.sources["source"].value.file == str(tmp_path / "t.ddl")
    (tmp_path / "q.yaml").write_text(text.replace("t.ddl", "/t.ddl") + "checkpoint: mine\n")
    found = load(tmp_path / "q.yaml")
    assert (found.checkpoint, found.sources["source"].value.file) == (str(tmp_path / "mine"), "/t.ddl")
    assert parse(text).checkpoint == "checkpoints/p"


def test_problems_contain_no_secrets() -> None:
    for wrong in (
        SMALL.replace("{bootstrap.servers: x}", "sasl.password=s3cret"),
        SMALL.replace("{bootstrap.servers: x}", "{sasl.password: [s3cret]}"),
        SMALL + "registry: s3cret\n",
        SMALL.replace("topic: s", "topic: s, options: s3cret"),
        SMALL + "description: {s3cret: s3cret}\n",
    ):
        assert "s3cret" not in "\n".join(problems(wrong))


def test_several_sources_need_a_query_and_rules_of_their_own() -> None:
    two = SMALL.replace(
        "source: {topic: t, value: {format: int}}", "sources: {a: {topic: t, value: {}}, b: {topic: u, value: {}}}"
    )
    assert problems(two) == ["f.yaml:1: query: expected a query, because there are several sources"]
    found = parse(two + "query: select * from a join b using (key)\n")
    assert list(found.sources) == ["a", "b"]
    assert "each rule belongs to one" in problems(two + "query: x\nrules: [{name: a, holds: b, otherwise: drop}]")[0]


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidDeclaration, match=r"missing.yaml: cannot be read: No such file or directory"):
        load(tmp_path / "missing.yaml")
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(InvalidDeclaration, match=r"binary.yaml: expected text in UTF-8"):
        load(tmp_path / "binary.yaml")
