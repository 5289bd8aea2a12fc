"""Typed keys and values as columns of Arrow, by both clients: with a registry, with formats, and plain."""

from __future__ import annotations

import datetime
import functools
import json
import logging
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import kafka
from kafka import AsyncKafkaConsumer, AsyncKafkaProducer, KafkaConsumer, KafkaProducer
from kafka.broker import EmbeddedBroker
from kafka.errors import IllegalStateError, RecordDeserializationError
from kafka.formats import Avro, Json, Protobuf
from kafka.schema_registry import (
    AsyncSchemaRegistryClient,
    Schema,
    SchemaRegistryClient,
    SchemaRegistryConnectionError,
    header_schema_id_serializer,
)
from kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from kafka.schema_registry.json_schema import JSONSerializer
from kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from kafka.serialization import MessageField, SerializationContext, SerializationError

if TYPE_CHECKING:
    from conftest import Broker, MakeTopic

pytestmark = pytest.mark.integration

ORDERS = pa.table({"id": pa.array([1, 2, 3]), "note": pa.array(["a", None, "c"])})
ROWS = ORDERS.to_pylist()


@pytest.fixture(scope="module")
def registry_url() -> Iterator[str]:
    with EmbeddedBroker(registry=True) as broker:
        yield broker.registry_url


@pytest.fixture
def registry(registry_url: str) -> Iterator[SchemaRegistryClient]:
    with SchemaRegistryClient({"url": registry_url, "max.retries": 0}) as client:
        yield client


def consumer_of(broker: Broker, topic: str, **configs: Any) -> KafkaConsumer[Any, Any]:
    reset: Any = {"auto_offset_reset": "earliest", **configs}
    return KafkaConsumer(topic, bootstrap_servers=broker.bootstrap_servers, **reset)


def polled(consumer: KafkaConsumer[Any, Any], count: int, **how: Any) -> Any:
    """So many rows, as one table."""
    batches = []
    while sum(each.num_rows for each in batches) < count:
        batches.append(consumer.poll_arrow(timeout_ms=30_000, **how))
    return pa.Table.from_batches(batches)


def with_bad(broker: Broker, topic: str, registry: SchemaRegistryClient, *bad: bytes) -> None:
    """The orders, with other values behind the first one."""
    values = registry.writer(f"{topic}-value", ORDERS.schema).encode(ORDERS.to_struct_array().combine_chunks())
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for value in (values[0].as_py(), *bad, values[1].as_py(), values[2].as_py()):
            producer.send(topic, value)


def test_a_typed_table_goes_through_a_topic(
    broker: Broker, make_topic: MakeTopic, registry: SchemaRegistryClient
) -> None:
    topic = make_topic()
    writer = registry.writer(f"{topic}-value", ORDERS.schema)
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        keyed = ORDERS.append_column("key", pa.array([7, 8, None], pa.int64()))
        assert producer.send_arrow(topic, keyed, key="long", value=writer).get(60).rows == 3
    reader = registry.reader(f"{topic}-value")
    with consumer_of(broker, topic) as consumer:
        found = polled(consumer, 3, key="long", value=reader)
    assert found.schema.field("value").type == reader.type
    assert found.column("value").to_pylist() == ROWS
    assert found.column("key").to_pylist() == [7, 8, None]
    read = kafka.read(topic, bootstrap_servers=broker.bootstrap_servers, key="long", value=reader)
    assert read.to_arrow().column("value").to_pylist() == ROWS
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:  # what was read can be sent as it is
        producer.send_arrow(topic, found, key="long", value=writer).get(60)
    assert kafka.read(topic, bootstrap_servers=broker.bootstrap_servers, value=reader).to_arrow().column(
        "value"
    ).to_pylist() == [*ROWS, *ROWS]


async def test_the_same_in_asyncio(broker: Broker, make_topic: MakeTopic, registry_url: str) -> None:
    topic = make_topic()
    async with AsyncSchemaRegistryClient({"url": registry_url}) as registry:
        async with AsyncKafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
            writer = await registry.writer(f"{topic}-value", ORDERS.schema)
            await (await producer.send_arrow(topic, ORDERS, value=writer))
        reader = await registry.reader(f"{topic}-value")
        async with AsyncKafkaConsumer(
            topic, bootstrap_servers=broker.bootstrap_servers, auto_offset_reset="earliest"
        ) as consumer:
            found: list[Any] = []
            while len(found) < 3:
                found += (await consumer.poll_arrow(timeout_ms=30_000, value=reader)).column("value").to_pylist()
        assert found == ROWS
        read = await kafka.read_async(topic, bootstrap_servers=broker.bootstrap_servers, value=reader)
        assert (await read.to_arrow()).column("value").to_pylist() == ROWS
        with consumer_of(broker, topic) as sync_consumer, pytest.raises(TypeError, match="asyncio clients accept"):
            polled(sync_consumer, 1, value=await registry.reader(f"{topic}-value"))


def test_a_bad_record_ends_the_batch_before_it_and_is_raised_next(
    broker: Broker, make_topic: MakeTopic, registry: SchemaRegistryClient
) -> None:
    topic = make_topic()
    with_bad(broker, topic, registry, b"\0\0\0\0\1", b"\0\0\0\xff\1x")
    reader = registry.reader(f"{topic}-value")
    with consumer_of(broker, topic) as consumer:
        assert polled(consumer, 1, value=reader).column("value").to_pylist() == ROWS[:1]
        for _ in range(2):
            with pytest.raises(RecordDeserializationError) as caught:
                polled(consumer, 1, value=reader)
            error = caught.value
            assert (error.topic_partition.topic, error.offset, error.part) == (topic, 1, "value")
            assert error.record.value == b"\0\0\0\0\1"
            assert "schema id 1: id: " in str(error)
            assert (error.schema_id, error.field) == (1, "id")
            assert "offset 1 of partition 0" in str(error)
        consumer.seek(error.topic_partition, 2)
        with pytest.raises(RecordDeserializationError, match="schema id 65281: the schema registry has no schema"):
            polled(consumer, 1, value=reader)
        with pytest.raises(ValueError, match="Expected key= or value="):
            consumer.poll_arrow(1_000, error_columns=True)
        consumer.seek(error.topic_partition, 3)
        assert polled(consumer, 2, value=reader).column("value").to_pylist() == ROWS[1:]
    read = kafka.read(topic, bootstrap_servers=broker.bootstrap_servers, value=reader)
    batches = []
    with pytest.raises(RecordDeserializationError, match="offset 1 of partition 0"):
        batches += list(read.batches())
    with pytest.raises(ValueError, match="Expected key= or value="):
        kafka.read(topic, bootstrap_servers=broker.bootstrap_servers, error_columns=True)
    with_errors = kafka.read(topic, bootstrap_servers=broker.bootstrap_servers, value=reader, error_columns=True)
    table = with_errors.to_arrow()
    assert table.column("value").to_pylist() == [ROWS[0], None, None, *ROWS[1:]]
    errors = table.column("value_error").to_pylist()
    assert [each is None for each in errors] == [True, False, False, True, True]
    assert errors[1]["bytes"] == b"\0\0\0\0\1"
    assert errors[1]["cause"].startswith("schema id 1: id: ")


@pytest.mark.parametrize("kind", ["avro", "json", "protobuf"])
async def test_values_and_keys_whose_schema_a_header_names_are_columns(
    broker: Broker, make_topic: MakeTopic, registry: SchemaRegistryClient, registry_url: str, kind: str
) -> None:
    """Beside such with an id before them."""
    if kind == "protobuf":
        pytest.importorskip("ptars")
    topic = make_topic()
    by_header, before = (_order_serializer(registry, kind, given) for given in (header_schema_id_serializer, None))
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for number, serializer in enumerate((before, by_header, before, by_header)):
            headers: list[tuple[str, bytes]] = [("trace", b"x")]
            fields = (SerializationContext(topic, each, headers) for each in (MessageField.KEY, MessageField.VALUE))
            key, value = (serializer(_order(kind, number), each) for each in fields)
            assert [each for each, _ in headers] == (
                ["trace", "__key_schema_id", "__value_schema_id"] if serializer is by_header else ["trace"]
            )
            producer.send(topic, value, key, headers=headers)
        producer.send(
            topic, None, b"\0", headers=[("__key_schema_id", b"\2"), ("__value_schema_id", b"\1" + bytes(16))]
        )
    subjects = {part: f"{topic}-{part}" for part in ("key", "value")}
    readers = {part: registry.reader(subject) for part, subject in subjects.items()}
    rows = [{"id": each} for each in range(4)]
    with consumer_of(broker, topic) as consumer:
        found = polled(consumer, 4, **readers)
        assert [found.column(part).to_pylist() for part in subjects] == [rows, rows]
        with pytest.raises(RecordDeserializationError, match="the header __key_schema_id names no schema") as caught:
            polled(consumer, 1, **readers)
    assert (caught.value.offset, caught.value.part) == (4, "key")
    servers = broker.bootstrap_servers
    read = kafka.read(topic, bootstrap_servers=servers, error_columns=True, **readers).to_arrow()
    assert [read.column(part).to_pylist() for part in subjects] == [[*rows, None]] * 2
    assert [each and each["bytes"] for each in read.column("key_error").to_pylist()] == [*[None] * 4, b"\0"]
    assert read.column("value_error").null_count == 5
    async with AsyncSchemaRegistryClient({"url": registry_url}) as by_asyncio:
        reader = await by_asyncio.reader(subjects["value"])
        configs: Any = {"bootstrap_servers": servers, "auto_offset_reset": "earliest"}
        async with AsyncKafkaConsumer(topic, **configs) as async_consumer:
            values: list[Any] = []
            while len(values) < 5:
                values += (await async_consumer.poll_arrow(timeout_ms=30_000, value=reader)).column("value").to_pylist()
    assert values == [*rows, None]


_ORDER_SCHEMAS = {
    "avro": '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}',
    "json": '{"title": "Order", "type": "object", "properties": {"id": {"type": "integer"}}}',
    "protobuf": 'syntax = "proto3"; package orders; message Order { int64 id = 1; }',
}


@functools.cache
def _order_class() -> Any:
    return Protobuf(_ORDER_SCHEMAS["protobuf"]).message_class


def _order(kind: str, number: int) -> Any:
    return _order_class()(id=number) if kind == "protobuf" else {"id": number}


def _order_serializer(registry: SchemaRegistryClient, kind: str, schema_id_serializer: Any) -> Any:
    conf = {} if schema_id_serializer is None else {"schema.id.serializer": schema_id_serializer}
    text = _ORDER_SCHEMAS[kind]
    if kind == "avro":
        return AvroSerializer(registry, text, conf=conf)
    if kind == "json":
        return JSONSerializer(text, registry, conf=conf)
    return ProtobufSerializer(_order_class(), registry, conf)


def test_a_guid_that_the_registry_does_not_know_is_the_fault_of_its_record(
    broker: Broker, make_topic: MakeTopic, registry: SchemaRegistryClient
) -> None:
    """What its value begins with may look like the id of a schema."""
    topic = make_topic()
    values = registry.writer(f"{topic}-value", ORDERS.schema).encode(ORDERS.to_struct_array().combine_chunks())
    named = [("__value_schema_id", b"\1" + bytes(15) + b"\7")]
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for value, headers in zip(values.to_pylist(), ([], named, []), strict=True):
            producer.send(topic, value, headers=headers)
    cause = "schema 00000000-0000-0000-0000-000000000007: the schema registry has no schema with this GUID"
    reader = registry.reader(f"{topic}-value")
    read = kafka.read(topic, bootstrap_servers=broker.bootstrap_servers, value=reader, error_columns=True).to_arrow()
    assert read.column("value").to_pylist() == [ROWS[0], None, ROWS[2]]
    assert read.column("value_error").to_pylist() == [None, {"cause": cause, "bytes": values[1].as_py()}, None]
    with consumer_of(broker, topic) as consumer:
        assert polled(consumer, 1, value=reader).num_rows == 1
        with pytest.raises(RecordDeserializationError, match=cause) as caught:
            polled(consumer, 1, value=reader)
    assert (caught.value.offset, caught.value.schema_id) == (1, None)


def test_bad_records_are_left_out_or_replaced(
    broker: Broker, make_topic: MakeTopic, registry: SchemaRegistryClient, caplog: pytest.LogCaptureFixture
) -> None:
    topic = make_topic()
    with_bad(broker, topic, registry, b"x", b"y")
    reader = registry.reader(f"{topic}-value")
    with consumer_of(broker, topic, on_deserialization_error="skip") as consumer, caplog.at_level(logging.WARNING):
        assert polled(consumer, 3, value=reader).column("offset").to_pylist() == [0, 3, 4]
    assert [text for text in caplog.messages if "left out" in text and "offset 1 of partition 0" in text]

    def instead(error: RecordDeserializationError) -> Any:
        if error.record.value == b"x":
            return error.record._replace(value={"id": 0, "note": "bad"})
        return None

    with consumer_of(broker, topic, on_deserialization_error=instead) as consumer:
        found = polled(consumer, 4, value=reader)
    assert found.column("value").to_pylist() == [ROWS[0], {"id": 0, "note": "bad"}, *ROWS[1:]]
    assert found.column("offset").to_pylist() == [0, 1, 3, 4]
    for given in (b"", b"x", 5):  # an empty text would be an empty row to pyarrow
        unfit = lambda error, given=given: error.record._replace(value=given)  # noqa: E731
        with consumer_of(broker, topic, on_deserialization_error=unfit) as consumer:
            assert polled(consumer, 1, value=reader).num_rows == 1
            with pytest.raises(TypeError, match=f"the value {given!r} for the one at offset 1 .* of the type struct"):
                polled(consumer, 1, value=reader)


def test_a_registry_that_is_down_is_no_fault_of_a_record(
    embedded_broker: EmbeddedBroker, make_topic_on: Callable[[Any], MakeTopic]
) -> None:
    topic = make_topic_on(embedded_broker)()
    with EmbeddedBroker(registry=True) as own:
        conf = {"url": own.registry_url, "max.retries": 0}
        with SchemaRegistryClient(conf) as registry:
            with_bad(embedded_broker, topic, registry, b"x")  # type: ignore[arg-type]
            reader = registry.reader(f"{topic}-value")
    with SchemaRegistryClient(conf) as registry:
        reader._registry = registry  # the first one is closed; nobody answers this one
        with consumer_of(embedded_broker, topic, on_deserialization_error="skip") as consumer:  # type: ignore[arg-type]
            for _ in range(2):
                with pytest.raises(SchemaRegistryConnectionError):
                    polled(consumer, 1, value=reader)
            [partition] = consumer.assignment()
            assert consumer.position(partition) == 0


@pytest.mark.parametrize("given", [Avro.of_columns(ORDERS.schema, "Order"), Json(ORDERS.schema)])
def test_formats_need_no_registry(broker: Broker, make_topic: MakeTopic, given: Any) -> None:
    topic = make_topic()
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        producer.send_arrow(topic, ORDERS, value=given).get(60)
        with pytest.raises(ValueError, match="no column 'key'"):
            producer.send_arrow(topic, ORDERS, key="long", value=given)
    read = kafka.read(topic, bootstrap_servers=broker.bootstrap_servers, value=given)
    assert read.to_arrow().column("value").to_pylist() == ROWS
    empty = kafka.read(make_topic(), bootstrap_servers=broker.bootstrap_servers, value=given, error_columns=True)
    assert empty.to_arrow().schema.field("value").type == pa.struct(list(ORDERS.schema))


def test_twenty_versions_of_a_schema_in_one_topic_are_one_table(
    broker: Broker, make_topic: MakeTopic, registry: SchemaRegistryClient
) -> None:
    topic, subject = make_topic(), "twenty-value"
    fields: list[dict[str, Any]] = [{"name": "id", "type": "int"}]
    serializers = []
    for version in range(20):
        if version:
            fields.append({"name": f"f{version}", "type": ["null", "string"], "default": None})
        schema = json.dumps({"type": "record", "name": "Order", "fields": fields})
        conf: Any = {"subject.name.strategy": lambda *_: subject}
        serializers.append(AvroSerializer(registry, schema, conf=conf))
    values = [
        {"id": number, **{f"f{each}": f"{number}/{each}" for each in range(1, number % 20 + 1)}}
        for number in range(200)
    ]
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for number, value in enumerate(values):
            producer.send(topic, serializers[number % 20](value))
    assert registry.get_versions(subject) == list(range(1, 21))
    names = [f"f{each}" for each in range(1, 20)]
    whole = [{"id": value["id"], **{name: value.get(name) for name in names}} for value in values]
    with consumer_of(broker, topic) as consumer:
        assert polled(consumer, 200, value=registry.reader(subject)).column("value").to_pylist() == whole
    oldest = kafka.read(topic, bootstrap_servers=broker.bootstrap_servers, value=registry.reader(subject, 1))
    assert oldest.to_arrow().column("value").to_pylist() == [{"id": number} for number in range(200)]
    newest = AvroDeserializer(registry, registry.get_latest_version(subject).schema)
    with consumer_of(broker, topic, value_deserializer=newest) as consumer:
        found: list[Any] = []
        while len(found) < 200:
            found += [each.value for each in consumer.poll(30_000)]
    assert found == whole


def test_a_typed_table_of_protobuf(broker: Broker, make_topic: MakeTopic, registry: SchemaRegistryClient) -> None:
    topic = make_topic()
    text = 'syntax = "proto3"; message Order { int64 id = 1; optional string note = 2; }'
    writer = registry.writer(f"{topic}-value", Schema(text, "PROTOBUF"))
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        producer.send_arrow(topic, ORDERS, value=writer).get(60)
        producer.send(topic, writer.encode(ORDERS.to_struct_array().combine_chunks())[0].as_py()[:-1])
    read = kafka.read(
        topic,
        bootstrap_servers=broker.bootstrap_servers,
        value=registry.reader(f"{topic}-value"),
        error_columns=True,
    ).to_arrow()
    assert read.column("value").to_pylist() == [*ROWS, None]
    assert "note" in read.column("value_error")[3]["cause"].as_py()
    message = Protobuf(text).message_class
    with consumer_of(
        broker, topic, value_deserializer=ProtobufDeserializer(message, schema_registry_client=registry)
    ) as consumer:
        found: list[Any] = []
        while len(found) < 3:
            found += [each.value for each in consumer.poll(30_000, max_records=3)]
    assert [(each.id, each.note if each.HasField("note") else None) for each in found] == [
        (row["id"], row["note"]) for row in ROWS
    ]


def test_a_column_that_may_be_a_records_own_or_a_values_field_is_refused(
    broker: Broker, make_topic: MakeTopic, registry: SchemaRegistryClient
) -> None:
    topic, when = make_topic(), datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
    table = pa.table({"id": [1], "timestamp": [when], "topic": ["news"]})
    writers: list[Any] = [
        registry.writer(f"{topic}-value", table.schema),
        Avro.of_columns(table.schema, "Order"),
        Json(table.schema),
    ]
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for writer in writers:
            with pytest.raises(ValueError, match="cannot tell whether 'timestamp' and 'topic' of the data"):
                producer.send_arrow(topic, table, value=writer)
        producer.send_arrow(topic, {"value": table.to_struct_array()}, value=writers[0]).get(60)
        only_id = registry.writer(f"{topic}-id", pa.schema([("id", pa.int64())]))
        producer.send_arrow(topic, table, value=only_id).get(60)
    read = kafka.read(topic, bootstrap_servers=broker.bootstrap_servers, last=2)
    first, second = read
    assert (second.value[5:], second.timestamp) == (b"\2\2", int(when.timestamp() * 1000)), "then they are the record's"
    assert first.timestamp != second.timestamp
    assert registry.reader(f"{topic}-value").decode(pa.array([first.value]))[0].to_pylist() == table.to_pylist()


def test_records_of_typed_columns_are_refused_and_frames_are_exact(
    broker: Broker, make_topic: MakeTopic, registry: SchemaRegistryClient
) -> None:
    topic, big = make_topic(), 2**53 + 1
    orders = pa.table({"id": [big, None]})
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        writer = registry.writer(f"{topic}-value", orders.schema)
        keyed = orders.append_column("key", pa.array([big, None]))
        producer.send_arrow(topic, keyed, key="long", value=writer).get(60)
        producer.send(topic, b"bad", key=b"\0" * 8)
    reader = registry.reader(f"{topic}-value")
    frame = kafka.read(
        topic, bootstrap_servers=broker.bootstrap_servers, key="long", value=reader, error_columns=True
    ).to_pandas()
    assert frame["value"][0] == {"id": big}
    assert (str(frame["key"].dtype), frame["key"][0], frame["key"].isna().tolist()) == (
        "Int64",
        big,
        [False, True, False],
    )
    read = kafka.read(topic, bootstrap_servers=broker.bootstrap_servers, value=reader)
    with pytest.raises(IllegalStateError, match="key= and value= create typed columns: use batches"):
        next(iter(read))
    with pytest.raises(RecordDeserializationError, match="error_columns=True keeps its row") as caught:
        read.to_arrow()
    assert "seek" not in str(caught.value)
    assert isinstance(caught.value.__cause__, SerializationError)
