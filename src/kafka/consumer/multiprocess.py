"""kafka-python's import path of `MultiProcessConsumer`, from 0.9 to 1.4."""

from typing import Any

from kafka import _old_names
from kafka.legacy.consumer.multiprocess import MultiProcessConsumer

__all__ = ["MultiProcessConsumer"]


def __getattr__(name: str) -> Any:
    """Load a name that this module had in kafka-python because it imported it."""
    return _old_names.of_a_package(__name__, name, {})
