# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Checks the records of a produced batch, as a broker does before it appends them.

Compiled with Cython; the plain variant behaves the same.
"""

from __future__ import annotations

from dataclasses import dataclass

try:
    import cython
except ImportError:  # the plain variant does not need Cython
    from kafka import _cython as cython

from kafka.errors import CorruptRecordException, InvalidRecordError
from kafka.record.batch_headers import BatchHeader
from kafka.record.batch_types import Buffer
from kafka.record.codecs import MAX_DECOMPRESSED_SIZE
from kafka.record.decode import decode_batches


@dataclass(frozen=True, slots=True)
class BatchContents:
    """The actual properties of a batch's records, which may differ from the claims in its header.

    Args:
        count: number of records.
        has_null_keys: whether at least one record has no key.
    """

    count: int
    max_timestamp: int
    """The latest timestamp in milliseconds since the epoch."""
    has_null_keys: bool


def validate_batch(
    data: Buffer, header: BatchHeader, *, max_decompressed_size: int = MAX_DECOMPRESSED_SIZE
) -> BatchContents:
    """Read all records of a magic 2 batch, and compare them with its header (Java: `LogValidator`).

    The lengths of records, keys, values and headers must be consistent, no header may have a null key, and the offsets
    must increase by one from the base offset to the last. `check_batch` verifies the checksum. The records are not
    kept.

    Args:
        data: the buffer that the header was read from.
        header: the header of the batch, which must not be a control batch.
        max_decompressed_size: maximum size in bytes of the decompressed records.

    Raises:
        InvalidRecordError: a record is damaged, or the number of records or their offsets differ from those in the
            header; the message describes the error.
    """
    batch = memoryview(data).cast("B")[header.position : header.position + header.size]
    if header.magic != 2 or header.is_control:
        raise InvalidRecordError(f"Expected a batch of magic 2 with records of a producer, got magic {header.magic}")
    if header.count < 1 or header.count != header.last_offset - header.base_offset + 1:
        raise InvalidRecordError(
            f"Expected as many records as offsets, at least one, got a batch of {header.count} records with the "
            f"offsets {header.base_offset} to {header.last_offset}"
        )
    try:
        columns = decode_batches(batch, check_crcs=False, max_decompressed_size=max_decompressed_size)
    except CorruptRecordException as error:
        raise InvalidRecordError(f"the records of the batch cannot be read: {error}") from error
    if len(columns) != header.count:  # a truncated batch results in no columns
        raise InvalidRecordError(f"Expected {header.count} records in the batch, got {len(columns)}")
    wrong = _first_gap(columns.offsets, header.base_offset)
    if wrong >= 0:
        raise InvalidRecordError(
            f"Expected the offset {header.base_offset + wrong} for record {wrong} of the batch, "
            f"got {columns.offsets[wrong]}"
        )
    buffers, _, _ = columns.buffers
    return BatchContents(len(columns), _latest(columns.timestamps), buffers.keys.valid is not None)


def _first_gap(offsets: memoryview, base: cython.longlong) -> cython.Py_ssize_t:
    """Return the first row whose offset does not follow that of the previous row, or -1."""
    view: cython.const[cython.longlong][::1] = offsets  # type: ignore[valid-type]
    count: cython.Py_ssize_t = len(offsets)
    row: cython.Py_ssize_t
    for row in range(count):
        if view[row] != base + row:
            return row
    return -1


def _latest(timestamps: memoryview) -> cython.longlong:
    """Return the largest of one or more timestamps."""
    view: cython.const[cython.longlong][::1] = timestamps  # type: ignore[valid-type]
    count: cython.Py_ssize_t = len(timestamps)
    latest: cython.longlong = view[0]
    row: cython.Py_ssize_t
    for row in range(1, count):
        latest = max(latest, view[row])
    return latest
