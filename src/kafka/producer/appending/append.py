"""Puts a record into an open batch: the innermost step of `send()`.

Compiled by Cython, equal (but for the speed) when it runs plain. The C functions are declared in append.pxd.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

try:
    import cython
except ImportError:  # the plain variant needs no Cython
    from kafka import _cython as cython

if cython.compiled:
    from cython.cimports.kafka.producer.future import BatchFields, QueueFields, future_of
else:
    from kafka.producer.future import BatchFields, QueueFields, future_of

if TYPE_CHECKING:
    from kafka.producer.future import FutureRecordMetadata


@cython.cfunc
def _note_named(batch: BatchFields, index: cython.Py_ssize_t) -> cython.void:
    """Remember that the caller named the partition of a record.

    A signal's handler that sends meanwhile may add a run of its own before this one.
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
    """Add a record to an open batch and return its future; None if it does not fit. Needs `RecordBuffer.lock`.

    Arguments:
        named: whether the caller named the partition.
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
    """Add a record to the open batch of a partition and return its future; None if more is to be done than copying.

    Only where this is compiled: then the interpreter's lock stands in for `RecordBuffer.lock`, as nothing in here gives
    it up, and who holds `RecordBuffer.lock` keeps what is open fit to be added to.

    Arguments:
        queues: a `QueueFields` a partition.
        named: whether the caller named the partition.
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
