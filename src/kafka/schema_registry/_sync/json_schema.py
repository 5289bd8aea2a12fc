# Written by scripts/twins.py from kafka/schema_registry/_async/json_schema.py: change that file, not this one.
"""JSON serializers that prefix each value with its schema's id."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from kafka.errors import KafkaConfigurationError
from kafka.formats.json.errors import JsonSchemaError
from kafka.formats.json.validation import JsonInvalidError, JsonValidator, parse_json_schema, plain_object
from kafka.formats.registry._sync.named_schemas import referenced_schemas
from kafka.formats.registry.schema_objects import Schema
from kafka.schema_registry._sync.value_schemas import (
    Registry,
    WritingSchemas,
    newest_schema,
    written_schema,
)
from kafka.schema_registry.schema_ids import SchemaId
from kafka.schema_registry.serde import (
    READING,
    WRITING,
    Options,
    SyncDeserializer,
    SyncSerializer,
    checked_function,
    checked_registry,
    value_error,
)
from kafka.serialization import SerializationContext, SerializationError

_TYPE = "JSON"
_WRITING = {**WRITING, "validate": True}
_READING = {**READING, "validate": True}


class JSONSerializer(SyncSerializer):
    """Serializes objects as JSON, with the schema's id before each value; registers the schema if necessary.

    Thread-safe. Call it with a value and a `SerializationContext`. Clients accept the synchronous class for keys and
    values, but not the asyncio class, because they do not await serializers:
    ``KafkaProducer(value_serializer=JSONSerializer(schema, registry))``.

    Arguments:
        schema_str: the schema, as text, or as a `Schema` if it has references; None if options select a schema.
        schema_registry_client: the `SchemaRegistryClient`.
        to_dict: called with an object and the context; converts the object to dicts, lists, strings and numbers. Not
            needed for dataclasses, attrs classes and pydantic models.
        conf: options under confluent-kafka's names.
        json_encode: converts the object, after `to_dict`, to text or bytes; None: compact JSON.

    Raises `KafkaConfigurationError` for invalid options, and `JsonSchemaError` for an invalid schema.
    """

    __slots__ = (
        "_json_encode",
        "_name",
        "_pending",
        "_registry",
        "_schemas",
        "_strategy",
        "_to_dict",
        "_validates",
        "_validators",
        "_write_id",
    )

    def __init__(
        self,
        schema_str: str | Schema | None,
        schema_registry_client: Registry,
        to_dict: Callable[[Any, SerializationContext], Any] | None = None,
        conf: Mapping[str, Any] | None = None,
        *,
        json_encode: Callable[[Any], str | bytes] | None = None,
    ) -> None:
        options = Options("JSONSerializer", _WRITING, conf)
        self._registry = checked_registry(schema_registry_client)
        schema = None if schema_str is None else _schema_of(schema_str)
        self._schemas = WritingSchemas(schema_registry_client, options, schema, _TYPE)
        self._strategy = options.strategy()
        self._write_id = options.function("schema.id.serializer")
        self._validates = options.flag("validate")
        self._to_dict = checked_function("to_dict", to_dict)
        self._json_encode = checked_function("json_encode", json_encode, "a value") or _encoded
        self._validators: dict[Schema, JsonValidator] = {}
        self._name = None if schema is None else _title(schema)
        self._pending = schema
        self._begin()

    def __call__(self, obj: Any, ctx: SerializationContext | None = None) -> bytes | None:
        """Serialize an object; None stays None.

        Arguments:
            obj: the object.
            ctx: the topic, and whether the object is a key or a value.

        Raises `SerializationError` with the path of the field if the object does not fit the schema, and
        `SchemaRegistryError` if the registry rejects the request.
        """
        if obj is None:
            return None
        if self._pending is not None:
            self._prepare()
        subject = self._strategy(ctx, self._name)
        schema, schema_id = self._schemas.of(subject)
        value = plain_object(obj) if self._to_dict is None else self._to_dict(obj, ctx)
        validator = self._validator(schema) if self._validates else None
        try:
            if validator is not None:
                validator.check(value)
            data = self._json_encode(value)
        except (TypeError, ValueError, RecursionError) as error:
            raise value_error(schema_id, error, subject) from error
        made: bytes = self._write_id(data.encode() if isinstance(data, str) else data, ctx, schema_id)
        return made

    def _prepare(self) -> None:
        if self._pending is not None and self._validates:
            self._validator(self._pending)
        self._pending = None

    def _validator(self, schema: Schema) -> JsonValidator:
        made = self._validators.get(schema)
        if made is None:
            made = self._validators[schema] = _validator_of(schema, self._registry)
        return made


class JSONDeserializer(SyncDeserializer):
    """Deserializes JSON values, and validates them against the schema that a prefix or header identifies.

    Thread-safe. Call it with bytes and a `SerializationContext`. Clients accept the synchronous class for keys and
    values, but not the asyncio class, because they do not await serializers:
    ``KafkaConsumer(value_deserializer=JSONDeserializer(None, schema_registry_client=registry))``.

    Arguments:
        schema_str: the schema to validate values against, as text or as a `Schema`; None: the writer's schema.
        from_dict: called with the decoded value and the context; its return value is the result.
        schema_registry_client: the `SchemaRegistryClient`; None if `schema_str` is a schema without references.
        conf: options under confluent-kafka's names.
        json_decode: called with the bytes to parse; None: Python's `json.loads`.

    Raises `KafkaConfigurationError` for invalid options, and `JsonSchemaError` for an invalid schema.
    """

    __slots__ = (
        "_from_dict",
        "_json_decode",
        "_latest",
        "_metadata",
        "_pending",
        "_read_id",
        "_reader",
        "_registry",
        "_strategy",
        "_validates",
        "_validators",
    )

    def __init__(
        self,
        schema_str: str | Schema | None,
        from_dict: Callable[[Any, SerializationContext], Any] | None = None,
        schema_registry_client: Registry | None = None,
        conf: Mapping[str, Any] | None = None,
        *,
        json_decode: Callable[[bytes], Any] | None = None,
    ) -> None:
        options = Options("JSONDeserializer", _READING, conf)
        self._reader = None if schema_str is None else _schema_of(schema_str)
        if schema_registry_client is None and (self._reader is None or self._reader.references):
            raise KafkaConfigurationError("schema_registry_client is missing: it is required without a schema")
        self._registry = None if schema_registry_client is None else checked_registry(schema_registry_client)
        self._latest = options.flag("use.latest.version")
        self._metadata = options.mapping("use.latest.with.metadata")
        self._strategy = options.strategy()
        self._read_id = options.function("schema.id.deserializer")
        self._validates = options.flag("validate")
        self._from_dict = checked_function("from_dict", from_dict)
        self._json_decode = checked_function("json_decode", json_decode, "a text") or json.loads
        self._validators: dict[Schema, JsonValidator] = {}
        self._pending = self._reader
        self._begin()

    def __call__(self, value: bytes | None, ctx: SerializationContext | None = None) -> Any:
        """Deserialize bytes; None stays None.

        Arguments:
            value: the bytes.
            ctx: the topic, whether the bytes are a key or a value, and the headers.

        Raises `SerializationError` with the path of the field for bytes that cannot be decoded or do not fit the
        schema, and `SchemaRegistryError` if the registry does not respond or rejects the request.
        """
        if value is None:
            return None
        if self._pending is not None:
            self._prepare()
        schema_id = SchemaId(_TYPE)
        payload = self._read_id(value, ctx, schema_id)
        schema = self._schema(schema_id, ctx)
        try:
            validator = self._validator(schema) if self._validates else None
            found = self._json_decode(payload if isinstance(payload, bytes) else payload.read())
            if validator is not None:
                validator.check(found)
        except (ValueError, RecursionError) as error:
            is_named = isinstance(error, (JsonInvalidError, JsonSchemaError, SerializationError))
            raise value_error(schema_id, error if is_named else f"not JSON: {error}") from error
        return found if self._from_dict is None else self._from_dict(found, ctx)

    def _schema(self, schema_id: SchemaId, ctx: SerializationContext | None) -> Schema:
        """Return the schema to validate a value against."""
        if self._registry is None:
            assert self._reader is not None
            return self._reader
        subject = None if ctx is None else self._strategy(ctx, None)
        written = written_schema(self._registry, schema_id, subject)
        if self._latest or self._metadata is not None:
            if subject is None and ctx is not None:
                subject = self._strategy(ctx, _title(written))
            newest = newest_schema(self._registry, subject, self._metadata)
            if newest is not None:
                return newest
        return written if self._reader is None else self._reader

    def _prepare(self) -> None:
        if self._pending is not None and self._validates:
            self._validator(self._pending)
        self._pending = None

    def _validator(self, schema: Schema) -> JsonValidator:
        made = self._validators.get(schema)
        if made is None:
            made = self._validators[schema] = _validator_of(schema, self._registry)
        return made


def _validator_of(schema: Schema, registry: Registry | None) -> JsonValidator:
    """Make the validator for a schema and its references; raises `JsonSchemaError` if the schema is invalid."""
    found = {} if registry is None else referenced_schemas(schema, registry, _TYPE)
    return JsonValidator(schema.schema_str or "", {name: each.schema_str or "" for name, each in found.items()})


def _schema_of(given: str | Schema) -> Schema:
    """Return the schema to register; raises `KafkaConfigurationError` unless it is text or a `Schema`."""
    if isinstance(given, Schema):
        return given
    if not isinstance(given, str):
        raise KafkaConfigurationError(f"expected the schema as a str or a Schema, got {type(given).__name__}")
    return Schema(given, _TYPE)


def _title(schema: Schema) -> str | None:
    """Return the record name for subject name strategies."""
    parsed = parse_json_schema(schema.schema_str or "")
    title = parsed.get("title") if isinstance(parsed, dict) else None
    return title if isinstance(title, str) else None


def _encoded(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
