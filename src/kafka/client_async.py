"""kafka-python's import path of `KafkaClient`, from 1.0 to 2.x."""

import selectors as selectors
from typing import Any

from kafka import _old_names
from kafka.legacy.client_async.client import KafkaClient
from kafka.legacy.client_async.delayed_tasks import DelayedTaskQueue

__all__ = ["DelayedTaskQueue", "KafkaClient"]


def __getattr__(name: str) -> Any:
    """Load a name that this module had in kafka-python because it imported it."""
    return _old_names.of_a_package(__name__, name, {})
