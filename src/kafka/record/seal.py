"""The last step of encoding a batch of magic 2: compress its records, fill in the header, compute the checksum."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple

from crc32c import crc32c

from kafka.record.codecs import compress
from kafka.record.types import Buffer, Compression

HEADER_SIZE = 61
_HEAD = struct.Struct(">qiibI")
_CHECKED = struct.Struct(">hiqqqhii")
_TRANSACTIONAL = 0x10


class ProducerState(NamedTuple):
    """What an idempotent or transactional producer writes into its batches (KIP-98)."""

    producer_id: int
    producer_epoch: int
    base_sequence: int
    transactional: bool


def seal(
    batch: memoryview,
    count: int,
    base_offset: int,
    base_timestamp: int,
    max_timestamp: int,
    compression: Compression,
    level: int | None,
    state: ProducerState,
) -> bytes:
    """Return the batch.

    Args:
        batch: room for the header, then the encoded records; the room is written to.
        count: how many records there are.
        base_offset: the first record's offset; the others follow without gaps.
        base_timestamp: the first record's, in milliseconds.
        max_timestamp: the latest, in milliseconds.
        compression: the codec.
        level: the codec's level, None for its default.
        state: the producer's.

    Raises:
        UnsupportedCompressionTypeError: no such codec.
    """
    header = batch[:HEADER_SIZE] if compression == Compression.NONE else memoryview(bytearray(HEADER_SIZE))
    records: Buffer = batch[HEADER_SIZE:]
    if compression:
        records = memoryview(compress(compression, records, level=level))
    attributes = compression | (_TRANSACTIONAL if state.transactional else 0)
    _CHECKED.pack_into(header, 21, attributes, count - 1, base_timestamp, max_timestamp, *state[:3], count)
    if compression:
        checksum = crc32c(records, crc32c(header[21:]))
    else:
        checksum = crc32c(batch[21:])
    _HEAD.pack_into(header, 0, base_offset, HEADER_SIZE - 12 + len(records), -1, 2, checksum)
    return b"".join((header, records)) if compression else bytes(batch)


def headers_bound(headers: Sequence[tuple[str, bytes | None]]) -> int:
    """How many bytes the headers of a record take at the most."""
    return sum(10 + 4 * len(key) + (0 if value is None else len(value)) for key, value in headers)


def encode_headers(headers: Sequence[tuple[str, bytes | None]]) -> bytes:
    """Encode the headers of a record, their number first.

    Raises:
        TypeError: a key is no str, or a value neither bytes-like nor None.
    """
    out = bytearray(varint(len(headers)))
    for key, value in headers:
        if not isinstance(key, str):
            raise TypeError(f"Expected the key of a header as str, got {type(key).__name__}")
        encoded = key.encode()
        out += varint(len(encoded))
        out += encoded
        if value is None:
            out += varint(-1)
        elif isinstance(value, (bytes, bytearray, memoryview)):
            out += varint(len(value))
            out += value
        else:
            raise TypeError(f"Expected the value of header {key!r} as bytes or None, got {type(value).__name__}")
    return bytes(out)


def varint(value: int) -> bytes:
    """Encode a zigzag number of at most 64 bits."""
    bits = (value << 1) ^ (value >> 63)
    out = bytearray()
    while bits >= 128:
        out.append(bits & 127 | 128)
        bits >>= 7
    out.append(bits)
    return bytes(out)
