"""The last step of encoding a batch of magic 2: compress its records, fill in the header, compute the checksum."""

from __future__ import annotations

import struct
from typing import NamedTuple

from crc32c import crc32c

from kafka.record.codecs import compress
from kafka.record.memory import allocate
from kafka.record.types import Buffer, Compression

HEADER_SIZE = 61
_HEAD = struct.Struct(">qiibI")
_CHECKED = struct.Struct(">hiqqqhii")
_TRANSACTIONAL = 0x10


class ProducerState(NamedTuple):
    """What an idempotent or transactional producer writes into its batches (KIP-98)."""

    producer_id: int = -1
    producer_epoch: int = -1
    base_sequence: int = -1
    transactional: bool = False


NO_PRODUCER = ProducerState()


def seal(
    batch: memoryview,
    count: int,
    base_offset: int,
    base_timestamp: int,
    max_timestamp: int,
    compression: Compression,
    level: int | None,
    state: ProducerState,
    compressed: Buffer | None = None,
) -> memoryview:
    """Return the batch, which may be written to: `batch` itself without a codec, new memory with one.

    Args:
        batch: room for the header, then the encoded records; the room is written to.
        count: how many records there are.
        base_offset: the first record's offset; the others follow without gaps.
        base_timestamp: the first record's, in milliseconds.
        max_timestamp: the latest, in milliseconds.
        compression: the codec.
        level: the codec's level, None for its default.
        state: the producer's.
        compressed: the records compressed, if that was done before.

    Raises:
        UnsupportedCompressionTypeError: no such codec.
    """
    sealed = batch
    if compression:
        records = batch[HEADER_SIZE:]
        packed = memoryview(compress(compression, records, level=level) if compressed is None else compressed)
        sealed = allocate(HEADER_SIZE + len(packed))
        sealed[HEADER_SIZE:] = packed
    attributes = compression | (_TRANSACTIONAL if state.transactional else 0)
    _CHECKED.pack_into(sealed, 21, attributes, count - 1, base_timestamp, max_timestamp, *state[:3], count)
    _HEAD.pack_into(sealed, 0, base_offset, len(sealed) - 12, -1, 2, crc32c(sealed[21:]))
    return sealed
