# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Reads JSON strings into columns of strings, or of bytes in base64. Compiled by Cython; the plain variant behaves the
same.
"""

from __future__ import annotations

import binascii

try:
    import cython
except ImportError:  # the plain variant needs no Cython
    from kafka import _cython as cython

from kafka.formats.json.texts import without_surrogates

if cython.compiled:
    from cython.cimports.kafka.formats.byte_operations import is_utf8
    from cython.cimports.kafka.formats.column_builders import BytesColumn, FixedColumn
    from cython.cimports.kafka.formats.json.cursor import Cursor, Reader
    from cython.cimports.kafka.formats.json.skip import skip_value
    from cython.cimports.kafka.formats.json.texts import read_text
else:
    from kafka.formats.byte_operations import is_utf8
    from kafka.formats.column_builders import BytesColumn, FixedColumn
    from kafka.formats.json.cursor import Cursor, Reader
    from kafka.formats.json.skip import skip_value
    from kafka.formats.json.texts import read_text

BAD = cython.declare(cython.int, 1)
"""Returned by a reader for bytes that are not a value of its type."""


@cython.cfunc
def text_of(cursor: Cursor) -> bytes:
    """Return the last string read."""
    if cursor.text_at >= 0:
        return bytes(cursor.data[cursor.text_at : cursor.text_at + cursor.text_size])
    return bytes(cursor.text[: cursor.text_size])


@cython.final
@cython.cclass
class TextReader(Reader):
    """Reads a string."""

    _values: BytesColumn

    def __init__(self, column: BytesColumn, nullable: cython.bint) -> None:
        Reader.__init__(self, column, nullable, "a string")
        self._values = column

    @cython.cfunc
    @cython.exceptval(-1)
    def read(self, cursor: Cursor) -> cython.int:
        if cursor.data[cursor.at] != 34:
            return cursor.expected(cursor.at, self.expects)
        if read_text(cursor):
            return BAD
        if cursor.text_at >= 0:
            self._values.append(cursor.data, cursor.text_at, cursor.text_size)
        else:
            self._values.append(cursor.text, 0, cursor.text_size)
        return 0


@cython.cfunc
def _read_base64(cursor: Cursor, expects: str) -> bytes | None:
    """Decode a base64 string; returns None, with the reason in the cursor, if the string is invalid."""
    at: cython.Py_ssize_t = cursor.at
    if cursor.data[at] != 34:
        cursor.expected(at, expects)
        return None
    if read_text(cursor):
        return None
    try:
        return binascii.a2b_base64(text_of(cursor), strict_mode=True)
    except binascii.Error:
        cursor.expected(at, expects)
        return None


@cython.final
@cython.cclass
class BinaryReader(Reader):
    """Reads bytes from base64 with padding."""

    _values: BytesColumn

    def __init__(self, column: BytesColumn, nullable: cython.bint) -> None:
        Reader.__init__(self, column, nullable, "a string in base64")
        self._values = column

    @cython.cfunc
    @cython.exceptval(-1)
    def read(self, cursor: Cursor) -> cython.int:
        found = _read_base64(cursor, self.expects)
        if found is None:
            return BAD
        self._values.append(found, 0, len(found))
        return 0


@cython.final
@cython.cclass
class FixedReader(Reader):
    """Reads a fixed number of bytes from base64 with padding."""

    _values: FixedColumn

    def __init__(self, column: FixedColumn, nullable: cython.bint) -> None:
        Reader.__init__(self, column, nullable, f"{column.width} bytes in base64")
        self._values = column

    @cython.cfunc
    @cython.exceptval(-1)
    def read(self, cursor: Cursor) -> cython.int:
        at: cython.Py_ssize_t = cursor.at
        found = _read_base64(cursor, self.expects)
        if found is None:
            return BAD
        if len(found) != self._values.width:
            return cursor.expected(at, self.expects)
        self._values.append(found, 0)
        return 0


@cython.final
@cython.cclass
class RawReader(Reader):
    """Reads a value of any type as its JSON text."""

    _values: BytesColumn

    def __init__(self, column: BytesColumn, nullable: cython.bint) -> None:
        Reader.__init__(self, column, nullable, "a value")
        self._values = column

    @cython.cfunc
    @cython.exceptval(-1)
    def read(self, cursor: Cursor) -> cython.int:
        start: cython.Py_ssize_t = cursor.at
        size: cython.Py_ssize_t
        if skip_value(cursor):
            return BAD
        size = cursor.at - start
        if is_utf8(cursor.data, start, size):
            self._values.append(cursor.data, start, size)
            return 0
        if not cursor.replaces_surrogates:  # only UTF-8 is accepted
            return cursor.fail(start, "expected strings of characters, got half of a pair of surrogates")
        self._values.append(without_surrogates(bytes(cursor.data[start : cursor.at])), 0, size)
        return 0
