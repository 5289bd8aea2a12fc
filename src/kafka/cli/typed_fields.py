"""What keys or values are, and what makes texts of them."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from kafka.cli.schema_files import is_json, is_proto

if TYPE_CHECKING:
    from kafka.schema_registry import Schema, SchemaRegistryClient

_NO_SUBJECT = 40401
Headers = Any
ToText = Callable[[str, bytes, Headers], bytes]
"""Makes the text of bytes, given the topic and the headers; raises ValueError, or what a registry's client does."""


class Document(bytes):
    """The text of a value in JSON."""


class Field(NamedTuple):
    """What keys or values are.

    Arguments:
        part: "key" or "value".
        kind: one of `kafka.cli.typed_values.KINDS`.
        schema: its text; None: the registry has it.
        subject: where the registry has it; None: named after the topic.
        message: of Protobuf, the name of the message; None: the first one of the schema.
        file: where the schema stands, for errors and for what it imports.
    """

    part: str
    kind: str
    schema: str | None
    subject: str | None
    message: str | None = None
    file: str | None = None


class the_schema:  # noqa: N801  # a context manager
    """Tells of a schema that cannot be used by the option that gave it."""

    def __init__(self, field: Field) -> None:
        self._field = field

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, ValueError) and self._field.schema is not None:
            option = f"--{self._field.part}-schema {self._field.file}"
            raise click.UsageError(f"{option}: {error}{_other_kind(self._field)}") from None


def _other_kind(field: Field) -> str:
    """A hint for the schema of another kind."""
    text = field.schema or ""
    option = "--value" if field.part == "value" else "--key-format"
    if field.kind == "protobuf" and is_json(text):
        return f"; for Avro or JSON Schema, {option} is avro or json"
    if field.kind != "protobuf" and is_proto(text):
        return f"; for a .proto file, {option} is protobuf"
    return ""


def newest_of(registry: "SchemaRegistryClient", subject: str, field: Field) -> "Schema":
    """The newest schema of a subject for what is written; raises what the registry does, and says what to do."""
    from kafka.schema_registry import SchemaRegistryError

    try:
        return registry.get_latest_version(subject).schema
    except SchemaRegistryError as error:
        if error.error_code != _NO_SUBJECT:
            raise
        raise click.ClickException(
            f"the registry has no subject {subject!r}: --{field.part}-schema FILE registers a schema there, "
            f"--{field.part}-subject names another subject"
        ) from None
