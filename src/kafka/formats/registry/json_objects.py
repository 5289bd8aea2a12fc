"""Base classes for dataclasses that map to the registry's JSON objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from enum import Enum
from typing import Any, ClassVar, Self, TypeVar

T = TypeVar("T")
E = TypeVar("E", bound=Enum)
Readers = Mapping[str, Callable[[Any], Any]]
"""Functions by field name. Each converts the JSON value, or None if it is missing, to the field's value."""


class JsonObject:
    """Base class for dataclasses that are converted to the registry's JSON and back.

    JSON names are in camelCase. None is not written, and missing members are read as None.
    """

    _READ: ClassVar[Readers] = {}
    """Readers for the fields whose values differ from the JSON values."""

    def to_dict(self) -> dict[str, Any]:
        """Return a dict for the registry's REST API, with its names in camel case."""
        return given(**{name: _plain(getattr(self, attribute)) for attribute, name in _names(type(self))})

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        """Make an object from a JSON object of the registry's REST API.

        Arguments:
            src_dict: the parsed JSON object, with the API's names in camel case.
        """
        return cls(*[cls._READ.get(attribute, _same)(src_dict.get(name)) for attribute, name in _names(cls)])


class JsonMembers:
    """Base class for dataclasses with a single field, a dict of all members of the JSON object."""

    def to_dict(self) -> dict[str, Any]:
        """Return a dict for the registry's REST API, with its names in camel case."""
        [(attribute, _)] = _names(type(self))
        return dict(getattr(self, attribute))

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        """Make an object from a JSON object of the registry's REST API.

        Arguments:
            src_dict: the parsed JSON object, with the API's names in camel case.
        """
        return cls(dict(src_dict))  # type: ignore[call-arg]  # a dataclass


def given(**values: Any) -> dict[str, Any]:
    """Make a JSON object from the arguments that are not None."""
    return {name: value for name, value in values.items() if value is not None}


def optional(read: Callable[[Any], T]) -> Callable[[Any], T | None]:
    """Return a function that reads a value, and returns None for None."""
    return lambda value: None if value is None else read(value)


def listed(read: Callable[[Any], T]) -> Callable[[Any], list[T]]:
    """Return a function that reads each item of a list; None becomes an empty list."""
    return lambda items: [read(each) for each in items or ()]


def member(kind: type[E]) -> Callable[[Any], E | str | None]:
    """Return a function that reads an enum member; an unknown value stays a string."""

    def read(value: Any) -> E | str | None:
        try:
            return None if value is None else kind(value)
        except ValueError:
            return str(value)

    return read


def is_true(value: Any) -> bool:
    """Read a boolean; a missing one is false."""
    return value is True


def _names(cls: type[Any]) -> list[tuple[str, str]]:
    """List the fields of a dataclass, each with its name in JSON."""
    names = []
    for each in fields(cls):
        first, *rest = each.name.split("_")
        names.append((each.name, first + "".join(map(str.capitalize, rest))))
    return names


def _same(value: Any) -> Any:
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return str(value)
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value.to_dict() if hasattr(value, "to_dict") else value
