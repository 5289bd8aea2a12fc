"""The types of schema that the registry takes, and what it needs of a parsed schema.

JSON Schema and Protobuf are here, Avro in `avro`: each brings schemas into one form and compares two of them.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any, Protocol, Self, cast

from kafka.broker.registry.avro import AvroSchema
from kafka.broker.registry.registry_errors import Refused, invalid_schema
from kafka.errors import KafkaConfigurationError
from kafka.formats.json.compatibility import incompatibilities as json_incompatibilities
from kafka.formats.json.schema_nodes import Document
from kafka.formats.json.validation import parse_json_schema
from kafka.formats.protobuf.compatibility import incompatibilities as protobuf_incompatibilities
from kafka.formats.protobuf.errors import ProtobufSchemaError
from kafka.formats.protobuf.files import descriptor_proto, file_of
from kafka.formats.protobuf.text import proto_text


class ProtobufSchema:
    """A parsed Protobuf schema.

    Attributes:
        text: the text of a .proto file, without comments, identical for equal descriptors.
        normalized: the same.
    """

    def __init__(self, text: str, references: Mapping[str, ProtobufSchema]) -> None:
        """Parse a text.

        Arguments:
            text: the text of a .proto file, or a descriptor in base64.
                references: the schemas it imports, by its names for them.

            Raises `ProtobufSchemaError` if it is not a schema, or an import is missing.
        """
        self._files: dict[str, str] = {}
        for name, each in references.items():
            self._files.update(each._files)
            self._files[name] = each.text
        try:
            self._file = file_of(text, self._files)
            self._proto = descriptor_proto(self._file)
            self.text: str = proto_text(self._proto)
            again = descriptor_proto(file_of(self.text, self._files))
        except KafkaConfigurationError as error:
            raise ProtobufSchemaError(str(error)) from error
        if _plain(again) != _plain(self._proto):
            self.text = text.strip()  # custom options, which are missing in the text made from the descriptor
        self.normalized = self.text

    def serialized(self) -> str:
        """Return the descriptor in base64."""
        return base64.b64encode(self._proto.SerializeToString()).decode()

    def reasons_not_to_read(self, writer: ProtobufSchema) -> list[str]:
        """Return why this schema cannot read values of another one; empty if it can."""
        return [
            f'{{errorType:"{kind}", description:"{_PROTOBUF_SENTENCES[kind].format(path=path)}"}}'
            for kind, path in protobuf_incompatibilities(writer._file, self._file)
        ]


def _plain(proto: Any) -> Any:
    """Return a descriptor without irrelevant parts: its name, and default JSON names."""
    made = type(proto).FromString(proto.SerializeToString())
    made.name, made.syntax = "", made.syntax or "proto2"
    for message in made.message_type:
        _without_json_names(message)
    for extension in made.extension:
        extension.ClearField("json_name")
    return made


def _without_json_names(message: Any) -> None:
    for field in (*message.field, *message.extension):
        field.ClearField("json_name")
    for nested in message.nested_type:
        _without_json_names(nested)


_PROTOBUF_SENTENCES = {
    "PACKAGE_CHANGED": "The new schema has another package",
    "MESSAGE_REMOVED": "The new schema lacks the message at path '{path}'",
    "REQUIRED_FIELD_REMOVED": "The new schema lacks the required field at path '{path}'",
    "REQUIRED_FIELD_ADDED": "The new schema has a required field at path '{path}', which the old one lacks",
    "MULTIPLE_FIELDS_MOVED_TO_ONEOF": "The new schema moves several fields into the oneof at path '{path}'",
    "FIELD_MOVED_TO_EXISTING_ONEOF": "The new schema moves a field into the oneof at path '{path}', which had others",
    "ONEOF_FIELD_REMOVED": "The new schema lacks the field of a oneof at path '{path}'",
    "FIELD_KIND_CHANGED": "The field at path '{path}' is a message, a map or a scalar, and another of these before",
    "FIELD_SCALAR_KIND_CHANGED": "The field at path '{path}' has another form in bytes",
    "FIELD_NUMERIC_LABEL_CHANGED": "The numbers at path '{path}' are repeated in one schema alone",
    "FIELD_NAMED_TYPE_CHANGED": "The field at path '{path}' is another message",
}


class JsonSchema:
    """A parsed JSON Schema.

    Attributes:
        text: the schema without white space.
        normalized: the same, with all properties sorted by name.
    """

    def __init__(self, text: str, references: Mapping[str, JsonSchema]) -> None:
        """Parse a text.

        Arguments:
            text: JSON.
            references: the schemas it refers to, by its names for them.

            Raises `JsonSchemaError` if it is not a schema, or a reference is missing.
        """
        value = parse_json_schema(text)
        self._document: Document = Document(value, {name: each._document for name, each in references.items()})
        self.text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
        self.normalized = json.dumps(value, separators=(",", ":"), ensure_ascii=False, sort_keys=True)

    def reasons_not_to_read(self, writer: JsonSchema) -> list[str]:
        """Return why values of another schema may not match this one; empty if they all match."""
        return [
            f'{{errorType:"{kind}", description:"{_JSON_SENTENCES.get(kind, _OTHERWISE).format(path=path)}"}}'
            for kind, path in json_incompatibilities(writer._document, self._document)
        ]


_OTHERWISE = "The new schema allows less than the old one at path '{path}'"
_JSON_SENTENCES = {
    "TYPE_CHANGED": "The type at path '{path}' is another one in the new schema",
    "TYPE_NARROWED": "The new schema asks for a whole number at path '{path}', the old one for any number",
    "PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL": "The new schema has a property at path '{path}' that the old one does not "
    "list and, as further properties are allowed there, may have been anything",
    "PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL": "The new schema lacks the property at path '{path}' and allows no "
    "further properties",
    "REQUIRED_ATTRIBUTE_ADDED": "The property at path '{path}' is required in the new schema and has no default value",
    "REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL": "The new schema has a required property at path '{path}' "
    "without a default value, which the old one does not have",
    "ADDITIONAL_PROPERTIES_REMOVED": "The old schema allows further properties at path '{path}', the new one does not",
}


class ParsedSchema(Protocol):
    """A parsed schema."""

    @property
    def text(self) -> str:
        """Its text, without insignificant parts."""

    @property
    def normalized(self) -> str:
        """Its text in a form that makes more equivalent schemas identical."""

    def reasons_not_to_read(self, writer: Self) -> list[str]:
        """Return why this schema cannot read values of another one; empty if it can."""


_TYPES: Mapping[str, Any] = {"AVRO": AvroSchema, "JSON": JsonSchema, "PROTOBUF": ProtobufSchema}
TYPES = tuple(_TYPES)


def parsed(kind: str, text: str, references: Mapping[str, ParsedSchema]) -> ParsedSchema:
    """Parse a schema; raises `Refused` if it is invalid.

    Arguments:
        kind: one of `TYPES`.
        text: the schema.
        references: the schemas it refers to, by its names for them.
    """
    if kind not in _TYPES:
        raise Refused(
            42201, f"The embedded schema registry takes schemas of the types {', '.join(TYPES)}, not {kind[:40]!r}"
        )
    for name, each in references.items():
        if not isinstance(each, _TYPES[kind]):
            raise invalid_schema(f"the reference {name!r} is to a schema of another type than {kind}")
    try:
        return cast("ParsedSchema", _TYPES[kind](text, references))
    except (ValueError, RecursionError) as error:
        raise invalid_schema(str(error) or type(error).__name__) from error
