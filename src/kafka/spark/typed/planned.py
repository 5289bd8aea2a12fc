"""Plans a typed read from its options and the schemas that the source found."""

from collections.abc import Mapping
from typing import Any

from kafka.spark.options import ReadOptions, read_columns
from kafka.spark.schema import COLUMNS, ddl
from kafka.spark.typed.decoding import TypedRead
from kafka.spark.typed.reader_schema import ERROR_TYPE, find_reader_schemas, from_text, to_text
from kafka.spark.typed.spark_types import ddl_of


def typed_read(options: ReadOptions, found: str | None) -> TypedRead | None:
    """The typed read, or None if neither keys nor values are typed.

    Arguments:
        options: the options of the read.
        found: the schemas from `typed_schema`; None if the user gave a schema instead.

    Raises `KafkaConfigurationError`, and `SchemaRegistryError` if the registry refuses or does not answer.
    """
    if not options.typed.fields:
        return None
    schemas = find_reader_schemas(options.typed, options.selection) if found is None else from_text(found)
    return TypedRead(options.typed, schemas)


def column_types(read: TypedRead | None, *, quoted: bool = False) -> Mapping[str, str]:
    """The types of all columns that a read may have, in Spark's notation.

    Arguments:
        read: the typed read, or None.
        quoted: whether to quote names inside if necessary.
    """
    if read is None:
        return COLUMNS
    types = {each.field: ddl_of(each.spark(), quoted=quoted) for each in read.schemas}
    return {**COLUMNS, **types, **dict.fromkeys(read.options.error_columns, ERROR_TYPE)}


def typed_schema(given: Mapping[str, str], options: ReadOptions) -> tuple[str, str]:
    """The columns of a typed read in Spark's notation, and the schemas as text."""
    read: Any = typed_read(options, None)
    return ddl(read_columns(given), column_types(read, quoted=True)), to_text(read.schemas)
