"""Functions that decode and encode the columns of any DataFrame, including those read by Spark's own connector.

They are Arrow UDFs with PySpark 4.1 or later, and pandas UDFs with earlier versions. A value that cannot be decoded
ends the query, or becomes null.
"""

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kafka.errors import KafkaConfigurationError, KafkaError
from kafka.spark.options.field_options import FieldOptions, TypedOptions
from kafka.spark.options.value_parsers import Topics
from kafka.spark.requirements import INSTALL, SparkRequirementError
from kafka.spark.typed.decoding import Decode, decoder_of
from kafka.spark.typed.encoding import Encoder
from kafka.spark.typed.reader_schema import ReaderSchema, find_reader_schemas
from kafka.spark.typed.spark_types import as_spark, ddl_of, rows_that_fail
from kafka.spark.typed.writer_schema import WriterSchema, find_writer_schema

if TYPE_CHECKING:
    from pyspark.sql import Column

__all__ = ["from_avro", "from_json", "from_protobuf", "to_avro", "to_json", "to_protobuf"]

_WAIT_MS = 600_000
_NO_TOPIC = Topics(())


class ValueDecodingError(KafkaError):
    """A value cannot be decoded. The message contains the reason."""


def from_avro(
    column: "Column | str",
    schema: str | None = None,
    *,
    registry: Mapping[str, Any] | None = None,
    subject: str | None = None,
    version: int | None = None,
    errors: str = "fail",
) -> "Column":
    """Decode Avro values into a column with their schema's type.

    Arguments:
        column: a column of bytes.
        schema: the reader's schema, as JSON.
        registry: options of `SchemaRegistryClient`. Values must start with a zero byte and the id of their writer's
            schema, which is looked up in the registry. If None, the values were written with `schema` and have no id.
        subject: the subject of the reader's schema, instead of `schema`.
        version: the version within the subject; None for the current latest version.
        errors: "fail" ends the query at a value that cannot be decoded; "null" makes the value null.

    Raises `KafkaConfigurationError` for conflicting arguments or a schema that Spark cannot represent, and
    `SchemaRegistryError`.
    """
    options = FieldOptions("value", "avro", schema, subject=subject, version=version)
    return _decoded(column, options, registry, errors)


def from_json(column: "Column | str", schema: str, *, errors: str = "fail") -> "Column":
    """Decode JSON values strictly, and faster than Spark's function, into a column with their schema's type.

    Arguments:
        column: a column of bytes or strings.
        schema: column definitions as in SQL, the JSON form of a Spark type, or a JSON Schema.
        errors: "fail" ends the query at a value that cannot be decoded; "null" makes the value null.

    Raises `KafkaConfigurationError` for a schema that Spark cannot represent.
    """
    return _decoded(column, FieldOptions("value", "json", schema), None, errors)


def from_protobuf(
    column: "Column | str",
    schema: str | None = None,
    message: str | None = None,
    *,
    registry: Mapping[str, Any] | None = None,
    subject: str | None = None,
    version: int | None = None,
    errors: str = "fail",
) -> "Column":
    """Decode Protobuf values into a column with their message's type.

    Arguments:
        column: a column of bytes.
        schema: the text of a .proto file, or its descriptors in base64.
        message: the name of the message; None for the first message in the schema.
        registry: options of `SchemaRegistryClient`. Values must start with a zero byte, the id of their schema and the
            index of the message. If None, the values consist of the message only.
        subject: the subject of the schema, instead of `schema`.
        version: the version within the subject; None for the current latest version.
        errors: "fail" ends the query at a value that cannot be decoded; "null" makes the value null.

    Raises `KafkaConfigurationError` for conflicting arguments or a schema that Spark cannot represent, and
    `SchemaRegistryError`.
    """
    options = FieldOptions("value", "protobuf", schema, subject=subject, version=version, message=message)
    return _decoded(column, options, registry, errors)


def to_avro(
    column: "Column | str",
    schema: str | None = None,
    *,
    registry: Mapping[str, Any] | None = None,
    subject: str | None = None,
    version: int | None = None,
    register: bool = True,
) -> "Column":
    """Encode the values of a column as Avro.

    Arguments:
        column: a column with the schema's type; a struct for a record.
        schema: the writer's schema, as JSON; None for the subject's schema.
        registry: options of `SchemaRegistryClient`. Values then start with the id of the schema. If None, values have
            no id.
        subject: the subject in which to register or look up the schema.
        version: the version within the subject, if `schema` is None; None for the current latest version.
        register: whether to register the schema; otherwise, it is only looked up.

    Raises `KafkaConfigurationError` for conflicting arguments, and `SchemaRegistryError`.
    """
    options = FieldOptions("value", "avro", schema, subject=subject, version=version)
    return _encoded(column, options, registry, register)


def to_protobuf(
    column: "Column | str",
    schema: str | None = None,
    message: str | None = None,
    *,
    registry: Mapping[str, Any] | None = None,
    subject: str | None = None,
    version: int | None = None,
    register: bool = True,
) -> "Column":
    """Encode the values of a column as Protobuf messages.

    Arguments:
        column: a struct with the message's fields. Fields that the struct lacks are not set.
        schema: the text of a .proto file, or its descriptors in base64; None for the subject's schema.
        message: the name of the message; None for the first message in the schema.
        registry, subject, version, register: as in `to_avro`; the index of the message follows the schema id.

    Raises `KafkaConfigurationError` for conflicting arguments, and `SchemaRegistryError`.
    """
    options = FieldOptions("value", "protobuf", schema, subject=subject, version=version, message=message)
    return _encoded(column, options, registry, register)


def to_json(column: "Column | str") -> "Column":
    """Encode the values of a column as compact JSON in UTF-8.

    Arguments:
        column: a column of any type that JSON can represent.
    """
    return _encoded_column(column, WriterSchema("value", "json"))


def _typed(options: FieldOptions, registry: Mapping[str, Any] | None, *, register: bool = True) -> TypedOptions:
    given = dict(registry or {})
    if isinstance(given.get("url"), (list, tuple)):
        given["url"] = ",".join(given["url"])
    conf = tuple(sorted(given.items()))
    if registry is None and (options.subject is not None or options.version is not None):
        raise KafkaConfigurationError("subject and version require a registry")
    return TypedOptions((options,), conf, _WAIT_MS, register)


def _decoded(
    column: "Column | str", options: FieldOptions, registry: Mapping[str, Any] | None, errors: str
) -> "Column":
    if errors not in ("fail", "null"):
        raise KafkaConfigurationError(f"errors must be 'fail' or 'null', not {errors!r}")
    typed = _typed(options, registry)
    if options.schema is None and options.subject is None:
        raise KafkaConfigurationError(f"from_{options.format} requires a schema, or registry and subject")
    (schema,) = find_reader_schemas(typed, _NO_TOPIC)
    return _decoded_column(column, schema, typed, errors)


def _encoded(
    column: "Column | str", options: FieldOptions, registry: Mapping[str, Any] | None, register: bool
) -> "Column":
    if options.schema is None and options.subject is None:
        raise KafkaConfigurationError(f"to_{options.format} requires a schema, or registry and subject")
    if registry is not None and options.subject is None:
        raise KafkaConfigurationError(f"to_{options.format} requires a subject to find the schema's id in the registry")
    typed = _typed(options, registry, register=register and options.schema is not None)
    return _encoded_column(column, find_writer_schema(options, typed, None, None))


def _decoded_column(column: "Column | str", schema: ReaderSchema, typed: TypedOptions, errors: str) -> "Column":
    import pyarrow as pa

    decoded = functools.partial(_decode, schema, typed, errors)
    if not _has_arrow_udfs():
        return _pandas_functions().decoded(column, decoded, schema.spark())
    from pyspark.sql.functions import arrow_udf

    def decode(values: pa.Array) -> pa.Array:  # type: ignore[type-arg]  # Spark inspects these types
        made: pa.Array[Any] = decoded(values)
        return made

    made: Column = arrow_udf(decode, ddl_of(schema.spark()))(column)
    return made


def _encoded_column(column: "Column | str", schema: WriterSchema) -> "Column":
    import pyarrow as pa

    encoded = functools.partial(_encode, schema)
    if not _has_arrow_udfs():
        return _pandas_functions().encoded(column, encoded)
    from pyspark.sql.functions import arrow_udf

    def encode(rows: pa.Array) -> pa.Array:  # type: ignore[type-arg]
        made: pa.Array[Any] = encoded(rows)
        return made

    made: Column = arrow_udf(encode, "binary")(column)
    return made


def _has_arrow_udfs() -> bool:
    import pyspark.sql.functions

    return hasattr(pyspark.sql.functions, "arrow_udf")


def _pandas_functions() -> Any:
    import pyspark.sql.functions

    if not hasattr(pyspark.sql.functions, "typeof"):
        raise SparkRequirementError(f"kafka.spark.functions needs PySpark 3.5 or later: {INSTALL} --upgrade")
    try:
        import kafka.spark.pandas_functions as found
    except ImportError as error:
        raise SparkRequirementError(
            f"kafka.spark.functions needs pandas and pyarrow with PySpark before 4.1: {INSTALL}"
        ) from error
    return found


@functools.lru_cache(8)
def _decoder(schema: ReaderSchema, typed: TypedOptions) -> Decode:
    return decoder_of(schema, typed)


@functools.lru_cache(8)
def _encoder(schema: WriterSchema) -> Encoder:
    return Encoder(schema)


def _encode(schema: WriterSchema, rows: Any) -> Any:
    return _encoder(schema).encode(rows)


@functools.lru_cache(8)
def _check_type(format_: str, type_: Any) -> None:
    """Raise `ValueDecodingError` unless a column contains bytes or strings.

    The result is cached, so later batches with the same type are not checked again.
    """
    from pyarrow import types

    is_kinds = (types.is_string, types.is_binary, types.is_large_string, types.is_large_binary, types.is_null)
    if not any(is_kind(type_) for is_kind in is_kinds):
        raise ValueDecodingError(
            f"from_{format_} expects a column of type binary or string, got one of Arrow's type {type_}"
        )


def _decode(schema: ReaderSchema, typed: TypedOptions, errors: str, values: Any) -> Any:
    import pyarrow as pa

    _check_type(schema.format, values.type)
    column, bad = _decoder(schema, typed)(values.cast(pa.binary()), None)
    wanted = schema.spark()
    failures = {each.row: each for each in bad}
    if failures and errors == "fail":
        first = failures[min(failures)]
        id_ = "" if first.schema_id is None else f" with schema id {first.schema_id}"
        raise ValueDecodingError(f"cannot read a value{id_} as {schema.format}: {first.cause}")
    try:
        return as_spark(column, wanted)
    except pa.ArrowInvalid as error:
        if errors == "fail":
            raise ValueDecodingError(f"Spark cannot hold a value: {error}") from error
    out_of_range = rows_that_fail(column, wanted)
    kept = [None if row in out_of_range else row for row in range(len(column))]
    return as_spark(column.take(pa.array(kept, pa.int32())), wanted)
