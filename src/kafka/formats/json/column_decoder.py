"""Decodes JSON values into an Arrow column."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from kafka.formats.arrow_arrays import array_of, binary_buffers
from kafka.formats.bad_values import BadValue, bad_value
from kafka.formats.column_builders import (
    BooleanColumn,
    BytesColumn,
    DoubleColumn,
    FixedColumn,
    FloatColumn,
    Int32Column,
    Int64Column,
    ListColumn,
    NullColumn,
    StructColumn,
)
from kafka.formats.json.codec_options import UNITS, DecodeOptions
from kafka.formats.json.cursor import Reader
from kafka.formats.json.errors import JsonSchemaError, place
from kafka.formats.json.nested_readers import ArrayReader, MapReader, ObjectReader
from kafka.formats.json.number_readers import (
    BooleanReader,
    DecimalReader,
    DoubleReader,
    FloatReader,
    Int32Reader,
    Int64Reader,
    NullReader,
    SmallReader,
)
from kafka.formats.json.rows import read_rows
from kafka.formats.json.schema import arrow_type, plain_type
from kafka.formats.json.text_readers import BinaryReader, FixedReader, RawReader, TextReader
from kafka.formats.json.time_readers import DateReader, TimeReader, TimestampReader


class JsonColumnDecoder:
    """Decodes values into a column of one type. Not thread-safe."""

    def __init__(
        self, schema: Any, options: DecodeOptions | None = None, *, references: Mapping[str, Any] | None = None
    ) -> None:
        """Make the column.

        Args:
            schema: the type of the values; see `kafka.formats.json.schema.arrow_type`.
            options: how to treat cases that JSON leaves open.
            references: schemas that a JSON Schema refers to, by name.

        Raises:
            JsonSchemaError: JSON values cannot be read as this type.
        """
        self._options = options if options is not None else DecodeOptions()
        self.type: pa.DataType = arrow_type(schema, references)
        """The column's type."""
        self._read_type = plain_type(self.type)
        self._reader = plan(self._read_type, self._options.null_document == "null", self._options)

    def decode(self, values: Any, *, framed: bool = False) -> tuple[Any, list[BadValue]]:
        """Decode values; null stays null.

        Args:
            values: a `pyarrow.BinaryArray`, or a string array.
            framed: whether each value begins with a zero byte and a schema id in four bytes, which are skipped.

        Returns:
            The column, with one row per value, and the values that could not be decoded.

        Raises:
            OverflowError: the column would exceed 2 GiB.
        """
        data, ends, valid, has_nulls = binary_buffers(values)
        failures: list[tuple[int, str | None, str]] = []
        replaces = self._options.lone_surrogates == "replace"
        try:
            read_rows(self._reader, data, ends, valid, has_nulls, framed, replaces, failures)
            column = array_of(self._reader.column, self._read_type)
        except BaseException:
            self._reader.column.take()
            raise
        if self._read_type != self.type:
            column = column.cast(self.type)
        return column, [bad_value(data, ends, *failure, framed) for failure in failures]


def _small(width: int, nullable: bool, signed: bool) -> Reader:
    bits = 8 * width
    least, most = (1 << (bits - 1), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    return SmallReader(FixedColumn(width), nullable, least, most)


_SIMPLE: dict[pa.DataType, Callable[[bool], Reader]] = {
    pa.null(): lambda nullable: NullReader(NullColumn()),
    pa.bool_(): lambda nullable: BooleanReader(BooleanColumn(), nullable),
    pa.int8(): lambda nullable: _small(1, nullable, True),
    pa.int16(): lambda nullable: _small(2, nullable, True),
    pa.int32(): lambda nullable: Int32Reader(Int32Column(), nullable),
    pa.int64(): lambda nullable: Int64Reader(Int64Column(), nullable),
    pa.uint8(): lambda nullable: _small(1, nullable, False),
    pa.uint16(): lambda nullable: _small(2, nullable, False),
    pa.uint32(): lambda nullable: _small(4, nullable, False),
    pa.uint64(): lambda nullable: _small(8, nullable, False),
    pa.string(): lambda nullable: TextReader(BytesColumn(), nullable),
    pa.binary(): lambda nullable: BinaryReader(BytesColumn(), nullable),
    pa.date32(): lambda nullable: DateReader(Int32Column(), nullable),
}


def plan(type_: pa.DataType, nullable: bool, options: DecodeOptions, path: str = "") -> Reader:
    """Make the reader for a type and its columns.

    Raises:
        JsonSchemaError: JSON has no values of this type.
    """
    simple = None if isinstance(type_, pa.BaseExtensionType) else _SIMPLE.get(type_)  # may be unhashable
    if simple is not None:
        return simple(nullable)
    if pa.types.is_float32(type_):
        return FloatReader(FloatColumn(), nullable, options.non_finite_numbers == "allow")
    if pa.types.is_float64(type_):
        return DoubleReader(DoubleColumn(), nullable, options.non_finite_numbers == "allow")
    if pa.types.is_decimal128(type_) or pa.types.is_decimal256(type_):
        _check_decimal(type_.precision, type_.scale, path)
        return DecimalReader(FixedColumn(type_.byte_width), nullable, type_.precision, type_.scale)
    if pa.types.is_fixed_size_binary(type_):
        return FixedReader(FixedColumn(type_.byte_width), nullable)
    if pa.types.is_time(type_):
        column = Int32Column() if pa.types.is_time32(type_) else Int64Column()
        return TimeReader(column, nullable, UNITS[type_.unit])
    if pa.types.is_timestamp(type_):
        epoch = UNITS[options.epoch_unit] if options.epoch_unit else 0
        return TimestampReader(Int64Column(), nullable, type_.tz is not None, UNITS[type_.unit], epoch)
    if isinstance(type_, pa.JsonType):
        return RawReader(BytesColumn(), nullable)
    return _nested(type_, nullable, options, path)


def _nested(type_: pa.DataType, nullable: bool, options: DecodeOptions, path: str) -> Reader:
    takes_last = options.duplicate_keys == "last"
    if pa.types.is_struct(type_):
        fields = list(type_)
        readers = [plan(each.type, each.nullable, options, f"{path}.{each.name}") for each in fields]
        names = [each.name for each in fields]
        for number, name in enumerate(names):
            if name in names[:number]:
                raise JsonSchemaError(
                    f"{place(path)}two fields have the name {name!r}: the keys of an object must be unique"
                )
        struct = StructColumn([each.column for each in readers])
        return ObjectReader(struct, nullable, names, readers, options.unknown_fields == "error", takes_last)
    if pa.types.is_list(type_):
        items = plan(type_.value_type, type_.value_field.nullable, options, f"{path}[]")
        return ArrayReader(ListColumn(items.column), nullable, items)
    if pa.types.is_map(type_):
        if type_.key_type != pa.string():
            raise JsonSchemaError(f"{place(path)}a map has keys of {type_.key_type}, but JSON's keys are strings")
        values = plan(type_.item_type, type_.item_field.nullable, options, f"{path}{{}}")
        keys = BytesColumn()
        entries = ListColumn(StructColumn([keys, values.column]))
        return MapReader(entries, nullable, keys, values, takes_last)
    raise JsonSchemaError(
        f"{place(path)}JSON has no values of the type {type_}. Supported are null, bool, integers, float, double, "
        "decimals, string, binary, date32, times, timestamps, lists, structs, maps with keys of string, pyarrow.json_()"
    )


def _check_decimal(precision: int, scale: int, path: str) -> None:
    if not 0 <= scale <= precision:
        raise JsonSchemaError(
            f"{place(path)}a decimal has from 0 to all {precision} of its digits after the decimal point, got {scale}"
        )
