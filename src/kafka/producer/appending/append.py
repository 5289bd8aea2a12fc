"""Appends a record to an open batch: the innermost step of `send()`.

Compiled with Cython; the plain variant behaves the same. The C functions are declared in append.pxd.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

try:
    import cython
except ImportError:  # the plain variant does not need Cython
    from kafka import _cython as cython

if cython.compiled:
    from cython.cimports.kafka.producer.future import BatchFields, QueueFields, future_of
else:
    from kafka.producer.future import BatchFields, QueueFields, future_of

if TYPE_CHECKING:
    from kafka.producer.future import FutureRecordMetadata


@cython.cfunc
def _note_named(batch: BatchFields, index: cython.Py_ssize_t) -> cython.void:
    """Mark a record as one whose partition was chosen by the caller.

    If a signal handler sends records during this call, their indices may be added to `named` first.
    """
    runs: list[int] | None = batch.named
    if runs is None:
        batch.named = [index, index + 1]
    elif runs[-1] == index:
        runs[-1] = index + 1
    else:
        runs += (index, index + 1)


def append_locked(
    batch: BatchFields,
    timestamp_ms: cython.longlong,
    key: bytes | None,
    value: bytes | None,
    headers: bytes | None,
    header_size: cython.Py_ssize_t,
    named: cython.bint,
) -> FutureRecordMetadata | None:
    """Add a record to an open batch and return its future; return None if the record does not fit.

    The caller holds `RecordBuffer.lock`.

    Arguments:
        named: whether the caller chose the partition.
    """
    index: cython.Py_ssize_t = batch.builder.append_if_room(timestamp_ms, key, value, headers)
    if index < 0:
        return None
    if named:
        _note_named(batch, index)
    return future_of(batch, index, timestamp_ms, key, value, header_size)


def append_unlocked(
    queues: list[Any],
    partition: cython.Py_ssize_t,
    timestamp_ms: cython.longlong,
    key: bytes | None,
    value: bytes | None,
    headers: bytes | None,
    header_size: cython.Py_ssize_t,
    named: cython.bint,
) -> FutureRecordMetadata | None:
    """Add a record to a partition's open batch and return its future; return None if more than copying is needed.

    Only for the compiled variant, in which the GIL stands in for `RecordBuffer.lock`: this function never releases the
    GIL, and holders of `RecordBuffer.lock` always leave the open batch in a consistent state.

    Arguments:
        queues: one `QueueFields` for each partition.
        named: whether the caller chose the partition.
    """
    queue: QueueFields = queues[partition]
    if queue.open is None:
        return None
    batch: BatchFields = queue.open
    if batch.builder is None:
        return None
    index: cython.Py_ssize_t = batch.builder.append_in_place(timestamp_ms, key, value, headers)
    if index < 0:
        return None
    if named:
        _note_named(batch, index)
    return future_of(batch, index, timestamp_ms, key, value, header_size)
