"""Protobuf serializers that prefix each message with its schema's id."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from kafka.errors import KafkaConfigurationError
from kafka.formats.protobuf.damage import damage
from kafka.formats.protobuf.descriptors import indexes_of, is_known
from kafka.formats.protobuf.errors import library
from kafka.formats.registry.schema_objects import Schema, SchemaReference
from kafka.schema_registry._async.value_schemas import AsyncRegistry, AsyncWritingSchemas, written_schema
from kafka.schema_registry.schema_ids import SchemaId, reference_subject_name_strategy
from kafka.schema_registry.serde import (
    READING,
    WRITING,
    AsyncDeserializer,
    AsyncSerializer,
    Options,
    checked_async_registry,
    value_error,
)
from kafka.serialization import SerializationContext, SerializationError

_TYPE = "PROTOBUF"
_FORM = "use.deprecated.format"
_WRITING = {
    **WRITING,
    "skip.known.types": True,
    "reference.subject.name.strategy": reference_subject_name_strategy,
    _FORM: False,
}
_READING = {**READING, _FORM: False}
_MAX_DEPTH = 50


class AsyncProtobufSerializer(AsyncSerializer):
    """Serializes messages as Protobuf, with the schema's id before each value; registers the schema if necessary.

    Thread-safe. Call it with a message and a `SerializationContext`. Clients accept the synchronous class for keys and
    values, but not the asyncio class, because they do not await serializers:
    ``KafkaProducer(value_serializer=ProtobufSerializer(Order, registry))``.

    Arguments:
        msg_type: the message class.
        schema_registry_client: the `AsyncSchemaRegistryClient`.
        conf: options under confluent-kafka's names.

    Raises `KafkaConfigurationError` for invalid arguments.
    """

    __slots__ = (
        "_class",
        "_file",
        "_indexes",
        "_name",
        "_normalizes",
        "_reference_subject",
        "_registers",
        "_registry",
        "_schemas",
        "_skips_known",
        "_strategy",
        "_write_id",
    )

    def __init__(
        self, msg_type: Any, schema_registry_client: AsyncRegistry, conf: Mapping[str, Any] | None = None
    ) -> None:
        options = Options("AsyncProtobufSerializer", _WRITING, conf)
        _check_form(options)
        descriptor = _descriptor(msg_type)
        self._registry = checked_async_registry(schema_registry_client)
        self._schemas = AsyncWritingSchemas(schema_registry_client, options, None, _TYPE)
        self._registers = options.flag("auto.register.schemas")
        self._normalizes = options.flag("normalize.schemas")
        self._skips_known = options.flag("skip.known.types")
        self._reference_subject = options.function("reference.subject.name.strategy")
        self._strategy = options.strategy()
        self._write_id = options.function("schema.id.serializer")
        self._class = msg_type
        self._file = descriptor.file
        self._name = descriptor.full_name
        self._indexes = indexes_of(descriptor)
        self._begin()

    async def __call__(self, obj: Any, ctx: SerializationContext | None = None) -> bytes | None:
        """Serialize a message; None stays None.

        Arguments:
            obj: the message.
            ctx: the topic, and whether the object is a key or a value.

        Raises `SerializationError` unless `obj` is a message of the class with all required fields, and
        `SchemaRegistryError` if the registry rejects the request.
        """
        if obj is None:
            return None
        if not isinstance(obj, self._class):
            raise SerializationError(f"expected a message {self._name}, got {type(obj).__name__}")
        subject = self._strategy(ctx, self._name)
        registered = self._schemas.known(subject) or await self._schemas.of(subject, await self._schema(ctx))
        schema_id = registered.schema_id
        schema_id.message_indexes = self._indexes
        try:
            data = obj.SerializeToString()
        except library("google.protobuf.message").EncodeError as error:
            raise value_error(schema_id, error, subject) from error
        made: bytes = self._write_id(data, ctx, schema_id)
        return made

    async def _schema(self, ctx: SerializationContext | None) -> Schema | None:
        """Register the imports, and return the schema to register; None if options select another schema."""
        if not self._schemas.needs_own:
            return None
        return Schema(_text(self._file), _TYPE, await self._references(ctx, self._file, 0))

    async def _references(self, ctx: SerializationContext | None, file: Any, depth: int) -> list[SchemaReference]:
        if depth > _MAX_DEPTH:
            raise SerializationError(f"expected imports at most {_MAX_DEPTH} levels deep")
        found = []
        for each in file.dependencies:
            if self._skips_known and is_known(each.name):
                continue
            schema = Schema(_text(each), _TYPE, await self._references(ctx, each, depth + 1))
            subject = self._reference_subject(ctx, each)
            if self._registers:
                await self._registry.register_schema(subject, schema, normalize_schemas=self._normalizes)
            version = await self._registry.lookup_schema(subject, schema, normalize_schemas=self._normalizes)
            found.append(SchemaReference(each.name, subject, version.version))
        return found


class AsyncProtobufDeserializer(AsyncDeserializer):
    """Deserializes Protobuf values into messages.

    Thread-safe. Call it with bytes and a `SerializationContext`. Clients accept the synchronous class for keys and
    values, but not the asyncio class, because they do not await serializers:
    ``KafkaConsumer(value_deserializer=ProtobufDeserializer(Order, schema_registry_client=registry))``.

    Arguments:
        message_type: the message class, for values of any writer's schema.
        conf: options under confluent-kafka's names.
        schema_registry_client: the `AsyncSchemaRegistryClient`, which must know the values' schema ids; None: any id is
            accepted.

    Raises `KafkaConfigurationError` for invalid arguments.
    """

    __slots__ = ("_class", "_error", "_read_id", "_registry", "_seen", "_strategy")

    def __init__(
        self,
        message_type: Any,
        conf: Mapping[str, Any] | None = None,
        schema_registry_client: AsyncRegistry | None = None,
    ) -> None:
        options = Options("AsyncProtobufDeserializer", _READING, conf)
        _check_form(options)
        _descriptor(message_type)
        self._class = message_type
        self._registry = None if schema_registry_client is None else checked_async_registry(schema_registry_client)
        self._strategy = options.strategy()
        self._read_id = options.function("schema.id.deserializer")
        self._error = library("google.protobuf.message").DecodeError
        self._seen: set[Any] = set()
        self._begin()

    async def __call__(self, value: bytes | None, ctx: SerializationContext | None = None) -> Any:
        """Deserialize bytes; None stays None.

        Arguments:
            value: the bytes.
            ctx: the topic, whether the bytes are a key or a value, and the headers.

        Raises `SerializationError` with the schema's id and the path of the field for bytes that cannot be decoded, and
        `SchemaRegistryError` if the registry does not respond or rejects the request.
        """
        if value is None:
            return None
        schema_id = SchemaId(_TYPE)
        payload = self._read_id(value, ctx, schema_id)
        data = payload if isinstance(payload, bytes) else payload.read()
        key = schema_id.id if schema_id.id is not None else schema_id.guid
        if self._registry is not None and key not in self._seen:
            subject = None if ctx is None else self._strategy(ctx, self._class.DESCRIPTOR.full_name)
            await written_schema(self._registry, schema_id, subject)
            self._seen.add(key)
        try:
            return self._class.FromString(data)
        except self._error as error:
            raise value_error(schema_id, damage(self._class.DESCRIPTOR, data) or error) from error


def _descriptor(message_type: Any) -> Any:
    descriptor = getattr(message_type, "DESCRIPTOR", None)
    if not isinstance(message_type, type) or descriptor is None:
        raise KafkaConfigurationError(f"expected the class of a Protobuf message, got {message_type!r:.60}")
    return descriptor


def _check_form(options: Options) -> None:
    if options.flag(_FORM):
        raise KafkaConfigurationError(f"{_FORM!r} is no longer supported, as in confluent-kafka: set it to False")


def _text(file: Any) -> str:
    return base64.b64encode(file.serialized_pb).decode()
