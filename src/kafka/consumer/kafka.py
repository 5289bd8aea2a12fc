"""kafka-python's import path of `KafkaConsumer` in 0.9."""

from kafka.legacy.consumer.marked_consumer import KafkaConsumer
from kafka.legacy.consumer.marked_fetching import OffsetsStruct
from kafka.legacy.consumer.options import DEFAULT_CONSUMER_CONFIG, DEPRECATED_CONFIG_KEYS

__all__ = ["DEFAULT_CONSUMER_CONFIG", "DEPRECATED_CONFIG_KEYS", "KafkaConsumer", "OffsetsStruct"]
