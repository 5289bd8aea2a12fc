"""The schema for a typed write, found (and registered if necessary) once when the write is planned."""

import dataclasses
import re
from typing import TYPE_CHECKING, Any

from kafka.errors import KafkaConfigurationError
from kafka.formats.registry._sync.named_schemas import parsed_avro, referenced_texts
from kafka.spark.options.field_options import PLAIN_FORMATS, REGISTRY_FORMATS, FieldOptions, TypedOptions
from kafka.spark.typed.reader_schema import protobuf_of, schema_text
from kafka.spark.typed.registry import client_of, wait_for_registry

if TYPE_CHECKING:
    import pyarrow

    from kafka.formats.registry.schema_objects import Schema


@dataclasses.dataclass(frozen=True, slots=True)
class WriterSchema:
    """The schema of keys or values.

    Arguments:
        field: "key" or "value".
        format: one of `FORMATS`.
        text: the schema; "" if the format has none.
        references: names and texts of the referenced schemas. Each schema comes after its own references.
        schema_id: the id to write before each value, or None.
        message: for Protobuf, the name of the message; "" for the first message.
    """

    field: str
    format: str
    text: str = ""
    references: tuple[tuple[str, str], ...] = ()
    schema_id: int | None = None
    message: str = ""


def find_writer_schema(
    field: FieldOptions, typed: TypedOptions, topic: str | None, type_: "pyarrow.DataType | None"
) -> WriterSchema:
    """Find the schema for writing a column.

    Arguments:
        field: the column's options.
        typed: the options of all typed columns.
        topic: the topic; None if a column names it.
        type_: the column's type; None if options specify the schema.

    Raises `KafkaConfigurationError`, and `SchemaRegistryError` if the registry rejects a request, or does not respond
    within schemaRegistryWait.
    """
    if field.format in PLAIN_FORMATS:
        return WriterSchema(field.field, field.format)
    text = schema_text(field)
    if field.format not in REGISTRY_FORMATS or not typed.registry:
        if field.format == "avro":
            text = text if text is not None else _derived(field, f"{topic or 'row'}-{field.field}", type_)
        if field.format == "protobuf" and text is None:
            raise KafkaConfigurationError(
                f"option {field.option('Format')!r} protobuf needs {field.option('Schema')}, "
                f"{field.option('SchemaFile')} or schemaRegistryUrl to define the message"
            )
        return _checked(WriterSchema(field.field, field.format, text or "", message=field.message or ""))
    subject = field.subject
    if subject is None:
        if topic is None:
            raise KafkaConfigurationError(
                f"option {field.option('Subject')!r} is required because the rows' column 'topic' decides where they "
                "go: it names the subject in the registry for all of them"
            )
        subject = f"{topic}-{field.field}"
    what = f"looking for the schema of subject {subject}"
    return wait_for_registry(lambda: _registered(field, typed, subject, text, type_), typed.registry_wait_ms, what)


def _registered(field: FieldOptions, typed: TypedOptions, subject: str, text: str | None, type_: Any) -> WriterSchema:
    from kafka.formats.registry.schema_objects import Schema

    client = client_of(typed.registry)
    kind = REGISTRY_FORMATS[field.format]
    if text is None and (field.version is not None or not typed.register or field.format != "avro"):
        registered = client.get_version(subject, "latest" if field.version is None else field.version)
        if (registered.schema.schema_type or "AVRO") != kind:
            raise KafkaConfigurationError(
                f"option {field.option('Format')!r} is {field.format}, but subject {subject!r} has schemas of the type "
                f"{registered.schema.schema_type}"
            )
        references = referenced_texts(registered.schema, client, kind)
        return _made(field, registered.schema, registered.schema_id, tuple(references.items()))
    schema = Schema(text if text is not None else _derived(field, subject, type_), kind)
    if field.format == "avro":
        _check(field, client, schema)
    if field.format == "protobuf":
        _checked(WriterSchema(field.field, field.format, schema.schema_str or "", message=field.message or ""))
    ask = client.register_schema_full_response if typed.register else client.lookup_schema
    found = ask(subject, schema)
    return _made(field, schema, found.schema_id, ())


def _check(field: FieldOptions, client: Any, schema: "Schema") -> None:
    try:
        parsed_avro(schema, client)
    except ValueError as error:
        raise KafkaConfigurationError(f"option {field.option('Schema')!r}: {error}") from error


def _made(
    field: FieldOptions, schema: "Schema", schema_id: int | None, references: tuple[tuple[str, str], ...]
) -> WriterSchema:
    if schema_id is None:
        raise KafkaConfigurationError(f"the registry returned no id for the schema of {field.field}s")
    text = schema.schema_str or ""
    return _checked(WriterSchema(field.field, field.format, text, references, schema_id, field.message or ""))


def _checked(schema: WriterSchema) -> WriterSchema:
    """Return the schema if messages can be written with it; otherwise raise `KafkaConfigurationError`."""
    if schema.format == "protobuf":
        try:
            _ = protobuf_of(schema.text, schema.message, schema.references).type
        except ValueError as error:
            raise KafkaConfigurationError(f"cannot write with the schema of {schema.field}s: {error}") from error
    return schema


def record_name(subject: str) -> str:
    """Return the name of the record in an Avro schema that is derived from columns.

    Arguments:
        subject: the subject under which the schema is registered, such as ``flights-value``.
    """
    name = re.sub(r"\W", "_", subject, flags=re.ASCII)
    return f"_{name}" if name[:1].isdigit() else name


def _derived(field: FieldOptions, subject: str, type_: Any) -> str:
    """Return an Avro schema for a column: a record named after the subject."""
    import json

    from kafka.formats.avro.arrow_types import avro_schema_of

    try:
        return json.dumps(avro_schema_of(type_, record_name(subject)))
    except ValueError as error:
        raise KafkaConfigurationError(f"column {field.field!r} has no Avro schema: {error}") from error
