"""Compatible changes of a JSON Schema, by the rules of Confluent's registry."""

from __future__ import annotations

from typing import Any

import pytest

from kafka.formats.json.compatibility import incompatibilities
from kafka.formats.json.errors import JsonSchemaError
from kafka.formats.json.schema_nodes import Document

pytestmark = pytest.mark.once


def closed(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def opened(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def array(**more: Any) -> dict[str, Any]:
    return {"type": "array", **more}


INT, NUMBER, STRING, NULL = ({"type": name} for name in ("integer", "number", "string", "null"))
ITSELF = {"type": ["object", "null"], "properties": {"next": {"$ref": "#"}}}
ANY_INT = {**opened(), "additionalProperties": INT}
COMPATIBLE = {
    "the same": (closed(a=INT), closed(a=INT)),
    "wider number": (closed(a=INT), closed(a=NUMBER)),
    "optional property, closed": (closed(a=INT), closed(a=INT, b=STRING)),
    "required property with default, closed": (closed(), {**closed(b={**INT, "default": 0}), "required": ["b"]}),
    "property gone, open": (opened(a=INT, b=STRING), opened(a=INT)),
    "property without a type, open": (opened(a=INT), opened(a=INT, b={})),
    "closed becomes open": (closed(a=INT), opened(a=INT)),
    "covered by further properties": (ANY_INT, {**ANY_INT, "properties": {"a": NUMBER}}),
    "covered by a pattern": (
        {**closed(), "patternProperties": {"^x": INT}},
        {**closed(x1=NUMBER), "patternProperties": {"^x": INT}},
    ),
    "not required any more": ({**closed(a=INT), "required": ["a"]}, closed(a=INT)),
    "false property gone": (closed(a=False), closed()),
    "longer": ({"type": "string", "maxLength": 3}, {"type": "string", "maxLength": 4}),
    "pattern gone": ({"type": "string", "pattern": "a"}, STRING),
    "another format": ({"type": "string", "format": "date"}, STRING),
    "greater limits": ({"type": "integer", "maximum": 3, "minimum": 1}, {"type": "integer", "maximum": 4}),
    "multiple of less": ({"type": "integer", "multipleOf": 4}, {"type": "integer", "multipleOf": 2}),
    "more symbols": ({"enum": ["a"]}, {"enum": ["a", "b"]}),
    "may be null": (STRING, {"oneOf": [NULL, STRING]}),
    "one of one": ({"oneOf": [STRING]}, STRING),
    "more types": ({"type": ["integer", "null"]}, {"type": ["integer", "null", "string"]}),
    "one of several types": (INT, {"type": ["string", "integer"]}),
    "in another order": ({"anyOf": [INT, STRING]}, {"anyOf": [STRING, NUMBER]}),
    "one of becomes any of": ({"oneOf": [INT, STRING]}, {"anyOf": [INT, STRING]}),
    "less of all": ({"allOf": [opened(a=INT), opened(b=INT)]}, {"allOf": [opened(a=INT)]}),
    "what may not be is less": ({"not": NUMBER}, {"not": INT}),
    "anything": (closed(a=INT), True),
    "from nothing": (False, INT),
    "items wider": (array(items=INT), array(items=NUMBER)),
    "items of anything": (array(items=INT), array()),
    "item added, closed": (
        array(items=[INT], additionalItems=False),
        array(items=[INT, STRING], additionalItems=False),
    ),
    "item gone, open": (array(prefixItems=[INT, STRING]), array(prefixItems=[INT])),
    "dependency gone": ({"type": "object", "dependentRequired": {"a": ["b"]}}, {"type": "object"}),
    "draft 4 limit": ({"type": "number", "maximum": 3, "exclusiveMaximum": True}, {"exclusiveMaximum": 3}),
    "other words": ({"title": "A", "description": "x", **INT}, {"title": "B", "default": 1, **INT}),
    "by reference": (
        {"$ref": "#/definitions/I", "definitions": {"I": INT}},
        {"$ref": "#/$defs/N", "$defs": {"N": NUMBER}},
    ),
    "itself": (ITSELF, {**ITSELF}),
}
INCOMPATIBLE = {
    "PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL": (opened(a=INT), opened(a=INT, b=STRING), "#/properties/b"),
    "PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL": (closed(a=INT, b=INT), closed(a=INT), "#/properties/b"),
    "PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL": (
        ANY_INT,
        {**ANY_INT, "properties": {"a": STRING}},
        "#/properties/a",
    ),
    "PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL": (
        {**ANY_INT, "properties": {"a": STRING}},
        ANY_INT,
        "#/properties/a",
    ),
    "REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL": (
        closed(a=INT),
        {**closed(a=INT, b=INT), "required": ["b"]},
        "#/properties/b",
    ),
    "REQUIRED_ATTRIBUTE_ADDED": (closed(a=INT), {**closed(a=INT), "required": ["a"]}, "#/required/a"),
    "ADDITIONAL_PROPERTIES_REMOVED": (opened(a=INT), closed(a=INT), "#/additionalProperties"),
    "ADDITIONAL_PROPERTIES_NARROWED": (opened(), ANY_INT, "#/additionalProperties"),
    "TYPE_CHANGED": (closed(a=INT), closed(a=STRING), "#/properties/a"),
    "TYPE_NARROWED": (closed(a=NUMBER), closed(a=INT), "#/properties/a"),
    "MAX_LENGTH_DECREASED": ({"type": "string", "maxLength": 3}, {"type": "string", "maxLength": 2}, "#/maxLength"),
    "MIN_LENGTH_ADDED": (STRING, {"type": "string", "minLength": 1}, "#/minLength"),
    "PATTERN_CHANGED": ({"type": "string", "pattern": "a"}, {"type": "string", "pattern": "b"}, "#/pattern"),
    "MAXIMUM_ADDED": (INT, {"type": "integer", "maximum": 1}, "#/maximum"),
    "EXCLUSIVE_MINIMUM_INCREASED": ({"exclusiveMinimum": 1}, {"exclusiveMinimum": 2}, "#/exclusiveMinimum"),
    "MULTIPLE_OF_EXPANDED": ({"multipleOf": 2}, {"multipleOf": 4}, "#/multipleOf"),
    "ENUM_ARRAY_NARROWED": ({"enum": ["a", "b"]}, {"enum": ["a"]}, "#/enum"),
    "ENUM_ARRAY_CHANGED": ({"enum": ["a"]}, {"enum": ["b"]}, "#/enum"),
    "SUM_TYPE_NARROWED": ({"anyOf": [INT, STRING, NULL]}, {"anyOf": [INT, STRING]}, "#"),
    "PRODUCT_TYPE_EXTENDED": ({"allOf": [opened(a=INT)]}, {"allOf": [opened(a=INT), closed(b=INT)]}, "#"),
    "COMBINED_TYPE_CHANGED": ({"anyOf": [INT, STRING]}, {"allOf": [INT, STRING]}, "#"),
    "COMBINED_TYPE_SUBSCHEMAS_CHANGED": ({"anyOf": [INT, STRING]}, {"anyOf": [INT, NULL]}, "#"),
    "NOT_TYPE_EXTENDED": ({"not": INT}, {"not": NUMBER}, "#/not"),
    "MAX_ITEMS_ADDED": (array(), array(maxItems=1), "#/maxItems"),
    "UNIQUE_ITEMS_ADDED": (array(), array(uniqueItems=True), "#/uniqueItems"),
    "MIN_CONTAINS_CHANGED": (array(contains=INT), array(contains=INT, minContains=2), "#/minContains"),
    "SCHEMA_ADDED": (array(), array(items=INT), "#/items"),
    "ITEM_ADDED_TO_OPEN_CONTENT_MODEL": (array(prefixItems=[INT]), array(prefixItems=[INT, INT]), "#/items/1"),
    "ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL": (
        array(prefixItems=[INT, INT], items=False),
        array(prefixItems=[INT], items=False),
        "#/items/1",
    ),
    "DEPENDENCY_ARRAY_ADDED": (
        {"type": "object"},
        {"type": "object", "dependentRequired": {"a": ["b"]}},
        "#/dependencies/a",
    ),
}


@pytest.mark.parametrize("case", COMPATIBLE)
def test_changes_that_are_compatible(case: str) -> None:
    old, new = COMPATIBLE[case]
    assert incompatibilities(Document(old, {}), Document(new, {})) == []


@pytest.mark.parametrize("kind", INCOMPATIBLE)
def test_changes_that_are_not(kind: str) -> None:
    old, new, path = INCOMPATIBLE[kind]
    assert (kind, path) in incompatibilities(Document(old, {}), Document(new, {}))


def test_references_to_other_schemas() -> None:
    money = {"$id": "https://shop.example/money.json", "type": "object", "properties": {"cents": INT}}
    price = {"$ref": "money.json#/properties/cents"}
    order = {"$id": "https://shop.example/order.json", "properties": {"price": price}}
    old = Document(order, {"money.json": Document(money, {})})
    wider = Document({**money, "properties": {"cents": NUMBER}}, {})
    new = Document(order, {"money.json": wider})
    assert incompatibilities(old, new) == []
    assert [each.kind for each in incompatibilities(new, old)] == ["TYPE_NARROWED"]


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"type": "strin"}, "#/type: expected one of string"),
        ({"properties": {"a": 3}}, "#/properties/a: expected an object or a boolean"),
        ({"required": "a"}, "#/required: expected a list of names"),
        ({"maximum": "3"}, "#/maximum: expected a number"),
        ({"anyOf": []}, "#/anyOf: expected a list of schemas"),
        ({"items": {"$ref": "other.json"}}, "#/items refers to 'other.json'"),
        ({"items": {"$ref": "#/definitions/x"}}, "does not exist"),
    ],
)
def test_invalid_schemas(schema: Any, text: str) -> None:
    with pytest.raises(JsonSchemaError, match=text):
        Document(schema, {})


def test_circular_references() -> None:
    document = Document({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}, {})
    with pytest.raises(JsonSchemaError, match="only refer to each other"):
        document.node(document.root)
