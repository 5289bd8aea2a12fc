# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Records to the bytes of a batch: one by one for `send()`, and straight from Arrow columns.

Compiled by Cython, equal when it runs plain. Records are encoded when they are appended, as their final bytes; building
a batch only adds the header, compresses and computes the checksum.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

try:
    import cython
except ImportError:  # the plain variant needs no Cython
    from kafka import _cython as cython

from kafka.record import legacy, seal
from kafka.record.codecs import compress
from kafka.record.headers import encode_headers
from kafka.record.memory import allocate
from kafka.record.types import Buffer, Compression

if cython.compiled:
    from cython.cimports.libc.string import memcpy

_HEADER_SIZE = cython.declare(cython.Py_ssize_t, 61)
_FIRST_CAPACITY = cython.declare(cython.Py_ssize_t, 2048)
_MAX_RECORD_OVERHEAD = cython.declare(cython.Py_ssize_t, 36)
"""Length, attributes, two deltas, three more lengths: 5 + 1 + 10 + 5 + 5 + 5 + 5."""
_MAX_TIMESTAMP = cython.declare(cython.longlong, 1 << 61)
_MAX_BATCH_SIZE = cython.declare(cython.Py_ssize_t, 0x7FFFFFFF)
_AHEAD = cython.declare(cython.Py_ssize_t, 16)
"""How many rows ahead the processor is told which bytes are read next: those of one partition lie here and there among
those of the others, which it cannot foresee. It would spend half of the time waiting for them."""
_CACHE_LINE = cython.declare(cython.Py_ssize_t, 64)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _varint_size(value: cython.longlong) -> cython.Py_ssize_t:
    """How many bytes a zigzag number takes."""
    size: cython.Py_ssize_t = 1
    bits: cython.ulonglong
    if cython.compiled:
        bits = (cython.cast(cython.ulonglong, value) << 1) ^ cython.cast(cython.ulonglong, value >> 63)
    else:
        bits = (value << 1) ^ (value >> 63)
    while bits >= 128:
        bits >>= 7
        size += 1
    return size


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _put_varint(out: cython.uchar[::1], at: cython.Py_ssize_t, value: cython.longlong) -> cython.Py_ssize_t:
    """Write a zigzag number where room for it is known to be; returns the position after it."""
    bits: cython.ulonglong
    if cython.compiled:
        bits = (cython.cast(cython.ulonglong, value) << 1) ^ cython.cast(cython.ulonglong, value >> 63)
    else:
        bits = (value << 1) ^ (value >> 63)
    while bits >= 128:
        out[at] = cython.cast(cython.uchar, (bits & 127) | 128)
        bits >>= 7
        at += 1
    out[at] = cython.cast(cython.uchar, bits)
    return at + 1


@cython.cfunc
@cython.inline
def _as_bytes(data: object, what: str) -> bytes:
    """Return a key or value as bytes.

    Raises:
        TypeError: it is no bytes-like object.
    """
    if isinstance(data, bytes):
        return data
    if isinstance(data, (bytearray, memoryview)):
        return bytes(data)
    raise TypeError(
        f"Expected the {what} as bytes, bytearray, memoryview or None, got {type(data).__name__}: serialize it"
    )


@cython.final
@cython.cclass
class ByteColumn:
    """A column of byte strings to be encoded: 64-bit end positions, which may begin anywhere in the data."""

    _ends: cython.const[cython.longlong][::1]  # type: ignore[valid-type]
    _data: cython.const[cython.uchar][::1]  # type: ignore[valid-type]
    _size: cython.longlong
    _has_nulls: cython.bint
    _valid: cython.const[cython.uchar][::1]  # type: ignore[valid-type]
    _valid_at: cython.Py_ssize_t
    rows = cython.declare(cython.Py_ssize_t, visibility="readonly")

    def __init__(self, ends: object, data: object, valid: object, valid_at: cython.Py_ssize_t) -> None:
        """Take the buffers of an Arrow large_binary array; `valid_at` is the first row's bit, no `valid` no nulls.

        Raises:
            ValueError: the bitmap is too short.
        """
        self._ends = ends
        self._data = data
        self._size = len(self._data)
        self.rows = len(self._ends) - 1
        self._has_nulls = valid is not None
        self._valid_at = valid_at
        if valid is not None:
            self._valid = valid
            if valid_at < 0 or len(self._valid) * 8 < valid_at + self.rows:
                raise ValueError(f"Expected a validity bitmap for {self.rows} rows, got {len(self._valid)} bytes")

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def size(self, row: cython.Py_ssize_t) -> cython.longlong:
        """How many bytes a row that exists has: -1 for null, -2 if it reaches outside the data."""
        bit: cython.Py_ssize_t = self._valid_at + row
        start: cython.longlong = self._ends[row]
        stop: cython.longlong = self._ends[row + 1]
        if self._has_nulls and not (self._valid[bit >> 3] >> (bit & 7)) & 1:
            return -1
        return stop - start if 0 <= start <= stop <= self._size and stop - start <= _MAX_BATCH_SIZE else -2

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def fetch(self, row: cython.Py_ssize_t) -> cython.void:
        """Have the processor fetch the first bytes of a row into its caches (compiled only)."""
        start: cython.Py_ssize_t = self._ends[row]
        # It is declared in encode.pxd, for the compiler alone.
        prefetch(cython.address(self._data[start]))  # type: ignore[name-defined]  # noqa: F821
        prefetch(cython.address(self._data[start + _CACHE_LINE]))  # type: ignore[name-defined]  # noqa: F821

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def put(
        self, out: cython.uchar[::1], at: cython.Py_ssize_t, row: cython.Py_ssize_t, size: cython.longlong
    ) -> cython.Py_ssize_t:
        """Write a row's size and bytes where there is room; `size` is what `size()` gave, not -2."""
        start: cython.Py_ssize_t = self._ends[row]
        at = _put_varint(out, at, size)
        if size > 0:
            if cython.compiled:
                memcpy(cython.address(out[at]), cython.address(self._data[start]), size)
            else:
                out[at : at + size] = self._data[start : start + size]
            at += cython.cast(cython.Py_ssize_t, size)
        return at


@cython.final
@cython.cclass
class RowColumns:
    """The columns of rows to be encoded. Sizes are checked here, so that the loops need not check row numbers again."""

    _keys: ByteColumn
    _values: ByteColumn
    _timestamps: cython.const[cython.longlong][::1]  # type: ignore[valid-type]
    _has_headers: cython.bint
    _header_ends: cython.const[cython.longlong][::1]  # type: ignore[valid-type]
    _header_keys: ByteColumn
    _header_values: ByteColumn
    rows = cython.declare(cython.Py_ssize_t, visibility="readonly")

    def __init__(
        self,
        keys: ByteColumn,
        values: ByteColumn,
        timestamps: object,
        header_ends: object,
        header_keys: ByteColumn | None,
        header_values: ByteColumn | None,
    ) -> None:
        """Take columns of one length: int64 timestamps (milliseconds, -1 for the default) and positions of headers.

        Raises:
            ValueError: the lengths differ, or the positions of headers don't grow within the headers.
        """
        self._keys = keys
        self._values = values
        self._timestamps = timestamps
        self.rows = len(self._timestamps)
        self._has_headers = header_keys is not None and header_values is not None
        if keys.rows != self.rows or values.rows != self.rows:
            raise ValueError(f"Expected columns of {self.rows} rows, got {keys.rows} keys and {values.rows} values")
        if header_keys is not None and header_values is not None:
            self._header_keys = header_keys
            self._header_values = header_values
            self._header_ends = header_ends
            self._check_headers()

    def _check_headers(self) -> None:
        """Check what the constructor says of headers."""
        row: cython.Py_ssize_t
        fits: cython.bint = len(self._header_ends) == self.rows + 1 and self._header_ends[0] >= 0
        if fits:
            for row in range(self.rows):
                fits = fits and self._header_ends[row] <= self._header_ends[row + 1]
            fits = fits and self._header_ends[self.rows] <= min(self._header_keys.rows, self._header_values.rows)
        if not fits:
            raise ValueError(f"Expected growing positions of {self._header_keys.rows} headers for {self.rows} rows")

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def headers_size(self, row: cython.Py_ssize_t) -> cython.longlong:
        """How many bytes a row's headers take encoded, their number included; -2 if one is not possible."""
        first: cython.Py_ssize_t
        last: cython.Py_ssize_t
        at: cython.Py_ssize_t
        size: cython.longlong
        total: cython.longlong
        if not self._has_headers:
            return 1
        first = self._header_ends[row]
        last = self._header_ends[row + 1]
        total = _varint_size(last - first)
        for at in range(first, last):
            size = self._header_keys.size(at)
            if size < 0:
                return -2
            total += _varint_size(size) + size
            size = self._header_values.size(at)
            if size < -1:
                return -2
            total += _varint_size(size) + (size if size > 0 else 0)
            if total > _MAX_BATCH_SIZE:
                return -2
        return total

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def put_headers(self, out: cython.uchar[::1], at: cython.Py_ssize_t, row: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Write a row's headers where there is room; returns the position after them."""
        first: cython.Py_ssize_t
        last: cython.Py_ssize_t
        header: cython.Py_ssize_t
        if not self._has_headers:
            out[at] = 0
            return at + 1
        first = self._header_ends[row]
        last = self._header_ends[row + 1]
        at = _put_varint(out, at, last - first)
        for header in range(first, last):
            at = self._header_keys.put(out, at, header, self._header_keys.size(header))
            at = self._header_values.put(out, at, header, self._header_values.size(header))
        return at


@cython.final
@cython.cclass
class BatchBuilder:
    """A batch that is being filled. Not thread-safe: the caller holds its own lock.

    Offsets count from 0 in the order of appending; timestamps are relative to the first record's.
    """

    _magic: cython.int
    _compression: Compression
    _level: int | None
    _size_limit: cython.Py_ssize_t
    _count: cython.int
    _size: cython.Py_ssize_t
    _capacity: cython.Py_ssize_t
    _base_timestamp: cython.longlong
    _max_timestamp: cython.longlong
    _buffer: memoryview
    _out: cython.uchar[::1]
    _compressed: Buffer | None
    _compressed_size: cython.Py_ssize_t

    def __init__(
        self,
        magic: int = 2,
        compression: Compression = Compression.NONE,
        *,
        compression_level: int | None = None,
        size_limit: int = 16384,
    ) -> None:
        """Begin a batch.

        Args:
            magic: 2, or 0 and 1 for brokers before Kafka 0.11.
            compression: the codec.
            compression_level: the codec's own level, None for its default.
            size_limit: bytes, before compression, up to which `has_room_for` says yes. The first record always fits.

        Raises:
            ValueError: no such magic or codec.
        """
        if magic not in (0, 1, 2):
            raise ValueError(f"Expected magic 0, 1 or 2, got {magic}")
        self._magic = magic
        self._compression = Compression(compression)
        self._level = compression_level
        self._size_limit = size_limit
        self._capacity = 0
        self.clear()

    def clear(self) -> None:
        """Begin another batch like this one."""
        self._count = 0
        self._size = _HEADER_SIZE
        self._base_timestamp = self._max_timestamp = -1
        self._compressed = None
        self._compressed_size = 0
        if self._compression == Compression.NONE or self._capacity == 0:  # the memory may have been handed over
            self._capacity = 0
            self._grow(min(_FIRST_CAPACITY, max(self._size_limit, 128)))

    @property
    def count(self) -> int:
        """How many records have been appended."""
        return self._count

    @property
    def size_in_bytes(self) -> int:
        """How large the batch is before compression."""
        return self._size if self._magic == 2 else self._size - _HEADER_SIZE

    @property
    def base_timestamp(self) -> int:
        """The first record's timestamp in milliseconds, -1 without records."""
        return self._base_timestamp

    @property
    def max_timestamp(self) -> int:
        """The latest timestamp in milliseconds, -1 without records."""
        return self._max_timestamp

    @cython.cfunc
    def _grow(self, needed: cython.Py_ssize_t) -> cython.bint:
        """Make room for `needed` bytes in all, at least double of what there is."""
        if needed > _MAX_BATCH_SIZE:
            raise ValueError(f"Expected a batch of less than 2 GiB, got one of {needed} bytes")
        capacity: cython.Py_ssize_t = min(max(needed, 2 * self._capacity), _MAX_BATCH_SIZE)
        buffer = allocate(capacity)
        if self._capacity:
            buffer[: self._size] = self._buffer[: self._size]
        self._buffer = buffer
        self._out = buffer
        self._capacity = capacity
        return True

    def has_room_for(
        self, key: Buffer | None, value: Buffer | None, headers: Sequence[tuple[str, bytes | None]] | None
    ) -> bool:
        """Whether a record fits without passing the size limit; always true of the first."""
        size: cython.Py_ssize_t = self._size + _MAX_RECORD_OVERHEAD
        if self._count == 0:
            return True
        if key is not None:
            size += len(key)
        if value is not None:
            size += len(value)
        if headers:
            size += len(encode_headers(headers)[0])
        return size <= self._size_limit

    def append(
        self,
        timestamp_ms: cython.longlong,
        key: Buffer | None,
        value: Buffer | None,
        headers: Sequence[tuple[str, bytes | None]] | None = (),
    ) -> int:
        """Add a record; returns its offset within the batch.

        Args:
            timestamp_ms: milliseconds since the epoch.
            key: serialized, None for null.
            value: serialized, None for null.
            headers: names, with bytes or None for null.

        Raises:
            TypeError: a key, value or header is not of the type above.
            ValueError: the batch would reach 2 GiB, or the timestamp is below -1 or beyond all calendars.
            UnsupportedForMessageFormatError: headers, before magic 2.
        """
        key_bytes: bytes = b"" if key is None else _as_bytes(key, "key")
        value_bytes: bytes = b"" if value is None else _as_bytes(value, "value")
        key_size: cython.Py_ssize_t = -1 if key is None else len(key_bytes)
        value_size: cython.Py_ssize_t = -1 if value is None else len(value_bytes)
        index: cython.int = self._count
        if timestamp_ms < -1 or timestamp_ms > _MAX_TIMESTAMP:
            raise ValueError(f"Expected a timestamp in milliseconds since the epoch, or -1, got {timestamp_ms}")
        if self._magic < 2:
            self._put_raw(legacy.encode_message(self._magic, index, timestamp_ms, key, value, headers))
        elif headers:
            self._put_record(timestamp_ms, key_bytes, key_size, value_bytes, value_size, encode_headers(headers)[0])
        else:
            self._put_record(timestamp_ms, key_bytes, key_size, value_bytes, value_size, None)
        self._count = index + 1
        return index

    def append_if_room(
        self,
        timestamp_ms: cython.longlong,
        key: bytes | None,
        value: bytes | None,
        headers: bytes | None,
    ) -> cython.Py_ssize_t:
        """Add a record if it does not pass the size limit, which the first one may; see `append`.

        Args:
            headers: as `encode_headers` makes them, None for none.

        Returns:
            The record's offset within the batch, -1 if there is no room.
        """
        key_size: cython.Py_ssize_t = -1 if key is None else len(key)
        value_size: cython.Py_ssize_t = -1 if value is None else len(value)
        index: cython.Py_ssize_t = self._count
        size: cython.Py_ssize_t = self._size_with(key_size, value_size, headers)
        if index > 0 and size > self._size_limit:
            return -1
        if timestamp_ms < -1 or timestamp_ms > _MAX_TIMESTAMP:
            raise ValueError(f"Expected a timestamp in milliseconds since the epoch, or -1, got {timestamp_ms}")
        if self._magic < 2:
            with_headers = [("", None)] if headers is not None else None
            self._put_raw(legacy.encode_message(self._magic, index, timestamp_ms, key, value, with_headers))
        else:
            self._put_record(timestamp_ms, key or b"", key_size, value or b"", value_size, headers)
        self._count = cython.cast(cython.int, index + 1)
        return index

    @cython.cfunc
    @cython.inline
    def _size_with(
        self, key_size: cython.Py_ssize_t, value_size: cython.Py_ssize_t, headers: bytes | None
    ) -> cython.Py_ssize_t:
        """How many bytes the batch has at the most with one more record; a size of -1 is null."""
        headers_size: cython.Py_ssize_t = 1 if headers is None else len(headers)
        return self._size + _MAX_RECORD_OVERHEAD + headers_size - 1 + max(key_size, 0) + max(value_size, 0)

    def append_at_once(
        self,
        timestamp_ms: cython.longlong,
        key: bytes | None,
        value: bytes | None,
        headers: bytes | None,
    ) -> cython.Py_ssize_t:
        """Add a record where that means no more than copying it; see `append_if_room`, which does the same and more.

        Compiled, nothing in here gives up the interpreter's lock or runs code of anybody else: no other thread comes
        between.

        Returns:
            The record's offset within the batch, -1 if more is to be done: of the first, where memory or room is short,
            before magic 2.
        """
        key_size: cython.Py_ssize_t = -1 if key is None else len(key)
        value_size: cython.Py_ssize_t = -1 if value is None else len(value)
        index: cython.Py_ssize_t = self._count
        size: cython.Py_ssize_t = self._size_with(key_size, value_size, headers)
        if index == 0 or size > self._size_limit or size + _MAX_RECORD_OVERHEAD > self._capacity or self._magic < 2:
            return -1
        if timestamp_ms < -1 or timestamp_ms > _MAX_TIMESTAMP:
            return -1
        self._put_record(timestamp_ms, key or b"", key_size, value or b"", value_size, headers)
        self._count = cython.cast(cython.int, index + 1)
        return index

    @cython.cfunc
    def _put_raw(self, data: bytes) -> cython.bint:
        """Add bytes that are encoded already."""
        size: cython.Py_ssize_t = len(data)
        if self._size + size > self._capacity:
            self._grow(self._size + size)
        self._buffer[self._size : self._size + size] = data
        self._size += size
        return True

    @cython.cfunc
    def _put_record(
        self,
        timestamp: cython.longlong,
        key: bytes,
        key_size: cython.Py_ssize_t,
        value: bytes,
        value_size: cython.Py_ssize_t,
        headers: bytes | None,
    ) -> cython.bint:
        """Encode a record of magic 2; a size of -1 is null, `headers` their encoding with the count, None for none."""
        delta: cython.longlong
        headers_size: cython.Py_ssize_t = 1 if headers is None else len(headers)
        body: cython.Py_ssize_t
        at: cython.Py_ssize_t = self._size
        if self._count == 0:
            self._base_timestamp = self._max_timestamp = timestamp
        elif timestamp > self._max_timestamp:
            self._max_timestamp = timestamp
        delta = timestamp - self._base_timestamp
        body = 1 + _varint_size(delta) + _varint_size(self._count) + _varint_size(key_size) + _varint_size(value_size)
        body += max(key_size, 0) + max(value_size, 0) + headers_size
        if at + body + 10 > self._capacity:
            self._grow(at + body + 10)
        at = _put_varint(self._out, at, body)
        self._out[at] = 0
        at = _put_varint(self._out, at + 1, delta)
        at = _put_varint(self._out, at, self._count)
        at = self._put_bytes(_put_varint(self._out, at, key_size), key, key_size)
        at = self._put_bytes(_put_varint(self._out, at, value_size), value, value_size)
        if headers is None:
            self._out[at] = 0
            at += 1
        else:
            at = self._put_bytes(at, headers, headers_size)
        self._size = at
        return True

    @cython.cfunc
    @cython.inline
    def _put_bytes(self, at: cython.Py_ssize_t, data: bytes, size: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Copy bytes to where room for them is known to be; returns the position after them."""
        if size <= 0:
            return at
        if cython.compiled:
            memcpy(cython.address(self._out[at]), cython.cast(cython.p_char, data), size)
        else:
            self._out[at : at + size] = data
        return at + size

    def append_rows(
        self,
        columns: RowColumns,
        rows: object,
        start: cython.Py_ssize_t,
        timestamp_ms: cython.longlong,
    ) -> int:
        """Add rows of columns, in the order of `rows`, until the batch is full.

        Args:
            columns: where the rows are.
            rows: row numbers, int32.
            start: where in `rows` to begin.
            timestamp_ms: for rows without a timestamp.

        Returns:
            Where in `rows` to go on with the next batch; an empty batch takes at least one row.

        Raises:
            ValueError: a row does not exist or its data reach outside their buffer, a header has no key, or a record
                alone has 2 GiB.
            UnsupportedForMessageFormatError: before magic 2: such batches are made record by record.
        """
        numbers: cython.const[cython.int][::1] = rows  # type: ignore[valid-type]
        at: cython.Py_ssize_t = start
        count: cython.Py_ssize_t = len(numbers)
        size: cython.longlong = 0
        first: cython.longlong = 0
        bound: cython.longlong = 0
        least: cython.longlong = 0
        room: cython.longlong = max(self._size_limit - self._size, 0)
        if self._magic < 2 or timestamp_ms < -1 or timestamp_ms > _MAX_TIMESTAMP or start < 0:
            raise ValueError(
                f"Expected magic 2, a timestamp and a start, got {self._magic}, {timestamp_ms} and {start}"
            )
        with cython.nogil:
            while at < count and least <= room:
                size = self._row_bound(columns, numbers[at])
                if size < 0:
                    break
                if at == start:
                    first = size
                bound += size
                least += size - _MAX_RECORD_OVERHEAD
                at += 1
        if size < 0:
            raise ValueError(
                f"Row {numbers[at]} of {columns.rows} cannot be encoded: it does not exist, its data reach outside "
                "their buffer, a header has a null key, or its timestamp is below -1"
            )
        bound = min(bound, max(room, first))
        if self._size + bound > self._capacity:
            self._grow(self._size + bound)
        return self._put_rows(columns, numbers, start, at, timestamp_ms)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _row_bound(self, columns: RowColumns, row: cython.Py_ssize_t) -> cython.longlong:
        """How many bytes a row takes encoded at the most; -1 if it cannot be encoded."""
        key_size: cython.longlong
        value_size: cython.longlong
        headers_size: cython.longlong
        if row < 0 or row >= columns.rows:
            return -1
        key_size = columns._keys.size(row)
        value_size = columns._values.size(row)
        headers_size = columns.headers_size(row)
        if key_size < -1 or value_size < -1 or headers_size < 0:
            return -1
        if columns._timestamps[row] < -1 or columns._timestamps[row] > _MAX_TIMESTAMP:
            return -1
        return _MAX_RECORD_OVERHEAD + key_size + value_size + headers_size + 2

    @cython.cfunc
    def _put_rows(
        self,
        columns: RowColumns,
        numbers: cython.const[cython.int][::1],  # type: ignore[valid-type]
        start: cython.Py_ssize_t,
        stop: cython.Py_ssize_t,
        default_timestamp: cython.longlong,
    ) -> cython.Py_ssize_t:
        """Encode checked rows, for which there is room, until the size limit; returns where to go on."""
        out: cython.uchar[::1] = self._out
        index: cython.Py_ssize_t
        row: cython.Py_ssize_t
        at: cython.Py_ssize_t = self._size
        body: cython.longlong
        key_size: cython.longlong
        value_size: cython.longlong
        delta: cython.longlong
        timestamp: cython.longlong
        with cython.nogil:
            for index in range(start, stop):
                if cython.compiled and index + _AHEAD < stop:
                    columns._keys.fetch(numbers[index + _AHEAD])
                    columns._values.fetch(numbers[index + _AHEAD])
                row = numbers[index]
                timestamp = columns._timestamps[row]
                if timestamp < 0:
                    timestamp = default_timestamp
                delta = 0 if self._count == 0 else timestamp - self._base_timestamp
                key_size = columns._keys.size(row)
                value_size = columns._values.size(row)
                body = 1 + _varint_size(delta) + _varint_size(self._count) + columns.headers_size(row)
                body += _varint_size(key_size) + (key_size if key_size > 0 else 0)
                body += _varint_size(value_size) + (value_size if value_size > 0 else 0)
                if self._count > 0 and at + body + _varint_size(body) > self._size_limit:
                    stop = index
                    break
                if self._count == 0:
                    self._base_timestamp = self._max_timestamp = timestamp
                elif timestamp > self._max_timestamp:
                    self._max_timestamp = timestamp
                at = _put_varint(out, at, body)
                out[at] = 0
                at = _put_varint(out, at + 1, delta)
                at = _put_varint(out, at, self._count)
                at = columns._keys.put(out, at, row, key_size)
                at = columns._values.put(out, at, row, value_size)
                at = columns.put_headers(out, at, row)
                self._count += 1
                self._size = at
        return stop

    @property
    def can_compress(self) -> bool:
        """Whether `compress` would do something."""
        return self._magic == 2 and self._compression != Compression.NONE and self._compressed_size != self._size

    def compress(self) -> None:
        """Compress the records now, so that `build` is quick; in any thread, as long as nothing is appended.

        What goes wrong is left to `build`, which tries again and raises it.
        """
        size: cython.Py_ssize_t = self._size
        if self.can_compress:
            self._compressed_size = size
            with contextlib.suppress(Exception):
                self._compressed = compress(self._compression, self._buffer[_HEADER_SIZE:size], level=self._level)

    def build(
        self,
        *,
        base_offset: int = 0,
        producer_id: int = -1,
        producer_epoch: int = -1,
        base_sequence: int = -1,
        transactional: bool = False,
    ) -> bytes:
        """Encode the batch into bytes. It may be called again, with another producer state.

        Args:
            base_offset: of the first record; a producer leaves it at 0.
            producer_id: of an idempotent producer (KIP-98), -1 without.
            producer_epoch: likewise.
            base_sequence: the sequence number of the first record, -1 without.
            transactional: whether the batch belongs to a transaction.

        Raises:
            ValueError: there is no record.
            UnsupportedCompressionTypeError: the codec does not go with the magic.
        """
        state = seal.ProducerState(producer_id, producer_epoch, base_sequence, transactional)
        return bytes(self.hand_over(state, base_offset))

    def hand_over(self, state: seal.ProducerState = seal.NO_PRODUCER, base_offset: int = 0) -> Buffer:
        """Encode the batch as `build` does, without a copy: what comes back may be this builder's own memory.

        Nothing may be done with the builder afterwards but `clear`. A batch of magic 2 may be written to.
        """
        if self._count == 0:
            raise ValueError("Expected at least one record in a batch to build, got none")
        if self._magic < 2:
            records = self._buffer[61 : self._size]
            return legacy.seal(self._magic, records, self._count, base_offset, self._compression, self._level)
        return seal.seal(
            self._buffer[: self._size],
            self._count,
            base_offset,
            self._base_timestamp,
            self._max_timestamp,
            self._compression,
            self._level,
            state,
            self._compressed if self._compressed_size == self._size else None,
        )
