# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Looks over the headers of batches, so that many small ones cost little more than a few large ones.

Compiled by Cython, equal when it runs plain. Layout of a header: https://kafka.apache.org/documentation/#recordbatch.
"""

from __future__ import annotations

from typing import NamedTuple

from crc32c import crc32c

from kafka.record.batch import HEADER_SIZE
from kafka.record.types import ROW_BYTES

try:
    import cython
except ImportError:  # the plain variant needs no Cython
    from kafka import _cython as cython

_HEADER = cython.declare(cython.Py_ssize_t, HEADER_SIZE)
_OVERHEAD = cython.declare(cython.Py_ssize_t, 12)
_SMALLEST = cython.declare(cython.Py_ssize_t, 14)
"""Bytes after the length of the smallest batch there can be: a message of magic 0 without key and value."""
_MIN_RECORD = cython.declare(cython.Py_ssize_t, 7)
_FAR = cython.declare(cython.longlong, (1 << 62) - 1)
_RUN_BYTES = cython.declare(cython.Py_ssize_t, 128 << 10)
"""Where a run ends: what has been checked is to be read while it is in the processor's caches."""
_LOW_BITS = cython.declare(cython.longlong, 0xFFFFFFFF)
_LENGTH_AT = cython.declare(cython.Py_ssize_t, 8)
_EPOCH_AT = cython.declare(cython.Py_ssize_t, 12)
_MAGIC_AT = cython.declare(cython.Py_ssize_t, 16)
_CRC_AT = cython.declare(cython.Py_ssize_t, 17)
_ATTRIBUTES_AT = cython.declare(cython.Py_ssize_t, 21)
_DELTA_AT = cython.declare(cython.Py_ssize_t, 23)
_FIRST_TIME_AT = cython.declare(cython.Py_ssize_t, 27)
_MAX_TIME_AT = cython.declare(cython.Py_ssize_t, 35)
_COUNT_AT = cython.declare(cython.Py_ssize_t, 57)
_LOG_APPEND_TIME = cython.declare(cython.longlong, 0x08)


class PlainRun(NamedTuple):
    """Batches that can be read at one go."""

    end: int
    """Behind the last of them, in bytes."""
    size: int
    """How many bytes their records have."""
    records: int
    """How many records they have."""
    last_offset: int
    leader_epoch: int
    """Of each of them."""
    fixed_timestamp: bool
    """Whether the records of each of them have its log append time."""


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _number(
    data: cython.const[cython.uchar][::1],  # type: ignore[valid-type]
    at: cython.Py_ssize_t,
    size: cython.Py_ssize_t,
) -> cython.longlong:
    """Read a big-endian integer of some bytes, which are known to be there."""
    bits: cython.ulonglong = 0
    index: cython.Py_ssize_t
    if not cython.compiled:
        return int.from_bytes(data[at : at + size], "big", signed=True)
    for index in range(at, at + size):
        bits = bits << 8 | data[index]
    return cython.cast(cython.longlong, bits << (64 - 8 * size)) >> (64 - 8 * size)


def plain_run(
    view: memoryview,
    position: cython.Py_ssize_t,
    special: cython.int,
    start_offset: cython.longlong,
    stop_offset: cython.longlong,
    room: cython.longlong,
    unchecked_from: cython.Py_ssize_t,
) -> PlainRun | None:
    """Find the batches of magic 2 from a position on that can be read at one go: nothing is special about them.

    Args:
        view: batches.
        position: where one begins.
        special: the attributes that none of them may have.
        start_offset: each of them is to have records at or behind it.
        stop_offset: all their records are to be before it.
        room: how many bytes their columns may take.
        unchecked_from: from which byte on checksums are to be compared.

    Returns:
        None if the first batch is special, not whole, or damaged.
    """
    data: cython.const[cython.uchar][::1] = view  # type: ignore[valid-type]
    total: cython.Py_ssize_t = len(data)
    at: cython.Py_ssize_t = position
    size: cython.Py_ssize_t
    attributes: cython.longlong
    base: cython.longlong
    delta: cython.longlong
    time: cython.longlong
    count: cython.longlong
    fixed: cython.longlong = 0
    epoch: cython.longlong = 0
    last: cython.longlong = -1
    records: cython.longlong = 0
    plain: cython.longlong = 0
    while at - position < _RUN_BYTES and total - at >= _HEADER:
        size = _number(data, at + _LENGTH_AT, 4) + _OVERHEAD
        attributes = _number(data, at + _ATTRIBUTES_AT, 2)
        if size < _HEADER or size > total - at or data[at + _MAGIC_AT] != 2 or attributes & special:
            break
        if at == position:
            fixed, epoch = attributes & _LOG_APPEND_TIME, _number(data, at + _EPOCH_AT, 4)
        elif attributes & _LOG_APPEND_TIME != fixed or _number(data, at + _EPOCH_AT, 4) != epoch:
            break
        base, delta = _number(data, at, 8), _number(data, at + _DELTA_AT, 4)
        if base < 0 or base >= stop_offset or delta < 0 or not start_offset <= base + delta < stop_offset - 1:
            break
        time = _number(data, at + (_MAX_TIME_AT if fixed else _FIRST_TIME_AT), 8)
        count = _number(data, at + _COUNT_AT, 4)
        if time < -_FAR or time > _FAR or count < 0 or count > (size - _HEADER) // _MIN_RECORD:
            break
        if plain + size - _HEADER + ROW_BYTES * (records + count) > room:
            break
        if at >= unchecked_from and crc32c(view[at + _ATTRIBUTES_AT : at + size]) != (
            _number(data, at + _CRC_AT, 4) & _LOW_BITS
        ):
            break
        at += size
        plain += size - _HEADER
        records += count
        last = max(last, base + delta)
    return PlainRun(at, plain, records, last, epoch, fixed != 0) if at > position else None


def following(
    view: memoryview, position: cython.Py_ssize_t, ratio: cython.double, room: cython.longlong
) -> tuple[int, int]:
    """Guess the batches of magic 2 from a position on that have room: how many bytes of records, and how many records.

    Args:
        view: batches.
        position: behind a batch.
        ratio: how many times longer the records are than they lie here.
        room: how many bytes they may have.
    """
    data: cython.const[cython.uchar][::1] = view  # type: ignore[valid-type]
    total: cython.Py_ssize_t = len(data)
    at: cython.Py_ssize_t = position
    length: cython.Py_ssize_t
    size: cython.longlong
    count: cython.longlong
    plain: cython.longlong = 0
    records: cython.longlong = 0
    while plain < room and total - at >= _HEADER and data[at + _MAGIC_AT] == 2:
        length = _number(data, at + _LENGTH_AT, 4) + _OVERHEAD
        if length < _HEADER or length > total - at:
            break
        size = cython.cast(cython.longlong, (length - _HEADER) * ratio)
        count = _number(data, at + _COUNT_AT, 4)
        plain += size
        records += min(max(count, 0), size // _MIN_RECORD)
        at += length
    return plain, records


def whole_batches(view: memoryview) -> tuple[int, int]:
    """How far the whole batches of any magic go: bytes, and the offset after the last one (-1 without any).

    Only lengths and offsets are looked at, so that the loop can fetch on before the caller has decoded.
    """
    data: cython.const[cython.uchar][::1] = view  # type: ignore[valid-type]
    total: cython.Py_ssize_t = len(data)
    at: cython.Py_ssize_t = 0
    last: cython.Py_ssize_t = -1
    length: cython.longlong
    while at + _OVERHEAD <= total:
        length = _number(data, at + _LENGTH_AT, 4)
        if length < _SMALLEST or length > total - at - _OVERHEAD:
            break
        last = at
        at += _OVERHEAD + length
    if last < 0:
        return 0, -1
    delta: cython.longlong = 0
    if data[last + _MAGIC_AT] >= 2 and at - last >= _HEADER:
        delta = _number(data, last + _DELTA_AT, 4)
    return at, _number(data, last, 8) + delta + 1
