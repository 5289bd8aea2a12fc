# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The read position in a JSON value, and the base class for readers.

`column_decoder` makes a tree of readers for a type. The tree reads one value after another; each reader consumes its
part of the bytes and appends to its column. For invalid bytes, a reader returns `BAD` and stores the reason, the
position and the path in the cursor; the caller then removes the row. Compiled by Cython; the plain variant behaves the
same.
"""

from __future__ import annotations

import re
from typing import Any

try:
    import cython
except ImportError:  # the plain variant needs no Cython
    from kafka import _cython as cython

from kafka.record.batch_types import Buffer

if cython.compiled:
    from cython.cimports.kafka.formats.column_builders import Column
    from cython.cimports.kafka.formats.json.scan import next_byte
else:
    from kafka.formats.column_builders import Column
    from kafka.formats.json.scan import next_byte

BAD = cython.declare(cython.int, 1)
"""Returned by a reader for bytes that are not a value of its type."""
MAX_DEPTH = 1000
"""Maximum nesting depth of skipped arrays and objects."""
_SHOWN = 40
"""Maximum number of bytes shown in an error message."""
_WORD = re.compile(rb"[A-Za-z0-9_+.\-]+")
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_PUNCTUATION = {b"{": "an object", b"[": "an array", b"}": "'}'", b"]": "']'", b",": "a comma", b":": "a colon"}


def found_at(data: Buffer, at: int, end: int) -> str:
    """Describe the input at a position, for error messages."""
    if at >= end:
        return "the end of the value"
    rest = bytes(data[at : min(end, at + 4 * _SHOWN)])
    if rest[:1] in _PUNCTUATION:
        return _PUNCTUATION[rest[:1]]
    if rest[:1] == b'"':
        string = _STRING.match(rest)
        if string is None:
            return f"the string {_cut(rest)}" if at + len(rest) < end else "a string without an end"
        return f"the string {_cut(string.group())}"
    word = _WORD.match(rest)
    if word is None:
        return _character(rest)
    return _cut(word.group())


def _cut(text: bytes) -> str:
    shown = text[:_SHOWN].decode("utf-8", "replace")
    return f"{shown}..." if len(text) > _SHOWN else shown


def _character(rest: bytes) -> str:
    for size in range(1, 5):
        try:
            character = rest[:size].decode()
        except UnicodeDecodeError:
            continue
        return f"the character {character!r}"
    return f"the byte 0x{rest[0]:02x}"


@cython.final
@cython.cclass
class Cursor:
    """The position in a value's bytes and the last token read, with the reason for the failure if reading failed."""

    def __init__(self, data: Any, replaces_surrogates: cython.bint = False) -> None:
        self.data = data
        self.start = self.at = self.failed_at = 0
        self.end = len(data)
        self.reason = ""
        self.path: list[str] = []
        self.replaces_surrogates = replaces_surrogates
        self.text = bytearray(256)
        self.text_at = self.text_size = 0
        self.nesting = bytearray(MAX_DEPTH)
        self.number_at = self.digits = self.exponent = 0
        self.negative = self.exact = self.plain = False

    @cython.cfunc
    @cython.exceptval(-1)
    def fail(self, at: cython.Py_ssize_t, reason: str) -> cython.int:
        """Store why and where the value is invalid; returns `BAD`."""
        self.failed_at, self.reason = at - self.start, reason
        return BAD

    @cython.cfunc
    @cython.exceptval(-1)
    def expected(self, at: cython.Py_ssize_t, what: str) -> cython.int:
        """Store what was expected and what was found instead; returns `BAD`."""
        return self.fail(at, f"expected {what}, got {found_at(self.data, at, self.end)}")

    @cython.cfunc
    @cython.exceptval(-1)
    def fail_in(self, part: str) -> cython.int:
        """Add the enclosing part to the path of the failure, innermost first; returns `BAD`."""
        if len(self.path) < 20:
            self.path.append(part)
        return BAD

    def where(self) -> str:
        """Return the path of the field at which reading failed."""
        return "".join(reversed(self.path)).lstrip(".")

    def failure(self) -> str:
        """Return the reason, with the field's path and the position in the value, and reset them."""
        path = self.where()
        reason, self.reason, self.path = f"{self.reason}, at byte {self.failed_at}", "", []
        return f"{path}: {reason}" if path else reason


@cython.cclass
class Reader:
    """Base class: reads values of one type into a column."""

    def __init__(self, column: Column, nullable: cython.bint, expects: str) -> None:
        self.column, self.nullable, self.expects = column, nullable, expects

    @cython.cfunc
    @cython.exceptval(-1)
    def read(self, cursor: Cursor) -> cython.int:
        """Read the value at the cursor, which must not be null; returns 0, or `BAD` with the reason in the cursor."""
        raise NotImplementedError


@cython.cfunc
@cython.exceptval(-1)
def read_value(reader: Reader, cursor: Cursor) -> cython.int:
    """Skip white space and read a value, which may be null; returns 0 or `BAD`."""
    byte: cython.int = next_byte(cursor)
    at: cython.Py_ssize_t
    if byte == 110:
        at = cursor.at
        if (
            cursor.end - at >= 4
            and cursor.data[at + 1] == 117
            and cursor.data[at + 2] == 108
            and cursor.data[at + 3] == 108
        ):
            if not reader.nullable:
                return cursor.fail(at, f"expected {reader.expects}, got null")
            reader.column.append_null()
            cursor.at = at + 4
            return 0
    if byte < 0:
        return cursor.expected(cursor.at, reader.expects)
    return reader.read(cursor)
