# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Reads dates and times in ISO 8601 into columns. Compiled with Cython; the plain variant behaves the same.

Digits beyond the column's unit are truncated, as in Avro's conversions.
"""

from __future__ import annotations

try:
    import cython
except ImportError:  # the plain variant needs no Cython
    from kafka import _cython as cython

if cython.compiled:
    from cython.cimports.kafka.formats.column_builders import Column, Int32Column, Int64Column
    from cython.cimports.kafka.formats.json.cursor import Cursor, Reader
    from cython.cimports.kafka.formats.json.numbers import is_number, read_number, to_whole
    from cython.cimports.kafka.formats.json.texts import read_text
else:
    from kafka.formats.column_builders import Column, Int32Column, Int64Column
    from kafka.formats.json.cursor import Cursor, Reader
    from kafka.formats.json.numbers import is_number, read_number, to_whole
    from kafka.formats.json.texts import read_text

BAD = cython.declare(cython.int, 1)
"""Returned by a reader for bytes that are not a value of its type."""
_NONE = cython.declare(cython.longlong, -(1 << 62))
"""Returned for text that is not a date or time."""
_LONGEST = cython.declare(cython.Py_ssize_t, 64)
_NANOS = cython.declare(cython.longlong, 1_000_000_000)


@cython.cfunc
@cython.exceptval(-1)
def _read_short_text(cursor: Cursor, expects: str) -> cython.int:
    """Read a string that may be a date or time into `cursor.text`; returns 0 or `BAD`."""
    at: cython.Py_ssize_t = cursor.at
    index: cython.Py_ssize_t
    if cursor.data[at] != 34:
        return cursor.expected(at, expects)
    if read_text(cursor):
        return BAD
    if cursor.text_size > _LONGEST:
        return cursor.expected(at, expects)
    if cursor.text_at >= 0:
        for index in range(cursor.text_size):
            cursor.text[index] = cursor.data[cursor.text_at + index]
    return 0


@cython.cfunc
@cython.exceptval(check=False)
def _number_at(cursor: Cursor, at: cython.Py_ssize_t, size: cython.Py_ssize_t) -> cython.int:
    """Return the number formed by a few digits in `cursor.text`; -1 if they are invalid."""
    index: cython.Py_ssize_t
    digit: cython.uchar
    value: cython.int = 0
    if at + size > cursor.text_size:
        return -1
    for index in range(at, at + size):
        digit = cursor.text[index]
        if digit < 48 or digit > 57:
            return -1
        value = value * 10 + (digit - 48)
    return value


@cython.cfunc
@cython.exceptval(check=False)
def _byte_at(cursor: Cursor, at: cython.Py_ssize_t) -> cython.int:
    """Return a byte of `cursor.text`; -1 past its end."""
    return cursor.text[at] if at < cursor.text_size else -1


@cython.cfunc
@cython.exceptval(check=False)
def _date_at(cursor: Cursor) -> cython.longlong:
    """Return the date at the beginning of `cursor.text` in days since 1970-01-01; `_NONE` if there is none."""
    year: cython.int = _number_at(cursor, 0, 4)
    month: cython.int = _number_at(cursor, 5, 2)
    day: cython.int = _number_at(cursor, 8, 2)
    last: cython.int = 31
    months: cython.longlong
    years: cython.longlong
    if year < 1 or month < 1 or month > 12 or day < 1 or _byte_at(cursor, 4) != 45 or _byte_at(cursor, 7) != 45:
        return _NONE
    if month == 4 or month == 6 or month == 9 or month == 11:
        last = 30
    elif month == 2:
        last = 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    if day > last:
        return _NONE
    years = year - 1 if month <= 2 else year  # count years from March, so that a leap day is the last day of its year
    months = month + 9 if month <= 2 else month - 3
    return years * 365 + years // 4 - years // 100 + years // 400 + (153 * months + 2) // 5 + day - 719469


@cython.cfunc
@cython.exceptval(check=False)
def _time_at(cursor: Cursor, at: cython.Py_ssize_t) -> cython.longlong:
    """Return a time in nanoseconds since midnight, and set `cursor.text_at` to its end; `_NONE` if there is none."""
    hour: cython.int = _number_at(cursor, at, 2)
    minute: cython.int = _number_at(cursor, at + 3, 2)
    second: cython.int = 0
    nanos: cython.longlong = 0
    unit: cython.longlong = _NANOS
    if hour < 0 or hour > 23 or minute < 0 or minute > 59 or _byte_at(cursor, at + 2) != 58:
        return _NONE
    at += 5
    if _byte_at(cursor, at) == 58:
        second = _number_at(cursor, at + 1, 2)
        if second < 0 or second > 59:
            return _NONE
        at += 3
        if _byte_at(cursor, at) == 46:
            at += 1
            if _number_at(cursor, at, 1) < 0:
                return _NONE
            while _number_at(cursor, at, 1) >= 0:
                unit //= 10
                nanos += _number_at(cursor, at, 1) * unit
                at += 1
    cursor.text_at = at
    return ((hour * 60 + minute) * 60 + second) * _NANOS + nanos


@cython.cfunc
@cython.exceptval(check=False)
def _offset_at(cursor: Cursor, at: cython.Py_ssize_t) -> cython.longlong:
    """Return the offset from UTC at the end of the text, in seconds; `_NONE` if there is none."""
    byte: cython.int = _byte_at(cursor, at)
    hours: cython.int
    minutes: cython.int = 0
    if byte == 90 or byte == 122:
        return 0 if at + 1 == cursor.text_size else _NONE
    if byte != 43 and byte != 45:
        return _NONE
    hours = _number_at(cursor, at + 1, 2)
    at += 3
    if at < cursor.text_size:
        if cursor.text[at] == 58:
            at += 1
        minutes = _number_at(cursor, at, 2)
        at += 2
    if hours < 0 or hours > 23 or minutes < 0 or minutes > 59 or at != cursor.text_size:
        return _NONE
    return (hours * 60 + minutes) * (60 if byte == 43 else -60)


@cython.final
@cython.cclass
class DateReader(Reader):
    """Reads a date, such as 2026-01-31."""

    _values: Int32Column

    def __init__(self, column: Int32Column, nullable: cython.bint) -> None:
        Reader.__init__(self, column, nullable, "a date such as 2026-01-31")
        self._values = column

    @cython.cfunc
    @cython.exceptval(-1)
    def read(self, cursor: Cursor) -> cython.int:
        at: cython.Py_ssize_t = cursor.at
        days: cython.longlong
        if _read_short_text(cursor, self.expects):
            return BAD
        days = _date_at(cursor)
        if days == _NONE or cursor.text_size != 10:
            return cursor.expected(at, self.expects)
        self._values.append(cython.cast(cython.int, days))
        return 0


@cython.final
@cython.cclass
class TimeReader(Reader):
    """Reads a time of day, such as 23:59:59.999; the column has `per_second` units per second."""

    _ints: Int32Column | None
    _longs: Int64Column | None
    _nanos: cython.longlong

    def __init__(self, column: Column, nullable: cython.bint, per_second: cython.longlong) -> None:
        Reader.__init__(self, column, nullable, "a time of day such as 23:59:59.999")
        self._ints = column if isinstance(column, Int32Column) else None
        self._longs = column if isinstance(column, Int64Column) else None
        self._nanos = _NANOS // per_second

    @cython.cfunc
    @cython.exceptval(-1)
    def read(self, cursor: Cursor) -> cython.int:
        at: cython.Py_ssize_t = cursor.at
        nanos: cython.longlong
        if _read_short_text(cursor, self.expects):
            return BAD
        nanos = _time_at(cursor, 0)
        if nanos == _NONE or cursor.text_at != cursor.text_size:
            return cursor.expected(at, self.expects)
        if self._ints is not None:
            self._ints.append(cython.cast(cython.int, nanos // self._nanos))
        elif self._longs is not None:
            self._longs.append(nanos // self._nanos)
        return 0


@cython.final
@cython.cclass
class TimestampReader(Reader):
    """Reads a timestamp such as 2026-01-31T23:59:59.999Z, with an offset if the column is in UTC, otherwise without.

    The column has `per_second` units per second. If `epoch_unit` is set, integers are also read, as times since
    1970-01-01 with `epoch_unit` units per second.
    """

    _values: Int64Column
    _is_utc: cython.bint
    _per_second: cython.longlong
    _epoch_unit: cython.longlong

    def __init__(
        self,
        column: Int64Column,
        nullable: cython.bint,
        is_utc: cython.bint,
        per_second: cython.longlong,
        epoch_unit: cython.longlong,
    ) -> None:
        Reader.__init__(
            self, column, nullable, "a timestamp such as 2026-01-31T23:59:59.999Z" if is_utc else _LOCAL_TIMESTAMP
        )
        self._values, self._is_utc, self._per_second, self._epoch_unit = column, is_utc, per_second, epoch_unit

    @cython.cfunc
    @cython.exceptval(-1)
    def read(self, cursor: Cursor) -> cython.int:
        at: cython.Py_ssize_t = cursor.at
        days: cython.longlong
        nanos: cython.longlong
        offset: cython.longlong = 0
        byte: cython.int
        if self._epoch_unit > 0 and is_number(cursor.data[at]):
            return self._read_epoch(cursor)
        if _read_short_text(cursor, self.expects):
            return BAD
        days = _date_at(cursor)
        byte = _byte_at(cursor, 10)
        if days == _NONE or not (byte == 84 or byte == 116 or byte == 32):
            return cursor.expected(at, self.expects)
        nanos = _time_at(cursor, 11)
        if nanos == _NONE:
            return cursor.expected(at, self.expects)
        if self._is_utc:
            offset = _offset_at(cursor, cursor.text_at)
        elif cursor.text_at != cursor.text_size:
            offset = _NONE
        if offset == _NONE:
            return cursor.expected(at, self.expects)
        return self._append(cursor, at, days * 86400 + nanos // _NANOS - offset, nanos % _NANOS)

    @cython.cfunc
    @cython.exceptval(-1)
    def _append(
        self, cursor: Cursor, at: cython.Py_ssize_t, seconds: cython.longlong, nanos: cython.longlong
    ) -> cython.int:
        """Append a time in seconds since 1970-01-01 and nanoseconds; returns 0, or `BAD` if it is out of range."""
        if self._per_second == _NANOS:
            if seconds < 0:  # make both terms negative, so that only their sum can be too small
                seconds += 1
                nanos -= _NANOS
            if (
                seconds < -9223372036
                or seconds > 9223372036
                or (seconds == -9223372036 and nanos < -854775808)
                or (seconds == 9223372036 and nanos > 854775807)
            ):
                return cursor.expected(at, "a time between the years 1678 and 2262, for nanoseconds")
            self._values.append(seconds * _NANOS + nanos)
        else:
            self._values.append(seconds * self._per_second + nanos // (_NANOS // self._per_second))
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _read_epoch(self, cursor: Cursor) -> cython.int:
        """Read an integer as a time since 1970-01-01; returns 0 or `BAD`."""
        value: cython.longlong
        times: cython.longlong
        divisor: cython.longlong
        if read_number(cursor):
            return BAD
        times = self._per_second // self._epoch_unit
        if times > 1:
            if to_whole(cursor, 0x7FFFFFFFFFFFFFFF // times, 0x7FFFFFFFFFFFFFFF // times, _EPOCH):
                return BAD
        elif to_whole(cursor, 0x7FFFFFFFFFFFFFFF, 0x7FFFFFFFFFFFFFFF, _EPOCH):
            return BAD
        value = cython.cast(cython.longlong, cursor.digits)
        if times > 1:
            self._values.append(-value * times if cursor.negative else value * times)
            return 0
        divisor = self._epoch_unit // self._per_second
        if cursor.negative:  # rounded down
            self._values.append(-(value // divisor) - (1 if value % divisor else 0))
        else:
            self._values.append(value // divisor)
        return 0


_LOCAL_TIMESTAMP = "a timestamp without an offset, such as 2026-01-31T23:59:59.999"
_EPOCH = "a whole number of units since 1970 that the column has room for"
