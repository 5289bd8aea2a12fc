"""Converts keys and values to bytes and back. Layer 0: imports only `errors` from the package.

A serializer is a callable of one argument, or an object with `serialize`, of either of kafka-python's generations:
``serialize(topic, value)`` or ``serialize(topic, headers, data)``. `adapt_serializer` and `adapt_deserializer` give all
of them one shape.
"""

from kafka.serializer.abstract import Deserializer, Serializer
from kafka.serializer.default import DefaultSerializer, DeserializeWrapper, JsonSerializer, SerializeWrapper
from kafka.serializer.serializer_adapter import (
    AdaptedDeserializer,
    AdaptedSerializer,
    adapt_deserializer,
    adapt_serializer,
)

__all__ = [
    "AdaptedDeserializer",
    "AdaptedSerializer",
    "DefaultSerializer",
    "DeserializeWrapper",
    "Deserializer",
    "JsonSerializer",
    "SerializeWrapper",
    "Serializer",
    "adapt_deserializer",
    "adapt_serializer",
]
