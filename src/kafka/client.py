"""kafka-python's import path of `SimpleClient`, from 0.9 to 1.4."""

from kafka.legacy.simple.client import SimpleClient

__all__ = ["SimpleClient"]
