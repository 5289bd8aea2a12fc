"""LZ4 frames as Kafka writes them: independent blocks of 64 KiB, no checksums but the header's.

Kafka's magic 0 has a header checksum taken over the wrong bytes, which other readers refuse; it is not looked at here.
Frames of other shapes (linked blocks, checksums) are read too. Format: LZ4 Frame Format 1.6.
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

_MAGIC = b"\x04\x22\x4d\x18"
_DESCRIPTOR = b"\x60\x40"  # version 1, independent blocks; blocks of 64 KiB
_CHECKSUM = b"\x82"
_CHECKSUM_OF_MAGIC_0 = b"\x1a"
_END_MARK = b"\x00\x00\x00\x00"
_BLOCK_SIZE = 64 * 1024
_BLOCK_SIZES = {4: 64 << 10, 5: 256 << 10, 6: 1 << 20, 7: 4 << 20}
_STORED = 0x80000000
_MAX_RATIO = 255

_INDEPENDENT, _BLOCK_CHECKSUM, _CONTENT_SIZE, _CONTENT_CHECKSUM, _DICTIONARY = 0x20, 0x10, 0x08, 0x04, 0x01


def compress(data: Buffer, level: int | None = None, of_magic_0: bool = False) -> bytes:
    """Compress into one frame; `level` above 1 asks for the slower, denser matching."""
    view = memoryview(data)
    parts: list[Buffer] = [_MAGIC, _DESCRIPTOR, _CHECKSUM_OF_MAGIC_0 if of_magic_0 else _CHECKSUM]
    blocks = _quick_blocks(view) if level is None or level <= 1 else _dense_blocks(view, level)
    for block, stored in blocks:
        parts += ((len(block) | (_STORED if stored else 0)).to_bytes(4, "little"), block)
    parts.append(_END_MARK)
    return b"".join(parts)


def _quick_blocks(view: memoryview) -> list[tuple[Buffer, bool]]:
    """Compress block by block; what does not become smaller is stored."""
    blocks: list[tuple[Buffer, bool]] = []
    for start in range(0, len(view), _BLOCK_SIZE):
        plain = view[start : start + _BLOCK_SIZE]
        block = bytes(cramjam.lz4.compress_block(plain, store_size=False))
        blocks.append((block, False) if len(block) < len(plain) else (plain, True))
    return blocks


def _dense_blocks(view: memoryview, level: int) -> list[tuple[memoryview, bool]]:
    """The blocks of a frame by cramjam, whose own frames have checksums, which a batch has no use for."""
    compressor = cramjam.lz4.Compressor(level=level, content_checksum=False, block_linked=False)
    compressor.compress(bytes(view))
    frame = memoryview(bytes(compressor.finish()))
    return _blocks(frame, frame[4])


def measure(data: memoryview) -> tuple[int, Callable[[memoryview], int]]:
    """How many bytes a frame can hold at the most, and what decompresses it into memory of that size.

    Raises:
        ValueError: damaged.
    """
    flags, block_size = _descriptor(data)
    blocks = _blocks(data, flags)
    bound = sum(len(block) if stored else min(block_size, _MAX_RATIO * len(block)) for block, stored in blocks)
    if _is_simple(flags):
        return bound, functools.partial(_fill, blocks, block_size)
    return bound, functools.partial(_fill_from_frame, data)


def decompress_into(data: memoryview, room: memoryview) -> int:
    """Decompress a frame into memory that may be too small, and give how many bytes came out.

    Raises:
        ValueError: damaged, or `room` is too small.
        cramjam.DecompressionError: likewise.
    """
    flags, block_size = _descriptor(data)
    return _fill(_blocks(data, flags), block_size, room) if _is_simple(flags) else _fill_from_frame(data, room)


def _descriptor(data: memoryview) -> tuple[int, int]:
    """The flags of a frame, and how large its blocks are at the most."""
    if len(data) < 7 or data[:4] != _MAGIC:
        raise ValueError(f"Expected an lz4 frame, got {bytes(data[:7])!r}")
    flags, block_size = data[4], _BLOCK_SIZES.get(data[5] >> 4 & 7)
    if flags >> 6 != 1 or block_size is None or flags & _DICTIONARY:
        raise ValueError(
            f"Expected an lz4 frame of version 1 without a dictionary, got the descriptor {bytes(data[4:6])!r}"
        )
    return flags, block_size


def _is_simple(flags: int) -> bool:
    """Whether the blocks of a frame do not need each other, and it has no checksums behind its header."""
    return bool(flags & _INDEPENDENT) and not flags & (_BLOCK_CHECKSUM | _CONTENT_CHECKSUM)


def _fill_from_frame(data: memoryview, target: memoryview) -> int:
    """Decompress a frame whose blocks need each other, or which has checksums; returns how many bytes came out."""
    return int(cramjam.lz4.decompress_into(_with_right_checksum(data), target))


def _blocks(data: memoryview, flags: int) -> list[tuple[memoryview, bool]]:
    """Split what follows a frame's header into blocks, each with whether it is stored without compression."""
    view: cython.const[cython.uchar][::1] = data  # type: ignore[valid-type]  # mypy knows no types of C
    total: cython.Py_ssize_t = len(view)
    at: cython.Py_ssize_t = 15 if flags & _CONTENT_SIZE else 7
    checksum: cython.Py_ssize_t = 4 if flags & _BLOCK_CHECKSUM else 0
    size: cython.Py_ssize_t
    blocks: list[tuple[memoryview, bool]] = []
    while True:
        if total - at < 4:
            raise ValueError(f"an lz4 frame of {total} bytes ends before its end mark")
        size = view[at] | view[at + 1] << 8 | view[at + 2] << 16 | (view[at + 3] & 0x7F) << 24
        stored = view[at + 3] >= 0x80
        at += 4
        if size == 0 and not stored:
            return blocks
        if size > total - at:
            raise ValueError(f"an lz4 block of {size} bytes begins {total - at} bytes before the end")
        blocks.append((data[at : at + size], stored))
        at += size + checksum


def _fill(blocks: list[tuple[memoryview, bool]], block_size: int, view: memoryview) -> int:
    """Decompress blocks that don't refer to each other; returns how many bytes came out."""
    at = 0
    for block, stored in blocks:
        room = view[at : at + block_size]
        if not stored:
            at += cramjam.lz4.decompress_block_into(block, room, output_len=len(room))
        elif len(block) <= len(room):
            room[: len(block)] = block
            at += len(block)
        else:
            raise ValueError(f"an lz4 block stores {len(block)} bytes where {len(room)} are possible")
    return at


def _with_right_checksum(data: memoryview) -> bytes:
    """The frame with the header checksum that the format asks for, whatever it had."""
    end = 14 if data[4] & _CONTENT_SIZE else 6
    return b"".join((data[:end], bytes(((_xxh32_of_few(bytes(data[4:end])) >> 8) & 0xFF,)), data[end + 1 :]))


def _xxh32_of_few(data: bytes) -> int:
    """XXH32 with seed 0 of fewer than 16 bytes."""
    mask = 0xFFFFFFFF
    total = (0x165667B1 + len(data)) & mask
    whole = len(data) // 4 * 4
    for at in range(0, whole, 4):
        total = (total + int.from_bytes(data[at : at + 4], "little") * 0xC2B2AE3D) & mask
        total = (((total << 17 | total >> 15) & mask) * 0x27D4EB2F) & mask
    for byte in data[whole:]:
        total = (total + byte * 0x165667B1) & mask
        total = (((total << 11 | total >> 21) & mask) * 0x9E3779B1) & mask
    total = ((total ^ total >> 15) * 0x85EBCA77) & mask
    total = ((total ^ total >> 13) * 0xC2B2AE3D) & mask
    return total ^ total >> 16
