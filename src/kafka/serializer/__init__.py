"""Converts keys and values to bytes and back. Layer 0: imports only `errors` from the package.

A serializer is a callable with one argument, or an object with one of kafka-python's two `serialize` methods:
``serialize(topic, value)`` or ``serialize(topic, headers, data)``. `adapt_serializer` and `adapt_deserializer` convert
all of these to one signature.
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
