"""The fields of batches in all formats: the positions of fields, the meaning of attributes, and the checksum.

`layout.pxd` provides the same numbers to compiled modules, as C constants; a test compares the two. Formats:
https://kafka.apache.org/documentation/#recordbatch.
"""

from __future__ import annotations

import importlib.util
import struct
from collections.abc import Callable
from importlib.machinery import PathFinder
from types import ModuleType

# Every format begins with an offset (int64) and the length of the rest (int32), with the magic at the same position.
LENGTH_AT = 8
LOG_OVERHEAD = 12
"""Size of the offset and the length, which the length does not include."""
MAGIC_AT = 16
MIN_LENGTH = 14
"""The length of the smallest possible batch: a magic 0 message without key and value."""

# Magic 2: a header, then the records.
EPOCH_AT = 12
CRC_AT = 17
"""CRC-32C of all following bytes."""
ATTRIBUTES_AT = 21
LAST_OFFSET_DELTA_AT = 23
BASE_TIMESTAMP_AT = 27
MAX_TIMESTAMP_AT = 35
PRODUCER_ID_AT = 43
COUNT_AT = 57
HEADER_SIZE = 61
MIN_RECORD_SIZE = 7
HEADER = struct.Struct(">qiibIhiqqqhii")
"""Base offset, length, leader epoch, magic, CRC, attributes, last offset delta, base timestamp, max timestamp, producer
id, producer epoch, base sequence, number of records."""
UNCHECKED_FIELDS = struct.Struct(">qiibI")
"""The fields of a header up to the CRC."""
CHECKED_FIELDS = struct.Struct(">hiqqqhii")
"""The fields of a header after the CRC."""
PRODUCER_FIELDS = struct.Struct(">qhi")
"""Producer id, producer epoch, base sequence."""

# Magic 0 and 1: messages, each with its own header. Magic 0 has no timestamp.
MESSAGE_CRC_AT = 12
MESSAGE_CHECKED_FROM = 16
MESSAGE_ATTRIBUTES_AT = 17
MESSAGE_TIMESTAMP_AT = 18
KEY_SIZE_AT_0 = 18
KEY_SIZE_AT_1 = 26
MIN_MESSAGE_SIZE = 26
"""Minimum size in magic 0; a magic 1 message has eight more bytes."""
MESSAGE_HEADER = struct.Struct(">qiIbbq")
"""Offset, length, CRC, magic, attributes, timestamp (in magic 0, the last field has another meaning)."""

# Attributes: one byte in messages, two in batches, of which only the second is in use.
CODEC_MASK = 0x07
LOG_APPEND_TIME = 0x08
TRANSACTIONAL = 0x10
CONTROL = 0x20

MAX_OFFSET = (1 << 62) - 1
"""The largest offset, and the largest absolute timestamp, that is accepted as valid."""


def smallest_size(magic: int) -> int:
    """Return the total size in bytes of the smallest possible batch with this magic."""
    return HEADER_SIZE if magic == 2 else MIN_MESSAGE_SIZE + 8 * magic


# CRC-32C comes from the compiled module of the library crc32c. The library's package imports `importlib.metadata` and
# `argparse` for its command-line tool. Importing these would account for a fifth of the time that Spark's processes,
# which are started for each query, take to import the data source.


def _compiled() -> ModuleType | None:
    """Return the library's compiled module, loaded without its package; None if it is not in the expected location."""
    package = importlib.util.find_spec("crc32c")
    places = None if package is None else package.submodule_search_locations
    spec = None if places is None else PathFinder.find_spec("crc32c._crc32c", list(places))
    if spec is None or spec.loader is None:
        return None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _found() -> Callable[..., int]:
    found: Callable[..., int] | None = getattr(_compiled(), "crc32c", None)
    if found is not None:
        return found
    from crc32c import crc32c as of_the_package

    return of_the_package


crc32c = _found()
"""Return the checksum of bytes; the optional second argument is the checksum of the preceding bytes."""
