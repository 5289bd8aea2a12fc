"""JSON serializers: byte for byte those of confluent-kafka, and in the clients, on the embedded registry."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.broker import EmbeddedBroker
from kafka.errors import KafkaConfigurationError, RecordDeserializationError
from kafka.formats import JsonSchemaError
from kafka.schema_registry import (
    AsyncSchemaRegistryClient,
    Schema,
    SchemaReference,
    SchemaRegistryClient,
    header_schema_id_serializer,
)
from kafka.schema_registry.json_schema import (
    AsyncJSONDeserializer,
    AsyncJSONSerializer,
    JSONDeserializer,
    JSONSerializer,
)
from kafka.serialization import MessageField, SerializationContext, SerializationError

original = pytest.importorskip("confluent_kafka.schema_registry")
pytest.importorskip("jsonschema")
from confluent_kafka.schema_registry import json_schema as original_json  # noqa: E402
from confluent_kafka.serialization import SerializationContext as OriginalContext  # noqa: E402


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
    return f"json-{uuid.uuid4().hex}"


def schema(**properties: Any) -> str:
    return json.dumps({"title": "Order", "type": "object", "properties": properties, "required": list(properties)[:1]})


DRAFT_7 = "http://json-schema.org/draft-07/schema#"
INT, TEXT = {"type": "integer"}, {"type": "string"}
CASES: dict[str, tuple[str, Any]] = {
    "object": (schema(id=TEXT, amount=INT), {"id": 'grün \U0001f600 "\\\n', "amount": 3}),
    "numbers": (schema(a={"type": "number"}), {"a": 1.5, "b": -7, "c": 1e100, "d": 2**60, "e": 0.1}),
    "nested": (schema(a=json.loads(schema(b=TEXT))), {"a": {"b": "x", "c": [1, [], {}, None, True, False]}}),
    "one of": (json.dumps({"oneOf": [{"type": "null"}, TEXT]}), "text"),
    "number alone": ('{"type": "integer"}', 7),
    "list": ('{"type": "array", "items": {"type": "string"}}', ["a", ""]),
    "draft 7": (json.dumps({"$schema": DRAFT_7, "type": "array", "items": [INT, TEXT]}), [1, "b"]),
    "definitions": (json.dumps({"$ref": "#/$defs/a", "$defs": {"a": INT}}), 1),
    "truth": ("true", {"anything": 1}),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("part", ["key", "value"])
def test_bytes_are_those_of_the_original(
    registry: SchemaRegistryClient, their_registry: Any, topic: str, case: str, part: str
) -> None:
    text, value = CASES[case]
    theirs = original_json.JSONSerializer(text, their_registry)(value, OriginalContext(topic, part))
    ours = JSONSerializer(text, registry)(value, SerializationContext(topic, MessageField(part)))
    assert ours == theirs
    assert registry.get_versions(f"{topic}-{part}") == [1]
    assert registry.get_latest_version(f"{topic}-{part}").schema.schema_type == "JSON"
    reader = JSONDeserializer(None, schema_registry_client=registry)
    assert reader(ours, SerializationContext(topic, MessageField(part))) == value
    their_reader = original_json.JSONDeserializer(None, schema_registry_client=their_registry)
    assert their_reader(ours, OriginalContext(topic, part)) == value


def test_guids_in_headers(registry: SchemaRegistryClient, their_registry: Any, topic: str) -> None:
    text, value = CASES["object"]
    ours: Any = SerializationContext(topic, "value", [])
    theirs = OriginalContext(topic, "value", [])
    data = JSONSerializer(text, registry, conf={"schema.id.serializer": header_schema_id_serializer})(value, ours)
    conf = {"schema.id.serializer": original.header_schema_id_serializer}
    assert data == original_json.JSONSerializer(text, their_registry, conf=conf)(value, theirs)
    assert ours.headers == theirs.headers
    assert JSONDeserializer(None, schema_registry_client=registry)(data, ours) == value


def test_references(registry: SchemaRegistryClient, their_registry: Any, topic: str) -> None:
    registry.register_schema(f"{topic}-money", Schema(json.dumps({"type": "integer"}), "JSON"))
    text = schema(price={"$ref": "money.json"})
    ours = Schema(text, "JSON", [SchemaReference("money.json", f"{topic}-money", 1)])
    theirs = original.Schema(text, "JSON", [original.SchemaReference("money.json", f"{topic}-money", 1)])
    ctx = SerializationContext(topic, "value")
    data = JSONSerializer(ours, registry)({"price": 1}, ctx)
    assert data == original_json.JSONSerializer(theirs, their_registry)({"price": 1}, OriginalContext(topic, "value"))
    assert JSONDeserializer(None, schema_registry_client=registry)(data, ctx) == {"price": 1}
    with pytest.raises(SerializationError, match="At price: '1' is not of type 'integer'"):
        JSONSerializer(ours, registry)({"price": "1"}, ctx)


@dataclass
class Order:
    id: str
    amount: int


ORDER = schema(id=TEXT, amount=INT)


def test_objects(registry: SchemaRegistryClient, topic: str) -> None:
    ctx = SerializationContext(topic, MessageField.VALUE)
    seen: list[Any] = []

    def to_dict(order: Order, context: SerializationContext) -> dict[str, Any]:
        seen.append(context)
        return {"id": order.id, "amount": order.amount}

    def from_dict(given: dict[str, Any], context: SerializationContext) -> Order:
        seen.append(context)
        return Order(**given)

    data = JSONSerializer(ORDER, registry, to_dict)(Order("a", 3), ctx)
    reader = JSONDeserializer(ORDER, from_dict, registry)
    assert reader(data, ctx) == Order("a", 3)
    assert seen == [ctx, ctx]
    assert JSONSerializer(ORDER, registry)(Order("a", 3), ctx) == data
    assert JSONDeserializer(ORDER)(data) == {"id": "a", "amount": 3}
    assert JSONSerializer(ORDER, registry)(None, ctx) is reader(None, ctx) is None


def test_own_functions_for_json(registry: SchemaRegistryClient, topic: str) -> None:
    ctx = SerializationContext(topic, MessageField.VALUE)
    value = {"id": "a", "amount": 3}
    data = JSONSerializer(ORDER, registry, json_encode=json.dumps)(value, ctx)
    assert data is not None
    assert data[5:] == json.dumps(value).encode()
    found = JSONDeserializer(None, schema_registry_client=registry, conf={"validate": False}, json_decode=len)(data)
    assert found == len(data) - 5


def test_which_schema_is_written(registry: SchemaRegistryClient, topic: str) -> None:
    ctx, subject = SerializationContext(topic, "value"), f"{topic}-value"
    old = json.dumps({"type": "object", "properties": {"a": INT}, "additionalProperties": False})
    new = json.dumps({"type": "object", "properties": {"a": INT, "b": TEXT}, "additionalProperties": False})
    first = registry.register_schema(subject, Schema(old, "JSON"))
    second = registry.register_schema(subject, Schema(new, "JSON"))
    by_lookup = JSONSerializer(old, registry, conf={"auto.register.schemas": False})({"a": 1}, ctx)
    latest = JSONSerializer(None, registry, conf={"auto.register.schemas": False, "use.latest.version": True})
    by_id = JSONSerializer(None, registry, conf={"use.schema.id": first})({"a": 1}, ctx)
    assert (by_lookup, by_id) == (bytes([0, *first.to_bytes(4)]) + b'{"a":1}',) * 2
    assert latest({"a": 1, "b": "x"}, ctx) == bytes([0, *second.to_bytes(4)]) + b'{"a":1,"b":"x"}'
    newest = JSONDeserializer(old, schema_registry_client=registry, conf={"use.latest.version": True})
    data = bytes([0, *first.to_bytes(4)]) + b'{"a":1,"b":"x"}'
    assert newest(data, ctx) == {"a": 1, "b": "x"}
    with pytest.raises(SerializationError, match=f"schema id {first}: Additional properties are not allowed"):
        JSONDeserializer(None, schema_registry_client=registry)(data, ctx)
    strategy = {"subject.name.strategy.type": "RECORD"}
    JSONSerializer(ORDER.replace("Order", topic), registry, conf=strategy)({"id": "a"}, ctx)
    assert registry.get_versions(topic) == [1]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"id": 7}, "At id: 7 is not of type 'string'"),
        ({"amount": 7}, "'id' is a required property"),
        ({"id": "a", "x": float("nan")}, "Out of range float values"),
        ({"id": "a", "x": {1, 2}}, "set is not JSON serializable"),
    ],
)
def test_a_value_that_does_not_fit(registry: SchemaRegistryClient, topic: str, value: Any, text: str) -> None:
    with pytest.raises(SerializationError, match=text) as caught:
        JSONSerializer(ORDER, registry)(value, SerializationContext(topic, "value"))
    assert f"subject '{topic}-value', schema id " in str(caught.value)


def test_validation_can_be_off(registry: SchemaRegistryClient, topic: str) -> None:
    ctx = SerializationContext(topic, "value")
    data = JSONSerializer(ORDER, registry, conf={"validate": False})({"id": 7}, ctx)
    assert JSONDeserializer(None, schema_registry_client=registry, conf={"validate": False})(data, ctx) == {"id": 7}
    with pytest.raises(SerializationError, match="At id: 7 is not of type 'string'"):
        JSONDeserializer(None, schema_registry_client=registry)(data, ctx)


def test_what_cannot_be_used(registry: SchemaRegistryClient) -> None:
    with pytest.raises(KafkaConfigurationError, match="did you mean 'validate'"):
        JSONSerializer(ORDER, registry, conf={"validat": True})
    with pytest.raises(KafkaConfigurationError, match="a str or a Schema"):
        JSONSerializer(7, registry)  # type: ignore[arg-type]
    with pytest.raises(JsonSchemaError, match="which is JSON"):
        JSONSerializer("{", registry)
    with pytest.raises(JsonSchemaError, match="At type"):
        JSONSerializer('{"type": "strin"}', registry)
    with pytest.raises(KafkaConfigurationError, match="schema_registry_client is missing"):
        JSONDeserializer(None)
    with pytest.raises(KafkaConfigurationError, match="expected a SchemaRegistryClient"):
        JSONSerializer(ORDER, AsyncSchemaRegistryClient({"url": "http://localhost:1"}))  # type: ignore[arg-type]
    with pytest.raises(KafkaConfigurationError, match="expected an AsyncSchemaRegistryClient"):
        AsyncJSONSerializer(ORDER, registry)  # type: ignore[arg-type]


async def test_awaited(broker_and_registry: EmbeddedBroker, registry: SchemaRegistryClient, topic: str) -> None:
    ctx = SerializationContext(topic, "value")
    async with AsyncSchemaRegistryClient({"url": broker_and_registry.registry_url}) as client:
        serializer = await AsyncJSONSerializer(ORDER, client)
        data = await serializer({"id": "a", "amount": 1}, ctx)
        assert await AsyncJSONSerializer(ORDER, client)({"id": "a", "amount": 1}, ctx) == data
        reader = await AsyncJSONDeserializer(None, schema_registry_client=client)
        assert await reader(data, ctx) == {"id": "a", "amount": 1}
        with pytest.raises(SerializationError, match="At id"):
            await serializer({"id": 1}, ctx)
        with pytest.raises(JsonSchemaError, match="At type"):
            await AsyncJSONSerializer('{"type": "strin"}', client)
        with pytest.raises(KafkaConfigurationError, match="pass them the synchronous JSONSerializer"):
            KafkaProducer(bootstrap_servers=broker_and_registry.bootstrap_servers, value_serializer=serializer)
    assert JSONSerializer(ORDER, registry)({"id": "a", "amount": 1}, ctx) == data


def test_the_clients_name_a_bad_record(broker_and_registry: EmbeddedBroker, registry: Any, topic: str) -> None:
    servers = broker_and_registry.bootstrap_servers
    with KafkaProducer(bootstrap_servers=servers, value_serializer=JSONSerializer(ORDER, registry)) as producer:
        producer.send(topic, value={"id": "a"})
        producer.send(topic, value={"id": "b"})
    number = registry.get_latest_version(f"{topic}-value").schema_id
    prefix = bytes([0, *number.to_bytes(4)])
    avro = registry.register_schema(f"{topic}-avro", Schema('"string"'))
    of_avro = bytes([0, *avro.to_bytes(4)]) + b"{}"
    with KafkaProducer(bootstrap_servers=servers) as producer:
        for data in (prefix + b'{"id": 1}', prefix + b'{"id"', b"{}", b"\0\0\1\0\0{}", of_avro):
            producer.send(topic, value=data)
    with KafkaConsumer(
        bootstrap_servers=servers, value_deserializer=JSONDeserializer(None, schema_registry_client=registry)
    ) as consumer:
        partition = TopicPartition(topic, 0)
        consumer.assign([partition])
        consumer.seek_to_beginning()
        assert [next(consumer).value for _ in range(2)] == [{"id": "a"}, {"id": "b"}]
        texts = []
        for offset in range(2, 7):
            with pytest.raises(RecordDeserializationError) as caught:
                next(consumer)
            texts.append(str(caught.value))
            consumer.seek(partition, offset + 1)
    expected = ("At id: 1 is not of type", "not JSON", "begins with 0", "is not in the", "of the type JSON, got AVRO")
    for text, why in zip(texts, expected, strict=True):
        assert why in text
    assert f"schema id {number}" in texts[0]
    assert f"schema id {avro}: expected a schema" in texts[4]
