"""Checks whether a new JSON Schema allows all values of an old one, by the rules of Confluent's schema registry.

An open object allows additional properties, which a new property must not restrict. A closed object may gain optional
properties, but not lose any. Conditions (``if``) and formats are not compared.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from kafka.formats.json.schema_nodes import Document, Node


class Incompatibility(NamedTuple):
    """One reason why the new schema may not allow values of the old one.

    Attributes:
        kind: the incompatibility's name in Confluent's registry, such as PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL.
        path: the position in the schema, such as ``#/properties/amount``.
    """

    kind: str
    path: str


def incompatibilities(old: Document, new: Document) -> list[Incompatibility]:
    """Return the reasons why the new schema does not allow all values of the old one; empty if it does."""
    comparison = _Comparison()
    comparison.compare(old.node(old.root), new.node(new.root), "#")
    return comparison.found


class _Comparison:
    """One comparison, which assumes that pairs of nodes still being compared are compatible."""

    def __init__(self, open_pairs: frozenset[tuple[int, int]] = frozenset()) -> None:
        self.found: list[Incompatibility] = []
        self._open = open_pairs

    def compare(self, old: Node | None, new: Node | None, path: str) -> None:
        """Compare two nodes at a path. None means that the node is missing."""
        if new is None:
            return
        if old is None:
            self._add("SCHEMA_ADDED", path)
            return
        if self._is_covered(old, new, path):
            return
        if old.kind != new.kind:
            if old.kind != "false" and new.kind != "true":
                self._add("TYPE_CHANGED", path)
            return
        pair = (id(old.schema), id(new.schema))
        if pair in self._open and old.kind in ("object", "array", "combined"):
            return
        before, self._open = self._open, self._open | {pair}
        match old.kind:
            case "string":
                self._strings(old, new, path)
            case "number":
                self._numbers(old, new, path)
            case "object":
                self._objects(old, new, path)
            case "array":
                self._arrays(old, new, path)
            case "combined":
                self._combined(old, new, path)
            case "enum":
                self._enums(old, new, path)
            case "const":
                if old.schema["const"] != new.schema["const"]:
                    self._add("ENUM_ARRAY_CHANGED", f"{path}/const")
            case "not":
                if self._reasons(_part(new, "not"), _part(old, "not"), path):
                    self._add("NOT_TYPE_EXTENDED", f"{path}/not")
        self._open = before

    def _add(self, kind: str, path: str) -> None:
        if (made := Incompatibility(kind, path)) not in self.found:
            self.found.append(made)

    def _reasons(self, old: Node | None, new: Node | None, path: str) -> list[Incompatibility]:
        """Return the incompatibilities between two nodes without adding them to this comparison."""
        comparison = _Comparison(self._open)
        comparison.compare(old, new, path)
        return comparison.found

    def _is_covered(self, old: Node, new: Node, path: str) -> bool:
        """Return whether a single node and a combination of nodes (on either side) are compatible."""
        if old.kind != "combined" and new.kind == "combined":
            parts = _parts(new)
            if len(parts) == 1 or new.criterion in ("anyOf", "oneOf"):
                return any(not self._reasons(old, each, path) for each in parts)
        elif old.kind == "combined" and new.kind != "combined":
            parts = _parts(old)
            return len(parts) == 1 and not self._reasons(parts[0], new, path)
        return False

    # -- limits -------------------------------------------------------------------------------------------------------

    def _highest(self, old: Any, new: Any, name: str, path: str) -> None:
        if new is not None and (old is None or new < old):
            self._add(f"{_constant(name)}_{'ADDED' if old is None else 'DECREASED'}", f"{path}/{name}")

    def _lowest(self, old: Any, new: Any, name: str, path: str) -> None:
        if new is not None and (old is None or new > old):
            self._add(f"{_constant(name)}_{'ADDED' if old is None else 'INCREASED'}", f"{path}/{name}")

    def _limits(self, old: Node, new: Node, what: str, path: str) -> None:
        for name, compare in ((f"max{what}", self._highest), (f"min{what}", self._lowest)):
            compare(old.schema.get(name), new.schema.get(name), name, path)

    def _strings(self, old: Node, new: Node, path: str) -> None:
        self._limits(old, new, "Length", path)
        before, after = old.schema.get("pattern"), new.schema.get("pattern")
        if after is not None and after != before:
            self._add("PATTERN_ADDED" if before is None else "PATTERN_CHANGED", f"{path}/pattern")

    def _numbers(self, old: Node, new: Node, path: str) -> None:
        for name, compare in (("maximum", self._highest), ("minimum", self._lowest)):
            exclusive = f"exclusive{name.capitalize()}"
            for key, is_exclusive in ((name, False), (exclusive, True)):
                compare(_bound(old, name, is_exclusive), _bound(new, name, is_exclusive), key, path)
        before, after = old.schema.get("multipleOf"), new.schema.get("multipleOf")
        if after is not None and after != before:
            if before is None:
                self._add("MULTIPLE_OF_ADDED", f"{path}/multipleOf")
            elif not after or before % after:
                is_wider = before and not after % before
                self._add(f"MULTIPLE_OF_{'EXPANDED' if is_wider else 'CHANGED'}", f"{path}/multipleOf")
        if new.is_integer and not old.is_integer:
            self._add("TYPE_NARROWED", path)

    def _enums(self, old: Node, new: Node, path: str) -> None:
        before, after = ({_text(each) for each in node.schema["enum"]} for node in (old, new))
        if before - after:
            self._add(f"ENUM_ARRAY_{'CHANGED' if after - before else 'NARROWED'}", f"{path}/enum")

    # -- objects ------------------------------------------------------------------------------------------------------

    def _objects(self, old: Node, new: Node, path: str) -> None:
        before, after = (_object(node, "properties") for node in (old, new))
        required = [_names(node) for node in (old, new)]
        for name in before:
            if name in after and name in required[1] - required[0] and not _has_default(after[name]):
                self._add("REQUIRED_ATTRIBUTE_ADDED", f"{path}/required/{name}")
        for name in sorted({**before, **after}):
            at = f"{path}/properties/{name}"
            if name not in after:
                self._property_removed(old, new, name, at)
            elif name not in before:
                self._property_added(old, new, name, at)
            else:
                self.compare(old.document.node(before[name]), new.document.node(after[name]), at)
        self._dependencies(old, new, f"{path}/dependencies")
        self._additional(old, new, "Properties", f"{path}/additionalProperties")
        self._limits(old, new, "Properties", path)

    def _property_removed(self, old: Node, new: Node, name: str, path: str) -> None:
        if _is_open(new):
            return
        before, covering = old.document.node(old.schema["properties"][name]), _covering(new, name)
        if covering is None:
            if before.kind != "false":
                self._add("PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL", path)
        elif reasons := self._reasons(before, covering, path):
            self.found += [each for each in reasons if each not in self.found]
            self._add("PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", path)

    def _property_added(self, old: Node, new: Node, name: str, path: str) -> None:
        after = new.document.node(new.schema["properties"][name])
        if _is_open(old):
            if after.kind != "true":
                self._add("PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL", path)
            return
        covering = _covering(old, name)
        if covering is not None and (reasons := self._reasons(covering, after, path)):
            self.found += [each for each in reasons if each not in self.found]
            self._add("PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", path)
        if name in _names(new) and not _has_default(new.schema["properties"][name]):
            self._add("REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL", path)

    def _dependencies(self, old: Node, new: Node, path: str) -> None:
        before, after = _dependencies(old), _dependencies(new)
        for name, wanted in after.items():
            had = before.get(name)
            kind = "ARRAY" if isinstance(wanted, list) else "SCHEMA"
            if had is None or isinstance(had, list) != isinstance(wanted, list):
                self._add(f"DEPENDENCY_{kind}_ADDED", f"{path}/{name}")
            elif not isinstance(wanted, list):
                self.compare(old.document.node(had), new.document.node(wanted), f"{path}/{name}")
            elif set(wanted) - set(had):
                is_more = not set(had) - set(wanted)
                self._add(f"DEPENDENCY_ARRAY_{'EXTENDED' if is_more else 'CHANGED'}", f"{path}/{name}")

    def _additional(self, old: Node, new: Node, what: str, path: str) -> None:
        """Compare the schemas of additional properties or items."""
        before, after = _further(old, what), _further(new, what)
        if (before is False) != (after is False):
            if after is False:
                self._add(f"ADDITIONAL_{what.upper()}_REMOVED", path)
        elif before is True and after is not True:
            self._add(f"ADDITIONAL_{what.upper()}_NARROWED", path)
        elif isinstance(before, dict) and isinstance(after, dict):
            self.compare(old.document.node(before), new.document.node(after), path)

    # -- arrays -------------------------------------------------------------------------------------------------------

    def _arrays(self, old: Node, new: Node, path: str) -> None:
        (all_before, before), (all_after, after) = _items(old), _items(new)
        self.compare(all_before, all_after, f"{path}/items")
        for at in range(max(len(before), len(after))):
            where = f"{path}/items/{at}"
            if at >= len(after):
                self._item_gone(before[at], new, where)
            elif at >= len(before):
                self._item_new(old, after[at], where)
            else:
                self.compare(before[at], after[at], where)
        self._additional(old, new, "Items", f"{path}/additionalItems")
        self._limits(old, new, "Items", path)
        if new.schema.get("uniqueItems") is True and old.schema.get("uniqueItems") is not True:
            self._add("UNIQUE_ITEMS_ADDED", f"{path}/uniqueItems")
        for name in ("maxContains", "minContains"):
            if old.schema.get(name) != new.schema.get(name):
                self._add(f"{_constant(name)}_CHANGED", f"{path}/{name}")

    def _item_gone(self, before: Node, new: Node, path: str) -> None:
        further = _further(new, "Items")
        if further is True:
            return
        if further is False:
            if before.kind != "false":
                self._add("ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL", path)
        elif reasons := self._reasons(before, new.document.node(further), path):
            self.found += [each for each in reasons if each not in self.found]
            self._add("ITEM_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", path)

    def _item_new(self, old: Node, after: Node, path: str) -> None:
        further = _further(old, "Items")
        if further is True:
            if after.kind != "true":
                self._add("ITEM_ADDED_TO_OPEN_CONTENT_MODEL", path)
        elif further is not False and (reasons := self._reasons(old.document.node(further), after, path)):
            self.found += [each for each in reasons if each not in self.found]
            self._add("ITEM_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", path)

    # -- combinations -------------------------------------------------------------------------------------------------

    def _combined(self, old: Node, new: Node, path: str) -> None:
        before, after = _parts(old), _parts(new)
        if not _may_become(old.criterion, len(before), new.criterion, len(after)):
            self._add("COMBINED_TYPE_CHANGED", path)
            return
        if new.criterion == "allOf" and len(before) < len(after):
            self._add("PRODUCT_TYPE_EXTENDED", path)
        if new.criterion != "allOf" and len(before) > len(after):
            self._add("SUM_TYPE_NARROWED", path)
        partners = [
            [at for at, each in enumerate(after) if not self._reasons(part, each, f"{path}/{old.criterion}/{position}")]
            for position, part in enumerate(before)
        ]
        if _most_pairs(partners, len(after)) < min(len(before), len(after)):
            self._add("COMBINED_TYPE_SUBSCHEMAS_CHANGED", path)


def _may_become(old: str, old_size: int, new: str, new_size: int) -> bool:
    if old == new or new == "anyOf":
        return True
    return old_size == 1 and (new == "oneOf" or new_size == 1)


def _most_pairs(partners: Sequence[Sequence[int]], size: int) -> int:
    """Return the size of a maximum matching, which is found with augmenting paths."""
    taken: list[int | None] = [None] * size

    def has_partner(which: int, seen: set[int]) -> bool:
        for each in partners[which]:
            if each not in seen:
                seen.add(each)
                holder = taken[each]
                if holder is None or has_partner(holder, seen):
                    taken[each] = which
                    return True
        return False

    return sum(has_partner(which, set()) for which in range(len(partners)))


def _parts(node: Node) -> list[Node]:
    """Return the distinct parts of a combination."""
    found = [each if isinstance(each, Node) else node.document.node(each) for each in node.parts]
    return list({(each.kind, each.criterion, _text(each.schema)): each for each in found}.values())


def _part(node: Node, name: str) -> Node:
    return node.document.node(node.schema[name])


def _object(node: Node, name: str) -> dict[str, Any]:
    value = node.schema.get(name)
    return value if isinstance(value, dict) else {}


def _names(node: Node) -> set[str]:
    required = node.schema.get("required")
    return {each for each in required if isinstance(each, str)} if isinstance(required, list) else set()


def _has_default(schema: Any) -> bool:
    return isinstance(schema, dict) and "default" in schema


def _is_open(node: Node) -> bool:
    return not _object(node, "patternProperties") and _further(node, "Properties") is True


def _covering(node: Node, name: str) -> Node | None:
    """Return the schema of a property that an object does not list."""
    for pattern, schema in _object(node, "patternProperties").items():
        try:
            if re.search(pattern, name):
                return node.document.node(schema)
        except re.error:
            continue
    further = _further(node, "Properties")
    return node.document.node(further) if isinstance(further, dict) else None


def _further(node: Node, what: str) -> Any:
    """Return the schema of additional properties or items: True, False or a schema."""
    schema = node.schema
    if what == "Items" and "prefixItems" in schema:
        value = schema.get("items", True)
    elif what == "Items" and not isinstance(schema.get("items"), list):
        value = True
    else:
        value = schema.get(f"additional{what}", True)
    return value if isinstance(value, (bool, dict)) else True


def _items(node: Node) -> tuple[Node | None, list[Node]]:
    """Return the schema of all items, and the schemas of the first items."""
    items, first = node.schema.get("items"), node.schema.get("prefixItems")
    if isinstance(first, list):
        return None, [node.document.node(each) for each in first]
    if isinstance(items, list):
        return None, [node.document.node(each) for each in items]
    return None if items is None else node.document.node(items), []


def _dependencies(node: Node) -> dict[str, Any]:
    return {
        **_object(node, "dependencies"),
        **_object(node, "dependentRequired"),
        **_object(node, "dependentSchemas"),
    }


def _bound(node: Node, name: str, is_exclusive: bool) -> Any:
    """Return a limit for numbers; in draft 4, a separate boolean says whether the limit is exclusive."""
    limit, exclusive = node.schema.get(name), node.schema.get(f"exclusive{name.capitalize()}")
    if isinstance(exclusive, bool):
        return limit if exclusive is is_exclusive else None
    return exclusive if is_exclusive else limit


def _constant(name: str) -> str:
    return re.sub(r"([A-Z])", r"_\1", name).upper()


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
