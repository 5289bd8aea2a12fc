"""Compression of record batches: gzip, snappy in xerial's framing, lz4 frames, zstd.

Decompressing never takes more memory than the compressed bytes can need, nor more than `max_size`: the size is bounded
from the frames' own block lists before anything is allocated. cramjam does the work and lets go of the GIL meanwhile;
`zstd` has the libraries of that codec.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Callable

import cramjam

from kafka.errors import UnsupportedCompressionTypeError
from kafka.record import lz4, xerial, zstd
from kafka.record.memory import allocate, cut
from kafka.record.types import Buffer, Compression

MAX_DECOMPRESSED_SIZE = 256 << 20
"""How many bytes the records of one batch may have, unless a caller says otherwise: 256 MiB."""

_DEFLATE_RATIO = 1032
_GIVEN_FIRST = 256


class CodecError(ValueError):
    """The compressed bytes are damaged, or hold more than is allowed."""


class SizeLimitError(CodecError):
    """The compressed bytes hold, or claim to hold, more than is allowed."""


_UNREADABLE: tuple[type[Exception], ...] = (cramjam.DecompressionError, *zstd.ERRORS, ValueError)
_DAMAGE: tuple[type[Exception], ...] = (*_UNREADABLE, zlib.error, IndexError)
"""What the codecs raise for bytes that they cannot read."""


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
        return zstd.compress(data, 3 if level is None else level)
    raise UnsupportedCompressionTypeError(
        f"Expected a codec that magic {magic} knows, got {kind.name}: zstd needs magic 2"
    )


class CompressedRecords:
    """The records of a batch, not decompressed yet.

    Attributes:
        bound: how many bytes can come out at the most. Only gzip may hold more, if its last bytes lie or if it has
            several members.
    """

    __slots__ = ("_fill", "_otherwise", "_size", "bound")

    def __init__(
        self, size: int, bound: int, fill: Callable[[memoryview], int], otherwise: Callable[[], Buffer] | None = None
    ) -> None:
        self._size = size
        self._fill = fill
        self._otherwise = otherwise
        self.bound = bound

    def decompress(self, max_size: int = MAX_DECOMPRESSED_SIZE, scratch: memoryview | None = None) -> Buffer:
        """Decompress.

        Args:
            max_size: how many bytes may come out.
            scratch: memory to decompress into, if it is large enough for `bound`; what is returned is a part of it.

        Raises:
            CodecError: the bytes are damaged.
            SizeLimitError: more than `max_size` bytes come out.
        """
        try:
            return self._decompress(max_size, scratch)
        except _DAMAGE as error:
            raise _codec_error(error) from error

    def _decompress(self, max_size: int, scratch: memoryview | None) -> Buffer:
        room = min(self.bound, max_size)
        if self._otherwise is not None and self.bound > max_size:
            return self._otherwise()
        fits = scratch is not None and len(scratch) >= room
        target = scratch[:room] if scratch is not None and fits else allocate(room)
        try:
            size = self._fill(target)
        except _UNREADABLE as error:
            if self._otherwise is not None:
                return self._otherwise()
            if self.bound > max_size:
                raise SizeLimitError(f"{error}, with {max_size} bytes allowed to come out of {self._size}") from error
            raise
        return target[:size] if fits else cut(target, size)


def compressed_records(kind: int, data: memoryview, max_size: int = MAX_DECOMPRESSED_SIZE) -> CompressedRecords:
    """Look at compressed records without decompressing them.

    Args:
        kind: the three lowest bits of the batch's attributes, not 0.
        data: the compressed bytes.
        max_size: how many bytes may come out.

    Raises:
        CodecError: the bytes are seen to be damaged.
        SizeLimitError: they are seen to hold more than `max_size` bytes; no memory has been taken then.
        UnsupportedCompressionTypeError: no such codec.
    """
    try:
        if kind == Compression.GZIP:
            # The last four bytes tell the size where there is one member, as there nearly always is.
            bound = min(int.from_bytes(data[-4:], "little"), _DEFLATE_RATIO * len(data))
            members = functools.partial(_gunzip_members, data, max_size)
            return CompressedRecords(len(data), bound, functools.partial(cramjam.gzip.decompress_into, data), members)
        if kind == Compression.SNAPPY:
            size, fill = xerial.measure(data)
            return CompressedRecords(len(data), _within(size, size, max_size), fill)
        if kind == Compression.LZ4:
            return CompressedRecords(len(data), *lz4.measure(data))
        if kind == Compression.ZSTD:
            least, most = zstd.bounds(data)
            return CompressedRecords(len(data), _within(least, most, max_size), functools.partial(zstd.fill, data))
    except _DAMAGE as error:
        raise _codec_error(error) from error
    raise UnsupportedCompressionTypeError(
        f"Expected compression 0 to 4, got {kind}: a newer producer wrote the batch, or its attributes are damaged"
    )


def decompress(kind: int, data: memoryview, max_size: int = MAX_DECOMPRESSED_SIZE) -> Buffer:
    """Decompress the records of a batch, with what `compressed_records` and `CompressedRecords.decompress` raise."""
    return compressed_records(kind, data, max_size).decompress(max_size)


def _within(least: int, most: int, max_size: int) -> int:
    """Return `most`, how many bytes can come out at the most; at least `least` do, which has to be allowed."""
    if least > max_size:
        raise SizeLimitError(f"they claim to hold {least} bytes, {max_size} are allowed")
    return most


def _codec_error(error: Exception) -> CodecError:
    """The same as an error of this module."""
    return error if isinstance(error, CodecError) else CodecError(str(error))


def _gunzip_members(data: memoryview, max_size: int) -> bytearray:
    """Decompress one gzip member after the other, growing as the data comes.

    A member is given little at first: zlib copies what it was given behind a member's end, and there may be many.
    """
    result = bytearray()
    at = 0
    while at < len(data):
        member = zlib.decompressobj(wbits=31)
        given = _GIVEN_FIRST
        while not member.eof:
            if at == len(data):
                raise CodecError(f"gzip data of {len(data)} bytes end before their end mark")
            some = data[at : at + given]
            result += member.decompress(some, max_size + 1 - len(result))
            if len(result) > max_size:
                raise SizeLimitError(f"gzip data of {len(data)} bytes hold more than the {max_size} bytes allowed")
            at += len(some)
            given *= 4
        at -= len(member.unused_data)
    return result


def _gunzip_into(data: memoryview, room: memoryview) -> int:
    """Decompress gzip data of one member, and give how many bytes came out: small ones take zlib half of the time."""
    member = zlib.decompressobj(wbits=31)
    plain = member.decompress(data, len(room))
    if not member.eof or member.unused_data:
        raise CodecError(f"not one member with at most {len(room)} bytes")
    room[: len(plain)] = plain
    return len(plain)


SMALL_CODECS = {
    int(Compression.GZIP): _gunzip_into,
    int(Compression.SNAPPY): xerial.decompress_into,
    int(Compression.LZ4): lz4.decompress_into,
    int(Compression.ZSTD): zstd.decompress_into,
}
"""By kind: decompress what is small into memory that may be too small, without looking at it first."""
SMALL_SIZE = 8 << 10
"""How many bytes a small batch has at the most: with more, what is done once for each is not to be noticed."""
