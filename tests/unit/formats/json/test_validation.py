"""Validating objects against a JSON Schema; errors name the path."""

from __future__ import annotations

import datetime
import decimal
import enum
import json
import uuid
from dataclasses import dataclass
from typing import Any

import pytest

from kafka.formats.json.errors import JsonSchemaError
from kafka.formats.json.validation import JsonInvalidError, JsonValidator, plain_object

pytest.importorskip("jsonschema")
pytestmark = pytest.mark.once

LINES = {"type": "array", "items": {"type": "object", "properties": {"price": {"type": "number"}}}}
ORDER = {"type": "object", "properties": {"lines": LINES}, "required": ["lines"]}


def reason(schema: Any, value: Any, **references: Any) -> JsonInvalidError:
    texts = {name.replace("_", "."): json.dumps(each) for name, each in references.items()}
    with pytest.raises(JsonInvalidError) as caught:
        JsonValidator(json.dumps(schema), texts).check(value)
    return caught.value


def test_the_path_is_named() -> None:
    found = reason(ORDER, {"lines": [{"price": 1}, {"price": "2"}]})
    assert (found.path, str(found)) == ("lines[1].price", "At lines[1].price: '2' is not of type 'number'")
    assert str(reason(ORDER, {})) == "'lines' is a required property"
    JsonValidator(json.dumps(ORDER)).check({"lines": [{"price": 1.5}]})


@pytest.mark.parametrize("draft", ["http://json-schema.org/draft-07/schema#", None])
def test_drafts(draft: str | None) -> None:
    """Draft 7 has lists of items, draft 2020-12 has prefixItems."""
    key = "items" if draft else "prefixItems"
    schema = {"type": "array", key: [{"type": "integer"}, {"type": "string"}]}
    if draft:
        schema["$schema"] = draft
    JsonValidator(json.dumps(schema)).check([1, "a"])
    assert reason(schema, [1, 2]).path == "[1]"


def test_references() -> None:
    schema = {"$id": "https://shop.example/order.json", "properties": {"price": {"$ref": "money.json"}}}
    money = {"type": "object", "properties": {"cents": {"$ref": "cents.json"}}}
    assert (
        reason(schema, {"price": {"cents": "1"}}, money_json=money, cents_json={"type": "integer"}).path
        == "price.cents"
    )
    with pytest.raises(JsonSchemaError, match="which is not among its references"):
        JsonValidator('{"properties": {"price": {"$ref": "money.json"}}}').check({"price": 1})


@pytest.mark.parametrize(("text", "why"), [("{", "which is JSON"), ("[]", "an object"), ('{"type": 3}', "At type")])
def test_invalid_schemas(text: str, why: str) -> None:
    with pytest.raises(JsonSchemaError, match=why):
        JsonValidator(text)


@dataclass
class Line:
    price: float


@dataclass
class Order:
    lines: list[Line]


class Kind(enum.Enum):
    NEW = "new"


@dataclass
class Event:
    at: datetime.datetime
    day: datetime.date
    who: uuid.UUID
    kind: Kind
    price: decimal.Decimal


def test_other_values_become_json_types() -> None:
    at = datetime.datetime(2026, 1, 31, 12, tzinfo=datetime.UTC)
    event = Event(at, at.date(), uuid.UUID(int=1), Kind.NEW, decimal.Decimal("1.10"))
    assert plain_object(event) == {
        "at": "2026-01-31T12:00:00+00:00",
        "day": "2026-01-31",
        "who": "00000000-0000-0000-0000-000000000001",
        "kind": "new",
        "price": "1.10",
    }


def test_objects_become_dicts() -> None:
    class Model:
        def model_dump(self, mode: str) -> Any:
            return {"mode": mode}

    assert plain_object(Order([Line(1)])) == {"lines": [{"price": 1}]}
    assert plain_object(Model()) == {"mode": "json"}
    assert plain_object([1]) == [1]
