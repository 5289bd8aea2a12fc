"""Avro serializers that prefix each value with its schema's id, under confluent-kafka's names."""

from kafka.schema_registry._async.avro import AsyncAvroDeserializer, AsyncAvroSerializer
from kafka.schema_registry._sync.avro import AvroDeserializer, AvroSerializer

__all__ = [
    "AsyncAvroDeserializer",
    "AsyncAvroSerializer",
    "AvroDeserializer",
    "AvroSerializer",
]
