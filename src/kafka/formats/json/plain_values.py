"""Values of Python's and Arrow's types as JSON has them."""

from __future__ import annotations

import datetime
import enum
import uuid
from collections.abc import Callable, Mapping
from typing import Any


def plain_value(value: Any, of_scalar: Callable[[Any], Any]) -> Any:
    """Return what JSON has: of dates and times and of UUIDs the text, of a member of an enum its value.

    Args:
        value: whatever stands in dicts, lists, tuples and sets is looked at, too.
        of_scalar: makes what JSON has of anything else, such as numbers and bytes.
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
