"""From a writer's schema to readers that fill columns of the reader's."""

from __future__ import annotations

from kafka.formats.avro.byte_readers import (
    BytesReader,
    DecimalReader,
    DurationReader,
    EnumReader,
    FixedReader,
    UuidReader,
)
from kafka.formats.avro.cursor import Reader
from kafka.formats.avro.extent import least_size, too_deep
from kafka.formats.avro.nested_readers import (
    BlockReader,
    ConstantReader,
    ImpossibleReader,
    MemberReader,
    RecordReader,
    UnionReader,
)
from kafka.formats.avro.number_readers import (
    BooleanReader,
    DoubleReader,
    FloatReader,
    IntReader,
    LongAsDoubleReader,
    LongAsFloatReader,
    LongReader,
    NullReader,
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
from kafka.formats.avro.schema import Enum, Fixed, Primitive, Schema
from kafka.formats.avro.skipping import skipper
from kafka.formats.avro.types import Target
from kafka.formats.columns import ListColumn, StructColumn


def plan(writer: Schema, target: Target) -> Reader:
    """Make the reader of a writer's type that fills a target.

    Raises:
        AvroResolutionError: the writer's type does not resolve to the reader's.
        AvroSchemaError: a default that is needed does not fit its field.
    """
    try:
        return _reader(resolve(writer, target.schema), target)
    except RecursionError:
        raise too_deep() from None


def _reader(resolved: Resolved, target: Target) -> Reader:
    """Make the reader of a part that fills a target."""
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
    """Read a writer's type as one branch of the reader's union."""
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
    writer, reader = resolved.writer, target.schema  # of a union of int and long, the column is of longs
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
    """Return the reader of a primitive type that resolves."""
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
