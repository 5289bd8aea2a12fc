"""Compression of record batches: gzip, snappy in xerial's framing, lz4 frames, zstd.

Decompressing never takes more memory than the compressed bytes can need, nor more than `max_size`: the size is bounded
from the frames' own block lists before anything is allocated. cramjam does the work and lets go of the GIL meanwhile.
"""

from __future__ import annotations

import zlib

import cramjam

from kafka.errors import UnsupportedCompressionTypeError
from kafka.record import lz4, xerial
from kafka.record.memory import allocate, cut
from kafka.record.types import Buffer, Compression

MAX_DECOMPRESSED_SIZE = 1 << 30
"""How many bytes the records of one batch may have, unless a caller says otherwise: 1 GiB."""

_ZSTD_MAGIC = 0xFD2FB528
_ZSTD_BLOCK = 128 * 1024
_DEFLATE_RATIO = 1032


class CodecError(ValueError):
    """The compressed bytes are damaged, or hold more than is allowed."""


def compress(kind: Compression, data: Buffer, *, level: int | None = None, magic: int = 2) -> Buffer:
    """Compress the records of a batch as Kafka's Java client frames them.

    Args:
        kind: the codec; NONE gives `data` back.
        level: the codec's own level (gzip 1 to 9, lz4 1 to 17, zstd 1 to 22), None for its default; snappy has none.
        magic: the batch's; an lz4 frame of magic 0 has the header checksum that Kafka once got wrong.

    Raises:
        UnsupportedCompressionTypeError: zstd before magic 2.
    """
    if kind == Compression.NONE:
        return data
    if kind == Compression.GZIP:
        return memoryview(cramjam.gzip.compress(data, level=6 if level is None else level))
    if kind == Compression.SNAPPY:
        return xerial.compress(data)
    if kind == Compression.LZ4:
        return lz4.compress(data, level, magic == 0)
    if magic >= 2:
        return memoryview(cramjam.zstd.compress(data, level=3 if level is None else level))
    raise UnsupportedCompressionTypeError(
        f"Expected a codec that magic {magic} knows, got {kind.name}: zstd needs magic 2"
    )


def decompress(kind: int, data: memoryview, max_size: int = MAX_DECOMPRESSED_SIZE) -> Buffer:
    """Decompress the records of a batch.

    Args:
        kind: the three lowest bits of the batch's attributes, not 0.
        data: the compressed bytes.
        max_size: how many bytes may come out.

    Raises:
        CodecError: the bytes are damaged, or more than `max_size` would come out.
        UnsupportedCompressionTypeError: no such codec.
    """
    try:
        if kind == Compression.GZIP:
            return _gunzip(data, max_size)
        if kind == Compression.SNAPPY:
            return xerial.decompress(data, max_size)
        if kind == Compression.LZ4:
            return lz4.decompress(data, max_size)
        if kind == Compression.ZSTD:
            return _bounded(cramjam.zstd.decompress_into, data, _zstd_bound(data), max_size)
    except (cramjam.DecompressionError, zlib.error, ValueError, IndexError) as error:
        raise error if isinstance(error, CodecError) else CodecError(str(error)) from error
    raise UnsupportedCompressionTypeError(
        f"Expected compression 0 to 4, got {kind}: a newer producer wrote the batch, or its attributes are damaged"
    )


def _gunzip(data: memoryview, max_size: int) -> Buffer:
    """Decompress gzip; the last four bytes tell the size where there is one member, as there nearly always is."""
    size = min(int.from_bytes(data[-4:], "little"), _DEFLATE_RATIO * len(data))
    if size <= max_size:
        try:
            return _bounded(cramjam.gzip.decompress_into, data, size, max_size)
        except cramjam.DecompressionError:
            pass  # several members, or damaged: the slower way finds out
    return _gunzip_members(data, max_size)


def _gunzip_members(data: memoryview, max_size: int) -> bytearray:
    """Decompress one gzip member after the other, growing as the data comes."""
    result = bytearray()
    rest: Buffer = data
    while len(memoryview(rest)):
        member = zlib.decompressobj(wbits=31)
        result += member.decompress(rest, max_size + 1 - len(result))
        if len(result) > max_size:
            raise CodecError(f"gzip data of {len(data)} bytes hold more than the {max_size} bytes allowed")
        if not member.eof:
            raise CodecError(f"gzip data of {len(data)} bytes end before their end mark")
        rest = member.unused_data
    return result


def _bounded(decompress_into: object, data: memoryview, bound: int, max_size: int) -> Buffer:
    """Decompress into a buffer of the size that the data can have at the most, and cut it to what came."""
    result = allocate(min(bound, max_size))
    try:
        size = decompress_into(data, result)  # type: ignore[operator]
    except cramjam.DecompressionError as error:
        if bound > max_size:
            raise CodecError(f"{error}, with {max_size} bytes allowed to come out of {len(data)}") from error
        raise
    if size > max_size:
        raise CodecError(f"{size} bytes came out of {len(data)}, {max_size} are allowed")
    return cut(result, size)


def _zstd_bound(data: memoryview) -> int:
    """The size that zstd frames can decompress to at the most, from their block headers (RFC 8878, section 3.1.1)."""
    at = bound = 0
    while at < len(data):
        magic = int.from_bytes(data[at : at + 4], "little")
        if magic & 0xFFFFFFF0 == 0x184D2A50:
            at += 8 + int.from_bytes(data[at + 4 : at + 8], "little")
            continue
        if magic != _ZSTD_MAGIC:
            raise CodecError(f"Expected a zstd frame at byte {at}, got {bytes(data[at : at + 4])!r}")
        at, size = _zstd_frame(data, at + 4)
        bound += size
    if at != len(data):
        raise CodecError(f"zstd data of {len(data)} bytes end inside a frame")
    return bound


def _zstd_frame(data: memoryview, at: int) -> tuple[int, int]:
    """Walk over one frame from behind its magic; returns where it ends and the size it can decompress to."""
    descriptor = data[at]
    single_segment = descriptor >> 5 & 1
    content_size_width = (single_segment, 2, 4, 8)[descriptor >> 6]
    at += 1 + (1 - single_segment) + (0, 1, 2, 4)[descriptor & 3]
    content_size = int.from_bytes(data[at : at + content_size_width], "little") + 256 * (content_size_width == 2)
    at += content_size_width
    bound = 0
    last = False
    while not last:
        if at + 3 > len(data):
            raise CodecError(f"zstd data of {len(data)} bytes end before their last block")
        header = int.from_bytes(data[at : at + 3], "little")
        last, kind, size = bool(header & 1), header >> 1 & 3, header >> 3
        at += 3 + (1 if kind == 1 else size)
        bound += _ZSTD_BLOCK if kind == 2 else size
    at += 4 * (descriptor >> 2 & 1)
    return at, min(bound, content_size) if content_size_width else bound
