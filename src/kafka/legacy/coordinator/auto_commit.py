"""`AutoCommitTask`: commits positions again and again, while the client polls."""

from __future__ import annotations

import contextlib
import time
from typing import Any, Protocol

from kafka.legacy.client_async.client import KafkaClient
from kafka.legacy.future import Future
from kafka.legacy.subscription.state import SubscriptionState


class CommitsPositions(Protocol):
    """What the task needs of its coordinator."""

    config: dict[str, Any]
    _client: KafkaClient
    _subscription: SubscriptionState

    def coordinator_unknown(self) -> bool:
        """Whether the coordinator is not known."""

    def commit_offsets_async(self, offsets: Any, callback: Any = None) -> Future:
        """Commit without waiting."""


class AutoCommitTask:
    """A task of the client.

    Arguments:
        coordinator: whose positions are committed.
        interval: how often, in seconds.

    Attributes:
        next_at: when it is due, in seconds since 1970; None while it is disabled.
    """

    def __init__(self, coordinator: CommitsPositions, interval: float) -> None:
        self._coordinator = coordinator
        self._client = coordinator._client
        self._interval = interval
        self.next_at: float | None = None

    def enable(self) -> None:
        """Begin; it is due after an interval."""
        if self.next_at is None:
            self._schedule(time.time() + self._interval)

    def disable(self) -> None:
        """Stop."""
        self.next_at = None
        with contextlib.suppress(KeyError):
            self._client.unschedule(self)

    def reschedule(self, at: float | None = None) -> None:
        """Have it due at another time, in seconds since 1970; None: after an interval. Nothing if it is disabled."""
        if self.next_at is not None:
            self._schedule(time.time() + self._interval if at is None else at)

    def _schedule(self, at: float) -> None:
        self.next_at = at
        self._client.schedule(self, at)

    def run_if_due(self) -> None:
        """Commit if it is due."""
        if self.next_at is not None and self.next_at <= time.time():
            self()

    def __call__(self) -> None:
        """Commit, and have it due after an interval; sooner if that cannot be done now."""
        if self.next_at is None:
            return
        if self._coordinator.coordinator_unknown():
            self._schedule(time.time() + self._backoff_s)
            return
        self._schedule(time.time() + self._interval)
        self._coordinator.commit_offsets_async(self._coordinator._subscription.all_consumed_offsets(), self._done)

    @property
    def _backoff_s(self) -> float:
        return float(self._coordinator.config["retry_backoff_ms"]) / 1000

    def _done(self, offsets: Any, outcome: Any) -> None:
        if getattr(outcome, "retriable", False) and self.next_at is not None:
            self._schedule(min(self.next_at, time.time() + self._backoff_s))
        self._coordinator.config["default_offset_commit_callback"](offsets, outcome)
