"""kafka-python's import path for the producer.

`kafka.producer` imports the producer through this module, because tracing agents wait for the import of this module.
"""

from typing import Any

from kafka import _old_names
from kafka.producer.kafka_producer import KafkaProducer

__all__ = ["KafkaProducer"]


def __getattr__(name: str) -> Any:
    """Load a name that kafka-python's module of the same name imports."""
    return _old_names.of_a_package(__name__, name, {})
