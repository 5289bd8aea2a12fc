"""The errors of a schema registry, at confluent-kafka's place."""

from kafka.formats.registry.errors import SchemaRegistryConnectionError, SchemaRegistryError

__all__ = ["SchemaRegistryConnectionError", "SchemaRegistryError"]
