"""kafka-python's import path of `Future`, from 1.0 on."""

from typing import Any

from kafka import _old_names
from kafka.legacy.future import Future as Future


def __getattr__(name: str) -> Any:
    """Load a name that this module had in kafka-python because it imported it."""
    return _old_names.of_a_package(__name__, name, {})
