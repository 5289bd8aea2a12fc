"""Buffers that are not cleared before they are filled. Compiled by Cython, slower but equal when it runs plain."""

from __future__ import annotations

try:
    import cython
except ImportError:  # the plain variant needs no Cython
    from kafka import _cython as cython

if cython.compiled:
    from cython.cimports.cpython.bytearray import PyByteArray_FromStringAndSize


def allocate(size: cython.Py_ssize_t) -> bytearray:
    """Return a buffer of `size` bytes, at least one; the compiled variant leaves whatever was in that memory.

    Raises:
        MemoryError: there is no such amount of memory.
    """
    if cython.compiled:
        return PyByteArray_FromStringAndSize(cython.NULL, max(size, 1))
    return bytearray(max(size, 1))
