"""Checks and copies the arguments of admin calls, in the caller's thread.

Arguments may be generators, or instances of the caller's own mapping class. Iterating over them runs the caller's code,
which may sleep, raise, or call the client again, so it must not run on the loop. ``what`` names the argument in errors.
"""

import math
import operator
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar
from uuid import UUID

from kafka.admin.enums import EnumHelper
from kafka.errors import IllegalArgumentError, IllegalArgumentTypeError
from kafka.structs import TopicPartition

T = TypeVar("T")
E = TypeVar("E", bound=EnumHelper)

_LARGEST_INT32 = (1 << 31) - 1


def names(what: str, given: Iterable[str]) -> list[str]:
    """Return topic or group names as a list; a single name becomes a list of one."""
    return [name(what, each) for each in ([given] if isinstance(given, str) else elements(what, given))]


def name(what: str, given: object) -> str:
    """Check a topic or group name."""
    if not isinstance(given, str):
        raise IllegalArgumentTypeError(f"{what}: expected a str as name, got {given!r:.80}")
    return given


def names_or_ids(what: str, given: Iterable[str | UUID]) -> list[str | UUID]:
    """Return topic names or ids as a list; a single one becomes a list of one."""
    found = [given] if isinstance(given, str | UUID) else elements(what, given)
    return [each if isinstance(each, UUID) else name(what, each) for each in found]


def member(what: str, kind: type[E], given: object) -> E:
    """Return an enum member, given as the member itself, its value or its name."""
    try:
        found: E = kind.build_from(given)
    except ValueError:
        known = ", ".join(each.name.lower() for each in kind)  # type: ignore[attr-defined]  # it is an enum
        raise IllegalArgumentError(f"{what}: expected one of {known}, got {given!r:.80}") from None
    return found


def values_of(what: str, kind: type[E], given: Iterable[Any] | None) -> list[str]:
    """Return the values of enum members, each given as for `member`; an empty list for None."""
    return [str(kind.value_for(member(what, kind, each))) for each in elements(what, given or ())]


def indexes(what: str, given: Any) -> dict[str, list[int]] | None:
    """Return partition numbers by topic, given as a mapping of this form or as partitions; None stays None."""
    if given is None:
        return None
    if isinstance(given, Mapping):
        return {name(what, topic): numbers(what, each) for topic, each in given.items()}
    found: dict[str, list[int]] = {}
    for topic, index in partitions(what, given):
        found.setdefault(topic, []).append(index)
    return found


def instances(what: str, cls: type[T], given: T | Iterable[T]) -> list[T]:
    """Return instances of a class as a list; a single one becomes a list of one."""
    found = [given] if isinstance(given, cls) else elements(what, given)
    for each in found:
        if not isinstance(each, cls):
            raise IllegalArgumentTypeError(f"{what}: expected {cls.__name__} objects, got {type(each).__name__}")
    return found


def numbers(what: str, given: Iterable[int]) -> list[int]:
    """Return integers of any type as a list of ints."""
    return [number(what, each) for each in elements(what, given)]


def number(what: str, given: Any) -> int:
    """Return an integer of any type, such as NumPy's, as an int."""
    try:
        return operator.index(given)
    except TypeError:
        raise IllegalArgumentTypeError(f"{what}: expected a whole number, got {given!r:.80}") from None


def partition(what: str, given: object) -> TopicPartition:
    """Convert a `TopicPartition`, or a pair of topic and number, to a `TopicPartition`."""
    if not isinstance(given, tuple) or len(given) != 2:
        raise IllegalArgumentTypeError(f"{what}: expected a TopicPartition, got {given!r:.80}")
    return TopicPartition(name(what, given[0]), number(what, given[1]))


def partitions(what: str, given: object) -> list[TopicPartition]:
    """Return partitions as a list; a single `TopicPartition` becomes a list of one."""
    return [partition(what, each) for each in ([given] if isinstance(given, TopicPartition) else elements(what, given))]


def mapping(what: str, given: Any) -> dict[Any, Any]:
    """Copy a mapping into a dict."""
    if not isinstance(given, Mapping):
        raise IllegalArgumentTypeError(f"{what}: expected a dict, got {given!r:.80}")
    return dict(given)


def timeout(timeout_ms: Any) -> int | None:
    """Return a time limit in whole milliseconds, capped at the protocol's maximum; None stays None."""
    if timeout_ms is None:
        return None
    try:
        value = float(timeout_ms)
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if isinstance(timeout_ms, str) or not value >= 0:
        raise IllegalArgumentError(f"timeout_ms: expected milliseconds, 0 or more, got {timeout_ms!r:.80}")
    return int(min(value, _LARGEST_INT32))


def elements(what: str, given: object) -> list[Any]:
    """Return the elements of an iterable other than str and bytes."""
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise IllegalArgumentTypeError(f"{what}: expected a list, got {given!r:.80}")
    return list(given)


def as_text(value: Any) -> str | None:
    """Return the value of a setting as Kafka writes it; None stays None."""
    if isinstance(value, bool):
        return str(value).lower()
    return None if value is None else str(value)
