"""What batches of magic 0 and 1 and their builders share."""

from __future__ import annotations

import struct

from kafka.record import layout
from kafka.record.types import Compression


class LegacyRecordBase:
    """Constants of magic 0 and 1."""

    HEADER_STRUCT_V0 = struct.Struct(">qiIbb")
    """Offset, size, checksum, magic, attributes."""
    HEADER_STRUCT_V1 = layout.MESSAGE_HEADER
    """The same, and the timestamp."""
    LOG_OVERHEAD = layout.LOG_OVERHEAD
    CRC_OFFSET = layout.MESSAGE_CRC_AT
    MAGIC_OFFSET = layout.MAGIC_AT
    RECORD_OVERHEAD_V0 = layout.smallest_size(0) - layout.LOG_OVERHEAD
    RECORD_OVERHEAD_V1 = layout.smallest_size(1) - layout.LOG_OVERHEAD
    KEY_OFFSET_V0 = layout.KEY_SIZE_AT_0
    KEY_OFFSET_V1 = layout.KEY_SIZE_AT_1
    KEY_LENGTH = VALUE_LENGTH = 4

    CODEC_MASK = layout.CODEC_MASK
    CODEC_NONE = int(Compression.NONE)
    CODEC_GZIP = int(Compression.GZIP)
    CODEC_SNAPPY = int(Compression.SNAPPY)
    CODEC_LZ4 = int(Compression.LZ4)
    TIMESTAMP_TYPE_MASK = layout.LOG_APPEND_TIME

    LOG_APPEND_TIME = 1
    CREATE_TIME = 0
    NO_TIMESTAMP = -1
