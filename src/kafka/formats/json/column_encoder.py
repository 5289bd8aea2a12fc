"""Encodes Arrow columns as JSON, plans the writers for a type, and checks required fields."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from kafka.formats.arrow_arrays import array_of_taken, check_valid
from kafka.formats.json.codec_options import UNITS, EncodeOptions
from kafka.formats.json.encoder_output import Output, Writer, write_rows
from kafka.formats.json.errors import JsonSchemaError, place
from kafka.formats.json.nested_writers import ArrayWriter, MapWriter, ObjectWriter
from kafka.formats.json.scalar_writers import (
    BinaryWriter,
    BooleanWriter,
    DateWriter,
    DecimalWriter,
    NullWriter,
    RawWriter,
    RealWriter,
    TextWriter,
    TimestampWriter,
    TimeWriter,
    WholeWriter,
)
from kafka.formats.json.schema import arrow_type


class JsonEncodeError(ValueError):
    """JSON cannot represent a row's value. The message names the row, the field and the value.

    Args:
        row: the row number.
        cause: the path of the field, and why its value cannot be written.
    """

    remedy = "Correct the value of the row and field that the message names."

    def __init__(self, row: int, cause: str) -> None:
        super().__init__(f"Row {row} cannot be written as JSON: {cause}")
        self.row = row
        self.cause = cause

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.row, self.cause)


class JsonColumnEncoder:
    """Encodes the rows of one or more columns as JSON values. Not thread-safe."""

    def __init__(self, schema: Any, options: EncodeOptions | None = None) -> None:
        """Plan the encoding.

        Args:
            schema: the type of the columns, in any form that `JsonColumnDecoder` accepts.
            options: options for writing values.

        Raises:
            JsonSchemaError: JSON has no values of this type.
        """
        self.type: pa.DataType = arrow_type(schema)
        """The type of the rows."""
        self._written = all_nullable(written_type(self.type))
        self._writer = plan_writer(self._written, options if options is not None else EncodeOptions())

    def encode(self, rows: Any) -> Any:
        """Encode rows; null rows stay null.

        Args:
            rows: an array of the schema's type, or a record batch with its columns.

        Returns:
            A `pyarrow.BinaryArray` with a compact JSON value in UTF-8 for each row.

        Raises:
            JsonEncodeError: JSON cannot represent a value: NaN, infinities, years before 1 or after 9999.
            OverflowError: the values would exceed 2 GiB.
            ValueError: the rows are of another type, or invalid (`pyarrow.ArrowInvalid`).
        """
        array = rows.to_struct_array() if isinstance(rows, pa.RecordBatch) else rows
        written = written_type(array.type)
        if all_nullable(written) != self._written:
            raise ValueError(f"Expected rows of the type {self.type}, got {array.type}")
        check_valid(array)
        if written != array.type:
            array = array.cast(written)
        self._writer.bind(array)
        output = Output()
        row = write_rows(self._writer, output, len(array))
        if row < len(array):
            raise JsonEncodeError(row, output.failure())
        return array_of_taken(output.take(), pa.binary())


_NON_FINITE = {"error": 0, "null": 1, "allow": 2}


def written_type(type_: pa.DataType) -> pa.DataType:
    """Return the type that arrays must be cast to before writing; `plan_writer` supports it."""
    if pa.types.is_dictionary(type_):
        return written_type(type_.value_type)
    if pa.types.is_large_string(type_) or pa.types.is_string_view(type_):
        return pa.string()
    if pa.types.is_large_binary(type_) or pa.types.is_binary_view(type_):
        return pa.binary()
    if pa.types.is_date64(type_):
        return pa.date32()
    if pa.types.is_float16(type_):
        return pa.float32()
    if pa.types.is_list(type_) or pa.types.is_large_list(type_) or pa.types.is_fixed_size_list(type_):
        return pa.list_(_written_field(type_.value_field))
    if pa.types.is_map(type_):
        made: pa.DataType = pa.map_(written_type(type_.key_type), _written_field(type_.item_field))
        return made
    if pa.types.is_struct(type_):
        return pa.struct([_written_field(each) for each in type_])
    return type_


def _written_field(field: Any) -> Any:
    return field.with_type(written_type(field.type))


def all_nullable(type_: pa.DataType) -> pa.DataType:
    """Make all fields of a type nullable, to compare types."""
    if pa.types.is_list(type_):
        return pa.list_(pa.field("item", all_nullable(type_.value_type)))
    if pa.types.is_map(type_):
        return pa.map_(type_.key_type, all_nullable(type_.item_type))
    if pa.types.is_struct(type_):
        return pa.struct([pa.field(each.name, all_nullable(each.type)) for each in type_])
    return type_


def plan_writer(type_: pa.DataType, options: EncodeOptions, path: str = "") -> Writer:
    """Make the writer for a type returned by `written_type`.

    Raises:
        JsonSchemaError: JSON has no values of this type.
    """
    if pa.types.is_null(type_):
        return NullWriter()
    if pa.types.is_boolean(type_):
        return BooleanWriter()
    if pa.types.is_integer(type_):
        return WholeWriter(type_.bit_width // 8, pa.types.is_signed_integer(type_))
    if pa.types.is_float32(type_) or pa.types.is_float64(type_):
        return RealWriter(type_.bit_width // 8, _NON_FINITE[options.non_finite_numbers])
    if pa.types.is_decimal128(type_) or pa.types.is_decimal256(type_):
        if type_.scale < 0:
            raise JsonSchemaError(f"{place(path)}decimals with a negative scale are not supported: cast them")
        return DecimalWriter(type_.byte_width, type_.scale)
    if pa.types.is_string(type_):
        return TextWriter()
    if pa.types.is_binary(type_):
        return BinaryWriter(-1)
    if pa.types.is_fixed_size_binary(type_):
        return BinaryWriter(type_.byte_width)
    if pa.types.is_date32(type_):
        return DateWriter()
    if pa.types.is_time(type_):
        return TimeWriter(type_.bit_width // 8, UNITS[type_.unit])
    if pa.types.is_timestamp(type_):
        return TimestampWriter(UNITS[type_.unit], type_.tz is not None)
    if isinstance(type_, pa.JsonType):
        return RawWriter()
    return _nested_writer(type_, options, path)


def _nested_writer(type_: pa.DataType, options: EncodeOptions, path: str) -> Writer:
    if pa.types.is_struct(type_):
        names = [each.name for each in type_]
        for number, name in enumerate(names):
            if name in names[:number]:
                raise JsonSchemaError(
                    f"{place(path)}two fields have the name {name!r}: the keys of an object must be unique"
                )
        fields = [plan_writer(each.type, options, f"{path}.{each.name}") for each in type_]
        return ObjectWriter(names, fields, options.nulls == "omit")
    if pa.types.is_list(type_):
        return ArrayWriter(plan_writer(type_.value_type, options, f"{path}[]"))
    if pa.types.is_map(type_):
        if type_.key_type != pa.string():
            raise JsonSchemaError(f"{place(path)}a map has keys of {type_.key_type}, but JSON's keys are strings")
        return MapWriter(TextWriter(), plan_writer(type_.item_type, options, f"{path}{{}}"))
    raise JsonSchemaError(f"{place(path)}JSON has no values of the type {type_}: cast the column, or leave it out")


def check_required(column: Any, wanted: pa.DataType) -> None:
    """Check that each row has all values that the schema requires, including those in nested objects, arrays and maps.

    Args:
        column: the column to write.
        wanted: the schema's type (see `arrow_type`), in which required fields are not nullable.

    Raises:
        ValueError: a required value is missing. The message names the field, and the row if the value is null.
    """
    found = _missing(column, wanted, "")
    if found is not None:
        row, path = found
        raise ValueError(f"Row {row}: {path or 'the value'} is null, but the schema requires it")


def _missing(column: Any, wanted: Any, path: str) -> tuple[int, str] | None:
    """Return the first row in which a required value is null, and the path of the value."""
    if pa.types.is_struct(wanted) and pa.types.is_struct(column.type):
        return _missing_of_struct(column, wanted, path)
    if pa.types.is_map(wanted) and pa.types.is_map(column.type):
        pairs = pa.struct([("key", column.type.key_type), ("value", column.type.item_type)])
        column = column.cast(pa.list_(pairs))
        return _missing_of_list(column, column.flatten().field("value"), wanted.item_field, path)
    if _is_list(wanted) and _is_list(column.type):
        return _missing_of_list(column, column.flatten(), wanted.value_field, path)
    return None


def _missing_of_struct(column: Any, wanted: Any, path: str) -> tuple[int, str] | None:
    children = column.flatten()
    for field in wanted:
        here = f"{path}.{field.name}" if path else field.name
        at = column.type.get_field_index(field.name)
        if at < 0:
            if not field.nullable:
                raise ValueError(f"{here} is required by the schema, but there is no such column")
            continue
        found = _first_null(column, children[at], field, here)
        if found is not None:
            return found
    return None


def _missing_of_list(column: Any, items: Any, field: Any, path: str) -> tuple[int, str] | None:
    found = _first_null(None, items, field, f"{path}[]")
    if found is None:
        return None
    from pyarrow import compute

    parents: Any = compute.list_parent_indices(column)
    return parents[found[0]].as_py(), found[1]


def _first_null(parents: Any, child: Any, field: Any, path: str) -> tuple[int, str] | None:
    if not field.nullable and child.null_count:
        import pyarrow.compute

        pc: Any = pyarrow.compute
        lacking = child.is_null() if parents is None else pc.and_(parents.is_valid(), child.is_null())
        row = pc.index(lacking, True).as_py()
        if row >= 0:
            return row, path
    return _missing(child, field.type, path)


def _is_list(type_: Any) -> bool:
    return bool(pa.types.is_list(type_) or pa.types.is_large_list(type_))
