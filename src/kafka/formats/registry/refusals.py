"""Explains in plain words why a schema registry refuses an incompatible schema.

The registry's text names differences in its own terms, such as READER_FIELD_MISSING_DEFAULT_VALUE. `explained` says
which part of the schema is concerned, what the compatibility mode demands, and what to do. To explain another kind of
difference, add it to `_KINDS`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_DIFFERENCE = re.compile(
    r"""errorType:\s*['"](?P<kind>\w+)['"]"""
    r"""(?:,\s*description:\s*(?P<quote>['"])(?P<text>.*?)(?P=quote)(?=\s*[,}]))?"""
    r"""(?:,\s*additionalInfo:\s*'(?P<info>.*?)'(?=\s*}))?"""
)
_PATH = re.compile(r"path '([^']*)'")
_LEVEL = re.compile(r"compatibility:\s*'(\w+)'")
_VERSION = re.compile(r"oldSchemaVersion:\s*(\d+)")
_OLD_SCHEMA = re.compile(r"oldSchema:\s*'(.*?)'}", re.DOTALL)
_MOST = 3
"""Maximum number of differences to explain."""

_DEMANDS = {
    "BACKWARD": "the new schema must read records of {version}",
    "FORWARD": "consumers with {version} must read new records",
    "FULL": "the new schema must read records of {version}, and consumers with it must read new records",
}
_NUMBERED = "the type of the field '{path}' has changed; keep it, or add a field with a new number"
_KINDS = {
    "TYPE_MISMATCH": "the type at '{path}' has changed ({info}); keep it, or add a field with another name and a "
    "default",
    "MISSING_UNION_BRANCH": "the union at '{path}' lacks a type that the other schema has ({info}); keep the type",
    "MISSING_ENUM_SYMBOLS": "the enum at '{path}' lacks the symbols {info}; keep them, or give the enum a default",
    "NAME_MISMATCH": "the name at '{path}' has changed ({info}); keep the name, or list the old one in its aliases",
    "FIXED_SIZE_MISMATCH": "the size at '{path}' has changed ({info}); keep it, or add a field with another name and a "
    "default",
    "TYPE_CHANGED": "the type at '{path}' has changed; keep it, or allow both types",
    "TYPE_NARROWED": "the type at '{path}' allows only whole numbers now; keep the type 'number'",
    "REQUIRED_ATTRIBUTE_ADDED": "'{path}' is required now, but older values may lack it; do not require it, or give it "
    "a default",
    "REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL": "the property '{path}' is new and required, but older values "
    "lack it; do not require it, or give it a default",
    "PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL": "the property '{path}' is new, but the older schema allowed it with any "
    "type; if that does not occur, register the schema with compatibility NONE, and with additionalProperties: false "
    "from then on",
    "PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL": "the property '{path}' was removed, but older values have it, and "
    "additionalProperties is false; keep the property",
    "ENUM_ARRAY_NARROWED": "the enum at '{path}' lacks values that older records may have; keep them",
    "ENUM_ARRAY_CHANGED": "the enum at '{path}' lacks values that older records may have; keep them",
    "FIELD_SCALAR_KIND_CHANGED": _NUMBERED,
    "FIELD_KIND_CHANGED": _NUMBERED,
    "FIELD_NAMED_TYPE_CHANGED": _NUMBERED,
    "MESSAGE_REMOVED": "the message '{path}' was removed; keep it",
    "PACKAGE_CHANGED": "the package has changed; keep its name",
    "REQUIRED_FIELD_ADDED": "the required field '{path}' is new, but older records lack it; make it optional",
    "REQUIRED_FIELD_REMOVED": "the required field '{path}' was removed, but older consumers need it; keep it",
}


class _Refusal(NamedTuple):
    level: str | None
    version: str
    old_schema: str


def explained(message: str) -> str:
    """Return a sentence about the differences in a registry's message; "" if it names none.

    Arguments:
        message: the text of the registry, or several of them in one text.
    """
    found = list(_DIFFERENCE.finditer(message))
    if not found:
        return ""
    level, version, schema = _LEVEL.search(message), _VERSION.search(message), _OLD_SCHEMA.search(message)
    refusal = _Refusal(
        None if level is None else level[1],
        f"version {version[1]}" if version else "the earlier version",
        "" if schema is None else schema[1],
    )
    differences = list(dict.fromkeys(_difference(each, refusal) for each in found))
    more = f"; and {len(differences) - _MOST} more" if len(differences) > _MOST else ""
    return f"the schema is incompatible{_mode(refusal)}: {'; '.join(differences[:_MOST])}{more}"


def _mode(refusal: _Refusal) -> str:
    if refusal.level is None:
        return f" with {refusal.version}"
    base = refusal.level.removesuffix("_TRANSITIVE")
    demand = _DEMANDS.get(base)
    if demand is None:
        return f" with {refusal.version} (compatibility {refusal.level})"
    return f" with {refusal.version} (compatibility {refusal.level}: {demand.format(version=refusal.version)})"


def _difference(match: re.Match[str], refusal: _Refusal) -> str:
    kind, text, info = match["kind"], match["text"] or "", match["info"] or ""
    path = _PATH.search(text)
    where = path[1] if path else "/"
    if kind == "READER_FIELD_MISSING_DEFAULT_VALUE":
        return _without_default(info or where, text, refusal)
    if kind in _KINDS:
        text = _KINDS[kind] if info else _KINDS[kind].replace(" ({info})", "").replace("the symbols {info}", "symbols")
        return text.format(path=where, info=info)
    return f"{kind.replace('_', ' ').lower()} at '{where}'"


def _without_default(field: str, text: str, refusal: _Refusal) -> str:
    """Explain a field that only one of the schemas has: the new one, or the earlier one."""
    if " in the new schema has no default" in text:
        is_new = True
    elif " in the old schema has no default" in text:
        is_new = False
    else:  # the text names reader and writer only
        level = refusal.level or "BACKWARD"
        is_new = level.startswith("BACKWARD") or (level.startswith("FULL") and f'"{field}"' not in refusal.old_schema)
    if is_new:
        return f"the field {field!r} is new and has no default, but older records lack it; add a default"
    return (
        f"the field {field!r} was removed, but {refusal.version} has no default for it, so its consumers need it; keep "
        "the field, or set the compatibility to BACKWARD if all consumers get the new schema first"
    )
