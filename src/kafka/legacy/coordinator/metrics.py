"""The numbers about a coordinator: `GroupCoordinatorMetrics` and `ConsumerCoordinatorMetrics`."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from kafka.legacy.coordinator.timing import Heartbeat

_WINDOW_S = 30.0


class _Window:
    """What was recorded from a time on."""

    __slots__ = ("begin", "count", "largest", "total")

    def __init__(self, begin: float) -> None:
        self.begin, self.count, self.total, self.largest = begin, 0, 0.0, float("-inf")


class LatencySensor:
    """Counts how often something took how long, over the last 30 to 60 seconds. Any thread may record."""

    def __init__(self) -> None:
        self._windows = [_Window(time.monotonic())]

    def record(self, value: float) -> None:
        """It took so many milliseconds."""
        window = self._recent()[-1]
        window.count += 1
        window.total += value
        window.largest = max(window.largest, value)

    def average(self) -> float:
        """How long it took on average; 0 if it did not happen."""
        windows = self._recent()
        count = sum(window.count for window in windows)
        return sum(window.total for window in windows) / count if count else 0.0

    def largest(self) -> float:
        """How long it took at most."""
        return max(window.largest for window in self._recent())

    def rate(self) -> float:
        """How often it happened a second."""
        windows = self._recent()
        elapsed_s = max(time.monotonic() - windows[0].begin, 1.0)
        return sum(window.count for window in windows) / elapsed_s

    def _recent(self) -> list[_Window]:
        now = time.monotonic()
        last = self._windows[-1]
        if now - last.begin >= 2 * _WINDOW_S:
            self._windows = [_Window(now)]
        elif now - last.begin >= _WINDOW_S:
            self._windows = [last, _Window(now)]
        return self._windows


def _register(metrics: Any, group: str, gauges: dict[str, Callable[[], float]]) -> None:
    for name, read in gauges.items():
        metrics.gauge(group, name, read)


class GroupCoordinatorMetrics:
    """How heartbeats, joins and syncs go.

    Arguments:
        heartbeat: tells when the last heartbeat was sent.
        metrics: the registry, a `kafka.metrics.Metrics`.
        prefix: what the group's name begins with.
        tags: taken for old programs.
    """

    def __init__(self, heartbeat: Heartbeat, metrics: Any, prefix: str, tags: dict[str, str] | None = None) -> None:
        self.heartbeat = heartbeat
        self.metrics = metrics
        self.metric_group_name = f"{prefix}-coordinator-metrics"
        self.heartbeat_latency = LatencySensor()
        self.join_latency = LatencySensor()
        self.sync_latency = LatencySensor()
        gauges: dict[str, Callable[[], float]] = {
            "heartbeat-response-time-max": self.heartbeat_latency.largest,
            "heartbeat-rate": self.heartbeat_latency.rate,
            "join-time-avg": self.join_latency.average,
            "join-time-max": self.join_latency.largest,
            "join-rate": self.join_latency.rate,
            "sync-time-avg": self.sync_latency.average,
            "sync-time-max": self.sync_latency.largest,
            "sync-rate": self.sync_latency.rate,
            "last-heartbeat-seconds-ago": lambda: time.time() - heartbeat.last_send,
        }
        _register(metrics, self.metric_group_name, gauges)


class ConsumerCoordinatorMetrics:
    """How commits go, and how many partitions are assigned.

    Arguments:
        metrics: the registry, a `kafka.metrics.Metrics`.
        metric_group_prefix: what the group's name begins with.
        subscription: the `SubscriptionState` whose partitions are counted.
    """

    def __init__(self, metrics: Any, metric_group_prefix: str, subscription: Any) -> None:
        self.metrics = metrics
        self.metric_group_name = f"{metric_group_prefix}-coordinator-metrics"
        self.commit_latency = LatencySensor()
        gauges: dict[str, Callable[[], float]] = {
            "commit-latency-avg": self.commit_latency.average,
            "commit-latency-max": self.commit_latency.largest,
            "commit-rate": self.commit_latency.rate,
            "assigned-partitions": lambda: len(subscription.assigned_partitions()),
        }
        _register(metrics, self.metric_group_name, gauges)
