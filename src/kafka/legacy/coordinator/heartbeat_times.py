"""`Heartbeat` of `kafka.coordinator.heartbeat`: the times of heartbeats, their responses, and the next heartbeat."""

from __future__ import annotations

import time
from typing import Any, ClassVar

from kafka.config.table import with_defaults
from kafka.errors import AssertedArgumentError

_NEVER = float("-inf")


class Heartbeat:
    """The times of a member's heartbeats, in seconds since 1970.

    Arguments: ``session_timeout_ms``, ``heartbeat_interval_ms``, ``max_poll_interval_ms``, ``retry_backoff_ms`` and
    ``group_id`` by keyword; others are ignored.

    Raises `AssertionError` if the heartbeat interval is longer than the session timeout.
    """

    DEFAULT_CONFIG: ClassVar[dict[str, Any]] = {
        "group_id": None,
        "heartbeat_interval_ms": 3000,
        "session_timeout_ms": 30_000,
        "max_poll_interval_ms": 300_000,
        "retry_backoff_ms": 100,
    }

    def __init__(self, **configs: Any) -> None:
        self.config = with_defaults(self.DEFAULT_CONFIG, configs)
        if self.config["heartbeat_interval_ms"] > self.config["session_timeout_ms"]:
            raise AssertedArgumentError("Heartbeat interval must be lower than the session timeout")
        self.interval = self.config["heartbeat_interval_ms"] / 1000
        self.timeout = self.config["session_timeout_ms"] / 1000
        self.last_send = self.last_receive = self.last_poll = _NEVER
        self.last_reset = time.time()
        self.heartbeat_failed = False

    def __str__(self) -> str:
        options = " ".join(f"{name}={value}" for name, value in self.config.items())
        return f"<Heartbeat {options}>"

    def poll(self) -> None:
        """Record that the caller has polled."""
        self.last_poll = time.time()

    def sent_heartbeat(self) -> None:
        """Record that a heartbeat was sent."""
        self.last_send = time.time()
        self.heartbeat_failed = False

    def received_heartbeat(self) -> None:
        """Record that a heartbeat was answered."""
        self.last_receive = time.time()

    def fail_heartbeat(self) -> None:
        """Record that a heartbeat failed, so that the next one follows after ``retry_backoff_ms``."""
        self.heartbeat_failed = True

    def time_to_next_heartbeat(self) -> float:
        """Return the seconds until the next heartbeat."""
        pause = self.config["retry_backoff_ms"] / 1000 if self.heartbeat_failed else self.interval
        return float(max(0, max(self.last_send, self.last_reset) + pause - time.time()))

    def ttl(self) -> float:
        """Return `time_to_next_heartbeat`, under its name in 1.0."""
        return self.time_to_next_heartbeat()

    def should_heartbeat(self) -> bool:
        """Return whether to send a heartbeat now."""
        return self.time_to_next_heartbeat() == 0

    def session_timeout_expired(self) -> bool:
        """Return whether no response has arrived for longer than ``session_timeout_ms``."""
        return bool(time.time() - max(self.last_receive, self.last_reset) > self.timeout)

    def session_expired(self) -> bool:
        """Return `session_timeout_expired`, under its name in 1.0."""
        return self.session_timeout_expired()

    def poll_timeout_expired(self) -> bool:
        """Return whether the caller has not polled for longer than ``max_poll_interval_ms``."""
        return bool(time.time() - self.last_poll > self.config["max_poll_interval_ms"] / 1000)

    def reset_timeouts(self) -> None:
        """Restart all timeouts."""
        self.last_reset = self.last_poll = time.time()
        self.heartbeat_failed = False

    def reset_session_timeout(self) -> None:
        """Call `reset_timeouts`, under its name in 1.0."""
        self.reset_timeouts()
