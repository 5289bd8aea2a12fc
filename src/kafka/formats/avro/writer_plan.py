"""From a schema to writers of objects."""

from __future__ import annotations

from typing import Any

from kafka.formats.avro.defaults import encoded_default, zigzag
from kafka.formats.avro.logical_writers import (
    DateWriter,
    DecimalWriter,
    DurationWriter,
    TextUuidWriter,
    TimestampWriter,
    TimeWriter,
    UuidWriter,
)
from kafka.formats.avro.nested_writers import ListWriter, MapWriter, OptionalWriter, RecordWriter, UnionWriter
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
from kafka.formats.avro.output import ObjectWriter
from kafka.formats.avro.resolution import units
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


class WriterPlan:
    """Makes the writers of one schema; records may contain themselves."""

    def __init__(self, *, strict: bool, strict_allow_default: bool) -> None:
        self._strict, self._strict_allow_default = strict, strict_allow_default
        self._records: dict[str, RecordWriter] = {}

    def writer(self, schema: Schema) -> ObjectWriter:
        """Make the writer of a type.

        Raises:
            AvroSchemaError: a default does not fit its field.
        """
        if isinstance(schema, Primitive):
            return _primitive(schema)
        if isinstance(schema, Fixed):
            return _fixed(schema)
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
    """Return a field's default as it is written, None if it has none."""
    if field.default is NO_DEFAULT:
        return None
    branch, encoded = encoded_default(field)
    if isinstance(field.type, Union):
        return zigzag([each is branch for each in field.type.branches].index(True)) + encoded
    return encoded


def is_nullable(schema: Schema) -> bool:
    return schema.kind == "null" or (isinstance(schema, Union) and any(each.kind == "null" for each in schema.branches))


def _fixed(schema: Fixed) -> ObjectWriter:
    raw, logical = FixedWriter(schema.size), schema.logical
    if logical is None:
        return raw
    if logical.name == "decimal":
        return DecimalWriter(schema.size, logical.precision, logical.scale, raw)
    return UuidWriter(raw) if logical.name == "uuid" else DurationWriter(raw)


_PLAIN: dict[str, Any] = {
    "null": NullWriter,
    "boolean": BooleanWriter,
    "float": FloatWriter,
    "double": DoubleWriter,
    "bytes": BytesWriter,
    "string": TextWriter,
}


def _primitive(schema: Primitive) -> ObjectWriter:
    raw: ObjectWriter = _PLAIN[schema.kind]() if schema.kind in _PLAIN else IntegerWriter(schema.kind == "int")
    return raw if schema.logical is None else _logical(schema.logical, raw)


def _logical(logical: Logical, raw: ObjectWriter) -> ObjectWriter:
    """Make the writer of a logical type on a primitive type, whose writer is `raw`."""
    if logical.name == "decimal":
        return DecimalWriter(-1, logical.precision, logical.scale, raw)
    if logical.name == "uuid":
        return TextUuidWriter()
    if logical.name == "date":
        return DateWriter(raw)
    if logical.name.startswith("time-"):
        return TimeWriter(raw, 1_000_000 // units(logical))
    return TimestampWriter(raw, units(logical), logical.name.startswith("local-"))
