"""Compares two values of records. The result is True, False, or None for unknown, as in SQL.

Values are comparable if they have the same type: numbers with numbers, text with text, booleans with booleans. Bytes of
a whole key, value or header have no type of their own and take that of the other side: they are read as UTF-8 for a
text, and as JSON for a number or boolean. Everything else is unknown.
"""

import datetime
import enum
import json
import math
import operator
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from kafka.filters.record_fields import MISSING, parsed_json
from kafka.filters.times import instant_of, of_datetime

_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_LONGEST_SCALAR = 4_000
"""Bytes of a whole value that may be read as a number or boolean."""


def compared(symbol: str, left: Any, right: Any) -> bool | None:
    """Compare two values with an operator: = != < <= > >= or contains."""
    if left is MISSING or left is None or right is MISSING or right is None:
        return None
    if symbol == "contains":
        return contains(left, right)
    left, right = _pair(left, right)
    if type(left) is not type(right) or left is None:
        return None
    return bool(_OPERATORS[symbol](left, right))


def contains(left: Any, right: Any) -> bool | None:
    """Return whether a text contains another one, or whether a list has an element equal to the other value."""
    if isinstance(left, list | tuple):
        results = [compared("=", each, right) for each in left]
        return True if True in results else None if None in results and len(left) == results.count(None) else False
    part = text_of(right) if isinstance(right, str | bytes) else None
    whole = text_of(left)
    return None if part is None or whole is None else part in whole


def text_of(value: Any) -> str | None:
    """Return a value as text for patterns; objects and lists become JSON. None if it is neither."""
    if isinstance(value, str):
        return value.value if isinstance(value, enum.Enum) else value
    if isinstance(value, bytes | bytearray):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return None
    if isinstance(value, Mapping | list | tuple):
        try:
            return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_plain)
        except (ValueError, TypeError, RecursionError):
            return None
    value = scalar(value)
    return value if isinstance(value, str) else None


def _plain(value: Any) -> Any:
    """Return a value for `json.dumps`: decimals as numbers, everything unknown as text."""
    return (int(value) if value == value.to_integral_value() else float(value)) if _is_small(value) else str(value)


def _is_small(value: Any) -> bool:
    return isinstance(value, Decimal) and value.is_finite() and abs(value.adjusted()) < 300


def scalar(value: Any) -> Decimal | str | bool | datetime.datetime | None:
    """Convert a value to one of the types that are compared; None if there is none.

    Numbers become `decimal.Decimal`: a float has the value of its shortest decimal form, so that 0.1 equals 0.1. NaN is
    unknown.
    """
    if isinstance(value, bool):
        return value
    if isinstance(value, enum.Enum):
        value = value.value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int):
        return Decimal(value)
    if isinstance(value, float):
        return None if math.isnan(value) else Decimal(repr(value))
    if isinstance(value, Decimal):
        return None if value.is_nan() else value
    if isinstance(value, datetime.datetime):
        return value
    return None if value is None or isinstance(value, Mapping | list | tuple | set | bytes | bytearray) else str(value)


def number_of(value: Any) -> Decimal | None:
    """Return a number, or the number that a text or bytes contain; None for other values."""
    if isinstance(value, str | bytes):
        value = parsed_json(value.strip()) if len(value) <= _LONGEST_SCALAR else None
    found = scalar(value)
    return found if isinstance(found, Decimal) else None


def _pair(left: Any, right: Any) -> tuple[Any, Any]:
    """Convert two values to comparable ones, given the type of the other one."""
    if isinstance(left, bytes | bytearray) and isinstance(right, bytes | bytearray):
        return bytes(left), bytes(right)
    if isinstance(left, bytes | bytearray):
        right = scalar(right)
        left = _as_type_of(bytes(left), right)
    elif isinstance(right, bytes | bytearray):
        left = scalar(left)
        right = _as_type_of(bytes(right), left)
    left, right = scalar(left), scalar(right)
    if isinstance(left, datetime.datetime) or isinstance(right, datetime.datetime):
        return _as_time(left), _as_time(right)
    return left, right


def _as_type_of(data: bytes, other: Any) -> Any:
    if isinstance(other, bool | Decimal):
        return parsed_json(data) if len(data) <= _LONGEST_SCALAR else None
    return text_of(data)


def _as_time(value: Any) -> Decimal | None:
    """Return milliseconds since 1970 for a time, or for a text that is one."""
    if isinstance(value, datetime.datetime):
        return scalar_number(of_datetime(value))
    if isinstance(value, str):
        return scalar_number(instant_of(value))
    return value if isinstance(value, Decimal) else None


def scalar_number(value: float | int | None) -> Decimal | None:
    """Return a number as `decimal.Decimal`; None stays None."""
    return None if value is None else Decimal(repr(value))
