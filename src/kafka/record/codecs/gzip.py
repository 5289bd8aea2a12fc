"""Gzip with one or more members, decompressed up to a size limit."""

from __future__ import annotations

import functools
import zlib

import cramjam

from kafka.record.batch_types import Buffer, Compression
from kafka.record.codecs.codec import Codec, CodecError, CompressedRecords, SizeLimitError, filling_views

_DEFAULT_LEVEL = 6
"""The level that zlib, and therefore Java, uses for -1."""
_DEFLATE_RATIO = 1032
_GIVEN_FIRST = 256
_PADDING_CHUNK = 4096
_ERRORS = (cramjam.DecompressionError, zlib.error)
_decompress_into = filling_views(cramjam.gzip.decompress_into)


def _compress(data: Buffer, level: int | None, magic: int) -> Buffer:
    return memoryview(cramjam.gzip.compress(data, level=_DEFAULT_LEVEL if level is None or level == -1 else level))


def _measure(data: memoryview, max_size: int) -> CompressedRecords:
    # The last four bytes contain the size if there is a single member, which is nearly always the case.
    bound = min(int.from_bytes(data[-4:], "little"), _DEFLATE_RATIO * len(data))
    fill = functools.partial(_decompress_into, data)
    return CompressedRecords(len(data), bound, fill, _ERRORS, functools.partial(_gunzip_members, data, max_size))


def _gunzip_members(data: memoryview, max_size: int) -> bytearray:
    """Decompress gzip members one after another, growing the output as needed.

    Starts each member with a small piece of the input, because zlib copies all input after a member's end, and there
    may be many members.
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
        at = _skip_padding(data, at - len(member.unused_data))
    return result


def _skip_padding(data: memoryview, at: int) -> int:
    """Return the index of the first non-zero byte from `at` on, because zero bytes may follow a member as padding."""
    while at < len(data) and not data[at]:
        padding = bytes(data[at : at + _PADDING_CHUNK])
        at += len(padding) - len(padding.lstrip(b"\0"))
    return at


def _gunzip_into(data: memoryview, room: memoryview) -> int:
    """Decompress a single, small gzip member in half of the usual time; return the number of bytes written."""
    member = zlib.decompressobj(wbits=31)
    plain = member.decompress(data, len(room))
    if not member.eof or member.unused_data:
        raise CodecError(f"not one member with at most {len(room)} bytes")
    room[: len(plain)] = plain
    return len(plain)


CODEC = Codec(Compression.GZIP, _compress, _measure, decompress_small=_gunzip_into, errors=_ERRORS, slow_from=32 * 1024)
