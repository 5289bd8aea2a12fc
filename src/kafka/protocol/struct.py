"""kafka-python's import path of `Struct`."""

from kafka.legacy.protocol.struct import Struct

__all__ = ["Struct"]
