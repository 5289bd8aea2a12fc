"""Avro values with the id of their schema, under confluent-kafka's names."""

from kafka.schema_registry._async.avro import AsyncAvroDeserializer, AsyncAvroSerializer
from kafka.schema_registry._sync.avro import AvroDeserializer, AvroSerializer

__all__ = [
    "AsyncAvroDeserializer",
    "AsyncAvroSerializer",
    "AvroDeserializer",
    "AvroSerializer",
]
