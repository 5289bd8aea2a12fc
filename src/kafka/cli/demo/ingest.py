"""Sends the flights to the topic as Avro, with the schema registry, and reads offsets and lag."""

import time

import pandas as pd
import pyarrow as pa

from kafka.admin import KafkaAdminClient, NewTopic
from kafka.cli.demo.names import Names
from kafka.cli.demo.planted import Planted
from kafka.consumer import KafkaConsumer
from kafka.producer import KafkaProducer
from kafka.schema_registry import SchemaRegistryClient
from kafka.structs import TopicPartition

PARTITIONS = 4
_CHUNK = 8_192
_TYPES: dict[str, pa.DataType] = {
    "id": pa.int64(),
    "departure": pa.timestamp("us", "UTC"),
    "carrier": pa.string(),
    "flight": pa.int32(),
    "origin": pa.string(),
    "dest": pa.string(),
    "dep_delay": pa.float64(),
    "arr_delay": pa.float64(),
}
SCHEMA = pa.schema(_TYPES)
"""The fields of a flight."""


def create_topics(names: Names) -> None:
    """Create the topics."""
    with KafkaAdminClient(bootstrap_servers=names.bootstrap_servers) as admin:
        admin.create_topics([NewTopic(topic, PARTITIONS, -1) for topic in names.topics])


def end_offsets(bootstrap_servers: str, topic: str) -> dict[int, int]:
    """Return the current end offset of each partition of the topic."""
    with KafkaConsumer(bootstrap_servers=bootstrap_servers) as consumer:
        partitions = consumer.partitions_for_topic(topic)
        found = consumer.end_offsets([TopicPartition(topic, partition) for partition in sorted(partitions)])
    return {tp.partition: offset for tp, offset in found.items()}


def group_lag(names: Names) -> int:
    """Return the number of flights in the topic that the pipeline's group has not committed."""
    with KafkaAdminClient(bootstrap_servers=names.bootstrap_servers) as admin:
        found = admin.list_consumer_group_offsets(names.pipeline)
    committed = {tp.partition: each.offset for tp, each in found.items() if tp.topic == names.source}
    ending = end_offsets(names.bootstrap_servers, names.source)
    return sum(end - committed.get(partition, 0) for partition, end in ending.items())


def _table(rows: pd.DataFrame) -> pa.Table:
    """Return records with the columns `key` and `value`."""
    value = pa.Table.from_pandas(rows[SCHEMA.names], SCHEMA, preserve_index=False)
    keys = rows["carrier"].fillna("") + rows["flight"].astype(str)
    key = pa.array(keys, pa.string()).cast(pa.binary())
    return pa.table({"key": key, "value": value.to_struct_array().combine_chunks()})


def send_flights(names: Names, planted: Planted) -> float:
    """Send all flights, and return how many seconds it took."""
    began = time.perf_counter()
    with (
        SchemaRegistryClient({"url": names.registry_url}) as registry,
        KafkaProducer(
            bootstrap_servers=names.bootstrap_servers, linger_ms=20, batch_size=262_144, compression_type="lz4"
        ) as producer,
    ):
        writer = registry.writer(f"{names.source}-value", SCHEMA)
        broken = list(reversed(planted.broken))
        for start in range(0, len(planted.rows), _CHUNK):
            chunk = planted.rows.iloc[start : start + _CHUNK]
            producer.send_arrow(names.source, _table(chunk), value=writer)
            while broken and broken[-1][0] <= start + len(chunk):
                producer.send(names.source, broken.pop()[1])
        producer.flush()
    return time.perf_counter() - began
