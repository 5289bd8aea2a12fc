"""Builds error responses to requests of any API, for `Faults.fail` and for failed handlers.

A response contains the request's entries (topics, partitions, groups, resources), each with the error.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final
from uuid import UUID

from kafka.wire import Message
from kafka.wire.kinds import Kind
from kafka.wire.structs import Field

ERRORS: Final = frozenset({"error_code", "partition_error_code"})
_SAME: Final = (
    frozenset({"name", "topic"}),
    frozenset({"partition", "partition_index", "index"}),
    frozenset({"group_id", "key", "name"}),
)
_TEXTS: Final = ("name", "group_id", "key", "transactional_id")
_NUMBERS: Final = ("partition_index", "partition", "index")

Matches = Callable[[str | UUID], bool]


def error_answer(request: Any, version: int, code: int) -> Message:
    """Return the response to a request with the given version, with the error code in every error field."""
    response: Message = type(request).RESPONSE()
    _fill(request, response, version, code)
    return response


def _fill(source: Any, target: Any, version: int, code: int) -> None:
    for field in target.FIELDS:
        if not field.in_version(version):
            continue
        if field.name in ERRORS:
            setattr(target, field.name, code)
        elif field.kind is Kind.ARRAY and field.struct is not None and has_error(field.struct):
            entries = _entries_for(field, source, version)
            setattr(target, field.name, [_made(field.struct, one, version, code) for one in entries])
        elif field.kind is Kind.RECORDS and not field.nullable_in(version):
            setattr(target, field.name, b"")
        elif field.kind is not Kind.ARRAY:
            _copy(source, target, field)


def _made(kind: Any, source: Any, version: int, code: int) -> Any:
    made = kind()
    if isinstance(source, str | int):
        names = _TEXTS if isinstance(source, str) else _NUMBERS
        setattr(made, next(name for name in names if hasattr(kind, name)), source)
        source = None
    _fill(source, made, version, code)
    return made


def _copy(source: Any, target: Any, field: Field) -> None:
    if source is None:
        return
    names = [field.name, *(name for group in _SAME if field.name in group for name in group)]
    for name in names:
        found = getattr(source, name, None)
        if isinstance(found, str | int | UUID):
            setattr(target, field.name, found)
            return


def _entries_for(field: Field, source: Any, version: int) -> list[Any]:
    """Return the request's entries that correspond to an array field of the response."""
    arrays = [one for one in source.FIELDS if one.kind is Kind.ARRAY and one.in_version(version)] if source else []
    chosen = [one for one in arrays if one.name == field.name] or arrays
    return list(getattr(source, chosen[0].name) or ()) if chosen else []


def has_error(struct: Any) -> bool:
    """Return whether a struct, or one nested in it, has an error field."""
    return any(one.name in ERRORS or (one.struct is not None and has_error(one.struct)) for one in struct.FIELDS)


# -- splitting requests and merging responses -------------------------------------------------------------------------


def topic_entries(request: Message, version: int) -> Iterator[tuple[str, list[Any]]]:
    """Yield the request fields that list topics, with their entries."""
    for field in request.FIELDS:
        if field.kind is not Kind.ARRAY or not field.in_version(version):
            continue
        entries = getattr(request, field.name) or []
        of_topics = "topic" in field.name and "config" not in field.name
        if field.name == "groups" or not of_topics:
            continue
        yield field.name, entries


def topic_key(entry: Any) -> str | UUID | None:
    """Return the topic name or id in an entry; None if the entry has neither."""
    if isinstance(entry, str):
        return entry
    name = getattr(entry, "name", None) or getattr(entry, "topic", None)
    found: str | UUID | None = name or getattr(entry, "topic_id", None)
    return found


def split(request: Any, version: int, matches: Matches) -> tuple[Any, Any]:
    """Split a request into the part for matching topics and the rest, which is None if it is empty."""
    about, rest = _copied(request), _copied(request)
    left = False
    for name, entries in topic_entries(request, version):
        chosen = [one for one in entries if (key := topic_key(one)) is not None and matches(key)]
        others = [one for one in entries if not any(one is it for it in chosen)]
        setattr(about, name, chosen)
        setattr(rest, name, others)
        left = left or bool(others)
    return about, rest if left else None


def _copied(request: Any) -> Any:
    copied = type(request)()
    copied.__dict__.update(request.__dict__)
    return copied


def merged(answer: Any, other: Any) -> Any:
    """Append the entries of `other` to `answer`; they are the responses to two parts of one request."""
    for field in answer.FIELDS:
        if field.kind is Kind.ARRAY and field.struct is not None and has_error(field.struct):
            setattr(answer, field.name, [*getattr(answer, field.name), *getattr(other, field.name)])
    return answer
