# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Reads the records of magic 2 batches, already decompressed, into Arrow's column layout.

Invalid records result in a status; see `read_status`. `legacy_reader` reads the older formats. Compiled by Cython; the
plain variant behaves the same.
"""

from __future__ import annotations

from typing import Any

try:
    import cython
except ImportError:  # the plain variant does not need Cython
    from kafka import _cython as cython

from kafka.record.column_memory import BinaryColumn, ColumnBuffers, ColumnStorage, HeaderColumns, cut_int64
from kafka.record.memory import cut

new_tuple = tuple.__new__
"""Creates a named tuple without calling the Python function that its class has for that."""

if cython.compiled:
    from cython.cimports.kafka.record import layout, read_status
    from cython.cimports.kafka.record.integers import read_int32, read_int64, read_varint
    from cython.cimports.libc.string import memcpy
else:
    from kafka.record import layout, read_status
    from kafka.record.integers import read_int32, read_int64, read_varint


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _copy(
    target: cython.uchar[::1],
    at: cython.Py_ssize_t,
    data: cython.const[cython.uchar][::1],  # type: ignore[valid-type]
    pos: cython.Py_ssize_t,
    size: cython.Py_ssize_t,
) -> cython.void:
    """Copy `size` bytes, at least one, that are known to be within both buffers."""
    if cython.compiled:
        memcpy(cython.address(target[at]), cython.address(data[pos]), size)
    else:
        target[at : at + size] = data[pos : pos + size]


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _store(
    reader: ColumnReader,
    data: cython.const[cython.uchar][::1],  # type: ignore[valid-type]
    offset: cython.longlong,
    timestamp: cython.longlong,
    key_at: cython.Py_ssize_t,
    key_size: cython.longlong,
    value_at: cython.Py_ssize_t,
    value_size: cython.longlong,
) -> cython.void:
    """Add a record; a size of -1 means null. Its bytes are known to be within the source."""
    row: cython.Py_ssize_t = reader._rows
    reader._offsets[row] = offset
    reader._timestamps[row] = timestamp
    if key_size >= 0:
        reader._key_valid[row >> 3] |= 1 << (row & 7)
        if key_size > 0:
            _copy(reader._keys, reader._keys_size, data, key_at, key_size)
            reader._keys_size += key_size
    else:
        reader._null_keys += 1
    reader._key_ends[row + 1] = reader._keys_size
    if value_size >= 0:
        reader._value_valid[row >> 3] |= 1 << (row & 7)
        if value_size > 0:
            _copy(reader._values, reader._values_size, data, value_at, value_size)
            reader._values_size += value_size
    else:
        reader._null_values += 1
    reader._value_ends[row + 1] = reader._values_size
    if reader._with_headers:
        reader._header_ends[row + 1] = reader._header_rows  # type: ignore[index]
    if reader._with_checksums:
        reader._checksums[row] = -1  # type: ignore[index]  # there are, as the flag says
    reader._rows = row + 1


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _has_header_room(reader: ColumnReader, count: cython.longlong, size: cython.Py_ssize_t) -> cython.bint:
    """Return whether `count` headers with a total of `size` bytes fit without growing."""
    return (
        reader._with_headers
        and count <= reader._header_capacity - reader._header_rows
        and size <= reader._header_data_capacity - reader._header_keys_size
        and size <= reader._header_data_capacity - reader._header_values_size
    )


@cython.final
@cython.cclass
class ColumnReader:
    """The loops that fill a `ColumnStorage`, and how much of it is filled."""

    def __init__(
        self,
        capacity: cython.Py_ssize_t,
        data_capacity: cython.Py_ssize_t,
        start_offset: cython.longlong,
        stop_offset: cython.longlong,
        key_capacity: cython.Py_ssize_t = 0,
    ) -> None:
        """Allocate memory for `capacity` records with `data_capacity` bytes of values and `key_capacity` bytes of keys.

        `reserve` allocates more. Records before `start_offset` or from `stop_offset` on are skipped.
        """
        self._storage = ColumnStorage(capacity, data_capacity, key_capacity)
        self._capacity, self._keys_capacity, self._values_capacity = capacity, key_capacity, data_capacity
        self._start_offset, self._stop_offset = start_offset, stop_offset
        self._rows = self._keys_size = self._values_size = self._null_keys = self._null_values = 0
        self._header_capacity = self._header_data_capacity = 0
        self._header_rows = self._header_keys_size = self._header_values_size = self._null_header_values = 0
        self._with_headers = self._with_checksums = False
        self._header_keys, self._header_values = self._storage.header_keys.data, self._storage.header_values.data
        self._use_memory()

    def _use_memory(self) -> None:
        """Acquire the memory of all columns except the headers."""
        storage = self._storage
        self._offsets, self._timestamps = storage.offsets, storage.timestamps
        if self._with_checksums:
            self._checksums = storage.checksums
        if self._with_headers:
            self._header_ends = storage.header_ends
        self._keys, self._key_ends, self._key_valid = storage.keys.data, storage.keys.ends, storage.keys.valid
        self._values, self._value_ends, self._value_valid = (
            storage.values.data,
            storage.values.ends,
            storage.values.valid,
        )

    def reserve(self, rows: cython.Py_ssize_t, size: cython.Py_ssize_t) -> None:
        """Make room for `rows` more records, whose keys and values have at most `size` bytes in total."""
        if rows > self._capacity - self._rows:
            self._capacity = max(2 * self._capacity, self._rows + rows)
            self._storage.grow(self._capacity, self._rows)
            self._use_memory()
        if size > self._keys_capacity - self._keys_size:
            self._keys_capacity = max(2 * self._keys_capacity, self._keys_size + size)
            self._keys = None  # type: ignore[assignment]  # nothing else may hold what is replaced
            self._storage.keys.grow_data(self._keys_capacity, self._keys_size)
            self._keys = self._storage.keys.data
        if size > self._values_capacity - self._values_size:
            self._values_capacity = max(2 * self._values_capacity, self._values_size + size)
            self._values = None  # type: ignore[assignment]
            self._storage.values.grow_data(self._values_capacity, self._values_size)
            self._values = self._storage.values.data

    def keep_checksums(self) -> None:
        """Keep the checksums of messages from now on; earlier records and magic 2 records get -1."""
        if not self._with_checksums:
            self._with_checksums = True
            self._storage.add_checksums(self._rows)
            self._checksums = self._storage.checksums

    @property
    def rows(self) -> int:
        """The number of stored records."""
        return self._rows

    def source(self, data: Any) -> None:
        """Set the buffer that the positions of the following reads refer to."""
        self._source = data
        self._source_size = len(self._source)

    def finish(self) -> ColumnBuffers:
        """Release the memory and return the columns; the reader is unusable afterwards."""
        storage = self._storage
        self._source = self._keys = self._values = None  # type: ignore[assignment]
        self._header_keys = self._header_values = None  # type: ignore[assignment]
        rows = self._rows
        headers: HeaderColumns | None = None
        if storage.header_ends is not None and self._header_rows > 0:
            headers = HeaderColumns(
                storage.header_ends[: rows + 1],
                storage.header_keys.finish(self._header_rows, self._header_keys_size, 0),
                storage.header_values.finish(self._header_rows, self._header_values_size, self._null_header_values),
            )
        keys, values = storage.keys, storage.values
        if rows == self._capacity:  # nothing to cut; a small batch is read with half of the function calls
            key_columns = keys.ends, cut(keys.data, self._keys_size), keys.valid if self._null_keys else None
            value_columns = (
                values.ends,
                cut(values.data, self._values_size),
                values.valid if self._null_values else None,
            )
            return new_tuple(
                ColumnBuffers,
                (
                    rows,
                    storage.offsets,
                    storage.timestamps,
                    storage.checksums,
                    new_tuple(BinaryColumn, key_columns),
                    new_tuple(BinaryColumn, value_columns),
                    headers,
                ),
            )
        return ColumnBuffers(
            rows,
            cut_int64(storage.offsets, rows),
            cut_int64(storage.timestamps, rows),
            storage.checksums[:rows] if storage.checksums is not None else None,
            keys.finish(rows, self._keys_size, self._null_keys),
            values.finish(rows, self._values_size, self._null_values),
            headers,
        )

    def _grow_headers(self) -> None:
        """Make room for the headers that the rest of the batch can contain."""
        storage = self._storage
        self._header_keys = self._header_values = None  # type: ignore[assignment]
        storage.grow_headers(
            self._header_rows, self._header_keys_size, self._header_values_size, self._end - self._position
        )
        self._header_capacity = storage.header_capacity
        self._header_data_capacity = storage.header_data_capacity
        self._header_ends = storage.header_ends
        self._header_keys, self._header_key_ends = storage.header_keys.data, storage.header_keys.ends
        self._header_values, self._header_value_ends = storage.header_values.data, storage.header_values.ends
        self._header_value_valid = storage.header_values.valid
        self._with_headers = True

    def read(
        self,
        position: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        count: cython.Py_ssize_t,
        base_offset: cython.longlong,
        last_delta: cython.longlong,
        base_timestamp: cython.longlong,
        fixed_timestamp: cython.bint,
    ) -> int:
        """Store the records of one magic 2 batch, from their first byte to the byte after the last.

        No record may have an offset larger than `base_offset` plus `last_delta`. With `fixed_timestamp`, every record
        gets `base_timestamp` (log append time) instead of `base_timestamp` plus its delta. The caller ensures that
        offset and timestamp are below 2**62 in absolute value, and that there is room for `count` records. Returns a
        status; unless it is 0, none of the records has been stored.
        """
        before: tuple[int, ...] = self.filled()
        status: cython.int = self._begin(position, end, count, base_offset, last_delta, base_timestamp, fixed_timestamp)
        if status == read_status.OK:
            status = self._go_on(end, end)
        if status != read_status.OK:
            self.restore(before)
        return status

    def read_run(self, position: cython.Py_ssize_t, end: cython.Py_ssize_t) -> int:
        """Store the records of several magic 2 batches, from the start of a header to the end of the last batch.

        For each batch, the caller ensures the same as for `read`; the headers have already been checked.
        """
        before: tuple[int, ...] = self.filled()
        status: cython.int
        if position < 0 or position > end or end > self._source_size:
            return read_status.BAD_LENGTH
        self._position, self._end, self._left = position, position, 0
        status = self._go_on(position, end)
        if status != read_status.OK:
            self.restore(before)
        return status

    @cython.cfunc
    def _go_on(self, following: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
        """Read the rest of the current batch, then the batches that follow it, making room for headers."""
        status: cython.int = read_status.NEED_HEADER_ROOM
        while status == read_status.NEED_HEADER_ROOM:
            with cython.nogil:
                status = self._run()
                if status == read_status.OK:
                    status = self._read_batches(following, end)
            if status == read_status.NEED_HEADER_ROOM:
                following = self._end
                self._grow_headers()
        return status

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _read_batches(self, position: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
        """Read batches with their headers, until none is left, or until headers of records need room."""
        data: cython.const[cython.uchar][::1] = self._source  # type: ignore[valid-type]
        status: cython.int = read_status.OK
        stop: cython.Py_ssize_t
        fixed: cython.bint
        while position < end and status == read_status.OK:
            if end - position < layout.HEADER_SIZE:
                return read_status.BAD_LENGTH
            stop = position + layout.LOG_OVERHEAD + read_int32(data, position + layout.LENGTH_AT)
            if stop < position + layout.HEADER_SIZE or stop > end:
                return read_status.BAD_LENGTH
            fixed = (data[position + layout.ATTRIBUTES_AT + 1] & layout.LOG_APPEND_TIME) != 0
            status = self._begin(
                position + layout.HEADER_SIZE,
                stop,
                read_int32(data, position + layout.COUNT_AT),
                read_int64(data, position),
                read_int32(data, position + layout.LAST_OFFSET_DELTA_AT),
                read_int64(data, position + (layout.MAX_TIMESTAMP_AT if fixed else layout.BASE_TIMESTAMP_AT)),
                fixed,
            )
            if status == read_status.OK:
                status = self._run()
            position = stop
        return status

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def _begin(
        self,
        position: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        count: cython.Py_ssize_t,
        base_offset: cython.longlong,
        last_delta: cython.longlong,
        base_timestamp: cython.longlong,
        fixed_timestamp: cython.bint,
    ) -> cython.int:
        """Start reading the records of a batch (see `read`); return a status if there is no room for them."""
        if position < 0 or position > end or end > self._source_size or count > self._capacity - self._rows:
            return read_status.BAD_LENGTH
        if (
            end - position > self._keys_capacity - self._keys_size
            or end - position > self._values_capacity - self._values_size
        ):
            return read_status.BAD_LENGTH
        self._position, self._end, self._left = position, end, count
        self._base_offset, self._last_delta = base_offset, last_delta
        self._base_timestamp, self._fixed_timestamp = base_timestamp, fixed_timestamp
        return read_status.OK

    def filled(self) -> tuple[int, ...]:
        """Return the sizes to which the columns are filled."""
        return (
            self._rows,
            self._keys_size,
            self._values_size,
            self._null_keys,
            self._null_values,
            self._header_rows,
            self._header_keys_size,
            self._header_values_size,
            self._null_header_values,
        )

    def restore(self, before: tuple[int, ...]) -> None:
        """Discard what was stored since `before`."""
        self._rows, self._keys_size, self._values_size, self._null_keys, self._null_values = before[:5]
        self._header_rows, self._header_keys_size, self._header_values_size, self._null_header_values = before[5:]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _run(self) -> cython.int:
        """Read records until none is left, or until headers need room; afterwards, the method can be called again."""
        data: cython.const[cython.uchar][::1] = self._source  # type: ignore[valid-type]
        pos: cython.Py_ssize_t = self._position
        end: cython.Py_ssize_t = self._end
        stop: cython.Py_ssize_t
        key_at: cython.Py_ssize_t
        value_at: cython.Py_ssize_t
        length: cython.longlong
        key_size: cython.longlong
        value_size: cython.longlong
        headers: cython.longlong
        offset: cython.longlong
        timestamp: cython.longlong
        while self._left > 0:
            length, pos = read_varint(data, pos, end)
            if pos < 0 or length < 1 or length > end - pos:
                return read_status.BAD_LENGTH
            stop = pos + length
            timestamp, pos = read_varint(data, pos + 1, stop)
            if pos < 0:
                return read_status.BAD_VARINT
            offset, pos = read_varint(data, pos, stop)
            if pos < 0:
                return read_status.BAD_VARINT
            if (
                offset < 0
                or offset > self._last_delta
                or timestamp > layout.MAX_OFFSET
                or timestamp < -layout.MAX_OFFSET
            ):
                return read_status.BAD_DELTA
            offset += self._base_offset
            timestamp = self._base_timestamp if self._fixed_timestamp else timestamp + self._base_timestamp
            key_size, pos = read_varint(data, pos, stop)
            if pos < 0 or key_size < -1 or key_size > stop - pos:
                return read_status.BAD_LENGTH
            key_at = pos
            if key_size > 0:
                pos += key_size
            value_size, pos = read_varint(data, pos, stop)
            if pos < 0 or value_size < -1 or value_size > stop - pos:
                return read_status.BAD_LENGTH
            value_at = pos
            if value_size > 0:
                pos += value_size
            headers, pos = read_varint(data, pos, stop)
            if pos < 0 or headers < 0 or headers > (stop - pos) // 2:
                return read_status.BAD_HEADER
            if self._start_offset <= offset < self._stop_offset:
                if headers > 0 and not _has_header_room(self, headers, stop - pos):
                    return read_status.NEED_HEADER_ROOM
                if headers > 0 or pos != stop:
                    pos = self._read_headers(data, pos, stop, headers)
                    if pos < 0:
                        return read_status.BAD_HEADER
                _store(self, data, offset, timestamp, key_at, key_size, value_at, value_size)
            pos = stop
            self._left -= 1
            self._position = pos
        return read_status.OK if pos == end else read_status.BAD_SIZE

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _read_headers(
        self,
        data: cython.const[cython.uchar][::1],  # type: ignore[valid-type]
        pos: cython.Py_ssize_t,
        stop: cython.Py_ssize_t,
        count: cython.longlong,
    ) -> cython.Py_ssize_t:
        """Add the headers of one record; return -1 unless they end exactly at `stop`.

        The caller ensures that there is room for the headers.
        """
        size: cython.longlong
        row: cython.Py_ssize_t
        while count > 0:
            count -= 1
            row = self._header_rows
            size, pos = read_varint(data, pos, stop)
            if pos < 0 or size < 0 or size > stop - pos:
                return -1
            if size > 0:
                _copy(self._header_keys, self._header_keys_size, data, pos, size)
            self._header_keys_size += size
            pos += size
            size, pos = read_varint(data, pos, stop)
            if pos < 0 or size < -1 or size > stop - pos:
                return -1
            if size >= 0:
                self._header_value_valid[row >> 3] |= 1 << (row & 7)
                if size > 0:
                    _copy(self._header_values, self._header_values_size, data, pos, size)
                self._header_values_size += size
                pos += size
            else:
                self._null_header_values += 1
            self._header_key_ends[row + 1] = self._header_keys_size
            self._header_value_ends[row + 1] = self._header_values_size
            self._header_rows = row + 1
        return pos if pos == stop else -1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def store_message(
        self,
        offset: cython.longlong,
        timestamp: cython.longlong,
        key_at: cython.Py_ssize_t,
        key_size: cython.longlong,
        value_at: cython.Py_ssize_t,
        value_size: cython.longlong,
        checksum: cython.longlong,
    ) -> cython.void:
        """Add a message of an old format; see `_store`."""
        _store(self, self._source, offset, timestamp, key_at, key_size, value_at, value_size)
        self._checksums[self._rows - 1] = checksum  # type: ignore[index]
