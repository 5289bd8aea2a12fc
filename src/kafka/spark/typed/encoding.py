"""Encodes the typed columns of a task's rows as bytes."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from kafka.errors import KafkaError
from kafka.formats.value_framing import prefix_of, prefixed
from kafka.spark.options.field_options import PLAIN_FORMATS
from kafka.spark.typed.reader_schema import protobuf_of
from kafka.spark.typed.writer_schema import WriterSchema

if TYPE_CHECKING:
    import pyarrow


class RowEncodingError(KafkaError):
    """A row's key or value cannot be written in its format. The message contains the reason."""


def encoded(
    batches: Iterator["pyarrow.RecordBatch"], schemas: Sequence[WriterSchema]
) -> Iterator["pyarrow.RecordBatch"]:
    """Yield the batches with typed columns encoded as bytes. Raises `RowEncodingError`."""
    encoders = [Encoder(each) for each in schemas]
    for batch in batches:
        made = batch
        for each in encoders:
            made = each.of(made)
        yield made


class Encoder:
    """Encodes one column."""

    def __init__(self, schema: WriterSchema) -> None:
        self._schema = schema
        self._avro: Any = None
        self._json_type: Any = None
        self._protobuf: Any = None
        indexes = None
        if schema.format == "protobuf":
            from kafka.formats.protobuf.descriptors import indexes_of

            self._protobuf = protobuf_of(schema.text, schema.message, schema.references)
            indexes = indexes_of(self._protobuf.descriptor)
        self._prefix = prefix_of(schema.schema_id, indexes)
        if schema.format == "avro":
            from kafka.formats.avro.column_encoder import AvroColumnEncoder
            from kafka.formats.avro.schema import Schema, parse_named

            named: dict[str, Schema] = {}
            for _, text in schema.references:
                _, named = parse_named(text, named)
            self._avro = AvroColumnEncoder(parse_named(schema.text, named)[0])

    def of(self, batch: "pyarrow.RecordBatch") -> "pyarrow.RecordBatch":
        """Return the batch with the column encoded."""
        import pyarrow as pa

        at = batch.schema.names.index(self._schema.field) if self._schema.field in batch.schema.names else -1
        if at < 0:
            return batch
        return batch.set_column(at, pa.field(self._schema.field, pa.binary()), self.encode(batch.column(at)))

    def encode(self, column: Any) -> Any:
        """Encode the values of a column as a binary array. Raises `RowEncodingError`."""
        try:
            return self._values(column)
        except (ValueError, TypeError, OverflowError) as error:
            raise RowEncodingError(
                f"column {self._schema.field!r} cannot be written as {self._schema.format}: {error}"
            ) from error

    def _values(self, column: Any) -> Any:
        if self._avro is not None:
            return self._avro.encode(column, self._prefix)
        if self._protobuf is not None:
            return prefixed(self._protobuf.encode_rows(column), self._prefix)
        if self._schema.format in PLAIN_FORMATS:
            from kafka.formats.plain_columns import PlainColumns

            plain = PlainColumns(self._schema.format)
            return plain.encode(column.cast(plain.type))
        from kafka.formats.json.column_encoder import JsonColumnEncoder

        return prefixed(JsonColumnEncoder(column.type).encode(self._of_schema(column)), self._prefix)

    def _of_schema(self, column: Any) -> Any:
        """Return the column if its rows fit the JSON Schema; otherwise raise ValueError."""
        if not self._schema.text:
            return column
        from kafka.formats.arrow_arrays import check_kind
        from kafka.formats.json.column_encoder import check_required
        from kafka.formats.json.schema import arrow_type

        if self._json_type is None:
            self._json_type = arrow_type(self._schema.text, dict(self._schema.references))
        check_kind(column.type, self._json_type, allows_more=True)
        check_required(column, self._json_type)
        return column
