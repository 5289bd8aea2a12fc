"""The headers of batches: read, checked and changed without decoding the records, and written when a batch is encoded.

In magic 0 and 1 every message outside a compressed one counts as a batch of one record; a compressed message is a batch
of those inside. Format: https://kafka.apache.org/documentation/#recordbatch.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from kafka.errors import CorruptRecordException, UnsupportedForMessageFormatError
from kafka.record.batch_types import Buffer, Compression, TimestampType
from kafka.record.codecs import CodecError, compress, decompress
from kafka.record.layout import (
    ATTRIBUTES_AT,
    CHECKED_FIELDS,
    CODEC_MASK,
    CONTROL,
    CRC_AT,
    EPOCH_AT,
    HEADER,
    HEADER_SIZE,
    KEY_SIZE_AT_0,
    KEY_SIZE_AT_1,
    LAST_OFFSET_DELTA_AT,
    LENGTH_AT,
    LOG_APPEND_TIME,
    LOG_OVERHEAD,
    MAGIC_AT,
    MAX_TIMESTAMP_AT,
    MESSAGE_ATTRIBUTES_AT,
    MESSAGE_CHECKED_FROM,
    MESSAGE_CRC_AT,
    MESSAGE_HEADER,
    MESSAGE_TIMESTAMP_AT,
    MIN_LENGTH,
    PRODUCER_FIELDS,
    PRODUCER_ID_AT,
    TRANSACTIONAL,
    UNCHECKED_FIELDS,
    crc32c,
    smallest_size,
)
from kafka.record.memory import allocate

_LAST_CODEC = max(Compression)


class CorruptMessageSet(CorruptRecordException):
    """A compressed message of magic 0 or 1 whose inside does not fit together."""


@dataclass(frozen=True, slots=True)
class BatchHeader:
    """The header of a batch; -1 for fields that its magic does not have.

    Args:
        base_offset: of its first record.
        last_offset: of its last record.
        codec: how its records are compressed.
        timestamp_type: whose time its records have, the producer's or the broker's.
        producer_id: of the idempotent producer that wrote it (KIP-98).
        producer_epoch: that producer's.
        base_sequence: the number of its first record among those of the producer in this partition.
        leader_epoch: of the leader that wrote it (KIP-320).
        is_transactional: whether it belongs to a transaction (KIP-98).
        is_control: whether its record is a marker of the broker's, such as the end of a transaction.
    """

    position: int
    """Of its first byte, in bytes from the start of the data."""
    size: int
    """Total size in bytes."""
    base_offset: int
    last_offset: int
    magic: int
    codec: Compression
    timestamp_type: TimestampType
    max_timestamp: int
    """Milliseconds since the epoch; -1 if there is none."""
    producer_id: int
    producer_epoch: int
    base_sequence: int
    count: int
    """How many records the batch says it has; compaction leaves fewer than its offsets span."""
    leader_epoch: int
    is_transactional: bool
    is_control: bool


def batch_headers(data: Buffer) -> Iterator[BatchHeader]:
    """Go through the whole batches of `data`; a batch cut off at the end is left out.

    Raises:
        CorruptRecordException: a size, a magic or a count that cannot be, or a damaged compressed message of magic 1.
    """
    view = memoryview(data).cast("B")
    position = 0
    while len(view) - position > MAGIC_AT:
        size = LOG_OVERHEAD + int.from_bytes(view[position + LENGTH_AT : position + LOG_OVERHEAD], "big", signed=True)
        magic = view[position + MAGIC_AT]
        if magic > 2 or size < smallest_size(magic):
            raise CorruptRecordException(
                f"Expected a batch of magic 0, 1 or 2 with its whole header at byte {position}, "
                f"got magic {magic} and {size} bytes"
            )
        if size > len(view) - position:
            return
        yield _v2_header(view, position, size) if magic == 2 else _legacy_header(view, position, size, magic)
        position += size


def _v2_header(view: memoryview, position: int, size: int) -> BatchHeader:
    """Read the header of a batch of magic 2."""
    (
        base_offset,
        _,
        leader_epoch,
        magic,
        _,
        attributes,
        last_delta,
        _,
        max_timestamp,
        producer_id,
        epoch,
        sequence,
        count,
    ) = HEADER.unpack_from(view, position)
    if base_offset < 0 or last_delta < 0 or count < 0:
        raise CorruptRecordException(
            f"Expected a base offset, an offset span and a count of at least 0 at byte {position}, "
            f"got {base_offset}, {last_delta} and {count}"
        )
    return BatchHeader(
        position,
        size,
        base_offset,
        base_offset + last_delta,
        magic,
        _codec(attributes, position),
        TimestampType.LOG_APPEND_TIME if attributes & LOG_APPEND_TIME else TimestampType.CREATE_TIME,
        max_timestamp,
        producer_id,
        epoch,
        sequence,
        count,
        leader_epoch,
        bool(attributes & TRANSACTIONAL),
        bool(attributes & CONTROL),
    )


def _codec(attributes: int, position: int) -> Compression:
    """Return the codec in a batch's attributes."""
    codec = attributes & CODEC_MASK
    if codec > _LAST_CODEC:
        raise CorruptRecordException(
            f"Expected compression 0 to {_LAST_CODEC:d} in the batch at byte {position}, got {codec}"
        )
    return Compression(codec)


def _legacy_header(view: memoryview, position: int, size: int, magic: int) -> BatchHeader:
    """Read the header of a message of magic 0 or 1; of a compressed one also the offsets of those inside."""
    last_offset, _, _, _, attributes, timestamp = MESSAGE_HEADER.unpack_from(view, position)
    codec = _codec(attributes, position)
    first_offset, count = last_offset, 1
    if codec:
        offsets = inner_offsets(view, position, size, magic, codec)
        count = len(offsets)
        first_offset = last_offset - offsets[-1] + offsets[0]
    if magic == 0:
        kind, timestamp = TimestampType.NO_TIMESTAMP, -1
    else:
        kind = TimestampType.LOG_APPEND_TIME if attributes & LOG_APPEND_TIME else TimestampType.CREATE_TIME
    return BatchHeader(
        position, size, first_offset, last_offset, magic, codec, kind, timestamp, -1, -1, -1, count, -1, False, False
    )


def wrapper_value(view: memoryview, position: int, size: int, magic: int) -> memoryview:
    """The value of a message of magic 0 or 1, which a compressed one has its messages in.

    Raises:
        CorruptMessageSet: the lengths don't fit, or the value is null.
    """
    end = position + size
    at = position + (KEY_SIZE_AT_0 if magic == 0 else KEY_SIZE_AT_1)
    key_size = int.from_bytes(view[at : at + 4], "big", signed=True)
    value_at = at + 8 + max(key_size, 0)
    if (
        key_size < -1
        or value_at > end
        or int.from_bytes(view[value_at - 4 : value_at], "big", signed=True) != end - value_at
    ):
        raise CorruptMessageSet(
            f"Expected the key and the value of the compressed message at byte {position} to fill its {size} bytes"
        )
    return view[value_at:end]


def inner_offsets(view: memoryview, position: int, size: int, magic: int, codec: int) -> list[int]:
    """The offsets, as they stand there, of the messages inside a compressed message; at least one.

    Raises:
        CorruptMessageSet: the message is damaged or empty.
    """
    try:
        inner = memoryview(decompress(codec, wrapper_value(view, position, size, magic)))
    except CodecError as error:
        raise CorruptMessageSet(f"Cannot decompress the message at byte {position}: {error}") from error
    return offsets_of_messages(inner)


def offsets_of_messages(inner: memoryview) -> list[int]:
    """The offset of each message of a set that has been decompressed.

    Raises:
        CorruptMessageSet: a size does not fit, or there is no message.
    """
    offsets = []
    at = 0
    while at < len(inner):
        size = int.from_bytes(inner[at + LENGTH_AT : at + LOG_OVERHEAD], "big", signed=True)
        if size < MIN_LENGTH or size > len(inner) - at - LOG_OVERHEAD:
            raise CorruptMessageSet(f"Expected a message of at least 14 bytes at byte {at} of a set, got {size}")
        offsets.append(int.from_bytes(inner[at : at + 8], "big", signed=True))
        at += LOG_OVERHEAD + size
    if not offsets:
        raise CorruptMessageSet("Expected at least one message in a compressed message, got none")
    return offsets


def check_batch(data: Buffer, header: BatchHeader) -> None:
    """Compare a batch with its checksum.

    Args:
        data: the buffer the header was read from.
        header: of the batch to be checked.

    Raises:
        CorruptRecordException: they differ.
    """
    view = memoryview(data).cast("B")[header.position : header.position + header.size]
    if header.magic == 2:
        stored, computed = int.from_bytes(view[CRC_AT:ATTRIBUTES_AT]), crc32c(view[ATTRIBUTES_AT:])
    else:
        stored = int.from_bytes(view[MESSAGE_CRC_AT:MESSAGE_CHECKED_FROM])
        computed = zlib.crc32(view[MESSAGE_CHECKED_FROM:])
    if stored != computed:
        raise CorruptRecordException(
            f"Expected the checksum {stored:#010x} for the batch of offsets {header.base_offset} to "
            f"{header.last_offset}, computed {computed:#010x}: the bytes were damaged on the way or on disk"
        )


def set_offsets(
    buffer: bytearray | memoryview,
    header: BatchHeader,
    base_offset: int,
    leader_epoch: int,
    log_append_time_ms: int | None = None,
) -> None:
    """Give a batch its place in the log, in place, as a leader does with a batch that was produced to it.

    Args:
        buffer: the writable buffer the header was read from.
        header: of the batch, as read before this call.
        base_offset: the offset of its first record.
        leader_epoch: of the partition (magic 2 only).
        log_append_time_ms: if the topic's timestamps are the broker's; this also updates the checksum.

    Raises:
        UnsupportedForMessageFormatError: a compressed message of magic 0, which has absolute offsets inside.
    """
    view = memoryview(buffer).cast("B")[header.position : header.position + header.size]
    if header.magic == 2:
        struct.pack_into(">q", view, 0, base_offset)
        struct.pack_into(">i", view, EPOCH_AT, leader_epoch)
        if log_append_time_ms is not None:
            attributes = int.from_bytes(view[ATTRIBUTES_AT:LAST_OFFSET_DELTA_AT]) | LOG_APPEND_TIME
            struct.pack_into(">H", view, ATTRIBUTES_AT, attributes)
            struct.pack_into(">q", view, MAX_TIMESTAMP_AT, log_append_time_ms)
            struct.pack_into(">I", view, CRC_AT, crc32c(view[ATTRIBUTES_AT:]))
        return
    if header.magic == 0 and header.codec:
        raise UnsupportedForMessageFormatError(
            "A compressed message of magic 0 holds the offsets of its records: decompress and rebuild it"
        )
    struct.pack_into(">q", view, 0, base_offset + header.count - 1)
    if log_append_time_ms is not None and header.magic == 1:
        view[MESSAGE_ATTRIBUTES_AT] |= LOG_APPEND_TIME
        struct.pack_into(">q", view, MESSAGE_TIMESTAMP_AT, log_append_time_ms)
        struct.pack_into(">I", view, MESSAGE_CRC_AT, zlib.crc32(view[MESSAGE_CHECKED_FROM:]))


def set_producer_state(
    batch: bytearray | memoryview,
    producer_id: int,
    producer_epoch: int,
    base_sequence: int,
    transactional: bool | None = None,
) -> None:
    """Give one batch of magic 2 another producer and sequence, in place, and update its checksum.

    A producer does so with a batch that was encoded before its turn to be sent. It also does so, in a copy, when its id
    or epoch changes while batches wait to be sent again (KIP-360).

    Args:
        batch: the whole batch.
        producer_id: the id that the cluster gave the producer.
        producer_epoch: the producer's.
        base_sequence: the number of the batch's first record among those of the producer in the partition.
        transactional: whether it belongs to a transaction (KIP-98); None: as before.

    Raises:
        UnsupportedForMessageFormatError: the batch is older than magic 2.
    """
    view = memoryview(batch)
    if len(view) < HEADER_SIZE or view[MAGIC_AT] != 2:
        raise UnsupportedForMessageFormatError(
            f"Expected one batch of magic 2, got {len(view)} bytes: older batches know no producer"
        )
    PRODUCER_FIELDS.pack_into(view, PRODUCER_ID_AT, producer_id, producer_epoch, base_sequence)
    if transactional is not None:
        (attributes,) = struct.unpack_from(">h", view, ATTRIBUTES_AT)
        attributes = attributes | TRANSACTIONAL if transactional else attributes & ~TRANSACTIONAL
        struct.pack_into(">h", view, ATTRIBUTES_AT, attributes)
    struct.pack_into(">I", view, CRC_AT, crc32c(view[ATTRIBUTES_AT:]))


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
