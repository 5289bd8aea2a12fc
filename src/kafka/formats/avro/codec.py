"""Converts values of an Avro schema to objects or rows of Arrow columns, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from kafka.formats.avro.object_decoder import AvroObjectDecoder, AvroObjectEncoder
from kafka.formats.avro.schema import AvroSchemaError, Schema, parse_named

if TYPE_CHECKING:
    import pyarrow as pa

    from kafka.formats.bad_values import BadValue


class Avro:
    """Encodes and decodes values of one schema. Thread-safe.

    Objects have the same types as with fastavro: records are dicts, and dates, times, decimals and UUIDs have Python's
    types.
    """

    def __init__(
        self,
        schema: str | bytes | list[Any] | dict[str, Any],
        *,
        references: Iterable[str | bytes] = (),
        strict: bool = False,
    ) -> None:
        """Parse the schema.

        Args:
            schema: JSON text, or the result of `json.loads`.
            references: schemas of the named types that this schema refers to, in dependency order.
            strict: records to encode must have all fields of the schema and no others. If False, missing fields get
                their defaults, or null, and unknown fields are ignored.

        Raises:
            AvroSchemaError: the schema or a reference is invalid.
        """
        named: dict[str, Schema] = {}
        for reference in references:
            _, named = parse_named(reference, named)
        self.schema, _ = parse_named(schema, named)
        self._encoder = AvroObjectEncoder(self.schema, strict=strict)
        self._decoders: dict[Avro, AvroObjectDecoder] = {}

    def __repr__(self) -> str:
        return f"Avro({self.schema.label:.200})"

    @classmethod
    def of_columns(cls, columns: pa.Schema, name: str) -> Avro:
        """Make a codec for Arrow columns. The codec's schema is a record with a field for each column.

        Raises:
            AvroSchemaError: the type or the name of a column has no counterpart in Avro.
        """
        from kafka.formats.avro.arrow_types import avro_schema_of

        return cls(avro_schema_of(columns, name))

    @property
    def arrow_type(self) -> pa.DataType:
        """The type of the column that `decode_rows` returns.

        Raises:
            AvroSchemaError: the schema has no column type: a record is recursive, or a decimal exceeds 76 digits.
        """
        from kafka.formats.avro.arrow_types import target_of

        return target_of(self.schema).arrow

    def encode(self, value: Any, prefix: bytes = b"") -> bytes:
        """Encode an object.

        Args:
            value: an object as returned by `decode`, or any other object that fastavro accepts. A record may also be an
                instance of a dataclass, an attrs class or a pydantic model.
            prefix: bytes to write before the value.

        Raises:
            AvroEncodeError: the value does not fit the schema; the message names the field, and what was expected and
                found.
        """
        return self._encoder.encode(value, prefix)

    def decode(self, data: bytes | bytearray | memoryview, start: int = 0, *, writer: Avro | None = None) -> Any:
        """Decode a value.

        Args:
            data: the bytes.
            start: the offset of the value; 5 skips the schema id that Confluent's serializers write.
            writer: the schema that the value was written with, if different. The value is converted by Avro's schema
                resolution rules.

        Raises:
            AvroDecodeError: the bytes are not a value of the schema; the message names the field and position, and what
                was expected and found.
            AvroResolutionError: values of the writer's schema cannot be read with this schema.
        """
        decoder = self._decoders.get(writer or self)
        if decoder is None:
            decoder = AvroObjectDecoder((writer or self).schema, self.schema)
            self._decoders[writer or self] = decoder
        return decoder.decode(data, start)

    def encode_rows(self, rows: Any, prefix: bytes = b"") -> pa.BinaryArray:
        """Encode rows of Arrow columns, each as one value.

        Args:
            rows: an array, a chunked array, a record batch or a table; the columns of the last two are a record's
                fields. A null row stays null, unless null is a value of the schema.
            prefix: bytes to write before each value.

        Raises:
            AvroEncodeError: a value does not fit the schema; the message names the row and field, and what was expected
                and found.
            AvroResolutionError: the column types cannot be written as the schema's types.
            OverflowError: the values exceed 2 GiB.
        """
        from kafka.formats.avro.column_encoder import AvroColumnEncoder

        return AvroColumnEncoder(self.schema).encode(rows, prefix)

    def decode_rows(
        self, values: Any, *, writer: Avro | None = None, writers: Mapping[int, Avro] | None = None
    ) -> tuple[pa.Array[Any], list[BadValue]]:
        """Decode values into a column.

        Args:
            values: an array, or a chunked array, of bytes; null stays null.
            writer: the schema that the values were written with, if different.
            writers: the writers' schemas by schema id; each value then begins with a zero byte and the id in four
                bytes, as written by Confluent's serializers.

        Returns:
            The column, with one row per value, and the values that could not be decoded, whose rows are null.

        Raises:
            AvroSchemaError: the schema has no column type; see `arrow_type`.
            AvroResolutionError: values of the writer's schema cannot be read with this schema.
            OverflowError: the column would exceed 2 GiB.
        """
        from kafka.formats.avro.column_decoder import AvroColumnDecoder

        values = _binary(values)
        decoder = AvroColumnDecoder(self.schema)
        if writers is None:
            decoder.use(None, (writer or self).schema)
            return decoder.decode(values, framed=False)
        if writer is not None:
            raise ValueError(
                "Expected either writer or writers, not both: values with schema ids are decoded with writers"
            )
        return decoder.decode(values, framed=True, find=lambda schema_id: _known(writers, schema_id))


def _binary(values: Any) -> Any:
    """Convert an array of bytes to a binary array.

    Raises:
        TypeError: the array does not contain bytes.
    """
    import pyarrow as pa

    made = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    if not isinstance(made, pa.Array):
        raise TypeError(f"Expected a binary array, got {type(values).__name__}")
    if made.type == pa.binary():
        return made
    if made.type not in (pa.large_binary(), pa.binary_view()) and not pa.types.is_fixed_size_binary(made.type):
        raise TypeError(f"Expected a binary array, got {made.type}")
    return made.cast(pa.binary())


def _known(writers: Mapping[int, Avro], schema_id: int) -> Schema:
    found = writers.get(schema_id)
    if found is None:
        raise AvroSchemaError(f"there is no schema with the id {schema_id}")
    return found.schema
