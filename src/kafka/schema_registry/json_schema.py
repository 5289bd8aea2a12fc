"""JSON serializers that prefix each value with its schema's id, under confluent-kafka's names."""

from kafka.schema_registry._async.json_schema import AsyncJSONDeserializer, AsyncJSONSerializer
from kafka.schema_registry._sync.json_schema import JSONDeserializer, JSONSerializer

__all__ = ["AsyncJSONDeserializer", "AsyncJSONSerializer", "JSONDeserializer", "JSONSerializer"]
