"""kafka-python's import path of `SimpleClient` and `KafkaClient`, from 0.9 to 1.4."""

from kafka.legacy.client_async.client import KafkaClient
from kafka.legacy.simple.client import SimpleClient

__all__ = ["KafkaClient", "SimpleClient"]
