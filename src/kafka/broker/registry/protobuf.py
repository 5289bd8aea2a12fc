"""Protobuf schemas in the registry: their text in one form, and whether two of them are compatible."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from kafka.errors import KafkaConfigurationError
from kafka.formats.protobuf.compatibility import incompatibilities
from kafka.formats.protobuf.errors import ProtobufSchemaError
from kafka.formats.protobuf.files import descriptor_proto, file_of
from kafka.formats.protobuf.text import proto_text


class ProtobufSchema:
    """A schema that was parsed.

    Attributes:
        text: of a .proto file, without comments, the same for descriptors that are the same.
        normalized: likewise.
    """

    def __init__(self, text: str, references: Mapping[str, ProtobufSchema]) -> None:
        """Parse a text.

        Arguments:
            text: of a .proto file, or a descriptor in base64.
            references: the schemas it imports, by the names that it has for them.

        Raises `ProtobufSchemaError` for what is no schema, or imports what is not there.
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
            self.text = text.strip()  # custom options, which the text from the descriptor lacks
        self.normalized = self.text

    def serialized(self) -> str:
        """The descriptor in base64."""
        return base64.b64encode(self._proto.SerializeToString()).decode()

    def reasons_not_to_read(self, writer: ProtobufSchema) -> list[str]:
        """Why values of another schema cannot be read with this one; nothing where they can."""
        return [
            f'{{errorType:"{kind}", description:"{_SENTENCES[kind].format(path=path)}"}}'
            for kind, path in incompatibilities(writer._file, self._file)
        ]


def _plain(proto: Any) -> Any:
    """A descriptor without what does not matter: its name, and names in JSON that are the usual ones."""
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


_SENTENCES = {
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
