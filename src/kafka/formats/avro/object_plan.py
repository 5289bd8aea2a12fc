"""Makes object readers from a writer's and a reader's schema, and object writers from one schema."""

from __future__ import annotations

from typing import Any

from kafka.formats.avro.cursor import ObjectReader, Reader
from kafka.formats.avro.defaults import encoded_default, zigzag
from kafka.formats.avro.encoder_output import ObjectWriter
from kafka.formats.avro.logical_writers import (
    DateWriter,
    DecimalWriter,
    DurationWriter,
    TextUuidWriter,
    TimestampWriter,
    TimeWriter,
    UuidWriter,
)
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
from kafka.formats.avro.nested_writers import ListWriter, MapWriter, OptionalWriter, RecordWriter, UnionWriter
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
from kafka.formats.avro.object_writers import (
    BooleanWriter,
    BytesWriter,
    DoubleWriter,
    EnumWriter,
    FixedWriter,
    FloatWriter,
    IntegerWriter,
    NullWriter,
    TextWriter,
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
from kafka.formats.avro.schema import (
    NO_DEFAULT,
    Array,
    Enum,
    Field,
    Fixed,
    Logical,
    Map,
    Named,
    Primitive,
    Record,
    Schema,
    Union,
)
from kafka.formats.avro.size_limits import least_size, too_deep
from kafka.formats.avro.skippers import skipper


def object_plan(writer: Schema, reader: Schema, *, return_record_name: bool = False) -> ObjectReader:
    """Make a reader that decodes the writer's type and returns objects of the reader's type.

    Args:
        return_record_name: return records in the writer's unions as pairs of their name and the record.

    Raises:
        AvroResolutionError: the writer's type does not resolve to the reader's.
        AvroSchemaError: a required default does not fit its field.
    """
    try:
        return _Planner(return_record_name).reader(resolve(writer, reader))
    except RecursionError:
        raise too_deep() from None


class _Planner:
    """Makes the readers for one pair of schemas; `records` caches the record readers, as records may be recursive."""

    def __init__(self, names_records: bool) -> None:
        self.names_records = names_records
        self.records: dict[int, RecordObject] = {}

    def reader(self, resolved: Resolved) -> ObjectReader:
        """Make the reader for a resolved type."""
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
    """Return the reader for a resolved primitive type."""
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
    """Return the reader for a logical type. Nanoseconds are read as integers, because Python has no type for them."""
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


class WriterPlan:
    """Makes the writers for one schema; records may be recursive."""

    def __init__(self, *, strict: bool, strict_allow_default: bool) -> None:
        self._strict, self._strict_allow_default = strict, strict_allow_default
        self._records: dict[str, RecordWriter] = {}

    def writer(self, schema: Schema) -> ObjectWriter:
        """Make the writer for a type.

        Raises:
            AvroSchemaError: a default does not fit its field.
        """
        if isinstance(schema, Primitive):
            return _primitive_writer(schema)
        if isinstance(schema, Fixed):
            return _fixed_writer(schema)
        if isinstance(schema, Enum):
            return EnumWriter(schema.symbols)
        if isinstance(schema, Array):
            return ListWriter(self.writer(schema.items))
        if isinstance(schema, Map):
            return MapWriter(self.writer(schema.values))
        return self._record(schema) if isinstance(schema, Record) else self._union(schema)

    def _union(self, schema: Union) -> ObjectWriter:
        kinds = [branch.kind for branch in schema.branches]
        names = [branch.name if isinstance(branch, Named) else branch.kind for branch in schema.branches]
        writers = [self.writer(branch) for branch in schema.branches]
        if len(writers) == 2 and kinds.count("null") == 1:
            null = kinds.index("null")
            return OptionalWriter(null, writers[1 - null], names[1 - null])
        return UnionWriter(writers, names, kinds, schema.label)

    def _record(self, schema: Record) -> ObjectWriter:
        if schema.name not in self._records:
            made = self._records[schema.name] = RecordWriter(schema.name, self._strict, self._strict_allow_default)
            made.write_fields(
                [field.name for field in schema.fields],
                [self.writer(field.type) for field in schema.fields],
                [default_bytes(field) for field in schema.fields],
                [is_nullable(field.type) for field in schema.fields],
            )
        return self._records[schema.name]


def default_bytes(field: Field) -> bytes | None:
    """Return a field's encoded default; None if it has none."""
    if field.default is NO_DEFAULT:
        return None
    branch, encoded = encoded_default(field)
    if isinstance(field.type, Union):
        return zigzag([each is branch for each in field.type.branches].index(True)) + encoded
    return encoded


def is_nullable(schema: Schema) -> bool:
    return schema.kind == "null" or (isinstance(schema, Union) and any(each.kind == "null" for each in schema.branches))


def _fixed_writer(schema: Fixed) -> ObjectWriter:
    raw, logical = FixedWriter(schema.size), schema.logical
    if logical is None:
        return raw
    if logical.name == "decimal":
        return DecimalWriter(schema.size, logical.precision, logical.scale, raw)
    return UuidWriter(raw) if logical.name == "uuid" else DurationWriter(raw)


_PRIMITIVE_WRITERS: dict[str, Any] = {
    "null": NullWriter,
    "boolean": BooleanWriter,
    "float": FloatWriter,
    "double": DoubleWriter,
    "bytes": BytesWriter,
    "string": TextWriter,
}


def _primitive_writer(schema: Primitive) -> ObjectWriter:
    raw: ObjectWriter = (
        _PRIMITIVE_WRITERS[schema.kind]() if schema.kind in _PRIMITIVE_WRITERS else IntegerWriter(schema.kind == "int")
    )
    return raw if schema.logical is None else _logical_writer(schema.logical, raw)


def _logical_writer(logical: Logical, raw: ObjectWriter) -> ObjectWriter:
    """Make the writer for a logical type; `raw` writes the underlying primitive type."""
    if logical.name == "decimal":
        return DecimalWriter(-1, logical.precision, logical.scale, raw)
    if logical.name == "uuid":
        return TextUuidWriter()
    if logical.name == "date":
        return DateWriter(raw)
    if logical.name.startswith("time-"):
        return TimeWriter(raw, 1_000_000 // units(logical))
    return TimestampWriter(raw, units(logical), logical.name.startswith("local-"))
