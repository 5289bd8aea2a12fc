"""kafka-python's import path of `Producer`, from 0.9 to 1.4."""

from typing import Any

from kafka import _old_names
from kafka.legacy.producers.base import (
    ASYNC_LOG_MESSAGES_ON_ERROR,
    ASYNC_QUEUE_MAXSIZE,
    ASYNC_QUEUE_PUT_TIMEOUT,
    ASYNC_RETRY_BACKOFF_MS,
    ASYNC_RETRY_LIMIT,
    ASYNC_RETRY_ON_TIMEOUTS,
    ASYNC_STOP_TIMEOUT_SECS,
    BATCH_SEND_DEFAULT_INTERVAL,
    BATCH_SEND_MSG_COUNT,
    STOP_ASYNC_PRODUCER,
    SYNC_FAIL_ON_ERROR_DEFAULT,
    Producer,
)

__all__ = [
    "ASYNC_LOG_MESSAGES_ON_ERROR",
    "ASYNC_QUEUE_MAXSIZE",
    "ASYNC_QUEUE_PUT_TIMEOUT",
    "ASYNC_RETRY_BACKOFF_MS",
    "ASYNC_RETRY_LIMIT",
    "ASYNC_RETRY_ON_TIMEOUTS",
    "ASYNC_STOP_TIMEOUT_SECS",
    "BATCH_SEND_DEFAULT_INTERVAL",
    "BATCH_SEND_MSG_COUNT",
    "STOP_ASYNC_PRODUCER",
    "SYNC_FAIL_ON_ERROR_DEFAULT",
    "Producer",
]


def __getattr__(name: str) -> Any:
    """Load a name that this module had in kafka-python because it imported it."""
    return _old_names.of_a_package(__name__, name, {})
