"""Encodes the rows of Arrow columns as Avro values, with a tree of writers for the columns' types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kafka.formats.arrow_arrays import check_valid
from kafka.formats.avro.arrow_nested import ConstantRows, ListRows, MemberRows, OptionalRows, RecordRows, write_rows
from kafka.formats.avro.arrow_writers import (
    ArrowWriter,
    BooleanRows,
    BytesRows,
    DecimalRows,
    DurationRows,
    EnumRows,
    FloatRows,
    IntegerRows,
    NullRows,
    UuidRows,
)
from kafka.formats.avro.encoder_output import Output
from kafka.formats.avro.errors import AvroEncodeError
from kafka.formats.avro.object_plan import default_bytes, is_nullable
from kafka.formats.avro.resolution import DAY, INT_MAX, INT_MIN, LONG_MAX, LONG_MIN, AvroResolutionError, units
from kafka.formats.avro.schema import Array, Enum, Fixed, Map, Primitive, Record, Schema, Union


class AvroColumnEncoder:
    """Encodes rows as values of one schema. Thread-safe."""

    def __init__(self, schema: Schema) -> None:
        """Set the writer's schema."""
        self._schema = schema

    def check(self, type_: pa.DataType | pa.Schema) -> None:
        """Check that columns of a type can be encoded. Individual values may still not fit the schema.

        Raises:
            AvroResolutionError: the type cannot be written as the schema's.
            AvroSchemaError: a required default does not fit its field.
        """
        given: Any = pa.struct(list(type_)) if isinstance(type_, pa.Schema) else type_
        bind(self._schema, pa.nulls(0, given), "")

    def encode(self, rows: Any, prefix: bytes = b"") -> pa.BinaryArray:
        """Encode rows.

        Args:
            rows: an array, a chunked array, a record batch or a table; the columns of the last two are a record's
                fields. A null row stays null, unless null is a value of the schema.
            prefix: bytes to write before each value, such as the zero byte and the schema id of Confluent's
                serializers.

        Raises:
            AvroResolutionError: the column types cannot be written as the schema's types.
            AvroEncodeError: a value does not fit the schema.
            ArrowInvalid: the array is invalid, for example because a string is not UTF-8.
            AvroSchemaError: a required default does not fit its field.
            TypeError: `rows` has another type.
            OverflowError: the values exceed 2 GiB.
        """
        if isinstance(rows, pa.Table):
            columns = [column.combine_chunks() for column in rows.columns]
            rows = pa.StructArray.from_arrays(columns, fields=list(rows.schema)) if columns else [{}] * rows.num_rows
        elif isinstance(rows, pa.ChunkedArray):
            rows = rows.combine_chunks()
        elif isinstance(rows, pa.RecordBatch):
            rows = rows.to_struct_array()
        elif not isinstance(rows, pa.Array):
            raise TypeError(f"Expected an array, a record batch or a table, got {type(rows).__name__}")
        return self._encoded(pa.array(rows, pa.struct([])) if isinstance(rows, list) else rows, prefix)

    def _encoded(self, array: Any, prefix: bytes) -> pa.BinaryArray:
        check_valid(array)
        has_gaps = array.null_count > 0 and not is_nullable(self._schema)
        valid, offset = None, 0
        if has_gaps and not pa.types.is_null(array.type):
            valid, offset = memoryview(array.buffers()[0]).cast("B"), array.offset
        elif has_gaps:
            return pa.nulls(len(array), pa.binary())
        out = Output()
        ends = memoryview(bytearray(4 * (len(array) + 1))).cast("i")
        row = write_rows(bind(self._schema, array, ""), out, valid, offset, prefix, ends)
        if row >= 0:
            raise AvroEncodeError(out.where(), out.reason, row)
        bitmap = array.is_valid().buffers()[1] if has_gaps else None
        buffers = [bitmap, pa.py_buffer(ends), pa.py_buffer(out.memory())]
        return pa.Array.from_buffers(pa.binary(), len(array), buffers)  # type: ignore[return-value]


_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


def bind(schema: Schema, array: Any, path: str) -> ArrowWriter:
    """Make the writer for an array's rows.

    Raises:
        AvroResolutionError: the array's type cannot be written as the schema's.
        AvroSchemaError: a required default does not fit its field.
    """
    array = _plain(array)
    if isinstance(schema, Union):
        return _union(schema, array, path)
    if schema.kind == "null":
        if array.null_count < len(array):
            raise _refused(schema, array.type, path)
        return NullRows()
    made = _value(schema, array, path)
    return made if not array.null_count else OptionalRows(*_bitmap(array), None, None, made)


def _plain(array: Any) -> Any:
    """Convert extension, dictionary, run-end encoded and view arrays to plain arrays."""
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if pa.types.is_run_end_encoded(array.type):
        array = pc.run_end_decode(array)  # type: ignore[attr-defined]  # the stubs lack it
    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    for is_view, made in ((pa.types.is_string_view, pa.large_string()), (pa.types.is_binary_view, pa.large_binary())):
        if is_view(array.type):
            array = array.cast(made)
    return array


def _bitmap(array: Any) -> tuple[Any, int]:
    """Return the validity bitmap, or None if nothing is null, and the index of the first row's bit."""
    valid = array.buffers()[0] if not pa.types.is_null(array.type) else None
    return (None, 0) if valid is None or not array.null_count else (memoryview(valid).cast("B"), array.offset)


def _refused(schema: Schema, type_: pa.DataType, path: str, hint: str = "") -> AvroResolutionError:
    at = f"At {path.strip('.')}: " if path.strip(".") else ""
    return AvroResolutionError(f"{at}a column of {type_} cannot be written as {schema.label}{hint}")


def _value(schema: Schema, array: Any, path: str) -> ArrowWriter:
    """Make the writer for non-null rows of any type except unions."""
    if isinstance(schema, Record) and pa.types.is_struct(array.type):
        return _record(schema, array, path)
    if isinstance(schema, Array):
        return _list(schema, array, path)
    if isinstance(schema, Map) and pa.types.is_map(array.type):
        keys = bind(Primitive("string"), array.keys, f"{path}{{key}}")
        return ListRows(_ends(array), len(array.items), bind(schema.values, array.items, f"{path}{{}}"), keys)
    if isinstance(schema, Enum) and _is_text(array.type):
        found = pc.fill_null(pc.index_in(array, pa.array(schema.symbols, array.type)), -1).cast(pa.int64())
        return EnumRows(_numbers(found, "q"), array, schema.symbols)
    if isinstance(schema, Fixed):
        return _fixed(schema, array, path)
    if isinstance(schema, Primitive):
        return _primitive(schema, array, path)
    raise _refused(schema, array.type, path)


def _record(schema: Record, array: Any, path: str) -> ArrowWriter:
    given = {field.name: number for number, field in enumerate(array.type)}
    if len(given) < array.type.num_fields:
        raise _refused(schema, array.type, path, ": two fields have the same name")
    writers: list[ArrowWriter] = []
    for field in schema.fields:
        number = given.pop(field.name, None)
        if number is not None:
            writers.append(bind(field.type, array.field(number), f"{path}.{field.name}"))
            continue
        encoded = default_bytes(field)
        if encoded is None and not is_nullable(field.type):
            at = f"At {path.strip('.')}: " if path.strip(".") else ""
            raise AvroResolutionError(
                f"{at}the columns lack the field {field.name!r} of {schema.label}, and it has no default"
            )
        writers.append(ConstantRows(encoded) if encoded is not None else bind(field.type, pa.nulls(0), path))
    if given:
        at = f"At {path.strip('.')}: " if path.strip(".") else ""
        raise AvroResolutionError(
            f"{at}{schema.label} has no field for the columns {', '.join(map(repr, given)):.200}: leave them out"
        )
    return RecordRows(writers, [field.name for field in schema.fields])


def _list(schema: Array, array: Any, path: str) -> ArrowWriter:
    if pa.types.is_fixed_size_list(array.type):
        array = array.cast(pa.list_(array.type.value_field))
    if pa.types.is_list_view(array.type) or pa.types.is_large_list_view(array.type):
        sizes = pc.fill_null(pc.list_value_length(array), 0).cast(pa.int64())
        ends = pa.concat_arrays([pa.array([0], pa.int64()), pc.cumulative_sum(sizes)])
        array = pa.LargeListArray.from_arrays(ends, array.flatten())  # a cast would keep the offsets of null lists
    if not pa.types.is_list(array.type) and not pa.types.is_large_list(array.type):
        raise _refused(schema, array.type, path)
    return ListRows(_ends(array), len(array.values), bind(schema.items, array.values, f"{path}[]"), None)


def _ends(array: Any) -> Any:
    """Return the end positions of lists, preceded by the start position of the first list."""
    return _numbers(array.offsets.cast(pa.int64()), "q")


def _numbers(array: Any, form: Any) -> Any:
    """Return the memory of an array of eight-byte numbers."""
    values = array.buffers()[1]
    if values is None or not len(array):
        return memoryview(bytes(8)).cast(form)
    return memoryview(values).cast("B")[8 * array.offset : 8 * (array.offset + len(array))].cast(form)


def _is_text(type_: pa.DataType) -> bool:
    return pa.types.is_string(type_) or pa.types.is_large_string(type_)


def _is_bytes(type_: pa.DataType) -> bool:
    return pa.types.is_binary(type_) or pa.types.is_large_binary(type_) or pa.types.is_fixed_size_binary(type_)


def _bytes(array: Any) -> tuple[Any, Any]:
    """Return the end positions and the memory of an array of strings or bytes."""
    made = array.cast(pa.binary()) if pa.types.is_fixed_size_binary(array.type) else array
    made = made.cast(pa.large_binary())
    _, ends, data = made.buffers()
    if ends is None or not len(ends):
        return memoryview(bytes(8)).cast("q"), b"\0"
    positions = memoryview(ends).cast("B").cast("q")[made.offset : made.offset + len(made) + 1]
    return positions, memoryview(data).cast("B") if data is not None and len(data) else b"\0"


def _width(array: Any, width: int) -> Any:
    """Return the memory of an array of values that are `width` bytes wide."""
    values = array.buffers()[1]
    if values is None or not len(array):
        return bytes(width)
    return memoryview(values).cast("B")[width * array.offset : width * (array.offset + len(array))]


def _fixed(schema: Fixed, array: Any, path: str) -> ArrowWriter:
    logical, type_ = schema.logical, array.type
    if logical is not None and logical.name == "decimal" and pa.types.is_decimal(type_):
        return _decimal(schema, array, schema.size, path)
    if logical is not None and logical.name == "uuid" and _is_text(type_):
        return UuidRows(*_bytes(array))
    if logical is not None and logical.name == "duration" and type_ == pa.month_day_nano_interval():
        return DurationRows(_width(array, 16))
    if not _is_bytes(type_) or (pa.types.is_fixed_size_binary(type_) and type_.byte_width != schema.size):
        raise _refused(schema, type_, path)
    return BytesRows(*_bytes(array), schema.size, False)


def _decimal(schema: Primitive | Fixed, array: Any, size: int, path: str) -> ArrowWriter:
    logical, type_ = schema.logical, array.type
    assert logical is not None
    if type_.scale > logical.scale:
        raise _refused(
            schema, type_, path, f": it has {type_.scale} digits after the decimal point, not {logical.scale}"
        )
    if type_.scale < logical.scale or type_.byte_width < 16:
        array = array.cast(pa.decimal256(min(type_.precision + logical.scale - type_.scale, 76), logical.scale))
    most = 10**logical.precision - 1 if array.type.precision > logical.precision else None
    return DecimalRows(_width(array, array.type.byte_width), array.type.byte_width, size, most)


def _primitive(schema: Primitive, array: Any, path: str) -> ArrowWriter:
    kind, type_, logical = schema.kind, array.type, schema.logical
    if kind == "boolean" and pa.types.is_boolean(type_):
        values = array.buffers()[1]
        return BooleanRows(memoryview(values).cast("B") if values is not None else b"\0", array.offset)
    if kind in ("int", "long"):
        return _integer(schema, array, path)
    if kind in ("float", "double") and (pa.types.is_integer(type_) or pa.types.is_floating(type_)):
        return FloatRows(_numbers(array.cast(pa.float64(), safe=False), "d"), kind == "float")
    if logical is not None and logical.name == "decimal" and pa.types.is_decimal(type_):
        return _decimal(schema, array, -1, path)
    if kind in ("bytes", "string") and (_is_text(type_) or _is_bytes(type_)):
        return BytesRows(*_bytes(array), -1, kind == "string" and not _is_text(type_))
    raise _refused(schema, type_, path)


def _integer(schema: Primitive, array: Any, path: str) -> ArrowWriter:
    """Make the writer for integers, or for dates and times in the unit of the logical type."""
    type_: Any = array.type
    logical = schema.logical
    least, most = (INT_MIN, INT_MAX) if schema.kind == "int" else (LONG_MIN, LONG_MAX)
    if logical is not None and logical.name in DAY:
        least, most = 0, DAY[logical.name] - 1
    times = divisor = 1
    if pa.types.is_date(type_) and logical is not None and logical.name == "date":
        array = array.cast(pa.date32()).cast(pa.int32())
    elif pa.types.is_temporal(type_):
        if logical is None or not _is_same_time(logical.name, type_):
            raise _refused(schema, type_, path, _hint(logical.name if logical else "", type_))
        before, after = _PER_SECOND[array.type.unit], units(logical)
        times, divisor = max(after // before, 1), max(before // after, 1)
        least, most = -(-least // times), most // times
        if divisor > 1:
            least, most = (0, (most + 1) * divisor - 1) if least == 0 else (LONG_MIN, LONG_MAX)
        array = array.cast(pa.int32() if pa.types.is_time32(type_) else pa.int64())
    elif not pa.types.is_integer(type_):
        raise _refused(schema, type_, path)
    if array.type == pa.uint64():
        _check_unsigned(array, path)
    return IntegerRows(_numbers(array.cast(pa.int64(), safe=False), "q"), least, most, times, divisor)


def _check_unsigned(array: Any, path: str) -> None:
    """Reject unsigned numbers that exceed the range of a long."""
    found = pc.max(array).as_py()
    if found is not None and found > LONG_MAX:
        at = f"At {path.strip('.')}: " if path.strip(".") else ""
        raise AvroResolutionError(f"{at}expected numbers up to {LONG_MAX}, got {found}")


def _is_same_time(logical: str, type_: pa.DataType) -> bool:
    if pa.types.is_timestamp(type_):
        return logical.startswith("timestamp-" if type_.tz is not None else "local-timestamp-")
    return pa.types.is_time(type_) and logical.startswith("time-")


def _hint(logical: str, type_: pa.DataType) -> str:
    if not pa.types.is_timestamp(type_) or "timestamp-" not in logical:
        return ""
    return ": it has a time zone" if type_.tz is not None else ": cast it to a timestamp with a time zone, such as UTC"


def _union(schema: Union, array: Any, path: str) -> ArrowWriter:
    kinds = [branch.kind for branch in schema.branches]
    null = kinds.index("null") if "null" in kinds else None
    others = [number for number, kind in enumerate(kinds) if kind != "null"]
    if pa.types.is_null(array.type):
        if null is None:
            raise _refused(schema, array.type, path)
        return OptionalRows(None, 0, null, None, None)
    if len(others) > 1 and _has_members(array.type, len(others)):
        return _members(schema, array, others, null, path)
    if len(others) == 1:
        number, value = others[0], _value(schema.branches[others[0]], array, path)
    else:
        number, value = _chosen(schema, array, others, path)
    return OptionalRows(*_bitmap(array), null, number, value)


def _has_members(type_: pa.DataType, count: int) -> bool:
    """Return whether a type has the fields of a decoded union."""
    if not pa.types.is_struct(type_) or type_.num_fields != count:
        return False
    return [field.name for field in type_] == [f"member{number}" for number in range(count)]


def _members(schema: Union, array: Any, others: list[int], null: int | None, path: str) -> ArrowWriter:
    writers, bitmaps = [], []
    for field, number in enumerate(others):
        member = array.field(field)
        writers.append(_value(schema.branches[number], _plain(member), f"{path}.member{field}"))
        valid = pc.and_(member.is_valid(), array.is_valid())
        bitmaps.append(_bits(valid))
    return MemberRows(writers, bitmaps, others, null)


def _bits(valid: Any) -> Any:
    """Return the bits of a boolean array, starting at its first row."""
    return memoryview(pa.concat_arrays([valid, valid[:0]]).buffers()[1] or b"\0").cast("B") if len(valid) else b"\0"


_PREFERRED: tuple[tuple[Callable[[pa.DataType], bool], tuple[str, ...]], ...] = (
    (lambda type_: pa.types.is_integer(type_) and type_.bit_width < 32, ("int", "long", "float", "double")),
    (lambda type_: type_ == pa.int32(), ("int", "long", "float", "double")),
    (pa.types.is_integer, ("long", "int", "double", "float")),
    (pa.types.is_float64, ("double", "float")),
    (pa.types.is_floating, ("float", "double")),
    (_is_text, ("string", "enum", "bytes")),
    (_is_bytes, ("bytes", "fixed", "string")),
)
"""The preferred union branches for each column type, best first."""


def _chosen(schema: Union, array: Any, others: list[int], path: str) -> tuple[int, ArrowWriter]:
    """Choose the branch for a column; return its index and its writer."""
    order = next((kinds for is_kind, kinds in _PREFERRED if is_kind(array.type)), ())
    rank = {kind: number for number, kind in enumerate(order)}
    for number in sorted(others, key=lambda each: rank.get(schema.branches[each].kind, len(rank))):
        try:
            return number, _value(schema.branches[number], array, path)
        except AvroResolutionError:
            continue
    raise _refused(schema, array.type, path)
