"""Enum members by value or by name."""

import contextlib
from enum import Enum
from typing import Any, TypeVar

E = TypeVar("E", bound=Enum)


def answered_member(kind: type[E], value: object) -> E:
    """The member for a value in a response; UNKNOWN for a value of a later Kafka, as in Java."""
    try:
        return kind(value)
    except ValueError:
        return kind["UNKNOWN"]


class EnumHelper:
    """For an enum: finds members by value, or by name however it is written."""

    @classmethod
    def build_from(cls: Any, val: Any) -> Any:
        """Give the member for a member, a value or a name; `ValueError` if there is none."""
        with contextlib.suppress(ValueError):
            return cls(val)
        try:
            return cls[str(val).strip().upper().replace("-", "_")]
        except KeyError:
            raise ValueError(f"Unrecognized {cls.__name__}: {val}") from None

    @classmethod
    def value_for(cls: Any, val: Any) -> Any:
        """Give the value of such a member."""
        return cls.build_from(val).value
