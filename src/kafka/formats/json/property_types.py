"""The types that a JSON Schema allows for the properties of an object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka.formats.json.schema_nodes import Document, Node

_MOST_LEVELS = 50
"""Maximum depth of combined schemas; deeper or recursive ones are ignored."""
_NAMES = ((bool, "boolean"), ((int, float), "number"), (str, "string"), (dict, "object"), (list, "array"))


def property_types(schema: Any, references: Mapping[str, Any]) -> dict[str, set[str] | None]:
    """Return the names of types by the names of properties, None for any type; integers are "number".

    Args:
        schema: as returned by `json.loads`.
        references: the schemas that it and they refer to, by the names in ``$ref``.

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
