# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Writes columns of booleans, numbers, strings, bytes, dates and times as JSON. Dates and times are in ISO 8601.

Compiled with Cython; the plain variant behaves the same.
"""

from __future__ import annotations

import binascii
from typing import Any

try:
    import cython
except ImportError:  # the plain variant needs no Cython
    from kafka import _cython as cython

from kafka.formats.json.encoder_output import view_of

if cython.compiled:
    from cython.cimports.kafka.formats.json.cursor import Cursor
    from cython.cimports.kafka.formats.json.encoder_output import Output, Writer
    from cython.cimports.kafka.formats.json.scan import as_float, double_at, float_at, next_byte, signed_at, unsigned_at
    from cython.cimports.kafka.formats.json.skip import skip_value
else:
    from kafka.formats.json.cursor import Cursor
    from kafka.formats.json.encoder_output import Output, Writer
    from kafka.formats.json.scan import as_float, double_at, float_at, next_byte, signed_at, unsigned_at
    from kafka.formats.json.skip import skip_value

BAD = cython.declare(cython.int, 1)
"""Returned by a writer for a value that JSON cannot represent."""
_WORDS = cython.declare(tuple, (b"null", b"NaN", b"Infinity", b"-Infinity"))
_REFUSED = cython.declare(cython.int, 0)
_AS_NULL = cython.declare(cython.int, 1)
_EXACT_DOUBLE = cython.declare(cython.double, 1e15)
"""Below this limit, at most one number with 15 significant digits rounds to any given double."""
_EXACT_FLOAT = cython.declare(cython.double, 1e9)
_FIRST_DAY = cython.declare(cython.longlong, -719162)
_LAST_DAY = cython.declare(cython.longlong, 2932896)
_YEARS = "expected a date between the years 1 and 9999, got"


@cython.cfunc
@cython.exceptval(-1)
def _put_bytes(out: Output, text: bytes) -> cython.int:
    return out.put(text, 0, len(text))


@cython.final
@cython.cclass
class NullWriter(Writer):
    """Writes null."""

    @cython.cfunc
    @cython.exceptval(-1)
    def is_null(self, row: cython.Py_ssize_t) -> cython.bint:
        return True


@cython.final
@cython.cclass
class BooleanWriter(Writer):
    """Writes a boolean."""

    _bits: cython.const[cython.uchar][::1]  # type: ignore[valid-type]

    def bind(self, array: Any) -> None:
        """See `Writer.bind`."""
        Writer.bind(self, array)
        self._bits = view_of(array.buffers()[1])

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, row: cython.Py_ssize_t) -> cython.int:
        row += self._offset
        if (self._bits[row >> 3] >> (row & 7)) & 1:
            return out.put(out.words, 4, 4)
        return out.put(out.words, 8, 5)


@cython.final
@cython.cclass
class WholeWriter(Writer):
    """Writes an integer of `width` bytes."""

    _data: cython.const[cython.uchar][::1]  # type: ignore[valid-type]
    _width: cython.int
    _signed: cython.bint

    def __init__(self, width: cython.int, signed: cython.bint) -> None:
        self._width, self._signed = width, signed

    def bind(self, array: Any) -> None:
        """See `Writer.bind`."""
        Writer.bind(self, array)
        self._data = view_of(array.buffers()[1])

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, row: cython.Py_ssize_t) -> cython.int:
        at: cython.Py_ssize_t = (row + self._offset) * self._width
        value: cython.longlong
        if not self._signed:
            return out.put_number(unsigned_at(self._data, at, self._width), False)
        value = signed_at(self._data, at, self._width)
        if value >= 0:
            return out.put_number(value, False)
        return out.put_number(cython.cast(cython.ulonglong, -(value + 1)) + 1, True)


@cython.final
@cython.cclass
class RealWriter(Writer):
    """Writes a double, or a 4-byte float, with the fewest digits that read back as the same number, like Python.

    `non_finite` says how to write NaN and infinities: 0 rejects them, 1 writes null, 2 writes the words that Python
    uses.
    """

    _data: cython.const[cython.uchar][::1]  # type: ignore[valid-type]
    _width: cython.int
    _non_finite: cython.int

    def __init__(self, width: cython.int, non_finite: cython.int) -> None:
        self._width, self._non_finite = width, non_finite

    def bind(self, array: Any) -> None:
        """See `Writer.bind`."""
        Writer.bind(self, array)
        self._data = view_of(array.buffers()[1])

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, row: cython.Py_ssize_t) -> cython.int:
        at: cython.Py_ssize_t = (row + self._offset) * self._width
        value: cython.double = double_at(self._data, at) if self._width == 8 else float_at(self._data, at)
        if value - value != 0:
            return self._write_non_finite(out, value)
        if value < 0:
            if not self._write_short(out, -value, True):
                return 0
        elif value > 0 and not self._write_short(out, value, False):
            return 0
        return _put_bytes(out, repr(value).encode() if self._width == 8 else _float_text(value))

    @cython.cfunc
    @cython.exceptval(-1)
    def _write_short(self, out: Output, value: cython.double, negative: cython.bint) -> cython.int:
        """Write a positive number if it has few digits; otherwise return 1 without writing anything."""
        places: cython.Py_ssize_t
        power: cython.double = 1.0
        limit: cython.double = _EXACT_DOUBLE if self._width == 8 else _EXACT_FLOAT
        digits: cython.ulonglong
        back: cython.double
        if value < 1e-3:
            return 1
        for places in range(8):
            if value * power >= limit:
                return 1
            digits = cython.cast(cython.ulonglong, value * power + 0.5)
            back = cython.cast(cython.double, digits) / power
            if back == value or (self._width == 4 and as_float(back) == value):
                if negative:
                    out.put_byte(45)
                return self._put_places(out, digits, places)
            power *= 10
        return 1

    @cython.cfunc
    @cython.exceptval(-1)
    def _put_places(self, out: Output, digits: cython.ulonglong, places: cython.Py_ssize_t) -> cython.int:
        """Write a number with `places` digits after the decimal point, or one digit if `places` is 0."""
        power: cython.ulonglong = 1
        left: cython.Py_ssize_t = places
        while left > 0:
            power *= 10
            left -= 1
        out.put_number(digits // power, False)
        out.put_byte(46)
        return out.put_digits(digits % power, max(places, 1))

    @cython.cfunc
    @cython.exceptval(-1)
    def _write_non_finite(self, out: Output, value: cython.double) -> cython.int:
        """Write NaN or an infinity as configured; returns 0 or `BAD`."""
        word: bytes = _WORDS[1] if value != value else _WORDS[2] if value > 0 else _WORDS[3]
        if self._non_finite == _REFUSED:
            return out.fail(f"JSON has no number {word.decode()}")
        return _put_bytes(out, _WORDS[0] if self._non_finite == _AS_NULL else word)


@cython.cfunc
def _float_text(value: cython.double) -> bytes:
    """Return a 4-byte float as text, with the fewest digits that read back as the same number."""
    digits: cython.int
    text: str = repr(value)
    for digits in range(1, 10):
        shorter = f"{value:.{digits}g}"
        if as_float(float(shorter)) == value:
            text = shorter
            break
    return text.encode()


@cython.final
@cython.cclass
class DecimalWriter(Writer):
    """Writes a decimal of `width` bytes with as many fractional digits as its scale."""

    _data: cython.const[cython.uchar][::1]  # type: ignore[valid-type]
    _width: cython.Py_ssize_t
    _scale: cython.Py_ssize_t

    def __init__(self, width: cython.Py_ssize_t, scale: cython.Py_ssize_t) -> None:
        self._width, self._scale = width, scale

    def bind(self, array: Any) -> None:
        """See `Writer.bind`."""
        Writer.bind(self, array)
        self._data = view_of(array.buffers()[1])

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, row: cython.Py_ssize_t) -> cython.int:
        at: cython.Py_ssize_t = (row + self._offset) * self._width
        digits = int.from_bytes(bytes(self._data[at : at + self._width]), "little", signed=True)
        text = str(abs(digits)).rjust(self._scale + 1, "0")
        if digits < 0:
            out.put_byte(45)
        if self._scale > 0:
            point = len(text) - self._scale
            text = f"{text[:point]}.{text[point:]}"
        return _put_bytes(out, text.encode())


@cython.final
@cython.cclass
class TextWriter(Writer):
    """Writes a string in quotes."""

    _data: cython.const[cython.uchar][::1]  # type: ignore[valid-type]
    _ends: cython.const[cython.uchar][::1]  # type: ignore[valid-type]

    def bind(self, array: Any) -> None:
        """See `Writer.bind`."""
        Writer.bind(self, array)
        self._ends, self._data = view_of(array.buffers()[1]), view_of(array.buffers()[2])

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, row: cython.Py_ssize_t) -> cython.int:
        at: cython.Py_ssize_t = (row + self._offset) * 4
        start: cython.Py_ssize_t = signed_at(self._ends, at, 4)
        return out.put_text(self._data, start, signed_at(self._ends, at + 4, 4) - start)


@cython.final
@cython.cclass
class BinaryWriter(Writer):
    """Writes bytes in base64. `width` is the size of each value, or -1 for variable sizes."""

    _data: cython.const[cython.uchar][::1]  # type: ignore[valid-type]
    _ends: cython.const[cython.uchar][::1]  # type: ignore[valid-type]
    _width: cython.Py_ssize_t

    def __init__(self, width: cython.Py_ssize_t) -> None:
        self._width = width

    def bind(self, array: Any) -> None:
        """See `Writer.bind`."""
        Writer.bind(self, array)
        buffers = array.buffers()
        self._ends, self._data = view_of(buffers[1]), view_of(buffers[len(buffers) - 1])

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, row: cython.Py_ssize_t) -> cython.int:
        start: cython.Py_ssize_t
        end: cython.Py_ssize_t
        row += self._offset
        if self._width >= 0:
            start, end = row * self._width, (row + 1) * self._width
        else:
            start, end = signed_at(self._ends, row * 4, 4), signed_at(self._ends, row * 4 + 4, 4)
        out.put_byte(34)
        _put_bytes(out, binascii.b2a_base64(bytes(self._data[start:end]), newline=False))
        return out.put_byte(34)


@cython.final
@cython.cclass
class RawWriter(Writer):
    """Writes a string that is already JSON."""

    _data: cython.const[cython.uchar][::1]  # type: ignore[valid-type]
    _ends: cython.const[cython.uchar][::1]  # type: ignore[valid-type]
    _cursor: Cursor

    def bind(self, array: Any) -> None:
        """See `Writer.bind`."""
        Writer.bind(self, array)
        self._ends, self._data = view_of(array.buffers()[1]), view_of(array.buffers()[2])
        self._cursor = Cursor(self._data)

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, row: cython.Py_ssize_t) -> cython.int:
        at: cython.Py_ssize_t = (row + self._offset) * 4
        start: cython.Py_ssize_t = signed_at(self._ends, at, 4)
        cursor: Cursor = self._cursor
        cursor.start = cursor.at = start
        cursor.end = signed_at(self._ends, at + 4, 4)
        if skip_value(cursor):
            return out.fail(f"the text is not JSON: {cursor.failure()}")
        if next_byte(cursor) >= 0:
            cursor.expected(cursor.at, "the end of the value")
            return out.fail(f"the text is not JSON: {cursor.failure()}")
        return out.put(self._data, start, cursor.end - start)


# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False


@cython.cfunc
@cython.exceptval(check=False)
def _down(value: cython.longlong, divisor: cython.longlong) -> cython.longlong:
    """Divide and round down, as Python does but C does not."""
    return value // divisor if value >= 0 else -((-(value + 1)) // divisor) - 1


@cython.cfunc
@cython.exceptval(-1)
def _put_date(out: Output, days: cython.longlong) -> cython.int:
    """Write a date given as days since 1970-01-01; returns 0 or `BAD`."""
    era: cython.longlong
    day: cython.longlong
    year: cython.longlong
    month: cython.longlong
    if days < _FIRST_DAY or days > _LAST_DAY:
        return out.fail(f"{_YEARS} {days} days after 1970-01-01")
    days += 719468  # count days from 0000-03-01, so that a leap day is the last day of its year
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
    """Write a time of day. The fraction, `rest` of `per_second`, is written with zero, three, six or nine digits."""
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
    """Writes a date, such as 2026-01-31."""

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
    """Writes a time of day of `width` bytes, such as 23:59:59.999."""

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
    """Writes a timestamp, such as 2026-01-31T23:59:59.999Z; the Z is omitted if the type has no time zone."""

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
