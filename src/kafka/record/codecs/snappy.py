"""Snappy in the framing of xerial's Java library, which Kafka uses: a header, then blocks, each preceded by its size.

Reads two other forms as well, like snappy-java's SnappyInputStream: several such streams in sequence, each with its own
header, and a single raw snappy block without a header, which some old producers wrote. Ignores the version in headers,
because there is only one.
"""

from __future__ import annotations

import functools

import cramjam

try:
    import cython
except ImportError:  # the plain variant does not need Cython
    from kafka import _cython as cython

from kafka.record.batch_types import Buffer, Compression
from kafka.record.codecs.codec import Codec, CompressedRecords, filling_views, within

if cython.compiled:
    from cython.cimports.kafka.record.integers import read_int32
else:
    from kafka.record.integers import read_int32

_MAGIC = b"\x82SNAPPY\x00"
_HEADER = _MAGIC + (1).to_bytes(4, "big") + (1).to_bytes(4, "big")
_HEADER_SIZE = cython.declare(cython.Py_ssize_t, 16)
_MAGIC_HEAD = cython.declare(cython.longlong, int.from_bytes(_MAGIC[:4], "big"))
"""The first four bytes of a header, which are not a valid block size."""
_MAGIC_TAIL = cython.declare(cython.longlong, int.from_bytes(_MAGIC[4:], "big"))
_UINT32 = cython.declare(cython.longlong, 0xFFFFFFFF)
"""A declared constant, because Cython would turn a literal of this size into a Python object and compute with
objects.
"""
_BLOCK_SIZE = 32 * 1024
_MAX_RATIO = cython.declare(cython.longlong, 22)
"""Maximum compression ratio: the longest copy turns 3 bytes into 64."""
_ERRORS = (cramjam.DecompressionError,)
_decompress_raw_into = filling_views(cramjam.snappy.decompress_raw_into)
_MOST_LITERALS = cython.declare(cython.Py_ssize_t, 60)
"""Maximum number of literals announced by a one-byte tag."""


def compress(data: Buffer, block_size: int = _BLOCK_SIZE) -> bytes:
    """Compress into blocks of at most `block_size` bytes; the default, 32 KiB, is Java's."""
    view = memoryview(data)
    parts = [_HEADER]
    for start in range(0, len(view), block_size):
        block = compress_raw(view[start : start + block_size])
        parts += (len(block).to_bytes(4, "big"), block)
    return b"".join(parts)


def compress_raw(data: Buffer) -> bytes:
    """Compress into one block without framing, as some old producers did."""
    return bytes(cramjam.snappy.compress_raw(data))


def _compress(data: Buffer, level: int | None, magic: int) -> Buffer:
    return compress(data)


def measure(data: memoryview, max_size: int) -> CompressedRecords:
    """Find the decompressed size of data in either framing.

    Args:
        data: the compressed bytes.
        max_size: maximum number of decompressed bytes.

    Raises:
        ValueError: the data is damaged.
        SizeLimitError: the data decompresses to more than `max_size` bytes.
    """
    size = _plain_size(data)
    fill = functools.partial(decompress_into, data)
    return CompressedRecords(len(data), within(size, size, max_size), fill, _ERRORS)


def _plain_size(data: memoryview) -> int:
    """Return the decompressed size of data in either framing."""
    view: cython.const[cython.uchar][::1] = data  # type: ignore[valid-type]  # mypy knows no types of C
    at: cython.Py_ssize_t = 0
    size: cython.Py_ssize_t
    plain: cython.longlong = 0
    if not _is_framed(data):
        return _raw_size(view, 0, len(data))
    while at < len(view):
        if _header_at(view, at):
            at += _HEADER_SIZE
            continue
        size = _block_at(view, at)
        plain += _raw_size(view, at + 4, size)
        at += 4 + size
    return plain


def decompress_into(data: memoryview, room: memoryview) -> int:
    """Decompress either framing into memory that may be too small; return the number of bytes written.

    Creates no objects for blocks of a few literals, because there may be millions of them.

    Raises:
        ValueError: the data is damaged, or `room` is too small.
        cramjam.DecompressionError: the data is damaged.
    """
    view: cython.const[cython.uchar][::1] = data  # type: ignore[valid-type]
    target: cython.uchar[::1] = room
    at: cython.Py_ssize_t = 0
    filled: cython.Py_ssize_t = 0
    size: cython.Py_ssize_t
    plain: cython.Py_ssize_t
    if not _is_framed(data):
        return _fill(data, room[: _raw_size(view, 0, len(data))])
    while at < len(view):
        if _header_at(view, at):
            at += _HEADER_SIZE
            continue
        size = _block_at(view, at)
        at += 4
        plain = _raw_size(view, at, size)
        if plain > len(target) - filled:
            raise ValueError(f"a snappy block holds {plain} bytes where {len(target) - filled} are possible")
        if 0 < plain <= _MOST_LITERALS and size == plain + 2 and view[at] == plain and view[at + 1] == (plain - 1) << 2:
            target[filled : filled + plain] = view[at + 2 : at + size]
        elif plain or size > 1:
            _fill(data[at : at + size], room[filled : filled + plain])
        filled += plain
        at += size
    return filled


def _fill(block: memoryview, room: memoryview) -> int:
    """Decompress one block into memory of the size that the block claims."""
    written: int = _decompress_raw_into(block, room)
    if written != len(room):
        raise ValueError(f"a snappy block claims {len(room)} bytes and has {written}")
    return written


def _is_framed(data: memoryview) -> bool:
    """Return whether the data begins with a header; without a header, the data is a single raw block."""
    return data[: len(_MAGIC)] == _MAGIC


@cython.cfunc
def _header_at(
    view: cython.const[cython.uchar][::1],  # type: ignore[valid-type]  # mypy knows no types of C
    at: cython.Py_ssize_t,
) -> cython.bint:
    """Return whether a stream header, not a block, begins at a position."""
    left: cython.Py_ssize_t = len(view) - at
    if left < 4 or read_int32(view, at) & _UINT32 != _MAGIC_HEAD:
        return False
    if left < _HEADER_SIZE or read_int32(view, at + 4) & _UINT32 != _MAGIC_TAIL:
        raise ValueError(f"a snappy stream's header at byte {at} is damaged or cut off")
    return True


@cython.cfunc
def _block_at(
    view: cython.const[cython.uchar][::1],  # type: ignore[valid-type]
    at: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    """Return the size of the block at a position."""
    left: cython.Py_ssize_t = len(view) - at - 4
    size: cython.longlong = -1
    if left >= 0:
        size = read_int32(view, at) & _UINT32
    if size < 0 or size > left:
        raise ValueError(f"a snappy block of {size} bytes begins {left} bytes before the end")
    return size


@cython.cfunc
def _raw_size(
    view: cython.const[cython.uchar][::1],  # type: ignore[valid-type]
    at: cython.Py_ssize_t,
    size: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    """Return the decompressed size that a raw block at a position claims, if that size is possible."""
    plain: cython.longlong = 0
    index: cython.Py_ssize_t
    byte: cython.longlong
    for index in range(min(size, 5)):
        byte = view[at + index]
        plain |= (byte & 127) << 7 * index
        if byte < 128:
            if plain > _MAX_RATIO * size + 64:
                break
            return plain
    raise ValueError(f"a snappy block of {size} bytes begins with a size that it cannot have")


CODEC = Codec(Compression.SNAPPY, _compress, measure, decompress_small=decompress_into, errors=_ERRORS)
