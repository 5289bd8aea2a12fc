"""From a writer's schema to readers that return objects of the reader's types."""

from __future__ import annotations

from kafka.formats.avro.cursor import ObjectReader, Reader
from kafka.formats.avro.nested_objects import (
    ConstantObject,
    ImpossibleObject,
    ListObject,
    MapObject,
    NamedObject,
    RecordObject,
    SkippedObject,
    UnionObject,
)
from kafka.formats.avro.object_readers import (
    BooleanObject,
    BytesObject,
    DateObject,
    DecimalObject,
    DoubleObject,
    DurationObject,
    EnumObject,
    FixedObject,
    FloatObject,
    IntegerObject,
    NullObject,
    TextObject,
    TextUuidObject,
    TimeObject,
    TimestampObject,
    UuidObject,
    WholeFloatObject,
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
    units,
)
from kafka.formats.avro.schema import Enum, Fixed, Logical, Primitive, Record, Schema
from kafka.formats.avro.size_limits import least_size, too_deep
from kafka.formats.avro.skippers import skipper


def object_plan(writer: Schema, reader: Schema, *, return_record_name: bool = False) -> ObjectReader:
    """Make the reader of a writer's type that returns objects of the reader's type.

    Args:
        return_record_name: records that the writer has in a union are pairs of their name and the record.

    Raises:
        AvroResolutionError: the writer's type does not resolve to the reader's.
        AvroSchemaError: a default that is needed does not fit its field.
    """
    try:
        return _Planner(return_record_name).reader(resolve(writer, reader))
    except RecursionError:
        raise too_deep() from None


class _Planner:
    """Makes the readers of one pair of schemas; `records` has those of records, which may contain themselves."""

    def __init__(self, names_records: bool) -> None:
        self.names_records = names_records
        self.records: dict[int, RecordObject] = {}

    def reader(self, resolved: Resolved) -> ObjectReader:
        """Make the reader of a part."""
        if isinstance(resolved, Leaf):
            return _leaf(resolved)
        if isinstance(resolved, Branches):
            branches = zip(resolved.writer.branches, resolved.branches, strict=True)
            return UnionObject([self._branch(branch, value) for branch, value in branches])
        if isinstance(resolved, Into):
            return self.reader(resolved.value)
        if isinstance(resolved, Fields):
            return self._record(resolved)
        if isinstance(resolved, Items):
            return ListObject(self.reader(resolved.items), least_size(resolved.writer.items))
        if isinstance(resolved, Entries):
            return MapObject(self.reader(resolved.values))
        return ImpossibleObject(resolved.reason)

    def _branch(self, branch: Schema, resolved: Resolved) -> ObjectReader:
        made = self.reader(resolved)
        if not self.names_records or not isinstance(branch, Record):
            return made
        into = resolved.reader.branches[resolved.number] if isinstance(resolved, Into) else branch
        return NamedObject(into.name, made) if isinstance(into, Record) else made

    def _record(self, resolved: Fields) -> ObjectReader:
        if id(resolved) in self.records:
            return self.records[id(resolved)]
        made = self.records[id(resolved)] = RecordObject()
        readers: list[ObjectReader] = []
        names: list[str] = []
        keys: list[str | None] = []
        skippers: dict[str, Reader] = {}
        for step in resolved.steps:
            names.append(step.written)
            if step.number is None or step.value is None:
                keys.append(None)
                readers.append(SkippedObject(skipper(step.type, skippers)))
            else:
                keys.append(resolved.reader.fields[step.number].name)
                readers.append(self.reader(step.value))
        for default in resolved.defaults:
            name = resolved.reader.fields[default.number].name
            names.append(name)
            keys.append(name)
            readers.append(ConstantObject(self.reader(default.value), default.encoded))
        made.read_fields(readers, names, keys)
        return made


def _leaf(resolved: Leaf) -> ObjectReader:
    writer, reader = resolved.writer, resolved.reader
    if isinstance(writer, Enum) and isinstance(reader, Enum):
        return EnumObject(
            writer.symbols, tuple(each if each in reader.symbols else reader.default for each in writer.symbols)
        )
    if isinstance(reader, Fixed):
        return _fixed(reader)
    assert isinstance(writer, Primitive)
    assert isinstance(reader, Primitive)
    if reader.logical is None:
        return _primitive(writer, reader)
    return _logical(writer, reader, reader.logical)


def _fixed(reader: Fixed) -> ObjectReader:
    logical = reader.logical
    if logical is None:
        return FixedObject(reader.size)
    if logical.name == "decimal":
        return DecimalObject(reader.size, logical.precision, logical.scale)
    return UuidObject() if logical.name == "uuid" else DurationObject()


def _primitive(writer: Primitive, reader: Primitive) -> ObjectReader:
    """Return the reader of a primitive type that resolves."""
    kind = reader.kind
    if kind == "null":
        return NullObject()
    if kind == "boolean":
        return BooleanObject()
    if kind == "int":
        return IntegerObject(*int_bounds(reader))
    if kind == "long":
        return IntegerObject(*long_bounds(writer, reader))
    if writer.kind in ("int", "long"):
        return WholeFloatObject(writer.kind == "int", kind == "float")
    if kind in ("float", "double"):
        return FloatObject() if writer.kind == "float" else DoubleObject()
    return TextObject() if kind == "string" else BytesObject()


def _logical(writer: Primitive, reader: Primitive, logical: Logical) -> ObjectReader:
    """Return the reader of a logical type; nanoseconds are numbers, as Python has no type for them."""
    if logical.name == "decimal":
        return DecimalObject(-1, logical.precision, logical.scale)
    if logical.name == "uuid":
        return TextUuidObject()
    count = _primitive(writer, reader)
    if logical.name == "date":
        return DateObject(count)
    per_second = units(logical)
    if logical.name.startswith("time-"):
        return TimeObject(count, 1_000_000 // per_second)
    if logical.name.endswith("-nanos"):
        return count
    return TimestampObject(count, per_second, logical.name.startswith("local-"))
