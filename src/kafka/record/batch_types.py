"""Types shared by the modules of this package: compression and timestamp types, and buffers."""

from __future__ import annotations

from enum import IntEnum
from typing import TypeAlias

from kafka._compression import Compression as Compression

Buffer: TypeAlias = bytes | bytearray | memoryview
"""Any bytes-like object that holds records or batches."""
ROW_BYTES = 24
"""Bytes per row in columns, excluding key and value: offset, timestamp, and end positions of key and value."""


class TimestampType(IntEnum):
    """The meaning of a record's timestamp; magic 0 records have no timestamp."""

    NO_TIMESTAMP = -1
    """The record has none."""
    CREATE_TIME = 0
    """The producer set it."""
    LOG_APPEND_TIME = 1
    """The broker set it when it wrote the record."""
