"""Avro serializers: byte for byte those of confluent-kafka, and in the clients, on the embedded registry."""

from __future__ import annotations

import datetime
import decimal
import json
import logging
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from kafka import AsyncKafkaConsumer, AsyncKafkaProducer, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.broker import EmbeddedBroker
from kafka.errors import KafkaConfigurationError, RecordDeserializationError
from kafka.schema_registry import (
    AsyncSchemaRegistryClient,
    Schema,
    SchemaReference,
    SchemaRegistryClient,
    SchemaRegistryConnectionError,
    SchemaRegistryError,
    header_schema_id_serializer,
    record_subject_name_strategy,
    topic_record_subject_name_strategy,
)
from kafka.schema_registry.avro import AsyncAvroDeserializer, AsyncAvroSerializer, AvroDeserializer, AvroSerializer
from kafka.serialization import MessageField, SerializationContext, SerializationError, StringSerializer

original = pytest.importorskip("confluent_kafka.schema_registry")
from confluent_kafka.schema_registry import avro as original_avro  # noqa: E402
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
def topic(request: pytest.FixtureRequest) -> str:
    return f"avro-{uuid.uuid4().hex}"


def record(*fields: Any, name: str = "n.R", **more: Any) -> str:
    return json.dumps({"type": "record", "name": name, "fields": list(fields), **more})


def field(name: str, type_: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": type_, **more}


ENUM = {"type": "enum", "name": "Kind", "symbols": ["A", "B"]}
DAY = {"type": "int", "logicalType": "date"}
MONEY = {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}
MOMENT = {"type": "long", "logicalType": "timestamp-millis"}
UTC = datetime.UTC
CASES = {
    "text": ('"string"', "grün"),
    "long": ('"long"', -(2**40)),
    "boolean": ('{"type": "boolean"}', True),
    "double": ('"double"', 1.5),
    "bytes": ('"bytes"', b"\0raw"),
    "bytes, empty": ('"bytes"', b""),
    "record": (record(field("a", "int"), field("b", "string")), {"a": 1, "b": "x"}),
    "default": (record(field("a", "int", default=7)), {}),
    "optional": (record(field("a", ["null", "long"], default=None)), {"a": 5}),
    "optional, null": (record(field("a", ["null", "long"], default=None)), {"a": None}),
    "list": (record(field("a", {"type": "array", "items": "float"})), {"a": [0.5, 1.5]}),
    "map": (record(field("a", {"type": "map", "values": "int"})), {"a": {"x": 1, "y": 2}}),
    "enum": (record(field("a", ENUM)), {"a": "B"}),
    "fixed": (record(field("a", {"type": "fixed", "name": "F", "size": 3})), {"a": b"abc"}),
    "date": (record(field("a", DAY)), {"a": datetime.date(2026, 11, 26)}),
    "decimal": (record(field("a", MONEY)), {"a": decimal.Decimal("-12.34")}),
    "timestamp": (record(field("a", MOMENT)), {"a": datetime.datetime(2026, 1, 2, 3, 4, 5, 678_000, UTC)}),
    "uuid": (record(field("a", {"type": "string", "logicalType": "uuid"})), {"a": uuid.UUID(int=7)}),
    "nested": (record(field("a", json.loads(record(field("b", "int"), name="Inner")))), {"a": {"b": 3}}),
    "union of records": (
        record(field("a", [json.loads(record(field("x", "int"), name=f"n.{n}")) for n in ("P", "Q")])),
        {"a": ("n.Q", {"x": 4})},
    ),
    "itself": (record(field("next", ["null", "R"], default=None), name="R"), {"next": {"next": None}}),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("part", ["key", "value"])
def test_bytes_are_those_of_the_original(
    registry: SchemaRegistryClient, their_registry: Any, topic: str, case: str, part: str
) -> None:
    schema, value = CASES[case]
    theirs = original_avro.AvroSerializer(their_registry, schema)(value, OriginalContext(topic, part))
    ours = AvroSerializer(registry, schema)(value, SerializationContext(topic, MessageField(part)))
    assert ours == theirs
    assert registry.get_versions(f"{topic}-{part}") == [1]
    found = AvroDeserializer(registry)(ours, SerializationContext(topic, MessageField(part)))
    if len(theirs) > 5:  # which the original takes to be too short
        assert found == original_avro.AvroDeserializer(their_registry)(theirs, OriginalContext(topic, part))
    else:
        assert found == value


@pytest.mark.parametrize("names", [False, True])
def test_a_readers_schema_is_resolved_as_by_the_original(
    registry: SchemaRegistryClient, their_registry: Any, topic: str, names: bool
) -> None:
    written = record(field("a", "int"), field("u", [json.loads(record(name="n.P")), json.loads(record(name="n.Q"))]))
    reader = record(
        field("b", "long", default=9),
        field("u", [json.loads(record(name="n.P")), json.loads(record(name="n.Q"))]),
        field("a", "double"),
    )
    data = AvroSerializer(registry, written)({"a": 1, "u": ("n.Q", {})}, SerializationContext(topic, "value"))
    theirs = original_avro.AvroDeserializer(their_registry, reader, return_record_name=names)
    expected = theirs(data, OriginalContext(topic, "value"))
    found = AvroDeserializer(registry, reader, return_record_name=names)(data, SerializationContext(topic, "value"))
    assert found == expected


def test_references(registry: SchemaRegistryClient, their_registry: Any, topic: str) -> None:
    registry.register_schema(f"{topic}-inner", Schema(record(field("x", "int"), name="n.Inner")))
    text, references = record(field("i", "Inner")), [SchemaReference("n.Inner", f"{topic}-inner", 1)]
    schema = Schema(text, "AVRO", references)
    data = AvroSerializer(registry, schema)({"i": {"x": 1}}, SerializationContext(topic, "value"))
    theirs = original.Schema(text, "AVRO", [original.SchemaReference("n.Inner", f"{topic}-inner", 1)])
    expected = original_avro.AvroSerializer(their_registry, theirs)({"i": {"x": 1}}, OriginalContext(topic, "value"))
    assert data == expected
    assert AvroDeserializer(registry)(data) == {"i": {"x": 1}}


@dataclass
class Order:
    id: str
    amount: int


ORDER = record(field("id", "string"), field("amount", "int"), name="shop.Order")


def test_objects(registry: SchemaRegistryClient, topic: str) -> None:
    ctx = SerializationContext(topic, MessageField.VALUE)
    seen: list[Any] = []

    def to_dict(order: Order, context: SerializationContext) -> dict[str, Any]:
        seen.append(context)
        return {"id": order.id, "amount": order.amount}

    def from_dict(given: dict[str, Any], context: SerializationContext) -> Order:
        seen.append(context)
        return Order(**given)

    data = AvroSerializer(registry, ORDER, to_dict)(Order("a", 3), ctx)
    assert AvroDeserializer(registry, from_dict=from_dict)(data, ctx) == Order("a", 3)
    assert seen == [ctx, ctx]
    assert AvroSerializer(registry, ORDER)(Order("a", 3), ctx) == data
    assert AvroSerializer(registry, ORDER)(None, ctx) is AvroDeserializer(registry)(None, ctx) is None


def test_subjects(registry: SchemaRegistryClient, topic: str) -> None:
    ctx = SerializationContext(topic, MessageField.VALUE)
    value = {"id": "a", "amount": 1}
    for conf in (
        {"subject.name.strategy": topic_record_subject_name_strategy},
        {"subject.name.strategy.type": "TOPIC_RECORD"},
    ):
        AvroSerializer(registry, ORDER, conf=conf)(value, ctx)
    assert registry.get_versions(f"{topic}-shop.Order") == [1]
    AvroSerializer(registry, ORDER, conf={"subject.name.strategy": record_subject_name_strategy})(value)
    assert registry.get_versions("shop.Order") == [1]


def test_which_schema_is_written(registry: SchemaRegistryClient, topic: str) -> None:
    ctx, subject = SerializationContext(topic, "value"), f"{topic}-value"
    old, new = record(field("a", "int")), record(field("a", "int"), field("b", "int", default=5))
    with pytest.raises(SchemaRegistryError, match="40401"):
        AvroSerializer(registry, old, conf={"auto.register.schemas": False})({"a": 1}, ctx)
    first = registry.register_schema(subject, Schema(old))
    second = registry.register_schema(subject, Schema(new, metadata=None))
    by_lookup = AvroSerializer(registry, old, conf={"auto.register.schemas": False})({"a": 1}, ctx)
    latest = AvroSerializer(registry, conf={"auto.register.schemas": False, "use.latest.version": True})({"a": 1}, ctx)
    by_id = AvroSerializer(registry, conf={"use.schema.id": first})({"a": 1}, ctx)
    assert (by_lookup, by_id) == (bytes([0, *first.to_bytes(4), 2]),) * 2
    assert latest == bytes([0, *second.to_bytes(4), 2, 10])
    newest = AvroDeserializer(registry, conf={"use.latest.version": True})
    assert newest(by_id, ctx) == {"a": 1, "b": 5}


def test_schemas_by_their_metadata(registry: SchemaRegistryClient, topic: str) -> None:
    from kafka.schema_registry import Metadata, MetadataProperties

    ctx, subject = SerializationContext(topic, "value"), f"{topic}-value"
    metadata = Metadata(properties=MetadataProperties({"major": "1"}))
    first = registry.register_schema(subject, Schema(record(field("a", "int")), metadata=metadata))
    registry.register_schema(subject, Schema(record(field("a", "int"), field("b", "int", default=5))))
    serializer = AvroSerializer(registry, conf={"use.latest.with.metadata": {"major": "1"}})
    assert serializer({"a": 1}, ctx) == bytes([0, *first.to_bytes(4), 2])


def test_guids_in_headers(registry: SchemaRegistryClient, their_registry: Any, topic: str) -> None:
    conf = {"schema.id.serializer": header_schema_id_serializer}
    ours: Any = SerializationContext(topic, "value", [])
    data = AvroSerializer(registry, ORDER, conf=conf)({"id": "some id", "amount": 1}, ours)
    theirs = OriginalContext(topic, "value", [])
    conf = {"schema.id.serializer": original.header_schema_id_serializer}
    assert data == original_avro.AvroSerializer(their_registry, ORDER, conf=conf)(
        {"id": "some id", "amount": 1}, theirs
    )
    assert ours.headers == theirs.headers
    assert AvroDeserializer(registry)(data, ours) == {"id": "some id", "amount": 1}


@pytest.mark.parametrize(
    ("schema", "conf", "text"),
    [
        (ORDER, {"auto.register.schema": True}, "did you mean 'auto.register.schemas'"),
        (ORDER, {"use.latest.version": True}, "set 'auto.register.schemas' to False"),
        (ORDER, {"auto.register.schemas": "yes"}, "must be True or False"),
        (ORDER, {"use.schema.id": "7"}, "a whole number"),
        (ORDER, {"subject.name.strategy": "TOPIC"}, "must be a function"),
        (ORDER, {"subject.name.strategy.type": "SIDEWAYS"}, "TOPIC, RECORD, TOPIC_RECORD"),
        (7, {}, "a str or a Schema"),
        ("{", {}, "Avro schema"),
    ],
)
def test_what_cannot_be_used(registry: SchemaRegistryClient, schema: Any, conf: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        AvroSerializer(registry, schema, conf=conf)
    with pytest.raises(KafkaConfigurationError):
        AvroDeserializer(registry, conf={"auto.register.schemas": True})


def test_the_client_for_asyncio_is_refused() -> None:
    client = AsyncSchemaRegistryClient({"url": "http://localhost:1"})
    for kind in (AvroSerializer, AvroDeserializer):
        with pytest.raises(KafkaConfigurationError, match="expected a SchemaRegistryClient"):
            kind(client)


async def test_awaited(broker_and_registry: EmbeddedBroker, registry: SchemaRegistryClient, topic: str) -> None:
    ctx, value = SerializationContext(topic, "value"), {"id": "a", "amount": 1}
    async with AsyncSchemaRegistryClient({"url": broker_and_registry.registry_url}) as client:
        serializer = await AsyncAvroSerializer(client, ORDER)
        data = await serializer(value, ctx)
        assert await AsyncAvroSerializer(client, ORDER)(value, ctx) == data
        assert await (await AsyncAvroDeserializer(client))(data, ctx) == value
        assert await AsyncAvroDeserializer(client, ORDER.replace('"int"', '"long"'))(data, ctx) == value
        with pytest.raises(SerializationError, match="amount"):
            await serializer({"id": "a", "amount": "x"}, ctx)
        with pytest.raises(ValueError, match="Avro schema"):
            await AsyncAvroSerializer(client, "{")
        with pytest.raises(KafkaConfigurationError, match="pass them the synchronous AvroDeserializer"):
            KafkaConsumer(
                bootstrap_servers=broker_and_registry.bootstrap_servers,
                value_deserializer=AsyncAvroDeserializer(client),
            )
    with pytest.raises(KafkaConfigurationError, match="expected an AsyncSchemaRegistryClient"):
        AsyncAvroSerializer(registry, ORDER)  # type: ignore[arg-type]
    assert AvroSerializer(registry, ORDER)(value, ctx) == data


def test_a_value_that_does_not_fit_is_told_with_its_path(registry: SchemaRegistryClient, topic: str) -> None:
    schema = record(field("lines", {"type": "array", "items": json.loads(record(field("price", "int"), name="Line"))}))
    with pytest.raises(SerializationError) as caught:
        AvroSerializer(registry, schema)(
            {"lines": [{"price": 1}, {"price": "x"}]}, SerializationContext(topic, "value")
        )
    assert f"{topic}-value" in str(caught.value)
    assert "lines[1].price" in str(caught.value)


# -- in the clients ---------------------------------------------------------------------------------------------------


def test_keys_and_values_of_the_clients(broker_and_registry: EmbeddedBroker, registry: Any, topic: str) -> None:
    servers = broker_and_registry.bootstrap_servers
    with KafkaProducer(
        bootstrap_servers=servers,
        key_serializer=AvroSerializer(registry, '"string"'),
        value_serializer=AvroSerializer(registry, ORDER),
    ) as producer:
        producer.send(topic, key="a", value={"id": "a", "amount": 1})
        producer.send(topic, key="b", value=None)
    assert (registry.get_versions(f"{topic}-key"), registry.get_versions(f"{topic}-value")) == ([1], [1])
    with KafkaConsumer(
        topic,
        bootstrap_servers=servers,
        auto_offset_reset="earliest",
        key_deserializer=AvroDeserializer(registry),
        value_deserializer=AvroDeserializer(registry),
    ) as consumer:
        found = [next(consumer) for _ in range(2)]
    assert [(each.key, each.value) for each in found] == [("a", {"id": "a", "amount": 1}), ("b", None)]


async def test_the_asyncio_clients(broker_and_registry: EmbeddedBroker, registry: Any, topic: str) -> None:
    servers = broker_and_registry.bootstrap_servers
    conf = {"schema.id.serializer": header_schema_id_serializer}
    async with AsyncKafkaProducer(
        bootstrap_servers=servers, value_serializer=AvroSerializer(registry, ORDER, conf=conf)
    ) as producer:
        await producer.send_and_wait(topic, {"id": "a", "amount": 1}, headers=[])
    async with AsyncKafkaConsumer(
        topic, bootstrap_servers=servers, auto_offset_reset="earliest", value_deserializer=AvroDeserializer(registry)
    ) as consumer:
        found = await anext(aiter(consumer))
    assert found.value == {"id": "a", "amount": 1}
    assert found.headers[0][0] == "__value_schema_id"


def test_confluent_kafkas_plain_serializers(broker_and_registry: EmbeddedBroker, topic: str) -> None:
    servers = broker_and_registry.bootstrap_servers
    with KafkaProducer(bootstrap_servers=servers, value_serializer=StringSerializer()) as producer:
        producer.send(topic, value="grün")
    with KafkaConsumer(topic, bootstrap_servers=servers, auto_offset_reset="earliest") as consumer:
        assert next(consumer).value == "grün".encode()


def bad_topic(broker: EmbeddedBroker, registry: Any, topic: str) -> int:
    """A topic with a bad record between two good ones; the id of their schema."""
    number: int = registry.register_schema(f"{topic}-value", Schema(ORDER))
    good = AvroSerializer(registry, ORDER)({"id": "a", "amount": 1}, SerializationContext(topic, "value"))
    assert good is not None
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for data in (good, good[:-1], b"not Avro", bytes([0, 0, 1, 0, 0, 2]), good):
            producer.send(topic, value=data)
    return number


def reader(broker: EmbeddedBroker, topic: str, deserializer: Any, **options: Any) -> KafkaConsumer[Any, Any]:
    consumer: KafkaConsumer[Any, Any] = KafkaConsumer(
        bootstrap_servers=broker.bootstrap_servers, value_deserializer=deserializer, **options
    )
    consumer.assign([TopicPartition(topic, 0)])
    consumer.seek_to_beginning()
    return consumer


def test_a_bad_record_is_named(broker_and_registry: EmbeddedBroker, registry: Any, topic: str) -> None:
    number = bad_topic(broker_and_registry, registry, topic)
    with reader(broker_and_registry, topic, AvroDeserializer(registry)) as consumer:
        texts = []
        next(consumer)
        for _ in range(3):
            with pytest.raises(RecordDeserializationError) as caught:
                next(consumer)
            texts.append(str(caught.value))
            consumer.seek(caught.value.topic_partition, caught.value.offset + 1)
        next(consumer)
    for offset, text in enumerate(texts, 1):
        assert f"offset {offset} of partition 0 of topic '{topic}'" in text
    assert f"schema id {number}" in texts[0]
    assert "amount" in texts[0]
    assert "begins with 0 and the four bytes of a schema id" in texts[1]
    assert "schema id 65536 is not in the registry" in texts[2]


def test_bad_records_are_left_out(
    broker_and_registry: EmbeddedBroker, registry: Any, topic: str, caplog: pytest.LogCaptureFixture
) -> None:
    bad_topic(broker_and_registry, registry, topic)
    caplog.set_level(logging.WARNING)
    options = {"on_deserialization_error": "skip"}
    with reader(broker_and_registry, topic, AvroDeserializer(registry), **options) as consumer:
        assert [next(consumer).offset for _ in range(2)] == [0, 4]
    assert caplog.text.count("left out (on_deserialization_error=") == 3


def test_a_record_whose_schema_cannot_be_used_names_its_id(
    broker_and_registry: EmbeddedBroker, registry: Any, topic: str
) -> None:
    """With the reader's schema and without it, and with the newest of the subject."""
    other = registry.register_schema(f"{topic}-json", Schema('{"type": "object"}', "JSON"))
    registry.register_schema(f"{topic}-value", Schema('"long"'))
    with KafkaProducer(bootstrap_servers=broker_and_registry.bootstrap_servers) as producer:
        producer.send(topic, b"\0" + other.to_bytes(4, "big") + b"{}").get(10)
    newest = AvroDeserializer(registry, conf={"use.latest.version": True})
    for deserializer in (AvroDeserializer(registry), AvroDeserializer(registry, '"long"'), newest):
        with reader(broker_and_registry, topic, deserializer) as consumer:
            with pytest.raises(RecordDeserializationError) as caught:
                next(consumer)
            text = f"schema id {other}: expected a schema of the type AVRO, got JSON"
            assert text in str(caught.value)
            assert f"offset 0 of partition 0 of topic '{topic}'" in str(caught.value)


def test_records_are_not_left_out_while_the_registry_is_down(
    broker_and_registry: EmbeddedBroker, registry: Any, topic: str
) -> None:
    bad_topic(broker_and_registry, registry, topic)
    with EmbeddedBroker(registry=True) as other:
        url = other.registry_url
    client = SchemaRegistryClient({"url": url, "max.retries": 0})
    deserializer = AvroDeserializer(client)
    with client, reader(broker_and_registry, topic, deserializer, on_deserialization_error="skip") as consumer:
        for _ in range(2):
            with pytest.raises(SchemaRegistryConnectionError) as caught:
                next(consumer)
            assert not isinstance(caught.value, RecordDeserializationError)  # upon which programs leave a record out
            [note] = caught.value.__notes__
            assert f"The record at offset 0 of partition 0 of topic {topic!r}" in note
        deserializer._registry = registry
        assert next(consumer).offset == 0
