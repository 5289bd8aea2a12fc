# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The read position in an Avro value, and the base classes for readers.

`plan` makes a tree of readers from a writer's and a reader's schema. The tree reads one value after another; each
reader consumes its part of the bytes and appends to its column. For invalid bytes, a reader returns `BAD` and stores
the reason and the field path in the cursor; the caller then removes the row. Compiled with Cython; the plain variant
behaves the same.
"""

from __future__ import annotations

from typing import Any

try:
    import cython
except ImportError:  # the plain variant needs no Cython
    from kafka import _cython as cython

if cython.compiled:
    from cython.cimports.kafka.record.integers import read_varint
else:
    from kafka.record.integers import read_varint

BAD = cython.declare(cython.int, 1)
"""Returned by a reader for bytes that are not a value of its type."""
MAX_EMPTY_ITEMS = cython.declare(cython.longlong, 1_000_000)
"""Maximum number of items that take no bytes (nulls, empty records) and so are not limited by the value's size."""
MAX_DEPTH = cython.declare(cython.int, 300)
"""Maximum nesting depth of arrays, maps and records in a value. Each level uses stack space."""
NO_INTEGER = "expected an integer of at most 10 bytes"
TOO_SHORT = "the data end within a value"


@cython.final
@cython.cclass
class Cursor:
    """The position in a value's bytes, with the reason for the failure if reading failed."""

    def __init__(self, data: Any) -> None:
        self.data = data
        self.end = len(self.data)
        self.reason = ""
        self.path: list[str] = []
        self.failed_at = 0
        self.begin(0)

    @cython.cfunc
    @cython.exceptval(-1)
    def begin(self, at: cython.Py_ssize_t) -> cython.int:
        """Move to the beginning of a value."""
        self.at = at
        self.depth = 0
        self.empty = 0
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def fail(self, reason: str) -> cython.int:
        """Store why the value is invalid; returns `BAD`."""
        self.reason = reason
        self.failed_at = self.at
        return BAD

    @cython.cfunc
    @cython.exceptval(-1)
    def fail_in(self, part: str) -> cython.int:
        """Add the enclosing part to the path of the failure, innermost first; returns `BAD`."""
        if len(self.path) < 20:
            self.path.append(part)
        return BAD

    @cython.cfunc
    def refuse(self, reason: str) -> Cursor:
        """Store why the value is invalid; returns the cursor, which object readers return on failure."""
        self.fail(reason)
        return self

    @cython.cfunc
    def refuse_in(self, part: str) -> Cursor:
        """Add the enclosing part to the path of the failure; returns the cursor."""
        self.fail_in(part)
        return self

    @cython.cfunc
    @cython.exceptval(-1)
    def is_too_deep(self) -> cython.bint:
        """Return whether the value is nested too deeply, and store that as the reason."""
        if self.depth <= MAX_DEPTH:
            return False
        self.fail(f"expected at most {MAX_DEPTH} arrays, maps and records within one another")
        return True

    def where(self) -> str:
        """Return the path of the field at which reading failed."""
        return "".join(reversed(self.path)).lstrip(".")

    def failure(self) -> str:
        """Return the reason and the field's path, and reset them."""
        path = self.where()
        reason, self.reason, self.path = self.reason, "", []
        return f"{path}: {reason}" if path else reason


@cython.cclass
class Reader:
    """Base class: reads values of one type into a column."""

    @cython.cfunc
    @cython.exceptval(-1)
    def read(self, cursor: Cursor) -> cython.int:
        """Read a value and append it to a column; returns 0, or `BAD` with the reason in the cursor."""
        raise NotImplementedError


@cython.cclass
class ObjectReader:
    """Base class: reads values of one type as objects."""

    @cython.cfunc
    def read(self, cursor: Cursor) -> Any:
        """Read a value and return it. For invalid bytes, return the cursor, which contains the reason."""
        raise NotImplementedError


@cython.cfunc
@cython.exceptval(-2)
def read_length(cursor: Cursor) -> cython.Py_ssize_t:
    """Read a length; returns -1 if it is invalid or exceeds the number of remaining bytes."""
    value: cython.longlong
    at: cython.Py_ssize_t
    value, at = read_varint(cursor.data, cursor.at, cursor.end)
    if at < 0:
        cursor.fail(NO_INTEGER)
        return -1
    if value < 0 or value > cursor.end - at:
        cursor.fail(f"expected a length of at most the {cursor.end - at} bytes that are left, got {value}")
        return -1
    cursor.at = at
    return cython.cast(cython.Py_ssize_t, value)


@cython.cfunc
@cython.exceptval(-2)
def read_count(cursor: Cursor, least_size: cython.Py_ssize_t) -> cython.longlong:
    """Read the number of items in a block; returns -1 if it is invalid or too large for the remaining bytes."""
    count: cython.longlong
    size: cython.longlong
    at: cython.Py_ssize_t
    count, at = read_varint(cursor.data, cursor.at, cursor.end)
    if at < 0:
        cursor.fail(NO_INTEGER)
        return -1
    if count < 0:
        size, at = read_varint(cursor.data, at, cursor.end)
        if at < 0 or size < 0 or size > cursor.end - at:
            cursor.fail("expected the size in bytes of a block")
            return -1
        if count < -0x7FFFFFFF:
            cursor.fail(f"expected a block of at most {0x7FFFFFFF} items, got the count {count}")
            return -1
        count = -count
    if least_size > 0 and count > cursor.end - at:
        cursor.fail(
            f"expected a block whose items fit into the {cursor.end - at} bytes that are left, got {count} items"
        )
        return -1
    if least_size <= 0:
        if count > MAX_EMPTY_ITEMS - cursor.empty:
            cursor.fail(f"expected at most {MAX_EMPTY_ITEMS} items without bytes in a value, got {count} more")
            return -1
        cursor.empty += count
    cursor.at = at
    return count
