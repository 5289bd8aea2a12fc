"""Types that the modules of this package share: kinds of compression and of timestamps, and buffers."""

from __future__ import annotations

from enum import IntEnum
from typing import TypeAlias

from kafka._compression import Compression as Compression

Buffer: TypeAlias = bytes | bytearray | memoryview
"""Bytes in memory."""
ROW_BYTES = 24
"""Bytes of a row in columns besides key and value: offset, timestamp, and end positions of key and value."""


class TimestampType(IntEnum):
    """What a record's timestamp means; magic 0 has none."""

    NO_TIMESTAMP = -1
    CREATE_TIME = 0
    LOG_APPEND_TIME = 1
