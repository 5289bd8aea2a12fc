# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""MurmurHash2 as computed by Kafka's Java client, for one key and for a whole column of keys.

Cython compiles this module. Sums and products are truncated to 32 bits explicitly, so the plain variant gives the same
results.
"""

from __future__ import annotations

try:
    import cython
except ImportError:  # the plain variant needs no Cython
    from kafka import _cython as cython

if cython.compiled:
    from cython.cimports.cpython.bytes import PyBytes_AS_STRING

_SEED = cython.declare(cython.uint, 0x9747B28C)
_MULTIPLIER = cython.declare(cython.ulonglong, 0x5BD1E995)
_MASK = cython.declare(cython.ulonglong, 0xFFFFFFFF)
_POSITIVE = cython.declare(cython.ulonglong, 0x7FFFFFFF)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _hash(
    data: cython.pointer[cython.const[cython.uchar]],
    start: cython.Py_ssize_t,
    size: cython.Py_ssize_t,
) -> cython.ulonglong:
    """Hash `size` bytes beginning at `start`. The caller checks the bounds. Returns 32 bits."""
    at: cython.Py_ssize_t = start
    end: cython.Py_ssize_t = start + (size & ~3)
    word: cython.ulonglong
    rest: cython.Py_ssize_t = size & 3
    result: cython.ulonglong = (_SEED ^ cython.cast(cython.ulonglong, size)) & _MASK
    while at < end:
        word = data[at]
        word |= cython.cast(cython.ulonglong, data[at + 1]) << 8
        word |= cython.cast(cython.ulonglong, data[at + 2]) << 16
        word |= cython.cast(cython.ulonglong, data[at + 3]) << 24
        word = (word * _MULTIPLIER) & _MASK
        word ^= word >> 24
        word = (word * _MULTIPLIER) & _MASK
        result = ((result * _MULTIPLIER) & _MASK) ^ word
        at += 4
    if rest == 3:
        result ^= cython.cast(cython.ulonglong, data[at + 2]) << 16
    if rest >= 2:
        result ^= cython.cast(cython.ulonglong, data[at + 1]) << 8
    if rest >= 1:
        result ^= data[at]
        result = (result * _MULTIPLIER) & _MASK
    result ^= result >> 13
    result = (result * _MULTIPLIER) & _MASK
    return result ^ (result >> 15)


def murmur2(data: object) -> int:
    """Return the hash as an unsigned number; Java's `org.apache.kafka.common.utils.Utils.murmur2` returns it signed.

    Args:
        data: the serialized key, as any buffer of bytes.

    Raises:
        TypeError: `data` is not a buffer.
    """
    if not isinstance(data, bytes):
        data = memoryview(data).tobytes()  # type: ignore[arg-type]  # before Python 3.12, buffers have no type
    if cython.compiled:
        at = cython.cast(cython.pointer[cython.const[cython.uchar]], PyBytes_AS_STRING(data))
        return _hash(at, 0, len(data))
    else:
        return _hash(data, 0, len(data))


def partition_column(
    data: object, ends: object, valid: object, valid_offset: cython.Py_ssize_t, partitions: cython.int, out: object
) -> None:
    """Write the partition that Kafka's default partitioner chooses for each key of an Arrow column; -1 for a null key.

    Args:
        data: the bytes of all keys.
        ends: increasing int64 positions within `data`, one more than there are keys.
        valid: a bitmap, least significant bit first, or None if no key is null.
        valid_offset: the bit of the first key.
        partitions: the number of partitions of the topic, at least 1.
        out: a writable int32 buffer with one item per key.

    Raises:
        ValueError: the sizes of the buffers do not match.
    """
    keys: cython.const[cython.uchar][::1] = data  # type: ignore[valid-type]  # of Cython
    positions: cython.const[cython.longlong][::1] = ends  # type: ignore[valid-type]  # of Cython
    bits: cython.const[cython.uchar][::1] = b"" if valid is None else valid  # type: ignore[valid-type]  # of Cython
    result: cython.int[::1] = out
    rows: cython.Py_ssize_t = len(positions) - 1
    has_nulls: cython.bint = valid is not None
    row: cython.Py_ssize_t
    bit: cython.Py_ssize_t
    start: cython.longlong
    size: cython.longlong
    total: cython.longlong = len(keys)
    fits: cython.bint = True
    first: cython.pointer[cython.const[cython.uchar]]
    if partitions < 1:
        raise ValueError(f"Expected at least one partition, got {partitions}")
    if rows < 0 or len(result) < rows or valid_offset < 0 or (has_nulls and len(bits) * 8 < valid_offset + rows):
        raise ValueError(f"Expected buffers for {rows} keys, got room for {len(result)} and {len(bits) * 8} bits")
    first = cython.address(keys[0]) if cython.compiled else keys
    with cython.nogil:
        for row in range(rows):
            start = positions[row]
            size = positions[row + 1] - start
            if start < 0 or size < 0 or size > total - start:
                fits = False
                break
            bit = valid_offset + row
            if has_nulls and not (bits[bit >> 3] >> (bit & 7)) & 1:
                result[row] = -1
            else:
                result[row] = cython.cast(cython.int, (_hash(first, start, size) & _POSITIVE) % partitions)
    if not fits:
        raise ValueError(f"Expected the ends of the keys to grow within {total} bytes, row {row} does not")
