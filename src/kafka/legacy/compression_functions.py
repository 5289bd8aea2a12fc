"""The functions of `kafka.codec`, which compress single payloads with the codecs of `kafka.record`.

All codecs are always available. Damaged data raises the same errors as in kafka-python: `gzip.BadGzipFile`,
`RuntimeError` for lz4, and for zstd the `ZstdError` of zstandard, or of the library used instead if zstandard is not
installed. Snappy raises `ValueError`, because python-snappy, which defines its own error, may not be installed.
"""

from __future__ import annotations

import gzip

from kafka.record import codecs
from kafka.record.batch_types import Buffer, Compression
from kafka.record.codecs import lz4, snappy, zstd

PYPY = False
ZSTD_MAX_OUTPUT_SIZE = 1024 * 1024
_XERIAL_MAGIC = b"\x82SNAPPY\x00"
_XERIAL_HEADER_SIZE = 16


def has_gzip() -> bool:
    """Return True."""
    return True


def has_snappy() -> bool:
    """Return True."""
    return True


def has_lz4() -> bool:
    """Return True."""
    return True


def has_zstd() -> bool:
    """Return True."""
    return True


def gzip_encode(payload: Buffer, compresslevel: int | None = None) -> bytes:
    """Compress into one gzip member, with a level from 1 to 9 (the default)."""
    return bytes(codecs.compress(Compression.GZIP, payload, level=compresslevel or 9))


def gzip_decode(payload: Buffer) -> bytes:
    """Decompress one or more gzip members."""
    return _decode(Compression.GZIP, payload, gzip.BadGzipFile) if len(payload) else b""


def snappy_encode(payload: Buffer, xerial_compatible: bool = True, xerial_blocksize: int = 32 * 1024) -> bytes:
    """Compress in xerial's framing, or into one raw block.

    Arguments:
        payload: any bytes.
        xerial_compatible: whether to use the framing of Java's producers: a header of 16 bytes, then blocks, each
            preceded by its size.
        xerial_blocksize: maximum size of a block before compression, in bytes.
    """
    if not xerial_compatible:
        return snappy.compress_raw(payload)
    return snappy.compress(payload, xerial_blocksize)


def snappy_decode(payload: Buffer) -> bytes:
    """Decompress data in either format."""
    return _decode(Compression.SNAPPY, payload, ValueError)


def lz4_encode(payload: Buffer, compression_level: int = 0, **framing: object) -> bytes:
    """Compress into a frame of independent blocks. Other options of the lz4 library have no effect."""
    return bytes(codecs.compress(Compression.LZ4, payload, level=compression_level or None))


def lz4_decode(payload: Buffer) -> bytes:
    """Decompress a frame, ignoring its header checksum."""
    return _decode(Compression.LZ4, payload, RuntimeError)


def lz4_encode_old_kafka(payload: Buffer) -> bytes:
    """Compress into a frame for brokers before 0.10, with the incorrect header checksum that they expect."""
    return lz4.compress(payload, of_magic_0=True)


lz4f_decode = lz4_decode
lz4_decode_old_kafka = lz4_decode


def zstd_encode(payload: Buffer) -> bytes:
    """Compress into one frame."""
    return bytes(codecs.compress(Compression.ZSTD, payload))


def zstd_decode(payload: Buffer) -> bytes:
    """Decompress one or more frames."""
    return _decode(Compression.ZSTD, payload, zstd.ZstdError) if len(payload) else b""


def _detect_xerial_stream(payload: Buffer) -> bool:
    """Return whether a payload has xerial's framing, in any version."""
    return len(payload) > _XERIAL_HEADER_SIZE and bytes(payload[: len(_XERIAL_MAGIC)]) == _XERIAL_MAGIC


def _decode(kind: Compression, payload: Buffer, error: type[Exception]) -> bytes:
    """Decompress, and raise the given type of error for damaged data."""
    try:
        return bytes(codecs.decompress(kind, memoryview(payload)))
    except codecs.CodecError as damage:
        raise error(str(damage)) from damage
