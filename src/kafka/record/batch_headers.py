"""Reads, checks and changes the headers of batches without decoding the records, and writes them for encoded batches.

In magic 0 and 1, every message that is not inside a compressed message counts as a batch with one record, and a
compressed message counts as a batch that contains the messages inside it. Format:
https://kafka.apache.org/documentation/#recordbatch.
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
    """A compressed magic 0 or 1 message has inconsistent contents."""


@dataclass(frozen=True, slots=True)
class BatchHeader:
    """The header of a batch; fields that do not exist in its magic are -1.

    Args:
        base_offset: offset of the first record.
        last_offset: offset of the last record.
        codec: compression of the records.
        timestamp_type: whether timestamps come from the producer or from the broker.
        producer_id: id of the idempotent producer that wrote the batch (KIP-98).
        producer_epoch: epoch of that producer.
        base_sequence: sequence number of the first record.
        leader_epoch: epoch of the leader that wrote the batch (KIP-320).
        is_transactional: whether the batch belongs to a transaction (KIP-98).
        is_control: whether the batch contains a control record from the broker, such as a transaction's end marker.
    """

    position: int
    """Position of the batch's first byte, counted from the start of the data."""
    size: int
    """Total size in bytes."""
    base_offset: int
    last_offset: int
    magic: int
    codec: Compression
    timestamp_type: TimestampType
    max_timestamp: int
    """Milliseconds since the epoch; -1 without timestamps."""
    producer_id: int
    producer_epoch: int
    base_sequence: int
    count: int
    """Number of records according to the header; after compaction, this is less than the batch's range of offsets."""
    leader_epoch: int
    is_transactional: bool
    is_control: bool


def batch_headers(data: Buffer) -> Iterator[BatchHeader]:
    """Iterate over the complete batches in `data`; a truncated batch at the end is ignored.

    Raises:
        CorruptRecordException: a size, magic or count is invalid, or a compressed magic 1 message is damaged.
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
    """Read the header of a magic 2 batch."""
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
    """Read the header of a magic 0 or 1 message, and the offsets inside a compressed one."""
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
    """Return the value of a magic 0 or 1 message; for a compressed message, it contains the inner messages.

    Raises:
        CorruptMessageSet: the lengths are inconsistent, or the value is null.
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
    """Return the stored offsets of the one or more messages inside a compressed message.

    Raises:
        CorruptMessageSet: the message is damaged or empty.
    """
    try:
        inner = memoryview(decompress(codec, wrapper_value(view, position, size, magic)))
    except CodecError as error:
        raise CorruptMessageSet(f"Cannot decompress the message at byte {position}: {error}") from error
    return offsets_of_messages(inner)


def offsets_of_messages(inner: memoryview) -> list[int]:
    """Return the offset of each message in a decompressed message set.

    Raises:
        CorruptMessageSet: a size is invalid, or there is no message.
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
    """Verify the checksum of a batch.

    Args:
        data: the buffer that the header was read from.
        header: the batch's header.

    Raises:
        CorruptRecordException: the checksum is wrong.
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
    """Set the offsets of a batch in place, as a leader does when it appends a produced batch.

    Args:
        buffer: the writable buffer that the header was read from.
        header: the batch's header, as read before this call.
        base_offset: the offset of the batch's first record.
        leader_epoch: the partition's leader epoch (magic 2 only).
        log_append_time_ms: the broker's time for topics with LogAppendTime. If it is given, the checksum is also
            updated.

    Raises:
        UnsupportedForMessageFormatError: the batch is a compressed magic 0 message, which contains absolute offsets.
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
            "A compressed message of magic 0 contains the offsets of its records: decompress and rebuild it"
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
    """Set the producer and sequence of a magic 2 batch in place, and update its checksum.

    Producers use this function for batches that were encoded before it was their turn to be sent, and, on a copy, when
    the producer's id or epoch changes while batches are waiting to be sent again (KIP-360).

    Args:
        batch: the whole batch.
        producer_id: the id that the cluster assigned to the producer.
        producer_epoch: the producer's epoch.
        base_sequence: sequence number of the batch's first record.
        transactional: whether the batch belongs to a transaction (KIP-98); None leaves the attribute unchanged.

    Raises:
        UnsupportedForMessageFormatError: the batch is older than magic 2.
    """
    view = memoryview(batch)
    if len(view) < HEADER_SIZE or view[MAGIC_AT] != 2:
        raise UnsupportedForMessageFormatError(
            f"Expected one batch of magic 2, got {len(view)} bytes: older batches have no producer fields"
        )
    PRODUCER_FIELDS.pack_into(view, PRODUCER_ID_AT, producer_id, producer_epoch, base_sequence)
    if transactional is not None:
        (attributes,) = struct.unpack_from(">h", view, ATTRIBUTES_AT)
        attributes = attributes | TRANSACTIONAL if transactional else attributes & ~TRANSACTIONAL
        struct.pack_into(">h", view, ATTRIBUTES_AT, attributes)
    struct.pack_into(">I", view, CRC_AT, crc32c(view[ATTRIBUTES_AT:]))


class ProducerState(NamedTuple):
    """The fields that an idempotent or transactional producer writes into its batches (KIP-98).

    Args:
        producer_id: the id that the cluster assigned; -1 without idempotence.
        producer_epoch: fences earlier producers with the same transactional id; -1 without an id.
        base_sequence: sequence number of the batch's first record; -1 without an id.
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
    """Write the header and return the batch, which is writable: `batch` itself without a codec, otherwise new memory.

    Args:
        batch: room for the header, then the encoded records; the header is written in place.
        count: number of records.
        base_offset: the first record's offset; the others follow without gaps.
        base_timestamp: the first record's timestamp in milliseconds.
        max_timestamp: the latest timestamp in milliseconds.
        compression: the codec.
        level: the codec's level; None for the default level.
        state: the producer's fields.
        compressed: the compressed records, if they have already been compressed.

    Raises:
        UnsupportedCompressionTypeError: the codec does not exist.
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
