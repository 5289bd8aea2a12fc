# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Reads Avro's scalar types into columns: numbers, booleans, bytes, strings, fixed types, enums and logical types.

Compiled with Cython; the plain variant behaves the same.
"""

from __future__ import annotations

from typing import Any

try:
    import cython
except ImportError:  # the plain variant needs no Cython
    from kafka import _cython as cython

from kafka.formats.avro.cursor import NO_INTEGER, TOO_SHORT

if cython.compiled:
    from cython.cimports.kafka.formats.avro.cursor import Cursor, Reader, read_length
    from cython.cimports.kafka.formats.byte_operations import double_at, float_at, is_utf8, whole_as_float
    from cython.cimports.kafka.formats.column_builders import (
        BooleanColumn,
        BytesColumn,
        Column,
        DoubleColumn,
        FixedColumn,
        FloatColumn,
        Int32Column,
        Int64Column,
    )
    from cython.cimports.kafka.record.integers import read_varint
else:
    from kafka.formats.avro.cursor import Cursor, Reader, read_length
    from kafka.formats.byte_operations import double_at, float_at, is_utf8, whole_as_float
    from kafka.formats.column_builders import (
        BooleanColumn,
        BytesColumn,
        Column,
        DoubleColumn,
        FixedColumn,
        FloatColumn,
        Int32Column,
        Int64Column,
    )
    from kafka.record.integers import read_varint

BAD = cython.declare(cython.int, 1)
"""Returned by a reader for bytes that are not a value of its type."""
_EXPONENTS = cython.declare(list, [10**digits for digits in range(78)])


@cython.final
@cython.cclass
class NullReader(Reader):
    """Reads null, which takes no bytes."""

    column: Column

    def __init__(self, column: Column) -> None:
        self.column = column

    @cython.cfunc
    @cython.exceptval(-1)
    def read(self, cursor: Cursor) -> cython.int:
        self.column.append_null()
        return 0


@cython.final
@cython.cclass
class BooleanReader(Reader):
    """Reads a boolean."""

    column: BooleanColumn

    def __init__(self, column: BooleanColumn) -> None:
        self.column = column

    @cython.cfunc
    @cython.exceptval(-1)
    def read(self, cursor: Cursor) -> cython.int:
        value: cython.uchar
        if cursor.at >= cursor.end:
            return cursor.fail(TOO_SHORT)
        value = cursor.data[cursor.at]
        if value > 1:
            return cursor.fail(f"expected a boolean, 0 or 1, got the byte {value}")
        cursor.at += 1
        self.column.append(value == 1)
        return 0


@cython.final
@cython.cclass
class IntReader(Reader):
    """Reads an int within bounds: the 32-bit range, or the range of a time of day."""

    column: Int32Column
    least: cython.longlong
    most: cython.longlong

    def __init__(self, column: Int32Column, least: cython.longlong, most: cython.longlong) -> None:
        self.column, self.least, self.most = column, least, most

    @cython.cfunc
    @cython.exceptval(-1)
    def read(self, cursor: Cursor) -> cython.int:
        value: cython.longlong
        at: cython.Py_ssize_t
        value, at = read_varint(cursor.data, cursor.at, cursor.end)
        if at < 0:
            return cursor.fail(NO_INTEGER)
        if value < self.least or value > self.most:
            return cursor.fail(f"expected a number from {self.least} to {self.most}, got {value}")
        cursor.at = at
        self.column.append(cython.cast(cython.int, value))
        return 0


@cython.final
@cython.cclass
class LongReader(Reader):
    """Reads an int or a long within bounds, and converts it to another unit by multiplying or dividing."""

    column: Int64Column
    least: cython.longlong
    most: cython.longlong
    times: cython.longlong
    divisor: cython.longlong

    def __init__(
        self,
        column: Int64Column,
        least: cython.longlong,
        most: cython.longlong,
        times: cython.longlong,
        divisor: cython.longlong,
    ) -> None:
        self.column, self.least, self.most = column, least, most
        self.times, self.divisor = times, divisor

    @cython.cfunc
    @cython.exceptval(-1)
    def read(self, cursor: Cursor) -> cython.int:
        value: cython.longlong
        at: cython.Py_ssize_t
        value, at = read_varint(cursor.data, cursor.at, cursor.end)
        if at < 0:
            return cursor.fail(NO_INTEGER)
        if value < self.least or value > self.most:
            return cursor.fail(f"expected a number from {self.least} to {self.most}, got {value}")
        cursor.at = at
        if self.times != 1:
            value *= self.times
        elif self.divisor != 1:
            if value < 0:  # C division truncates; round down like Python
                value = -((-(value + 1)) // self.divisor) - 1
            else:
                value //= self.divisor
        self.column.append(value)
        return 0


@cython.final
@cython.cclass
class LongAsDoubleReader(Reader):
    """Reads an int or a long as a double."""

    column: DoubleColumn
    is_int: cython.bint

    def __init__(self, column: DoubleColumn, is_int: cython.bint) -> None:
        self.column, self.is_int = column, is_int

    @cython.cfunc
    @cython.exceptval(-1)
    def read(self, cursor: Cursor) -> cython.int:
        value: cython.longlong
        at: cython.Py_ssize_t
        value, at = read_varint(cursor.data, cursor.at, cursor.end)
        if at < 0:
            return cursor.fail(NO_INTEGER)
        if self.is_int and (value < -0x80000000 or value > 0x7FFFFFFF):
            return cursor.fail(f"expected an int of 32 bits, got {value}")
        cursor.at = at
        self.column.append(cython.cast(cython.double, value))
        return 0


@cython.final
@cython.cclass
class LongAsFloatReader(Reader):
    """Reads an int or a long as a float."""

    column: FloatColumn
    is_int: cython.bint

    def __init__(self, column: FloatColumn, is_int: cython.bint) -> None:
        self.column, self.is_int = column, is_int

    @cython.cfunc
    @cython.exceptval(-1)
    def read(self, cursor: Cursor) -> cython.int:
        value: cython.longlong
        at: cython.Py_ssize_t
        value, at = read_varint(cursor.data, cursor.at, cursor.end)
        if at < 0:
            return cursor.fail(NO_INTEGER)
        if self.is_int and (value < -0x80000000 or value > 0x7FFFFFFF):
            return cursor.fail(f"expected an int of 32 bits, got {value}")
        cursor.at = at
        self.column.append(whole_as_float(value))
        return 0


@cython.final
@cython.cclass
class FloatReader(Reader):
    """Reads a float."""

    column: FloatColumn

    def __init__(self, column: FloatColumn) -> None:
        self.column = column

    @cython.cfunc
    @cython.exceptval(-1)
    def read(self, cursor: Cursor) -> cython.int:
        if cursor.end - cursor.at < 4:
            return cursor.fail(TOO_SHORT)
        self.column.append(float_at(cursor.data, cursor.at))
        cursor.at += 4
        return 0


@cython.final
@cython.cclass
class DoubleReader(Reader):
    """Reads a double, or a float as a double."""

    column: DoubleColumn
    size: cython.Py_ssize_t

    def __init__(self, column: DoubleColumn, size: cython.Py_ssize_t) -> None:
        self.column, self.size = column, size

    @cython.cfunc
    @cython.exceptval(-1)
    def read(self, cursor: Cursor) -> cython.int:
        if cursor.end - cursor.at < self.size:
            return cursor.fail(TOO_SHORT)
        if self.size == 8:
            self.column.append(double_at(cursor.data, cursor.at))
        else:
            self.column.append(float_at(cursor.data, cursor.at))
        cursor.at += self.size
        return 0


# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False


@cython.final
@cython.cclass
class BytesReader(Reader):
    """Reads bytes, or a string, which must be UTF-8."""

    column: BytesColumn
    is_text: cython.bint

    def __init__(self, column: BytesColumn, is_text: cython.bint) -> None:
        self.column, self.is_text = column, is_text

    @cython.cfunc
    @cython.exceptval(-1)
    def read(self, cursor: Cursor) -> cython.int:
        size: cython.Py_ssize_t = read_length(cursor)
        if size < 0:
            return BAD
        if self.is_text and not is_utf8(cursor.data, cursor.at, size):
            return cursor.fail(
                f"expected a string in UTF-8, got {bytes(cursor.data[cursor.at : cursor.at + size])!r:.60}"
            )
        self.column.append(cursor.data, cursor.at, size)
        cursor.at += size
        return 0


@cython.final
@cython.cclass
class FixedReader(Reader):
    """Reads a fixed number of bytes."""

    column: FixedColumn

    def __init__(self, column: FixedColumn) -> None:
        self.column = column

    @cython.cfunc
    @cython.exceptval(-1)
    def read(self, cursor: Cursor) -> cython.int:
        if cursor.end - cursor.at < self.column.width:
            return cursor.fail(TOO_SHORT)
        self.column.append(cursor.data, cursor.at)
        cursor.at += self.column.width
        return 0


@cython.final
@cython.cclass
class EnumReader(Reader):
    """Reads an enum index into a column of symbols.

    `texts` contains the symbols one after another, and `ends` their end positions; `targets` maps the writer's indexes
    to the reader's, or to -1 if the reader has neither the symbol nor a default.
    """

    column: BytesColumn
    targets: cython.int[::1]
    ends: cython.int[::1]
    texts: cython.const[cython.uchar][::1]  # type: ignore[valid-type]
    symbols: tuple[str, ...]

    def __init__(self, column: BytesColumn, targets: Any, ends: Any, texts: Any, symbols: tuple[str, ...]) -> None:
        self.column, self.targets, self.ends, self.texts, self.symbols = column, targets, ends, texts, symbols

    @cython.cfunc
    @cython.exceptval(-1)
    def read(self, cursor: Cursor) -> cython.int:
        value: cython.longlong
        at: cython.Py_ssize_t
        target: cython.int
        value, at = read_varint(cursor.data, cursor.at, cursor.end)
        if at < 0:
            return cursor.fail(NO_INTEGER)
        if value < 0 or value >= len(self.symbols):
            return cursor.fail(f"expected the number of one of {len(self.symbols)} symbols, got {value}")
        target = self.targets[value]
        if target < 0:
            return cursor.fail(f"the reader's enum has neither the symbol {self.symbols[value]} nor a default")
        cursor.at = at
        self.column.append(self.texts, self.ends[target], self.ends[target + 1] - self.ends[target])
        return 0


@cython.final
@cython.cclass
class DecimalReader(Reader):
    """Reads a decimal from bytes (`size` is -1) or from a fixed type."""

    column: FixedColumn
    size: cython.Py_ssize_t
    precision: cython.int

    def __init__(self, column: FixedColumn, size: cython.Py_ssize_t, precision: cython.int) -> None:
        self.column, self.size, self.precision = column, size, precision

    @cython.cfunc
    @cython.exceptval(-1)
    def read(self, cursor: Cursor) -> cython.int:
        size: cython.Py_ssize_t = self.size
        start: cython.Py_ssize_t
        stop: cython.Py_ssize_t
        if size < 0:
            size = read_length(cursor)
            if size < 0:
                return BAD
        elif cursor.end - cursor.at < size:
            return cursor.fail(TOO_SHORT)
        start, stop = cursor.at, cursor.at + size
        while stop - start > 1 and (
            (cursor.data[start] == 0 and cursor.data[start + 1] < 128)
            or (cursor.data[start] == 255 and cursor.data[start + 1] >= 128)
        ):
            start += 1  # a byte that only repeats the sign bit
        if not self._fits(cursor, start, stop):
            return cursor.fail(f"expected a decimal of at most {self.precision} digits")
        self.column.append_number(cursor.data, start, stop - start)
        cursor.at = stop
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _fits(self, cursor: Cursor, start: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.int:
        """Return whether a number without redundant leading bytes fits the column's precision."""
        if stop - start > self.column.width:
            return 0
        if self.precision > 2 * (stop - start) + (stop - start + 1) // 2:  # a byte holds fewer than 2.41 digits
            return 1
        number = int.from_bytes(bytes(cursor.data[start:stop]), "big", signed=True)
        return 1 if abs(number) < _EXPONENTS[self.precision] else 0


_HEX = cython.declare(bytes, b"0123456789abcdef")


@cython.final
@cython.cclass
class UuidReader(Reader):
    """Reads a UUID from 16 bytes, as text of 36 characters."""

    column: BytesColumn
    text: cython.uchar[::1]

    def __init__(self, column: BytesColumn) -> None:
        self.column = column
        self.text = bytearray(36)

    @cython.cfunc
    @cython.exceptval(-1)
    def read(self, cursor: Cursor) -> cython.int:
        index: cython.Py_ssize_t
        at: cython.Py_ssize_t = 0
        byte: cython.uchar
        if cursor.end - cursor.at < 16:
            return cursor.fail(TOO_SHORT)
        for index in range(16):
            if index == 4 or index == 6 or index == 8 or index == 10:
                self.text[at] = 45
                at += 1
            byte = cursor.data[cursor.at + index]
            self.text[at] = _HEX[byte >> 4]
            self.text[at + 1] = _HEX[byte & 15]
            at += 2
        cursor.at += 16
        self.column.append(self.text, 0, 36)
        return 0


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _uint32_at(data: cython.const[cython.uchar][::1], at: cython.Py_ssize_t) -> cython.longlong:  # type: ignore[valid-type]
    """Return the little-endian unsigned 32-bit number at a position."""
    return (
        cython.cast(cython.longlong, data[at])
        | cython.cast(cython.longlong, data[at + 1]) << 8
        | cython.cast(cython.longlong, data[at + 2]) << 16
        | cython.cast(cython.longlong, data[at + 3]) << 24
    )


@cython.final
@cython.cclass
class DurationReader(Reader):
    """Reads months, days and milliseconds as Arrow's months, days and nanoseconds."""

    column: FixedColumn
    interval: cython.uchar[::1]

    def __init__(self, column: FixedColumn) -> None:
        self.column = column
        self.interval = bytearray(16)

    @cython.cfunc
    @cython.exceptval(-1)
    def read(self, cursor: Cursor) -> cython.int:
        index: cython.Py_ssize_t
        nanoseconds: cython.longlong
        if cursor.end - cursor.at < 12:
            return cursor.fail(TOO_SHORT)
        if cursor.data[cursor.at + 3] > 127 or cursor.data[cursor.at + 7] > 127:
            return cursor.fail("expected a duration of less than 2,147,483,648 months and days")
        for index in range(8):
            self.interval[index] = cursor.data[cursor.at + index]
        nanoseconds = _uint32_at(cursor.data, cursor.at + 8) * 1_000_000
        for index in range(8):
            self.interval[8 + index] = (nanoseconds >> (8 * index)) & 255
        cursor.at += 12
        self.column.append(self.interval, 0)
        return 0
