# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Encodes the headers of a record. Compiled with Cython; the plain variant behaves the same."""

from __future__ import annotations

from collections.abc import Sequence

try:
    import cython
except ImportError:  # the plain variant does not need Cython
    from kafka import _cython as cython

if cython.compiled:
    from cython.cimports.cpython.bytearray import PyByteArray_AS_STRING, PyByteArray_Resize
    from cython.cimports.cpython.bytes import PyBytes_AS_STRING
    from cython.cimports.libc.string import memcpy

_FIRST_CAPACITY = cython.declare(cython.Py_ssize_t, 256)
_MAX_VARINT = cython.declare(cython.Py_ssize_t, 10)


@cython.final
@cython.cclass
class _Writer:
    """A growing buffer, and the number of bytes written to it."""

    out: bytearray
    at: cython.Py_ssize_t
    capacity: cython.Py_ssize_t

    def __init__(self) -> None:
        self.out = bytearray(_FIRST_CAPACITY)
        self.capacity = _FIRST_CAPACITY
        self.at = 0

    @cython.cfunc
    def put(self, data: bytes, size: cython.Py_ssize_t) -> cython.bint:
        """Add a size and that number of bytes of `data`; a size of -1 means null."""
        needed: cython.Py_ssize_t = self.at + _MAX_VARINT + max(size, 0)
        if needed > self.capacity:
            self.capacity = max(needed, 2 * self.capacity)
            if cython.compiled:
                PyByteArray_Resize(self.out, self.capacity)
            else:
                self.out.extend(bytes(self.capacity - len(self.out)))
        self.put_number(size)
        if size > 0:
            if cython.compiled:
                memcpy(PyByteArray_AS_STRING(self.out) + self.at, PyBytes_AS_STRING(data), size)
            else:
                self.out[self.at : self.at + size] = data
            self.at += size
        return True

    @cython.cfunc
    def put_number(self, value: cython.longlong) -> cython.bint:
        """Add a zigzag varint; the caller ensures that there is room for it."""
        bits: cython.ulonglong
        if cython.compiled:
            bits = (cython.cast(cython.ulonglong, value) << 1) ^ cython.cast(cython.ulonglong, value >> 63)
        else:
            bits = (value << 1) ^ (value >> 63)
        while bits >= 128:
            self.out[self.at] = (bits & 127) | 128
            bits >>= 7
            self.at += 1
        self.out[self.at] = bits & 127
        self.at += 1
        return True


def encode_headers(headers: Sequence[tuple[str, bytes | None]]) -> tuple[bytes, int]:
    """Encode the headers of a record.

    Args:
        headers: a list or tuple of pairs, each a list or tuple too.

    Returns:
        The encoded headers, including their number, and the total size of their keys and values in bytes.

    Raises:
        TypeError: an item is not a pair, a key is not a str, or a value is neither bytes-like nor None.
    """
    writer: _Writer = _Writer()
    total: cython.Py_ssize_t = 0
    if not isinstance(headers, (list, tuple)):
        raise TypeError(f"Expected headers as a list or tuple of pairs, got {type(headers).__name__}")
    pairs: tuple[object, ...] = tuple(headers)
    writer.put_number(len(pairs))
    for pair in pairs:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TypeError(f"Expected a header as a pair of a str and bytes or None, got {pair!r}")
        key, value = pair
        if not isinstance(key, str):
            raise TypeError(f"Expected the key of a header as str, got {type(key).__name__}")
        encoded: bytes = key.encode()
        writer.put(encoded, len(encoded))
        total += len(encoded)
        if value is None:
            writer.put(b"", -1)
            continue
        if isinstance(value, (bytearray, memoryview)):
            value = bytes(value)
        elif isinstance(value, bytes):
            if type(value) is not bytes:
                value = bytes(memoryview(value))  # a subclass may override `__bytes__`
        else:
            raise TypeError(f"Expected the value of header {key!r} as bytes or None, got {type(value).__name__}")
        writer.put(value, len(value))
        total += len(value)
    return bytes(memoryview(writer.out)[: writer.at]), total
