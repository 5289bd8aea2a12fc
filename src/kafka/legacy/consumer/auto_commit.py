"""When the `KafkaConsumer` of 0.9 commits by itself."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any


class AutoCommit:
    """Counts the messages that are done, and the time, since the last commit."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        enabled = config["auto_commit_enable"]
        self._messages: int = (enabled and config["auto_commit_interval_messages"]) or 0
        self._seconds: float = ((enabled and config["auto_commit_interval_ms"]) or 0) / 1000
        self.begin()

    def begin(self) -> None:
        """Begin anew."""
        self._count = 0
        self._next = time.monotonic() + self._seconds

    def is_due_after_a_message(self) -> bool:
        """Count a message; whether to commit now."""
        self._count += 1
        by_number = 0 < self._messages <= self._count
        return by_number or (self._seconds > 0 and time.monotonic() >= self._next)
