"""kafka-python's import path of `AbstractType`."""

from kafka.legacy.protocol.types import AbstractType

__all__ = ["AbstractType"]
