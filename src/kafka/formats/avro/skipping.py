"""Makes the skippers of types."""

from __future__ import annotations

from kafka.formats.avro.cursor import Reader
from kafka.formats.avro.extent import least_size
from kafka.formats.avro.nested_readers import UnionReader
from kafka.formats.avro.schema import Array, Enum, Fixed, Map, Primitive, Record, Schema, Union
from kafka.formats.avro.skippers import BlockSkipper, BytesSkipper, IntegerSkipper, SequenceSkipper, SizeSkipper


def skipper(schema: Schema, made: dict[str, Reader]) -> Reader:
    """Make the skipper of a type; `made` has those of records, which may be recursive."""
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
