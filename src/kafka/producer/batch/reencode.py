"""Converts encoded batches into other batches.

The new batches are smaller if a broker has rejected a batch as too large, have an older format if the broker is old, or
are for other partitions if the topic was recreated.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from kafka.errors import UnsupportedForMessageFormatError
from kafka.producer.batch.producer_batch import ProducerBatch
from kafka.record import BatchBuilder, Buffer, Columns, Compression, ProducerState, batch_headers, decode_batches

if TYPE_CHECKING:
    from kafka.producer.batch.shared_queues import BufferOptions

_NO_LIMIT = 2**31 - 1
Group = TypeVar("Group", bound=Hashable)


class EncodedRecords(NamedTuple):
    """Some records of a batch, encoded as a separate batch; see `BatchFields` for `named`."""

    data: Buffer
    records: int
    named: list[int] | None


def downgrade(data: Buffer, magic: int, options: BufferOptions) -> Buffer:
    """Encode the records of a batch in an older format, without a producer id.

    Raises `UnsupportedForMessageFormatError` if records have headers, which older formats do not support.
    """
    header = next(iter(batch_headers(data)))
    columns = decode_batches(data, check_crcs=False)
    if any(columns.headers(i) for i in range(len(columns))):
        raise UnsupportedForMessageFormatError(
            "records with headers need brokers of Kafka 0.11 or later; this one is older: send them without"
        )
    return _encode(columns, magic, header.codec, options, ProducerState())


def split(batch: ProducerBatch, options: BufferOptions) -> list[ProducerBatch]:
    """Split an encoded batch of several records into batches of about half its size, which share its memory.

    The parts keep the records' sequence numbers, so that they can be sent in place of the batch.
    """
    assert batch.data is not None
    header = next(iter(batch_headers(batch.data)))
    columns = decode_batches(batch.data, check_crcs=False)
    parts: list[ProducerBatch] = []
    cuts = _cuts(columns)
    named = are_named(batch.named, len(columns))
    for start, stop in itertools.pairwise(cuts):
        sequence = -1 if batch.base_sequence < 0 else (batch.base_sequence + start) % 2**31
        state = ProducerState(batch.producer_id, batch.producer_epoch, sequence, header.is_transactional)
        data = _encode(columns.slice(start, stop), header.magic, header.codec, options, state)
        part = ProducerBatch.encoded(batch.owner, batch.topic_partition, batch.created, data, stop - start, 0)
        part.producer_id, part.producer_epoch, part.base_sequence = batch.producer_id, batch.producer_epoch, sequence
        part.order = (*batch.order, len(parts))
        part.named = runs_of(named[start:stop])
        part.sent_under, part.doubts = batch.sent_under, batch.doubts
        part.serial, part.is_stale = batch.serial, batch.is_stale
        part.attempts, part.sent_to, part.last_error = batch.attempts, batch.sent_to, batch.last_error
        parts.append(part)
    parts[0].reserved, batch.reserved = batch.reserved, 0
    return parts


def regroup(
    data: Buffer, columns: Columns, groups: Sequence[Group], named: bytearray, options: BufferOptions
) -> tuple[dict[Group, EncodedRecords], list[tuple[int, Group, int]]]:
    """Re-encode the records of an encoded batch as one batch per group, without sequence numbers.

    Arguments:
        data, columns: the batch, encoded and decoded.
        groups: the group of each record.
        named: for each record, see `are_named`.
        options: how to encode batches.

    Returns the batches, and the runs of records that stay together: for each run the index of its first record, the
    group, and that record's index in the group.
    """
    header = next(iter(batch_headers(data)))
    members: dict[Group, list[int]] = {}
    runs: list[tuple[int, Group, int]] = []
    for index, group in enumerate(groups):
        rows = members.setdefault(group, [])
        if not runs or runs[-1][1] != group:
            runs.append((index, group, len(rows)))
        rows.append(index)
    encoded = {
        group: EncodedRecords(
            _encode(columns, header.magic, header.codec, options, ProducerState(), rows),
            len(rows),
            runs_of(named[index] for index in rows),
        )
        for group, rows in members.items()
    }
    return encoded, runs


def _cuts(columns: Columns) -> list[int]:
    """Return the indices at which to cut, so that each part has at most half of the bytes or a single record."""
    sizes = [_size(columns, i) for i in range(len(columns))]
    limit = sum(sizes) // 2
    cuts, size = [0], 0
    for i, each in enumerate(sizes):
        if size and size + each > limit:
            cuts.append(i)
            size = 0
        size += each
    return [*cuts, len(columns)]


def _size(columns: Columns, i: int) -> int:
    """Return the approximate size of one record in bytes."""
    headers = sum(len(key) + len(value or b"") + 10 for key, value in columns.headers(i))
    return 21 + len(columns.key(i) or b"") + len(columns.value(i) or b"") + headers


def _encode(
    columns: Columns,
    magic: int,
    codec: Compression,
    options: BufferOptions,
    state: ProducerState,
    rows: Iterable[int] | None = None,
) -> Buffer:
    builder = BatchBuilder(magic, codec, compression_level=options.level_of(codec), size_limit=_NO_LIMIT)
    timestamps = columns.timestamps
    for i in range(len(columns)) if rows is None else rows:
        builder.append(timestamps[i], columns.key(i), columns.value(i), columns.headers(i) if magic == 2 else ())
    return builder.build_in_place(state)


def are_named(runs: list[int] | None, count: int) -> bytearray:
    """Return one byte for each of `count` records: 1 if the caller chose the partition."""
    flags = bytearray(count)
    if runs is not None:
        for start, stop in zip(runs[::2], runs[1::2], strict=True):
            flags[start:stop] = b"\1" * (stop - start)
    return flags


def runs_of(flags: Iterable[int]) -> list[int] | None:
    """Return the runs of records whose flag is set, or None if no flag is set."""
    runs: list[int] = []
    at = 0
    for named, group in itertools.groupby(flags):
        end = at + sum(1 for _ in group)
        if named:
            runs += (at, end)
        at = end
    return runs or None
