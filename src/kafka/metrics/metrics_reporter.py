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
    """Is told which metrics there are, and reads their values when it likes."""

    @abstractmethod
    def init(self, metrics: Sequence[KafkaMetric]) -> None:
        """These metrics are there already; called once, first."""

    @abstractmethod
    def metric_change(self, metric: KafkaMetric) -> None:
        """A metric has been registered."""

    @abstractmethod
    def metric_removal(self, metric: KafkaMetric) -> None:
        """A metric is gone."""

    @abstractmethod
    def configure(self, configs: Mapping[str, Any]) -> None:
        """The options of the client, without secrets; called before `init`."""

    @abstractmethod
    def close(self) -> None:
        """The registry is closed."""


class DictReporter(AbstractMetricsReporter):
    """Keeps all metrics by category and name.

    Arguments:
        prefix: what categories begin with.
    """

    def __init__(self, prefix: str | None = "") -> None:
        self._lock = threading.Lock()
        self._prefix = prefix or ""
        self._store: dict[str, dict[str, KafkaMetric]] = {}

    def snapshot(self) -> dict[str, dict[str, float]]:
        """The values of now, by category and name."""
        with self._lock:
            kept = {category: dict(metrics) for category, metrics in self._store.items()}
        return {category: {name: each.value() for name, each in metrics.items()} for category, metrics in kept.items()}

    def init(self, metrics: Sequence[KafkaMetric]) -> None:
        """See `AbstractMetricsReporter`."""
        for metric in metrics:
            self.metric_change(metric)

    def metric_change(self, metric: KafkaMetric) -> None:
        """See `AbstractMetricsReporter`."""
        with self._lock:
            self._store.setdefault(self.get_category(metric), {})[metric.metric_name.name] = metric

    def metric_removal(self, metric: KafkaMetric) -> KafkaMetric | None:  # type: ignore[override]
        """See `AbstractMetricsReporter`; gives what was kept under the name, None if nothing was."""
        category = self.get_category(metric)
        with self._lock:
            metrics = self._store.get(category, {})
            removed = metrics.pop(metric.metric_name.name, None)
            if not metrics:
                self._store.pop(category, None)
        return removed

    def get_category(self, metric: KafkaMetric) -> str:
        """Prefix, group and tags, as in ``"prefix.group.a=1,b=2"``; what is empty is left out.

        Arguments:
            metric: whose category.
        """
        tags = ",".join(f"{key}={value}" for key, value in sorted((metric.metric_name.tags or {}).items()))
        return ".".join(part for part in (self._prefix, metric.metric_name.group, tags) if part)

    def configure(self, configs: Mapping[str, Any]) -> None:
        """There is nothing to configure.

        Arguments:
            configs: no effect.
        """

    def close(self) -> None:
        """What is kept stays."""
