"""kafka-python's import path of `KafkaBytes`."""

from kafka.legacy.protocol.frame import KafkaBytes

__all__ = ["KafkaBytes"]
