# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Converts timestamp columns for Arrow. pyarrow's own functions for this load 40 MB of libraries and tables.

Compiled with Cython; the plain variant behaves the same.
"""

from __future__ import annotations

try:
    import cython
except ImportError:  # the plain variant does not need Cython
    from kafka import _cython as cython

from kafka.record.memory import allocate

LAST_MS = (2**63 - 1) // 1000
"""The latest time that fits into microseconds, in milliseconds; its negative is the earliest."""


def any_missing(times: memoryview) -> bool:
    """Return whether a column of int64 milliseconds contains -1, which means no timestamp."""
    view: cython.const[cython.longlong][::1] = times  # type: ignore[valid-type]
    count: cython.Py_ssize_t = len(times)
    row: cython.Py_ssize_t
    found: cython.bint = False
    with cython.nogil:
        for row in range(count):
            found = found | (view[row] == -1)
    return bool(found)


def first_outside(times: memoryview, first: int, last: int) -> int:
    """Return the first row of int64 milliseconds that is before `first` or after `last`, or -1."""
    view: cython.const[cython.longlong][::1] = times  # type: ignore[valid-type]
    low: cython.longlong = first
    high: cython.longlong = last
    count: cython.Py_ssize_t = len(times)
    row: cython.Py_ssize_t
    found: cython.Py_ssize_t = -1
    with cython.nogil:
        for row in range(count):
            if view[row] < low or view[row] > high:
                found = row
                break
    return found


def extremes(times: memoryview) -> tuple[int, int]:
    """Return the rows of the earliest and the latest of int64 milliseconds, ignoring -1; -1 if there are no others."""
    view: cython.const[cython.longlong][::1] = times  # type: ignore[valid-type]
    count: cython.Py_ssize_t = len(times)
    row: cython.Py_ssize_t
    earliest: cython.Py_ssize_t = -1
    latest: cython.Py_ssize_t = -1
    with cython.nogil:
        for row in range(count):
            if view[row] == -1:
                continue
            if earliest < 0 or view[row] < view[earliest]:
                earliest = row
            if latest < 0 or view[row] > view[latest]:
                latest = row
    return earliest, latest


def microseconds(times: memoryview) -> memoryview:
    """Convert a column of int64 milliseconds, all within `LAST_MS`, to microseconds."""
    result = allocate(len(times) * 8).cast("q")
    view: cython.const[cython.longlong][::1] = times  # type: ignore[valid-type]
    into: cython.longlong[::1] = result
    count: cython.Py_ssize_t = len(times)
    row: cython.Py_ssize_t
    with cython.nogil:
        for row in range(count):
            into[row] = view[row] * 1000
    return result
