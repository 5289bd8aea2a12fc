"""kafka-python's import path of the producer.

The producer is loaded through it: agents that trace programs wait for the import of this module.
"""

from typing import Any

from kafka import _old_names
from kafka.producer.kafka_producer import KafkaProducer

__all__ = ["KafkaProducer"]


def __getattr__(name: str) -> Any:
    """Load a name that this module had in kafka-python because it imported it."""
    return _old_names.of_a_package(__name__, name, {})
