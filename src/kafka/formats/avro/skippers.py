# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Skips Avro values that the reader's schema lacks.

Compiled with Cython; the plain variant behaves the same.
"""

from __future__ import annotations

try:
    import cython
except ImportError:  # the plain variant needs no Cython
    from kafka import _cython as cython

from kafka.formats.avro.cursor import NO_INTEGER, TOO_SHORT
from kafka.formats.avro.nested_readers import UnionReader
from kafka.formats.avro.schema import Array, Enum, Fixed, Map, Primitive, Record, Schema, Union
from kafka.formats.avro.size_limits import least_size

if cython.compiled:
    from cython.cimports.kafka.formats.avro.cursor import Cursor, Reader, read_count, read_length
    from cython.cimports.kafka.record.integers import read_varint
else:
    from kafka.formats.avro.cursor import Cursor, Reader, read_count, read_length
    from kafka.record.integers import read_varint

BAD = cython.declare(cython.int, 1)
"""Returned by a reader for bytes that are not a value of its type."""


@cython.final
@cython.cclass
class SizeSkipper(Reader):
    """Skips a fixed number of bytes."""

    size: cython.Py_ssize_t

    def __init__(self, size: cython.Py_ssize_t) -> None:
        self.size = size

    @cython.cfunc
    @cython.exceptval(-1)
    def read(self, cursor: Cursor) -> cython.int:
        if cursor.end - cursor.at < self.size:
            return cursor.fail(TOO_SHORT)
        cursor.at += self.size
        return 0


@cython.final
@cython.cclass
class IntegerSkipper(Reader):
    """Skips an int, a long or an enum index."""

    @cython.cfunc
    @cython.exceptval(-1)
    def read(self, cursor: Cursor) -> cython.int:
        value: cython.longlong
        at: cython.Py_ssize_t
        value, at = read_varint(cursor.data, cursor.at, cursor.end)  # noqa: RUF059
        if at < 0:
            return cursor.fail(NO_INTEGER)
        cursor.at = at
        return 0


@cython.final
@cython.cclass
class BytesSkipper(Reader):
    """Skips bytes or a string."""

    @cython.cfunc
    @cython.exceptval(-1)
    def read(self, cursor: Cursor) -> cython.int:
        size: cython.Py_ssize_t = read_length(cursor)
        if size < 0:
            return BAD
        cursor.at += size
        return 0


@cython.final
@cython.cclass
class BlockSkipper(Reader):
    """Skips an array, or a map including its keys."""

    items: Reader
    is_map: cython.bint
    least_size: cython.Py_ssize_t
    keys: BytesSkipper

    def __init__(self, is_map: cython.bint, least_size: cython.Py_ssize_t) -> None:
        self.is_map, self.least_size = is_map, least_size
        self.keys = BytesSkipper()

    def skip_items(self, items: Reader) -> None:
        """Set the skipper for items. This is not part of the constructor because types may be recursive."""
        self.items = items

    @cython.cfunc
    @cython.exceptval(-1)
    def read(self, cursor: Cursor) -> cython.int:
        count: cython.longlong
        _: cython.longlong
        cursor.depth += 1
        if cursor.is_too_deep():
            return BAD
        while True:
            count = read_count(cursor, self.least_size)
            if count < 0:
                return BAD
            if count == 0:
                cursor.depth -= 1
                return 0
            for _ in range(count):
                if self.is_map and self.keys.read(cursor):
                    return BAD
                if self.items.read(cursor):
                    return BAD


@cython.final
@cython.cclass
class SequenceSkipper(Reader):
    """Skips the fields of a record in order."""

    fields: list[Reader]

    def __init__(self) -> None:
        self.fields = []

    def skip_fields(self, fields: list[Reader]) -> None:
        """Set the field skippers. This is not part of the constructor because types may be recursive."""
        self.fields = fields

    @cython.cfunc
    @cython.exceptval(-1)
    def read(self, cursor: Cursor) -> cython.int:
        field: Reader
        cursor.depth += 1
        if cursor.is_too_deep():
            return BAD
        for field in self.fields:
            if field.read(cursor):
                return BAD
        cursor.depth -= 1
        return 0


def skipper(schema: Schema, made: dict[str, Reader]) -> Reader:
    """Make the skipper for a type; `made` caches the record skippers, as records may be recursive."""
    if isinstance(schema, Primitive):
        if schema.kind in ("int", "long"):
            return IntegerSkipper()
        if schema.kind in ("bytes", "string"):
            return BytesSkipper()
        return SizeSkipper(least_size(schema))
    if isinstance(schema, Fixed):
        return SizeSkipper(schema.size)
    if isinstance(schema, Enum):
        return IntegerSkipper()
    if isinstance(schema, Union):
        return UnionReader([skipper(each, made) for each in schema.branches])
    if isinstance(schema, Record):
        if schema.name not in made:
            sequence = made[schema.name] = SequenceSkipper()
            sequence.skip_fields([skipper(field.type, made) for field in schema.fields])
        return made[schema.name]
    inner = schema.items if isinstance(schema, Array) else schema.values
    blocks = BlockSkipper(isinstance(schema, Map), least_size(inner) if isinstance(schema, Array) else 1)
    blocks.skip_items(skipper(inner, made))
    return blocks
