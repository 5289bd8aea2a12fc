"""Converts Avro values to JSON and back with a registry's schemas, for tools without record classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafka.formats.avro.errors import AvroDecodeError
from kafka.formats.avro.json_writer import json_writer
from kafka.formats.avro.resolution import AvroResolutionError
from kafka.formats.avro.schema import AvroSchemaError
from kafka.formats.avro.schema import Schema as ParsedSchema
from kafka.formats.registry._sync.named_schemas import parsed_avro
from kafka.schema_registry._sync.value_schemas import Registry, written_schema
from kafka.schema_registry.avro_values import AvroValueDecoder
from kafka.schema_registry.schema_ids import SchemaId, dual_schema_id_deserializer
from kafka.schema_registry.serde import described, value_error
from kafka.serialization import SerializationContext, SerializationError

TYPE = "AVRO"
_MOST_PLANS = 1000


class AvroJsonReader:
    """Decodes values of all schemas of a registry. Thread-safe.

    Arguments:
        registry: the `SchemaRegistryClient`.
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._plans: dict[Any, tuple[AvroValueDecoder, Callable[[Any], str]]] = {}

    def text(self, data: bytes, ctx: SerializationContext, reader: ParsedSchema | None = None) -> str:
        """The JSON of a value, as `kafka.formats.avro.json_writer` writes it.

        Arguments:
            data: the id of the schema, and the value.
            ctx: the topic, whether it is a key or a value, and headers.
            reader: the schema to resolve it to; None: its own.

        Raises `SerializationError` for data that cannot be decoded, `SchemaRegistryError` if the registry refuses or
        does not answer.
        """
        schema_id = SchemaId(TYPE)
        payload: bytes = dual_schema_id_deserializer(data, ctx, schema_id).read()
        decoder, write = self._plan(schema_id, reader)
        try:
            return write(decoder.decode(payload, 0))
        except AvroDecodeError as error:
            moved = AvroDecodeError(error.path, error.position + len(data) - len(payload), error.reason)
            raise value_error(schema_id, moved) from error

    def _plan(self, schema_id: SchemaId, reader: ParsedSchema | None) -> tuple[AvroValueDecoder, Callable[[Any], str]]:
        """The decoder of values and the writer of their JSON; raises `SerializationError`."""
        key = (schema_id.id, schema_id.guid, reader)
        plan = self._plans.get(key)
        if plan is None:
            schema = written_schema(self._registry, schema_id, None)
            try:
                written = parsed_avro(schema, self._registry)
            except (AvroSchemaError, SerializationError) as error:
                raise value_error(schema_id, error) from error
            try:
                plan = AvroValueDecoder(written, reader, True), json_writer(reader or written)
            except (AvroResolutionError, AvroSchemaError) as error:
                raise SerializationError(
                    f"{described(schema_id)} cannot be read with the reader's schema: {error}", schema_id=schema_id.id
                ) from error
            if len(self._plans) >= _MOST_PLANS:
                self._plans.clear()
            self._plans[key] = plan
        return plan
