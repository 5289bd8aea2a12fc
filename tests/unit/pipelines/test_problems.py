"""The messages for wrong declarations: plain words for each kind of problem, without types of Python."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import Any

import pytest

from kafka.pipelines.declaration import InvalidDeclaration, declare
from kafka.pipelines.yaml_file import parse

WHOLE: dict[str, Any] = {
    "pipeline": "p",
    "kafka": {"bootstrap.servers": "x"},
    "registry": {"url": "x"},
    "source": {
        "topic": "t",
        "value": {"format": "json", "schema": "a int"},
        "times": ["ts", {"column": "a", "past": "1 day"}],
        "watermark": {"time": "ts", "delay": "1 day"},
        "dedupe": {"by": ["a"], "within": "1 hour"},
        "required": ["a"],
        "options": {"a": "b"},
        "max_offsets_per_trigger": 5,
    },
    "rules": [{"name": "a", "holds": "b", "otherwise": "drop", "keep_null": False}],
    "sink": {"topic": "s", "key": "a", "value": {"format": "json"}},
    "dead_letters": {"topic": "d"},
    "max_bad": 0.1,
    "trigger": "1 day",
    "flush_at_end": True,
    "output_mode": "append",
    "checkpoint": "x",
    "query": "select 1",
}
SINKS: list[dict[str, Any]] = [
    {"parquet": "/x", "partition_by": "a"},
    {"iceberg": "a.b", "catalog": {"type": "x"}},
    {"postgresql": "t", "url": "postgresql://x", "user": "u", "password": "p"},
    {"foreach_batch": "m:f"},
    {"tables_by_topic": "/x/{topic}", "format": "parquet"},
]
WRONG: list[Any] = [None, 3, 2.5, True, "no such", "", [], ["x"], [3], [None], {}, {"x": 1}, [{}]]
PYTHON = re.compile(
    r"[Tt]uple|dict\b|None\b|NoneType|\bstr\b|[Ss]tring should|valid string|instance|validation|True\b|False\b|"
    r"pydantic|\bmodel\b|boolean|parse|another value|\^"
)
TEXT = """\
pipeline: p
kafka: {bootstrap.servers: x}
source:
  topic: t
  value: {format: json, schema: a int}
sink: {topic: s}
"""


def paths(value: Any, around: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        yield (*around, key)
        if isinstance(inner, dict | list):
            yield from paths(inner, (*around, key))


def changed(content: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    found = copy.deepcopy(content)
    at: Any = found
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return found


@pytest.mark.parametrize("sink", [None, *SINKS], ids=lambda each: next(iter(each)) if each else "topic")
def test_no_wrong_value_at_any_level_is_described_in_words_of_python(sink: dict[str, Any] | None) -> None:
    whole = WHOLE | {"sink": sink or WHOLE["sink"]}
    places: list[tuple[Any, ...]] = [
        *((("sink", *path) for path in paths(sink)) if sink else paths(whole)),
    ]
    refused = 0
    for path in places:
        for value in WRONG:
            try:
                declare(changed(whole, path, value))
            except InvalidDeclaration as error:
                refused += 1
                for line in str(error).splitlines():
                    assert not PYTHON.search(line), (path, value, line)
                    assert line.startswith((str(path[0]), "expected one of source")), (path, value, line)
    assert refused > 8 * len(places)


@pytest.mark.parametrize(
    ("written", "instead", "problem"),
    [
        (
            "  topic: t",
            "  topic: t\n  required: origin",
            "5: source.required: expected a list, got 'origin': write required: [origin]",
        ),
        ("pipeline: p", "pipeline:", "1: pipeline: expected text, got null: write a value, or remove the key"),
        (
            "pipeline: p",
            "pipeline: 2024-01-01",
            '1: pipeline: expected text, got a date: put it in quotes: "2024-01-01"',
        ),
        (
            "sink: {topic: s}",
            "sink: {topic: s}\nrules: {name: a}",
            (
                "7: rules: expected a list, got keys and values: begin each entry with '- ', followed by its keys "
                "(name, holds, otherwise, keep_null)"
            ),
        ),
        (
            "{format: json, schema: a int}",
            "json",
            (
                "5: source.value: expected keys and values (format, schema, schema_file, subject, version, message), "
                "got 'json': write value: {format: json}"
            ),
        ),
        (
            "sink: {topic: s}",
            "sink: delays",
            (
                "6: sink: expected keys and values (topic, key, value, exactly_once, options), got 'delays': "
                "write sink: {topic: delays}"
            ),
        ),
        (
            "{topic: s}",
            "{paquet: /x}",
            "6: sink.paquet: unknown key; did you mean 'parquet'?; known are topic, key, value, exactly_once, options",
        ),
        ("schema: a int", "schema: ''", "5: source.value.schema: expected text that is not empty, got ''"),
        ("{topic: s}", "{topic: s}\nmax_bad: 1.5", "7: max_bad: expected a number below 1, got 1.5"),
        ("{topic: s}", "{topic: s}\nflush_at_end: 7", "7: flush_at_end: expected true or false, got 7"),
        (
            "{topic: s}",
            "{topic: s}\ntrigger: 10",
            "7: trigger: expected a duration with its unit, such as 10 seconds, got 10",
        ),
        (
            "{topic: s}",
            "{topic: s}\nkafka2: {a: b}\n",
            (
                "7: kafka2: unknown key; did you mean 'kafka'?; known are pipeline, description, kafka, registry, "
                "source, sources, rules, query, sink, dead_letters, max_bad, checkpoint, "
                "output_mode, trigger, flush_at_end"
            ),
        ),
        (
            "{topic: s}",
            "{topic: s}\nrequired: [a]\n",
            (
                "7: required: unknown key; it belongs in source; known are pipeline, description, kafka, registry, "
                "source, sources, rules, query, sink, dead_letters, max_bad, checkpoint, "
                "output_mode, trigger, flush_at_end"
            ),
        ),
        ("schema: a int", "subject: a", "5: source.value: format json needs schema or schema_file"),
        (
            "bootstrap.servers: x",
            "bootstrap.servers: [x]",
            "2: kafka.bootstrap.servers: expected text, got a list (not shown here)",
        ),
    ],
)
def test_a_problem_says_what_to_write(written: str, instead: str, problem: str) -> None:
    with pytest.raises(InvalidDeclaration) as raised:
        parse(TEXT.replace(written, instead, 1), "f.yaml")
    assert f"f.yaml:{problem}" in str(raised.value).splitlines()
