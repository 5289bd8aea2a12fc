"""Converts JSON values to the bytes of a format, and back: for the rows of tests, which are written as JSON."""

from __future__ import annotations

import datetime
import json
import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kafka.errors import KafkaConfigurationError
from kafka.formats.registry.schema_objects import Schema
from kafka.formats.value_framing import prefix_of
from kafka.pipelines.declaration import FieldFormat
from kafka.spark.options.field_options import REGISTRY_FORMATS, FieldOptions
from kafka.spark.typed.reader_schema import schema_text

if TYPE_CHECKING:
    from kafka.formats.registry.registry_clients import SchemaRegistryClient

Convert = Callable[[Any], bytes]
_NUMBERS = {"short": ">h", "int": ">i", "long": ">q", "float": ">f", "double": ">d"}


class Coder:
    """Encodes and decodes the keys or values of a topic.

    Arguments:
        field: ``key`` or ``value``.
        declared: the declared format.
        topic: the topic, which determines the subject unless the format names one.
        registry: the client of the embedded registry; None if the format uses none. Schemas in the declaration are
            registered there.

    Raises `KafkaConfigurationError` and the errors of the registry and of the formats if the schema cannot be used.
    """

    def __init__(self, field: str, declared: FieldFormat, topic: str, registry: SchemaRegistryClient | None) -> None:
        self._format = declared.format
        self._field = field
        self._topic = topic
        self._registry = registry if declared.format in REGISTRY_FORMATS else None
        options = FieldOptions(field, declared.format, schema=declared.text, schema_file=declared.file)
        text = schema_text(options)
        self._message = declared.message
        self._schema: Schema | None = None
        self._id: int | None = None
        if declared.format not in REGISTRY_FORMATS:
            return
        kind = REGISTRY_FORMATS[declared.format]
        if self._registry is None:
            self._schema = None if text is None else Schema(text, kind)
            return
        self._subject = declared.subject or f"{topic}-{field}"
        self._version: Any = "latest" if declared.version == "latest" else int(declared.version)
        if text is not None:
            self._schema = Schema(text, kind)

    def encode(self, value: Any) -> bytes | None:
        """Encode a value; None stays None. Raises `ValueError` for a value that does not fit the format."""
        if value is None:
            return None
        if self._format == "bytes":
            return value if isinstance(value, bytes) else _text(value).encode()
        if self._format == "string":
            return _text(value).encode()
        if self._format in _NUMBERS:
            return _number(self._format, value)
        if self._format == "json":
            return _json(value)
        return self._of_schema(value)

    def _of_schema(self, value: Any) -> bytes:
        schema, schema_id = self._written()
        if self._format == "json-schema":
            return prefix_of(schema_id) + _json(value)
        if self._format == "protobuf":
            from kafka.formats.protobuf.descriptors import indexes_of
            from kafka.schema_registry.protobuf_json import message_from

            codec = self._protobuf(schema)
            indexes = None if schema_id is None else indexes_of(codec.descriptor)
            return prefix_of(schema_id, indexes) + bytes(codec.encode(message_from(codec, _json(value))))
        from kafka.formats.avro.json_values import loaded, object_of
        from kafka.formats.avro.object_decoder import AvroObjectEncoder

        parsed = self._avro(schema)
        return bytes(AvroObjectEncoder(parsed).encode(object_of(parsed, loaded(_json(value))), prefix_of(schema_id)))

    def decode(self, data: bytes | None) -> Any:
        """Decode bytes to a JSON value. Raises `ValueError` if they do not have the format."""
        if data is None:
            return None
        if self._format in ("bytes", "string"):
            return data.decode("utf-8", "backslashreplace")
        if self._format in _NUMBERS:
            return struct.unpack(_NUMBERS[self._format], data)[0]
        if self._format == "json":
            return json.loads(data)
        if self._registry is not None:
            return self._registered(data, self._registry)
        if self._format == "json-schema":
            return json.loads(data)
        if self._schema is None:
            raise KafkaConfigurationError(
                f"the {self._field}s of topic {self._topic!r} cannot be decoded: declare their schema, or a registry"
            )
        if self._format == "protobuf":
            from kafka.schema_registry.protobuf_json import json_of

            return json.loads(json_of(self._protobuf(self._schema), data))
        from kafka.formats.avro.json_values import json_writer
        from kafka.formats.avro.object_decoder import AvroObjectDecoder

        parsed = self._avro(self._schema)
        return json.loads(json_writer(parsed)(AvroObjectDecoder(parsed, return_record_name=True).decode(data)))

    def _registered(self, data: bytes, registry: SchemaRegistryClient) -> Any:
        """Decode bytes with the schema that they name."""
        from kafka.serialization import MessageField, SerializationContext

        context = SerializationContext(self._topic, MessageField(self._field))
        if self._format == "avro":
            from kafka.schema_registry.avro_values import AvroJsonReader

            return json.loads(AvroJsonReader(registry).text(data, context))
        if self._format == "protobuf":
            from kafka.schema_registry.protobuf_json import ProtobufJsonReader

            return json.loads(ProtobufJsonReader(registry).text(data, context))
        return json.loads(data[5:] if data[:1] == b"\0" else data)

    def _written(self) -> tuple[Schema, int | None]:
        """Return the schema for writing, and its id if there is a registry."""
        if self._registry is None:
            if self._schema is None:
                raise KafkaConfigurationError(
                    f"the {self._field}s of topic {self._topic!r} cannot be encoded: declare their schema or a registry"
                )
            return self._schema, None
        if self._id is None:
            if self._schema is not None:
                self._id = self._registry.register_schema(self._subject, self._schema)
            else:
                found = self._registry.get_version(self._subject, self._version)
                self._schema, self._id = found.schema, found.schema_id
        assert self._schema is not None, "it was registered or found"
        return self._schema, self._id

    def _avro(self, schema: Schema) -> Any:
        from kafka.formats.avro.schema import parse
        from kafka.formats.registry._sync.named_schemas import parsed_avro

        return parse(schema.schema_str or "") if self._registry is None else parsed_avro(schema, self._registry)

    def _protobuf(self, schema: Schema) -> Any:
        from kafka.formats.protobuf.codec import Protobuf
        from kafka.schema_registry.protobuf_json import codec_of

        if self._registry is None:
            return Protobuf(schema.schema_str or "", self._message)
        return codec_of(self._registry, schema, self._message)


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_time).encode()


def _time(value: Any) -> str:
    """Format a date or time, which YAML reads without quotes."""
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    raise TypeError(f"expected JSON, got a {type(value).__name__}")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else _json(value).decode()


def _number(kind: str, value: Any) -> bytes:
    try:
        return struct.pack(_NUMBERS[kind], value)
    except struct.error as error:
        raise ValueError(f"expected a {kind}, got {value!r} ({error})") from None
