"""The schema types that the registry accepts: Avro, JSON Schema and Protobuf.

Each type normalizes schemas and checks their compatibility. `ParsedSchema` is their common interface.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from typing import Any, Protocol, Self, cast

from kafka.broker.registry.registry_errors import Refused, invalid_schema
from kafka.errors import KafkaConfigurationError
from kafka.formats.avro.compatibility import incompatibilities as avro_incompatibilities
from kafka.formats.avro.defaults import encoded_default
from kafka.formats.avro.schema import (
    NO_DEFAULT,
    PRIMITIVES,
    Array,
    Map,
    Record,
    Schema,
    Union,
    parse_named,
)
from kafka.formats.json.compatibility import incompatibilities as json_incompatibilities
from kafka.formats.json.schema_nodes import Document
from kafka.formats.json.validation import parse_json_schema
from kafka.formats.protobuf.compatibility import incompatibilities as protobuf_incompatibilities
from kafka.formats.protobuf.descriptors import descriptor_proto, file_of, proto_text
from kafka.formats.protobuf.errors import ProtobufSchemaError

_ORDER = {
    "record": ("type", "name", "namespace", "doc", "fields"),
    "error": ("type", "name", "namespace", "doc", "fields"),
    "enum": ("type", "name", "namespace", "doc", "symbols", "default"),
    "fixed": ("type", "name", "namespace", "doc", "size"),
    "array": ("type", "items"),
    "map": ("type", "values"),
}
"""The order in which the Java library writes the properties of a type. Other properties follow, then aliases."""
_FIELD_ORDER = ("name", "type", "doc", "default", "order", "aliases")


class AvroSchema:
    """A parsed Avro schema.

    Attributes:
        text: the schema as the Java library writes it, without white space and with properties in the library's order.
        normalized: the same, with other properties sorted by name.
        named: the types that the schema and its references define, for schemas that refer to it.
    """

    def __init__(self, text: str, references: Mapping[str, AvroSchema]) -> None:
        """Parse an Avro schema.

        Arguments:
            text: the schema as JSON.
            references: the schemas to which this schema refers, by the names in its references.

        Raises:
            AvroSchemaError: the text is not a schema, or a default does not match its field.
        """
        known: dict[str, Schema] = {}
        for reference in references.values():
            known.update(reference.named)
        self.named: dict[str, Schema]
        self._schema, self.named = parse_named(text, known)
        for record in _records(self._schema, set()):
            for field in record.fields:
                if field.default is not NO_DEFAULT:
                    encoded_default(field)
        value = text.strip() if text.strip() in PRIMITIVES else json.loads(text)
        self.text = json.dumps(_ordered(value, "", False), separators=(",", ":"), ensure_ascii=False)
        self.normalized = json.dumps(_ordered(value, "", True), separators=(",", ":"), ensure_ascii=False)

    def reasons_not_to_read(self, writer: AvroSchema) -> list[str]:
        """Return the reasons why this schema cannot read data written with another schema; empty if it can."""
        return [
            f"{{errorType:'{kind}', description:\"{description}\", additionalInfo:'{detail}'}}"
            for kind, _, description, detail in avro_incompatibilities(self._schema, writer._schema)
        ]


def _records(schema: Schema, seen: set[int]) -> Iterator[Record]:
    """Yield each record type in a schema once."""
    if id(schema) in seen:
        return
    seen.add(id(schema))
    inner: list[Schema] = []
    if isinstance(schema, Record):
        yield schema
        inner = [field.type for field in schema.fields]
    elif isinstance(schema, Union):
        inner = list(schema.branches)
    elif isinstance(schema, Array):
        inner = [schema.items]
    elif isinstance(schema, Map):
        inner = [schema.values]
    for each in inner:
        yield from _records(each, seen)


def _ordered(value: Any, namespace: str, is_sorted: bool) -> Any:
    """Order a type's properties like the Java library, and make names relative to a namespace."""
    if isinstance(value, str):
        return _relative(value, namespace)
    if isinstance(value, list):
        return [_ordered(each, namespace, is_sorted) for each in value]
    kind = value["type"]
    if not isinstance(kind, str):
        return _ordered(kind, namespace, is_sorted)
    if kind in PRIMITIVES and len(value) == 1:
        return kind
    if kind not in _ORDER and kind not in PRIMITIVES:
        return _relative(kind, namespace)
    made: dict[str, Any] = {"type": kind}
    if "name" in value:
        space, _, name = value["name"].rpartition(".")
        space = space or (namespace if value.get("namespace") is None else value["namespace"])
        made["name"] = name
        if space != namespace:
            made["namespace"] = space
        namespace = space
    order = _ORDER.get(kind, ("type",))
    for key in order[1:]:
        if key not in made and key != "namespace" and value.get(key) is not None:
            made[key] = value[key]
    if "fields" in made:
        made["fields"] = [_ordered_field(each, namespace, is_sorted) for each in made["fields"]]
    for key in ("items", "values"):
        if key in made and kind in ("array", "map"):
            made[key] = _ordered(made[key], namespace, is_sorted)
    return made | _further(value, (*order, "namespace", "aliases"), is_sorted) | _aliases(value)


def _ordered_field(field: dict[str, Any], namespace: str, is_sorted: bool) -> dict[str, Any]:
    made = {key: field[key] for key in _FIELD_ORDER if key in field and (key == "default" or field[key] is not None)}
    made["type"] = _ordered(field["type"], namespace, is_sorted)
    if made.get("order") == "ascending":
        del made["order"]
    if not made.get("aliases", True):
        del made["aliases"]
    return made | _further(field, _FIELD_ORDER, is_sorted)


def _further(value: dict[str, Any], known: tuple[str, ...], is_sorted: bool) -> dict[str, Any]:
    """Return the properties that are not part of Avro's grammar, including logical types."""
    names = [key for key in value if key not in known]
    return {key: value[key] for key in (sorted(names) if is_sorted else names)}


def _aliases(value: dict[str, Any]) -> dict[str, Any]:
    return {"aliases": value["aliases"]} if value.get("aliases") else {}


def _relative(name: str, namespace: str) -> str:
    space, dot, short = name.rpartition(".")
    return short if dot and space == namespace else name


class ProtobufSchema:
    """A parsed Protobuf schema.

    Attributes:
        text: the text of a .proto file without comments, identical for equal descriptors.
        normalized: the same text.
    """

    def __init__(self, text: str, references: Mapping[str, ProtobufSchema]) -> None:
        """Parse a Protobuf schema.

        Arguments:
            text: the text of a .proto file, or a descriptor in base64.
            references: the schemas that this schema imports, by the names in its imports.

        Raises `ProtobufSchemaError` if the text is not a schema or an import is missing.
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
            self.text = text.strip()  # Text that is generated from the descriptor does not contain custom options.
        self.normalized = self.text

    def serialized(self) -> str:
        """Return the descriptor in base64."""
        return base64.b64encode(self._proto.SerializeToString()).decode()

    def reasons_not_to_read(self, writer: ProtobufSchema) -> list[str]:
        """Return the reasons why this schema cannot read data written with another schema; empty if it can."""
        return [
            f'{{errorType:"{kind}", description:"{_PROTOBUF_SENTENCES[kind].format(path=path)}"}}'
            for kind, path in protobuf_incompatibilities(writer._file, self._file)
        ]


def _plain(proto: Any) -> Any:
    """Return a descriptor without its insignificant parts: its name, and default JSON names."""
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
        """Parse a JSON Schema.

        Arguments:
            text: the schema as JSON.
            references: the schemas to which this schema refers, by the names in its references.

        Raises `JsonSchemaError` if the text is not a schema or a reference is missing.
        """
        value = parse_json_schema(text)
        self._document: Document = Document(value, {name: each._document for name, each in references.items()})
        self.text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
        self.normalized = json.dumps(value, separators=(",", ":"), ensure_ascii=False, sort_keys=True)

    def reasons_not_to_read(self, writer: JsonSchema) -> list[str]:
        """Return why data that is valid for another schema may be invalid for this one; empty if it is always valid."""
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
    """A parsed schema of any type."""

    @property
    def text(self) -> str:
        """The schema's text without insignificant parts."""

    @property
    def normalized(self) -> str:
        """The schema's text in a canonical form, which is identical for more equivalent schemas than `text`."""

    def reasons_not_to_read(self, writer: Self) -> list[str]:
        """Return the reasons why this schema cannot read data written with another schema; empty if it can."""


_TYPES: Mapping[str, Any] = {"AVRO": AvroSchema, "JSON": JsonSchema, "PROTOBUF": ProtobufSchema}
TYPES = tuple(_TYPES)


def parsed(kind: str, text: str, references: Mapping[str, ParsedSchema]) -> ParsedSchema:
    """Parse a schema; raises `Refused` if it is invalid.

    Arguments:
        kind: one of `TYPES`.
        text: the schema.
        references: the schemas to which this schema refers, by the names in its references.
    """
    if kind not in _TYPES:
        raise Refused(
            42201, f"The embedded schema registry supports schemas of the types {', '.join(TYPES)}, not {kind[:40]!r}"
        )
    for name, each in references.items():
        if not isinstance(each, _TYPES[kind]):
            raise invalid_schema(f"the reference {name!r} is to a schema of a type other than {kind}")
    try:
        return cast("ParsedSchema", _TYPES[kind](text, references))
    except (ValueError, RecursionError) as error:
        raise invalid_schema(str(error) or type(error).__name__) from error
