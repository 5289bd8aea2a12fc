"""kafka-python's import path of messages, by payload tuples (0.9 and 1.x) and as classes (its submodules)."""

from typing import Any

from kafka import _old_names
from kafka.legacy.protocol.kafka_protocol import KafkaProtocol
from kafka.legacy.protocol.message_sets import (
    ALL_CODECS,
    ATTRIBUTE_CODEC_MASK,
    CODEC_GZIP,
    CODEC_NONE,
    CODEC_SNAPPY,
    create_gzip_message,
    create_message,
    create_message_set,
    create_snappy_message,
)
from kafka.wire.index import API_NAMES as API_KEYS

__all__ = [
    "ALL_CODECS",
    "API_KEYS",
    "ATTRIBUTE_CODEC_MASK",
    "CODEC_GZIP",
    "CODEC_NONE",
    "CODEC_SNAPPY",
    "KafkaProtocol",
    "create_gzip_message",
    "create_message",
    "create_message_set",
    "create_snappy_message",
]


def __getattr__(name: str) -> Any:
    """Load a submodule when it is asked for (PEP 562), as kafka-python's are there with the package."""
    return _old_names.of_a_package(__name__, name, {})
