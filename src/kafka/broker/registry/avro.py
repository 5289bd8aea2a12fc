"""Avro schemas in the registry: their text in one form, and whether two of them are compatible."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from kafka.formats.avro.compatibility import incompatibilities
from kafka.formats.avro.defaults import encoded_default
from kafka.formats.avro.schema import (
    NO_DEFAULT,
    PRIMITIVES,
    Array,
    AvroSchemaError,
    Map,
    Record,
    Schema,
    Union,
    parse_named,
)

_ORDER = {
    "record": ("type", "name", "namespace", "doc", "fields"),
    "error": ("type", "name", "namespace", "doc", "fields"),
    "enum": ("type", "name", "namespace", "doc", "symbols", "default"),
    "fixed": ("type", "name", "namespace", "doc", "size"),
    "array": ("type", "items"),
    "map": ("type", "values"),
}
"""The order in which the Java library writes a type's properties; other properties follow, aliases come last."""
_FIELD_ORDER = ("name", "type", "doc", "default", "order", "aliases")


class AvroSchema:
    """A parsed schema.

    Attributes:
        text: as the Java library writes it: without white space, in its order.
        normalized: the same, with further properties sorted by name.
        named: the types that it and its references define, for schemas that refer to it.
    """

    def __init__(self, text: str, references: Mapping[str, AvroSchema]) -> None:
        """Parse a text.

        Arguments:
            text: JSON.
            references: the schemas it refers to, by its names for them.

            Raises:
                AvroSchemaError: the text is not a schema, or a default does not match its field.
        """
        known: dict[str, Schema] = {}
        for reference in references.values():
            known.update(reference.named)
        self.named: dict[str, Schema]
        self._schema, self.named = parse_named(text, known)
        for record in _records(self._schema, set()):
            for field in record.fields:
                if field.default is not NO_DEFAULT:
                    encoded_default(field)
        value = text.strip() if text.strip() in PRIMITIVES else json.loads(text)
        self.text = json.dumps(_ordered(value, "", False), separators=(",", ":"), ensure_ascii=False)
        self.normalized = json.dumps(_ordered(value, "", True), separators=(",", ":"), ensure_ascii=False)

    def reasons_not_to_read(self, writer: AvroSchema) -> list[str]:
        """Return why this schema cannot read values of another one; empty if it can."""
        return [
            f"{{errorType:'{kind}', description:\"{description}\", additionalInfo:'{detail}'}}"
            for kind, _, description, detail in incompatibilities(self._schema, writer._schema)
        ]


def _records(schema: Schema, seen: set[int]) -> Iterator[Record]:
    """Yield each record type in a schema once."""
    if id(schema) in seen:
        return
    seen.add(id(schema))
    inner: list[Schema] = []
    if isinstance(schema, Record):
        yield schema
        inner = [field.type for field in schema.fields]
    elif isinstance(schema, Union):
        inner = list(schema.branches)
    elif isinstance(schema, Array):
        inner = [schema.items]
    elif isinstance(schema, Map):
        inner = [schema.values]
    for each in inner:
        yield from _records(each, seen)


def _ordered(value: Any, namespace: str, is_sorted: bool) -> Any:
    """Order a type's properties as the Java library does; names are relative to a namespace."""
    if isinstance(value, str):
        return _relative(value, namespace)
    if isinstance(value, list):
        return [_ordered(each, namespace, is_sorted) for each in value]
    kind = value["type"]
    if not isinstance(kind, str):
        return _ordered(kind, namespace, is_sorted)
    if kind in PRIMITIVES and len(value) == 1:
        return kind
    if kind not in _ORDER and kind not in PRIMITIVES:
        return _relative(kind, namespace)
    made: dict[str, Any] = {"type": kind}
    if "name" in value:
        space, _, name = value["name"].rpartition(".")
        space = space or (namespace if value.get("namespace") is None else value["namespace"])
        made["name"] = name
        if space != namespace:
            made["namespace"] = space
        namespace = space
    order = _ORDER.get(kind, ("type",))
    for key in order[1:]:
        if key not in made and key != "namespace" and value.get(key) is not None:
            made[key] = value[key]
    if "fields" in made:
        made["fields"] = [_ordered_field(each, namespace, is_sorted) for each in made["fields"]]
    for key in ("items", "values"):
        if key in made and kind in ("array", "map"):
            made[key] = _ordered(made[key], namespace, is_sorted)
    return made | _further(value, (*order, "namespace", "aliases"), is_sorted) | _aliases(value)


def _ordered_field(field: dict[str, Any], namespace: str, is_sorted: bool) -> dict[str, Any]:
    made = {key: field[key] for key in _FIELD_ORDER if key in field and (key == "default" or field[key] is not None)}
    made["type"] = _ordered(field["type"], namespace, is_sorted)
    if made.get("order") == "ascending":
        del made["order"]
    if not made.get("aliases", True):
        del made["aliases"]
    return made | _further(field, _FIELD_ORDER, is_sorted)


def _further(value: dict[str, Any], known: tuple[str, ...], is_sorted: bool) -> dict[str, Any]:
    """Return the properties that are not part of Avro's grammar, including logical types."""
    names = [key for key in value if key not in known]
    return {key: value[key] for key in (sorted(names) if is_sorted else names)}


def _aliases(value: dict[str, Any]) -> dict[str, Any]:
    return {"aliases": value["aliases"]} if value.get("aliases") else {}


def _relative(name: str, namespace: str) -> str:
    space, dot, short = name.rpartition(".")
    return short if dot and space == namespace else name


__all__ = ["AvroSchema", "AvroSchemaError"]
