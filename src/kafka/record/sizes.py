# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""How many bytes whole batches take and may decompress to, from their headers alone.

Compiled by Cython, equal when it runs plain.
"""

from __future__ import annotations

try:
    import cython
except ImportError:  # the plain variant needs no Cython
    from kafka import _cython as cython

if cython.compiled:
    from cython.cimports.kafka.record import layout
    from cython.cimports.kafka.record.integers import read_int32, read_int64
    from cython.cimports.kafka.record.prefetch import prefetch
else:
    from kafka.record import layout
    from kafka.record.integers import read_int32, read_int64


_LOOKED_AT = cython.declare(cython.Py_ssize_t, 64)
"""How many headers a guess looks at. Small batches are many, and each header has to be fetched from memory first."""
_AHEAD = cython.declare(cython.Py_ssize_t, 8)
"""How many batches ahead the processor is told what is read next, where batches are as long as this one."""


def expected_contents(
    view: memoryview, position: cython.Py_ssize_t, ratio: cython.double, room: cython.longlong
) -> tuple[int, int]:
    """Guess what the batches of magic 2 from a position on hold, as far as there is room: bytes and records.

    After some batches the others are taken to be like them.

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
    """How far the whole batches of any magic go: bytes, the offset after the last one, and its leader epoch.

    Args:
        view: what was fetched of a partition; it may end within a batch.

    The offset is -1 where there is no batch, or where the last one has an offset that cannot be: decoding says so. Only
    lengths and offsets are looked at, so that the loop can fetch on before the caller has decoded. The leader epoch
    (KIP-320) is -1 where there is none, as with magic 0 and 1.
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
