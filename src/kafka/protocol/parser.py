"""kafka-python's import path of the frames of a connection."""

from kafka.legacy.protocol.parser import KafkaProtocol

__all__ = ["KafkaProtocol"]
