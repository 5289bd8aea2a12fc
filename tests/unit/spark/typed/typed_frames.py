"""Typed reads and writes as in Spark's processes, with the embedded broker and its registry, without a JVM."""

from __future__ import annotations

import itertools
import json
import pickle
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa
import pytest
from pyspark import cloudpickle
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from kafka import KafkaProducer
from kafka import read as kafka_read
from kafka.broker import EmbeddedBroker
from kafka.formats import Avro
from kafka.formats.registry.registry_clients import SchemaRegistryClient
from kafka.formats.registry.schema_objects import Schema
from kafka.spark.default_source import typed_read
from kafka.spark.options.parsing import check_read, read_columns
from kafka.spark.options.row_schema import COLUMNS
from kafka.spark.pyspark_versions import ReadAllAvailable
from kafka.spark.typed import registry as registries
from pyspark_kafka_columnar import DefaultSource

_BASE = {
    "binary": pa.binary(),
    "string": pa.string(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "timestamp": pa.timestamp("us", "UTC"),
}


def lowered(options: dict[str, str]) -> dict[str, str]:
    """Return options in the form in which Spark passes them."""
    return {name.lower(): value for name, value in options.items()}


def arrow_schema_of(options: dict[str, str], source: Any) -> pa.Schema:
    """Return the Arrow schema that Spark derives from the source's schema and expects of batches."""
    read = typed_read(check_read(options), source._schemas)
    types: dict[str, Any] = {name: _BASE.get(kind) for name, kind in COLUMNS.items()}
    if read is not None:
        types |= {each.field: each.spark() for each in read.schemas}
        error = pa.struct([pa.field("cause", pa.string()), pa.field("bytes", pa.binary())])
        types |= dict.fromkeys(read.options.error_columns, error)
        types |= dict.fromkeys(read.options.bytes_columns, pa.binary())
    return pa.schema([pa.field(name, types[name]) for name in read_columns(options)])


class LoadedFrame:
    """A frame as returned by `load()`."""

    def __init__(self, **options: str) -> None:
        self.options = lowered(options)
        source = DefaultSource(self.options)
        self.ddl = source.schema()
        self.source: Any = pickle.loads(cloudpickle.dumps(source))
        self.arrow = arrow_schema_of(self.options, self.source)
        self.schema: StructType = from_arrow_schema(self.arrow, prefer_timestamp_ntz=True)

    def rows(self) -> list[dict[str, Any]]:
        """Return all rows, for one action on the frame."""
        reader: Any = self.source.reader(self.schema)
        tasks = reader.partitions()
        return self._read(pickle.loads(cloudpickle.dumps(reader)), tasks)

    def _read(self, reader: Any, tasks: Sequence[Any]) -> list[dict[str, Any]]:
        rows = []
        for task in tasks:
            for batch in reader.read(task):
                assert self.arrow.equals(batch.schema), f"{self.arrow}\n{batch.schema}"
                batch.validate(full=True)
                rows += batch.to_pylist()
        return rows


class CheckpointedStream:
    """A streaming query with its checkpoint."""

    def __init__(self) -> None:
        self.checkpoint: dict[str, Any] | None = None

    def run(self, **options: str) -> list[dict[str, Any]]:
        """Start the program, and read the available records in one micro-batch."""
        frame = LoadedFrame(**options)
        reader = frame.source.streamReader(frame.schema)
        try:
            start = json.loads(json.dumps(reader.initialOffset())) if self.checkpoint is None else self.checkpoint
            end = json.loads(json.dumps(reader.latestOffset(start, ReadAllAvailable())))
            tasks = reader.partitions(start, end) if end != start else []
            rows = frame._read(pickle.loads(cloudpickle.dumps(reader)), tasks)
            self.checkpoint = end
            return rows
        finally:
            reader.stop()


def write(values: pa.Table, **options: str) -> None:
    """Write a frame."""
    source = DefaultSource(lowered(options))
    writer: Any = source.writer(from_arrow_schema(values.schema, prefer_timestamp_ntz=True), False)
    copy = pickle.loads(cloudpickle.dumps(writer))
    writer.commit([copy.write(iter(values.to_batches()))])


def send(servers: str, topic: str, values: Iterable[bytes | None]) -> None:
    """Write bytes to a topic."""
    with KafkaProducer(bootstrap_servers=servers) as producer:
        for value in values:
            producer.send(topic, value, key=b"k" if value is None else None)


NAMES = itertools.count()


class BrokerWithRegistry:
    """A broker with its registry."""

    def __init__(self, broker: EmbeddedBroker, registry: SchemaRegistryClient) -> None:
        self.servers = broker.bootstrap_servers
        self.url = broker.registry_url
        self.registry = registry

    def topic(self) -> str:
        return f"orders-{next(NAMES)}"

    def options(self, topic: str, **more: str) -> dict[str, str]:
        given = {"kafka.bootstrap.servers": self.servers, "subscribe": topic, "columns": "value,offset"}
        return given | {"valueFormat": "avro", "schemaRegistryUrl": self.url, "startingOffsets": "earliest"} | more

    def sink(self, topic: str, **more: str) -> dict[str, str]:
        given = {"kafka.bootstrap.servers": self.servers, "topic": topic, "valueFormat": "avro"}
        return given | {"schemaRegistryUrl": self.url} | more

    def send(self, topic: str, schema: str, *values: Any) -> int:
        """Write values with a registered schema."""
        number = self.registry.register_schema(f"{topic}-value", Schema(schema))
        avro = Avro(schema)
        send(self.servers, topic, [avro.encode(value, b"\0" + number.to_bytes(4, "big")) for value in values])
        return number

    def records(self, topic: str) -> list[tuple[bytes | None, bytes | None]]:
        read = kafka_read(topic, bootstrap_servers=self.servers, isolation_level="read_committed")
        return [(record.key, record.value) for record in read]


@pytest.fixture(scope="module")
def kafka() -> Iterator[BrokerWithRegistry]:
    with EmbeddedBroker(registry=True) as broker, SchemaRegistryClient({"url": broker.registry_url}) as registry:
        yield BrokerWithRegistry(broker, registry)
        for each in registries._CLIENTS._made.values():
            each.close()
        registries._CLIENTS._made.clear()
