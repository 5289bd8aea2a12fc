# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Scans the headers of many batches: finds runs that can be read together, and estimates the contents of batches.

Reading runs together makes many small batches cost little more than a few large ones.

Compiled with Cython; the plain variant behaves the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from kafka.record.batch_types import ROW_BYTES
from kafka.record.codecs import SMALL_SIZE
from kafka.record.layout import crc32c

try:
    import cython
except ImportError:  # the plain variant does not need Cython
    from kafka import _cython as cython

if cython.compiled:
    from cython.cimports.kafka.record import layout
    from cython.cimports.kafka.record.integers import read_int16, read_int32, read_int64
    from cython.cimports.kafka.record.prefetch import prefetch
else:
    from kafka.record import layout
    from kafka.record.integers import read_int16, read_int32, read_int64

_RUN_BYTES = cython.declare(cython.Py_ssize_t, 128 << 10)
"""Maximum size of a run in bytes, so that checked data is still in the processor's caches when it is read."""
_LOW_BITS = cython.declare(cython.longlong, 0xFFFFFFFF)
_SMALL_SIZE = cython.declare(cython.Py_ssize_t, SMALL_SIZE)
_LOOKED_AT = cython.declare(cython.Py_ssize_t, 64)
"""Number of headers read for an estimate. Small batches are numerous, and each header must be fetched from memory."""
_AHEAD = cython.declare(cython.Py_ssize_t, 8)
"""Number of batches to prefetch, assuming that they are as long as the current one."""


class BatchRun(NamedTuple):
    """Consecutive magic 2 batches that can be read together."""

    end: int
    """End position of the last batch in bytes."""
    size: int
    """Size of the batches' records in bytes."""
    records: int
    """Number of records in the batches."""
    last_offset: int
    leader_epoch: int
    """The leader epoch of every batch in the run."""
    fixed_timestamp: bool
    """Whether all records have the log append time of their batch."""
    decompressed: int = 0
    """Size of the headers and decompressed records in bytes; 0 if the batches are not compressed."""


@cython.final
@cython.cclass
class RunFinder:
    """Finds runs of complete and valid magic 2 batches with the same batch properties.

    Args:
        view: the batches.
        special: attribute bits that no batch in a run may have, other than those of the codec.
        start_offset: every batch must have records at or after this offset.
        stop_offset: all records must be before this offset.
    """

    _view: memoryview
    _data: cython.const[cython.uchar][::1]  # type: ignore[valid-type]
    _total: cython.Py_ssize_t
    _special: cython.longlong
    _start_offset: cython.longlong
    _stop_offset: cython.longlong
    # Fields of the current run.
    _attributes: cython.longlong
    _epoch: cython.longlong
    _last: cython.longlong
    _records: cython.longlong
    _bytes: cython.longlong
    # Fields of the current batch.
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

    def uncompressed(
        self, position: cython.Py_ssize_t, room: cython.longlong, unchecked_from: cython.Py_ssize_t
    ) -> BatchRun | None:
        """Find a run of uncompressed batches, starting at a position.

        Args:
            position: start of a batch.
            room: maximum number of bytes in the columns.
            unchecked_from: position up to which checksums are already verified.

        Returns:
            The run, or None if there is no such batch.
        """
        at: cython.Py_ssize_t = position
        self._begin(position)
        while at - position < _RUN_BYTES and self._is_ordinary(at) and not self._attributes & layout.CODEC_MASK:
            if not self._has_room(self._size - layout.HEADER_SIZE, room) or not self._is_sound(at, unchecked_from):
                break
            self._add(self._size - layout.HEADER_SIZE)
            at += self._size
        return self._run(at, 0) if at > position else None

    def compressed(
        self,
        position: cython.Py_ssize_t,
        room: cython.longlong,
        unchecked_from: cython.Py_ssize_t,
        decompress_into: Callable[[memoryview, memoryview], int],
        scratch: memoryview,
    ) -> BatchRun | None:
        """Find a run of small batches with the same compression, starting at a position, and decompress them.

        The output is contiguous in `scratch`: each header is followed by the decompressed records of its batch.

        Args:
            position, room, unchecked_from: as for `uncompressed`.
            decompress_into: decompresses bytes into memory and returns the number of bytes written. If it raises an
                exception, the run ends before the batch in question.
            scratch: memory for the output; 256 KiB are enough.

        Returns:
            The run, or None if there is no such batch.
        """
        at: cython.Py_ssize_t = position
        filled: cython.Py_ssize_t = 0
        size: cython.Py_ssize_t
        length: cython.Py_ssize_t
        byte: cython.Py_ssize_t
        target: cython.uchar[::1] = scratch
        self._begin(position)
        while filled < _RUN_BYTES and self._is_ordinary(at) and self._size <= _SMALL_SIZE:
            if not self._is_sound(at, unchecked_from) or filled + layout.HEADER_SIZE > len(target):
                break
            try:
                size = decompress_into(
                    self._view[at + layout.HEADER_SIZE : at + self._size], scratch[filled + layout.HEADER_SIZE :]
                )
            except Exception:  # the batch is then decoded separately, which reports the error with its context
                break
            if not self._has_room(size, room):
                break
            for byte in range(layout.HEADER_SIZE):  # copied byte by byte, which creates no objects
                target[filled + byte] = self._data[at + byte]
            length = size + layout.HEADER_SIZE - layout.LOG_OVERHEAD
            for byte in range(4):
                target[filled + layout.LENGTH_AT + byte] = (length >> (24 - 8 * byte)) & 0xFF
            self._add(size)
            filled += layout.HEADER_SIZE + size
            at += self._size
        return self._run(at, filled) if at > position else None

    @cython.cfunc
    def _begin(self, position: cython.Py_ssize_t) -> cython.void:
        """Start a run with the batch at a position, if its header is complete."""
        self._last = -1
        self._records = self._bytes = 0
        if self._total - position >= layout.HEADER_SIZE:
            self._attributes = read_int16(self._data, position + layout.ATTRIBUTES_AT)
            self._epoch = read_int32(self._data, position + layout.EPOCH_AT)

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _is_ordinary(self, at: cython.Py_ssize_t) -> cython.bint:
        """Return whether a batch is complete, according to its header, and has the properties of the run."""
        data: cython.const[cython.uchar][::1] = self._data  # type: ignore[valid-type]
        base: cython.longlong
        delta: cython.longlong
        time: cython.longlong
        attributes: cython.longlong
        if self._total - at < layout.HEADER_SIZE or data[at + layout.MAGIC_AT] != 2:
            return False
        self._size = read_int32(data, at + layout.LENGTH_AT) + layout.LOG_OVERHEAD
        if self._size < layout.HEADER_SIZE or self._size > self._total - at:
            return False
        attributes = read_int16(data, at + layout.ATTRIBUTES_AT)
        if attributes & self._special or (attributes ^ self._attributes) & (layout.LOG_APPEND_TIME | layout.CODEC_MASK):
            return False
        if read_int32(data, at + layout.EPOCH_AT) != self._epoch:
            return False
        base, delta = read_int64(data, at), read_int32(data, at + layout.LAST_OFFSET_DELTA_AT)
        if base < 0 or base >= self._stop_offset or delta < 0:
            return False
        self._last_of_batch = base + delta
        if not self._start_offset <= self._last_of_batch < self._stop_offset - 1:
            return False
        time = read_int64(
            data, at + (layout.MAX_TIMESTAMP_AT if attributes & layout.LOG_APPEND_TIME else layout.BASE_TIMESTAMP_AT)
        )
        self._count = read_int32(data, at + layout.COUNT_AT)
        return -layout.MAX_OFFSET <= time <= layout.MAX_OFFSET and self._count >= 0

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _has_room(self, size: cython.Py_ssize_t, room: cython.longlong) -> cython.bint:
        """Return whether the batch, with `size` bytes of records, fits into the columns and its count is valid."""
        if self._count > size // layout.MIN_RECORD_SIZE:
            return False
        return self._bytes + size + ROW_BYTES * (self._records + self._count) <= room

    @cython.cfunc
    @cython.inline
    def _is_sound(self, at: cython.Py_ssize_t, unchecked_from: cython.Py_ssize_t) -> object:
        """Return whether the batch's checksum is correct; True if checksums are not verified."""
        if at < unchecked_from:
            return True
        return crc32c(self._view[at + layout.ATTRIBUTES_AT : at + self._size]) == (
            read_int32(self._data, at + layout.CRC_AT) & _LOW_BITS
        )

    @cython.cfunc
    @cython.inline
    def _add(self, size: cython.Py_ssize_t) -> cython.void:
        """Add the batch to the run."""
        self._bytes += size
        self._records += self._count
        self._last = max(self._last, self._last_of_batch)

    @cython.cfunc
    def _run(self, end: cython.Py_ssize_t, decompressed: cython.Py_ssize_t) -> BatchRun:
        fixed = (self._attributes & layout.LOG_APPEND_TIME) != 0
        # `BatchRun()` would call a Python function.
        return tuple.__new__(BatchRun, (end, self._bytes, self._records, self._last, self._epoch, fixed, decompressed))


def expected_contents(
    view: memoryview, position: cython.Py_ssize_t, ratio: cython.double, room: cython.longlong
) -> tuple[int, int]:
    """Estimate the bytes and records in the magic 2 batches from a position on, up to `room`.

    Reads a limited number of headers, and assumes that the other batches are similar.

    Args:
        view: the batches.
        position: the start position, after a batch.
        ratio: decompressed size of records divided by their size in `view`.
        room: maximum number of decompressed bytes.
    """
    data: cython.const[cython.uchar][::1] = view  # type: ignore[valid-type]
    total: cython.Py_ssize_t = len(data)
    at: cython.Py_ssize_t = position
    length: cython.Py_ssize_t
    size: cython.longlong
    count: cython.longlong
    plain: cython.longlong = 0
    records: cython.longlong = 0
    left: cython.Py_ssize_t = _LOOKED_AT
    share: cython.double
    while left > 0 and plain < room and total - at >= layout.HEADER_SIZE and data[at + layout.MAGIC_AT] == 2:
        length = read_int32(data, at + layout.LENGTH_AT) + layout.LOG_OVERHEAD
        if length < layout.HEADER_SIZE or length > total - at:
            break
        size = cython.cast(cython.longlong, (length - layout.HEADER_SIZE) * ratio)
        count = read_int32(data, at + layout.COUNT_AT)
        plain += size
        records += min(max(count, 0), size // layout.MIN_RECORD_SIZE)
        at += length
        left -= 1
    if left == 0 and 0 < plain < room:
        share = min(
            cython.cast(cython.double, total - at) / (at - position), cython.cast(cython.double, room - plain) / plain
        )
        plain += cython.cast(cython.longlong, plain * share)
        records += cython.cast(cython.longlong, records * share)
    return plain, records


def whole_batches(view: memoryview) -> tuple[int, int, int]:
    """Return the size of the complete batches of any magic, the offset after the last one, and its leader epoch.

    Args:
        view: the fetched bytes of a partition; the last batch may be truncated.

    The offset is -1 if there is no batch, or if the last batch has an impossible offset; decoding then reports the
    error. Reads only lengths and offsets, so that the event loop can continue fetching before the caller has decoded
    the data. The leader epoch (KIP-320) is -1 if the batch has none, as with magic 0 and 1.
    """
    data: cython.const[cython.uchar][::1] = view  # type: ignore[valid-type]
    total: cython.Py_ssize_t = len(data)
    at: cython.Py_ssize_t = 0
    last: cython.Py_ssize_t = -1
    length: cython.longlong
    base: cython.longlong
    delta: cython.longlong = 0
    epoch: cython.int = -1
    ahead: cython.longlong
    while at + layout.LOG_OVERHEAD <= total:
        length = read_int32(data, at + layout.LENGTH_AT)
        if length < layout.MIN_LENGTH or length > total - at - layout.LOG_OVERHEAD:
            break
        last = at
        at += layout.LOG_OVERHEAD + length
        if cython.compiled:
            ahead = at + _AHEAD * (layout.LOG_OVERHEAD + length)
            if ahead < total:
                prefetch(cython.address(data[ahead]))
    if last < 0:
        return 0, -1, -1
    base = read_int64(data, last)
    if base < 0 or base > layout.MAX_OFFSET:
        return at, -1, -1
    if data[last + layout.MAGIC_AT] >= 2 and at - last >= layout.HEADER_SIZE:
        delta = read_int32(data, last + layout.LAST_OFFSET_DELTA_AT)
        epoch = read_int32(data, last + layout.EPOCH_AT)
    return at, base + delta + 1, epoch
