"""The errors of a schema registry, in the module where confluent-kafka defines them."""

from kafka.formats.registry.errors import SchemaRegistryConnectionError, SchemaRegistryError

__all__ = ["SchemaRegistryConnectionError", "SchemaRegistryError"]
