"""Makes the JSON writers of an Arrow type."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from kafka.formats.json.errors import JsonSchemaError, place
from kafka.formats.json.nested_writers import ArrayWriter, MapWriter, ObjectWriter
from kafka.formats.json.options import UNITS, EncodeOptions
from kafka.formats.json.output import Writer
from kafka.formats.json.scalar_writers import (
    BinaryWriter,
    BooleanWriter,
    DecimalWriter,
    NullWriter,
    RawWriter,
    RealWriter,
    TextWriter,
    WholeWriter,
)
from kafka.formats.json.time_writers import DateWriter, TimestampWriter, TimeWriter

_NON_FINITE = {"error": 0, "null": 1, "allow": 2}


def written_type(type_: pa.DataType) -> pa.DataType:
    """Return the type to cast arrays to before they are written: one that `plan_writer` knows."""
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
    """Return a type with all fields nullable, for comparing types."""
    if pa.types.is_list(type_):
        return pa.list_(pa.field("item", all_nullable(type_.value_type)))
    if pa.types.is_map(type_):
        return pa.map_(type_.key_type, all_nullable(type_.item_type))
    if pa.types.is_struct(type_):
        return pa.struct([pa.field(each.name, all_nullable(each.type)) for each in type_])
    return type_


def plan_writer(type_: pa.DataType, options: EncodeOptions, path: str = "") -> Writer:
    """Make the writer of a type that `written_type` gave.

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
            raise JsonSchemaError(f"{place(path)}decimals of a negative scale are not written: cast them")
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
                raise JsonSchemaError(f"{place(path)}two fields have the name {name!r}: an object has each key once")
        fields = [plan_writer(each.type, options, f"{path}.{each.name}") for each in type_]
        return ObjectWriter(names, fields, options.nulls == "omit")
    if pa.types.is_list(type_):
        return ArrayWriter(plan_writer(type_.value_type, options, f"{path}[]"))
    if pa.types.is_map(type_):
        if type_.key_type != pa.string():
            raise JsonSchemaError(f"{place(path)}a map has keys of {type_.key_type}, and JSON's keys are strings")
        return MapWriter(TextWriter(), plan_writer(type_.item_type, options, f"{path}{{}}"))
    raise JsonSchemaError(f"{place(path)}JSON has no values of the type {type_}: cast the column, or leave it out")
