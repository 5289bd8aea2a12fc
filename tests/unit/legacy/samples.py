"""Sample messages, generated from schemas, and schemas as text."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

_VALUES: dict[str, Callable[[int], Any]] = {
    "Boolean": lambda number: number % 2 == 0,
    "Float64": lambda number: number + 0.5,
    "TaggedFields": lambda number: {},
    "BitField": lambda number: {number % 32},
    **dict.fromkeys(("Int8", "Int16", "Int32", "Int64"), lambda number: number % 100),
    **dict.fromkeys(("String", "CompactString"), lambda number: f"t{number}"),
    **dict.fromkeys(("Bytes", "CompactBytes", "Records"), lambda number: f"b{number}".encode()),
}


def kind(field: Any) -> str:
    """Return the name of a type, which is a class or an instance."""
    return field.__name__ if isinstance(field, type) else type(field).__name__


def sample(field: Any, numbers: count[int] | None = None) -> Any:
    """Return a value of a type: arrays have two elements, all other values are consecutive numbers."""
    numbers = count(1) if numbers is None else numbers
    number = next(numbers)
    if kind(field) in _VALUES:
        return _VALUES[kind(field)](number)
    if kind(field) == "Schema":
        return tuple(sample(part, numbers) for part in field.fields)
    return [sample(field.array_of, numbers), sample(field.array_of, numbers)]


def text(field: Any) -> str:
    """Format a schema as text."""
    if kind(field) == "Schema":
        fields = zip(field.names, field.fields, strict=True)
        return f"({', '.join(f'{name} {text(part)}' for name, part in fields)})"
    if kind(field) in ("Array", "CompactArray"):
        return f"{'compact ' if kind(field) == 'CompactArray' else ''}[{text(field.array_of)}]"
    return kind(field).replace("Records", "Bytes")
