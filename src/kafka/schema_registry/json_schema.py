"""JSON values with the id of their schema, under confluent-kafka's names."""

from kafka.schema_registry._async.json_schema import AsyncJSONDeserializer, AsyncJSONSerializer
from kafka.schema_registry._sync.json_schema import JSONDeserializer, JSONSerializer

__all__ = ["AsyncJSONDeserializer", "AsyncJSONSerializer", "JSONDeserializer", "JSONSerializer"]
