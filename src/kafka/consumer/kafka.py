"""kafka-python's import path of `KafkaConsumer` in 0.9."""

from typing import Any

from kafka import _old_names
from kafka.legacy.consumer.marked_consumer import KafkaConsumer
from kafka.legacy.consumer.marked_fetching import OffsetsStruct
from kafka.legacy.consumer.options import DEFAULT_CONSUMER_CONFIG, DEPRECATED_CONFIG_KEYS

__all__ = ["DEFAULT_CONSUMER_CONFIG", "DEPRECATED_CONFIG_KEYS", "KafkaConsumer", "OffsetsStruct"]


def __getattr__(name: str) -> Any:
    """Load a name that this module had in kafka-python because it imported it."""
    return _old_names.of_a_package(__name__, name, {})
