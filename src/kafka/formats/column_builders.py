# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Columns in Arrow's layout that decoders fill value by value. Compiled by Cython; the plain variant behaves the same.

A decoder appends a row's values to the leaf columns, then ends the row in their parent columns. If a row turns out to
be invalid, `truncate` removes it from all columns. `take` returns the memory as an Arrow array's buffers and leaves the
column empty for the next batch.
"""

from __future__ import annotations

from typing import Any

try:
    import cython
except ImportError:  # the plain variant needs no Cython
    from kafka import _cython as cython

from kafka.record.memory import allocate, cut

if cython.compiled:
    from cython.cimports.libc.string import memcpy, memset

_FIRST_ROOM = cython.declare(cython.Py_ssize_t, 256)
_MAX_DATA = cython.declare(cython.longlong, 0x7FFFFFFF)
"""Maximum end position in a column: Arrow uses 32 bits."""


def _larger(view: Any, used: int, size: int) -> memoryview:
    """Return a buffer of `size` bytes that begins with the first `used` bytes of a view."""
    grown = allocate(size)
    if used:
        grown[:used] = memoryview(view).cast("B")[:used]
    return grown


def _nothing(code: Any = "B") -> Any:
    """Return an empty `memoryview` with the given format."""
    return memoryview(bytearray(0)).cast(code)


@cython.cclass
class Column:
    """Base class: a column being filled, with its row count and null count."""

    def __init__(self) -> None:
        self.rows = self.nulls = self._room = 0
        self._valid = memoryview(bytearray(1))

    @cython.cfunc
    @cython.exceptval(-1)
    def _grow(self) -> cython.int:
        """Double the capacity for rows."""
        self._room = max(_FIRST_ROOM, 2 * self._room)
        if self.nulls > 0:
            self._valid = _larger(self._valid, (self.rows + 7) >> 3, (self._room + 7) >> 3)
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _begin_row(self) -> cython.int:
        """Count a non-null row whose value has already been stored."""
        row: cython.Py_ssize_t = self.rows
        if self.nulls > 0:
            self._valid[row >> 3] |= 1 << (row & 7)
        self.rows = row + 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _start_nulls(self) -> cython.int:
        """Create the validity bitmap of a column without nulls, with all rows valid."""
        view = allocate((self._room + 7) >> 3)
        used: cython.Py_ssize_t = (self.rows + 7) >> 3
        view[:used] = b"\xff" * used
        self._valid = view
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _set_null(self) -> cython.int:
        """Count a null row. The caller must have made room for it."""
        row: cython.Py_ssize_t = self.rows
        if self.nulls == 0:
            self._start_nulls()
        self._valid[row >> 3] &= ~(1 << (row & 7)) & 255
        self.nulls += 1
        self.rows = row + 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def append_null(self) -> cython.int:
        """Append a null."""
        raise NotImplementedError

    @cython.cfunc
    @cython.exceptval(-1)
    def truncate(self, rows: cython.Py_ssize_t) -> cython.int:
        """Remove all rows after the first `rows`."""
        row: cython.Py_ssize_t
        if self.nulls > 0:
            for row in range(rows, self.rows):
                if not (self._valid[row >> 3] >> (row & 7)) & 1:
                    self.nulls -= 1
        self.rows = rows
        return 0

    def _take_valid(self) -> Any:
        """Return the validity bitmap, or None if all rows are valid, and reset the rows."""
        valid = cut(memoryview(self._valid), (self.rows + 7) >> 3) if self.nulls > 0 else None
        self._valid = memoryview(bytearray(1))
        self.rows = self.nulls = self._room = 0
        return valid

    def take(self) -> Taken:
        """Return the memory for an Arrow array, and reset the column."""
        raise NotImplementedError


class Taken:
    """The memory of a column: arguments of `pyarrow.Array.from_buffers`, including the child columns."""

    __slots__ = ("buffers", "children", "nulls", "rows")

    def __init__(self, rows: int, nulls: int, buffers: list[Any], children: list[Taken]) -> None:
        self.rows, self.nulls, self.buffers, self.children = rows, nulls, buffers, children


@cython.final
@cython.cclass
class NullColumn(Column):
    """A column that contains only nulls."""

    @cython.cfunc
    @cython.exceptval(-1)
    def append_null(self) -> cython.int:
        """Append a null."""
        self.rows += 1
        self.nulls += 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def truncate(self, rows: cython.Py_ssize_t) -> cython.int:
        """Remove all rows after the first `rows`."""
        self.rows = self.nulls = rows
        return 0

    def take(self) -> Taken:
        """See `Column.take`."""
        rows = self.rows
        self.rows = self.nulls = 0
        return Taken(rows, rows, [None], [])


@cython.final
@cython.cclass
class BooleanColumn(Column):
    """Booleans, one bit each."""

    def __init__(self) -> None:
        Column.__init__(self)
        self._values = _nothing("B")

    @cython.cfunc
    @cython.exceptval(-1)
    def _grow(self) -> cython.int:
        used: cython.Py_ssize_t = (self.rows + 7) >> 3
        Column._grow(self)
        self._values = _larger(self._values, used, (self._room + 7) >> 3)
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def append(self, value: cython.bint) -> cython.int:
        """Append a value."""
        row: cython.Py_ssize_t = self.rows
        if row == self._room:
            self._grow()
        if value:
            self._values[row >> 3] |= 1 << (row & 7)
        else:
            self._values[row >> 3] &= ~(1 << (row & 7)) & 255
        self._begin_row()
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def append_null(self) -> cython.int:
        """Append a null."""
        if self.rows == self._room:
            self._grow()
        self._values[self.rows >> 3] &= ~(1 << (self.rows & 7)) & 255
        self._set_null()
        return 0

    def take(self) -> Taken:
        """See `Column.take`."""
        rows, nulls = self.rows, self.nulls
        values = cut(memoryview(self._values), (rows + 7) >> 3) if rows else memoryview(b"")
        self._values = _nothing("B")
        return Taken(rows, nulls, [self._take_valid(), values], [])


@cython.final
@cython.cclass
class Int32Column(Column):
    """32-bit integers."""

    def __init__(self) -> None:
        Column.__init__(self)
        self._values = _nothing("i")

    @cython.cfunc
    @cython.exceptval(-1)
    def _grow(self) -> cython.int:
        used: cython.Py_ssize_t = self.rows * 4
        Column._grow(self)
        self._values = _larger(self._values, used, self._room * 4).cast("i")
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def append(self, value: cython.int) -> cython.int:
        """Append a value."""
        if self.rows == self._room:
            self._grow()
        self._values[self.rows] = value
        self._begin_row()
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def append_null(self) -> cython.int:
        """Append a null."""
        if self.rows == self._room:
            self._grow()
        self._values[self.rows] = 0
        self._set_null()
        return 0

    def take(self) -> Taken:
        """See `Column.take`."""
        rows, nulls = self.rows, self.nulls
        values = cut(memoryview(self._values).cast("B"), rows * 4) if rows else memoryview(b"")
        self._values = _nothing("i")
        return Taken(rows, nulls, [self._take_valid(), values], [])


@cython.final
@cython.cclass
class Int64Column(Column):
    """64-bit integers."""

    def __init__(self) -> None:
        Column.__init__(self)
        self._values = _nothing("q")

    @cython.cfunc
    @cython.exceptval(-1)
    def _grow(self) -> cython.int:
        used: cython.Py_ssize_t = self.rows * 8
        Column._grow(self)
        self._values = _larger(self._values, used, self._room * 8).cast("q")
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def append(self, value: cython.longlong) -> cython.int:
        """Append a value."""
        if self.rows == self._room:
            self._grow()
        self._values[self.rows] = value
        self._begin_row()
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def append_null(self) -> cython.int:
        """Append a null."""
        if self.rows == self._room:
            self._grow()
        self._values[self.rows] = 0
        self._set_null()
        return 0

    def take(self) -> Taken:
        """See `Column.take`."""
        rows, nulls = self.rows, self.nulls
        values = cut(memoryview(self._values).cast("B"), rows * 8) if rows else memoryview(b"")
        self._values = _nothing("q")
        return Taken(rows, nulls, [self._take_valid(), values], [])


@cython.final
@cython.cclass
class FloatColumn(Column):
    """32-bit floating-point numbers."""

    def __init__(self) -> None:
        Column.__init__(self)
        self._values = _nothing("f")

    @cython.cfunc
    @cython.exceptval(-1)
    def _grow(self) -> cython.int:
        used: cython.Py_ssize_t = self.rows * 4
        Column._grow(self)
        self._values = _larger(self._values, used, self._room * 4).cast("f")
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def append(self, value: cython.float) -> cython.int:
        """Append a value."""
        if self.rows == self._room:
            self._grow()
        self._values[self.rows] = value
        self._begin_row()
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def append_null(self) -> cython.int:
        """Append a null."""
        if self.rows == self._room:
            self._grow()
        self._values[self.rows] = 0
        self._set_null()
        return 0

    def take(self) -> Taken:
        """See `Column.take`."""
        rows, nulls = self.rows, self.nulls
        values = cut(memoryview(self._values).cast("B"), rows * 4) if rows else memoryview(b"")
        self._values = _nothing("f")
        return Taken(rows, nulls, [self._take_valid(), values], [])


@cython.final
@cython.cclass
class DoubleColumn(Column):
    """64-bit floating-point numbers."""

    def __init__(self) -> None:
        Column.__init__(self)
        self._values = _nothing("d")

    @cython.cfunc
    @cython.exceptval(-1)
    def _grow(self) -> cython.int:
        used: cython.Py_ssize_t = self.rows * 8
        Column._grow(self)
        self._values = _larger(self._values, used, self._room * 8).cast("d")
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def append(self, value: cython.double) -> cython.int:
        """Append a value."""
        if self.rows == self._room:
            self._grow()
        self._values[self.rows] = value
        self._begin_row()
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def append_null(self) -> cython.int:
        """Append a null."""
        if self.rows == self._room:
            self._grow()
        self._values[self.rows] = 0
        self._set_null()
        return 0

    def take(self) -> Taken:
        """See `Column.take`."""
        rows, nulls = self.rows, self.nulls
        values = cut(memoryview(self._values).cast("B"), rows * 8) if rows else memoryview(b"")
        self._values = _nothing("d")
        return Taken(rows, nulls, [self._take_valid(), values], [])


@cython.final
@cython.cclass
class BytesColumn(Column):
    """Bytes, or UTF-8 strings."""

    def __init__(self) -> None:
        Column.__init__(self)
        self._data_room = self.data_size = 0
        self._ends, self._data = _nothing("i"), _nothing()

    @cython.cfunc
    @cython.exceptval(-1)
    def _grow(self) -> cython.int:
        used: cython.Py_ssize_t = (self.rows + 1) * 4 if self._room else 0
        Column._grow(self)
        self._ends = _larger(self._ends, used, (self._room + 1) * 4).cast("i")
        self._ends[0] = 0
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _reserve(self, size: cython.Py_ssize_t) -> cython.int:
        """Make room for `size` more bytes."""
        needed: cython.longlong = self.data_size + size
        if needed > _MAX_DATA:
            raise OverflowError("A column of one batch cannot have more than 2 GiB: decode fewer records at once")
        if needed > self._data_room:
            self._data_room = min(max(4096, 2 * self._data_room, needed), _MAX_DATA)
            self._data = _larger(self._data, self.data_size, self._data_room)
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def append(
        self,
        source: cython.const[cython.uchar][::1],  # type: ignore[valid-type]
        start: cython.Py_ssize_t,
        size: cython.Py_ssize_t,
    ) -> cython.int:
        """Append `size` bytes of a source; the caller has checked the bounds."""
        if self.rows == self._room:
            self._grow()
        if size > self._data_room - self.data_size:
            self._reserve(size)
        if size > 0:
            if cython.compiled:
                memcpy(cython.address(self._data[self.data_size]), cython.address(source[start]), size)
            else:
                self._data[self.data_size : self.data_size + size] = source[start : start + size]
        self.data_size += size
        self._ends[self.rows + 1] = self.data_size
        self._begin_row()
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def append_null(self) -> cython.int:
        """Append a null."""
        if self.rows == self._room:
            self._grow()
        self._ends[self.rows + 1] = self.data_size
        self._set_null()
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def truncate(self, rows: cython.Py_ssize_t) -> cython.int:
        """Remove all rows after the first `rows`."""
        Column.truncate(self, rows)
        self.data_size = self._ends[rows] if self._room else 0
        return 0

    def take(self) -> Taken:
        """See `Column.take`."""
        rows, nulls = self.rows, self.nulls
        ends = cut(memoryview(self._ends).cast("B"), (rows + 1) * 4) if rows else memoryview(bytes(4))
        data = cut(memoryview(self._data), self.data_size) if self.data_size else memoryview(b"")
        self._ends, self._data = _nothing("i"), _nothing()
        self._data_room = self.data_size = 0
        return Taken(rows, nulls, [self._take_valid(), ends, data], [])


@cython.final
@cython.cclass
class FixedColumn(Column):
    """Values of `width` bytes each: bytes, or little-endian two's complement numbers."""

    def __init__(self, width: cython.Py_ssize_t) -> None:
        Column.__init__(self)
        self.width = width
        self._data = _nothing()

    @cython.cfunc
    @cython.exceptval(-1)
    def _grow(self) -> cython.int:
        used: cython.Py_ssize_t = self.rows * self.width
        Column._grow(self)
        self._data = _larger(self._data, used, max(self._room * self.width, 1))
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def append(self, source: cython.const[cython.uchar][::1], start: cython.Py_ssize_t) -> cython.int:  # type: ignore[valid-type]
        """Append `width` bytes of a source; the caller has checked the bounds."""
        at: cython.Py_ssize_t = self.rows * self.width
        if self.rows == self._room:
            self._grow()
        if self.width > 0:
            if cython.compiled:
                memcpy(cython.address(self._data[at]), cython.address(source[start]), self.width)
            else:
                self._data[at : at + self.width] = source[start : start + self.width]
        self._begin_row()
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def append_number(
        self,
        source: cython.const[cython.uchar][::1],  # type: ignore[valid-type]
        start: cython.Py_ssize_t,
        size: cython.Py_ssize_t,
    ) -> cython.int:
        """Append a big-endian two's complement number of at most `width` bytes."""
        at: cython.Py_ssize_t = self.rows * self.width
        index: cython.Py_ssize_t
        fill: cython.uchar = 255 if size > 0 and source[start] >= 128 else 0
        if self.rows == self._room:
            self._grow()
        for index in range(size):
            self._data[at + index] = source[start + size - 1 - index]
        for index in range(size, self.width):
            self._data[at + index] = fill
        self._begin_row()
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def append_null(self) -> cython.int:
        """Append a null."""
        at: cython.Py_ssize_t = self.rows * self.width
        if self.rows == self._room:
            self._grow()
        if self.width > 0:
            if cython.compiled:
                memset(cython.address(self._data[at]), 0, self.width)
            else:
                self._data[at : at + self.width] = bytes(self.width)
        self._set_null()
        return 0

    def take(self) -> Taken:
        """See `Column.take`."""
        rows, nulls = self.rows, self.nulls
        data = cut(memoryview(self._data), rows * self.width) if rows else memoryview(b"")
        self._data = _nothing()
        return Taken(rows, nulls, [self._take_valid(), data], [])


@cython.final
@cython.cclass
class ListColumn(Column):
    """Lists; another column contains their items. A map is a list of structs that each have a key and a value."""

    def __init__(self, items: Column) -> None:
        Column.__init__(self)
        self.items = items
        self._ends = _nothing("i")

    @cython.cfunc
    @cython.exceptval(-1)
    def _grow(self) -> cython.int:
        used: cython.Py_ssize_t = (self.rows + 1) * 4 if self._room else 0
        Column._grow(self)
        self._ends = _larger(self._ends, used, (self._room + 1) * 4).cast("i")
        self._ends[0] = 0
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def end_list(self) -> cython.int:
        """Append a list that contains all items appended since the last list."""
        if self.rows == self._room:
            self._grow()
        if self.items.rows > _MAX_DATA:
            raise OverflowError("A column of one batch cannot have more than 2,147,483,647 items: decode fewer at once")
        self._ends[self.rows + 1] = self.items.rows
        self._begin_row()
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def append_null(self) -> cython.int:
        """Append a null."""
        if self.rows == self._room:
            self._grow()
        self._ends[self.rows + 1] = self._ends[self.rows]
        self._set_null()
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def truncate(self, rows: cython.Py_ssize_t) -> cython.int:
        """Remove all rows after the first `rows`, and the items of an unfinished list."""
        Column.truncate(self, rows)
        self.items.truncate(self._ends[rows] if self._room else 0)
        return 0

    def take(self) -> Taken:
        """See `Column.take`."""
        rows, nulls = self.rows, self.nulls
        ends = cut(memoryview(self._ends).cast("B"), (rows + 1) * 4) if rows else memoryview(bytes(4))
        self._ends = _nothing("i")
        return Taken(rows, nulls, [self._take_valid(), ends], [self.items.take()])


@cython.final
@cython.cclass
class StructColumn(Column):
    """Structs; each field is a separate column."""

    def __init__(self, fields: list[Column]) -> None:
        Column.__init__(self)
        self.fields = fields

    @cython.cfunc
    @cython.exceptval(-1)
    def end_row(self) -> cython.int:
        """Append a struct that consists of the values appended to the fields."""
        if self.rows == self._room:
            self._grow()
        self._begin_row()
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def append_null(self) -> cython.int:
        """Append a null to this column and to each field."""
        field: Column
        if self.rows == self._room:
            self._grow()
        for field in self.fields:
            field.append_null()
        self._set_null()
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def truncate(self, rows: cython.Py_ssize_t) -> cython.int:
        """Remove all rows after the first `rows`, and the fields of an unfinished row."""
        field: Column
        Column.truncate(self, rows)
        for field in self.fields:
            field.truncate(rows)
        return 0

    def take(self) -> Taken:
        """See `Column.take`."""
        rows, nulls = self.rows, self.nulls
        return Taken(rows, nulls, [self._take_valid()], [field.take() for field in self.fields])
