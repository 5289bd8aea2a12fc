"""Represents JSON Schemas as trees of requirements, for comparing them and listing their properties.

A node requires one type, or combines other nodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from kafka.formats.json.errors import JsonSchemaError

_KEYWORDS: Mapping[str, tuple[str, ...]] = {
    "array": ("items", "prefixItems", "additionalItems", "minItems", "maxItems", "uniqueItems", "contains"),
    "object": (
        *("properties", "required", "additionalProperties", "patternProperties", "propertyNames"),
        *("minProperties", "maxProperties", "dependencies", "dependentRequired", "dependentSchemas"),
    ),
    "string": ("minLength", "maxLength", "pattern", "format"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
}
"""Keywords by the type that they imply if a schema does not state one."""
_TYPES = ("string", "number", "integer", "boolean", "null", "object", "array")
_IN_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_IN_OBJECTS = ("properties", "patternProperties", "definitions", "$defs", "dependentSchemas", "dependencies")
_IN_VALUES = (
    *("items", "additionalItems", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"),
    *("unevaluatedItems", "unevaluatedProperties"),
)
_MAX_REFERENCES = 100


@dataclass(frozen=True, eq=False, slots=True)
class Node:
    """The requirement that a schema, or a part of a schema, expresses.

    Attributes:
        kind: "true" (anything), "false" (nothing), a type (integers are "number"), "enum", "const", "not",
            "conditional" or "combined".
        schema: the keywords.
        document: the document in which references are looked up.
        criterion: for "combined": "allOf", "anyOf" or "oneOf".
        parts: for "combined": the combined nodes.
    """

    kind: str
    schema: Any
    document: Document
    criterion: str = ""
    parts: tuple[Any, ...] = ()

    @property
    def is_integer(self) -> bool:
        """Whether a number must be an integer."""
        return bool(self.schema.get("type") == "integer")


class Document:
    """A JSON Schema with the schemas that it refers to."""

    def __init__(self, root: Any, references: Mapping[str, Document]) -> None:
        """Check the schema.

        Args:
            root: a dict or a boolean.
            references: the schemas that it refers to, by the names used in the references.

        Raises:
            JsonSchemaError: a keyword has an invalid value, or a reference cannot be resolved.
        """
        self.root = root
        self._base = root["$id"] if isinstance(root, dict) and isinstance(root.get("$id"), str) else ""
        self._documents: dict[str, Document] = {}
        self._anchors: dict[str, Any] = {}
        for name, document in references.items():
            self._documents[name] = self._documents[urljoin(self._base, name)] = document
            if document._base:
                self._documents.setdefault(urldefrag(document._base).url, document)
        parts = list(_walked(root, "#"))
        for part, _ in parts:
            if isinstance(part, dict):
                for key in ("$anchor", "$id", "id"):
                    if isinstance(part.get(key), str):
                        self._anchors[part[key].removeprefix("#")] = part
        for part, path in parts:
            if isinstance(part, dict) and isinstance(part.get("$ref"), str):
                self._target(part["$ref"], path)

    def node(self, schema: Any) -> Node:
        """Return the node for a part of the schema, following references."""
        document = self
        for _ in range(_MAX_REFERENCES):
            if not isinstance(schema, dict) or not isinstance(schema.get("$ref"), str):
                return document._node(schema)
            document, schema = document._target(schema["$ref"], schema["$ref"])
        raise JsonSchemaError("expected a JSON Schema, got references that only refer to each other")

    def _node(self, schema: Any) -> Node:
        if schema is False:
            return Node("false", {}, self)
        if schema is True:
            return Node("true", {}, self)
        found = self._typed(schema)
        for key, kind in (("enum", "enum"), ("const", "const"), ("not", "not"), ("if", "conditional")):
            if key in schema:
                found.append(Node(kind, schema, self))
        found += [
            Node("combined", schema, self, key, tuple(schema[key]))
            for key in ("allOf", "anyOf", "oneOf")
            if schema.get(key)
        ]
        if not found:
            return Node("true", schema, self)
        return found[0] if len(found) == 1 else Node("combined", schema, self, "allOf", tuple(found))

    def _typed(self, schema: dict[str, Any]) -> list[Node]:
        type_ = schema.get("type")
        if type_ is None:
            kinds = [kind for kind, keys in _KEYWORDS.items() if any(key in schema for key in keys)]
            return [Node(kinds[0], schema, self)] if kinds else []
        if isinstance(type_, str):
            return [Node(_kind(type_), schema, self)]
        each = tuple(Node(_kind(name), {**schema, "type": name}, self) for name in type_)
        return [Node("combined", schema, self, "anyOf", each)]

    def _target(self, reference: str, path: str) -> tuple[Document, Any]:
        where, fragment = urldefrag(reference)
        document = self if where in ("", self._base, urldefrag(self._base).url) else self._documents.get(where)
        if document is None:
            document = self._documents.get(urljoin(self._base, where))
        if document is None:
            if reference in self._anchors:
                return self, self._anchors[reference]
            raise JsonSchemaError(f"{path} refers to {reference!r}, which is not among the schema's references")
        value = document.root
        if not fragment:
            return document, value
        if not fragment.startswith("/"):
            if fragment not in document._anchors:
                raise JsonSchemaError(f"{path} refers to {reference!r}, which does not exist")
            return document, document._anchors[fragment]
        for part in unquote(fragment)[1:].split("/"):
            name = part.replace("~1", "/").replace("~0", "~")
            try:
                value = value[int(name)] if isinstance(value, list) else value[name]
            except (LookupError, TypeError, ValueError):
                raise JsonSchemaError(f"{path} refers to {reference!r}, which does not exist") from None
        return document, value


def _kind(type_: str) -> str:
    return "number" if type_ == "integer" else type_


def _walked(schema: Any, path: str) -> Iterator[tuple[Any, str]]:
    """Yield a schema and its subschemas, each with its path; raises `JsonSchemaError` for an invalid one."""
    if isinstance(schema, bool):
        yield schema, path
        return
    if not isinstance(schema, dict):
        raise JsonSchemaError(f"{path}: expected an object or a boolean, got {schema!r:.60}")
    _check(schema, path)
    yield schema, path
    for key, value in schema.items():
        if key in _IN_LISTS or (key == "items" and isinstance(value, list)):
            if not isinstance(value, list) or not value:
                raise JsonSchemaError(f"{path}/{key}: expected a list of schemas, got {value!r:.60}")
            for at, each in enumerate(value):
                yield from _walked(each, f"{path}/{key}/{at}")
        elif key in _IN_OBJECTS:
            if not isinstance(value, dict):
                raise JsonSchemaError(f"{path}/{key}: expected an object, got {value!r:.60}")
            for name, each in value.items():
                if key != "dependencies" or not isinstance(each, list):
                    yield from _walked(each, f"{path}/{key}/{name}")
        elif key in _IN_VALUES:
            yield from _walked(value, f"{path}/{key}")


def _check(schema: dict[str, Any], path: str) -> None:
    type_ = schema.get("type", "null")
    names = type_ if isinstance(type_, list) and type_ else [type_]
    for name in names:
        if name not in _TYPES:
            raise JsonSchemaError(f"{path}/type: expected one of {', '.join(_TYPES)}, got {name!r:.60}")
    for key, kinds, expected in _CHECKED:
        if key in schema and (not isinstance(schema[key], kinds) or (key in _NUMBERS and schema[key] is True)):
            raise JsonSchemaError(f"{path}/{key}: expected {expected}, got {schema[key]!r:.60}")


_NUMBERS = (
    *("minimum", "maximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems"),
    *("minProperties", "maxProperties"),
)
_CHECKED: tuple[tuple[str, tuple[type, ...], str], ...] = (
    ("required", (list, bool), "a list of names"),
    ("enum", (list,), "a list"),
    ("pattern", (str,), "a text"),
    ("$ref", (str,), "a text"),
    *((each, (int, float), "a number") for each in _NUMBERS),
)


_MOST_LEVELS = 50
"""Maximum nesting depth of combined schemas; more deeply nested or recursive ones are ignored."""
_NAMES = ((bool, "boolean"), ((int, float), "number"), (str, "string"), (dict, "object"), (list, "array"))


def property_types(schema: Any, references: Mapping[str, Any]) -> dict[str, set[str] | None]:
    """Return the type names for each property, or None if the property allows any type; integers are "number".

    Args:
        schema: a schema as returned by `json.loads`.
        references: the schemas that the schema refers to, directly or indirectly, by the names in ``$ref``.

    Raises:
        JsonSchemaError: a reference cannot be resolved.
    """
    documents: dict[str, Document] = {}
    for name, each in references.items():
        documents[name] = Document(each, documents)
    found: dict[str, set[str] | None] = {}
    _collect(Document(schema, documents).node(schema), found, _MOST_LEVELS)
    return found


def _collect(node: Node, found: dict[str, set[str] | None], levels: int) -> None:
    """Add the properties of an object, or of all objects that a node combines."""
    if levels == 0:
        return
    for part in _parts(node):
        _collect(part, found, levels - 1)
    if node.kind != "object":
        return
    for name, each in node.schema.get("properties", {}).items():
        types = _types(node.document.node(each), levels - 1)
        if name in found:
            before = found[name]
            types = None if types is None or before is None else types | before
        found[name] = types


def _types(node: Node, levels: int) -> set[str] | None:
    if levels == 0 or node.kind in ("true", "not", "conditional"):
        return None
    if node.kind == "false":
        return set()
    if node.kind == "const":
        return {_name_of(node.schema["const"])}
    if node.kind == "enum":
        return {_name_of(each) for each in node.schema["enum"]}
    if node.kind != "combined":
        return {node.kind}
    parts = [_types(each, levels - 1) for each in _parts(node)]
    known = [each for each in parts if each is not None]
    if node.criterion == "allOf":
        return set.intersection(*known) if known else None
    return set().union(*known) if len(known) == len(parts) else None


def _parts(node: Node) -> list[Node]:
    return [each if isinstance(each, Node) else node.document.node(each) for each in node.parts]


def _name_of(value: Any) -> str:
    return next((name for types, name in _NAMES if isinstance(value, types)), "null")
