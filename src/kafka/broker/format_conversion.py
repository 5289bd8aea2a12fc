"""Converts record formats: from older formats to magic 2 for the log, and from magic 2 for old consumers.

The log contains only magic 2. As in Kafka, conversions are slow, because every record is decoded and encoded again.
"""

import struct

from kafka.broker.log.batch_head import HEAD_SIZE, PREFIX_SIZE
from kafka.broker.log.log_options import Buffer
from kafka.errors import UnsupportedCompressionTypeError
from kafka.record import BatchBuilder, BatchHeader, Compression, batch_headers, decode_batches
from kafka.record.codecs import CODECS, compress, decompress
from kafka.record.layout import crc32c

_NO_LIMIT = 2**31 - 1
_LENGTH_AT, _CRC_AT, _CRC_FROM = 8, 17, 21
_INT32, _UINT32, _INT16 = struct.Struct(">i"), struct.Struct(">I"), struct.Struct(">h")
_CODEC_BITS = 0x07


def to_magic_2(data: Buffer) -> bytearray:
    """Convert a magic 0 or 1 message set to one magic 2 batch with the same codec.

    Raises `CorruptRecordException` if the message set is damaged.
    """
    headers = list(batch_headers(data))
    columns = decode_batches(data)
    builder = BatchBuilder(2, headers[0].codec, size_limit=_NO_LIMIT)
    for row in range(len(columns)):
        builder.append(columns.timestamps[row], columns.key(row), columns.value(row), ())
    return bytearray(builder.build())


def to_old_magic(data: bytes, magic: int) -> bytes:
    """Convert magic 2 batches to a magic 0 or 1 message set. Record headers are lost.

    The conversion stops before the first batch whose codec the old format does not support. Raises
    `UnsupportedCompressionTypeError` if the codec of the first batch in `data` is not supported.
    """
    converted = []
    for number, header in enumerate(batch_headers(data)):
        codec = CODECS.get(header.codec)
        if codec is not None and magic < codec.oldest_magic:
            if number == 0:
                name = codec.kind.option
                raise UnsupportedCompressionTypeError(f"batches of {name} cannot be converted to an older format")
            break
        columns = decode_batches(memoryview(data)[header.position : header.position + header.size])
        builder = BatchBuilder(magic, header.codec, size_limit=_NO_LIMIT)
        for row in range(len(columns)):
            builder.append(columns.timestamps[row], columns.key(row), columns.value(row), ())
        if len(columns):
            converted.append(builder.build(base_offset=columns.offsets[0]))
    return b"".join(converted)


def recompressed(batch: memoryview, header: BatchHeader, codec: Compression, level: int | None) -> bytearray:
    """Recompress the records of a magic 2 batch with another codec, without other changes.

    Arguments:
        batch, header: the batch and its header.
        codec: the new codec.
        level: the compression level; None: the codec's default.
    """
    records: Buffer = batch[HEAD_SIZE : header.size]
    if header.codec is not Compression.NONE:
        records = decompress(header.codec, memoryview(records))
    made = bytearray(batch[:HEAD_SIZE])
    made += compress(codec, records, level=level)
    _INT32.pack_into(made, _LENGTH_AT, len(made) - PREFIX_SIZE)
    (attributes,) = _INT16.unpack_from(made, _CRC_FROM)
    _INT16.pack_into(made, _CRC_FROM, (attributes & ~_CODEC_BITS) | codec)
    _UINT32.pack_into(made, _CRC_AT, crc32c(memoryview(made)[_CRC_FROM:]))
    return made
