"""The last step of encoding a batch of magic 2: compress its records, fill in the header, compute the checksum."""

from __future__ import annotations

from typing import NamedTuple

from kafka.record.checksum import crc32c
from kafka.record.codecs import compress
from kafka.record.layout import (
    ATTRIBUTES_AT,
    CHECKED_FIELDS,
    HEADER_SIZE,
    LOG_OVERHEAD,
    TRANSACTIONAL,
    UNCHECKED_FIELDS,
)
from kafka.record.memory import allocate
from kafka.record.types import Buffer, Compression


class ProducerState(NamedTuple):
    """What an idempotent or transactional producer writes into its batches (KIP-98).

    Args:
        producer_id: the id that the cluster gave it; -1: no idempotent producer.
        producer_epoch: fences earlier producers of the same transactional id; -1 without an id.
        base_sequence: the number of the batch's first record among those of the producer in the partition; -1 without
            an id.
        transactional: whether the batch belongs to a transaction.
    """

    producer_id: int = -1
    producer_epoch: int = -1
    base_sequence: int = -1
    transactional: bool = False


NO_PRODUCER = ProducerState()


def finish_batch(
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
    finished = batch
    if compression:
        records = batch[HEADER_SIZE:]
        smaller = memoryview(compress(compression, records, level=level) if compressed is None else compressed)
        finished = allocate(HEADER_SIZE + len(smaller))
        finished[HEADER_SIZE:] = smaller
    attributes = compression | (TRANSACTIONAL if state.transactional else 0)
    CHECKED_FIELDS.pack_into(
        finished, ATTRIBUTES_AT, attributes, count - 1, base_timestamp, max_timestamp, *state[:3], count
    )
    checksum = crc32c(finished[ATTRIBUTES_AT:])
    UNCHECKED_FIELDS.pack_into(finished, 0, base_offset, len(finished) - LOG_OVERHEAD, -1, 2, checksum)
    return finished
