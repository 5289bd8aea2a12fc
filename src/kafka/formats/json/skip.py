# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Skips JSON values of any type, and checks their syntax. Compiled with Cython; the plain variant behaves the same."""

from __future__ import annotations

try:
    import cython
except ImportError:  # the plain variant needs no Cython
    from kafka import _cython as cython

if cython.compiled:
    from cython.cimports.kafka.formats.json.cursor import Cursor
    from cython.cimports.kafka.formats.json.numbers import is_number, read_number
    from cython.cimports.kafka.formats.json.scan import next_byte
    from cython.cimports.kafka.formats.json.texts import skip_text
else:
    from kafka.formats.json.cursor import Cursor
    from kafka.formats.json.numbers import is_number, read_number
    from kafka.formats.json.scan import next_byte
    from kafka.formats.json.texts import skip_text

BAD = cython.declare(cython.int, 1)
"""Returned by a reader for bytes that are not a value of its type."""
_CONSTANTS = cython.declare(tuple, (b"null", b"true", b"false", b"NaN", b"Infinity", b"-Infinity"))


@cython.cfunc
@cython.exceptval(-2)
def read_constant(cursor: Cursor) -> cython.int:
    """Read null, true, false, NaN, Infinity or -Infinity; returns its index in this order, or -1."""
    index: cython.int
    word: bytes
    for index in range(6):
        word = _CONSTANTS[index]
        if bytes(cursor.data[cursor.at : min(cursor.at + len(word), cursor.end)]) == word:
            cursor.at += len(word)
            return index
    return -1


@cython.cfunc
@cython.exceptval(-1)
def _begin_scalar(cursor: Cursor, byte: cython.int) -> cython.int:
    """Skip a value that is neither an object nor an array; returns 0 or `BAD`."""
    if byte == 34:
        return skip_text(cursor)
    if is_number(byte) and not (byte == 45 and cursor.end - cursor.at > 1 and cursor.data[cursor.at + 1] == 73):
        return read_number(cursor)
    if byte < 0 or read_constant(cursor) < 0:
        return cursor.expected(cursor.at, "a value")
    return 0


@cython.cfunc
@cython.exceptval(-1)
def _skip_key(cursor: Cursor) -> cython.int:
    """Skip an entry's key and the colon after it; returns 0 or `BAD`."""
    if next_byte(cursor) != 34:
        return cursor.expected(cursor.at, "a key in quotes")
    if skip_text(cursor):
        return BAD
    if next_byte(cursor) != 58:
        return cursor.expected(cursor.at, "a colon")
    cursor.at += 1
    return 0


@cython.cfunc
@cython.exceptval(-1)
def skip_value(cursor: Cursor) -> cython.int:
    """Skip a value and the white space before it; returns 0 or `BAD`."""
    depth: cython.Py_ssize_t = 0
    byte: cython.int
    while True:
        byte = next_byte(cursor)
        if byte == 123 or byte == 91:
            if depth == len(cursor.nesting):
                return cursor.fail(cursor.at, f"expected at most {len(cursor.nesting)} nested arrays and objects")
            cursor.nesting[depth] = byte + 2  # the closing bracket
            depth += 1
            cursor.at += 1
            if next_byte(cursor) != byte + 2:
                if byte == 123 and _skip_key(cursor):
                    return BAD
                continue
        elif _begin_scalar(cursor, byte):
            return BAD
        while depth > 0:
            byte = next_byte(cursor)
            if byte == 44:
                cursor.at += 1
                if cursor.nesting[depth - 1] == 125 and _skip_key(cursor):
                    return BAD
                break
            if byte != cursor.nesting[depth - 1]:
                return cursor.expected(cursor.at, f"a comma or '{chr(cursor.nesting[depth - 1])}'")
            cursor.at += 1
            depth -= 1
        else:
            return 0
