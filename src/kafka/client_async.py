"""kafka-python's import path of `KafkaClient`, from 1.0 to 2.x."""

from kafka.legacy.client_async.client import KafkaClient
from kafka.legacy.client_async.delayed_tasks import DelayedTaskQueue

__all__ = ["DelayedTaskQueue", "KafkaClient"]
