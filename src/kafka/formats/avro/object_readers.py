# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Readers of Avro's primitive types, fixed types and enums that return objects.

Compiled by Cython; the plain variant behaves the same.
"""

from __future__ import annotations

from typing import Any

try:
    import cython
except ImportError:  # the plain variant needs no Cython
    from kafka import _cython as cython

from kafka.formats.avro.cursor import NO_INTEGER, TOO_SHORT

if cython.compiled:
    from cython.cimports.cpython.bytes import PyBytes_FromStringAndSize
    from cython.cimports.cpython.unicode import PyUnicode_DecodeUTF8
    from cython.cimports.kafka.formats.avro.cursor import Cursor, ObjectReader, read_length
    from cython.cimports.kafka.formats.avro.floats import double_at, float_at, whole_as_float
    from cython.cimports.kafka.record.integers import read_varint
else:
    from kafka.formats.avro.cursor import Cursor, ObjectReader, read_length
    from kafka.formats.avro.floats import double_at, float_at, whole_as_float
    from kafka.record.integers import read_varint


@cython.cfunc
@cython.inline
def _bytes_at(cursor: Cursor, size: cython.Py_ssize_t) -> bytes:
    """Return bytes, whose presence was checked, and move past them."""
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
    """Reads a truth value."""

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
    """Reads an int or a long within bounds, and changes its unit by multiplying or dividing."""

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
            if value < 0:  # rounded down, in C and in Python
                value = -((-(value + 1)) // self.divisor) - 1
            else:
                value //= self.divisor
        return value


@cython.final
@cython.cclass
class WholeFloatObject(ObjectReader):
    """Reads a long, or an int, as a double, or as a float."""

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
    """Read a text, which has to be UTF-8; the cursor itself if it is not valid."""
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
    """Reads a text."""

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
    """Reads a symbol's number; `targets` has the reader's symbol of each, None if it has none and no default."""

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
