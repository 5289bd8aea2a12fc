"""Decodes Avro values into an Arrow column, with a tree of readers for each writer's schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from kafka.formats.arrow_arrays import array_of, binary_buffers
from kafka.formats.avro.arrow_types import Target, target_of
from kafka.formats.avro.cursor import Reader
from kafka.formats.avro.nested_readers import (
    BlockReader,
    ConstantReader,
    ImpossibleReader,
    MemberReader,
    RecordReader,
    UnionReader,
)
from kafka.formats.avro.resolution import (
    Branches,
    Entries,
    Fields,
    Into,
    Items,
    Leaf,
    Resolved,
    int_bounds,
    long_bounds,
    resolve,
)
from kafka.formats.avro.rows import read_rows
from kafka.formats.avro.scalar_readers import (
    BooleanReader,
    BytesReader,
    DecimalReader,
    DoubleReader,
    DurationReader,
    EnumReader,
    FixedReader,
    FloatReader,
    IntReader,
    LongAsDoubleReader,
    LongAsFloatReader,
    LongReader,
    NullReader,
    UuidReader,
)
from kafka.formats.avro.schema import Enum, Fixed, Primitive, Schema
from kafka.formats.avro.size_limits import least_size, too_deep
from kafka.formats.avro.skippers import skipper
from kafka.formats.bad_values import BadValue, bad_value, id_at
from kafka.formats.column_builders import ListColumn, StructColumn


def plan(writer: Schema, target: Target) -> Reader:
    """Make a reader that reads values of a writer's type into a target.

    Raises:
        AvroResolutionError: the writer's type does not resolve to the reader's.
        AvroSchemaError: a required default does not fit its field.
    """
    try:
        return _reader(resolve(writer, target.schema), target)
    except RecursionError:
        raise too_deep() from None


def _reader(resolved: Resolved, target: Target) -> Reader:
    """Make a reader that reads values of a resolved type into a target."""
    if isinstance(resolved, Leaf):
        return _leaf(resolved, target)
    if isinstance(resolved, Branches):
        return UnionReader([_reader(branch, target) for branch in resolved.branches])
    if isinstance(resolved, Into):
        return _into(resolved, target)
    if isinstance(resolved, Fields):
        return _record(resolved, target)
    if isinstance(resolved, Items):
        items = _reader(resolved.items, target.parts[0])
        return BlockReader(target.column, items, None, None, least_size(resolved.writer.items))
    if isinstance(resolved, Entries):
        keys, values = target.parts
        assert isinstance(target.column, ListColumn)
        entries = target.column.items
        return BlockReader(target.column, _reader(resolved.values, values), BytesReader(keys.column, True), entries, 1)
    return ImpossibleReader(resolved.reason)


def _into(resolved: Into, target: Target) -> Reader:
    """Make a reader that reads a writer's type as one branch of the reader's union."""
    part = target.parts[resolved.number]
    if part.schema.kind == "null":
        return NullReader(target.column)
    made = _reader(resolved.value, part)
    if part.column is target.column:
        return made
    column = target.column
    assert isinstance(column, StructColumn)
    return MemberReader(column, made, [field is part.column for field in column.fields].index(True))


def _record(resolved: Fields, target: Target) -> Reader:
    steps: list[Reader] = []
    names = []
    skippers: dict[str, Reader] = {}
    for step in resolved.steps:
        names.append(step.written)
        if step.number is None or step.value is None:
            steps.append(skipper(step.type, skippers))
        else:
            steps.append(_reader(step.value, target.parts[step.number]))
    for default in resolved.defaults:
        names.append(resolved.reader.fields[default.number].name)
        steps.append(ConstantReader(_reader(default.value, target.parts[default.number]), default.encoded))
    return RecordReader(target.column, steps, names)


def _leaf(resolved: Leaf, target: Target) -> Reader:
    writer, reader = resolved.writer, target.schema  # a union of int and long has a column of longs
    if isinstance(writer, Enum) and isinstance(reader, Enum):
        return _enum(writer, reader, target)
    if isinstance(reader, Fixed):
        return _fixed(reader, target)
    assert isinstance(writer, Primitive)
    assert isinstance(reader, Primitive)
    return _primitive(writer, reader, target)


def _enum(writer: Enum, reader: Enum, target: Target) -> Reader:
    texts = [symbol.encode() for symbol in reader.symbols]
    ends = [0]
    for text in texts:
        ends.append(ends[-1] + len(text))
    fallback = reader.symbols.index(reader.default) if reader.default is not None else -1
    targets = [reader.symbols.index(each) if each in reader.symbols else fallback for each in writer.symbols]
    return EnumReader(target.column, _ints(targets), _ints(ends), b"".join(texts), writer.symbols)


def _ints(numbers: list[int]) -> memoryview:
    """Return numbers as an int32 buffer."""
    made = memoryview(bytearray(4 * max(len(numbers), 1))).cast("i")
    for at, number in enumerate(numbers):
        made[at] = number
    return made


def _fixed(reader: Fixed, target: Target) -> Reader:
    logical = reader.logical
    if logical is None:
        return FixedReader(target.column)
    if logical.name == "decimal":
        return DecimalReader(target.column, reader.size, logical.precision)
    return UuidReader(target.column) if logical.name == "uuid" else DurationReader(target.column)


def _primitive(writer: Primitive, reader: Primitive, target: Target) -> Reader:
    """Return the reader for a resolved primitive type."""
    column, kind = target.column, reader.kind
    if reader.logical is not None and reader.logical.name == "decimal":
        return DecimalReader(column, -1, reader.logical.precision)
    if kind == "null":
        return NullReader(column)
    if kind == "boolean":
        return BooleanReader(column)
    if kind == "int":
        return IntReader(column, *int_bounds(reader))
    if kind == "long":
        return LongReader(column, *long_bounds(writer, reader))
    if kind == "float":
        return FloatReader(column) if writer.kind == "float" else LongAsFloatReader(column, writer.kind == "int")
    if kind == "double" and writer.kind in ("int", "long"):
        return LongAsDoubleReader(column, writer.kind == "int")
    if kind == "double":
        return DoubleReader(column, 4 if writer.kind == "float" else 8)
    return BytesReader(column, kind == "string")


class AvroColumnDecoder:
    """Decodes values into a column whose type comes from the reader's schema. Not thread-safe."""

    def __init__(self, reader: Schema) -> None:
        """Make the column.

        Raises:
            AvroSchemaError: the reader's schema has no column type.
        """
        self._target = target_of(reader)
        self._readers: dict[int | None, Reader] = {}
        self._by_guid: dict[str, Reader] = {}

    @property
    def type(self) -> pa.DataType:
        """The column's type."""
        return self._target.arrow

    def use(self, schema_id: int | None, writer: Schema) -> None:
        """Set the writer's schema for values with a schema id, or for unframed values if the id is None.

        Raises:
            AvroResolutionError: values of the writer's schema cannot be read with the reader's schema.
        """
        self._readers[schema_id] = plan(writer, self._target)

    def decode(
        self,
        values: Any,
        *,
        framed: bool,
        find: Callable[[Any], Schema] | None = None,
        guids: Mapping[int, str] | None = None,
    ) -> tuple[Any, list[BadValue]]:
        """Decode values; null stays null.

        Args:
            values: a `pyarrow.BinaryArray`.
            framed: whether each value begins with a zero byte and the schema id in four bytes.
            find: called with an id that was not set by `use`; returns the writer's schema. If it raises ValueError or
                LookupError, values with that id are reported as bad values, with the error as the cause; other errors
                propagate.
            guids: maps the numbers that replace ids in the prefixes of these values to schema GUIDs; `find` receives
                the GUID.

        Returns:
            The column, with one row per value, and the values that could not be decoded.

        Raises:
            OverflowError: the column would exceed 2 GiB.
        """
        data, ends, valid, has_nulls = binary_buffers(values)
        readers = dict(self._readers)
        for number, guid in (guids or {}).items():
            if guid in self._by_guid:
                readers[number] = self._by_guid[guid]
            else:
                readers.pop(number, None)
        failures: list[tuple[int, str | None, str]] = []
        row = 0
        try:
            while True:
                row = read_rows(readers, self._target.column, data, ends, valid, has_nulls, row, framed, failures)
                if row == len(values):
                    break
                schema_id = id_at(data, ends[row])
                readers[schema_id] = self._found(schema_id, find, (guids or {}).get(schema_id))
            column = array_of(self._target.column, self._target.arrow)
        except BaseException:
            self._target.column.take()
            raise
        return column, [bad_value(data, ends, *failure, framed) for failure in failures]

    def _found(self, schema_id: int, find: Callable[[Any], Schema] | None, guid: str | None) -> Reader:
        """Return the reader for values of a new schema, and cache it if the schema was found."""
        if find is None:
            return ImpossibleReader(f"there is no schema with the id {schema_id}")
        try:
            reader = plan(find(schema_id if guid is None else guid), self._target)
        except (ValueError, LookupError) as error:
            return ImpossibleReader(str(error))
        if guid is None:
            self._readers[schema_id] = reader
        else:
            self._by_guid[guid] = reader
        return reader
