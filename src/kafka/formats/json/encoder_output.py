# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The output buffer for JSON, and the base class for writers. Compiled with Cython; the plain variant behaves the same.

`column_encoder` makes a tree of writers for a type, and `bind` sets the array. Each writer writes a row's value to the
output. If JSON cannot represent the value, the writer returns `BAD` and stores the reason and the path in the output.
"""

from __future__ import annotations

from typing import Any

try:
    import cython
except ImportError:  # the plain variant needs no Cython
    from kafka import _cython as cython

if cython.compiled:
    from cython.cimports.kafka.formats.column_builders import BytesColumn
    from cython.cimports.kafka.formats.json.scan import text_end
    from cython.cimports.libc.string import memcpy
else:
    from kafka.formats.column_builders import BytesColumn
    from kafka.formats.json.scan import text_end

BAD = cython.declare(cython.int, 1)
"""Returned by a writer for a value that JSON cannot represent."""
_WORDS = cython.declare(bytes, b"nulltruefalse")
"""The JSON literals, for `Output.words`."""
_HEX = cython.declare(bytes, b"0123456789abcdef")
_MAX_DIGITS = cython.declare(cython.Py_ssize_t, 20)
"""Number of digits in the largest 64-bit number."""


@cython.final
@cython.cclass
class Output:
    """Collects the encoded values, one per row, with the reason for the failure if a value could not be written."""

    def __init__(self) -> None:
        self.column = BytesColumn()
        self.words = _WORDS
        self.reason = ""
        self.path: list[str] = []

    @cython.cfunc
    @cython.exceptval(-1)
    def fail(self, reason: str) -> cython.int:
        """Store why a value cannot be written; returns `BAD`."""
        self.reason = reason
        return BAD

    @cython.cfunc
    @cython.exceptval(-1)
    def fail_in(self, part: str) -> cython.int:
        """Add the enclosing part to the path of the failure, innermost first; returns `BAD`."""
        if len(self.path) < 20:
            self.path.append(part)
        return BAD

    def failure(self) -> str:
        """Return the reason with the field's path, and reset them."""
        path = "".join(reversed(self.path)).lstrip(".")
        reason, self.reason, self.path = self.reason, "", []
        return f"{path}: {reason}" if path else reason

    def take(self) -> Any:
        """Return the memory for an Arrow array; see `Column.take`."""
        return self.column.take()

    @cython.cfunc
    @cython.exceptval(-1)
    def put(
        self,
        source: cython.const[cython.uchar][::1],  # type: ignore[valid-type]
        start: cython.Py_ssize_t,
        size: cython.Py_ssize_t,
    ) -> cython.int:
        """Append bytes of a source; the caller has checked the bounds."""
        column: BytesColumn = self.column
        if size > column._data_room - column.data_size:
            column._reserve(size)
        if size > 0:
            if cython.compiled:
                memcpy(cython.address(column._data[column.data_size]), cython.address(source[start]), size)
            else:
                column._data[column.data_size : column.data_size + size] = source[start : start + size]
        column.data_size += size
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def put_byte(self, byte: cython.uchar) -> cython.int:
        """Append a byte."""
        column: BytesColumn = self.column
        if column._data_room == column.data_size:
            column._reserve(1)
        column._data[column.data_size] = byte
        column.data_size += 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def put_number(self, value: cython.ulonglong, negative: cython.bint) -> cython.int:
        """Append an integer, given by its absolute value and sign."""
        count: cython.Py_ssize_t = 1
        rest: cython.ulonglong = value
        if negative:
            self.put_byte(45)
        while rest >= 10:
            rest //= 10
            count += 1
        return self.put_digits(value, count)

    @cython.cfunc
    @cython.exceptval(-1)
    def put_digits(self, value: cython.ulonglong, count: cython.Py_ssize_t) -> cython.int:
        """Append the last `count` digits of a number, padded with zeros."""
        column: BytesColumn = self.column
        at: cython.Py_ssize_t
        if count > column._data_room - column.data_size:
            column._reserve(count)
        for at in range(column.data_size + count - 1, column.data_size - 1, -1):
            column._data[at] = 48 + value % 10
            value //= 10
        column.data_size += count
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def put_text(
        self,
        source: cython.const[cython.uchar][::1],  # type: ignore[valid-type]
        start: cython.Py_ssize_t,
        size: cython.Py_ssize_t,
    ) -> cython.int:
        """Append a string in quotes."""
        at: cython.Py_ssize_t = start
        end: cython.Py_ssize_t = start + size
        stop: cython.Py_ssize_t
        self.put_byte(34)
        while at < end:
            stop = text_end(source, at, end) >> 1
            self.put(source, at, stop - at)
            if stop < end:
                self._put_escape(source[stop])
            at = stop + 1
        self.put_byte(34)
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _put_escape(self, byte: cython.uchar) -> cython.int:
        """Append an escaped quote, backslash or control character."""
        self.put_byte(92)
        if byte == 34 or byte == 92:
            self.put_byte(byte)
        elif byte == 10:
            self.put_byte(110)
        elif byte == 13:
            self.put_byte(114)
        elif byte == 9:
            self.put_byte(116)
        elif byte == 8:
            self.put_byte(98)
        elif byte == 12:
            self.put_byte(102)
        else:
            self.put_byte(117)
            self.put_byte(48)
            self.put_byte(48)
            self.put_byte(_HEX[byte >> 4])
            self.put_byte(_HEX[byte & 15])
        return 0


@cython.cclass
class Writer:
    """Base class: writes rows of the array set by `bind`."""

    def bind(self, array: Any) -> None:
        """Set the array to write, which must be valid and have the writer's type."""
        valid = array.buffers()[0] if array.null_count else None
        self._valid = view_of(valid)
        self._has_nulls = valid is not None
        self._offset = array.offset

    @cython.cfunc
    @cython.exceptval(-1)
    def is_null(self, row: cython.Py_ssize_t) -> cython.bint:
        """Return whether a row is null."""
        row += self._offset
        return self._has_nulls and not (self._valid[row >> 3] >> (row & 7)) & 1

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, row: cython.Py_ssize_t) -> cython.int:
        """Write a row that is not null; returns 0, or `BAD` with the reason in the output."""
        raise NotImplementedError


def view_of(buffer: Any) -> memoryview:
    """Return the bytes of a buffer, or placeholder bytes if it is missing or empty."""
    return memoryview(buffer).cast("B") if buffer is not None and len(buffer) else memoryview(bytes(8))


@cython.cfunc
@cython.exceptval(-1)
def write_value(writer: Writer, out: Output, row: cython.Py_ssize_t) -> cython.int:
    """Write a row, which may be null; returns 0 or `BAD`."""
    if writer.is_null(row):
        return out.put(out.words, 0, 4)
    return writer.write(out, row)


def write_rows(writer: Writer, out: Output, rows: int) -> int:
    """Write the first `rows` rows of the writer's array; null rows stay null.

    Returns:
        The index of the first row that could not be written (the output then contains the reason), or the number of
        rows.
    """
    row: cython.Py_ssize_t
    column: BytesColumn = out.column
    for row in range(rows):
        if writer.is_null(row):
            column.append_null()
            continue
        if writer.write(out, row):
            return row
        if column.rows == column._room:
            column._grow()
        column._ends[column.rows + 1] = column.data_size
        column._begin_row()
    return rows
