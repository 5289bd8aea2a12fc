"""Finds enum members by value or by name."""

import contextlib
from enum import Enum
from typing import Any, TypeVar

E = TypeVar("E", bound=Enum)


def answered_member(kind: type[E], value: object) -> E:
    """Return the member for a value in a response; UNKNOWN for a value from a later version of Kafka, as in Java."""
    try:
        return kind(value)
    except ValueError:
        return kind["UNKNOWN"]


class EnumHelper:
    """Mixin for enums: finds members by value, or by name in any case, with "-" or "_"."""

    @classmethod
    def build_from(cls: Any, val: Any) -> Any:
        """Convert a member, a value or a name to an enum member. Raises `ValueError` if it does not exist."""
        with contextlib.suppress(ValueError):
            return cls(val)
        try:
            return cls[str(val).strip().upper().replace("-", "_")]
        except KeyError:
            raise ValueError(f"Unrecognized {cls.__name__}: {val}") from None

    @classmethod
    def value_for(cls: Any, val: Any) -> Any:
        """Return the value of the member that `build_from` finds."""
        return cls.build_from(val).value
