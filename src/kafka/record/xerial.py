"""Snappy in the framing of xerial's Java library, which Kafka uses: a header, then blocks with their size before them.

Raw snappy, which some old producers wrote, is read as well. Format: SnappyOutputStream of snappy-java.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import cramjam

try:
    import cython
except ImportError:  # the plain variant needs no Cython
    from kafka import _cython as cython

from kafka.record.types import Buffer

_MAGIC = b"\x82SNAPPY\x00"
_HEADER = _MAGIC + (1).to_bytes(4, "big") + (1).to_bytes(4, "big")
_BLOCK_SIZE = 32 * 1024
_MAX_RATIO = 22  # the longest copy makes 64 bytes out of 3


def compress(data: Buffer) -> bytes:
    """Compress into blocks of at most 32 KiB, as Java does."""
    view = memoryview(data)
    parts = [_HEADER]
    for start in range(0, len(view), _BLOCK_SIZE):
        block = bytes(cramjam.snappy.compress_raw(view[start : start + _BLOCK_SIZE]))
        parts += (len(block).to_bytes(4, "big"), block)
    return b"".join(parts)


def measure(data: memoryview) -> tuple[int, Callable[[memoryview], int]]:
    """The size that either framing decompresses to, and what decompresses it into memory of that size.

    Raises:
        ValueError: damaged.
    """
    blocks = _blocks(data)
    sizes = [_raw_size(block) for block in blocks]
    return sum(sizes), functools.partial(_fill, blocks, sizes)


def decompress_into(data: memoryview, room: memoryview) -> int:
    """Decompress either framing into memory that may be too small, and give how many bytes came out.

    Raises:
        ValueError: damaged.
        cramjam.DecompressionError: likewise, or `room` is too small.
    """
    at = 0
    for block in _blocks(data):
        at += cramjam.snappy.decompress_raw_into(block, room[at:])
    return at


def _fill(blocks: list[memoryview], sizes: list[int], target: memoryview) -> int:
    """Decompress blocks one after the other; returns how many bytes came out.

    Raises:
        ValueError: a block holds less than it says.
        cramjam.DecompressionError: a block is damaged.
    """
    at = 0
    for block, size in zip(blocks, sizes, strict=True):
        if size:
            written = cramjam.snappy.decompress_raw_into(block, target[at : at + size])
            if written != size:
                raise ValueError(f"a snappy block claims {size} bytes and has {written}")
        at += size
    return at


def _blocks(data: memoryview) -> list[memoryview]:
    """Split what follows the header into its blocks; raw snappy is one."""
    if data[: len(_MAGIC)] != _MAGIC:
        return [data]
    total: cython.Py_ssize_t = len(data)
    at: cython.Py_ssize_t = len(_HEADER)
    size: cython.Py_ssize_t
    blocks = []
    while at < total:
        size = int.from_bytes(data[at : at + 4], "big")
        at += 4
        if size > total - at:
            raise ValueError(f"a snappy block of {size} bytes begins {total - at} bytes before the end")
        blocks.append(data[at : at + size])
        at += size
    return blocks


def _raw_size(block: memoryview) -> int:
    """The size that a raw block says it decompresses to, if it can."""
    size = 0
    for index, byte in enumerate(block[:5]):
        size |= (byte & 127) << 7 * index
        if byte < 128:
            if size > _MAX_RATIO * len(block) + 64:
                break
            return size
    raise ValueError(f"a snappy block of {len(block)} bytes begins with a size that it cannot have")
