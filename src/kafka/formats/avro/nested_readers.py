# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Reads Avro records, unions, arrays, maps and defaults into columns. Compiled by Cython; the plain variant behaves the
same.
"""

from __future__ import annotations

try:
    import cython
except ImportError:  # the plain variant needs no Cython
    from kafka import _cython as cython

from kafka.formats.avro.cursor import NO_INTEGER

if cython.compiled:
    from cython.cimports.kafka.formats.avro.cursor import Cursor, Reader, read_count
    from cython.cimports.kafka.formats.column_builders import Column, ListColumn, StructColumn
    from cython.cimports.kafka.record.integers import read_varint
else:
    from kafka.formats.avro.cursor import Cursor, Reader, read_count
    from kafka.formats.column_builders import Column, ListColumn, StructColumn
    from kafka.record.integers import read_varint

BAD = cython.declare(cython.int, 1)
"""Returned by a reader for bytes that are not a value of its type."""


@cython.final
@cython.cclass
class RecordReader(Reader):
    """Reads a record's fields in the writer's order, then appends the defaults of fields that only the reader has."""

    column: StructColumn
    fields: list[Reader]
    names: list[str]

    def __init__(self, column: StructColumn, fields: list[Reader], names: list[str]) -> None:
        self.column, self.fields, self.names = column, fields, names

    @cython.cfunc
    @cython.exceptval(-1)
    def read(self, cursor: Cursor) -> cython.int:
        field: Reader
        index: cython.Py_ssize_t
        for index in range(len(self.fields)):
            field = self.fields[index]
            if field.read(cursor):
                return cursor.fail_in(f".{self.names[index]}")
        self.column.end_row()
        return 0


@cython.final
@cython.cclass
class UnionReader(Reader):
    """Reads a branch index, and a value of that branch."""

    branches: list[Reader]

    def __init__(self, branches: list[Reader]) -> None:
        self.branches = branches

    @cython.cfunc
    @cython.exceptval(-1)
    def read(self, cursor: Cursor) -> cython.int:
        value: cython.longlong
        at: cython.Py_ssize_t
        branch: Reader
        value, at = read_varint(cursor.data, cursor.at, cursor.end)
        if at < 0:
            return cursor.fail(NO_INTEGER)
        if value < 0 or value >= len(self.branches):
            return cursor.fail(f"expected the number of one of {len(self.branches)} branches of a union, got {value}")
        cursor.at = at
        branch = self.branches[value]
        return branch.read(cursor)


@cython.final
@cython.cclass
class MemberReader(Reader):
    """Reads a union branch into a struct with one field per branch; the fields of other branches become null."""

    column: StructColumn
    member: Reader
    index: cython.Py_ssize_t

    def __init__(self, column: StructColumn, member: Reader, index: cython.Py_ssize_t) -> None:
        self.column, self.member, self.index = column, member, index

    @cython.cfunc
    @cython.exceptval(-1)
    def read(self, cursor: Cursor) -> cython.int:
        other: Column
        index: cython.Py_ssize_t
        if self.member.read(cursor):
            return BAD
        for index in range(len(self.column.fields)):
            if index != self.index:
                other = self.column.fields[index]
                other.append_null()
        self.column.end_row()
        return 0


@cython.final
@cython.cclass
class BlockReader(Reader):
    """Reads the blocks of an array or a map. `items` reads an item; for maps, `keys` reads the key before it."""

    column: ListColumn
    items: Reader
    keys: Reader | None
    entries: StructColumn | None
    least_size: cython.Py_ssize_t

    def __init__(
        self,
        column: ListColumn,
        items: Reader,
        keys: Reader | None,
        entries: StructColumn | None,
        least_size: cython.Py_ssize_t,
    ) -> None:
        self.column, self.items, self.least_size = column, items, least_size
        self.keys = keys
        self.entries = entries

    @cython.cfunc
    @cython.exceptval(-1)
    def read(self, cursor: Cursor) -> cython.int:
        count: cython.longlong
        index: cython.longlong
        total: cython.longlong = 0
        while True:
            count = read_count(cursor, self.least_size)
            if count < 0:
                return BAD
            if count == 0:
                break
            for index in range(count):
                if self.keys is not None and self.keys.read(cursor):
                    return cursor.fail_in("{key}")
                if self.items.read(cursor):
                    return cursor.fail_in(f"[{total + index}]" if self.keys is None else "{}")
                if self.entries is not None:
                    self.entries.end_row()
            total += count
        self.column.end_list()
        return 0


@cython.final
@cython.cclass
class ConstantReader(Reader):
    """Appends a default, which is stored in encoded form, without reading from the value."""

    reader: Reader
    source: Cursor

    def __init__(self, reader: Reader, encoded: bytes) -> None:
        self.reader = reader
        self.source = Cursor(encoded)

    @cython.cfunc
    @cython.exceptval(-1)
    def read(self, cursor: Cursor) -> cython.int:
        self.source.begin(0)
        if self.reader.read(self.source):
            return cursor.fail(self.source.failure())
        return 0


@cython.final
@cython.cclass
class ImpossibleReader(Reader):
    """Fails for a branch of the writer's union that does not resolve to the reader's schema."""

    reason: str

    def __init__(self, reason: str) -> None:
        self.reason = reason

    @cython.cfunc
    @cython.exceptval(-1)
    def read(self, cursor: Cursor) -> cython.int:
        return cursor.fail(self.reason)
