"""Encodes the typed columns of a task's rows as bytes."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from kafka.errors import KafkaError
from kafka.formats.value_framing import prefix_of, prefixed
from kafka.spark.options.field_options import FIELDS, PLAIN_FORMATS, bytes_column
from kafka.spark.typed.reader_schema import protobuf_of
from kafka.spark.typed.writer_schema import WriterSchema

if TYPE_CHECKING:
    import pyarrow


class RowEncodingError(KafkaError):
    """A row's key or value cannot be written in its format. The message contains the reason."""


def encoded(
    batches: Iterator["pyarrow.RecordBatch"], schemas: Sequence[WriterSchema], *, original_bytes: bool = False
) -> Iterator["pyarrow.RecordBatch"]:
    """Yield the batches with typed columns encoded as bytes.

    Arguments:
        batches: the rows.
        schemas: the schemas of the typed columns.
        original_bytes: whether the bytes in columns such as value_bytes, if not null, replace encoded values.

    Raises `RowEncodingError`.
    """
    encoders = {each.field: Encoder(each) for each in schemas}
    for batch in batches:
        made = batch
        for field in FIELDS:
            made = _with_bytes(made, field, encoders.get(field), original_bytes=original_bytes)
        yield made


def _with_bytes(
    batch: "pyarrow.RecordBatch", field: str, encoder: "Encoder | None", *, original_bytes: bool
) -> "pyarrow.RecordBatch":
    """Return the batch with the keys or the values as bytes. Without an encoder, they already are bytes or strings."""
    import pyarrow as pa

    names = batch.schema.names
    original = bytes_column(field) if original_bytes and bytes_column(field) in names else None
    if field not in names or (encoder is None and original is None):
        return batch

    def encode(column: Any) -> Any:
        return column.cast(pa.binary()) if encoder is None else encoder.encode(column)

    at = names.index(field)
    column = batch.column(at)
    made = encode(column) if original is None else _replaced(column, batch.column(original), encode)
    return batch.set_column(at, pa.field(field, pa.binary()), made)


def _replaced(column: Any, original: Any, encode: Callable[[Any], Any]) -> Any:
    """Return the original bytes, and, where these are null, the encoded rows of the column. Other rows are not read."""
    import pyarrow as pa
    import pyarrow.compute

    compute: Any = pyarrow.compute
    if not original.null_count:
        return original.cast(pa.binary())
    if original.null_count == len(original):
        return encode(column)
    is_encoded = original.is_null()
    return compute.replace_with_mask(original.cast(pa.binary()), is_encoded, encode(column.filter(is_encoded)))


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

    def encode(self, column: Any) -> Any:
        """Encode the values of a column as a binary array; null stays null. Raises `RowEncodingError`."""
        try:
            return self._values(column)
        except (ValueError, TypeError, OverflowError) as error:
            raise RowEncodingError(
                f"column {self._schema.field!r} cannot be written as {self._schema.format}: {error}"
            ) from error

    def _values(self, column: Any) -> Any:
        if self._avro is not None:
            return _nulls_of(column, self._avro.encode(column, self._prefix))
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


def _nulls_of(column: Any, made: Any) -> Any:
    """Make null what is null in the column, although null may be a value of an Avro schema, with bytes of its own."""
    if made.null_count == column.null_count:
        return made
    import pyarrow as pa
    import pyarrow.compute

    compute: Any = pyarrow.compute
    return compute.if_else(column.is_valid(), made, pa.scalar(None, pa.binary()))
