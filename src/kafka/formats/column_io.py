"""Column readers and writers for any format, as accepted by clients for keys and values.

`SchemaRegistryClient.reader` and `writer` return the ones that use a schema registry; this module defines the others.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    import pyarrow as pa

    from kafka.formats.avro.codec import Avro
    from kafka.formats.avro.schema import Schema as ParsedSchema
    from kafka.formats.bad_values import BadValue
    from kafka.formats.json.codec import Json
    from kafka.formats.protobuf.codec import Protobuf


class ColumnReader(Protocol):
    """Decodes values into a column."""

    @property
    def type(self) -> Any:
        """The column's type, a `pyarrow.DataType`."""

    def decode_known(self, values: Any, headers: Any = None, field: str = "value") -> tuple[Any, list[BadValue]]:
        """Decode the keys or values of records.

        Args:
            values: a binary array.
            headers: an array of the records' headers, or None. Only readers that use a schema registry need them,
                because a header may identify the schema of a key or value.
            field: "key" or "value".

        Returns:
            The column, with one row per value, and the values that could not be decoded, whose rows are null.

        Raises:
            SchemaNeeded: a schema must first be looked up.
        """


class ColumnWriter(Protocol):
    """Encodes columns as values."""

    @property
    def field_names(self) -> Collection[str]:
        """The names of the schema's fields; empty if it is not a record."""

    def encode(self, column: Any) -> pa.BinaryArray:
        """Encode each row of an array as one value; raises ValueError for a row that does not fit the schema."""


ReadAs: TypeAlias = "ColumnReader | Avro | Json | Protobuf | str"
"""Accepted by clients to decode keys or values: a reader, a codec, or the name of a plain type."""
WriteAs: TypeAlias = "ColumnWriter | Avro | Json | Protobuf | str"
"""Accepted by clients to encode keys or values: a writer, a codec, or the name of a plain type."""


class SchemaNeeded(Exception):
    """Schemas must be looked up: call `look_up`, then decode again.

    Args:
        reader: the reader whose method `look_up` is called with the names; the result may have to be awaited.
        names: the schemas' ids, or their GUIDs if headers contain GUIDs.
    """

    def __init__(self, reader: Any, names: Collection[int | str]) -> None:
        super().__init__(*names)
        self._reader = reader
        self.names = names

    def look_up(self) -> Any:
        """Look up the schemas."""
        return self._reader.look_up(self.names)


class FormatRows:
    """Adapts an `Avro`, `Json` or `Protobuf` object to a column reader and writer."""

    def __init__(self, given: Any) -> None:
        """Set the object to adapt.

        Raises:
            AvroSchemaError: the schema has no column type.
        """
        self._given = given
        self.type: Any = given.type if hasattr(given, "type") else given.arrow_type
        self.field_names = names_of_type(self.type)

    def decode_known(self, values: Any, headers: Any = None, field: str = "value") -> tuple[Any, list[BadValue]]:
        """Decode values; see `ColumnReader`. Headers are ignored."""
        found: tuple[Any, list[BadValue]] = self._given.decode_rows(values)
        return found

    def encode(self, column: Any) -> pa.BinaryArray:
        """Encode a column; see `ColumnWriter`."""
        return encoded_rows(self._given, column)


class PlainRows:
    """Reads and writes values of Kafka's own serializers: strings, bytes and numbers."""

    def __init__(self, kind: str) -> None:
        """Set the kind, one of `plain_columns.KINDS`; raises ValueError for any other kind."""
        from kafka.formats.plain_columns import PlainColumns

        self._columns = PlainColumns(kind)
        self.type: Any = self._columns.type
        self.field_names: Collection[str] = ()

    def decode_known(self, values: Any, headers: Any = None, field: str = "value") -> tuple[Any, list[BadValue]]:
        """Decode values; see `ColumnReader`. Headers are ignored."""
        return self._columns.decode(values)

    def encode(self, column: Any) -> pa.BinaryArray:
        """Encode a column; see `ColumnWriter`."""
        encoded: pa.BinaryArray = self._columns.encode(column.cast(self.type))
        return encoded


def reader_of(given: Any, name: str) -> ColumnReader:
    """Return the reader for a user's argument.

    Args:
        given: one of `plain_columns.KINDS`, an `Avro`, `Json` or `Protobuf` object, or a reader.
        name: the argument's name, for errors.

    Raises:
        TypeError: the argument has another type.
        ValueError: the kind is unknown.
    """
    return _of(given, name, "reader", "decode_known")  # type: ignore[no-any-return]


def writer_of(given: Any, name: str) -> ColumnWriter:
    """Return the writer for a user's argument; see `reader_of`."""
    return _of(given, name, "writer", "encode")  # type: ignore[no-any-return]


def _of(given: Any, name: str, role: str, method: str) -> Any:
    if isinstance(given, str):
        from kafka.formats.plain_columns import KINDS

        if given not in KINDS:
            raise ValueError(
                f"Expected {name} as one of {', '.join(KINDS)}, an Avro, Json or Protobuf object, or what {role}() of "
                f"a SchemaRegistryClient returns, got {given!r}"
            )
        return PlainRows(given)
    if hasattr(given, "decode_rows"):
        return FormatRows(given)
    if hasattr(given, method):
        return given
    raise TypeError(
        f"Expected {name} as the name of a type, an Avro, Json or Protobuf object, or what {role}() of a "
        f"SchemaRegistryClient returns, got {type(given).__name__}"
    )


def names_of_type(type_: Any) -> Collection[str]:
    """Return the names of a struct's fields; empty for any other type."""
    import pyarrow as pa

    return {field.name for field in type_} if pa.types.is_struct(type_) else ()


def names_of_avro(schema: ParsedSchema) -> Collection[str]:
    """Return the names of a record's fields; for a union, the field names of all its records."""
    from kafka.formats.avro.schema import Record, Union

    branches = schema.branches if isinstance(schema, Union) else (schema,)
    return {field.name for each in branches if isinstance(each, Record) for field in each.fields}


def encoded_rows(codec: Avro | Json | Protobuf, column: Any) -> pa.BinaryArray:
    """Encode each row of an array with a codec; raises ValueError for a row that does not fit the schema."""
    from kafka.formats.json.codec import Json

    return codec.encode_rows(_as_type(column, codec.type) if isinstance(codec, Json) else column)


def _as_type(column: Any, type_: Any) -> Any:
    """Cast a column to the type of a JSON codec, and check its required fields.

    Raises:
        ValueError: a value does not fit, or a required one is null.
    """
    import pyarrow as pa

    from kafka.formats.arrow_arrays import check_kind, first_misfit
    from kafka.formats.json.column_encoder import all_nullable, check_required

    made = column
    if column.type != type_:
        wanted = all_nullable(type_)
        check_kind(column.type, wanted)
        try:
            made = column.cast(wanted)
        except pa.ArrowInvalid as error:
            raise ValueError(first_misfit(column, wanted)) from error
    check_required(made, type_)
    return made
