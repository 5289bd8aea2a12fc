"""Converts values of Avro's primitive and logical types to JSON and back.

Numbers and booleans become JSON numbers and booleans; values of all other types become strings. Bytes are written in
hexadecimal, decimals as their digits, dates and times in ISO 8601, and the numbers that JSON lacks as "NaN", "Infinity"
and "-Infinity".
"""

from __future__ import annotations

import json
import math
import re
import struct
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any, TypeAlias

from kafka.formats.avro.resolution import units
from kafka.formats.avro.schema import AvroDuration, Enum, Fixed, Logical, Primitive

Scalar: TypeAlias = Primitive | Fixed | Enum

_RANGES = {"int": 1 << 31, "long": 1 << 63}
_NOT_NUMBERS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_HEX = re.compile(r"(?:[0-9a-fA-F]{2})*\Z")
_DECIMAL = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,6})?\Z")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")
_CLOCK = r"[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.([0-9]{1,9}))?)?"
_TIME = re.compile(_CLOCK + r"\Z")
_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ]" + _CLOCK + r"(Z|[+-][0-9]{2}:?[0-9]{2}(?::[0-9]{2})?)?\Z")
_DIGITS = {1_000: 3, 1_000_000: 6, 1_000_000_000: 9}
_ZERO = datetime(1970, 1, 1)
_NANOS = 1_000_000_000


class UnfitError(ValueError):
    """A JSON value does not fit a type; the message says what was expected and found."""


def unfit(expected: str, given: Any) -> UnfitError:
    """Make the error for an unexpected JSON value."""
    shown = json.dumps(given, ensure_ascii=False, default=str)
    return UnfitError(f"expected {expected}, got {shown if len(shown) <= 60 else shown[:57] + '...'}")


def scalar_json(schema: Scalar, value: Any) -> Any:
    """Convert a decoded value to JSON.

    Arguments:
        schema: the value's type.
        value: a value as returned by `AvroObjectDecoder`.
    """
    if isinstance(value, float):
        if not math.isfinite(value):
            return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        return _shortest(value) if schema.kind == "float" else value
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value).hex()
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, AvroDuration):
        return value._asdict()
    if isinstance(value, (date, time)):
        return value.isoformat()
    logical = None if isinstance(schema, Enum) else schema.logical
    if logical is not None and logical.name.endswith("-nanos") and isinstance(value, int):
        seconds, nanos = divmod(value, _NANOS)
        zone = "" if logical.name.startswith("local-") else "+00:00"
        return f"{(_ZERO + timedelta(seconds=seconds)).isoformat()}.{nanos:09d}{zone}"
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


def _shortest(number: float) -> float:
    """Return the number with the fewest digits that rounds to the same 32-bit float."""
    packed = struct.pack("<f", number)
    for digits in range(1, 9):
        short = float(f"{number:.{digits}g}")
        if abs(short) < 3.4e38 and struct.pack("<f", short) == packed:
            return short
    return number


def scalar_value(schema: Scalar, given: Any) -> Any:
    """Convert JSON to an object for `AvroObjectEncoder`; raises `UnfitError` if it does not fit the type.

    Arguments:
        schema: the type.
        given: JSON as returned by `json.loads(..., parse_float=Decimal)`.
    """
    if isinstance(schema, Enum):
        if given not in schema.symbols:
            raise unfit(f"one of {', '.join(schema.symbols):.200}", given)
        return given
    if schema.logical is not None:
        return _logical(schema, schema.logical, given)
    if isinstance(schema, Fixed):
        return _bytes(given, f"{schema.size} bytes in hexadecimal", schema.size)
    return _primitive(schema.kind, given)


def _primitive(kind: str, given: Any) -> Any:
    if kind in _RANGES:
        return _integer(kind, given)
    if kind in ("float", "double"):
        return _floating(kind, given)
    if kind == "bytes":
        return _bytes(given, "bytes in hexadecimal", None)
    wanted = {"null": type(None), "boolean": bool, "string": str}[kind]
    if not isinstance(given, wanted):
        raise unfit("null" if kind == "null" else f"a {kind}", given)
    return given


def _integer(kind: str, given: Any) -> int:
    most = _RANGES[kind]
    if type(given) is not int or not -most <= given < most:
        raise unfit(f"an {kind}" if kind == "int" else f"a {kind}", given)
    return given


def _floating(kind: str, given: Any) -> float:
    if isinstance(given, str) and given in _NOT_NUMBERS:
        return _NOT_NUMBERS[given]
    if type(given) is int or isinstance(given, (Decimal, float)):
        try:
            number = float(given)
            struct.pack("<f" if kind == "float" else "<d", number)
        except OverflowError:
            number = math.inf
        if math.isfinite(number):
            return number
    raise unfit(f"a {kind}", given)


def _bytes(given: Any, expected: str, size: int | None) -> bytes:
    if not isinstance(given, str) or not _HEX.match(given) or size not in (None, len(given) // 2):
        raise unfit(expected, given)
    return bytes.fromhex(given)


def _logical(schema: Primitive | Fixed, logical: Logical, given: Any) -> Any:
    name = logical.name
    if name == "decimal":
        return _decimal(logical, given)
    if name == "uuid":
        if not isinstance(given, str) or not _UUID.match(given):
            raise unfit("a UUID", given)
        return given if schema.kind == "string" else bytes.fromhex(given.replace("-", ""))
    if name == "duration":
        return _duration(given)
    if type(given) is int:  # a value of the underlying type
        return _integer(schema.kind, given)
    try:
        if name == "date":
            if isinstance(given, str) and _DATE.match(given):
                return date.fromisoformat(given)
        elif isinstance(given, str):
            made = _time(logical, given) if name.startswith("time-") else _moment(logical, given)
            if made is not None:
                return made
    except (ValueError, OverflowError):
        pass  # an invalid date such as February 30 gets the same error as other text
    raise unfit(_expected(name), given)


def _expected(name: str) -> str:
    if name == "date":
        return "a date such as 2026-01-31"
    digits = _DIGITS[units(Logical(name))]
    behind = f", with at most {digits} digits of a second"
    if name.startswith("time-"):
        return f"a time such as 23:59:59{behind}"
    if name.startswith("local-"):
        return f"a time without a time zone such as 2026-01-31T23:59:59{behind}"
    return f"a time with its time zone such as 2026-01-31T23:59:59Z{behind}"


def _decimal(logical: Logical, given: Any) -> Decimal:
    number = None
    if type(given) is float:
        given = Decimal(repr(given))  # the same digits as in JSON
    if type(given) is int or isinstance(given, Decimal) or (isinstance(given, str) and _DECIMAL.match(given)):
        try:
            number = Decimal(given)
        except InvalidOperation:
            number = None
    if number is not None and _fits(number, logical):
        return number
    behind = f", {logical.scale} of them behind the point" if logical.scale else ""
    raise unfit(f"a decimal of at most {logical.precision} digits{behind}", given)


def _fits(number: Decimal, logical: Logical) -> bool:
    """Return whether a decimal fits the precision and scale of its type."""
    _, digits, exponent = number.as_tuple()
    if not isinstance(exponent, int):
        return False
    if not number:
        return True
    needed = "".join(map(str, digits)).rstrip("0")
    exponent += len(digits) - len(needed)
    return exponent >= -logical.scale and len(needed) + exponent + logical.scale <= logical.precision


def _duration(given: Any) -> AvroDuration:
    parts = AvroDuration._fields
    if isinstance(given, dict) and given.keys() == set(parts):
        values = [given[part] for part in parts]
        if all(type(each) is int and 0 <= each < 1 << 32 for each in values):
            return AvroDuration(*values)
    raise unfit('a duration such as {"months":1,"days":2,"milliseconds":3}', given)


def _fraction(found: re.Match[str], logical: Logical) -> int | None:
    """Return the fraction of a second in nanoseconds; None if it is more precise than the type."""
    digits = (found[1] or "").rstrip("0")
    return None if len(digits) > _DIGITS[units(logical)] else int(digits.ljust(9, "0"))


def _whole(text: str, found: re.Match[str]) -> str:
    """Return the text of a time without the fraction of a second."""
    return text if found[1] is None else text[: found.start(1) - 1] + text[found.end(1) :]


def _time(logical: Logical, given: str) -> time | None:
    found = _TIME.match(given)
    fraction = None if found is None else _fraction(found, logical)
    if found is None or fraction is None:
        return None
    return time.fromisoformat(_whole(given, found)).replace(microsecond=fraction // 1000)


def _moment(logical: Logical, given: str) -> datetime | int | None:
    found = _MOMENT.match(given)
    fraction = None if found is None else _fraction(found, logical)
    is_local = logical.name.startswith("local-")
    if found is None or fraction is None or is_local == (found[2] is not None):
        return None
    moment = datetime.fromisoformat(_whole(given, found))
    if not logical.name.endswith("-nanos"):
        return moment.replace(microsecond=fraction // 1000)
    since = (moment if is_local else moment.astimezone(UTC).replace(tzinfo=None)) - _ZERO
    return _integer("long", (since.days * 86_400 + since.seconds) * _NANOS + fraction)
