"""Zstd frames: making them, how much they can hold by their block headers, and what is in them. Format: RFC 8878.

Small frames are made by the standard library's module (Python 3.14), or backports.zstd, as these keep a context from
one frame to the next; frames are read by cramjam. The library zstandard is ten times as large as both, and not
required. Where it is installed it reads frames, as it alone keeps contexts for that: a new one costs as much as a
frame of ten records on a virtual machine, where the processor cannot be asked for its features but through the
hypervisor.
"""

from __future__ import annotations

import functools
import importlib
import sys
import threading
from typing import Any

import cramjam

from kafka.record.batch_types import Buffer, Compression
from kafka.record.codecs.codec import Codec, CompressedRecords, within

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
except ImportError:  # the plain variant needs no Cython
    from kafka import _cython as cython


_MAGIC = 0xFD2FB528
_SKIPPED_MAGIC, _SKIPPED_MASK = 0x184D2A50, 0xFFFFFFF0
_BLOCK_SIZE = cython.declare(cython.longlong, 128 * 1024)
_AT_ONCE = cython.declare(cython.longlong, 64 * 1024)
_UNKNOWN = cython.declare(cython.longlong, -1)


class _Contexts(threading.local):
    """What decompressing and, by its level, compressing small batches needs, for each thread."""

    def __init__(self) -> None:
        self.compressors: dict[int, Any] = {}
        self.decompressor: Any = None if zstandard is None else zstandard.ZstdDecompressor()


_contexts = _Contexts()
ERRORS: tuple[type[Exception], ...] = (library.ZstdError, cramjam.DecompressionError)
"""What the libraries raise for bytes that they cannot read."""
ZstdError: type[Exception] = library.ZstdError
"""What programs of kafka-python catch: zstandard's, where that is installed."""
if zstandard is not None:
    ZstdError = zstandard.ZstdError
    ERRORS += (ZstdError,)


def compress(data: Buffer, level: int) -> Buffer:
    """Compress into one frame.

    The tables for small frames are kept, because building them takes three times as long as compressing a batch of one
    record. Keeping those for large frames would occupy memory permanently and gain nothing.

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
    """Find how many bytes frames can hold at most.

    Args:
        data: the compressed bytes.
        max_size: how many bytes may come out.

    Raises:
        ValueError: damaged, or no zstd frame.
        SizeLimitError: the frames say that they hold more than `max_size` bytes.
    """
    least, most = bounds(data)
    return CompressedRecords(len(data), within(least, most, max_size), functools.partial(fill, data), ERRORS)


def decompress_into(data: memoryview, room: memoryview) -> int:
    """Decompress one frame; returns the number of bytes.

    Args:
        data: the frame.
        room: memory that may be too small.

    Raises:
        ValueError: not one frame, damaged, or `room` is too small.
        One of `ERRORS`: likewise, or more than 64 KiB would come out of a frame that does not tell its size.
    """
    if int.from_bytes(data[:4], "little") != _MAGIC:
        raise ValueError("not a zstd frame")
    end, most, claimed = _frame(data, 4)
    if end != len(data) or claimed > min(most, len(room)):
        raise ValueError("not one frame, or it claims to hold more than it can, or than there is room for")
    if _contexts.decompressor is None:
        return int(cramjam.zstd.decompress_into(data, room[: min(most, len(room), _AT_ONCE)]))
    plain = _contexts.decompressor.decompress(data, max_output_size=min(most, _AT_ONCE))
    room[: len(plain)] = plain
    return len(plain)


def fill(data: memoryview, room: memoryview) -> int:
    """Decompress frames whose headers `bounds` has walked over, and give how many bytes came out.

    Args:
        data: one frame after the other.
        room: memory that may be too small.

    Raises:
        ValueError: `room` is too small.
        One of `ERRORS`: damaged, or there is too little room.
    """
    if _contexts.decompressor is None:
        return int(cramjam.zstd.decompress_into(data, room))
    reader = _contexts.decompressor.stream_reader(data, read_across_frames=True)
    size = reader.readinto(room)
    if size == len(room) and reader.read(1):
        raise ValueError(f"more than {size} bytes come out")
    return size


def bounds(data: memoryview) -> tuple[int, int]:
    """How many bytes frames say they hold, and can hold at the most by their block headers (section 3.1.1).

    A frame that does not tell its size counts as empty in the first.

    Raises:
        ValueError: damaged, or no zstd frame.
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
    """Walk over one frame from behind its magic: where it ends, how much its blocks can hold and it says it does.

    The last is -1 where it says nothing.
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
