"""Successful responses of every API, generated from the message declarations.

Each array of structs has one element, and fields that name a resource have the names below: topic "t" with partition
0, group "g", user "u", and so on.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kafka.wire.kinds import Kind
from kafka.wire.structs import Struct

NAMES: dict[str, Any] = {
    **dict.fromkeys(("name", "topic", "topic_name", "resource_name"), "t"),
    **dict.fromkeys(("node_id", "broker_id", "leader_id", "controller_id"), 1),
    "group_id": "g",
    "member_id": "m",
    "transactional_id": "x",
    "transaction_state": "Ongoing",
    "user": "u",
    "entity_type": "user",
    "entity_name": "u",
    "feature": "f",
    "resource_type": 2,
    "pattern_type": 3,
    "operation": 3,
    "permission_type": 3,
}

Path = tuple[str, ...]
"""Names of nested fields, from the outermost."""


def good_answer(kind: type[Struct], version: int, **names: Any) -> Any:
    """Return a version of a response without errors; ``names`` override the names above."""
    known = {**NAMES, **names}
    fields: dict[str, Any] = {}
    for field in kind.FIELDS:
        if not field.in_version(version):
            continue
        if field.kind is Kind.ARRAY and field.struct is not None:
            fields[field.name] = [good_answer(field.struct, version, **names)]
        elif field.kind is Kind.STRUCT and field.struct is not None and field.default is not None:
            fields[field.name] = good_answer(field.struct, version, **names)
        elif field.name in known:
            fields[field.name] = known[field.name]
    return kind(**fields)


def error_paths(kind: type[Struct], version: int) -> Iterator[Path]:
    """Yield the paths of the error codes in a version of a response."""
    for field in kind.FIELDS:
        if not field.in_version(version):
            continue
        if field.struct is not None:
            for path in error_paths(field.struct, version):
                yield (field.name, *path)
        elif field.name.endswith("error_code"):
            yield (field.name,)


def with_code(answer: Any, path: Path, code: int) -> Any:
    """Set the error code at a path; return the response."""
    *outer, last = path
    place = answer
    for name in outer:
        place = getattr(place, name)
        if isinstance(place, list):
            (place,) = place
    setattr(place, last, code)
    return answer
