"""`Sensor`: receives values and passes them to its metrics."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Protocol

from kafka.errors import QuotaViolationError
from kafka.metrics.kafka_metric import KafkaMetric, MetricConfig, MetricName
from kafka.metrics.stat import AbstractCompoundStat, AbstractMeasurableStat, AbstractStat


class Registry(Protocol):
    """The part of the `kafka.metrics.Metrics` interface that sensors use."""

    def register_metric(self, metric: KafkaMetric) -> None:
        """Register a metric."""


class Sensor:
    """Receives values, in any thread; `Metrics.sensor` creates sensors.

    Arguments:
        registry: registers the metrics.
        name: the sensor's name.
        parents: sensors that also receive each value.
        config: used for metrics without a configuration.
        inactive_sensor_expiration_time_seconds: seconds without a value after which the sensor has expired.

    Raises `ValueError` for an empty name, and for parents that would form a cycle.
    """

    __slots__ = (
        "_config",
        "_inactive_sensor_expiration_time_ms",
        "_last_record_time",
        "_lock",
        "_metrics",
        "_name",
        "_parents",
        "_registry",
        "_stats",
    )

    def __init__(
        self,
        registry: Registry,
        name: str,
        parents: Sequence[Sensor] | None,
        config: MetricConfig,
        inactive_sensor_expiration_time_seconds: float,
    ) -> None:
        if not name:
            raise ValueError("a sensor needs a name")
        self._lock = threading.RLock()
        self._registry = registry
        self._name = name
        self._parents = parents or []
        self._metrics: list[KafkaMetric] = []
        self._stats: list[AbstractStat] = []
        self._config = config
        self._inactive_sensor_expiration_time_ms = inactive_sensor_expiration_time_seconds * 1000
        self._last_record_time = time.time() * 1000
        self._check_forest(set())

    def _check_forest(self, seen: set[Sensor]) -> None:
        """Raise `ValueError` if a sensor would receive a value twice."""
        if self in seen:
            raise ValueError(
                f"sensor {self.name!r} would be given values twice: it is its own parent, or twice a parent"
            )
        seen.add(self)
        for parent in self._parents:
            parent._check_forest(seen)

    @property
    def name(self) -> str:
        """The sensor's name in the registry."""
        return self._name

    @property
    def metrics(self) -> tuple[KafkaMetric, ...]:
        """The sensor's metrics."""
        return tuple(self._metrics)

    def record(self, value: float = 1.0, time_ms: float | None = None) -> None:
        """Record a value.

        Arguments:
            time_ms: when the value was observed, in milliseconds since the epoch; None means now.

        Raises `QuotaViolationError` if the value makes a metric violate its quota; the value is recorded nevertheless.
        """
        if time_ms is None:
            time_ms = time.time() * 1000
        self._last_record_time = time_ms
        with self._lock:
            for stat in self._stats:
                stat.record(self._config, value, time_ms)
            self._check_quotas(time_ms)
        for parent in self._parents:
            parent.record(value, time_ms)

    def _check_quotas(self, time_ms: float) -> None:
        for metric in self._metrics:
            quota = metric.config.quota
            if quota is None:
                continue
            value = metric.value(time_ms)
            if not quota.is_acceptable(value):
                side = "above" if quota.is_upper_bound() else "below"
                raise QuotaViolationError(f"{metric.metric_name} is {value:g}, {side} its quota of {quota.bound:g}")

    def add_compound(self, compound_stat: AbstractCompoundStat, config: MetricConfig | None = None) -> None:
        """Add a statistic with several metrics, and register the metrics.

        Arguments:
            config: used for these metrics; None means the sensor's configuration.

        Raises `ValueError` if there is no statistic, or if a name is taken.
        """
        if not hasattr(compound_stat, "stats"):
            raise ValueError(f"there must be something to feed, not {compound_stat!r}")
        with self._lock:
            self._stats.append(compound_stat)
            for each in compound_stat.stats():
                self._register(KafkaMetric(each.name, each.stat, config or self._config))

    def add(self, metric_name: MetricName, stat: AbstractMeasurableStat, config: MetricConfig | None = None) -> None:
        """Add a statistic, and register it as a metric.

        Arguments:
            config: used for this metric; None means the sensor's configuration.

        Raises `ValueError` if the name is taken.
        """
        with self._lock:
            self._register(KafkaMetric(metric_name, stat, config or self._config))
            self._stats.append(stat)

    def _register(self, metric: KafkaMetric) -> None:
        self._registry.register_metric(metric)
        self._metrics.append(metric)

    def has_expired(self) -> bool:
        """Return whether the last value is older than the expiration time allows."""
        return time.time() * 1000 - self._last_record_time > self._inactive_sensor_expiration_time_ms
