"""Keys and values whose schema is named in a header, in Spark's source."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from kafka import KafkaProducer
from kafka.formats import Avro, Protobuf
from kafka.formats.registry.schema_objects import Schema
from kafka.spark.typed.decoding import RecordDecodingError

from .typed_frames import BrokerWithRegistry, CheckpointedStream, LoadedFrame, kafka

__all__ = ["kafka"]

pytestmark = pytest.mark.slow

AVRO = '{"type":"record","name":"Order","fields":[{"name":"id","type":"long"}]}'
JSON = '{"title":"Order","type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}'
PROTOBUF = 'syntax = "proto3"; message Other { string text = 1; } message Order { int64 id = 1; }'
SCHEMAS = {"avro": Schema(AVRO, "AVRO"), "json-schema": Schema(JSON, "JSON"), "protobuf": Schema(PROTOBUF, "PROTOBUF")}


def encoded(kind: str, number: int) -> bytes:
    if kind == "avro":
        return Avro(AVRO).encode({"id": number})
    return Protobuf(PROTOBUF, "Order").encode({"id": number}) if kind == "protobuf" else b'{"id": %d}' % number


@pytest.mark.parametrize("kind", SCHEMAS)
@pytest.mark.parametrize("field", ["key", "value"])
def test_a_header_may_name_the_schema(kafka: BrokerWithRegistry, kind: str, field: str) -> None:
    topic = kafka.topic()
    found = kafka.registry.register_schema_full_response(f"{topic}-{field}", SCHEMAS[kind])
    rest = b"\2\2" if kind == "protobuf" else b""
    by_id = b"\0" + int(found.schema_id or 0).to_bytes(4, "big") + rest
    by_guid = b"\1" + uuid.UUID(str(found.guid)).bytes + rest
    name = f"__{field}_schema_id"
    rows: list[tuple[bytes, list[tuple[str, bytes]]]] = [
        (by_id + encoded(kind, 0), []),
        (encoded(kind, 1), [("trace", b"x"), (name, by_guid)]),
        (encoded(kind, 2), [(name, by_id)]),
        (encoded(kind, 3), [(name, b"\2")]),
    ]
    with KafkaProducer(bootstrap_servers=kafka.servers) as producer:
        for data, headers in rows:
            record: dict[str, Any] = {"key": None, "value": b"", field: data}
            producer.send(topic, **record, headers=headers)
    options = kafka.options(topic, columns=f"{field},{field}_error,offset") | {"valueFormat": "string"}
    options |= {f"{field}Format": kind, f"{field}Errors": "column"}
    if kind == "protobuf":
        options[f"{field}Message"] = "Order"
    for read in (LoadedFrame(**options).rows(), CheckpointedStream().run(**options)):
        assert [row[field] and row[field]["id"] for row in read] == [0, 1, 2, None]
        assert [list(row) for row in read] == [[field, f"{field}_error", "offset"]] * 4
        assert read[3][f"{field}_error"]["cause"].startswith(f"the header {name} names no schema")
        assert read[3][f"{field}_error"]["bytes"] == encoded(kind, 3)


def test_an_unknown_guid_is_named(kafka: BrokerWithRegistry) -> None:
    topic = kafka.topic()
    number = kafka.send(topic, AVRO, {"id": 1})
    unknown = uuid.UUID(int=7)
    looks_framed = b"\0" + number.to_bytes(4, "big") + encoded("avro", 2)
    with KafkaProducer(bootstrap_servers=kafka.servers) as producer:
        producer.send(topic, looks_framed, headers=[("__value_schema_id", b"\1" + unknown.bytes)])
    with pytest.raises(
        RecordDecodingError, match=f"schema {unknown}: the schema registry has no schema with this GUID"
    ):
        LoadedFrame(**kafka.options(topic)).rows()
