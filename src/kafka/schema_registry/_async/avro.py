"""Avro serializers that prefix each value with its schema's id."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kafka.errors import KafkaConfigurationError
from kafka.formats.avro.errors import AvroDecodeError, AvroEncodeError
from kafka.formats.avro.resolution import AvroResolutionError
from kafka.formats.avro.schema import AvroSchemaError
from kafka.formats.avro.schema import Schema as ParsedSchema
from kafka.formats.registry._async.named_schemas import parsed_avro
from kafka.formats.registry.schema_objects import Schema
from kafka.schema_registry._async.value_schemas import (
    AsyncRegistry,
    AsyncWritingSchemas,
    newest_schema,
    written_schema,
)
from kafka.schema_registry.avro_values import AvroValueDecoder, AvroValueEncoder, name_of, schema_of
from kafka.schema_registry.schema_ids import (
    SchemaId,
    dual_schema_id_deserializer,
    header_value,
    not_framed,
    prefix_schema_id_serializer,
)
from kafka.schema_registry.serde import (
    READING,
    WRITING,
    AsyncDeserializer,
    AsyncSerializer,
    Options,
    checked_async_registry,
    checked_function,
    described,
    value_error,
)
from kafka.serialization import SerializationContext, SerializationError

_TYPE = "AVRO"
_PREFIX_SIZE = 5
_WRITING = {**WRITING, "validate.strict": False, "validate.strict.allow.default": False}


class AsyncAvroSerializer(AsyncSerializer):
    """Serializes objects as Avro, with the schema's id before each value; registers the schema if necessary.

    Thread-safe. Call it with a value and a `SerializationContext`. Clients accept the synchronous class for keys and
    values, but not the asyncio class, because they do not await serializers:
    ``KafkaProducer(value_serializer=AvroSerializer(registry, schema))``.

    Arguments:
        schema_registry_client: the `AsyncSchemaRegistryClient`.
        schema_str: the schema, as JSON, or as a `Schema` if it has references; None if options select a schema.
        to_dict: called with an object and the context; converts the object to types that Avro can encode, such as dicts
            for records.
        conf: options under confluent-kafka's names.

    Raises `KafkaConfigurationError` for invalid options, and `AvroSchemaError` for an invalid schema.
    """

    __slots__ = (
        "_encoders",
        "_name",
        "_pending",
        "_registry",
        "_schemas",
        "_strategy",
        "_strict",
        "_to_dict",
        "_write_id",
    )

    def __init__(
        self,
        schema_registry_client: AsyncRegistry,
        schema_str: str | Schema | None = None,
        to_dict: Callable[[Any, SerializationContext], Any] | None = None,
        conf: Mapping[str, Any] | None = None,
    ) -> None:
        options = Options("AsyncAvroSerializer", _WRITING, conf)
        self._registry = checked_async_registry(schema_registry_client)
        schema = None if schema_str is None else schema_of(schema_str)
        self._schemas = AsyncWritingSchemas(schema_registry_client, options, schema, _TYPE)
        self._strategy = options.strategy()
        self._write_id = options.function("schema.id.serializer")
        self._strict = (options.flag("validate.strict"), options.flag("validate.strict.allow.default"))
        self._to_dict = checked_function("to_dict", to_dict)
        self._encoders: dict[Schema, AvroValueEncoder] = {}
        self._name: str | None = None
        self._pending = schema
        self._begin()

    async def __call__(self, obj: Any, ctx: SerializationContext | None = None) -> bytes | None:
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
            await self._prepare()
        subject = self._strategy(ctx, self._name)
        schema, schema_id = await self._schemas.of(subject)
        encoder = self._encoders.get(schema) or await self._encoder(schema)
        value = obj if self._to_dict is None else self._to_dict(obj, ctx)
        try:
            if self._write_id is prefix_schema_id_serializer:
                return encoder.encode(value, schema_id.id_to_bytes())
            made: bytes = self._write_id(encoder.encode(value, b""), ctx, schema_id)
        except AvroEncodeError as error:
            raise value_error(schema_id, error, subject) from error
        return made

    async def _prepare(self) -> None:
        if self._pending is not None:
            self._name = (await self._encoder(self._pending)).name
            self._pending = None

    async def _encoder(self, schema: Schema) -> AvroValueEncoder:
        made = self._encoders[schema] = AvroValueEncoder(await parsed_avro(schema, self._registry), *self._strict)
        return made


class AsyncAvroDeserializer(AsyncDeserializer):
    """Deserializes Avro values, with the schema that a prefix or header identifies.

    Thread-safe. Call it with bytes and a `SerializationContext`. Clients accept the synchronous class for keys and
    values, but not the asyncio class, because they do not await serializers:
    ``KafkaConsumer(value_deserializer=AvroDeserializer(registry))``.

    Arguments:
        schema_registry_client: the `AsyncSchemaRegistryClient`.
        schema_str: the reader's schema, as JSON or as a `Schema`, to which values are resolved; None: the writer's
            schema.
        from_dict: called with the decoded value and the context; its return value is the result.
        return_record_name: return a record in a union as a pair of its full name and the record.
        conf: options under confluent-kafka's names.

    Raises `KafkaConfigurationError` for invalid options, and `AvroSchemaError` for an invalid schema.
    """

    __slots__ = (
        "_decoders",
        "_from_dict",
        "_latest",
        "_metadata",
        "_names",
        "_pending",
        "_read_id",
        "_reader",
        "_registry",
        "_strategy",
    )

    def __init__(
        self,
        schema_registry_client: AsyncRegistry,
        schema_str: str | Schema | None = None,
        from_dict: Callable[[Any, SerializationContext], Any] | None = None,
        return_record_name: bool = False,
        conf: Mapping[str, Any] | None = None,
    ) -> None:
        options = Options("AsyncAvroDeserializer", READING, conf)
        self._registry = checked_async_registry(schema_registry_client)
        self._reader: ParsedSchema | None = None
        self._pending = None if schema_str is None else schema_of(schema_str)
        self._latest = options.flag("use.latest.version")
        self._metadata = options.mapping("use.latest.with.metadata")
        self._strategy = options.strategy()
        self._read_id = options.function("schema.id.deserializer")
        self._from_dict = checked_function("from_dict", from_dict)
        if not isinstance(return_record_name, bool):
            raise KafkaConfigurationError(f"return_record_name must be True or False, not {return_record_name!r:.60}")
        self._names = return_record_name
        self._decoders: dict[Any, AvroValueDecoder] = {}
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
        start = 0
        if self._read_id is dual_schema_id_deserializer and header_value(ctx) is None and value[:1] == b"\0":
            if len(value) < _PREFIX_SIZE:
                raise not_framed(bytes(value))
            schema_id = SchemaId(_TYPE, int.from_bytes(value[1:_PREFIX_SIZE]))
            data, start = value, _PREFIX_SIZE
        else:
            schema_id = SchemaId(_TYPE)
            payload = self._read_id(value, ctx, schema_id)
            data = payload if isinstance(payload, bytes) else payload.read()
        if self._pending is not None:
            await self._prepare()
        decoder = await self._decoder(schema_id, ctx)
        try:
            found = decoder.decode(data, start)
        except AvroDecodeError as error:
            raise value_error(schema_id, error) from error
        if found is None or self._from_dict is None:
            return found
        return self._from_dict(found, ctx)

    async def _prepare(self) -> None:
        if self._pending is not None:
            self._reader = await parsed_avro(self._pending, self._registry)
            self._pending = None

    async def _decoder(self, schema_id: SchemaId, ctx: SerializationContext | None) -> AvroValueDecoder:
        key: Any = schema_id.id if schema_id.id is not None else schema_id.guid
        if not self._latest and self._metadata is None:
            made = self._decoders.get(key)
            if made is None:
                written = await self._written(schema_id, self._subject(ctx, None))
                made = self._decoders[key] = self._planned(schema_id, written, self._reader)
            return made
        subject = self._subject(ctx, None)
        written = await self._written(schema_id, subject)
        subject = self._subject(ctx, written) if subject is None else subject
        reader_text = await newest_schema(self._registry, subject, self._metadata)
        made = self._decoders.get((key, reader_text))
        if made is None:
            reader = self._reader if reader_text is None else await parsed_avro(reader_text, self._registry)
            made = self._planned(schema_id, written, reader)
            self._decoders[(key, reader_text)] = made
        return made

    async def _written(self, schema_id: SchemaId, subject: str | None) -> ParsedSchema:
        """Return a value's writer schema; raises `SerializationError` with the schema's id if it is invalid."""
        schema = await written_schema(self._registry, schema_id, subject)
        try:
            return await parsed_avro(schema, self._registry)
        except (AvroSchemaError, SerializationError) as error:
            raise value_error(schema_id, error) from error

    def _planned(self, schema_id: SchemaId, written: ParsedSchema, reader: ParsedSchema | None) -> AvroValueDecoder:
        try:
            return AvroValueDecoder(written, reader, self._names)
        except (AvroResolutionError, AvroSchemaError) as error:
            raise SerializationError(
                f"{described(schema_id)} cannot be read with the reader's schema: {error}", schema_id=schema_id.id
            ) from error

    def _subject(self, ctx: SerializationContext | None, written: ParsedSchema | None) -> str | None:
        """Return the subject, or None if the context and the schema do not determine it."""
        return None if ctx is None else self._strategy(ctx, None if written is None else name_of(written))
