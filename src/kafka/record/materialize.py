# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Converts columns to Python objects: the loop behind `poll()`.

Compiled with Cython; the plain variant behaves the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

try:
    import cython
except ImportError:  # the plain variant does not need Cython
    from kafka import _cython as cython

from kafka.record.column_memory import ColumnBuffers
from kafka.record.records import ConsumerRecord

if cython.compiled:
    from cython.cimports.cpython.bytes import PyBytes_FromStringAndSize
    from cython.cimports.cpython.ref import Py_INCREF

Deserialize = Callable[[str, bytes | None, list[tuple[str, bytes | None]]], Any]
"""A deserializer, called with the topic, bytes (None for null) and headers of a record."""


def _is_tuple(cls: type[ConsumerRecord]) -> bool:
    """Return whether records of a class have a tuple's layout in memory."""
    return (
        cls.__basicsize__ == tuple.__basicsize__
        and cls.__itemsize__ == tuple.__itemsize__
        and not cls.__dictoffset__
        and not cls.__weakrefoffset__
    )


@cython.final
@cython.cclass
class _Bytes:
    """A column of byte strings, read row by row."""

    has_nulls: cython.bint
    ends: cython.const[cython.int][::1]  # type: ignore[valid-type]
    data: cython.const[cython.uchar][::1]  # type: ignore[valid-type]
    valid: cython.const[cython.uchar][::1]  # type: ignore[valid-type]

    def __init__(self, ends: object, data: object, valid: object) -> None:
        self.ends = ends
        self.data = data
        self.has_nulls = valid is not None
        if valid is not None:
            self.valid = valid

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def size(self, row: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the size of a row in bytes; -1 for null. The row must exist."""
        if self.has_nulls and not (self.valid[row >> 3] >> (row & 7)) & 1:
            return -1
        return self.ends[row + 1] - self.ends[row]

    @cython.cfunc
    @cython.inline
    def get(self, row: cython.Py_ssize_t) -> object:
        """Return a row as bytes; None for null. The row must exist."""
        start: cython.Py_ssize_t = self.ends[row]
        size: cython.Py_ssize_t = self.size(row)
        if size < 0:
            return None
        if cython.compiled:
            return PyBytes_FromStringAndSize(cython.cast(cython.p_char, cython.address(self.data[0])) + start, size)
        return bytes(self.data[start : start + size])


@cython.cfunc
@cython.inline
def _record(
    cls: type[ConsumerRecord],
    topic: object,
    partition: object,
    leader_epoch: object,
    offset: object,
    timestamp: object,
    timestamp_type: object,
    key: object,
    value: object,
    headers: object,
    checksum: object,
    key_size: object,
    value_size: object,
    header_size: object,
    more: object,
    is_tuple: cython.bint,
    plain: cython.bint,
) -> object:
    """Create a `ConsumerRecord` without its constructor, which would take longer than all other steps.

    The compiled variant creates a tuple of the fields and changes its class: the class has the layout of a tuple
    (`is_tuple`), so its constructor would do no more. `more` is an additional field unless it is None. `plain` records
    contain only numbers, bytes and their list of headers, so they cannot be part of a cycle unless a program puts them
    into that list. The garbage collector therefore need not track them and their lists, just as it does not track
    tuples of numbers. Tracking would take half of the time, and more if many records are kept at once.
    """
    fields: object
    if more is None:
        fields = (
            topic,
            partition,
            leader_epoch,
            offset,
            timestamp,
            timestamp_type,
            key,
            value,
            headers,
            checksum,
            key_size,
            value_size,
            header_size,
        )
    else:
        fields = (
            topic,
            partition,
            leader_epoch,
            offset,
            timestamp,
            timestamp_type,
            key,
            value,
            headers,
            checksum,
            key_size,
            value_size,
            header_size,
            more,
        )
    if not cython.compiled or not is_tuple:
        return tuple.__new__(cls, fields)
    Py_INCREF(cls)  # every instance of a class defined in Python holds a reference to its class
    # names from materialize.pxd
    Py_SET_TYPE(fields, cython.cast(cython.pointer(PyTypeObject), cls))  # type: ignore[name-defined]  # noqa: F821
    if plain:
        PyObject_GC_UnTrack(fields)  # type: ignore[name-defined]  # noqa: F821
        PyObject_GC_UnTrack(headers)  # type: ignore[name-defined]  # noqa: F821
    return fields


@cython.final
@cython.cclass
class RecordMaker:
    """Creates objects from the rows of one set of columns. Rows are checked against the number of rows."""

    _rows: cython.Py_ssize_t
    _offsets: cython.const[cython.longlong][::1]  # type: ignore[valid-type]
    _timestamps: cython.const[cython.longlong][::1]  # type: ignore[valid-type]
    _has_checksums: cython.bint
    _checksums: cython.const[cython.longlong][::1]  # type: ignore[valid-type]
    _keys: _Bytes
    _values: _Bytes
    _has_headers: cython.bint
    _header_ends: cython.const[cython.int][::1]  # type: ignore[valid-type]
    _header_keys: _Bytes
    _header_values: _Bytes

    def __init__(self, buffers: ColumnBuffers) -> None:
        self._rows = buffers.rows
        self._offsets = buffers.offsets
        self._timestamps = buffers.timestamps
        self._has_checksums = buffers.checksums is not None
        if self._has_checksums:
            self._checksums = buffers.checksums
        self._keys = _Bytes(buffers.keys.ends, buffers.keys.data, buffers.keys.valid)
        self._values = _Bytes(buffers.values.ends, buffers.values.data, buffers.values.valid)
        self._has_headers = buffers.headers is not None
        if buffers.headers is not None:
            ends, keys, values = buffers.headers
            self._header_ends = ends
            self._header_keys = _Bytes(keys.ends, keys.data, None)
            self._header_values = _Bytes(values.ends, values.data, values.valid)

    @cython.cfunc
    def _check(self, row: cython.Py_ssize_t) -> cython.bint:
        """Raise IndexError unless the row exists."""
        if row < 0 or row >= self._rows:
            raise IndexError(f"Expected a row from 0 to {self._rows - 1}, got {row}")
        return True

    def key(self, row: cython.Py_ssize_t) -> bytes | None:
        """Return the key of a row; None for null."""
        self._check(row)
        return self._keys.get(row)

    def value(self, row: cython.Py_ssize_t) -> bytes | None:
        """Return the value of a row; None for null."""
        self._check(row)
        return self._values.get(row)

    def headers(self, row: cython.Py_ssize_t) -> list[tuple[str, bytes | None]]:
        """Return the headers of a row. Key bytes that are not UTF-8 become replacement characters, as in Java."""
        at: cython.Py_ssize_t
        self._check(row)
        result: list = []  # type: ignore[type-arg]
        if self._has_headers:
            for at in range(self._header_ends[row], self._header_ends[row + 1]):
                key = self._header_keys.get(at)
                result.append((key.decode("utf-8", "replace"), self._header_values.get(at)))
        return result

    @cython.cfunc
    @cython.exceptval(check=False)
    def _headers_size(self, row: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the total size of the keys and values of a row's headers in bytes; -1 without headers."""
        first: cython.Py_ssize_t = self._header_ends[row]
        last: cython.Py_ssize_t = self._header_ends[row + 1]
        keys: cython.Py_ssize_t = self._header_keys.ends[last] - self._header_keys.ends[first]
        values: cython.Py_ssize_t = self._header_values.ends[last] - self._header_values.ends[first]
        return keys + values if last > first else -1

    def records(
        self,
        start: cython.Py_ssize_t,
        stop: cython.Py_ssize_t,
        topic: object,
        partition: object,
        leader_epoch: object,
        timestamp_type: object,
        key_deserializer: Deserialize | None,
        value_deserializer: Deserialize | None,
        cls: type[ConsumerRecord],
        more: int | None,
        result: list,  # type: ignore[type-arg]
    ) -> None:
        """Create records from the rows `start` to `stop` (exclusive), which share a leader epoch and timestamp type.

        `cls` is the class of the records. If `more` is a number, it becomes the extra last field of each record. The
        records are appended to `result`. If one cannot be deserialized, `result` contains those before it.
        """
        plain: cython.bint = key_deserializer is None and value_deserializer is None
        is_tuple: cython.bint = _is_tuple(cls)
        row: cython.Py_ssize_t
        last_timestamp: cython.longlong = -1
        timestamp: object = -1
        checksum: object = None
        header_size: object = -1
        if stop > start:
            self._check(start)
            self._check(stop - 1)
        collects: cython.bint = False
        if cython.compiled and plain:
            # None of the objects created here is garbage, and no other code runs: a collection would find nothing.
            collects = PyGC_Disable()  # type: ignore[name-defined]  # noqa: F821
        try:
            for row in range(start, stop):
                key = self._keys.get(row)
                value = self._values.get(row)
                if self._timestamps[row] != last_timestamp:
                    last_timestamp = self._timestamps[row]
                    timestamp = last_timestamp
                if self._has_checksums:
                    checksum = self._checksums[row] if self._checksums[row] >= 0 else None
                if self._has_headers:
                    headers = self.headers(row)
                    header_size = self._headers_size(row)
                else:
                    headers = []
                record = _record(
                    cls,
                    topic,
                    partition,
                    leader_epoch,
                    self._offsets[row],
                    timestamp,
                    timestamp_type,
                    key if key_deserializer is None else key_deserializer(topic, key, headers),  # type: ignore[arg-type]
                    value if value_deserializer is None else value_deserializer(topic, value, headers),  # type: ignore[arg-type]
                    headers,
                    checksum,
                    self._keys.size(row),
                    self._values.size(row),
                    header_size,
                    more,
                    is_tuple,
                    plain,
                )
                result.append(record)
        finally:
            if collects:
                PyGC_Enable()  # type: ignore[name-defined]  # noqa: F821
