"""Limits the size of a schema's values, because nested type references can make it grow exponentially."""

from __future__ import annotations

from kafka.formats.avro.schema import Array, AvroSchemaError, Fixed, Map, Primitive, Record, Schema, Union

MAX_VALUES = 1_000
"""Maximum number of values, including nested ones, per byte of the shortest encoding of a type."""
MAX_COLUMNS = 100_000
"""Maximum number of columns, including nested ones."""
_SIZES = {"null": 0, "float": 4, "double": 8}
_Extents = dict[int, tuple[int, int]]


def least_size(schema: Schema) -> int:
    """Return the minimum size in bytes of a value of a type."""
    return _extent(schema, {})[1]


def check_values(schema: Schema) -> None:
    """Raise `AvroSchemaError` if a few bytes could decode to too many values."""
    known: _Extents = {}
    left = [schema]
    seen: set[int] = set()
    while left:
        each = left.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        left += _parts(each)
        if isinstance(each, Record):
            values, size = _extent(each, known)
            if values > MAX_VALUES * max(size, 1):
                raise AvroSchemaError(
                    f"Record {each.name} has {_shown(values)} values in as few as {size} bytes; the limit is "
                    f"{MAX_VALUES:,} per byte"
                )


def check_columns(schema: Schema) -> None:
    """Raise `AvroSchemaError` if a type that is not recursive needs too many columns."""
    count = _columns(schema, {})
    if count > MAX_COLUMNS:
        raise AvroSchemaError(
            f"The schema needs {_shown(count)} columns, including nested ones; the limit is {MAX_COLUMNS:,}. Leave "
            "fields out of the reader's schema, or deserialize to objects"
        )


def too_deep() -> AvroSchemaError:
    """Make the error that replaces a RecursionError for a schema with hundreds of nested types."""
    return AvroSchemaError("The schema has too many types within one another")


def _parts(schema: Schema) -> list[Schema]:
    if isinstance(schema, Record):
        return [field.type for field in schema.fields]
    if isinstance(schema, Union):
        return list(schema.branches)
    if isinstance(schema, Array):
        return [schema.items]
    return [schema.values] if isinstance(schema, Map) else []


def _extent(schema: Schema, known: _Extents) -> tuple[int, int]:
    """Return the number of values in the shortest encoding of a type, and the size of that encoding in bytes."""
    if isinstance(schema, Primitive):
        return 1, _SIZES.get(schema.kind, 1)
    if isinstance(schema, Fixed):
        return 1, schema.size
    if not isinstance(schema, Record):
        return 1, 1
    if id(schema) not in known:
        known[id(schema)] = (0, 0)  # a record that always contains itself has no values
        inner = [_extent(field.type, known) for field in schema.fields]
        known[id(schema)] = (1 + sum(values for values, _ in inner), sum(size for _, size in inner))
    return known[id(schema)]


def _columns(schema: Schema, known: dict[int, int]) -> int:
    if id(schema) not in known:
        known[id(schema)] = 0  # a recursive type; planning reports the error
        known[id(schema)] = 1 + sum(_columns(each, known) for each in _parts(schema))
    return known[id(schema)]


def _shown(count: int) -> str:
    return f"{count:,}" if count < 10**12 else "more than a trillion"
