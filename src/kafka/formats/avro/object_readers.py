# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Reads Avro primitive types, fixed types, enums and logical types as objects.

Logical types are dates, times, timestamps, decimals, UUIDs and durations.

Compiled with Cython; the plain variant behaves the same.
"""

from __future__ import annotations

import decimal
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from uuid import UUID

try:
    import cython
except ImportError:  # the plain variant needs no Cython
    from kafka import _cython as cython

from kafka.formats.avro.cursor import NO_INTEGER, TOO_SHORT
from kafka.formats.avro.schema import AvroDuration

if cython.compiled:
    from cython.cimports.cpython.bytes import PyBytes_FromStringAndSize
    from cython.cimports.cpython.datetime import import_datetime, time_new, timedelta_new
    from cython.cimports.cpython.unicode import PyUnicode_DecodeUTF8
    from cython.cimports.kafka.formats.avro.cursor import Cursor, ObjectReader, read_length
    from cython.cimports.kafka.formats.byte_operations import double_at, float_at, whole_as_float
    from cython.cimports.kafka.record.integers import read_varint

    import_datetime()
else:
    from kafka.formats.avro.cursor import Cursor, ObjectReader, read_length
    from kafka.formats.byte_operations import double_at, float_at, whole_as_float
    from kafka.record.integers import read_varint


@cython.cfunc
@cython.inline
def _bytes_at(cursor: Cursor, size: cython.Py_ssize_t) -> bytes:
    """Return the next `size` bytes and move past them; the caller has checked the bounds."""
    at: cython.Py_ssize_t = cursor.at
    cursor.at = at + size
    if cython.compiled:
        if size == 0:
            return b""
        return PyBytes_FromStringAndSize(cython.cast(cython.p_char, cython.address(cursor.data[at])), size)
    return bytes(cursor.data[at : at + size])


@cython.final
@cython.cclass
class NullObject(ObjectReader):
    """Reads null, which takes no bytes."""

    @cython.cfunc
    def read(self, cursor: Cursor) -> Any:
        return None


@cython.final
@cython.cclass
class BooleanObject(ObjectReader):
    """Reads a boolean."""

    @cython.cfunc
    def read(self, cursor: Cursor) -> Any:
        value: cython.uchar
        if cursor.at >= cursor.end:
            return cursor.refuse(TOO_SHORT)
        value = cursor.data[cursor.at]
        if value > 1:
            return cursor.refuse(f"expected a boolean, 0 or 1, got the byte {value}")
        cursor.at += 1
        return value == 1


@cython.final
@cython.cclass
class IntegerObject(ObjectReader):
    """Reads an int or a long within bounds, and converts it to another unit by multiplying or dividing."""

    least: cython.longlong
    most: cython.longlong
    times: cython.longlong
    divisor: cython.longlong

    def __init__(
        self, least: cython.longlong, most: cython.longlong, times: cython.longlong = 1, divisor: cython.longlong = 1
    ) -> None:
        self.least, self.most = least, most
        self.times, self.divisor = times, divisor

    @cython.cfunc
    def read(self, cursor: Cursor) -> Any:
        value: cython.longlong
        at: cython.Py_ssize_t
        value, at = read_varint(cursor.data, cursor.at, cursor.end)
        if at < 0:
            return cursor.refuse(NO_INTEGER)
        if value < self.least or value > self.most:
            return cursor.refuse(f"expected a number from {self.least} to {self.most}, got {value}")
        cursor.at = at
        if self.times != 1:
            value *= self.times
        elif self.divisor != 1:
            if value < 0:  # C division truncates; round down like Python
                value = -((-(value + 1)) // self.divisor) - 1
            else:
                value //= self.divisor
        return value


@cython.final
@cython.cclass
class WholeFloatObject(ObjectReader):
    """Reads an int or a long as a float or a double."""

    is_int: cython.bint
    is_float: cython.bint

    def __init__(self, is_int: cython.bint, is_float: cython.bint) -> None:
        self.is_int, self.is_float = is_int, is_float

    @cython.cfunc
    def read(self, cursor: Cursor) -> Any:
        value: cython.longlong
        at: cython.Py_ssize_t
        value, at = read_varint(cursor.data, cursor.at, cursor.end)
        if at < 0:
            return cursor.refuse(NO_INTEGER)
        if self.is_int and (value < -0x80000000 or value > 0x7FFFFFFF):
            return cursor.refuse(f"expected an int of 32 bits, got {value}")
        cursor.at = at
        if self.is_float:
            return whole_as_float(value)
        return cython.cast(cython.double, value)


@cython.final
@cython.cclass
class FloatObject(ObjectReader):
    """Reads a float."""

    @cython.cfunc
    def read(self, cursor: Cursor) -> Any:
        if cursor.end - cursor.at < 4:
            return cursor.refuse(TOO_SHORT)
        cursor.at += 4
        return float_at(cursor.data, cursor.at - 4)


@cython.final
@cython.cclass
class DoubleObject(ObjectReader):
    """Reads a double."""

    @cython.cfunc
    def read(self, cursor: Cursor) -> Any:
        if cursor.end - cursor.at < 8:
            return cursor.refuse(TOO_SHORT)
        cursor.at += 8
        return double_at(cursor.data, cursor.at - 8)


@cython.final
@cython.cclass
class BytesObject(ObjectReader):
    """Reads bytes."""

    @cython.cfunc
    def read(self, cursor: Cursor) -> Any:
        size: cython.Py_ssize_t = read_length(cursor)
        if size < 0:
            return cursor
        return _bytes_at(cursor, size)


@cython.cfunc
def read_text(cursor: Cursor) -> Any:
    """Read a string and check that it is UTF-8; returns the cursor if it is invalid."""
    at: cython.Py_ssize_t
    size: cython.Py_ssize_t = read_length(cursor)
    if size < 0:
        return cursor
    if size == 0:
        return ""
    at = cursor.at
    try:
        if cython.compiled:
            text = PyUnicode_DecodeUTF8(cython.cast(cython.p_char, cython.address(cursor.data[at])), size, cython.NULL)
        else:
            text = str(cursor.data[at : at + size], "utf-8")
    except UnicodeDecodeError:
        return cursor.refuse(f"expected a string in UTF-8, got {bytes(cursor.data[at : at + size])!r:.60}")
    cursor.at = at + size
    return text


@cython.final
@cython.cclass
class TextObject(ObjectReader):
    """Reads a string."""

    @cython.cfunc
    def read(self, cursor: Cursor) -> Any:
        return read_text(cursor)


@cython.final
@cython.cclass
class FixedObject(ObjectReader):
    """Reads a fixed number of bytes."""

    size: cython.Py_ssize_t

    def __init__(self, size: cython.Py_ssize_t) -> None:
        self.size = size

    @cython.cfunc
    def read(self, cursor: Cursor) -> Any:
        if cursor.end - cursor.at < self.size:
            return cursor.refuse(TOO_SHORT)
        return _bytes_at(cursor, self.size)


@cython.final
@cython.cclass
class EnumObject(ObjectReader):
    """Reads an enum index; `targets` maps it to the reader's symbol or default, or to None if there is neither."""

    symbols: tuple[str, ...]
    targets: tuple[Any, ...]

    def __init__(self, symbols: tuple[str, ...], targets: tuple[Any, ...]) -> None:
        self.symbols, self.targets = symbols, targets

    @cython.cfunc
    def read(self, cursor: Cursor) -> Any:
        value: cython.longlong
        at: cython.Py_ssize_t
        value, at = read_varint(cursor.data, cursor.at, cursor.end)
        if at < 0:
            return cursor.refuse(NO_INTEGER)
        if value < 0 or value >= len(self.symbols):
            return cursor.refuse(f"expected the number of one of {len(self.symbols)} symbols, got {value}")
        target = self.targets[value]
        if target is None:
            return cursor.refuse(f"the reader's enum has neither the symbol {self.symbols[value]} nor a default")
        cursor.at = at
        return target


EPOCH = cython.declare(object, datetime(1970, 1, 1, tzinfo=UTC))
LOCAL_EPOCH = cython.declare(object, datetime(1970, 1, 1))
_ORDINAL = cython.declare(cython.longlong, date(1970, 1, 1).toordinal())
_LAST_DAY = cython.declare(cython.longlong, date.max.toordinal() - date(1970, 1, 1).toordinal())
_EXPONENTS = cython.declare(list, [10**digits for digits in range(100)])


@cython.final
@cython.cclass
class DateObject(ObjectReader):
    """Reads days since 1970-01-01 as a date."""

    days: ObjectReader

    def __init__(self, days: ObjectReader) -> None:
        self.days = days

    @cython.cfunc
    def read(self, cursor: Cursor) -> Any:
        count: cython.longlong
        at: cython.Py_ssize_t = cursor.at
        value = self.days.read(cursor)
        if value is cursor:
            return cursor
        count = value
        if count <= -_ORDINAL or count > _LAST_DAY:
            cursor.at = at
            return cursor.refuse(f"expected a date of the years 1 to 9999, got day {count} since 1970")
        return date.fromordinal(count + _ORDINAL)


@cython.final
@cython.cclass
class TimeObject(ObjectReader):
    """Reads a time of day in units of `unit` microseconds; `count` reads the number and checks its bounds."""

    count: ObjectReader
    unit: cython.longlong

    def __init__(self, count: ObjectReader, unit: cython.longlong) -> None:
        self.count, self.unit = count, unit

    @cython.cfunc
    def read(self, cursor: Cursor) -> Any:
        micros: cython.longlong
        seconds: cython.longlong
        value = self.count.read(cursor)
        if value is cursor:
            return cursor
        micros = cython.cast(cython.longlong, value) * self.unit
        seconds = micros // 1_000_000
        if cython.compiled:
            return time_new(seconds // 3600, seconds // 60 % 60, seconds % 60, micros % 1_000_000, None)
        return time(seconds // 3600, seconds // 60 % 60, seconds % 60, micros % 1_000_000)


@cython.final
@cython.cclass
class TimestampObject(ObjectReader):
    """Reads milliseconds or microseconds since 1970-01-01 as a datetime in UTC; local timestamps are naive."""

    count: ObjectReader
    per_second: cython.longlong
    least: cython.longlong
    most: cython.longlong
    epoch: Any

    def __init__(self, count: ObjectReader, per_second: cython.longlong, is_local: cython.bint) -> None:
        self.count, self.per_second = count, per_second
        self.least = (1 - _ORDINAL) * 86_400 * per_second
        self.most = (_LAST_DAY + 1) * 86_400 * per_second - 1
        self.epoch = LOCAL_EPOCH if is_local else EPOCH

    @cython.cfunc
    def read(self, cursor: Cursor) -> Any:
        count: cython.longlong
        seconds: cython.longlong
        rest: cython.longlong
        days: cython.longlong
        at: cython.Py_ssize_t = cursor.at
        value = self.count.read(cursor)
        if value is cursor:
            return cursor
        count = value
        if count < self.least or count > self.most:
            cursor.at = at
            return cursor.refuse(f"expected a timestamp of the years 1 to 9999, got {count}")
        if count >= 0:  # C division truncates; round down like Python
            seconds = count // self.per_second
        else:
            seconds = -((-(count + 1)) // self.per_second) - 1
        rest = count - seconds * self.per_second
        days = seconds // 86_400 if seconds >= 0 else -((-(seconds + 1)) // 86_400) - 1
        seconds -= days * 86_400
        if cython.compiled:
            return self.epoch + timedelta_new(days, seconds, rest * (1_000_000 // self.per_second))
        return self.epoch + timedelta(days, seconds, rest * (1_000_000 // self.per_second))


@cython.final
@cython.cclass
class DecimalObject(ObjectReader):
    """Reads a decimal from bytes (`size` is -1) or from a fixed type."""

    size: cython.Py_ssize_t
    precision: Any
    scale: Any
    context: Any

    def __init__(self, size: cython.Py_ssize_t, precision: int, scale: int) -> None:
        self.size, self.precision, self.scale = size, precision, scale
        self.context = decimal.Context(
            prec=min(precision, decimal.MAX_PREC), Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX
        )

    @cython.cfunc
    def read(self, cursor: Cursor) -> Any:
        size: cython.Py_ssize_t = self.size
        start: cython.Py_ssize_t
        if size < 0:
            size = read_length(cursor)
            if size < 0:
                return cursor
        elif cursor.end - cursor.at < size:
            return cursor.refuse(TOO_SHORT)
        start = cursor.at
        number = int.from_bytes(bytes(cursor.data[start : start + size]), "big", signed=True)
        if self.precision <= 2.5 * size and abs(number) >= _power(self.precision):  # a byte has fewer than 2.41 digits
            return cursor.refuse(f"expected a decimal of at most {self.precision} digits")
        cursor.at = start + size
        made = decimal.Decimal(number)
        return made.scaleb(-self.scale, self.context) if self.scale else made


@cython.cfunc
def _power(digits: Any) -> Any:
    """Return the smallest number with more than `digits` digits."""
    return _EXPONENTS[digits] if digits < 100 else 10**digits


@cython.final
@cython.cclass
class TextUuidObject(ObjectReader):
    """Reads a UUID from a string."""

    @cython.cfunc
    def read(self, cursor: Cursor) -> Any:
        at: cython.Py_ssize_t = cursor.at
        text = read_text(cursor)
        if text is cursor:
            return cursor
        try:
            return UUID(text)
        except ValueError:
            cursor.at = at
            return cursor.refuse(f"expected a UUID, got {text!r:.60}")


@cython.final
@cython.cclass
class UuidObject(ObjectReader):
    """Reads a UUID from 16 bytes."""

    @cython.cfunc
    def read(self, cursor: Cursor) -> Any:
        if cursor.end - cursor.at < 16:
            return cursor.refuse(TOO_SHORT)
        cursor.at += 16
        return UUID(bytes=bytes(cursor.data[cursor.at - 16 : cursor.at]))


@cython.final
@cython.cclass
class DurationObject(ObjectReader):
    """Reads months, days and milliseconds."""

    @cython.cfunc
    def read(self, cursor: Cursor) -> Any:
        if cursor.end - cursor.at < 12:
            return cursor.refuse(TOO_SHORT)
        cursor.at += 12
        data = bytes(cursor.data[cursor.at - 12 : cursor.at])
        return AvroDuration(*(int.from_bytes(data[part : part + 4], "little") for part in (0, 4, 8)))
