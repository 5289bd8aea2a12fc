"""kafka-python's import path of `SimpleConsumer`, from 0.9 to 1.4."""

from kafka.legacy.consumer.fetch_context import FetchContext
from kafka.legacy.consumer.simple import SimpleConsumer

__all__ = ["FetchContext", "SimpleConsumer"]
