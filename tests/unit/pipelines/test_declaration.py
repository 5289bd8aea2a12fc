"""The keys of a declaration, and its JSON Schema, which accepts and refuses what `declare` does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from kafka.pipelines.declaration import (
    MAX_RULES,
    RESERVED,
    Declaration,
    InvalidDeclaration,
    Otherwise,
    Rule,
    declare,
    json_schema,
)

pytestmark = pytest.mark.once

GOOD: dict[str, Any] = {
    "pipeline": "p",
    "kafka": {"bootstrap.servers": "x"},
    "source": {
        "topic": "t",
        "value": {"format": "json", "schema": "a int, ts timestamp"},
        "start": 5,
        "times": ["ts", {"column": "kafka.timestamp", "past": "3650 days", "future": None}],
        "max_offsets_per_trigger": 100,
        "watermark": {"time": "ts", "delay": "10 minutes"},
        "dedupe": {"by": "a", "within": "1 hour 30 minutes"},
    },
    "rules": [{"name": "a", "holds": "a > 0", "otherwise": "drop"}],
    "sink": {"topic": "s", "value": {"format": "avro", "version": 3}},
    "max_bad": 0.01,
    "checkpoint": "here",
    "description": "counts",
    "flush_at_end": True,
    "output_mode": "update",
    "trigger": "10 seconds",
}


def with_source(**changes: Any) -> dict[str, Any]:
    return GOOD | {"source": GOOD["source"] | changes}


def problem(given: dict[str, Any]) -> str:
    with pytest.raises(InvalidDeclaration) as raised:
        declare(given)
    return str(raised.value)


def test_the_schema_accepts_a_pipeline() -> None:
    jsonschema.Draft202012Validator.check_schema(json_schema())
    jsonschema.validate(GOOD, json_schema())
    declare(GOOD)


@pytest.mark.parametrize(
    "change",
    [
        {"sink": {"topik": "s"}},
        {"sink": {"topic": "a b"}},
        {"rules": [{"name": "a", "holds": "b", "otherwise": "x"}]},
        {"rules": [{"name": "a", "holds": True}]},
        {"rules": [{"name": "", "holds": "b", "otherwise": "drop"}]},
        {"max_bad": 2},
        {"pipeline": "9"},
        {"extra": 1},
        {"source": {"topic": "t"}},
        {"output_mode": "complete"},
        {"flush_at_end": 3},
        with_source(times="a"),
        with_source(times=[{"colum": "ts"}]),
        with_source(times=[3]),
        with_source(max_offsets_per_trigger=0),
        with_source(watermark={"time": "ts"}),
        with_source(watermark="ts"),
        with_source(dedupe={"by": [], "within": "1 hour"}),
        with_source(backfill="earliest"),
    ],
)
def test_the_schema_refuses_what_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(GOOD | change, json_schema())
    with pytest.raises(InvalidDeclaration):
        declare(GOOD | change)


def test_every_key_is_described() -> None:
    schema = json_schema()
    models = [schema, *(each for each in schema["$defs"].values() if "properties" in each)]
    assert len(models) == 16
    assert [name for model in models for name, key in model["properties"].items() if not key.get("description")] == []


def test_keys_have_defaults() -> None:
    found = declare({"pipeline": "p", "kafka": {}, "source": {"topic": "t", "value": {}}, "sink": {"topic": "s"}})
    assert (found.checkpoint, found.output_mode, found.trigger, found.flush_at_end) == (
        "checkpoints/p",
        "append",
        None,
        False,
    )
    source = found.sources["source"]
    assert (source.times, source.watermark, source.dedupe, source.backfill) == ((), None, None, None)


def test_times_have_short_forms() -> None:
    source = declare(with_source()).sources["source"]
    assert [(each.column, each.past, each.future) for each in source.times] == [
        ("ts", None, "1 day"),
        ("kafka.timestamp", "3650 days", None),
    ]
    (record,) = declare(with_source(times="timestamp")).sources["source"].times
    assert record.column == "kafka.timestamp"
    jsonschema.validate(with_source(times="timestamp"), json_schema())


@pytest.mark.parametrize(
    ("since", "expected"),
    [("earliest", None), (1000, 1000), ("1970-01-02", 86_400_000), ("1970-01-01T01:00:00+01:00", 0)],
)
def test_a_backfill_starts_at_a_time(since: Any, expected: int | None) -> None:
    given = with_source(backfill={"since": since}, start="earliest")
    backfill = declare(given).sources["source"].backfill
    assert backfill is not None
    assert backfill.since_ms == expected
    jsonschema.validate(given, json_schema())


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (
            GOOD | {"trigger": "10"},
            "trigger: expected a duration such as 10 minutes (in milliseconds, seconds, minutes",
        ),
        (GOOD | {"trigger": 10}, "trigger: expected a duration with its unit, such as 10 seconds, got 10"),
        (GOOD | {"checkpoint": "s3://bucket/p"}, "checkpoint: expected a directory of a local or mounted file system"),
        (
            GOOD | {"output_mode": "updat"},
            "output_mode: expected append or update, got 'updat'; did you mean 'update'",
        ),
        (GOOD | {"flush_at_ende": True}, "flush_at_ende: unknown key; did you mean 'flush_at_end'?"),
        (with_source(time=["ts"]), "source.time: unknown key; did you mean 'times'?"),
        (
            with_source(times="ts"),
            "source.times: expected a list of columns, or timestamp for the timestamps of records",
        ),
        (
            with_source(times=[{"column": "ts", "futur": "1 day"}]),
            "source.times[0].futur: unknown key; did you mean 'fu",
        ),
        (with_source(times=[{"column": "ts", "past": "long"}]), "source.times[0].past: expected a duration such as"),
        (with_source(times=["a b"]), "source.times[0].column: expected the name of a column"),
        (
            with_source(watermark={"time": "ts", "dela": "1 day"}),
            "source.watermark.dela: unknown key; did you mean 'de",
        ),
        (with_source(dedupe={"by": ["a"]}), "source.dedupe.within: this key is missing"),
        (
            with_source(dedupe={"by": ["a"], "within": "1 day", "time": "other"}),
            "source.dedupe: expected the time of the watermark, 'ts', got 'other'",
        ),
        (
            with_source(dedupe={"by": ["a"], "within": "1 day"}, watermark=None),
            "source.dedupe: expected time, the column with the time of the row, or a watermark, got none",
        ),
        (
            with_source(backfill={"since": "earliest"}),
            "source.start: with backfill, the stream starts where the backfil",
        ),
        (
            with_source(backfill={"since": "soon"}),
            "source.backfill.since: expected earliest, a time in ISO 8601 such as",
        ),
        (
            with_source(options={"maxOffsetsPerTrigger": 5}),
            "source.options: expected max_offsets_per_trigger as a key",
        ),
        *(
            (
                GOOD | {"rules": [{"name": name, "holds": "a", "otherwise": "drop"}]},
                f"rules: expected another name than {name!r}",
            )
            for name in RESERVED
        ),
        (
            GOOD | {"rules": [{"name": str(i), "holds": "a", "otherwise": "drop"} for i in range(MAX_RULES + 1)]},
            "rules: expected at most 60 for a source, got 61",
        ),
    ],
)
def test_a_wrong_value_is_described(given: dict[str, Any], expected: str) -> None:
    assert expected in problem(given)


def test_built_in_rules_stop_a_pipeline_without_dead_letters() -> None:
    assert declare(with_source(required=["a"])).built_in_outcome is Otherwise.FAIL
    dead = {"dead_letters": {"topic": "dead"}}
    assert declare(with_source(required=["a"]) | dead).built_in_outcome is Otherwise.DEAD_LETTER
    assert "dead_letters: expected a topic" in problem(GOOD | {"rules": [{"name": "a", "holds": "b"}]})


SECRETS: dict[str, Any] = {
    "kafka": {"bootstrap.servers": "x:1", "sasl.jaas.config": "s3cret", "ssl.key.password": "s3cret"},
    "registry": {"url": "http://me:s3cret@x", "basic.auth.user.info": "me:s3cret", "password": "s3cret"},
    "sink": {"topic": "s", "options": {"kafka.sasl.password": "s3cret"}},
}


def test_a_declaration_is_shown_without_secrets() -> None:
    found = declare(with_source(options={"kafka.sasl.password": "s3cret", "minPartitions": 2}) | SECRETS)
    assert "s3cret" not in repr(found)
    shown = found.shown()
    assert "s3cret" not in json.dumps(shown)
    assert shown["kafka"] == {
        "bootstrap.servers": "x:1",
        "sasl.jaas.config": "<hidden>",
        "ssl.key.password": "<hidden>",
    }
    assert shown["sources"]["source"]["options"] == {"kafka.sasl.password": "<hidden>", "minPartitions": "2"}
    assert shown["sources"]["source"]["rules"][0]["holds"] == "a > 0"
    again = Declaration.model_validate(shown).canonical()
    assert again.sources["source"].rules == found.sources["source"].rules


def test_the_fingerprint_identifies_what_a_pipeline_does(tmp_path: Path) -> None:
    found = declare(GOOD | SECRETS).fingerprint()
    assert found == declare(GOOD | SECRETS | {"checkpoint": "there", "description": "other"}).fingerprint()
    changed = json.loads(json.dumps(GOOD | SECRETS).replace("s3cret", "other"))
    assert found == declare(changed, directory=tmp_path).fingerprint()
    assert found != declare(GOOD | SECRETS | {"max_bad": 0.5}).fingerprint()
    assert found != declare(with_source(required=["a"]) | SECRETS).fingerprint()


class FakeColumn:
    """Compares like a PySpark `Column`: the result is not a Boolean."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __eq__(self, other: object) -> Any:
        return FakeColumn("=")

    def __bool__(self) -> bool:
        raise ValueError("Cannot convert column into bool")

    def __repr__(self) -> str:
        return f"Column<'{self.text}'>"

    __hash__ = None  # type: ignore[assignment]


def test_rules_with_columns_are_compared_by_their_text() -> None:
    first = Rule(name="a", holds=FakeColumn("(n < 3)"))
    assert first == Rule(name="a", holds=FakeColumn("(n < 3)"))
    assert first != Rule(name="a", holds=FakeColumn("(n < 4)"))
    assert first != Rule(name="a", holds="(n < 3)")
    assert first != "a"
    assert len({first, Rule(name="a", holds=FakeColumn("(n < 3)"))}) == 1
    assert first.expression == "(n < 3)"
    assert first.model_dump(mode="json")["holds"] == "(n < 3)"
    given = GOOD | {"rules": [first], "dead_letters": {"topic": "d"}}
    assert declare(given) == declare(given)
    json.dumps(declare(given).shown())


@pytest.mark.parametrize("key", ["sink", "dead_letters"])
def test_a_pipeline_does_not_write_to_a_topic_that_it_reads(key: str) -> None:
    given = with_source(topic="flights") | {key: {"topic": "flights"}}
    with pytest.raises(InvalidDeclaration, match=f"{key}: expected a topic that is not among the sources, got 'fl"):
        declare(given)


@pytest.mark.parametrize("key", ["sink", "dead_letters"])
def test_a_pipeline_does_not_write_to_a_topic_that_its_pattern_selects(key: str) -> None:
    given = with_source(topic=None, pattern="^fli") | {key: {"topic": "flights.dead"}}
    with pytest.raises(InvalidDeclaration, match=rf"{key}: .* got 'flights.dead', which the pattern '\^fli' selects"):
        declare(given)
    assert declare(given | {key: {"topic": "dead.flights"}})  # a part of the topic matches, but not at its beginning
