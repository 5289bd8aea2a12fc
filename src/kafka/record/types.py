"""The kinds of compression and of timestamps that record batches know."""

from __future__ import annotations

from enum import IntEnum
from typing import TypeAlias

Buffer: TypeAlias = bytes | bytearray | memoryview
"""Bytes in memory."""
ROW_BYTES = 24
"""What a row takes in columns beside its key and value: offset, timestamp, and where key and value end."""


class Compression(IntEnum):
    """How the records of a batch are compressed: the value of the three lowest bits of its attributes."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


class TimestampType(IntEnum):
    """What a record's timestamp means; magic 0 has none."""

    NO_TIMESTAMP = -1
    CREATE_TIME = 0
    LOG_APPEND_TIME = 1
