# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Looks over the headers of batches, so that many small ones cost little more than a few large ones.

Compiled by Cython, equal when it runs plain. Layout of a header: https://kafka.apache.org/documentation/#recordbatch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from crc32c import crc32c

from kafka.record.batch import HEADER_SIZE
from kafka.record.codecs import SMALL_SIZE
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
_CODEC_MASK = cython.declare(cython.longlong, 0x07)
_LOG_APPEND_TIME = cython.declare(cython.longlong, 0x08)
_SMALL_SIZE = cython.declare(cython.Py_ssize_t, SMALL_SIZE)


class BatchRun(NamedTuple):
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
    unpacked: int = 0
    """How many bytes they have with their headers where they have been unpacked to; 0 if they are not compressed."""


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


@cython.final
@cython.cclass
class RunScan:
    """Finds batches of magic 2 that can be read at one go: whole and sound, and the same in what each has but once.

    Args:
        view: batches.
        special: the attributes that none of them may have; the codec is not one of them.
        start_offset: each of them is to have records at or behind it.
        stop_offset: all their records are to be before it.
    """

    _view: memoryview
    _data: cython.const[cython.uchar][::1]  # type: ignore[valid-type]
    _total: cython.Py_ssize_t
    _special: cython.longlong
    _start_offset: cython.longlong
    _stop_offset: cython.longlong
    # Of the run so far.
    _attributes: cython.longlong
    _epoch: cython.longlong
    _last: cython.longlong
    _records: cython.longlong
    _plain: cython.longlong
    # Of the batch that was looked at.
    _size: cython.Py_ssize_t
    _count: cython.longlong
    _last_of_batch: cython.longlong

    def __init__(
        self, view: memoryview, special: cython.int, start_offset: cython.longlong, stop_offset: cython.longlong
    ) -> None:
        self._view = view
        self._data = view
        self._total = len(view)
        self._special = special
        self._start_offset = start_offset
        self._stop_offset = stop_offset

    def plain(
        self, position: cython.Py_ssize_t, room: cython.longlong, unchecked_from: cython.Py_ssize_t
    ) -> BatchRun | None:
        """Find those from a position on that are not compressed.

        Args:
            position: where a batch begins.
            room: how many bytes their columns may take.
            unchecked_from: from which byte on checksums are to be compared.

        Returns:
            None if there are none.
        """
        at: cython.Py_ssize_t = position
        self._begin(position)
        while at - position < _RUN_BYTES and self._is_ordinary(at) and not self._attributes & _CODEC_MASK:
            if not self._has_room(self._size - _HEADER, room) or not self._is_sound(at, unchecked_from):
                break
            self._add(self._size - _HEADER)
            at += self._size
        return self._run(at, 0) if at > position else None

    def packed(
        self,
        position: cython.Py_ssize_t,
        room: cython.longlong,
        unchecked_from: cython.Py_ssize_t,
        unpack_into: Callable[[memoryview, memoryview], int],
        scratch: memoryview,
    ) -> BatchRun | None:
        """Find small ones that are compressed alike, and unpack them, each behind its header, one behind the other.

        Args:
            position, room, unchecked_from: as for `plain`.
            unpack_into: decompresses some bytes into some memory and gives how many came out. Where it cannot, for
                whatever reason, it raises, and the batch is none of them.
            scratch: where to; 256 KiB are enough.

        Returns:
            None if there are none.
        """
        at: cython.Py_ssize_t = position
        filled: cython.Py_ssize_t = 0
        size: cython.Py_ssize_t
        self._begin(position)
        while filled < _RUN_BYTES and self._is_ordinary(at) and self._size <= _SMALL_SIZE:
            if not self._is_sound(at, unchecked_from):
                break
            try:
                size = unpack_into(self._view[at + _HEADER : at + self._size], scratch[filled + _HEADER :])
            except Exception:  # it is looked at by itself then, and the error told with what is known of it
                break
            if not self._has_room(size, room):
                break
            scratch[filled : filled + _HEADER] = self._view[at : at + _HEADER]
            scratch[filled + _LENGTH_AT : filled + _EPOCH_AT] = (size + _HEADER - _OVERHEAD).to_bytes(4, "big")
            self._add(size)
            filled += _HEADER + size
            at += self._size
        return self._run(at, filled) if at > position else None

    @cython.cfunc
    def _begin(self, position: cython.Py_ssize_t) -> cython.void:
        """Begin a run with the batch at a position, if there is a whole header."""
        self._last = -1
        self._records = self._plain = 0
        if self._total - position >= _HEADER:
            self._attributes = _number(self._data, position + _ATTRIBUTES_AT, 2)
            self._epoch = _number(self._data, position + _EPOCH_AT, 4)

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _is_ordinary(self, at: cython.Py_ssize_t) -> cython.bint:
        """Whether a batch is whole, as its header tells, and like those of the run."""
        data: cython.const[cython.uchar][::1] = self._data  # type: ignore[valid-type]
        base: cython.longlong
        delta: cython.longlong
        time: cython.longlong
        attributes: cython.longlong
        if self._total - at < _HEADER or data[at + _MAGIC_AT] != 2:
            return False
        self._size = _number(data, at + _LENGTH_AT, 4) + _OVERHEAD
        if self._size < _HEADER or self._size > self._total - at:
            return False
        attributes = _number(data, at + _ATTRIBUTES_AT, 2)
        if attributes & self._special or (attributes ^ self._attributes) & (_LOG_APPEND_TIME | _CODEC_MASK):
            return False
        if _number(data, at + _EPOCH_AT, 4) != self._epoch:
            return False
        base, delta = _number(data, at, 8), _number(data, at + _DELTA_AT, 4)
        if base < 0 or base >= self._stop_offset or delta < 0:
            return False
        self._last_of_batch = base + delta
        if not self._start_offset <= self._last_of_batch < self._stop_offset - 1:
            return False
        time = _number(data, at + (_MAX_TIME_AT if attributes & _LOG_APPEND_TIME else _FIRST_TIME_AT), 8)
        self._count = _number(data, at + _COUNT_AT, 4)
        return -_FAR <= time <= _FAR and self._count >= 0

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _has_room(self, size: cython.Py_ssize_t, room: cython.longlong) -> cython.bint:
        """Whether the columns may take the batch too, whose records have so many bytes, and its count is possible."""
        if self._count > size // _MIN_RECORD:
            return False
        return self._plain + size + ROW_BYTES * (self._records + self._count) <= room

    @cython.cfunc
    @cython.inline
    def _is_sound(self, at: cython.Py_ssize_t, unchecked_from: cython.Py_ssize_t) -> object:
        """Whether the batch has the checksum that it tells, or nobody wants to know."""
        if at < unchecked_from:
            return True
        return crc32c(self._view[at + _ATTRIBUTES_AT : at + self._size]) == (
            _number(self._data, at + _CRC_AT, 4) & _LOW_BITS
        )

    @cython.cfunc
    @cython.inline
    def _add(self, size: cython.Py_ssize_t) -> cython.void:
        """Take the batch into the run."""
        self._plain += size
        self._records += self._count
        self._last = max(self._last, self._last_of_batch)

    @cython.cfunc
    def _run(self, end: cython.Py_ssize_t, unpacked: cython.Py_ssize_t) -> BatchRun:
        fixed = (self._attributes & _LOG_APPEND_TIME) != 0
        return BatchRun(end, self._plain, self._records, self._last, self._epoch, fixed, unpacked)


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
