"""`AbstractMetricsReporter`, the base class of objects that are notified of metrics, and `DictReporter`."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kafka.metrics.kafka_metric import KafkaMetric

if TYPE_CHECKING:
    from kafka.metrics.kafka_metric import KafkaMetric


class AbstractMetricsReporter(ABC):
    """The base class of reporters. A reporter is notified of metrics, and may read their values at any time."""

    @abstractmethod
    def init(self, metrics: Sequence[KafkaMetric]) -> None:
        """Receive the existing metrics; called once, before the other notifications."""

    @abstractmethod
    def metric_change(self, metric: KafkaMetric) -> None:
        """Handle a new metric."""

    @abstractmethod
    def metric_removal(self, metric: KafkaMetric) -> None:
        """Handle the removal of a metric."""

    @abstractmethod
    def configure(self, configs: Mapping[str, Any]) -> None:
        """Receive the client's options, without secrets; called before `init`."""

    @abstractmethod
    def close(self) -> None:
        """Handle the closing of the registry."""


class DictReporter(AbstractMetricsReporter):
    """Keeps all metrics in a dict by category and name.

    Arguments:
        prefix: the prefix of the categories.
    """

    def __init__(self, prefix: str | None = "") -> None:
        self._lock = threading.Lock()
        self._prefix = prefix or ""
        self._store: dict[str, dict[str, KafkaMetric]] = {}

    def snapshot(self) -> dict[str, dict[str, float]]:
        """Return the current values as a dict by category, of dicts by the names of the metrics."""
        with self._lock:
            kept = {category: dict(metrics) for category, metrics in self._store.items()}
        return {category: {name: each.value() for name, each in metrics.items()} for category, metrics in kept.items()}

    def init(self, metrics: Sequence[KafkaMetric]) -> None:
        """Add the metrics that exist already. The client calls this when it adds the reporter."""
        for metric in metrics:
            self.metric_change(metric)

    def metric_change(self, metric: KafkaMetric) -> None:
        """Add a metric, or replace the one of the same category and name. The client calls this."""
        with self._lock:
            self._store.setdefault(self.get_category(metric), {})[metric.metric_name.name] = metric

    def metric_removal(self, metric: KafkaMetric) -> KafkaMetric | None:  # type: ignore[override]
        """Remove a metric and return it, or None if it does not exist; see `AbstractMetricsReporter`."""
        category = self.get_category(metric)
        with self._lock:
            metrics = self._store.get(category, {})
            removed = metrics.pop(metric.metric_name.name, None)
            if not metrics:
                self._store.pop(category, None)
        return removed

    def get_category(self, metric: KafkaMetric) -> str:
        """Return prefix, group and tags, as in ``"prefix.group.a=1,b=2"``; empty parts are left out.

        Arguments:
            metric: the metric.
        """
        tags = ",".join(f"{key}={value}" for key, value in sorted((metric.metric_name.tags or {}).items()))
        return ".".join(part for part in (self._prefix, metric.metric_name.group, tags) if part)

    def configure(self, configs: Mapping[str, Any]) -> None:
        """Do nothing, because there are no options.

        Arguments:
            configs: ignored.
        """

    def close(self) -> None:
        """Do nothing: `snapshot` keeps returning the metrics after their client has closed."""
