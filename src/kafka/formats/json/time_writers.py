# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Writers of dates and times in ISO 8601. Compiled by Cython; the plain variant behaves the same."""

from __future__ import annotations

from typing import Any

try:
    import cython
except ImportError:  # the plain variant needs no Cython
    from kafka import _cython as cython

from kafka.formats.json.output import view_of

if cython.compiled:
    from cython.cimports.kafka.formats.json.numbers_at import signed_at
    from cython.cimports.kafka.formats.json.output import Output, Writer
else:
    from kafka.formats.json.numbers_at import signed_at
    from kafka.formats.json.output import Output, Writer

BAD = cython.declare(cython.int, 1)
"""Returned by a writer for a value that JSON cannot represent."""
_FIRST_DAY = cython.declare(cython.longlong, -719162)
_LAST_DAY = cython.declare(cython.longlong, 2932896)
_YEARS = "expected a date between the years 1 and 9999, got"


@cython.cfunc
@cython.exceptval(check=False)
def _down(value: cython.longlong, divisor: cython.longlong) -> cython.longlong:
    """Return a quotient, rounded down in C as in Python."""
    return value // divisor if value >= 0 else -((-(value + 1)) // divisor) - 1


@cython.cfunc
@cython.exceptval(-1)
def _put_date(out: Output, days: cython.longlong) -> cython.int:
    """Write the date that is a number of days after 1970-01-01; returns 0 or `BAD`."""
    era: cython.longlong
    day: cython.longlong
    year: cython.longlong
    month: cython.longlong
    if days < _FIRST_DAY or days > _LAST_DAY:
        return out.fail(f"{_YEARS} {days} days after 1970-01-01")
    days += 719468  # since 0000-03-01: a leap day is the last of its year
    era = days // 146097
    day = days - era * 146097
    year = (day - day // 1460 + day // 36524 - day // 146096) // 365
    day -= 365 * year + year // 4 - year // 100
    month = (5 * day + 2) // 153
    day += 1 - (153 * month + 2) // 5
    year += era * 400
    if month < 10:
        month += 3
    else:
        month -= 9
        year += 1
    out.put_digits(year, 4)
    out.put_byte(45)
    out.put_digits(month, 2)
    out.put_byte(45)
    return out.put_digits(day, 2)


@cython.cfunc
@cython.exceptval(-1)
def _put_time(out: Output, seconds: cython.longlong, rest: cython.longlong, per_second: cython.longlong) -> cython.int:
    """Write a time of day; of its fraction, `rest` of `per_second`, no, three, six or nine digits."""
    nanos: cython.longlong = rest * (1_000_000_000 // per_second)
    out.put_digits(seconds // 3600, 2)
    out.put_byte(58)
    out.put_digits(seconds // 60 % 60, 2)
    out.put_byte(58)
    out.put_digits(seconds % 60, 2)
    if nanos == 0:
        return 0
    out.put_byte(46)
    if nanos % 1_000_000 == 0:
        return out.put_digits(nanos // 1_000_000, 3)
    if nanos % 1_000 == 0:
        return out.put_digits(nanos // 1_000, 6)
    return out.put_digits(nanos, 9)


@cython.final
@cython.cclass
class DateWriter(Writer):
    """Writes a date, as 2026-01-31."""

    _data: cython.const[cython.uchar][::1]  # type: ignore[valid-type]

    def bind(self, array: Any) -> None:
        """See `Writer.bind`."""
        Writer.bind(self, array)
        self._data = view_of(array.buffers()[1])

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, row: cython.Py_ssize_t) -> cython.int:
        out.put_byte(34)
        if _put_date(out, signed_at(self._data, (row + self._offset) * 4, 4)):
            return BAD
        return out.put_byte(34)


@cython.final
@cython.cclass
class TimeWriter(Writer):
    """Writes a time of day of `width` bytes, as 23:59:59.999."""

    _data: cython.const[cython.uchar][::1]  # type: ignore[valid-type]
    _width: cython.int
    _per_second: cython.longlong

    def __init__(self, width: cython.int, per_second: cython.longlong) -> None:
        self._width, self._per_second = width, per_second

    def bind(self, array: Any) -> None:
        """See `Writer.bind`."""
        Writer.bind(self, array)
        self._data = view_of(array.buffers()[1])

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, row: cython.Py_ssize_t) -> cython.int:
        value: cython.longlong = signed_at(self._data, (row + self._offset) * self._width, self._width)
        if value < 0 or value >= 86400 * self._per_second:
            return out.fail(f"expected a time of day, got {value} units after midnight")
        out.put_byte(34)
        _put_time(out, value // self._per_second, value % self._per_second, self._per_second)
        return out.put_byte(34)


@cython.final
@cython.cclass
class TimestampWriter(Writer):
    """Writes a date and a time, as 2026-01-31T23:59:59.999Z; without the Z if it is of no zone."""

    _data: cython.const[cython.uchar][::1]  # type: ignore[valid-type]
    _per_second: cython.longlong
    _is_utc: cython.bint

    def __init__(self, per_second: cython.longlong, is_utc: cython.bint) -> None:
        self._per_second, self._is_utc = per_second, is_utc

    def bind(self, array: Any) -> None:
        """See `Writer.bind`."""
        Writer.bind(self, array)
        self._data = view_of(array.buffers()[1])

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, row: cython.Py_ssize_t) -> cython.int:
        value: cython.longlong = signed_at(self._data, (row + self._offset) * 8, 8)
        seconds: cython.longlong = _down(value, self._per_second)
        days: cython.longlong = _down(seconds, 86400)
        out.put_byte(34)
        if _put_date(out, days):
            return BAD
        out.put_byte(84)
        _put_time(out, seconds - days * 86400, value - seconds * self._per_second, self._per_second)
        if self._is_utc:
            out.put_byte(90)
        return out.put_byte(34)
