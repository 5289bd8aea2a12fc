# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Encodes rows of columns as the records of a batch, without per-row Python objects.

Compiled with Cython; the plain variant behaves the same. A first pass computes the size of the rows, and a second pass
writes the rows. The columns, in Arrow's layout, may be memory that another thread writes to. The lengths of buffers do
not change, so they are checked once. Each pass checks every position that it reads, and the second pass writes nothing
beyond the size that the first pass computed. It is an error if rows have become longer in between.
"""

from __future__ import annotations

from typing import Any

try:
    import cython
except ImportError:  # the plain variant does not need Cython
    from kafka import _cython as cython

from kafka.record.builder import MAX_BATCH_SIZE, MAX_TIMESTAMP

if cython.compiled:
    from cython.cimports.kafka.record.builder import BatchBuilder
    from cython.cimports.kafka.record.integers import put_varint, varint_size
    from cython.cimports.kafka.record.prefetch import prefetch
    from cython.cimports.libc.string import memcpy
else:
    from kafka.record.builder import BatchBuilder
    from kafka.record.integers import put_varint, varint_size

_MAX_RECORD_OVERHEAD = cython.declare(cython.Py_ssize_t, 36)
"""Sizes of the length, attributes, two deltas and three more lengths: 5 + 1 + 10 + 5 + 5 + 5 + 5."""
_MAX_TIMESTAMP = cython.declare(cython.longlong, MAX_TIMESTAMP)
_MAX_BATCH_SIZE = cython.declare(cython.longlong, MAX_BATCH_SIZE)
_AHEAD = cython.declare(cython.Py_ssize_t, 16)
"""Number of rows to prefetch. The rows of one partition are scattered among those of the others, so the processor
cannot predict the reads, and would otherwise spend half of the time waiting for memory.
"""
_CACHE_LINE = cython.declare(cython.Py_ssize_t, 64)
_FULL = cython.declare(cython.Py_ssize_t, -1)
_WRONG = cython.declare(cython.Py_ssize_t, -2)


@cython.final
@cython.cclass
class ByteColumn:
    """A column of byte strings to encode, with 64-bit end positions, which may start anywhere in the data."""

    def __init__(self, ends: Any, data: Any, valid: Any, valid_at: cython.Py_ssize_t) -> None:
        """Acquire the buffers of an Arrow large_binary array.

        `valid_at` is the bit of the first row; without `valid`, no row is null.

        Raises:
            ValueError: the bitmap is too short.
        """
        self.ends = ends
        self.data = data
        self.size = len(self.data)
        self.rows = len(self.ends) - 1
        self.has_nulls = valid is not None
        self.valid_at = valid_at
        if valid is not None:
            self.valid = valid
            if valid_at < 0 or len(self.valid) * 8 < valid_at + self.rows:
                raise ValueError(f"Expected a validity bitmap for {self.rows} rows, got {len(self.valid)} bytes")


@cython.final
@cython.cclass
class RowColumns:
    """The columns of the rows to encode, all of the same length."""

    def __init__(
        self,
        keys: ByteColumn,
        values: ByteColumn,
        timestamps: Any,
        header_ends: Any,
        header_keys: ByteColumn | None,
        header_values: ByteColumn | None,
    ) -> None:
        """Set the columns: int64 timestamps (milliseconds, -1 for the default), header positions, and byte strings.

        Raises:
            ValueError: the lengths differ, or the header positions decrease or are out of range.
        """
        self.keys = keys
        self.values = values
        self.timestamps = timestamps
        self.rows = len(self.timestamps)
        self.has_headers = header_keys is not None and header_values is not None
        if keys.rows != self.rows or values.rows != self.rows:
            raise ValueError(f"Expected columns of {self.rows} rows, got {keys.rows} keys and {values.rows} values")
        if header_keys is not None and header_values is not None:
            self.header_keys = header_keys
            self.header_values = header_values
            self.header_ends = header_ends
            self._check_headers()

    def _check_headers(self) -> None:
        """Check the positions of headers; see the constructor."""
        row: cython.Py_ssize_t
        fits: cython.bint = len(self.header_ends) == self.rows + 1 and self.header_ends[0] >= 0
        if fits:
            for row in range(self.rows):
                fits = fits and self.header_ends[row] <= self.header_ends[row + 1]
            fits = fits and self.header_ends[self.rows] <= min(self.header_keys.rows, self.header_values.rows)
        if not fits:
            raise ValueError(f"Expected growing positions of {self.header_keys.rows} headers for {self.rows} rows")


def append_rows(
    builder: BatchBuilder, columns: RowColumns, rows: object, start: cython.Py_ssize_t, timestamp_ms: cython.longlong
) -> int:
    """Add rows of columns to a magic 2 batch, in the order of `rows`, until it is full.

    Args:
        builder: builder of the batch; if the batch is empty, at least one row is added.
        columns: the columns.
        rows: row numbers, int32.
        start: index in `rows` of the first row.
        timestamp_ms: timestamp for rows without a timestamp.

    Returns:
        The index in `rows` of the next batch's first row.

    Raises:
        ValueError: a row does not exist or its data reaches outside the buffer, a header has no key, a single record is
            as large as 2 GiB, the columns have changed in between, or the batch is older than magic 2.
    """
    numbers: cython.const[cython.int][::1] = rows  # type: ignore[valid-type]
    at: cython.Py_ssize_t = start
    count: cython.Py_ssize_t = len(numbers)
    size: cython.longlong = 0
    first: cython.longlong = 0
    bound: cython.longlong = 0
    least: cython.longlong = 0
    room: cython.longlong = max(builder._size_limit - builder._size, 0)
    if builder._magic < 2 or timestamp_ms < -1 or timestamp_ms > _MAX_TIMESTAMP or start < 0:
        raise ValueError(f"Expected magic 2, a timestamp and a start, got {builder._magic}, {timestamp_ms} and {start}")
    with cython.nogil:
        while at < count and least <= room:
            size = _row_bound(columns, numbers[at])
            if size < 0:
                break
            if at == start:
                first = size
            bound += size
            least += size - _MAX_RECORD_OVERHEAD
            at += 1
    if size < 0:
        raise _error(columns, numbers[at])
    builder._reserve(builder._size + min(bound, max(room, first)))
    return _put_rows(builder, columns, numbers, start, at, timestamp_ms)


def _error(columns: RowColumns, row: int) -> ValueError:
    """Return the error for a row that was not encoded."""
    if 0 <= row < columns.rows and not -1 <= columns.timestamps[row] <= _MAX_TIMESTAMP:
        return ValueError(
            f"Row {row} of {columns.rows} has the timestamp {columns.timestamps[row]}: expected milliseconds since "
            "1970, or null for the time of sending"
        )
    return ValueError(
        f"Row {row} of {columns.rows} cannot be encoded: it does not exist, its data reach outside their buffer or "
        "were changed meanwhile, or a header has a null key"
    )


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.returns((cython.Py_ssize_t, cython.longlong))
def _span(column: ByteColumn, row: cython.Py_ssize_t) -> tuple[int, int]:
    """Return the start and size of an existing row; the size is -1 for null, -2 if it reaches outside the data."""
    bit: cython.Py_ssize_t = column.valid_at + row
    start: cython.longlong = column.ends[row]
    stop: cython.longlong = column.ends[row + 1]
    if column.has_nulls and not (column.valid[bit >> 3] >> (bit & 7)) & 1:
        return 0, -1
    if 0 <= start <= stop <= column.size and stop - start <= _MAX_BATCH_SIZE:
        return start, stop - start
    return 0, -2


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _headers_size(columns: RowColumns, row: cython.Py_ssize_t) -> cython.longlong:
    """Return the encoded size of a row's headers in bytes, including their number; -2 if a header is invalid."""
    first: cython.longlong
    last: cython.longlong
    at: cython.Py_ssize_t
    size: cython.longlong
    total: cython.longlong
    if not columns.has_headers:
        return 1
    first = columns.header_ends[row]
    last = columns.header_ends[row + 1]
    if not 0 <= first <= last <= min(columns.header_keys.rows, columns.header_values.rows):
        return -2
    total = varint_size(last - first)
    for at in range(first, last):
        size = _span(columns.header_keys, at)[1]
        if size < 0:
            return -2
        total += varint_size(size) + size
        size = _span(columns.header_values, at)[1]
        if size < -1:
            return -2
        total += varint_size(size) + (size if size > 0 else 0)
        if total > _MAX_BATCH_SIZE:
            return -2
    return total


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _row_bound(columns: RowColumns, row: cython.Py_ssize_t) -> cython.longlong:
    """Return the maximum encoded size of a row in bytes; -1 if it cannot be encoded."""
    key_size: cython.longlong
    value_size: cython.longlong
    headers_size: cython.longlong
    if row < 0 or row >= columns.rows:
        return -1
    key_size = _span(columns.keys, row)[1]
    value_size = _span(columns.values, row)[1]
    headers_size = _headers_size(columns, row)
    if key_size < -1 or value_size < -1 or headers_size < 0:
        return -1
    if columns.timestamps[row] < -1 or columns.timestamps[row] > _MAX_TIMESTAMP:
        return -1
    return _MAX_RECORD_OVERHEAD + key_size + value_size + headers_size + 2


@cython.cfunc
def _put_rows(
    builder: BatchBuilder,
    columns: RowColumns,
    numbers: cython.const[cython.int][::1],  # type: ignore[valid-type]
    start: cython.Py_ssize_t,
    stop: cython.Py_ssize_t,
    default_timestamp: cython.longlong,
) -> cython.Py_ssize_t:
    """Encode rows up to the size limit or the reserved room; return the index of the next row."""
    index: cython.Py_ssize_t = start
    status: cython.Py_ssize_t = 0
    with cython.nogil:
        while index < stop:
            if cython.compiled and index + _AHEAD < stop:
                _fetch(columns, numbers[index + _AHEAD])
            status = _put_row(builder, columns, numbers[index], default_timestamp)
            if status < 0:
                break
            index += 1
    if status == _WRONG:
        raise _error(columns, numbers[index])
    return index


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _fetch(columns: RowColumns, row: cython.Py_ssize_t) -> cython.void:
    """Prefetch the first bytes of a row into the processor's caches (compiled variant only)."""
    start: cython.longlong
    if row < 0 or row >= columns.rows:
        return
    start = columns.keys.ends[row]
    if 0 <= start < columns.keys.size - _CACHE_LINE:
        prefetch(cython.address(columns.keys.data[start]))
        prefetch(cython.address(columns.keys.data[start + _CACHE_LINE]))
    start = columns.values.ends[row]
    if 0 <= start < columns.values.size - _CACHE_LINE:
        prefetch(cython.address(columns.values.data[start]))
        prefetch(cython.address(columns.values.data[start + _CACHE_LINE]))


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _put_row(
    builder: BatchBuilder, columns: RowColumns, row: cython.Py_ssize_t, default_timestamp: cython.longlong
) -> cython.Py_ssize_t:
    """Append an encoded row; return 0, or the reason why that failed: `_FULL` or `_WRONG`."""
    out: cython.uchar[::1] = builder._out
    at: cython.Py_ssize_t = builder._size
    end: cython.longlong
    body: cython.longlong
    key_at: cython.Py_ssize_t
    key_size: cython.longlong
    value_at: cython.Py_ssize_t
    value_size: cython.longlong
    headers_size: cython.longlong
    timestamp: cython.longlong
    delta: cython.longlong
    if row < 0 or row >= columns.rows:
        return _WRONG
    key_at, key_size = _span(columns.keys, row)
    value_at, value_size = _span(columns.values, row)
    headers_size = _headers_size(columns, row)
    timestamp = columns.timestamps[row]
    if key_size < -1 or value_size < -1 or headers_size < 0 or timestamp > _MAX_TIMESTAMP:
        return _WRONG
    if timestamp < 0:
        timestamp = default_timestamp
    delta = 0 if builder._count == 0 else timestamp - builder._base_timestamp
    body = 1 + varint_size(delta) + varint_size(builder._count) + headers_size
    body += varint_size(key_size) + (key_size if key_size > 0 else 0)
    body += varint_size(value_size) + (value_size if value_size > 0 else 0)
    end = at + body + varint_size(body)
    if builder._count > 0 and end > builder._size_limit:
        return _FULL
    if end > builder._capacity:
        return _WRONG
    at = put_varint(out, at, body)
    out[at] = 0
    at = put_varint(out, at + 1, delta)
    at = put_varint(out, at, builder._count)
    at = _put(out, at, columns.keys, key_at, key_size)
    at = _put(out, at, columns.values, value_at, value_size)
    at = _put_headers(out, at, end, columns, row)
    if at != end:
        return _WRONG
    if builder._count == 0:
        builder._base_timestamp = builder._max_timestamp = timestamp
    elif timestamp > builder._max_timestamp:
        builder._max_timestamp = timestamp
    builder._count += 1
    if at - builder._size > builder._largest:
        builder._largest = at - builder._size
    builder._size = at
    return 0


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _put(
    out: cython.uchar[::1],
    at: cython.Py_ssize_t,
    column: ByteColumn,
    start: cython.Py_ssize_t,
    size: cython.longlong,
) -> cython.Py_ssize_t:
    """Write a row's size and bytes, which have been checked; return the next position. There must be room."""
    at = put_varint(out, at, size)
    if size > 0:
        if cython.compiled:
            memcpy(cython.address(out[at]), cython.address(column.data[start]), size)
        else:
            out[at : at + size] = column.data[start : start + size]
        at += cython.cast(cython.Py_ssize_t, size)
    return at


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _put_headers(
    out: cython.uchar[::1],
    at: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    columns: RowColumns,
    row: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    """Write a row's headers, which must end at `end`; return the position after them, -1 if there is no room."""
    first: cython.longlong
    last: cython.longlong
    header: cython.Py_ssize_t
    start: cython.Py_ssize_t
    size: cython.longlong
    if not columns.has_headers:
        out[at] = 0
        return at + 1
    first = columns.header_ends[row]
    last = columns.header_ends[row + 1]
    if not 0 <= first <= last <= min(columns.header_keys.rows, columns.header_values.rows):
        return -1
    if varint_size(last - first) > end - at:
        return -1
    at = put_varint(out, at, last - first)
    for header in range(first, last):
        start, size = _span(columns.header_keys, header)
        if size < 0 or varint_size(size) + size > end - at:
            return -1
        at = _put(out, at, columns.header_keys, start, size)
        start, size = _span(columns.header_values, header)
        if size < -1 or varint_size(size) + max(size, 0) > end - at:
            return -1
        at = _put(out, at, columns.header_values, start, size)
    return at
