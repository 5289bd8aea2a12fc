"""Converts values of Python's and Arrow's types to JSON's types."""

from __future__ import annotations

import datetime
import enum
import uuid
from collections.abc import Callable, Mapping
from typing import Any


def plain_value(value: Any, of_scalar: Callable[[Any], Any]) -> Any:
    """Convert a value to JSON's types: dates, times and UUIDs become texts, members of enums their values.

    Args:
        value: the value; the contents of dicts, lists, tuples and sets are converted, too.
        of_scalar: converts everything else, such as numbers and bytes.
    """
    if isinstance(value, Mapping):
        return {name: plain_value(each, of_scalar) for name, each in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain_value(each, of_scalar) for each in value]
    if isinstance(value, enum.Enum):
        return plain_value(value.value, of_scalar)
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    return str(value) if isinstance(value, uuid.UUID) else of_scalar(value)
