"""Decodes the keys and values of a task's records into columns of Spark's types."""

import dataclasses
import functools
import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kafka.errors import KafkaError
from kafka.formats.bad_values import BadValue, error_column
from kafka.spark.options.field_options import (
    PLAIN_FORMATS,
    REGISTRY_FORMATS,
    FieldOptions,
    TypedOptions,
    bytes_column,
)
from kafka.spark.typed.reader_schema import ReaderSchema, protobuf_of
from kafka.spark.typed.registry import client_of, wait_for_registry

if TYPE_CHECKING:
    import pyarrow

log = logging.getLogger(__name__)

PLACE = ("topic", "partition", "offset")
"""The columns with a record's position."""

HEADERS = "headers"

Decode = Callable[[Any, Any], "tuple[Any, list[BadValue]]"]
"""Decodes values into a column. The second argument is the records' headers, which may name schemas, or None."""


class RecordDecodingError(KafkaError):
    """A record's key or value cannot be decoded. The message names the record and the reason."""


@dataclasses.dataclass(frozen=True, slots=True)
class TypedRead:
    """A read whose keys or values are typed.

    Arguments:
        options: the options of the read.
        schemas: one schema for each field of the options.
    """

    options: TypedOptions
    schemas: tuple[ReaderSchema, ...]

    def raw_columns(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the columns that must be fetched in order to create these columns."""
        own = (*self.options.error_columns, *self.options.bytes_columns)
        wanted = [name for name in names if name not in own]
        for each in self.options.fields:
            of_field = (f"{each.field}_error", bytes_column(each.field))
            if each.field not in wanted and any(name in own and name in names for name in of_field):
                wanted.append(each.field)
        if any(each.field in names for each in self.options.fields):
            wanted += [name for name in PLACE if name not in wanted]
        decoded = self.decoded_fields(names)
        if HEADERS not in wanted and any(
            schema.field in decoded and is_framed(schema, self.options) for schema in self.schemas
        ):
            wanted.append(HEADERS)
        return tuple(wanted)

    def decoded_fields(self, names: Collection[str]) -> set[str]:
        """Return which of key and value must be decoded in order to create these columns."""
        errors = self.options.error_columns
        wanted = {*names, *(name.removesuffix("_error") for name in names if name in errors)}
        return {each.field for each in self.options.fields if each.field in wanted}

    def decoder(self, names: Sequence[str], not_null: Collection[str] = ()) -> "TypedBatches":
        """Return an object that creates these columns from those of `raw_columns`, for one task."""
        return TypedBatches(self, names, not_null)


class TypedBatches:
    """Creates the batches of one task.

    Arguments:
        read: the typed read.
        names: the columns to create, in order.
        not_null: the columns that are not nullable in Spark's schema.
    """

    def __init__(self, read: TypedRead, names: Sequence[str], not_null: Collection[str] = ()) -> None:
        self._names = tuple(names)
        self._not_null = not_null
        decoded = read.decoded_fields(names)
        self._fields = [
            _FieldColumns(options, schema, read.options)
            for options, schema in zip(read.options.fields, read.schemas, strict=True)
            if options.field in decoded
        ]
        self._bytes = {
            name: options.field for options in read.options.fields if (name := bytes_column(options.field)) in names
        }
        """The fields whose undecoded bytes are in a column, by the name of that column."""

    def batches(self, raw: Iterator["pyarrow.RecordBatch"]) -> Iterator["pyarrow.RecordBatch"]:
        """Yield typed batches from batches of the fetched columns. Raises `RecordDecodingError`."""
        for batch in raw:
            yield self.of(batch)

    def of(self, batch: "pyarrow.RecordBatch") -> "pyarrow.RecordBatch":
        """Convert one batch."""
        import pyarrow as pa

        columns: dict[str, Any] = dict(zip(batch.schema.names, batch.columns, strict=True))
        columns |= {name: columns[field] for name, field in self._bytes.items()}
        for each in self._fields:
            columns |= each.columns(columns)
        arrays = [columns[name] for name in self._names]
        fields = [
            pa.field(name, array.type, name not in self._not_null)
            for name, array in zip(self._names, arrays, strict=True)
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))


class _FieldColumns:
    """Creates the column for keys or values, and the column for their errors."""

    def __init__(self, options: FieldOptions, schema: ReaderSchema, typed: TypedOptions) -> None:
        self._options = options
        self._type: Any = schema.spark()
        self._decode = decoder_of(schema, typed)
        self._told: set[tuple[str, int]] = set()

    def columns(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the columns for records. Raises `RecordDecodingError` for a bad record unless errors are tolerated."""
        name = self._options.field
        values = given[name]
        decoded, bad = self._decode(values, given.get(HEADERS))
        failures = {each.row: each for each in bad}
        column = self._as_spark(decoded, failures)
        if failures and self._options.errors != "column":
            self._tell(given, failures)
        made = {name: column}
        if self._options.errors == "column":
            made[f"{name}_error"] = error_column(values, failures)
        return made

    def _as_spark(self, decoded: Any, failures: dict[int, BadValue]) -> Any:
        import pyarrow as pa

        from kafka.spark.typed.spark_types import as_spark, rows_that_fail

        try:
            return as_spark(decoded, self._type)
        except pa.ArrowInvalid:
            pass
        out_of_range = rows_that_fail(decoded, self._type)
        failures |= {
            row: BadValue(row, None, f"Spark cannot represent it: {cause}") for row, cause in out_of_range.items()
        }
        kept = [None if row in out_of_range else row for row in range(len(decoded))]
        return as_spark(decoded.take(pa.array(kept, pa.int32())), self._type)

    def _tell(self, given: Mapping[str, Any], failures: Mapping[int, BadValue]) -> None:
        options = self._options
        row = min(failures)
        schema_id, cause = failures[row].schema_id, failures[row].cause
        topic, partition, offset = (given[name][row].as_py() for name in PLACE)
        text = (
            f"the {options.field} of the record at topic {topic}, partition {partition}, offset {offset}"
            f"{'' if schema_id is None else f' with schema id {schema_id}'} cannot be read as {options.format}: {cause}"
        )
        if options.errors == "fail":
            raise RecordDecodingError(
                f"{text}; with the option {options.option('Errors')} such {options.field}s become null (null), or "
                f"are moved to a column {options.field}_error (column)"
            )
        if (topic, partition) not in self._told:
            self._told.add((topic, partition))
            log.warning("%s; it is read as null (%s=null), and so are similar ones", text, options.option("Errors"))


def is_framed(schema: ReaderSchema, typed: TypedOptions) -> bool:
    """Return whether schema ids precede the values or are in the headers."""
    return bool(typed.registry) and schema.format in REGISTRY_FORMATS


def decoder_of(schema: ReaderSchema, typed: TypedOptions) -> Decode:
    """Create the decoder for keys or values in a format, for one task. The decoder is not thread-safe."""
    if is_framed(schema, typed):
        return _registry_decoder(schema, typed)
    if schema.format in PLAIN_FORMATS:
        from kafka.formats.plain_columns import PlainColumns

        return _without_headers(PlainColumns(schema.format).decode)
    if schema.format == "protobuf":
        return _without_headers(protobuf_of(schema.text, schema.message, schema.references).decode_rows)
    if schema.format == "avro":
        from kafka.formats.avro.column_decoder import AvroColumnDecoder

        avro = schema.avro()
        avro_decoder = AvroColumnDecoder(avro)
        avro_decoder.use(None, avro)
        return _without_headers(lambda values: avro_decoder.decode(values, framed=False))
    from kafka.formats.json.column_decoder import JsonColumnDecoder

    return _without_headers(JsonColumnDecoder(schema.text, references=dict(schema.references)).decode)


def _without_headers(decode: Callable[[Any], "tuple[Any, list[BadValue]]"]) -> Decode:
    return lambda values, headers: decode(values)


def _registry_decoder(schema: ReaderSchema, typed: TypedOptions) -> Decode:
    """Create a decoder for values with schemas in the registry. The decoder waits if the registry does not respond."""
    from kafka.formats.column_io import SchemaNeeded
    from kafka.formats.registry._sync.column_calls import RegistryReader
    from kafka.formats.registry.schema_objects import Schema

    client = client_of(typed.registry)  # the client caches the schemas that earlier tasks have used
    subject = next(each.subject for each in typed.fields if each.field == schema.field)
    reader = RegistryReader(client, subject, Schema(schema.text, REGISTRY_FORMATS[schema.format]), schema.parsed())

    def decode(values: Any, headers: Any) -> "tuple[Any, list[BadValue]]":
        while True:
            try:
                return reader.decode_known(values, headers, schema.field)
            except SchemaNeeded as needed:
                for name in needed.names:
                    what = f"looking for schema {name}" if isinstance(name, str) else f"looking for schema id {name}"
                    wait_for_registry(functools.partial(reader.look_up, [name]), typed.registry_wait_ms, what)

    return decode
