"""kafka-python's import path of `MultiProcessConsumer`, from 0.9 to 1.4."""

from kafka.legacy.consumer.multiprocess import MultiProcessConsumer

__all__ = ["MultiProcessConsumer"]
