"""Protobuf serializers: byte for byte those of confluent-kafka, and in the clients, on the embedded registry."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.broker import EmbeddedBroker
from kafka.errors import KafkaConfigurationError, RecordDeserializationError
from kafka.formats import Protobuf
from kafka.schema_registry import (
    AsyncSchemaRegistryClient,
    Schema,
    SchemaReference,
    SchemaRegistryClient,
    SchemaRegistryError,
    header_schema_id_serializer,
)
from kafka.schema_registry.protobuf import (
    AsyncProtobufDeserializer,
    AsyncProtobufSerializer,
    ProtobufDeserializer,
    ProtobufSerializer,
)
from kafka.serialization import MessageField, SerializationContext, SerializationError

original = pytest.importorskip("confluent_kafka.schema_registry")
pytest.importorskip("grpc_tools")
original_protobuf = pytest.importorskip("confluent_kafka.schema_registry.protobuf")
OriginalContext: Any = pytest.importorskip("confluent_kafka.serialization").SerializationContext

MONEY = 'syntax = "proto3"; package shop; message Money { int64 cents = 1; }'
ORDER = """syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";
import "money.proto";
message First { bool yes = 1; }
message Order {
  message Inner { int32 x = 1; }
  message Line { string sku = 1; map<string, Inner> parts = 2; }
  string id = 1;
  optional int32 amount = 2;
  repeated Line lines = 3;
  Money total = 4;
  google.protobuf.Timestamp at = 5;
  oneof pay { string card = 6; int64 cash = 7; }
}
"""
FIRST = Protobuf(ORDER, references={"money.proto": MONEY})
POOL = FIRST.descriptor.file.pool


def class_of(name: str) -> Any:
    from google.protobuf.message_factory import GetMessageClass

    return GetMessageClass(POOL.FindMessageTypeByName(name))


Order, Line, First, Money = (class_of(f"shop.{name}") for name in ("Order", "Order.Line", "First", "Money"))


@pytest.fixture(scope="module")
def broker_and_registry() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(registry=True) as broker:
        yield broker


@pytest.fixture
def registry(broker_and_registry: EmbeddedBroker) -> Iterator[SchemaRegistryClient]:
    with SchemaRegistryClient({"url": broker_and_registry.registry_url, "max.retries": 0}) as client:
        yield client


@pytest.fixture
def their_registry(broker_and_registry: EmbeddedBroker) -> Iterator[Any]:
    client = original.SchemaRegistryClient({"url": broker_and_registry.registry_url})
    yield client
    client.close()


@pytest.fixture
def topic() -> str:
    return f"protobuf-{uuid.uuid4().hex}"


def order(number: int = 3) -> Any:
    message = Order(id="grün", amount=0, card="x")
    message.lines.add(sku="a").parts["p"].x = number
    message.total.cents = 7
    message.at.seconds = 5
    return message


CASES = {
    "first": First(yes=True),
    "second": order(),
    "nested": Line(sku="s"),
    "imported": Money(cents=1),
    "empty": First(),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("part", ["key", "value"])
def test_bytes_are_those_of_the_original(
    registry: SchemaRegistryClient, their_registry: Any, topic: str, case: str, part: str
) -> None:
    message = CASES[case]
    kind, ctx = type(message), SerializationContext(topic, MessageField(part))
    theirs = original_protobuf.ProtobufSerializer(kind, their_registry)(message, OriginalContext(topic, part))
    ours = ProtobufSerializer(kind, registry)(message, ctx)
    assert ours == theirs
    assert registry.get_versions(f"{topic}-{part}") == [1]
    assert ProtobufDeserializer(kind, None, registry)(ours, ctx) == message
    reader = original_protobuf.ProtobufDeserializer(kind, {"use.deprecated.format": False}, their_registry)
    assert reader(ours, OriginalContext(topic, part)) == message


def test_schemas_are_text_and_descriptors(registry: SchemaRegistryClient, topic: str) -> None:
    ctx = SerializationContext(topic, "value")
    ProtobufSerializer(Order, registry)(order(), ctx)
    latest = registry.get_latest_version(f"{topic}-value")
    assert (latest.schema.schema_type, latest.schema.references) == (
        "PROTOBUF",
        [SchemaReference("money.proto", "money.proto", 1)],
    )
    text = latest.schema.schema_str or ""
    assert text.startswith('syntax = "proto3";\npackage shop;\n')
    serialized = registry.get_version(f"{topic}-value", 1, fmt="serialized").schema.schema_str or ""
    for schema in (text, serialized):
        codec = Protobuf(schema, "Order", references={"money.proto": MONEY})
        assert codec.decode(order().SerializeToString()).SerializeToString() == order().SerializeToString()
        same = Schema(schema, "PROTOBUF", latest.schema.references)
        assert registry.register_schema(f"{topic}-value", same) == latest.schema_id
    base64.b64decode(serialized, validate=True)


def test_options(registry: SchemaRegistryClient, their_registry: Any, topic: str) -> None:
    ctx, value = SerializationContext(topic, "value"), order()
    with pytest.raises(SchemaRegistryError, match="40401"):
        ProtobufSerializer(Order, registry, {"auto.register.schemas": False})(value, ctx)
    conf = {
        "skip.known.types": False,
        "reference.subject.name.strategy": lambda context, file: f"{topic}-{file.name}",
    }
    data = ProtobufSerializer(Order, registry, conf)(value, ctx)
    assert registry.get_versions(f"{topic}-google/protobuf/timestamp.proto") == [1]
    assert registry.get_versions(f"{topic}-money.proto") == [1]
    theirs = original_protobuf.ProtobufSerializer(Order, their_registry, conf)(value, OriginalContext(topic, "value"))
    assert data == theirs
    latest = {"auto.register.schemas": False, "use.latest.version": True}
    assert ProtobufSerializer(Order, registry, latest)(value, ctx) == data
    number = registry.get_latest_version(f"{topic}-value").schema_id
    assert ProtobufSerializer(Order, registry, {"use.schema.id": number})(value, ctx) == data
    named = {"subject.name.strategy.type": "TOPIC_RECORD"}
    ProtobufSerializer(Order, registry, named)(value, ctx)
    assert registry.get_versions(f"{topic}-shop.Order") == [1]


def test_guids_in_headers(registry: SchemaRegistryClient, their_registry: Any, topic: str) -> None:
    ours: Any = SerializationContext(topic, "value", [])
    theirs = OriginalContext(topic, "value", [])
    conf = {"schema.id.serializer": header_schema_id_serializer}
    data = ProtobufSerializer(Line, registry, conf)(Line(sku="a"), ours)
    conf = {"schema.id.serializer": original.header_schema_id_serializer}
    assert data == original_protobuf.ProtobufSerializer(Line, their_registry, conf)(Line(sku="a"), theirs)
    assert ours.headers == theirs.headers
    assert ProtobufDeserializer(Line, None, registry)(data, ours) == Line(sku="a")


def test_what_cannot_be_used(registry: SchemaRegistryClient, topic: str) -> None:
    with pytest.raises(KafkaConfigurationError, match="no longer supported"):
        ProtobufSerializer(Order, registry, {"use.deprecated.format": True})
    with pytest.raises(KafkaConfigurationError, match=r"did you mean 'skip\.known\.types'"):
        ProtobufSerializer(Order, registry, {"skip.known.type": True})
    with pytest.raises(KafkaConfigurationError, match="the class of a Protobuf message"):
        ProtobufDeserializer("Order")
    with pytest.raises(KafkaConfigurationError, match="expected a SchemaRegistryClient"):
        ProtobufSerializer(Order, AsyncSchemaRegistryClient({"url": "http://localhost:1"}))  # type: ignore[arg-type]
    with pytest.raises(SerializationError, match=r"expected a message shop\.Order, got First"):
        ProtobufSerializer(Order, registry)(First(), SerializationContext(topic, "value"))


async def test_awaited(broker_and_registry: EmbeddedBroker, registry: SchemaRegistryClient, topic: str) -> None:
    ctx = SerializationContext(topic, "value")
    async with AsyncSchemaRegistryClient({"url": broker_and_registry.registry_url}) as client:
        serializer = await AsyncProtobufSerializer(Order, client)
        data = await serializer(order(), ctx)
        reader = await AsyncProtobufDeserializer(Order, None, client)
        assert await reader(data, ctx) == order()
    assert ProtobufSerializer(Order, registry)(order(), ctx) == data


def test_the_clients_name_a_bad_record(broker_and_registry: EmbeddedBroker, registry: Any, topic: str) -> None:
    servers = broker_and_registry.bootstrap_servers
    with KafkaProducer(bootstrap_servers=servers, value_serializer=ProtobufSerializer(Order, registry)) as producer:
        producer.send(topic, value=order())
    number = registry.get_latest_version(f"{topic}-value").schema_id
    prefix = bytes([0, *number.to_bytes(4)])
    with KafkaProducer(bootstrap_servers=servers) as producer:
        for data in (prefix + b"\2\2\x1a\x02\x0a\x05", prefix + b"\x80", b"{}", b"\0\0\1\0\0\0"):
            producer.send(topic, value=data)
    reader = ProtobufDeserializer(Order, None, registry)
    with KafkaConsumer(bootstrap_servers=servers, value_deserializer=reader) as consumer:
        partition = TopicPartition(topic, 0)
        consumer.assign([partition])
        consumer.seek_to_beginning()
        assert next(consumer).value == order()
        texts = []
        for offset in range(1, 5):
            with pytest.raises(RecordDeserializationError) as caught:
                next(consumer)
            texts.append(str(caught.value))
            consumer.seek(partition, offset + 1)
    assert f"schema id {number}: At lines[0].sku, byte 4: expected 5 bytes, got 0" in texts[0]
    for text, why in zip(texts[1:], ("position of a message", "begins with 0", "is not in the registry"), strict=True):
        assert why in text
