# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Sorts row numbers by their assigned partition, with one counting pass.

Compiled with Cython; the plain variant behaves the same.
"""

from __future__ import annotations

try:
    import cython
except ImportError:  # the plain variant does not need Cython
    from kafka import _cython as cython

from kafka.record.memory import allocate


def row_numbers(count: cython.int) -> memoryview:
    """Return the row numbers from 0 to `count` - 1, as int32."""
    numbers: memoryview = allocate(count * 4).cast("i")
    out: cython.int[::1] = numbers
    at: cython.int
    with cython.nogil:
        for at in range(count):
            out[at] = at
    return numbers


def group_rows(assigned: object, rows: object, groups: cython.Py_ssize_t) -> list[memoryview]:
    """Return for each group the rows assigned to it, in order, as int32.

    Args:
        assigned: the group of each row number, as int32.
        rows: the row numbers to group, as int32.
        groups: number of groups.

    Raises:
        ValueError: a row does not exist, or is not assigned to a group from 0 to `groups` - 1.
    """
    group_of: cython.const[cython.int][::1] = assigned  # type: ignore[valid-type]
    numbers: cython.const[cython.int][::1] = rows  # type: ignore[valid-type]
    count: cython.Py_ssize_t = len(numbers)
    total: cython.Py_ssize_t = len(group_of)
    row: cython.Py_ssize_t = 0
    at: cython.Py_ssize_t = 0
    group: cython.Py_ssize_t = 0
    counted: memoryview = memoryview(bytearray((groups + 1) * 8)).cast("q")
    place: cython.longlong[::1] = counted
    sorted_rows: memoryview = allocate(count * 4).cast("i")
    out: cython.int[::1] = sorted_rows
    with cython.nogil:
        while at < count:
            row = numbers[at]
            if row < 0 or row >= total or group_of[row] < 0 or group_of[row] >= groups:
                break
            place[group_of[row] + 1] += 1
            at += 1
    if at < count:
        raise ValueError(f"Expected {total} rows assigned to one of {groups} groups each, row {row} is not")
    for group in range(groups):
        place[group + 1] += place[group]
    ends = counted.tolist()
    with cython.nogil:
        for at in range(count):
            row = numbers[at]
            group = group_of[row]
            out[place[group]] = cython.cast(cython.int, row)
            place[group] += 1
    return [sorted_rows[ends[group] : ends[group + 1]] for group in range(groups)]


def fill_round_robin(assigned: object, groups: cython.int, start: cython.int) -> int:
    """Assign groups in turn to the items that are -1 in an int32 buffer; return the next group.

    Raises:
        ValueError: there is no group.
    """
    out: cython.int[::1] = assigned
    at: cython.Py_ssize_t
    group: cython.int = start
    if groups < 1 or start < 0:
        raise ValueError(f"Expected at least one group, got {groups}, beginning with {start}")
    with cython.nogil:
        for at in range(len(out)):
            if out[at] == -1:
                out[at] = group % groups
                group = (group + 1) % groups
    return group
