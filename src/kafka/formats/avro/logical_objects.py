# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Readers of Avro's logical types that return objects: dates, times, decimals, UUIDs, durations.

Compiled by Cython; the plain variant behaves the same.
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

from kafka.formats.avro.cursor import TOO_SHORT
from kafka.formats.avro.duration import AvroDuration

if cython.compiled:
    from cython.cimports.cpython.datetime import import_datetime, time_new, timedelta_new
    from cython.cimports.kafka.formats.avro.cursor import Cursor, ObjectReader, read_length
    from cython.cimports.kafka.formats.avro.object_readers import read_text

    import_datetime()
else:
    from kafka.formats.avro.cursor import Cursor, ObjectReader, read_length
    from kafka.formats.avro.object_readers import read_text

EPOCH = cython.declare(object, datetime(1970, 1, 1, tzinfo=UTC))
LOCAL_EPOCH = cython.declare(object, datetime(1970, 1, 1))
_ORDINAL = cython.declare(cython.longlong, date(1970, 1, 1).toordinal())
_LAST_DAY = cython.declare(cython.longlong, date.max.toordinal() - date(1970, 1, 1).toordinal())
_EXPONENTS = cython.declare(list, [10**digits for digits in range(100)])


@cython.final
@cython.cclass
class DateObject(ObjectReader):
    """Reads days since 1970 as a date."""

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
    """Reads a time of day; `count` reads it within bounds, in units of `unit` microseconds."""

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
    """Reads milliseconds or microseconds since 1970 as a datetime in UTC, or a local one without a time zone."""

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
        if count >= 0:  # rounded down, in C and in Python
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
    """Reads a decimal on bytes (`size` is -1) or on a fixed number of bytes."""

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
        if self.precision <= 2.5 * size and abs(number) >= _power(self.precision):  # a byte has less than 2.41 digits
            return cursor.refuse(f"expected a decimal of at most {self.precision} digits")
        cursor.at = start + size
        made = decimal.Decimal(number)
        return made.scaleb(-self.scale, self.context) if self.scale else made


@cython.cfunc
def _power(digits: Any) -> Any:
    """Return the least number with more digits."""
    return _EXPONENTS[digits] if digits < 100 else 10**digits


@cython.final
@cython.cclass
class TextUuidObject(ObjectReader):
    """Reads a UUID in text."""

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
    """Reads a UUID of 16 bytes."""

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
