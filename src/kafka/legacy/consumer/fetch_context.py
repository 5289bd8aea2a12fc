"""How long a `SimpleConsumer` has a broker wait for messages, for one call."""

from __future__ import annotations

from types import TracebackType
from typing import Protocol

from kafka.legacy.consumer.base import FETCH_DEFAULT_BLOCK_TIMEOUT


class _Fetches(Protocol):
    fetch_max_wait_time: float
    fetch_min_bytes: int


class FetchContext:
    """Within it a consumer's fetches wait for a first message, or for none at all.

    Arguments:
        consumer: the consumer.
        block: whether to wait.
        timeout: for how many seconds; a second if it is 0 or None.
    """

    def __init__(self, consumer: _Fetches, block: object, timeout: float | None) -> None:
        self.consumer = consumer
        self.block = block
        if block:
            self.timeout = max(0.0, (timeout or FETCH_DEFAULT_BLOCK_TIMEOUT) * 1000)

    def __enter__(self) -> None:
        self.orig_fetch_max_wait_time = self.consumer.fetch_max_wait_time
        self.orig_fetch_min_bytes = self.consumer.fetch_min_bytes
        if self.block:
            self.consumer.fetch_max_wait_time = self.timeout
            self.consumer.fetch_min_bytes = 1
        else:
            self.consumer.fetch_min_bytes = 0

    def __exit__(
        self, exc_type: type[BaseException] | None, exc_value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.consumer.fetch_max_wait_time = self.orig_fetch_max_wait_time
        self.consumer.fetch_min_bytes = self.orig_fetch_min_bytes
