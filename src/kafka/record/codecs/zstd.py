"""Zstd frames: compressing, bounding their size by their block headers, and decompressing. Format: RFC 8878.

The standard library's module (Python 3.14) or backports.zstd compresses small frames, because it can keep a context
between frames; cramjam decompresses. The library zstandard is ten times as large as both, and optional. If it is
installed, it decompresses instead, because it is the only library that keeps contexts for decompression. Creating a
context takes as long as decompressing a frame of ten records on a virtual machine, where only the hypervisor can query
the processor's features.
"""

from __future__ import annotations

import functools
import importlib
import sys
import threading
from typing import Any

import cramjam

from kafka.record.batch_types import Buffer, Compression
from kafka.record.codecs.codec import Codec, CompressedRecords, filling_views, within

if sys.version_info >= (3, 14):
    from compression import zstd as library
else:
    from backports import zstd as library

zstandard: Any
try:
    zstandard = importlib.import_module("zstandard")
except ImportError:
    zstandard = None

try:
    import cython
except ImportError:  # the plain variant does not need Cython
    from kafka import _cython as cython


_MAGIC = 0xFD2FB528
_SKIPPED_MAGIC, _SKIPPED_MASK = 0x184D2A50, 0xFFFFFFF0
_BLOCK_SIZE = cython.declare(cython.longlong, 128 * 1024)
_AT_ONCE = cython.declare(cython.longlong, 64 * 1024)
_UNKNOWN = cython.declare(cython.longlong, -1)


class _Contexts(threading.local):
    """Per-thread contexts for decompressing small batches, and for compressing them by level."""

    def __init__(self) -> None:
        self.compressors: dict[int, Any] = {}
        self.decompressor: Any = None if zstandard is None else zstandard.ZstdDecompressor()


_contexts = _Contexts()
ERRORS: tuple[type[Exception], ...] = (library.ZstdError, cramjam.DecompressionError)
"""Exceptions that the libraries raise for invalid bytes."""
_decompress_into = filling_views(cramjam.zstd.decompress_into)
ZstdError: type[Exception] = library.ZstdError
"""The exception that programs written for kafka-python catch: the one in zstandard, if that library is installed."""
if zstandard is not None:
    ZstdError = zstandard.ZstdError
    ERRORS += (ZstdError,)


def compress(data: Buffer, level: int) -> Buffer:
    """Compress into one frame.

    Keeps the tables for small frames, because building them takes three times as long as compressing a batch of one
    record. Keeping the tables for large frames would occupy memory permanently and gain nothing.

    Args:
        level: 1 to 22.
    """
    if len(memoryview(data)) > _AT_ONCE:
        return memoryview(cramjam.zstd.compress(data, level=level))
    compressor = _contexts.compressors.get(level)
    if compressor is None:
        compressor = _contexts.compressors[level] = library.ZstdCompressor(level=level)
    return compressor.compress(data, library.ZstdCompressor.FLUSH_FRAME)


def _compress(data: Buffer, level: int | None, magic: int) -> Buffer:
    return compress(data, 3 if level is None else level)


def measure(data: memoryview, max_size: int) -> CompressedRecords:
    """Find the maximum decompressed size of frames.

    Args:
        data: the compressed bytes.
        max_size: maximum number of decompressed bytes.

    Raises:
        ValueError: the data is damaged or not a zstd frame.
        SizeLimitError: the frames claim to contain more than `max_size` bytes.
    """
    least, most = bounds(data)
    return CompressedRecords(len(data), within(least, most, max_size), functools.partial(fill, data), ERRORS)


def decompress_into(data: memoryview, room: memoryview) -> int:
    """Decompress one frame; return the number of bytes written.

    Args:
        data: the frame.
        room: memory that may be too small.

    Raises:
        ValueError: the data is damaged or not a single frame, or `room` is too small.
        One of `ERRORS`: for the same reasons, or if a frame without a size field decompresses to more than 64 KiB.
    """
    if int.from_bytes(data[:4], "little") != _MAGIC:
        raise ValueError("not a zstd frame")
    end, most, claimed = _frame(data, 4)
    if end != len(data) or claimed > min(most, len(room)):
        raise ValueError("not one frame, or it claims to hold more than it can, or than there is room for")
    if _contexts.decompressor is None:
        return _decompress_into(data, room[: min(most, len(room), _AT_ONCE)])
    plain = _contexts.decompressor.decompress(data, max_output_size=min(most, _AT_ONCE))
    room[: len(plain)] = plain
    return len(plain)


def fill(data: memoryview, room: memoryview) -> int:
    """Decompress frames whose headers `bounds` has checked; return the number of bytes written.

    Args:
        data: consecutive frames.
        room: memory that may be too small.

    Raises:
        ValueError: `room` is too small.
        One of `ERRORS`: the data is damaged, or `room` is too small.
    """
    if _contexts.decompressor is None:
        return _decompress_into(data, room)
    reader = _contexts.decompressor.stream_reader(data, read_across_frames=True)
    size = reader.readinto(room)
    if size == len(room) and reader.read(1):
        raise ValueError(f"more than {size} bytes come out")
    return size


def bounds(data: memoryview) -> tuple[int, int]:
    """Return the total size that frames claim, and the maximum size according to their block headers (section 3.1.1).

    In the claimed size, a frame without a size field counts as empty.

    Raises:
        ValueError: the data is damaged or not a zstd frame.
    """
    at = least = total = 0
    while at < len(data):
        magic = int.from_bytes(data[at : at + 4], "little")
        if magic & _SKIPPED_MASK == _SKIPPED_MAGIC:
            at += 8 + int.from_bytes(data[at + 4 : at + 8], "little")
            continue
        if magic != _MAGIC:
            raise ValueError(f"Expected a zstd frame at byte {at}, got {bytes(data[at : at + 4])!r}")
        at, most, claimed = _frame(data, at + 4)
        if claimed >= 0:
            most = min(most, claimed)
            least += most
        total += most
    if at != len(data):
        raise ValueError(f"zstd data of {len(data)} bytes end inside a frame")
    return least, total


def _frame(data: memoryview, start: cython.Py_ssize_t) -> tuple[int, int, int]:
    """Scan one frame, starting after its magic number; return its end, its maximum size, and the size that it claims.

    The claimed size is -1 if the frame has no size field.
    """
    view: cython.const[cython.uchar][::1] = data  # type: ignore[valid-type]
    total: cython.Py_ssize_t = len(data)
    at: cython.Py_ssize_t = start
    descriptor: cython.int
    single_segment: cython.int
    width: cython.int
    header: cython.longlong = 0
    most: cython.longlong = 0
    claimed = _UNKNOWN
    if at >= total:
        raise ValueError("the data end inside a frame's header")
    descriptor = view[at]
    single_segment = descriptor >> 5 & 1
    width = (single_segment, 2, 4, 8)[descriptor >> 6]
    at += 1 + (1 - single_segment) + (0, 1, 2, 4)[descriptor & 3]
    if width:
        claimed = int.from_bytes(data[at : at + width], "little") + (256 if width == 2 else 0)
    at += width
    while not header & 1:
        if at + 3 > total:
            raise ValueError(f"zstd data of {total} bytes end before their last block")
        header = view[at] | view[at + 1] << 8 | view[at + 2] << 16
        at += 3 + (1 if header >> 1 & 3 == 1 else header >> 3)
        most += _BLOCK_SIZE if header >> 1 & 3 == 2 else header >> 3
    at += 4 * (descriptor >> 2 & 1)
    return at, most, claimed


CODEC = Codec(
    Compression.ZSTD,
    _compress,
    measure,
    decompress_small=decompress_into,
    errors=ERRORS,
    oldest_magic=2,
    oldest_produce=7,
    oldest_fetch=10,
    slow_from=256 * 1024,
)
