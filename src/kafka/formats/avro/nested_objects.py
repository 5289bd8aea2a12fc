# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Reads Avro records, unions, arrays, maps and defaults as objects.

Compiled with Cython; the plain variant behaves the same.
"""

from __future__ import annotations

from typing import Any

try:
    import cython
except ImportError:  # the plain variant needs no Cython
    from kafka import _cython as cython

from kafka.formats.avro.cursor import NO_INTEGER

if cython.compiled:
    from cython.cimports.kafka.formats.avro.cursor import Cursor, ObjectReader, Reader, read_count
    from cython.cimports.kafka.formats.avro.object_readers import read_text
    from cython.cimports.kafka.record.integers import read_varint
else:
    from kafka.formats.avro.cursor import Cursor, ObjectReader, Reader, read_count
    from kafka.formats.avro.object_readers import read_text
    from kafka.record.integers import read_varint


@cython.final
@cython.cclass
class RecordObject(ObjectReader):
    """Reads a record's fields in the writer's order, then adds the defaults of fields that only the reader has."""

    fields: list[ObjectReader]
    names: list[str]
    keys: list[Any]

    def read_fields(self, fields: list[ObjectReader], names: list[str], keys: list[Any]) -> None:
        """Set the field readers. This is not part of the constructor because types may be recursive.

        Args:
            fields: the reader of each field.
            names: the writer's field names, for errors.
            keys: the reader's field names; None for a field that is skipped.
        """
        self.fields, self.names, self.keys = fields, names, keys

    @cython.cfunc
    def read(self, cursor: Cursor) -> Any:
        index: cython.Py_ssize_t
        field: ObjectReader
        record: dict[str, Any] = {}
        cursor.depth += 1
        if cursor.is_too_deep():
            return cursor
        for index in range(len(self.fields)):
            field = cython.cast(ObjectReader, self.fields[index])
            value = field.read(cursor)
            if value is cursor:
                return cursor.refuse_in(f".{self.names[index]}")
            key = self.keys[index]
            if key is not None:
                record[key] = value
        cursor.depth -= 1
        return record


@cython.final
@cython.cclass
class UnionObject(ObjectReader):
    """Reads a branch index, and a value of that branch."""

    branches: list[ObjectReader]

    def __init__(self, branches: list[ObjectReader]) -> None:
        self.branches = branches

    @cython.cfunc
    def read(self, cursor: Cursor) -> Any:
        value: cython.longlong
        at: cython.Py_ssize_t
        branch: ObjectReader
        value, at = read_varint(cursor.data, cursor.at, cursor.end)
        if at < 0:
            return cursor.refuse(NO_INTEGER)
        if value < 0 or value >= len(self.branches):
            return cursor.refuse(f"expected the number of one of {len(self.branches)} branches of a union, got {value}")
        cursor.at = at
        branch = cython.cast(ObjectReader, self.branches[value])
        return branch.read(cursor)


@cython.final
@cython.cclass
class NamedObject(ObjectReader):
    """Reads a record in a union as a pair of its name and the record."""

    name: str
    record: ObjectReader

    def __init__(self, name: str, record: ObjectReader) -> None:
        self.name, self.record = name, record

    @cython.cfunc
    def read(self, cursor: Cursor) -> Any:
        value = self.record.read(cursor)
        return cursor if value is cursor else (self.name, value)


@cython.final
@cython.cclass
class ListObject(ObjectReader):
    """Reads the blocks of an array."""

    items: ObjectReader
    least_size: cython.Py_ssize_t

    def __init__(self, items: ObjectReader, least_size: cython.Py_ssize_t) -> None:
        self.items, self.least_size = items, least_size

    @cython.cfunc
    def read(self, cursor: Cursor) -> Any:
        count: cython.longlong
        _: cython.longlong
        made: list[Any] = []
        cursor.depth += 1
        if cursor.is_too_deep():
            return cursor
        while True:
            count = read_count(cursor, self.least_size)
            if count <= 0:
                break
            for _ in range(count):
                value = self.items.read(cursor)
                if value is cursor:
                    return cursor.refuse_in(f"[{len(made)}]")
                made.append(value)
        cursor.depth -= 1
        return cursor if count < 0 else made


@cython.final
@cython.cclass
class MapObject(ObjectReader):
    """Reads the blocks of a map."""

    values: ObjectReader

    def __init__(self, values: ObjectReader) -> None:
        self.values = values

    @cython.cfunc
    def read(self, cursor: Cursor) -> Any:
        count: cython.longlong
        _: cython.longlong
        made: dict[str, Any] = {}
        cursor.depth += 1
        if cursor.is_too_deep():
            return cursor
        while True:
            count = read_count(cursor, 1)
            if count <= 0:
                break
            for _ in range(count):
                key = read_text(cursor)
                if key is cursor:
                    return cursor.refuse_in("{key}")
                value = self.values.read(cursor)
                if value is cursor:
                    return cursor.refuse_in(f"[{key!r:.60}]")
                made[key] = value
        cursor.depth -= 1
        return cursor if count < 0 else made


@cython.final
@cython.cclass
class ConstantObject(ObjectReader):
    """Returns a default without reading from the value. Immutable defaults are decoded once, others each time."""

    reader: ObjectReader
    encoded: bytes
    value: Any
    is_kept: cython.bint

    def __init__(self, reader: ObjectReader, encoded: bytes) -> None:
        self.reader, self.encoded = reader, encoded
        self.value = None
        self.is_kept = False

    @cython.cfunc
    def read(self, cursor: Cursor) -> Any:
        source: Cursor
        if self.is_kept:
            return self.value
        source = Cursor(self.encoded)
        source.depth = cursor.depth
        value = self.reader.read(source)
        if value is source:
            return cursor.refuse(source.failure())
        if not isinstance(value, (dict, list, tuple)):
            self.value = value
            self.is_kept = True
        return value


@cython.final
@cython.cclass
class SkippedObject(ObjectReader):
    """Skips a value that the reader's schema lacks."""

    skipper: Reader

    def __init__(self, skipper: Reader) -> None:
        self.skipper = skipper

    @cython.cfunc
    def read(self, cursor: Cursor) -> Any:
        return cursor if self.skipper.read(cursor) else None


@cython.final
@cython.cclass
class ImpossibleObject(ObjectReader):
    """Fails for a branch of the writer's union that does not resolve to the reader's schema."""

    reason: str

    def __init__(self, reason: str) -> None:
        self.reason = reason

    @cython.cfunc
    def read(self, cursor: Cursor) -> Any:
        return cursor.refuse(self.reason)
