"""The kinds of compression and of timestamps that record batches know."""

from __future__ import annotations

from enum import IntEnum
from typing import TypeAlias

from kafka._compression import Compression as Compression

Buffer: TypeAlias = bytes | bytearray | memoryview
"""Bytes in memory."""
ROW_BYTES = 24
"""What a row takes in columns beside its key and value: offset, timestamp, and where key and value end."""


class TimestampType(IntEnum):
    """What a record's timestamp means; magic 0 has none."""

    NO_TIMESTAMP = -1
    CREATE_TIME = 0
    LOG_APPEND_TIME = 1
