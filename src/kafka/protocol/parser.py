"""kafka-python's import path of the frames of a connection."""

from typing import Any

from kafka import _old_names
from kafka.legacy.protocol.parser import KafkaProtocol, log

__all__ = ["KafkaProtocol", "log"]


def __getattr__(name: str) -> Any:
    """Load a name that this module had in kafka-python because it imported it."""
    return _old_names.of_a_package(__name__, name, {})
