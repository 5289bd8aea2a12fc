"""JSON values with the id of their schema, under confluent-kafka's names."""

from kafka.schema_registry.async_json_schema import AsyncJSONDeserializer, AsyncJSONSerializer
from kafka.schema_registry.sync_json_schema import JSONDeserializer, JSONSerializer

__all__ = ["AsyncJSONDeserializer", "AsyncJSONSerializer", "JSONDeserializer", "JSONSerializer"]
