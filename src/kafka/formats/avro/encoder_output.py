# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The output buffer for Avro values, and the base class for object writers.

A tree of writers, made from a schema, writes one value after another. For a value that does not fit, a writer returns
`BAD` and stores the reason and the field path in the output. Compiled with Cython; the plain variant behaves the same.
"""

from __future__ import annotations

from typing import Any

try:
    import cython
except ImportError:  # the plain variant needs no Cython
    from kafka import _cython as cython

if cython.compiled:
    from cython.cimports.cpython.bytes import PyBytes_FromStringAndSize
    from cython.cimports.cpython.unicode import PyUnicode_AsUTF8AndSize
    from cython.cimports.kafka.formats import byte_operations
    from cython.cimports.kafka.record.integers import put_varint
    from cython.cimports.libc.string import memcpy
else:
    from kafka.formats import byte_operations
    from kafka.record.integers import put_varint

BAD = cython.declare(cython.int, 1)
"""Returned by a writer for a value that does not fit its type."""
MAX_DEPTH = cython.declare(cython.int, 300)
"""Maximum nesting depth of arrays, maps and records in a value; the same as for reading."""
_FIRST_ROOM = cython.declare(cython.Py_ssize_t, 512)


@cython.final
@cython.cclass
class Output:
    """A growing buffer, with the reason for the failure if a value could not be written."""

    def __init__(self) -> None:
        self.data = memoryview(bytearray(_FIRST_ROOM))
        self.at, self.room = 0, _FIRST_ROOM
        self.depth = 0
        self.reason = ""
        self.path: list[str] = []

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def reserve(self, size: cython.Py_ssize_t) -> cython.int:
        """Make room for `size` more bytes."""
        if size > self.room - self.at:
            larger = bytearray(max(2 * self.room, self.at + size))
            larger[: self.at] = self.data[: self.at]
            self.room = len(larger)
            self.data = memoryview(larger)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def put_byte(self, value: cython.int) -> cython.int:
        """Append a byte."""
        if self.at == self.room:
            self.reserve(1)
        self.data[self.at] = value
        self.at += 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def put_long(self, value: cython.longlong) -> cython.int:
        """Append an int or a long."""
        if self.room - self.at < 10:
            self.reserve(10)
        self.at = put_varint(self.data, self.at, value)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def put_float(self, value: cython.double) -> cython.int:
        """Append a float."""
        if self.room - self.at < 4:
            self.reserve(4)
        byte_operations.put_float(self.data, self.at, value)
        self.at += 4
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def put_double(self, value: cython.double) -> cython.int:
        """Append a double."""
        if self.room - self.at < 8:
            self.reserve(8)
        byte_operations.put_double(self.data, self.at, value)
        self.at += 8
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def put_bytes(self, value: bytes) -> cython.int:
        """Append bytes, without their length."""
        size: cython.Py_ssize_t = len(value)
        if size > self.room - self.at:
            self.reserve(size)
        if cython.compiled:
            if size > 0:
                memcpy(cython.address(self.data[self.at]), cython.cast(cython.p_char, value), size)
        else:
            self.data[self.at : self.at + size] = value
        self.at += size
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def put_text(self, value: Any) -> cython.int:
        """Append a string's length and the string; returns `BAD` if it cannot be encoded as UTF-8."""
        size: cython.Py_ssize_t = 0
        text: cython.p_const_char
        try:
            if cython.compiled:
                text = PyUnicode_AsUTF8AndSize(value, cython.address(size))
            else:
                encoded = value.encode()
        except UnicodeEncodeError:
            return self.fail(f"expected a string without lone surrogates, got {value!r:.60}")
        if not cython.compiled:
            self.put_long(len(encoded))
            self.put_bytes(encoded)
            return 0
        if self.room - self.at < size + 10:
            self.reserve(size + 10)
        self.at = put_varint(self.data, self.at, size)
        if size > 0:
            memcpy(cython.address(self.data[self.at]), text, size)
        self.at += size
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def put_slice(
        self,
        source: cython.const[cython.uchar][::1],  # type: ignore[valid-type]
        start: cython.Py_ssize_t,
        size: cython.Py_ssize_t,
    ) -> cython.int:
        """Append `size` bytes of a source; the caller has checked the bounds."""
        if size > self.room - self.at:
            self.reserve(size)
        if cython.compiled:
            if size > 0:
                memcpy(cython.address(self.data[self.at]), cython.address(source[start]), size)
        else:
            self.data[self.at : self.at + size] = source[start : start + size]
        self.at += size
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def fail(self, reason: str) -> cython.int:
        """Store why a value does not fit; returns `BAD`."""
        self.reason = reason
        return BAD

    @cython.cfunc
    @cython.exceptval(-1)
    def fail_in(self, part: str) -> cython.int:
        """Add the enclosing part to the path of the failure, innermost first; returns `BAD`."""
        if len(self.path) < 20:
            self.path.append(part)
        return BAD

    @cython.cfunc
    @cython.exceptval(-1)
    def is_too_deep(self) -> cython.bint:
        """Return whether the value is nested too deeply, and store that as the reason."""
        if self.depth <= MAX_DEPTH:
            return False
        self.fail(f"expected at most {MAX_DEPTH} arrays, maps and records within one another")
        return True

    def where(self) -> str:
        """Return the path of the field that does not fit."""
        return "".join(reversed(self.path)).lstrip(".")

    def forget(self) -> None:
        """Reset the buffer and the failure."""
        self.at = self.depth = 0
        self.reason, self.path = "", []
        if self.room > 1 << 20:  # do not keep an unusually large buffer
            self.data = memoryview(bytearray(_FIRST_ROOM))
            self.room = _FIRST_ROOM

    def made(self) -> bytes:
        """Return the bytes written."""
        if cython.compiled:
            return PyBytes_FromStringAndSize(cython.cast(cython.p_char, cython.address(self.data[0])), self.at)
        return bytes(self.data[: self.at])

    def memory(self) -> memoryview:
        """Return the bytes written without copying them. Do not write to the output afterwards."""
        return memoryview(self.data)[: self.at]


@cython.cclass
class ObjectWriter:
    """Base class: writes objects as values of one type."""

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, value: Any) -> cython.int:
        """Append a value; returns 0, or `BAD` with the reason in the output."""
        raise NotImplementedError

    @cython.cfunc
    @cython.exceptval(-1)
    def fits(self, out: Output, value: Any) -> cython.bint:
        """Return whether a value fits this type, to choose a union branch. Writes nothing."""
        raise NotImplementedError


def shown(value: Any) -> str:
    """Format a value for error messages."""
    if isinstance(value, int) and not -(1 << 200) < value < 1 << 200:  # Python limits int to str conversion
        return f"an int of {value.bit_length()} bits"
    if isinstance(value, (str, bytes, bool, int, float)):
        return f"{value!r:.60} ({type(value).__name__})"
    return "None" if value is None else f"an object of type {type(value).__name__}"
