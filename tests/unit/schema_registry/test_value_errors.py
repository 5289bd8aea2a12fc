"""Errors for values that do not fit their schema have the schema's id and the field as attributes."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.broker import EmbeddedBroker
from kafka.errors import RecordDeserializationError
from kafka.schema_registry import Schema, SchemaRegistryClient
from kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from kafka.serialization import MessageField, SerializationContext, SerializationError

pytestmark = pytest.mark.once

LINE = {"type": "record", "name": "Line", "fields": [{"name": "price", "type": "boolean"}]}
AVRO = {"type": "record", "name": "Order", "fields": [{"name": "items", "type": {"type": "array", "items": LINE}}]}
JSON = {
    "type": "object",
    "properties": {"items": {"type": "array", "items": {"properties": {"price": {"type": "number"}}}}},
}
PROTOBUF = 'syntax = "proto3"; message Line { string price = 1; } message Order { repeated Line items = 1; }'
CONTEXT = SerializationContext("orders", MessageField.VALUE)


@pytest.fixture(scope="module")
def broker() -> Iterator[EmbeddedBroker]:
    """A broker with a registry."""
    with EmbeddedBroker(registry=True) as embedded:
        yield embedded


@pytest.fixture
def registry(broker: EmbeddedBroker) -> Iterator[SchemaRegistryClient]:
    """A client of the broker's registry."""
    with SchemaRegistryClient({"url": broker.registry_url}) as client:
        yield client


def of_avro(registry: SchemaRegistryClient) -> tuple[Any, Schema, bytes]:
    return AvroDeserializer(registry), Schema(json.dumps(AVRO), "AVRO"), b"\x04\1\2\0"


def of_json(registry: SchemaRegistryClient) -> tuple[Any, Schema, bytes]:
    pytest.importorskip("jsonschema")
    from kafka.schema_registry.json_schema import JSONDeserializer

    deserializer = JSONDeserializer(None, schema_registry_client=registry)
    return deserializer, Schema(json.dumps(JSON), "JSON"), b'{"items":[{"price":1},{"price":"2"}]}'


def of_protobuf(registry: SchemaRegistryClient) -> tuple[Any, Schema, bytes]:
    pytest.importorskip("grpc_tools")
    from kafka.formats import Protobuf
    from kafka.schema_registry.protobuf import ProtobufDeserializer

    deserializer = ProtobufDeserializer(Protobuf(PROTOBUF, "Order").message_class, schema_registry_client=registry)
    return deserializer, Schema(PROTOBUF, "PROTOBUF"), b"\2\2" + b"\x0a\0" + b"\x0a\3\x0a\1\xff"


@pytest.mark.parametrize("of", [of_avro, of_json, of_protobuf])
def test_a_value_that_a_consumer_cannot_deserialize(
    broker: EmbeddedBroker, registry: SchemaRegistryClient, of: Callable[..., tuple[Any, Schema, bytes]]
) -> None:
    deserializer, schema, bad = of(registry)
    topic = f"orders-{of.__name__}"
    schema_id = registry.register_schema(f"{topic}-value", schema)
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        producer.send(topic, b"\0" + schema_id.to_bytes(4, "big") + bad)
        producer.send(topic, b"no prefix")
    partition = TopicPartition(topic, 0)
    with KafkaConsumer(
        bootstrap_servers=broker.bootstrap_servers, value_deserializer=deserializer, auto_offset_reset="earliest"
    ) as consumer:
        consumer.assign([partition])
        for offset, named in ((0, (schema_id, "items[1].price")), (1, (None, None))):
            consumer.seek(partition, offset)
            with pytest.raises(RecordDeserializationError) as caught:
                consumer.poll(timeout_ms=30_000)
            assert (caught.value.offset, caught.value.schema_id, caught.value.field) == (offset, *named)
            cause = caught.value.__cause__
            assert isinstance(cause, SerializationError)
            assert (cause.schema_id, cause.field) == named


def test_a_value_that_cannot_be_serialized(registry: SchemaRegistryClient) -> None:
    serializer = AvroSerializer(registry, json.dumps(AVRO))
    with pytest.raises(SerializationError) as caught:
        serializer({"items": [{"price": True}, {"price": "2"}]}, CONTEXT)
    assert caught.value.schema_id == registry.get_latest_version("orders-value").schema_id
    assert caught.value.field == "items[1].price"
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again, again.schema_id, again.field) == (caught.value, caught.value.schema_id, "items[1].price")


def test_a_schema_that_the_registry_lacks(registry: SchemaRegistryClient) -> None:
    with pytest.raises(SerializationError) as caught:
        AvroDeserializer(registry)(b"\0\0\1\0\0x", CONTEXT)
    assert (caught.value.schema_id, caught.value.field) == (65536, None)
