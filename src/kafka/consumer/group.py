"""kafka-python's import path of `KafkaConsumer`.

The consumer is loaded through this module, because tracing agents hook the import of this module.
"""

from typing import Any

from kafka import _old_names
from kafka.consumer.kafka_consumer import KafkaConsumer as KafkaConsumer


def __getattr__(name: str) -> Any:
    """Load a name that kafka-python's module imported."""
    return _old_names.of_a_package(__name__, name, {})
