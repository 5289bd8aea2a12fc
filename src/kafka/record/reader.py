# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The inner loops of decoding: the records of a batch, already decompressed, into Arrow's column layout.

Compiled by Cython, equal when it runs plain. Every length is checked against the bytes that are there before anything
is read; the loops run without the GIL. A loop that meets bytes that are no record stops with a status instead of
raising, and its caller says which batch it was.
"""

from __future__ import annotations

try:
    import cython
except ImportError:  # the plain variant needs no Cython
    from kafka import _cython as cython

if cython.compiled:
    from cython.cimports.libc.string import memcpy

from kafka.record.storage import ColumnBuffers, ColumnStorage, HeaderColumns, cut_int64

_OK = cython.declare(cython.int, 0)
_BAD_LENGTH = cython.declare(cython.int, 1)
_BAD_VARINT = cython.declare(cython.int, 2)
_BAD_DELTA = cython.declare(cython.int, 3)
_BAD_HEADER = cython.declare(cython.int, 4)
_BAD_SIZE = cython.declare(cython.int, 5)
_BAD_MAGIC = cython.declare(cython.int, 6)
_NEED_HEADER_ROOM = cython.declare(cython.int, 7)
_MAX_INT32 = cython.declare(cython.longlong, 0x7FFFFFFF)
_SIGN_BIT = cython.declare(cython.longlong, 0x80000000)
_LOW_BITS = cython.declare(cython.longlong, 0xFFFFFFFF)
_FAR = cython.declare(cython.longlong, 1 << 62)
_HEADER = cython.declare(cython.Py_ssize_t, 61)

STATUS_TEXT = {
    1: "a length points outside the batch",
    2: "a variable-length number is too long or cut off",
    3: "an offset or a timestamp is out of range",
    4: "a header's key is null, or the number of headers is not possible",
    5: "the records do not fill their batch exactly",
    6: "an inner message has another magic than its wrapper, or is compressed itself",
}
"""What the statuses other than 0 that `ColumnReader` returns mean."""


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.returns((cython.longlong, cython.Py_ssize_t))
def _varint(
    data: cython.const[cython.uchar][::1],  # type: ignore[valid-type]
    pos: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
) -> tuple[int, int]:
    """Read a zigzag number of at most 64 bits; the second value is the position after it, -1 if it is no number."""
    byte: cython.ulonglong
    bits: cython.ulonglong = 0
    shift: cython.int = 0
    while pos < end:
        byte = data[pos]
        pos += 1
        if byte < 128:
            if shift == 63 and byte > 1:
                return 0, -1
            bits |= byte << shift
            if cython.compiled:
                return cython.cast(cython.longlong, (bits >> 1) ^ (0 - (bits & 1))), pos
            return (bits >> 1) ^ -(bits & 1), pos
        if shift == 63:
            return 0, -1
        bits |= (byte & 127) << shift
        shift += 7
    return 0, -1


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _int32(
    data: cython.const[cython.uchar][::1],  # type: ignore[valid-type]
    pos: cython.Py_ssize_t,
) -> cython.longlong:
    """Read a big-endian int32; the caller has checked that four bytes are there."""
    bits: cython.longlong = (
        (cython.cast(cython.longlong, data[pos]) << 24)
        | (cython.cast(cython.longlong, data[pos + 1]) << 16)
        | (cython.cast(cython.longlong, data[pos + 2]) << 8)
        | cython.cast(cython.longlong, data[pos + 3])
    )
    return (bits ^ _SIGN_BIT) - _SIGN_BIT


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _int64(
    data: cython.const[cython.uchar][::1],  # type: ignore[valid-type]
    pos: cython.Py_ssize_t,
) -> cython.longlong:
    """Read a big-endian int64; the caller has checked that eight bytes are there."""
    return _int32(data, pos) * (_LOW_BITS + 1) + (_int32(data, pos + 4) & _LOW_BITS)


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


@cython.final
@cython.cclass
class ColumnReader:
    """The loops that fill a `ColumnStorage`, and how far it is filled."""

    _storage: ColumnStorage
    _start_offset: cython.longlong
    _stop_offset: cython.longlong
    _capacity: cython.Py_ssize_t
    _keys_capacity: cython.Py_ssize_t
    _values_capacity: cython.Py_ssize_t
    _rows: cython.Py_ssize_t
    _keys_size: cython.Py_ssize_t
    _values_size: cython.Py_ssize_t
    _null_keys: cython.Py_ssize_t
    _null_values: cython.Py_ssize_t
    _header_capacity: cython.Py_ssize_t
    _header_data_capacity: cython.Py_ssize_t
    _header_rows: cython.Py_ssize_t
    _header_keys_size: cython.Py_ssize_t
    _header_values_size: cython.Py_ssize_t
    _null_header_values: cython.Py_ssize_t

    _source: cython.const[cython.uchar][::1]  # type: ignore[valid-type]
    _source_size: cython.Py_ssize_t
    _position: cython.Py_ssize_t
    _end: cython.Py_ssize_t
    _left: cython.Py_ssize_t
    _base_offset: cython.longlong
    _base_timestamp: cython.longlong
    _fixed_timestamp: cython.bint

    _with_headers: cython.bint
    _with_checksums: cython.bint
    _offsets: cython.longlong[::1]
    _timestamps: cython.longlong[::1]
    _checksums: cython.longlong[::1]
    _keys: cython.uchar[::1]
    _key_ends: cython.int[::1]
    _key_valid: cython.uchar[::1]
    _values: cython.uchar[::1]
    _value_ends: cython.int[::1]
    _value_valid: cython.uchar[::1]
    _header_ends: cython.int[::1]
    _header_keys: cython.uchar[::1]
    _header_key_ends: cython.int[::1]
    _header_values: cython.uchar[::1]
    _header_value_ends: cython.int[::1]
    _header_value_valid: cython.uchar[::1]

    def __init__(
        self,
        capacity: cython.Py_ssize_t,
        data_capacity: cython.Py_ssize_t,
        start_offset: cython.longlong,
        stop_offset: cython.longlong,
    ) -> None:
        """Take memory for `capacity` records with values of `data_capacity` bytes; `reserve` sees to that of the keys.

        Records outside the offsets are left out.
        """
        self._storage = ColumnStorage(capacity, data_capacity)
        self._capacity, self._keys_capacity, self._values_capacity = capacity, 0, data_capacity
        self._start_offset, self._stop_offset = start_offset, stop_offset
        self._rows = self._keys_size = self._values_size = self._null_keys = self._null_values = 0
        self._header_capacity = self._header_data_capacity = 0
        self._header_rows = self._header_keys_size = self._header_values_size = self._null_header_values = 0
        self._with_headers = self._with_checksums = False
        self._use_memory()

    def _use_memory(self) -> None:
        """Take hold of the memory of the columns, those of the headers excepted."""
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
        """Make room for `rows` more records, whose keys and values have `size` bytes together at the most."""
        if rows > self._capacity - self._rows:
            self._capacity = max(2 * self._capacity, self._rows + rows)
            self._storage.grow(self._capacity, self._rows)
            self._use_memory()
        if size > self._keys_capacity - self._keys_size:
            self._keys_capacity = max(2 * self._keys_capacity, self._keys_size + size)
            self._keys = None
            self._storage.keys.grow_data(self._keys_capacity, self._keys_size)
            self._keys = self._storage.keys.data
        if size > self._values_capacity - self._values_size:
            self._values_capacity = max(2 * self._values_capacity, self._values_size + size)
            self._values = None
            self._storage.values.grow_data(self._values_capacity, self._values_size)
            self._values = self._storage.values.data

    def keep_checksums(self) -> None:
        """Keep the checksums of messages from now on; records so far, and those of magic 2, have -1."""
        if not self._with_checksums:
            self._with_checksums = True
            self._storage.add_checksums(self._rows)
            self._checksums = self._storage.checksums

    @property
    def rows(self) -> int:
        """How many records have been stored."""
        return self._rows

    def source(self, data: object) -> None:
        """Set the buffer whose positions the following reads mean."""
        self._source = data
        self._source_size = len(self._source)

    def finish(self) -> ColumnBuffers:
        """Let go of the memory and return the columns; the reader is of no use afterwards."""
        storage = self._storage
        self._source = self._keys = self._values = self._header_keys = self._header_values = None
        rows = self._rows
        headers: HeaderColumns | None = None
        if storage.header_ends is not None and self._header_rows > 0:
            headers = HeaderColumns(
                storage.header_ends[: rows + 1],
                storage.header_keys.finish(self._header_rows, self._header_keys_size, 0),
                storage.header_values.finish(self._header_rows, self._header_values_size, self._null_header_values),
            )
        return ColumnBuffers(
            rows,
            cut_int64(storage.offsets, rows),
            cut_int64(storage.timestamps, rows),
            storage.checksums[:rows] if storage.checksums is not None else None,
            storage.keys.finish(rows, self._keys_size, self._null_keys),
            storage.values.finish(rows, self._values_size, self._null_values),
            headers,
        )

    def _grow_headers(self) -> None:
        """Get room for the headers that the rest of the batch can have."""
        storage = self._storage
        self._header_keys = self._header_values = None
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
        base_timestamp: cython.longlong,
        fixed_timestamp: cython.bint,
    ) -> int:
        """Store the records of one batch of magic 2, from their first byte to the byte after the last.

        `fixed_timestamp`: every record gets `base_timestamp` (log append time) instead of that plus its delta. The
        caller warrants that the offset and the timestamp are below 2**62 in amount and that there is room for `count`
        records. Returns a status; if it is not 0, none of the records has been stored.
        """
        before: tuple[int, ...] = self._filled()
        status: cython.int = self._begin(position, end, count, base_offset, base_timestamp, fixed_timestamp)
        if status == _OK:
            status = self._go_on(end, end)
        if status != _OK:
            self._restore(before)
        return status

    def read_run(self, position: cython.Py_ssize_t, end: cython.Py_ssize_t) -> int:
        """Store the records of several batches of magic 2, from the first byte of a header to behind the last batch.

        As `read`, whose warrants hold for each of them; what is in the headers has been looked at.
        """
        before: tuple[int, ...] = self._filled()
        status: cython.int
        if position < 0 or position > end or end > self._source_size:
            return _BAD_LENGTH
        self._position, self._end, self._left = position, position, 0
        status = self._go_on(position, end)
        if status != _OK:
            self._restore(before)
        return status

    @cython.cfunc
    def _go_on(self, following: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
        """Read the rest of the batch that has been begun, then the batches that follow it; makes room for headers."""
        status: cython.int = _NEED_HEADER_ROOM
        while status == _NEED_HEADER_ROOM:
            with cython.nogil:
                status = self._run()
                if status == _OK:
                    status = self._read_batches(following, end)
            if status == _NEED_HEADER_ROOM:
                following = self._end
                self._grow_headers()
        return status

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _read_batches(self, position: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
        """Read batches with their headers, until none is left, or until headers of records need room."""
        data: cython.const[cython.uchar][::1] = self._source  # type: ignore[valid-type]
        status: cython.int = _OK
        stop: cython.Py_ssize_t
        fixed: cython.bint
        while position < end and status == _OK:
            if end - position < _HEADER:
                return _BAD_LENGTH
            stop = position + 12 + _int32(data, position + 8)
            if stop < position + _HEADER or stop > end:
                return _BAD_LENGTH
            fixed = (data[position + 22] & 8) != 0
            status = self._begin(
                position + _HEADER,
                stop,
                _int32(data, position + 57),
                _int64(data, position),
                _int64(data, position + (35 if fixed else 27)),
                fixed,
            )
            if status == _OK:
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
        base_timestamp: cython.longlong,
        fixed_timestamp: cython.bint,
    ) -> cython.int:
        """Turn to the records of a batch, see `read`; a status if there is no room for them."""
        if position < 0 or position > end or end > self._source_size or count > self._capacity - self._rows:
            return _BAD_LENGTH
        if (
            end - position > self._keys_capacity - self._keys_size
            or end - position > self._values_capacity - self._values_size
        ):
            return _BAD_LENGTH
        self._position, self._end, self._left = position, end, count
        self._base_offset, self._base_timestamp, self._fixed_timestamp = base_offset, base_timestamp, fixed_timestamp
        return _OK

    def _filled(self) -> tuple[int, ...]:
        """How far the columns are filled."""
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

    def _restore(self, before: tuple[int, ...]) -> None:
        """Forget what has been stored since `before`."""
        self._rows, self._keys_size, self._values_size, self._null_keys, self._null_values = before[:5]
        self._header_rows, self._header_keys_size, self._header_values_size, self._null_header_values = before[5:]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _run(self) -> cython.int:
        """Read records until none is left, or until headers need room (then it can be called again)."""
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
            length, pos = _varint(data, pos, end)
            if pos < 0 or length < 1 or length > end - pos:
                return _BAD_LENGTH
            stop = pos + length
            timestamp, pos = _varint(data, pos + 1, stop)
            if pos < 0:
                return _BAD_VARINT
            offset, pos = _varint(data, pos, stop)
            if pos < 0:
                return _BAD_VARINT
            if offset < 0 or offset > _MAX_INT32 or timestamp > _FAR or timestamp < -_FAR:
                return _BAD_DELTA
            offset += self._base_offset
            timestamp = self._base_timestamp if self._fixed_timestamp else timestamp + self._base_timestamp
            key_size, pos = _varint(data, pos, stop)
            if pos < 0 or key_size < -1 or key_size > stop - pos:
                return _BAD_LENGTH
            key_at = pos
            if key_size > 0:
                pos += key_size
            value_size, pos = _varint(data, pos, stop)
            if pos < 0 or value_size < -1 or value_size > stop - pos:
                return _BAD_LENGTH
            value_at = pos
            if value_size > 0:
                pos += value_size
            headers, pos = _varint(data, pos, stop)
            if pos < 0 or headers < 0 or headers > (stop - pos) // 2:
                return _BAD_HEADER
            if self._start_offset <= offset < self._stop_offset:
                if headers > 0 and not self._has_header_room(headers, stop - pos):
                    return _NEED_HEADER_ROOM
                if headers > 0 or pos != stop:
                    pos = self._read_headers(data, pos, stop, headers)
                    if pos < 0:
                        return _BAD_HEADER
                self._store(data, offset, timestamp, key_at, key_size, value_at, value_size)
            pos = stop
            self._left -= 1
            self._position = pos
        return _OK if pos == end else _BAD_SIZE

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def _store(
        self,
        data: cython.const[cython.uchar][::1],  # type: ignore[valid-type]
        offset: cython.longlong,
        timestamp: cython.longlong,
        key_at: cython.Py_ssize_t,
        key_size: cython.longlong,
        value_at: cython.Py_ssize_t,
        value_size: cython.longlong,
    ) -> cython.void:
        """Add a record; a size of -1 is null. Its bytes are known to lie within the source."""
        row: cython.Py_ssize_t = self._rows
        self._offsets[row] = offset
        self._timestamps[row] = timestamp
        if key_size >= 0:
            self._key_valid[row >> 3] |= 1 << (row & 7)
            if key_size > 0:
                _copy(self._keys, self._keys_size, data, key_at, key_size)
                self._keys_size += key_size
        else:
            self._null_keys += 1
        self._key_ends[row + 1] = self._keys_size
        if value_size >= 0:
            self._value_valid[row >> 3] |= 1 << (row & 7)
            if value_size > 0:
                _copy(self._values, self._values_size, data, value_at, value_size)
                self._values_size += value_size
        else:
            self._null_values += 1
        self._value_ends[row + 1] = self._values_size
        if self._with_headers:
            self._header_ends[row + 1] = self._header_rows
        if self._with_checksums:
            self._checksums[row] = -1
        self._rows = row + 1

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def _has_header_room(self, count: cython.longlong, size: cython.Py_ssize_t) -> cython.bint:
        """Whether `count` headers of `size` bytes together can be stored without growing."""
        return (
            self._with_headers
            and count <= self._header_capacity - self._header_rows
            and size <= self._header_data_capacity - self._header_keys_size
            and size <= self._header_data_capacity - self._header_values_size
        )

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
        """Add the headers of one record, which end exactly at `stop`; -1 if they don't. Room is known to be there."""
        size: cython.longlong
        row: cython.Py_ssize_t
        while count > 0:
            count -= 1
            row = self._header_rows
            size, pos = _varint(data, pos, stop)
            if pos < 0 or size < 0 or size > stop - pos:
                return -1
            if size > 0:
                _copy(self._header_keys, self._header_keys_size, data, pos, size)
            self._header_keys_size += size
            pos += size
            size, pos = _varint(data, pos, stop)
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

    def read_legacy(
        self,
        position: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        magic: cython.int,
        shift: cython.longlong,
        fixed_timestamp: cython.bint,
        timestamp: cython.longlong,
    ) -> int:
        """Store the uncompressed messages of magic 0 or 1 between two positions; `shift` is added to each offset.

        `fixed_timestamp`: every message gets `timestamp`, the wrapper's log append time. Returns a status; if it is not
        0, none of the messages has been stored.
        """
        status: cython.int
        before: tuple[int, ...] = self._filled()
        if position < 0 or position > end or end > self._source_size or not self._with_checksums:
            return _BAD_LENGTH
        if end - position > min(self._keys_capacity - self._keys_size, self._values_capacity - self._values_size):
            return _BAD_LENGTH
        self._position, self._end = position, end
        self._base_offset, self._base_timestamp, self._fixed_timestamp = shift, timestamp, fixed_timestamp
        status = self._run_legacy(magic)
        if status != _OK:
            self._restore(before)
        return status

    @cython.cfunc
    @cython.exceptval(check=False)
    def _run_legacy(self, magic: cython.int) -> cython.int:
        """Read messages until the end."""
        data: cython.const[cython.uchar][::1] = self._source  # type: ignore[valid-type]
        pos: cython.Py_ssize_t = self._position
        end: cython.Py_ssize_t = self._end
        stop: cython.Py_ssize_t
        key_at: cython.Py_ssize_t
        value_at: cython.Py_ssize_t
        size: cython.longlong
        key_size: cython.longlong
        value_size: cython.longlong
        offset: cython.longlong
        timestamp: cython.longlong
        with cython.nogil:
            while pos < end:
                if end - pos < 26 or self._rows >= self._capacity:
                    return _BAD_SIZE
                size = _int32(data, pos + 8)
                key_at = pos + (22 if magic == 0 else 30)
                if size > end - pos - 12 or pos + 12 + size < key_at + 4:
                    return _BAD_LENGTH
                stop = pos + 12 + size
                if data[pos + 16] != magic or (data[pos + 17] & 7) != 0:
                    return _BAD_MAGIC
                offset = _int64(data, pos)
                timestamp = -1 if magic == 0 else _int64(data, pos + 18)
                if offset < -_FAR or offset > _FAR or timestamp < -_FAR or timestamp > _FAR:
                    return _BAD_DELTA
                key_size = _int32(data, key_at - 4)
                if key_size < -1 or key_size > stop - key_at - 4:
                    return _BAD_LENGTH
                value_at = key_at + 4 + (key_size if key_size > 0 else 0)
                value_size = _int32(data, value_at - 4)
                if value_size < -1 or (value_size if value_size > 0 else 0) != stop - value_at:
                    return _BAD_LENGTH
                offset += self._base_offset
                if self._start_offset <= offset < self._stop_offset:
                    if self._fixed_timestamp:
                        timestamp = self._base_timestamp
                    self._store(data, offset, timestamp, key_at, key_size, value_at, value_size)
                    self._checksums[self._rows - 1] = _int32(data, pos + 12) & _LOW_BITS
                pos = stop
        return _OK
