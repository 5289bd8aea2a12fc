"""LZ4 frames as Kafka writes them: independent blocks of 64 KiB, with no checksum except the header's.

In magic 0, Kafka computes the header checksum over the wrong bytes. Other readers reject it; this module ignores it.
Other kinds of frames (with linked blocks or checksums) are supported, too. Format: LZ4 Frame Format 1.6.
"""

from __future__ import annotations

import functools

import cramjam

try:
    import cython
except ImportError:  # the plain variant does not need Cython
    from kafka import _cython as cython

from kafka.record.batch_types import Buffer, Compression
from kafka.record.codecs.codec import Codec, CompressedRecords, filling_views

_ERRORS = (cramjam.DecompressionError,)
_decompress_block_into = filling_views(cramjam.lz4.decompress_block_into)
_decompress_frame_into = filling_views(cramjam.lz4.decompress_into)
_MAGIC = b"\x04\x22\x4d\x18"
_DESCRIPTOR = b"\x60\x40"  # version 1, independent blocks; blocks of 64 KiB
_CHECKSUM = b"\x82"
_CHECKSUM_OF_MAGIC_0 = b"\x1a"
_END_MARK = b"\x00\x00\x00\x00"
_BLOCK_SIZE = 64 * 1024
_BLOCK_SIZES = {4: 64 << 10, 5: 256 << 10, 6: 1 << 20, 7: 4 << 20}
_STORED = 0x80000000
_MAX_RATIO = cython.declare(cython.longlong, 255)
_MOST_LITERALS = cython.declare(cython.Py_ssize_t, 15)
"""Maximum size of a literal-only block whose length fits into its first token."""

_INDEPENDENT, _BLOCK_CHECKSUM, _CONTENT_SIZE, _CONTENT_CHECKSUM, _DICTIONARY = 0x20, 0x10, 0x08, 0x04, 0x01


def compress(data: Buffer, level: int | None = None, of_magic_0: bool = False) -> bytes:
    """Compress into one frame; a `level` above 1 selects slower, denser matching."""
    view = memoryview(data)
    parts: list[Buffer] = [_MAGIC, _DESCRIPTOR, _CHECKSUM_OF_MAGIC_0 if of_magic_0 else _CHECKSUM]
    if level is None or level <= 1:
        _add_blocks(view, parts)
    else:
        _add_dense_blocks(view, level, parts)
    parts.append(_END_MARK)
    return b"".join(parts)


def _add_blocks(view: memoryview, parts: list[Buffer]) -> None:
    """Compress block by block; store blocks uncompressed if they would not shrink."""
    for start in range(0, len(view), _BLOCK_SIZE):
        plain = view[start : start + _BLOCK_SIZE]
        block = bytes(cramjam.lz4.compress_block(plain, store_size=False))
        if len(block) < len(plain):
            parts += (len(block).to_bytes(4, "little"), block)
        else:
            parts += ((len(plain) | _STORED).to_bytes(4, "little"), plain)


def _add_dense_blocks(view: memoryview, level: int, parts: list[Buffer]) -> None:
    """Add the blocks of a frame that cramjam has compressed, without block checksums, which a batch does not need."""
    compressor = cramjam.lz4.Compressor(level=level, content_checksum=False, block_linked=False)
    compressor.compress(bytes(view))
    frame = memoryview(bytes(compressor.finish()))
    flags, block_size = _descriptor(frame)
    at = _header_size(flags)
    while size := _block_at(frame, at, block_size):
        parts.append(frame[at : at + 4 + size])
        at += 4 + size + (4 if flags & _BLOCK_CHECKSUM else 0)


def measure(data: memoryview, max_size: int) -> CompressedRecords:
    """Find the maximum decompressed size of a frame.

    Args:
        data: the compressed bytes.
        max_size: maximum number of decompressed bytes.

    Raises:
        ValueError: the frame is damaged.
    """
    flags, block_size = _descriptor(data)
    bound = _bound(data, flags, block_size)
    if _is_simple(flags):
        return CompressedRecords(len(data), bound, functools.partial(_fill, data, flags, block_size), _ERRORS)
    return CompressedRecords(len(data), bound, functools.partial(_fill_from_frame, data), _ERRORS)


def _compress(data: Buffer, level: int | None, magic: int) -> Buffer:
    return compress(data, level, magic == 0)


def decompress_into(data: memoryview, room: memoryview) -> int:
    """Decompress a frame into memory that may be too small; return the number of bytes written.

    Raises:
        ValueError: the frame is damaged, or `room` is too small.
        cramjam.DecompressionError: for the same reasons.
    """
    view: cython.const[cython.uchar][::1] = data  # type: ignore[valid-type]
    kind: cython.Py_ssize_t = _usual_kind(view)
    largest: cython.Py_ssize_t = 1
    if kind:
        largest <<= 8 + 2 * kind
        return _fill_blocks(data, view, 7, largest, room)
    flags, block_size = _descriptor(data)
    return _fill(data, flags, block_size, room) if _is_simple(flags) else _fill_from_frame(data, room)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _usual_kind(view: cython.const[cython.uchar][::1]) -> cython.Py_ssize_t:  # type: ignore[valid-type]
    """Return the block size code, 4 to 7, of a frame in the shape that Kafka clients write; 0 for other frames."""
    if len(view) < 7 or view[0] != 0x04 or view[1] != 0x22 or view[2] != 0x4D or view[3] != 0x18:
        return 0
    kind: cython.Py_ssize_t = view[5] >> 4 & 7
    return kind if view[4] & ~0x03 == 0x60 and not view[4] & 1 and kind >= 4 else 0


def _descriptor(data: memoryview) -> tuple[int, int]:
    """Return the flags of a frame and its maximum block size."""
    if len(data) < 7 or data[:4] != _MAGIC:
        raise ValueError(f"Expected an lz4 frame, got {bytes(data[:7])!r}")
    flags, block_size = data[4], _BLOCK_SIZES.get(data[5] >> 4 & 7)
    if flags >> 6 != 1 or block_size is None or flags & _DICTIONARY:
        raise ValueError(
            f"Expected an lz4 frame of version 1 without a dictionary, got the descriptor {bytes(data[4:6])!r}"
        )
    return flags, block_size


def _is_simple(flags: int) -> bool:
    """Return whether a frame has independent blocks, and no checksums after its header."""
    return bool(flags & _INDEPENDENT) and not flags & (_BLOCK_CHECKSUM | _CONTENT_CHECKSUM)


def _fill_from_frame(data: memoryview, target: memoryview) -> int:
    """Decompress a frame with linked blocks or checksums; return the number of bytes written."""
    return _decompress_frame_into(_with_right_checksum(data), target)


def _header_size(flags: int) -> int:
    """Return the number of bytes before the first block."""
    return 15 if flags & _CONTENT_SIZE else 7


@cython.cfunc
def _block_at(
    view: cython.const[cython.uchar][::1],  # type: ignore[valid-type]  # mypy knows no types of C
    at: cython.Py_ssize_t,
    block_size: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    """Return the size of the block at a position; 0 at the end mark.

    An empty stored block is an end mark too, as in Java (`Lz4BlockInputStream`).
    """
    total: cython.Py_ssize_t = len(view)
    size: cython.Py_ssize_t
    if total - at < 4:
        raise ValueError(f"an lz4 frame of {total} bytes ends before its end mark")
    size = view[at] | view[at + 1] << 8 | view[at + 2] << 16 | (view[at + 3] & 0x7F) << 24
    if size > block_size:
        raise ValueError(f"an lz4 block has {size} bytes where {block_size} are possible")
    if size > total - at - 4:
        raise ValueError(f"an lz4 block of {size} bytes begins {total - at - 4} bytes before the end")
    return size


def _bound(data: memoryview, flags: int, block_size: cython.Py_ssize_t) -> int:
    """Return the maximum decompressed size of the blocks."""
    view: cython.const[cython.uchar][::1] = data  # type: ignore[valid-type]
    at: cython.Py_ssize_t = _header_size(flags)
    checksum: cython.Py_ssize_t = 4 if flags & _BLOCK_CHECKSUM else 0
    bound: cython.longlong = 0
    size: cython.Py_ssize_t = _block_at(view, at, block_size)
    while size > 0:
        bound += size if view[at + 3] & 0x80 else min(block_size, _MAX_RATIO * size)
        at += 4 + size + checksum
        size = _block_at(view, at, block_size)
    return bound


def _fill(data: memoryview, flags: int, block_size: cython.Py_ssize_t, room: memoryview) -> int:
    """Decompress independent blocks; return the number of bytes written."""
    view: cython.const[cython.uchar][::1] = data  # type: ignore[valid-type]
    return _fill_blocks(data, view, _header_size(flags), block_size, room)


@cython.cfunc
def _fill_blocks(
    data: memoryview,
    view: cython.const[cython.uchar][::1],  # type: ignore[valid-type]
    at: cython.Py_ssize_t,
    block_size: cython.Py_ssize_t,
    room: memoryview,
) -> cython.Py_ssize_t:
    """Decompress independent blocks from a position on.

    Creates no objects for stored blocks and short literals, because a frame may contain millions of such blocks.
    """
    target: cython.uchar[::1] = None  # acquired only when it is written to, because acquiring it is expensive
    has_target: cython.bint = False
    filled: cython.Py_ssize_t = 0
    start: cython.Py_ssize_t
    size: cython.Py_ssize_t
    while True:
        size = _block_at(view, at, block_size)
        if size == 0:
            return filled
        start = at + 4
        at = start + size
        if view[start - 1] < 0x80:
            if size > _MOST_LITERALS or view[start] != (size - 1) << 4:
                some = room if not filled and len(room) <= block_size else room[filled : filled + block_size]
                filled += _decompress_block_into(data[start:at], some, output_len=len(some))
                continue
            start += 1
        if not has_target:
            target, has_target = room, True
        if at - start > len(target) - filled:
            raise ValueError(f"an lz4 block stores {at - start} bytes where {len(target) - filled} are possible")
        target[filled : filled + at - start] = view[start:at]
        filled += at - start


def _with_right_checksum(data: memoryview) -> bytes:
    """Return the frame with a correct header checksum."""
    end = 14 if data[4] & _CONTENT_SIZE else 6
    return b"".join((data[:end], bytes(((_xxh32_of_few(bytes(data[4:end])) >> 8) & 0xFF,)), data[end + 1 :]))


def _xxh32_of_few(data: bytes) -> int:
    """Return the XXH32 hash, with seed 0, of fewer than 16 bytes."""
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


CODEC = Codec(Compression.LZ4, _compress, measure, decompress_small=decompress_into, errors=_ERRORS)
