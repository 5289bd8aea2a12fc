"""kafka-python's import path of messages of magic 0 and 1."""

from kafka.legacy.protocol.message import Message, MessageSet, PartialMessage

__all__ = ["Message", "MessageSet", "PartialMessage"]
