"""`python -m bench.formats`: how fast values become objects and columns, and these values, on one core.

Prints a line a case, in millions of values a second of processor time: the best of several rounds, in each of which all
cases of a group take their turn. Values have five fields and some 30 bytes. `--quick` makes one round.
"""

from __future__ import annotations

import datetime
import io
import json
from collections.abc import Callable
from typing import Any

import fastavro
import pyarrow as pa

from bench.decode import best_rates, report
from kafka import _variant
from kafka.formats import Avro, Protobuf
from kafka.schema_registry import Schema, SchemaRegistryClient
from kafka.schema_registry.avro import AvroDeserializer
from kafka.serialization import MessageField, SerializationContext

VALUES = 20_000
PREFIX = b"\0\0\0\0\1"
SCHEMA = {
    "type": "record",
    "name": "Flight",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "carrier", "type": "string"},
        {"name": "delay", "type": ["null", "int"]},
        {"name": "distance", "type": "double"},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
    ],
}

MESSAGE = """syntax = "proto3";
import "google/protobuf/timestamp.proto";
message Flight {
  int64 id = 1;
  string carrier = 2;
  optional int32 delay = 3;
  double distance = 4;
  google.protobuf.Timestamp at = 5;
}
"""


def flights() -> list[dict[str, Any]]:
    """Values to encode."""
    start = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    return [
        {
            "id": 1_000_000 + number,
            "carrier": ("Delta Air", "United", "JetBlue Airways")[number % 3],
            "delay": number % 200 - 50 if number % 7 else None,
            "distance": number * 1.5,
            "at": start + datetime.timedelta(seconds=number),
        }
        for number in range(VALUES)
    ]


def by_confluent() -> Callable[[bytes], Any] | None:
    """Return confluent-kafka's AvroDeserializer as a function, None where what it needs is not installed."""
    try:
        from confluent_kafka.schema_registry import Schema, SchemaRegistryClient
        from confluent_kafka.schema_registry.avro import AvroDeserializer
        from confluent_kafka.serialization import MessageField, SerializationContext
    except ImportError:
        return None

    only = Schema(json.dumps(SCHEMA), "AVRO")

    class Registry(SchemaRegistryClient):
        """Knows the one schema, and sends no requests."""

        def get_schema(self, *args: Any, **options: Any) -> Any:
            return only

    deserializer = AvroDeserializer(
        Registry({"url": "http://127.0.0.1:1"}), conf={"subject.name.strategy.type": "TOPIC"}
    )
    context = SerializationContext("flights", MessageField.VALUE)
    return lambda data: deserializer(data, context)


def by_kafka() -> Callable[[bytes], Any]:
    """Return our AvroDeserializer as a function."""

    class Registry(SchemaRegistryClient):
        """Knows the one schema, and sends no requests."""

        def get_schema(self, *args: Any, **options: Any) -> Any:
            return Schema(json.dumps(SCHEMA), "AVRO")

    deserializer = AvroDeserializer(
        Registry({"url": "http://127.0.0.1:1"}), conf={"subject.name.strategy.type": "TOPIC"}
    )
    context = SerializationContext("flights", MessageField.VALUE)
    return lambda data: deserializer(data, context)


def objects(values: list[dict[str, Any]], encoded: list[bytes]) -> None:
    """Values to objects and back, compared with fastavro and confluent-kafka."""
    avro = Avro(SCHEMA)
    parsed = fastavro.parse_schema(SCHEMA)
    deserialize, ours = by_confluent(), by_kafka()

    def by_fastavro() -> list[Any]:
        return [fastavro.schemaless_reader(io.BytesIO(data[5:]), parsed, None) for data in encoded]

    def written_by_fastavro() -> list[bytes]:
        made = []
        for value in values:
            out = io.BytesIO(PREFIX)
            out.seek(5)
            fastavro.schemaless_writer(out, parsed, value)
            made.append(out.getvalue())
        return made

    cases: dict[str, Callable[[], list[Any]]] = {
        "Avro to objects": lambda: [avro.decode(data, 5) for data in encoded],
        "Avro to objects, fastavro": by_fastavro,
        "Avro to objects, our AvroDeserializer": lambda: [ours(data) for data in encoded],
        "objects to Avro": lambda: [avro.encode(value, PREFIX) for value in values],
        "objects to Avro, fastavro": written_by_fastavro,
    }
    if deserialize is not None:
        cases["Avro to objects, confluent-kafka's AvroDeserializer"] = lambda: [deserialize(data) for data in encoded]
    for title, run in cases.items():
        if run() != (values if title.startswith("Avro") else encoded):
            raise SystemExit(f"{title}: expected other values")
    for title, rate in best_rates(cases, VALUES).items():
        report(title, rate)


def columns(values: list[dict[str, Any]], encoded: list[bytes]) -> None:
    """Values to Arrow columns and back."""
    avro = Avro(SCHEMA)
    array = pa.array(encoded, pa.binary())
    rows, bad = avro.decode_rows(array, writers={1: avro})
    if bad or rows.to_pylist() != values or avro.encode_rows(rows, PREFIX) != array:
        raise SystemExit("Avro to Arrow: expected other values")
    protobuf = Protobuf(MESSAGE)
    messages = protobuf.encode_rows(rows)
    read, bad = protobuf.decode_rows(messages)
    if bad or read.to_pylist() != values:
        raise SystemExit("Protobuf to Arrow: expected other values")
    cases: dict[str, Callable[[], object]] = {
        "Avro to Arrow": lambda: avro.decode_rows(array, writers={1: avro}),
        "Arrow to Avro": lambda: avro.encode_rows(rows, PREFIX),
        "Protobuf to Arrow": lambda: protobuf.decode_rows(messages),
        "Arrow to Protobuf": lambda: protobuf.encode_rows(read),
    }
    for title, rate in best_rates(cases, VALUES).items():
        report(title, rate)


def main() -> None:
    """Run all cases."""
    print(f"kafka.formats, {_variant.variant()}, values of five fields, one core")
    values = flights()
    avro = Avro(SCHEMA)
    encoded = [avro.encode(value, PREFIX) for value in values]
    columns(values, encoded)
    objects(values, encoded)


if __name__ == "__main__":
    main()
