# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Readers of Avro's numbers and truth values. Compiled by Cython; the plain variant behaves the same."""

from __future__ import annotations

try:
    import cython
except ImportError:  # the plain variant needs no Cython
    from kafka import _cython as cython

from kafka.formats.avro.cursor import NO_INTEGER, TOO_SHORT

if cython.compiled:
    from cython.cimports.kafka.formats.avro.cursor import Cursor, Reader
    from cython.cimports.kafka.formats.avro.floats import double_at, float_at, whole_as_float
    from cython.cimports.kafka.formats.columns import (
        BooleanColumn,
        Column,
        DoubleColumn,
        FloatColumn,
        Int32Column,
        Int64Column,
    )
    from cython.cimports.kafka.record.integers import read_varint
else:
    from kafka.formats.avro.cursor import Cursor, Reader
    from kafka.formats.avro.floats import double_at, float_at, whole_as_float
    from kafka.formats.columns import (
        BooleanColumn,
        Column,
        DoubleColumn,
        FloatColumn,
        Int32Column,
        Int64Column,
    )
    from kafka.record.integers import read_varint


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
    """Reads a truth value."""

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
    """Reads an int within bounds: all of 32 bits, or those of a time of day."""

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
    """Reads a long, or an int, within bounds, and changes its unit by multiplying or dividing."""

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
            if value < 0:  # rounded down, in C and in Python
                value = -((-(value + 1)) // self.divisor) - 1
            else:
                value //= self.divisor
        self.column.append(value)
        return 0


@cython.final
@cython.cclass
class LongAsDoubleReader(Reader):
    """Reads a long, or an int, as a double."""

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
    """Reads a long, or an int, as a float."""

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
