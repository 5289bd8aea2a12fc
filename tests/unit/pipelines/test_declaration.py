"""The JSON Schema of pipelines accepts and refuses what `declare` does."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from kafka.pipelines.declaration import InvalidDeclaration, declare, json_schema

GOOD: dict[str, Any] = {
    "pipeline": "p",
    "kafka": {"bootstrap.servers": "x"},
    "source": {"topic": "t", "value": {"format": "json", "schema": "a int"}, "start": 5},
    "rules": [{"name": "a", "holds": "a > 0", "otherwise": "drop"}],
    "sink": {"topic": "s", "value": {"format": "avro", "version": 3}},
    "max_bad": 0.01,
}


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
    assert len(models) == 6
    assert [name for model in models for name, key in model["properties"].items() if not key.get("description")] == []
