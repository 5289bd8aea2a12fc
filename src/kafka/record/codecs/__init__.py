"""Compression of record batches: gzip, snappy in xerial's framing, lz4 frames, zstd.

Decompression never allocates more memory than the compressed bytes can produce, nor more than `max_size`: the block
lists of frames give an upper bound before anything is allocated. cramjam does the work, and releases the GIL while
doing so.

To add a codec, see `kafka._compression`.
"""

from __future__ import annotations

from kafka.errors import UnsupportedCompressionTypeError
from kafka.record.batch_types import Buffer, Compression
from kafka.record.codecs import gzip, lz4, snappy, zstd
from kafka.record.codecs.codec import (
    MAX_DECOMPRESSED_SIZE,
    Codec,
    CodecError,
    CompressedRecords,
    SizeLimitError,
    codec_error,
    damage_of,
)

__all__ = [
    "CODECS",
    "MAX_DECOMPRESSED_SIZE",
    "SMALL_CODECS",
    "SMALL_SIZE",
    "Codec",
    "CodecError",
    "CompressedRecords",
    "SizeLimitError",
    "compress",
    "compressed_records",
    "decompress",
]

CODECS: dict[int, Codec] = {codec.kind: codec for codec in (gzip.CODEC, snappy.CODEC, lz4.CODEC, zstd.CODEC)}
"""All codecs by number, except `Compression.NONE`."""
SMALL_CODECS = {int(kind): codec.decompress_small for kind, codec in CODECS.items()}
"""Functions by codec number that decompress small data without measuring it, into memory that may be too small."""
SMALL_SIZE = 8 << 10
"""Maximum size of a small batch in bytes; above this, the overhead per batch is negligible."""


def compress(kind: Compression, data: Buffer, *, level: int | None = None, magic: int = 2) -> Buffer:
    """Compress the records of a batch, with the same framing as Kafka's Java client.

    Args:
        kind: the codec; NONE returns `data`.
        level: one of the codec's `Compression.levels`; None for the default level. Snappy has no levels.
        magic: the batch's magic; in magic 0, lz4 frames have the incorrect header checksum of old Kafka releases.

    Raises:
        UnsupportedCompressionTypeError: zstd before magic 2.
    """
    if kind == Compression.NONE:
        return data
    codec = CODECS[kind]
    if magic < codec.oldest_magic:
        name = codec.kind.option
        raise UnsupportedCompressionTypeError(
            f"Expected a codec that magic {magic} supports, got {kind.name}: {name} needs magic {codec.oldest_magic}"
        )
    return codec.compress(data, level, magic)


def compressed_records(kind: int, data: memoryview, max_size: int = MAX_DECOMPRESSED_SIZE) -> CompressedRecords:
    """Check compressed records without decompressing them.

    Args:
        kind: the three lowest bits of the batch's attributes, not 0.
        data: the compressed bytes.
        max_size: maximum number of decompressed bytes.

    Raises:
        CodecError: the bytes are recognizably damaged.
        SizeLimitError: the bytes would decompress to more than `max_size` bytes; no memory has been allocated.
        UnsupportedCompressionTypeError: the codec does not exist.
    """
    codec = CODECS.get(kind)
    if codec is None:
        raise UnsupportedCompressionTypeError(
            f"Expected compression 0 to {max(CODECS)}, got {kind}: a newer producer wrote the batch, or its attributes "
            "are damaged"
        )
    try:
        return codec.measure(data, max_size)
    except damage_of(codec.errors) as error:
        raise codec_error(error) from error


def decompress(kind: int, data: memoryview, max_size: int = MAX_DECOMPRESSED_SIZE) -> Buffer:
    """Decompress the records of a batch.

    Raises the same errors as `compressed_records` and `CompressedRecords.decompress`.
    """
    return compressed_records(kind, data, max_size).decompress(max_size)
