# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Converts columns to lines of text, without per-record objects.

Compiled with Cython; the plain variant behaves the same.
"""

from __future__ import annotations

try:
    import cython
except ImportError:  # the plain variant does not need Cython
    from kafka import _cython as cython

from kafka.record.column_memory import BinaryColumn, ColumnBuffers

if cython.compiled:
    from cython.cimports.cpython.bytes import PyBytes_AS_STRING, PyBytes_FromStringAndSize
    from cython.cimports.libc.string import memcpy


def lines(
    buffers: ColumnBuffers, first: int, stop: int, delimiter: bytes, separator: bytes | None, null: bytes
) -> bytes:
    """Return the values of rows, each followed by a delimiter.

    Args:
        buffers: the memory of columns, see `Columns.buffers`.
        first: the first row.
        stop: one past the last row.
        delimiter: bytes after each value.
        separator: bytes between a key and its value; None leaves keys out.
        null: bytes for a null key or value.

    Raises:
        IndexError: the rows do not exist.
    """
    if not 0 <= first <= stop <= buffers.rows:
        raise IndexError(f"Expected rows from 0 to {buffers.rows}, got {first} to {stop}")
    if not cython.compiled:
        return _joined(buffers, first, stop, delimiter, separator, null)
    return _copied(buffers.keys, buffers.values, first, stop, delimiter, separator is not None, separator or b"", null)


def _joined(
    buffers: ColumnBuffers, first: int, stop: int, delimiter: bytes, separator: bytes | None, null: bytes
) -> bytes:
    """Pure-Python implementation: return the joined lines."""
    parts: list[bytes | memoryview] = []
    for row in range(first, stop):
        if separator is not None:
            parts += (_row(buffers.keys, row, null), separator)
        parts += (_row(buffers.values, row, null), delimiter)
    return b"".join(parts)


def _row(column: BinaryColumn, row: int, null: bytes) -> bytes | memoryview:
    if column.valid is not None and not (column.valid[row >> 3] >> (row & 7)) & 1:
        return null
    return column.data[column.ends[row] : column.ends[row + 1]]


@cython.cclass
class _Column:
    """A column of byte strings, accessed from C."""

    ends: cython.const[cython.int][::1]  # type: ignore[valid-type]
    data: cython.const[cython.uchar][::1]  # type: ignore[valid-type]
    valid: cython.const[cython.uchar][::1]  # type: ignore[valid-type]
    has_nulls: cython.bint
    has_data: cython.bint

    def __init__(self, column: BinaryColumn) -> None:
        self.ends = column.ends
        self.data = column.data
        self.has_data = len(column.data) > 0
        self.has_nulls = column.valid is not None
        if column.valid is not None:
            self.valid = column.valid

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def is_null(self, row: cython.Py_ssize_t) -> cython.bint:
        """Return whether a row is null."""
        return self.has_nulls and not (self.valid[row >> 3] >> (row & 7)) & 1

    @cython.cfunc
    @cython.exceptval(check=False)
    def size(self, first: cython.Py_ssize_t, stop: cython.Py_ssize_t, null: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the size of the rows in bytes, counting `null` bytes for each null."""
        row: cython.Py_ssize_t
        total: cython.Py_ssize_t = self.ends[stop] - self.ends[first]
        if self.has_nulls and null > 0:
            for row in range(first, stop):
                if self.is_null(row):
                    total += null
        return total

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def copy(
        self, row: cython.Py_ssize_t, to: cython.p_char, null: cython.p_char, null_size: cython.Py_ssize_t
    ) -> cython.p_char:
        """Write a row; return the position after it."""
        size: cython.Py_ssize_t
        if self.is_null(row):
            memcpy(to, null, null_size)
            return to + null_size
        size = self.ends[row + 1] - self.ends[row]
        if size > 0:
            memcpy(to, cython.address(self.data[self.ends[row]]), size)
        return to + size


@cython.cfunc
def _copied(
    keys: object,
    values: object,
    first: cython.Py_ssize_t,
    stop: cython.Py_ssize_t,
    delimiter: bytes,
    with_keys: cython.bint,
    separator: bytes,
    null: bytes,
) -> bytes:
    """Return the lines in the compiled variant: compute the size first, then allocate once."""
    key_column: _Column = _Column(keys)  # type: ignore[arg-type]
    value_column: _Column = _Column(values)  # type: ignore[arg-type]
    row: cython.Py_ssize_t
    delimiter_size: cython.Py_ssize_t = len(delimiter)
    separator_size: cython.Py_ssize_t = len(separator)
    null_size: cython.Py_ssize_t = len(null)
    total: cython.Py_ssize_t = value_column.size(first, stop, null_size) + (stop - first) * delimiter_size
    if with_keys:
        total += key_column.size(first, stop, null_size) + (stop - first) * separator_size
    result: bytes = PyBytes_FromStringAndSize(cython.NULL, total)
    to: cython.p_char = PyBytes_AS_STRING(result)
    end: cython.p_char = PyBytes_AS_STRING(delimiter)
    between: cython.p_char = PyBytes_AS_STRING(separator)
    absent: cython.p_char = PyBytes_AS_STRING(null)
    for row in range(first, stop):
        if with_keys:
            to = key_column.copy(row, to, absent, null_size)
            memcpy(to, between, separator_size)
            to += separator_size
        to = value_column.copy(row, to, absent, null_size)
        memcpy(to, end, delimiter_size)
        to += delimiter_size
    return result
