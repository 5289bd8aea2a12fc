# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Reads JSON numbers and booleans into columns. Compiled with Cython; the plain variant behaves the same.

As in JSON Schema, integers may be written as `1`, `1.0` or `1e2`; `1.5` is an error.
"""

from __future__ import annotations

try:
    import cython
except ImportError:  # the plain variant needs no Cython
    from kafka import _cython as cython

from kafka.formats.json.numbers import scaled

if cython.compiled:
    from cython.cimports.kafka.formats.column_builders import (
        BooleanColumn,
        Column,
        DoubleColumn,
        FixedColumn,
        FloatColumn,
        Int32Column,
        Int64Column,
    )
    from cython.cimports.kafka.formats.json.cursor import Cursor, Reader
    from cython.cimports.kafka.formats.json.numbers import is_number, number_text, read_number, to_double, to_whole
    from cython.cimports.kafka.formats.json.skip import read_constant
else:
    from kafka.formats.column_builders import (
        BooleanColumn,
        Column,
        DoubleColumn,
        FixedColumn,
        FloatColumn,
        Int32Column,
        Int64Column,
    )
    from kafka.formats.json.cursor import Cursor, Reader
    from kafka.formats.json.numbers import is_number, number_text, read_number, to_double, to_whole
    from kafka.formats.json.skip import read_constant

BAD = cython.declare(cython.int, 1)
"""Returned by a reader for bytes that are not a value of its type."""
_TRUE = cython.declare(cython.int, 1)
_FALSE = cython.declare(cython.int, 2)
_NAN = cython.declare(cython.int, 3)
_INFINITY = cython.declare(cython.int, 4)
_MINUS_INFINITY = cython.declare(cython.int, 5)
_POWERS = cython.declare(tuple, tuple(10**power for power in range(78)))


@cython.final
@cython.cclass
class NullReader(Reader):
    """Reads null; any other value is an error."""

    def __init__(self, column: Column) -> None:
        Reader.__init__(self, column, True, "null")

    @cython.cfunc
    @cython.exceptval(-1)
    def read(self, cursor: Cursor) -> cython.int:
        return cursor.expected(cursor.at, "null")


@cython.final
@cython.cclass
class BooleanReader(Reader):
    """Reads a boolean."""

    _values: BooleanColumn

    def __init__(self, column: BooleanColumn, nullable: cython.bint) -> None:
        Reader.__init__(self, column, nullable, "true or false")
        self._values = column

    @cython.cfunc
    @cython.exceptval(-1)
    def read(self, cursor: Cursor) -> cython.int:
        at: cython.Py_ssize_t = cursor.at
        constant: cython.int
        if cursor.data[at] != 116 and cursor.data[at] != 102:
            return cursor.expected(at, self.expects)
        constant = read_constant(cursor)
        if constant != _TRUE and constant != _FALSE:
            return cursor.expected(at, self.expects)
        self._values.append(constant == _TRUE)
        return 0


@cython.cfunc
@cython.exceptval(-1)
def _read_whole(cursor: Cursor, least: cython.ulonglong, most: cython.ulonglong, expects: str) -> cython.int:
    """Read an integer within bounds; see `to_whole`."""
    if not is_number(cursor.data[cursor.at]):
        return cursor.expected(cursor.at, expects)
    if read_number(cursor):
        return BAD
    return to_whole(cursor, least, most, expects)


@cython.final
@cython.cclass
class Int32Reader(Reader):
    """Reads a 32-bit integer."""

    _values: Int32Column

    def __init__(self, column: Int32Column, nullable: cython.bint) -> None:
        Reader.__init__(self, column, nullable, "a whole number of 32 bits")
        self._values = column

    @cython.cfunc
    @cython.exceptval(-1)
    def read(self, cursor: Cursor) -> cython.int:
        value: cython.longlong
        if _read_whole(cursor, 0x80000000, 0x7FFFFFFF, self.expects):
            return BAD
        value = cython.cast(cython.longlong, cursor.digits)
        self._values.append(cython.cast(cython.int, -value if cursor.negative else value))
        return 0


@cython.final
@cython.cclass
class Int64Reader(Reader):
    """Reads a 64-bit integer."""

    _values: Int64Column

    def __init__(self, column: Int64Column, nullable: cython.bint) -> None:
        Reader.__init__(self, column, nullable, "a whole number of 64 bits")
        self._values = column

    @cython.cfunc
    @cython.exceptval(-1)
    def read(self, cursor: Cursor) -> cython.int:
        if _read_whole(cursor, 0x8000000000000000, 0x7FFFFFFFFFFFFFFF, self.expects):
            return BAD
        if not cursor.negative:
            self._values.append(cython.cast(cython.longlong, cursor.digits))
        elif cursor.digits == 0:
            self._values.append(0)
        else:  # the smallest integer has no positive counterpart
            self._values.append(-cython.cast(cython.longlong, cursor.digits - 1) - 1)
        return 0


@cython.final
@cython.cclass
class SmallReader(Reader):
    """Reads an integer of up to 64 bits in the range from minus `least` to `most`."""

    _values: FixedColumn
    _least: cython.ulonglong
    _most: cython.ulonglong
    _bytes: cython.uchar[::1]

    def __init__(
        self, column: FixedColumn, nullable: cython.bint, least: cython.ulonglong, most: cython.ulonglong
    ) -> None:
        Reader.__init__(self, column, nullable, f"a whole number from {'-' if least else ''}{least} to {most}")
        self._values, self._least, self._most = column, least, most
        self._bytes = bytearray(8)

    @cython.cfunc
    @cython.exceptval(-1)
    def read(self, cursor: Cursor) -> cython.int:
        index: cython.Py_ssize_t
        bits: cython.ulonglong
        if _read_whole(cursor, self._least, self._most, self.expects):
            return BAD
        bits = cursor.digits
        if cursor.negative:
            bits = (0xFFFFFFFFFFFFFFFF - bits + 1) & 0xFFFFFFFFFFFFFFFF
        for index in range(8):
            self._bytes[index] = (bits >> (8 * index)) & 255
        self._values.append(self._bytes, 0)
        return 0


@cython.cfunc
@cython.exceptval(-1.0, check=True)
def _non_finite(constant: cython.int) -> cython.double:
    """Return the value of a constant found by `read_constant`."""
    if constant == _NAN:
        return float("nan")
    return float("inf") if constant == _INFINITY else -float("inf")


@cython.cfunc
@cython.exceptval(-1)
def _read_non_finite(cursor: Cursor, allowed: cython.bint, expects: str) -> cython.int:
    """Read NaN or an infinity, as a word or a string; returns its index like `read_constant`, or 0 with a reason."""
    at: cython.Py_ssize_t = cursor.at
    quoted: cython.bint = cursor.data[at] == 34
    constant: cython.int
    if quoted and allowed:
        cursor.at += 1
    constant = read_constant(cursor) if allowed or not quoted else -1
    if constant < _NAN:
        cursor.expected(at, expects)
        return 0
    if not allowed:
        cursor.fail(at, f"expected {expects}, got {bytes(cursor.data[at : cursor.at]).decode()}")
        return 0
    if quoted:
        if cursor.at >= cursor.end or cursor.data[cursor.at] != 34:
            cursor.expected(at, expects)
            return 0
        cursor.at += 1
    return constant


@cython.cfunc
@cython.exceptval(-1)
def _begins_number(cursor: Cursor) -> cython.bint:
    """Return whether a number other than -Infinity begins here."""
    byte: cython.uchar = cursor.data[cursor.at]
    return is_number(byte) and not (byte == 45 and cursor.end - cursor.at > 1 and cursor.data[cursor.at + 1] == 73)


@cython.final
@cython.cclass
class DoubleReader(Reader):
    """Reads a number as a double."""

    _values: DoubleColumn
    _allows_non_finite: cython.bint

    def __init__(self, column: DoubleColumn, nullable: cython.bint, allows_non_finite: cython.bint) -> None:
        Reader.__init__(self, column, nullable, "a number")
        self._values, self._allows_non_finite = column, allows_non_finite

    @cython.cfunc
    @cython.exceptval(-1)
    def read(self, cursor: Cursor) -> cython.int:
        value: cython.double
        constant: cython.int
        if not _begins_number(cursor):
            constant = _read_non_finite(cursor, self._allows_non_finite, self.expects)
            if constant == 0:
                return BAD
            self._values.append(_non_finite(constant))
            return 0
        if read_number(cursor):
            return BAD
        value = to_double(cursor)
        if value - value != 0:
            return cursor.expected(cursor.number_at, "a number within the range of a double")
        self._values.append(value)
        return 0


_FLOAT_LIMIT = cython.declare(cython.double, 3.4028235677973366e38)
"""The smallest double that overflows a float: half a unit in the last place above the largest float."""


@cython.final
@cython.cclass
class FloatReader(Reader):
    """Reads a number as a float, rounded from the nearest double."""

    _values: FloatColumn
    _allows_non_finite: cython.bint

    def __init__(self, column: FloatColumn, nullable: cython.bint, allows_non_finite: cython.bint) -> None:
        Reader.__init__(self, column, nullable, "a number")
        self._values, self._allows_non_finite = column, allows_non_finite

    @cython.cfunc
    @cython.exceptval(-1)
    def read(self, cursor: Cursor) -> cython.int:
        value: cython.double
        constant: cython.int
        if not _begins_number(cursor):
            constant = _read_non_finite(cursor, self._allows_non_finite, self.expects)
            if constant == 0:
                return BAD
            self._values.append(cython.cast(cython.float, _non_finite(constant)))
            return 0
        if read_number(cursor):
            return BAD
        value = to_double(cursor)
        if value >= _FLOAT_LIMIT or value <= -_FLOAT_LIMIT:
            return cursor.expected(cursor.number_at, "a number within the range of a float")
        self._values.append(cython.cast(cython.float, value))
        return 0


@cython.final
@cython.cclass
class DecimalReader(Reader):
    """Reads a number as a decimal; a number with too many digits is an error."""

    _values: FixedColumn
    _precision: cython.Py_ssize_t
    _scale: cython.Py_ssize_t
    _limit: cython.ulonglong
    _bytes: cython.uchar[::1]

    def __init__(
        self, column: FixedColumn, nullable: cython.bint, precision: cython.Py_ssize_t, scale: cython.Py_ssize_t
    ) -> None:
        Reader.__init__(self, column, nullable, f"a decimal of {precision} digits, {scale} of them behind the point")
        self._values, self._precision, self._scale = column, precision, scale
        self._limit = _POWERS[min(precision, 18)]
        self._bytes = bytearray(column.width)

    @cython.cfunc
    @cython.exceptval(-1)
    def read(self, cursor: Cursor) -> cython.int:
        shift: cython.Py_ssize_t
        digits: cython.ulonglong
        if not is_number(cursor.data[cursor.at]):
            return cursor.expected(cursor.at, self.expects)
        if read_number(cursor):
            return BAD
        shift = cursor.exponent + self._scale
        digits = cursor.digits
        if not cursor.exact or shift < 0:
            return self._read_slowly(cursor)
        while shift > 0 and digits < self._limit:
            digits *= 10
            shift -= 1
        if digits >= self._limit:
            return self._read_slowly(cursor)
        self._append(digits, cursor.negative)
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _append(self, digits: cython.ulonglong, negative: cython.bint) -> cython.int:
        """Append a number that fits in 62 bits."""
        index: cython.Py_ssize_t
        bits: cython.longlong = cython.cast(cython.longlong, digits)
        if negative:
            bits = -bits
        for index in range(self._values.width):
            self._bytes[index] = bits & 255
            bits >>= 8
        self._values.append(self._bytes, 0)
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _read_slowly(self, cursor: Cursor) -> cython.int:
        """Append the last number read, which may have any size; returns 0 or `BAD`."""
        number = scaled(number_text(cursor), self._scale)
        if number is None or abs(number) >= _POWERS[self._precision]:
            return cursor.expected(cursor.number_at, self.expects)
        self._bytes = bytearray(number.to_bytes(self._values.width, "little", signed=True))
        self._values.append(self._bytes, 0)
        return 0
