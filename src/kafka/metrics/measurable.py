"""What has a value that can be asked for: `AbstractMeasurable`, and `AnonMeasurable` for a function."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kafka.metrics.metric_config import MetricConfig


class AbstractMeasurable(ABC):
    """A quantity that a `KafkaMetric` shows."""

    @abstractmethod
    def measure(self, config: MetricConfig, now: float) -> float:
        """The value.

        Arguments:
            config: that of the metric.
            now: the time, in milliseconds since the epoch.
        """


class AnonMeasurable(AbstractMeasurable):
    """A quantity that a function tells.

    Arguments:
        measure_fn: called with the arguments of `measure`.
    """

    def __init__(self, measure_fn: Callable[[MetricConfig, float], float]) -> None:
        self._measure_fn = measure_fn

    def measure(self, config: MetricConfig, now: float) -> float:
        """What the function tells.

        Arguments:
            config: how the metric is sampled.
            now: the time, in milliseconds since 1970.
        """
        return float(self._measure_fn(config, now))
