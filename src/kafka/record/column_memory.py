"""Memory for columns in Arrow's layout: allocated before decoding, grown for headers, and trimmed afterwards."""

from __future__ import annotations

from typing import NamedTuple

from kafka.record.memory import allocate, cut


class BinaryColumn(NamedTuple):
    """A column of byte strings: int32 end positions (one more than rows; the first is 0), data and validity bits."""

    ends: memoryview
    data: memoryview
    valid: bytearray | None
    """One bit per row, least significant first; None if no row is null."""


class HeaderColumns(NamedTuple):
    """The headers of all records: int32 positions (one more than records) in the columns of header keys and values."""

    ends: memoryview
    keys: BinaryColumn
    values: BinaryColumn


class ColumnBuffers(NamedTuple):
    """All columns of `rows` records; integers are in native byte order."""

    rows: int
    offsets: memoryview
    timestamps: memoryview
    checksums: memoryview | None
    """int64 CRCs of the magic 0 and 1 messages, -1 for magic 2 records; None if all records are magic 2."""
    keys: BinaryColumn
    values: BinaryColumn
    headers: HeaderColumns | None
    """The headers; None if no record has headers."""


def int64_column(rows: int) -> memoryview:
    """Allocate memory for int64 values."""
    return allocate(rows * 8).cast("q")


def int32_column(rows: int) -> memoryview:
    """Allocate memory for int32 values."""
    return allocate(rows * 4).cast("i")


def cut_int64(column: memoryview, rows: int) -> memoryview:
    """Return the first rows of a column, releasing memory if much of it is unused."""
    return cut(column.cast("B"), rows * 8).cast("q")


def _grown_int64(column: memoryview, capacity: int, rows: int) -> memoryview:
    """Return a larger column that begins with the rows of this one."""
    grown = int64_column(capacity)
    grown[:rows] = column[:rows]
    return grown


class BinaryStorage:
    """The memory of a column of byte strings while it is being filled."""

    __slots__ = ("data", "ends", "valid")

    def __init__(self, rows: int, size: int) -> None:
        self.ends = allocate(rows * 4 + 4).cast("i")
        self.ends[0] = 0
        self.valid = bytearray(rows // 8 + 1)
        self.data = allocate(size)

    def grow(self, rows: int, size: int, used_rows: int, used_size: int) -> None:
        """Make room for `rows` rows with a total of `size` bytes, keeping the contents."""
        self.grow_rows(rows, used_rows)
        self.grow_data(size, used_size)

    def grow_rows(self, rows: int, used: int) -> None:
        """Make room for `rows` rows, keeping the contents."""
        ends, valid = int32_column(rows + 1), bytearray(rows // 8 + 1)
        ends[: used + 1] = self.ends[: used + 1]
        valid[: used // 8 + 1] = self.valid[: used // 8 + 1]
        self.ends, self.valid = ends, valid

    def grow_data(self, size: int, used: int) -> None:
        """Make room for `size` bytes, keeping the contents."""
        data = allocate(size)
        data[:used] = self.data[:used]
        self.data = data

    def finish(self, rows: int, size: int, nulls: int) -> BinaryColumn:
        """Return the column, and release unused memory."""
        ends = cut(self.ends.cast("B"), (rows + 1) * 4).cast("i")
        return BinaryColumn(ends, cut(self.data, size), self.valid if nulls else None)


_NO_HEADERS = BinaryStorage(0, 0)
"""A placeholder until there is a header; it is never written to."""


class ColumnStorage:
    """The columns that decoding fills.

    Created for `capacity` records with `data_capacity` bytes of values and `key_capacity` bytes of keys. Room for all
    records of a batch is reserved before the batch is read, so it need not be checked for each record. Keys are usually
    much smaller than values, and often start without room for their bytes. Checksums, which only old formats have, and
    headers, which most topics lack, get room on demand.
    """

    def __init__(self, capacity: int, data_capacity: int, key_capacity: int = 0) -> None:
        self.capacity = capacity
        self.offsets = allocate(capacity * 8).cast("q")
        self.timestamps = allocate(capacity * 8).cast("q")
        self.checksums: memoryview | None = None
        self.keys = BinaryStorage(capacity, key_capacity)
        self.values = BinaryStorage(capacity, data_capacity)
        self.header_ends: memoryview | None = None
        self.header_capacity = 0
        self.header_data_capacity = 0
        self.header_keys = self.header_values = _NO_HEADERS

    def grow(self, capacity: int, rows: int) -> None:
        """Make room for `capacity` records, keeping the first `rows`. The memory for keys and values does not grow."""
        self.capacity = capacity
        self.offsets = _grown_int64(self.offsets, capacity, rows)
        self.timestamps = _grown_int64(self.timestamps, capacity, rows)
        if self.checksums is not None:
            self.checksums = _grown_int64(self.checksums, capacity, rows)
        self.keys.grow_rows(capacity, rows)
        self.values.grow_rows(capacity, rows)
        if self.header_ends is not None:
            ends = memoryview(bytearray((capacity + 1) * 4)).cast("i")
            ends[: rows + 1] = self.header_ends[: rows + 1]
            self.header_ends = ends

    def add_checksums(self, rows: int) -> None:
        """Start a column of checksums, with -1 for the `rows` existing records."""
        self.checksums = int64_column(self.capacity)
        self.checksums[:rows] = memoryview(b"\xff" * (8 * rows)).cast("q")

    def grow_headers(self, rows: int, keys_size: int, values_size: int, needed_size: int) -> None:
        """Make room for `needed_size` more bytes of encoded headers; at least double the room.

        A header takes at least two bytes, which bounds the number of headers.
        """
        if self.header_ends is None:
            self.header_keys, self.header_values = BinaryStorage(0, 0), BinaryStorage(0, 0)
            self.header_ends = memoryview(bytearray((self.capacity + 1) * 4)).cast("i")
        self.header_capacity = max(2 * self.header_capacity, rows + needed_size // 2 + 1)
        self.header_data_capacity = max(2 * self.header_data_capacity, max(keys_size, values_size) + needed_size)
        self.header_keys.grow(self.header_capacity, self.header_data_capacity, rows, keys_size)
        self.header_values.grow(self.header_capacity, self.header_data_capacity, rows, values_size)
