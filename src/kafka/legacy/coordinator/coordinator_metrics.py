"""Coordinator metrics: `GroupCoordinatorMetrics` and `ConsumerCoordinatorMetrics`."""

from __future__ import annotations

from typing import Any

from kafka.legacy.coordinator.heartbeat_times import Heartbeat
from kafka.legacy.metrics.sampled_stat import Avg, Count, Max, Rate
from kafka.metrics import AnonMeasurable, Metrics
from kafka.metrics.sensor import Sensor


class _Sensors:
    """Creates the sensors for one metric group."""

    def __init__(self, metrics: Metrics, group: str, tags: dict[str, str] | None) -> None:
        self._metrics, self._group, self._tags = metrics, group, tags

    def latency(self, sensor: str, times: str, rate: str, has_average: bool = True) -> Sensor:
        """Return a sensor for times in milliseconds, with metrics for their average, maximum and rate."""
        made = self._metrics.sensor(sensor)
        if has_average:
            made.add(self._metrics.metric_name(f"{times}-avg", self._group, "mean time in ms", self._tags), Avg())
        made.add(self._metrics.metric_name(f"{times}-max", self._group, "longest time in ms", self._tags), Max())
        made.add(
            self._metrics.metric_name(rate, self._group, "how often a second", self._tags), Rate(sampled_stat=Count())
        )
        return made

    def gauge(self, name: str, description: str, read: Any) -> None:
        """Add a gauge; `read` returns its value when called with the time in milliseconds since 1970."""
        told = AnonMeasurable(lambda config, now: read(now))
        self._metrics.add_metric(self._metrics.metric_name(name, self._group, description, self._tags), told)


class GroupCoordinatorMetrics:
    """Metrics for heartbeats, joins and syncs.

    Arguments:
        heartbeat: the times of heartbeats.
        metrics: the registry.
        prefix: prefix of the metric group's name.
        tags: tags of the metrics.
    """

    def __init__(self, heartbeat: Heartbeat, metrics: Metrics, prefix: str, tags: dict[str, str] | None = None) -> None:
        self.heartbeat = heartbeat
        self.metrics = metrics
        self.metric_group_name = f"{prefix}-coordinator-metrics"
        sensors = _Sensors(metrics, self.metric_group_name, tags)
        self.heartbeat_latency = sensors.latency(
            "heartbeat-latency", "heartbeat-response-time", "heartbeat-rate", has_average=False
        )
        self.join_latency = sensors.latency("join-latency", "join-time", "join-rate")
        self.sync_latency = sensors.latency("sync-latency", "sync-time", "sync-rate")
        sensors.gauge(
            "last-heartbeat-seconds-ago",
            "seconds since the last heartbeat was sent",
            lambda now: now / 1000 - heartbeat.last_send,
        )


class ConsumerCoordinatorMetrics:
    """Metrics for commits, and for the number of assigned partitions.

    Arguments:
        metrics: the registry.
        metric_group_prefix: prefix of the metric group's name.
        subscription: the `SubscriptionState` whose partitions are counted.
    """

    def __init__(self, metrics: Metrics, metric_group_prefix: str, subscription: Any) -> None:
        self.metrics = metrics
        self.metric_group_name = f"{metric_group_prefix}-coordinator-metrics"
        sensors = _Sensors(metrics, self.metric_group_name, None)
        self.commit_latency = sensors.latency("commit-latency", "commit-latency", "commit-rate")
        sensors.gauge(
            "assigned-partitions", "partitions that are assigned", lambda now: len(subscription.assigned_partitions())
        )
