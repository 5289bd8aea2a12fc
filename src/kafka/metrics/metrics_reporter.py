"""`AbstractMetricsReporter`: what programs derive from to be told of metrics."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

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
