"""The schema for a typed read, determined once when the read is planned, and the same for all its tasks.

Spark creates the source in one process and plans it in others. The schema is passed on as text, so that a newer version
in the registry has no effect until the program loads the DataFrame again.
"""

import base64
import dataclasses
import functools
import hashlib
import json
import pathlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kafka.errors import KafkaConfigurationError
from kafka.formats.registry._sync.named_schemas import referenced_texts
from kafka.spark.options.field_options import PLAIN_FORMATS, REGISTRY_FORMATS, FieldOptions, TypedOptions
from kafka.spark.options.value_parsers import Partitions, Selection, Topics
from kafka.spark.typed.registry import client_of

if TYPE_CHECKING:
    import pyarrow

    from kafka.formats.protobuf.codec import Protobuf

ERROR_TYPE = "struct<cause:string,bytes:binary>"
"""The type of the columns key_error and value_error."""


@dataclasses.dataclass(frozen=True, slots=True)
class ReaderSchema:
    """The schema of keys or values.

    Arguments:
        field: "key" or "value".
        format: one of `FORMATS`.
        text: the schema; "" if the format has none.
        references: names and texts of the referenced schemas. Each schema comes after its own references.
        origin: where the schema comes from, for errors.
        chosen: True if options specify the schema; False if it was the latest version when the read was planned.
        message: for Protobuf, the name of the message; "" for the first message.
    """

    field: str
    format: str
    text: str = ""
    references: tuple[tuple[str, str], ...] = ()
    origin: str = ""
    chosen: bool = True
    message: str = ""

    @property
    def fingerprint(self) -> str:
        """A hash of the schema that consists of letters and digits."""
        content = json.dumps([self.format, self.text, self.references, *filter(None, [self.message])])
        return hashlib.sha256(content.encode()).hexdigest()[:16]

    def avro(self) -> Any:
        """Return the parsed schema if the format is Avro. Raises `AvroSchemaError`."""
        from kafka.formats.avro.schema import Schema, parse_named

        named: dict[str, Schema] = {}
        for _, text in self.references:
            _, named = parse_named(text, named)
        return parse_named(self.text, named)[0]

    def parsed(self) -> Any:
        """Return the schema for a `RegistryReader`: parsed for Avro, a `Json` or `Protobuf` for the other formats."""
        if self.format == "avro":
            return self.avro()
        if self.format == "protobuf":
            return protobuf_of(self.text, self.message, self.references)
        from kafka.formats.json.codec import Json

        return Json(self.text, references=dict(self.references))

    def arrow(self) -> "pyarrow.DataType":
        """Return the type of the decoded column.

        Raises `AvroSchemaError`, `JsonSchemaError` or `ProtobufSchemaError`.
        """
        if self.format in PLAIN_FORMATS:
            from kafka.formats.plain_columns import PlainColumns

            return PlainColumns(self.format).type
        if self.format == "avro":
            from kafka.formats.avro.arrow_types import target_of

            return target_of(self.avro()).arrow
        if self.format == "protobuf":
            return protobuf_of(self.text, self.message, self.references).type
        from kafka.formats.json.schema import arrow_type

        return arrow_type(self.text, dict(self.references))

    def spark(self) -> "pyarrow.DataType":
        """Return the type of the column in Spark. Raises `KafkaConfigurationError` if Spark has none."""
        from kafka.spark.typed.spark_types import spark_arrow

        try:
            found: pyarrow.DataType = spark_arrow(self.arrow())
        except ValueError as error:
            raise KafkaConfigurationError(f"cannot read the {self.described} as a column: {error}") from error
        return found

    @property
    def described(self) -> str:
        """A description of the schema for errors."""
        return f"schema of {self.field}s{f' ({self.origin})' if self.origin else ''}"


def find_reader_schemas(typed: TypedOptions, selection: Selection) -> tuple[ReaderSchema, ...]:
    """Return the current schemas that the options specify.

    Raises `KafkaConfigurationError`, and `SchemaRegistryError` if the registry rejects a request or does not answer.
    """
    return tuple(_found(each, typed, selection) for each in typed.fields)


def _found(field: FieldOptions, typed: TypedOptions, selection: Selection) -> ReaderSchema:
    if field.format in PLAIN_FORMATS:
        return ReaderSchema(field.field, field.format)
    text = schema_text(field)
    if text is not None:
        origin = "given as an option"
        found = ReaderSchema(field.field, field.format, text, origin=origin, message=field.message or "")
    elif typed.registry and field.format != "json":
        found = _registered(field, typed, selection)
    else:
        what = "or schemaRegistryUrl " if field.format != "json" else ""
        raise KafkaConfigurationError(
            f"option {field.option('Format')!r} {field.format} needs {field.option('Schema')}, "
            f"{field.option('SchemaFile')} {what}to define the columns"
        )
    found.spark()
    return found


def schema_text(field: FieldOptions) -> str | None:
    """Return the schema in the options or in the file that they name; None if they do not specify one."""
    if field.schema_file is None:
        return field.schema
    path = pathlib.Path(field.schema_file)
    try:
        if field.format == "protobuf" and path.suffix != ".proto":
            return base64.b64encode(path.read_bytes()).decode()  # a descriptor set from the compiler
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise KafkaConfigurationError(
            f"option {field.option('SchemaFile')!r}: cannot read the file where the query is planned: {error}"
        ) from error


def _registered(field: FieldOptions, typed: TypedOptions, selection: Selection) -> ReaderSchema:
    subject = field.subject
    if subject is None:
        topics = _topics(selection)
        if len(topics) != 1:
            raise KafkaConfigurationError(
                f"option {field.option('Subject')!r} is required because the read is not of a single topic: it names "
                "the subject in the registry whose schema the column has"
            )
        subject = f"{topics[0]}-{field.field}"
    client = client_of(typed.registry)
    version: Any = "latest" if field.version is None else field.version
    registered = client.get_version(subject, version)
    kind = REGISTRY_FORMATS[field.format]
    if (registered.schema.schema_type or "AVRO") != kind:
        raise KafkaConfigurationError(
            f"option {field.option('Format')!r} is {field.format}, but subject {subject!r} has schemas of the type "
            f"{registered.schema.schema_type}"
        )
    return ReaderSchema(
        field.field,
        field.format,
        registered.schema.schema_str or "",
        tuple(referenced_texts(registered.schema, client, kind).items()),
        f"version {registered.version} of subject {subject!r}",
        chosen=field.version is not None,
        message=field.message or "",
    )


@functools.lru_cache(16)
def protobuf_of(text: str, message: str, references: tuple[tuple[str, str], ...]) -> "Protobuf":
    """Return the codec of a Protobuf schema, cached for all tasks of this process. Raises `ProtobufSchemaError`.

    Arguments:
        text: the schema.
        message: the name of the message; "" for the first message.
        references: names and texts of the imported schemas.
    """
    from kafka.formats.protobuf.codec import Protobuf

    return Protobuf(text, message or None, references=dict(references))


def _topics(selection: Selection) -> list[str]:
    """Return the topics that the selection names explicitly."""
    if isinstance(selection, Topics):
        return sorted(set(selection.names))
    return sorted({each.topic for each in selection.partitions}) if isinstance(selection, Partitions) else []


def to_text(schemas: Sequence[ReaderSchema]) -> str:
    """Convert schemas to text, which Spark can pass to processes without this package."""
    return json.dumps([dataclasses.asdict(each) for each in schemas])


def from_text(text: str) -> tuple[ReaderSchema, ...]:
    """Parse the text from `to_text`."""
    found = []
    for each in json.loads(text):
        references = tuple((name, schema) for name, schema in each.pop("references"))
        found.append(ReaderSchema(references=references, **each))
    return tuple(found)


# -- in a stream's checkpoint ------------------------------------------------------------------------------------------

_MARK = " schema "


def beside_offsets(schemas: Sequence[ReaderSchema], offsets: Mapping[str, Any]) -> dict[str, Any]:
    """Return the end offsets of a micro-batch, with its schemas under keys that contain spaces, unlike topic names."""
    kept = {name: value for name, value in offsets.items() if _fields_of(name) is None}
    for each in schemas:
        if each.text:
            kept[f"{each.field}{_MARK}{each.fingerprint} {each.origin}"] = {}
    return kept


def check_unchanged(schemas: Sequence[ReaderSchema], offsets: Mapping[str, Any]) -> None:
    """Raise `KafkaConfigurationError` if the latest schema differs from the one in the checkpoint.

    A schema that the options specify may differ, because the user has chosen it.
    """
    before = {found[0]: found for name in offsets if (found := _fields_of(name)) is not None}
    for each in schemas:
        _, fingerprint, origin = before.get(each.field, (each.field, each.fingerprint, ""))
        if not each.chosen and fingerprint != each.fingerprint:
            version = f"{each.field}Version"
            raise KafkaConfigurationError(
                f"the query has read {each.field}s with {origin}, but is now planned with {each.origin}, whose "
                f"columns may differ: to continue as before, set {version} to the number of the former (newer records "
                "are read with it too); to read with the latter from now on, set it to that number"
            )


def _fields_of(name: str) -> tuple[str, str, str] | None:
    field, mark, rest = name.partition(_MARK)
    if not mark or field not in ("key", "value"):
        return None
    fingerprint, _, origin = rest.partition(" ")
    return field, fingerprint, origin
