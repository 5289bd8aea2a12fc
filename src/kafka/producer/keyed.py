"""kafka-python's import path of `KeyedProducer`, from 0.9 to 1.4."""

from kafka.legacy.producers.keyed import KeyedProducer

__all__ = ["KeyedProducer"]
