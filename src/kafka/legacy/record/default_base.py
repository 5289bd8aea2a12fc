"""What batches of magic 2 and their builders share: the header, and the bits of its attributes."""

from __future__ import annotations

from kafka.record import layout
from kafka.record.types import Compression


class DefaultRecordBase:
    """Constants of magic 2."""

    HEADER_STRUCT = layout.HEADER
    ATTRIBUTES_OFFSET = layout.ATTRIBUTES_AT
    CRC_OFFSET = layout.CRC_AT
    AFTER_LEN_OFFSET = layout.LOG_OVERHEAD

    CODEC_MASK = layout.CODEC_MASK
    CODEC_NONE = int(Compression.NONE)
    CODEC_GZIP = int(Compression.GZIP)
    CODEC_SNAPPY = int(Compression.SNAPPY)
    CODEC_LZ4 = int(Compression.LZ4)
    CODEC_ZSTD = int(Compression.ZSTD)
    TIMESTAMP_TYPE_MASK = layout.LOG_APPEND_TIME
    TRANSACTIONAL_MASK = layout.TRANSACTIONAL
    CONTROL_MASK = layout.CONTROL

    LOG_APPEND_TIME = 1
    CREATE_TIME = 0
    NO_PRODUCER_ID = -1
    NO_SEQUENCE = -1
    MAX_INT = 2147483647
