"""Typed keys and values in Spark: on the embedded broker and its registry."""

from __future__ import annotations

import http.server
import json
import pathlib
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any, Self

import pytest

import kafka
from kafka import KafkaProducer
from kafka.broker import EmbeddedBroker
from kafka.formats import Avro
from kafka.schema_registry import Schema, SchemaRegistryClient
from kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from kafka.serialization import MessageField, SerializationContext
from kafka.spark import functions, run_available

from .spark_support import FORMAT, spark, wait_until

__all__ = ["spark"]

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

ORDER = '{"type":"record","name":"Order","fields":[{"name":"id","type":"long"},{"name":"item","type":"string"}]}'
MESSAGES = """syntax = "proto3";
import "google/protobuf/duration.proto";
message Line { string sku = 1; }
message Order { int64 id = 1; repeated string lines = 2; google.protobuf.Duration took = 3; }
"""
WIDER = ORDER.replace("]}", ',{"name":"note","type":["null","string"],"default":null}]}')


class Door:
    """Stands before a registry, and can be shut: who asks then gets no answer."""

    def __init__(self, behind: str) -> None:
        self.shut = False
        self.refused = 0
        door = self

        class Passing(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                if door.shut:
                    door.refused += 1
                    self.close_connection = True
                    return
                try:
                    with urllib.request.urlopen(behind + self.path, timeout=60) as answer:
                        status, body = answer.status, answer.read()
                except urllib.error.HTTPError as error:
                    with error:
                        status, body = error.code, error.read()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *arguments: Any) -> None:  # the base class's name
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Passing)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture(scope="module")
def broker() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(registry=True) as running:
        yield running


@pytest.fixture(scope="module")
def registry(broker: EmbeddedBroker) -> Iterator[SchemaRegistryClient]:
    with SchemaRegistryClient({"url": broker.registry_url}) as client:
        yield client


def options(broker: EmbeddedBroker, **more: str) -> dict[str, str]:
    given = {"kafka.bootstrap.servers": broker.bootstrap_servers, "valueFormat": "avro"}
    return given | {"schemaRegistryUrl": broker.registry_url} | more


def send(broker: EmbeddedBroker, registry: SchemaRegistryClient, topic: str, schema: str, *values: Any) -> None:
    serializer = AvroSerializer(registry, schema)
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers, value_serializer=serializer) as producer:
        for value in values:
            producer.send(topic, value)


def orders(broker: EmbeddedBroker, registry: SchemaRegistryClient, topic: str) -> list[Any]:
    """The values of a topic, as a client reads them."""
    deserialize = AvroDeserializer(registry)
    read = kafka.read(topic, bootstrap_servers=broker.bootstrap_servers, isolation_level="read_committed")
    return [deserialize(record.value, SerializationContext(topic, MessageField.VALUE)) for record in read]


def copy(spark: Any, broker: EmbeddedBroker, source: str, target: str, checkpoint: pathlib.Path, **more: str) -> None:
    """Copy orders to another topic, exactly once."""
    given = options(broker, subscribe=source, startingOffsets="earliest", **more)
    rows = spark.readStream.format(FORMAT).options(**given).load().where("value.id % 2 = 0")
    shouted = rows.selectExpr("named_struct('id', value.id, 'item', upper(value.item)) as value")
    writer = shouted.writeStream.format(FORMAT).options(**options(broker, topic=target, exactlyOnce="true"))
    writer = writer.option("transactionalIdPrefix", f"of-{target}").option("checkpointLocation", str(checkpoint))
    run_available(writer)


def test_a_stream_of_typed_values_is_written_exactly_once_while_their_schema_changes(
    spark: Any, broker: EmbeddedBroker, registry: SchemaRegistryClient, tmp_path: pathlib.Path
) -> None:
    send(broker, registry, "orders", ORDER, *({"id": number, "item": "a"} for number in range(10)))
    copy(spark, broker, "orders", "copies", tmp_path)
    expected = [{"id": number, "item": "A"} for number in range(0, 10, 2)]
    assert orders(broker, registry, "copies") == expected
    commits = sorted((tmp_path / "commits").glob("[0-9]*"), key=lambda path: int(path.name))
    commits[-1].unlink()  # as if Spark was killed before it wrote that down
    (tmp_path / "commits" / f".{commits[-1].name}.crc").unlink(missing_ok=True)
    send(
        broker, registry, "orders", WIDER, {"id": 10, "item": "b", "note": "new"}, {"id": 11, "item": "b", "note": None}
    )
    with pytest.raises(Exception, match="has read values with version 1 of subject 'orders-value'"):
        copy(spark, broker, "orders", "copies", tmp_path)
    copy(spark, broker, "orders", "copies", tmp_path, valueVersion="1")
    assert orders(broker, registry, "copies") == [*expected, {"id": 10, "item": "B"}]
    assert registry.get_versions("copies-value") == [1]
    newest = max((tmp_path / "offsets").glob("[0-9]*"), key=lambda path: int(path.name))
    (kept,) = (key for key in json.loads(newest.read_text().splitlines()[-1]) if key.startswith("value schema "))
    assert kept.endswith(" version 1 of subject 'orders-value'")


def test_a_query_that_runs_reads_newer_schemas_and_waits_for_a_registry_that_is_down(
    spark: Any, broker: EmbeddedBroker, registry: SchemaRegistryClient, tmp_path: pathlib.Path
) -> None:
    send(broker, registry, "running", ORDER, {"id": 0, "item": "a"})
    seen: list[Any] = []

    def keep(frame: Any, number: int) -> None:
        seen.extend(tuple(row) for row in frame.selectExpr("offset", "value.*").collect())

    with Door(broker.registry_url or "") as door:
        given = options(broker, subscribe="running", startingOffsets="earliest", schemaRegistryUrl=door.url)
        rows = spark.readStream.format(FORMAT).options(**given).load()
        query = rows.writeStream.foreachBatch(keep).option("checkpointLocation", str(tmp_path)).start()
        try:
            wait_until(lambda: len(seen) == 1, query)
            send(broker, registry, "running", WIDER, {"id": 1, "item": "b", "note": "new"})
            wait_until(lambda: len(seen) == 2, query)
            door.shut = True
            newest = WIDER.replace('"note"', '"unheard_of"')
            send(broker, registry, "running", newest, {"id": 2, "item": "c", "unheard_of": "x"})
            wait_until(lambda: door.refused > 0, query)
            door.shut = False
            wait_until(lambda: len(seen) == 3, query)
        finally:
            query.stop()
    assert seen == [(0, 0, "a"), (1, 1, "b"), (2, 2, "c")]


def test_what_a_registry_does_not_have_or_does_not_say_ends_a_read_by_name(
    spark: Any, broker: EmbeddedBroker, registry: SchemaRegistryClient
) -> None:
    send(broker, registry, "named", ORDER, {"id": 0, "item": "a"})
    given = options(broker, subscribe="named")
    reader = spark.read.format(FORMAT).options(**given)
    with pytest.raises(Exception, match="nobody"):
        reader.option("valueSubject", "nobody").load()
    with Door(broker.registry_url or "") as door:
        down = {"schemaRegistryUrl": door.url, "schemaRegistryWait": "100ms", "schemaRegistry.max.retries": "0"}
        frame = spark.read.format(FORMAT).options(**{**given, **down}).load()
        door.shut = True
        with pytest.raises(Exception, match=r"while looking for schema id \d+, after 100 ms"):
            frame.collect()
        door.shut = False
        assert [row["value"]["id"] for row in frame.collect()] == [0]


def test_protobuf_values_are_read_and_written(
    spark: Any, broker: EmbeddedBroker, registry: SchemaRegistryClient
) -> None:
    given = options(broker, valueFormat="protobuf", valueMessage="Order")
    rows = spark.range(3).selectExpr("named_struct('id', id, 'lines', array('a', 'b')) as value")
    rows.write.format(FORMAT).options(**given, topic="proto", valueSchema=MESSAGES).mode("append").save()
    read = spark.read.format(FORMAT).options(**given, subscribe="proto").load().select("value")
    assert (
        read.schema.simpleString() == "struct<value:struct<id:bigint,lines:array<string>,took:interval day to second>>"
    )
    found = sorted((row["value"]["id"], row["value"]["lines"], row["value"]["took"]) for row in read.collect())
    assert found == [(number, ["a", "b"], None) for number in range(3)]
    conf = {"url": broker.registry_url}
    values = read.select(functions.to_protobuf("value", MESSAGES, "Order", registry=conf, subject="proto-value"))
    again = values.toDF("bytes").select(
        functions.from_protobuf("bytes", message="Order", registry=conf, subject="proto-value").alias("order")
    )
    assert sorted(row["order"]["id"] for row in again.collect()) == [0, 1, 2]


def test_a_bad_record_ends_a_query_by_name_is_null_or_stands_in_its_column(
    spark: Any, broker: EmbeddedBroker, registry: SchemaRegistryClient
) -> None:
    send(broker, registry, "mixed", ORDER, {"id": 1, "item": "a"})
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        producer.send("mixed", b"plain")
    reader = spark.read.format(FORMAT).options(**options(broker, subscribe="mixed"))
    with pytest.raises(Exception, match="the value of the record at topic mixed, partition 0, offset 1 cannot be read"):
        reader.load().select("value.id").collect()
    nulls = reader.option("valueErrors", "null").load().select("value").collect()
    assert [row["value"] and row["value"]["id"] for row in nulls] == [1, None]
    rows = reader.option("valueErrors", "column").load().select("value", "value_error").collect()
    assert [row["value"] and row["value"]["id"] for row in rows] == [1, None]
    assert bytes(rows[1]["value_error"]["bytes"]) == b"plain"


def test_no_plan_shows_a_password(spark: Any, broker: EmbeddedBroker, registry: SchemaRegistryClient) -> None:
    send(broker, registry, "hidden", ORDER, {"id": 1, "item": "a"})
    secret = {"schemaRegistryUser": "me", "schemaRegistryPassword": "s3cret"}
    frame = spark.read.format(FORMAT).options(**options(broker, subscribe="hidden", **secret)).load()
    plan = frame._jdf.queryExecution().toString()
    assert "s3cret" not in plan
    assert "Password" not in plan or "redacted" in plan


def test_functions_read_and_write_values_in_any_frame(
    spark: Any, broker: EmbeddedBroker, registry: SchemaRegistryClient
) -> None:
    registry.register_schema("bytes-value", Schema(ORDER))
    values = [Avro(ORDER).encode({"id": number, "item": "a"}) for number in range(3)]
    frame = spark.createDataFrame([(bytearray(each),) for each in [*values, b"\x80"]], "value binary")
    read = frame.select(functions.from_avro("value", ORDER, errors="null").alias("order"))
    assert [row["order"] and row["order"]["id"] for row in read.collect()] == [0, 1, 2, None]
    conf = {"url": broker.registry_url}
    written = read.where("order is not null").select(
        functions.to_avro("order", registry=conf, subject="bytes-value").alias("avro"),
        functions.to_json("order").alias("json"),
    )
    again = written.select(
        functions.from_avro("avro", registry=conf, subject="bytes-value").alias("a"),
        functions.from_json("json", "id bigint, item string").alias("j"),
    )
    assert [(row["a"]["id"], row["j"]["item"]) for row in again.collect()] == [(0, "a"), (1, "a"), (2, "a")]
