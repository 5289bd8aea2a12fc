"""kafka-python's import path of `SimpleProducer`, from 0.9 to 1.4."""

from kafka.legacy.producers.simple import SimpleProducer

__all__ = ["SimpleProducer"]
