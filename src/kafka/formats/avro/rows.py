# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Reads Avro values into the rows of a column. Compiled with Cython; the plain variant behaves the same."""

from __future__ import annotations

from typing import Any

try:
    import cython
except ImportError:  # the plain variant needs no Cython
    from kafka import _cython as cython

if cython.compiled:
    from cython.cimports.kafka.formats.avro.cursor import Cursor, Reader
    from cython.cimports.kafka.formats.column_builders import Column
else:
    from kafka.formats.avro.cursor import Cursor, Reader
    from kafka.formats.column_builders import Column


@cython.cfunc
@cython.exceptval(-1)
def _take_back(root: Column, rows: cython.Py_ssize_t) -> cython.int:
    """Replace an incomplete row with a null."""
    root.truncate(rows)
    root.append_null()
    return 0


def read_rows(
    readers: dict[int | None, Reader],
    root: Column,
    data: Any,
    ends: cython.const[cython.int][::1],  # type: ignore[valid-type]
    valid: cython.const[cython.uchar][::1],  # type: ignore[valid-type]
    has_nulls: cython.bint,
    start: cython.Py_ssize_t,
    framed: cython.bint,
    failures: list[tuple[int, str | None, str]],
) -> int:
    """Read values into a column, starting at row `start`. Null values and invalid values become null rows.

    Args:
        readers: the reader for each schema id; the key None stands for unframed values.
        root: the root column of all readers.
        data: the bytes of the values.
        ends: the int32 end positions of the values, preceded by 0.
        valid: the validity bitmap of the values.
        has_nulls: whether any value is null.
        start: the first row to read.
        framed: whether each value begins with a zero byte and a big-endian schema id of four bytes.
        failures: receives `(row, cause, path of the field)` for each value that cannot be read; the cause is None if
            the prefix is missing.

    Returns:
        The index of the first row whose schema id has no reader, or the number of rows if there is no such row.
    """
    cursor: Cursor = Cursor(data)
    row: cython.Py_ssize_t
    rows: cython.Py_ssize_t = len(ends) - 1
    size: cython.Py_ssize_t = cursor.end
    at: cython.Py_ssize_t
    before: cython.Py_ssize_t
    schema_id: cython.longlong = -1
    this_id: cython.longlong
    reader: Reader | None = readers.get(None)
    for row in range(start, rows):
        if has_nulls and not (valid[row >> 3] >> (row & 7)) & 1:
            root.append_null()
            continue
        at = ends[row]
        cursor.begin(at)
        cursor.end = ends[row + 1]
        if at < 0 or at > cursor.end or cursor.end > size:
            raise ValueError(f"Expected growing end positions within {size} bytes, got {at} and {cursor.end}")
        if framed:
            if cursor.end - at < 5 or cursor.data[at] != 0:
                root.append_null()
                failures.append((row, None, ""))
                continue
            this_id = (
                cython.cast(cython.longlong, cursor.data[at + 1]) << 24
                | cython.cast(cython.longlong, cursor.data[at + 2]) << 16
                | cython.cast(cython.longlong, cursor.data[at + 3]) << 8
                | cython.cast(cython.longlong, cursor.data[at + 4])
            )
            if this_id != schema_id:
                reader = readers.get(this_id)
                schema_id = this_id
            cursor.at = at + 5
        if reader is None:
            return row
        before = root.rows
        if reader.read(cursor):
            _take_back(root, before)
            field = cursor.where()
            failures.append((row, cursor.failure(), field))
        elif cursor.at != cursor.end:
            _take_back(root, before)
            failures.append((row, f"{cursor.end - cursor.at} bytes remain after the value", ""))
    return rows
