"""Protobuf serializers that prefix each message with its schema's id, under confluent-kafka's names."""

from kafka.schema_registry._async.protobuf import AsyncProtobufDeserializer, AsyncProtobufSerializer
from kafka.schema_registry._sync.protobuf import ProtobufDeserializer, ProtobufSerializer

__all__ = ["AsyncProtobufDeserializer", "AsyncProtobufSerializer", "ProtobufDeserializer", "ProtobufSerializer"]
