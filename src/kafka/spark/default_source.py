"""Determines the columns of a read before Spark creates a reader.

This module checks the options and finds the schemas of typed keys and values.

`pyspark_kafka_columnar.DefaultSource`, the class that Spark finds, calls `begin` and `schema`; the readers call
`planned_types`. Modules for typed columns are imported only if a read has such columns, because otherwise each of
Spark's processes would have to import them.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kafka.spark.options.parsing import ReadOptions, check_names, check_read, read_columns
from kafka.spark.options.row_schema import COLUMNS, ddl
from kafka.spark.requirements import check_pyspark
from kafka.spark.spark_calls import begin_call, without_traceback

if TYPE_CHECKING:
    from kafka.spark.typed.decoding import TypedRead


@without_traceback
def begin(options: Mapping[str, str]) -> None:
    """Check that PySpark is installed and that all options are known.

    Raises `SparkRequirementError` if a requirement is missing, and `KafkaConfigurationError` for an unknown option.
    """
    check_pyspark()
    begin_call()
    check_names(options)


@without_traceback
def schema(options: Mapping[str, str]) -> tuple[str, str | None]:
    """Return the columns of a read without a user schema, and the current schemas of typed columns, as text.

    Raises `KafkaConfigurationError` if the options are not valid for any read.
    """
    read = check_read(options)
    if not read.typed.fields:
        return ddl(read_columns(options)), None
    return typed_schema(options, read)


def typed_schema(given: Mapping[str, str], options: ReadOptions) -> tuple[str, str]:
    """Return the columns of a typed read in Spark's notation, and the schemas as text."""
    from kafka.spark.typed.reader_schema import to_text

    read: Any = typed_read(options, None)
    return ddl(read_columns(given), column_types(read, quoted=True)), to_text(read.schemas)


def schema_fields(schema: Any) -> list[tuple[str, str, bool]]:
    """Return the fields of a Spark schema: name, type in Spark's notation, and whether the field is nullable."""
    return [(field.name, field.dataType.simpleString(), field.nullable) for field in schema.fields]


def planned_types(options: ReadOptions, schemas: str | None) -> "tuple[TypedRead | None, Mapping[str, str]]":
    """Return the typed part of a read, and the types of all columns that it can have."""
    if not options.typed.fields:
        return None, COLUMNS
    typed = typed_read(options, schemas)
    return typed, column_types(typed)


def typed_read(options: ReadOptions, found: str | None) -> "TypedRead | None":
    """Return the typed read, or None if neither keys nor values are typed.

    Arguments:
        options: the options of the read.
        found: the schemas from `typed_schema`; None if the user has specified a schema instead.

    Raises `KafkaConfigurationError`, and `SchemaRegistryError` if the registry rejects a request or does not answer.
    """
    if not options.typed.fields:
        return None
    from kafka.spark.typed.decoding import TypedRead
    from kafka.spark.typed.reader_schema import find_reader_schemas, from_text

    schemas = find_reader_schemas(options.typed, options.selection) if found is None else from_text(found)
    return TypedRead(options.typed, schemas)


def column_types(read: "TypedRead | None", *, quoted: bool = False) -> Mapping[str, str]:
    """Return the types of all columns that a read can have, in Spark's notation.

    Arguments:
        read: the typed read, or None.
        quoted: whether to quote the names of nested fields if necessary.
    """
    if read is None:
        return COLUMNS
    from kafka.spark.typed.reader_schema import ERROR_TYPE
    from kafka.spark.typed.spark_types import ddl_of

    types = {each.field: ddl_of(each.spark(), quoted=quoted) for each in read.schemas}
    types |= dict.fromkeys(read.options.error_columns, ERROR_TYPE)
    return {**COLUMNS, **types, **dict.fromkeys(read.options.bytes_columns, "binary")}
