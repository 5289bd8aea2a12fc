# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Reads JSON values into the rows of a column, and checks the syntax of single values. Compiled by Cython; the plain
variant behaves the same.
"""

from __future__ import annotations

from typing import Any

try:
    import cython
except ImportError:  # the plain variant needs no Cython
    from kafka import _cython as cython

from kafka.formats.json.texts import in_utf8

if cython.compiled:
    from cython.cimports.kafka.formats.column_builders import Column
    from cython.cimports.kafka.formats.json.cursor import Cursor, Reader, read_value
    from cython.cimports.kafka.formats.json.scan import next_byte
    from cython.cimports.kafka.formats.json.skip import skip_value
else:
    from kafka.formats.column_builders import Column
    from kafka.formats.json.cursor import Cursor, Reader, read_value
    from kafka.formats.json.scan import next_byte
    from kafka.formats.json.skip import skip_value

BAD = cython.declare(cython.int, 1)
"""Returned by a reader for bytes that are not a value of its type."""
_PREFIX_SIZE = cython.declare(cython.Py_ssize_t, 5)


@cython.cfunc
@cython.exceptval(-1)
def _read_document(reader: Reader, cursor: Cursor) -> cython.int:
    """Read a document: a single value that must end at the last byte; returns 0 or `BAD`."""
    if read_value(reader, cursor):
        return BAD
    if next_byte(cursor) >= 0:
        return cursor.expected(cursor.at, "the end of the value")
    return 0


@cython.cfunc
@cython.exceptval(-1)
def _read_other_encoding(reader: Reader, cursor: Cursor) -> cython.int:
    """Read a value in UTF-16 or UTF-32, or with a byte order mark; returns 0 or `BAD`."""
    other: Cursor
    found = in_utf8(bytes(cursor.data[cursor.start : cursor.end]))
    if found is None:
        return BAD
    other = Cursor(found, cursor.replaces_surrogates)
    if _read_document(reader, other):
        cursor.reason, cursor.failed_at, cursor.path = other.reason, other.failed_at, other.path
        return BAD
    return 0


def read_rows(
    reader: Reader,
    data: Any,
    ends: cython.const[cython.int][::1],  # type: ignore[valid-type]
    valid: cython.const[cython.uchar][::1],  # type: ignore[valid-type]
    has_nulls: cython.bint,
    framed: cython.bint,
    replaces_surrogates: cython.bint,
    failures: list[tuple[int, str | None, str]],
) -> None:
    """Read values into the reader's column. Null values and invalid values become null rows.

    Args:
        reader: reads a value.
        data: the bytes of the values.
        ends: the int32 end positions of the values, preceded by 0.
        valid: the validity bitmap of the values.
        has_nulls: whether any value is null.
        framed: whether each value begins with a zero byte and a schema id in four bytes.
        replaces_surrogates: replace half a surrogate pair with U+FFFD; otherwise it is an error.
        failures: receives `(row, cause, path of the field)` for each value that cannot be read; the cause is None if
            the prefix is missing.
    """
    cursor: Cursor = Cursor(data, replaces_surrogates)
    root: Column = reader.column
    row: cython.Py_ssize_t
    size: cython.Py_ssize_t = cursor.end
    before: cython.Py_ssize_t
    for row in range(len(ends) - 1):
        if has_nulls and not (valid[row >> 3] >> (row & 7)) & 1:
            root.append_null()
            continue
        cursor.start = cursor.at = ends[row]
        cursor.end = ends[row + 1]
        if cursor.at < 0 or cursor.at > cursor.end or cursor.end > size:
            raise ValueError(f"Expected growing end positions within {size} bytes, got {cursor.at} and {cursor.end}")
        if framed:
            if cursor.end - cursor.at < _PREFIX_SIZE or cursor.data[cursor.at] != 0:
                root.append_null()
                failures.append((row, None, ""))
                continue
            cursor.start = cursor.at = cursor.at + _PREFIX_SIZE
        before = root.rows
        if _read_document(reader, cursor):
            root.truncate(before)
            if _read_other_encoding(reader, cursor):
                root.truncate(before)
                root.append_null()
                field = cursor.where()
                failures.append((row, cursor.failure(), field))


def json_syntax_error(value: bytes) -> str | None:
    """Return why bytes are not valid JSON, or None if they are. It accepts what Python's `json.loads` accepts.

    This includes NaN, infinities, duplicate keys and lone surrogates. Arrays and objects may be nested up to
    1,000 levels deep.

    Args:
        value: the bytes.
    """
    cursor: Cursor = Cursor(value)
    found: bytes | None
    if skip_value(cursor) == 0 and next_byte(cursor) < 0:
        return None
    found = in_utf8(value)
    if found is not None:
        cursor = Cursor(found)
        if skip_value(cursor) == 0 and next_byte(cursor) < 0:
            return None
    if not cursor.reason:
        cursor.expected(cursor.at, "the end of the value")
    return cursor.failure()
