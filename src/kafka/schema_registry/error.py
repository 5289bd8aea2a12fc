"""The errors of a schema registry, where confluent-kafka has them."""

from kafka.formats.registry.errors import SchemaRegistryConnectionError, SchemaRegistryError

__all__ = ["SchemaRegistryConnectionError", "SchemaRegistryError"]
