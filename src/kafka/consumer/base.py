"""kafka-python's import path of `Consumer` and its constants, from 0.9 to 1.4."""

from typing import Any

from kafka import _old_names
from kafka.legacy.consumer.base import (
    AUTO_COMMIT_INTERVAL,
    AUTO_COMMIT_MSG_COUNT,
    FETCH_BUFFER_SIZE_BYTES,
    FETCH_DEFAULT_BLOCK_TIMEOUT,
    FETCH_MAX_WAIT_TIME,
    FETCH_MIN_BYTES,
    FULL_QUEUE_WAIT_TIME_SECONDS,
    ITER_TIMEOUT_SECONDS,
    MAX_BACKOFF_SECONDS,
    MAX_FETCH_BUFFER_SIZE_BYTES,
    NO_MESSAGES_WAIT_TIME_SECONDS,
    Consumer,
    log,
)

__all__ = [
    "AUTO_COMMIT_INTERVAL",
    "AUTO_COMMIT_MSG_COUNT",
    "FETCH_BUFFER_SIZE_BYTES",
    "FETCH_DEFAULT_BLOCK_TIMEOUT",
    "FETCH_MAX_WAIT_TIME",
    "FETCH_MIN_BYTES",
    "FULL_QUEUE_WAIT_TIME_SECONDS",
    "ITER_TIMEOUT_SECONDS",
    "MAX_BACKOFF_SECONDS",
    "MAX_FETCH_BUFFER_SIZE_BYTES",
    "NO_MESSAGES_WAIT_TIME_SECONDS",
    "Consumer",
    "log",
]


def __getattr__(name: str) -> Any:
    """Load a name that this module had in kafka-python because it imported it."""
    return _old_names.of_a_package(__name__, name, {})
