# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Columns of timestamps, for Arrow: pyarrow's own functions for this load 40 MB of libraries and tables.

Compiled by Cython, equal when it runs plain.
"""

from __future__ import annotations

try:
    import cython
except ImportError:  # the plain variant needs no Cython
    from kafka import _cython as cython

from kafka.record.memory import allocate

_LAST_MS = cython.declare(cython.longlong, (2**63 - 1) // 1000)


def any_missing(times: memoryview) -> bool:
    """Whether a column of int64 milliseconds holds -1, which stands for no timestamp."""
    view: cython.const[cython.longlong][::1] = times  # type: ignore[valid-type]
    count: cython.Py_ssize_t = len(times)
    row: cython.Py_ssize_t
    found: cython.bint = False
    with cython.nogil:
        for row in range(count):
            found = found | (view[row] == -1)
    return bool(found)


def microseconds(times: memoryview) -> memoryview:
    """Turn a column of int64 milliseconds into one of microseconds.

    A producer can write any number: one too large for microseconds becomes the last (or first) time there is.
    """
    result = allocate(len(times) * 8).cast("q")
    view: cython.const[cython.longlong][::1] = times  # type: ignore[valid-type]
    into: cython.longlong[::1] = result
    count: cython.Py_ssize_t = len(times)
    row: cython.Py_ssize_t
    with cython.nogil:
        for row in range(count):
            into[row] = min(max(view[row], -_LAST_MS), _LAST_MS) * 1000
    return result
