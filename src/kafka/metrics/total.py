"""`Total`: the sum of all values."""

from __future__ import annotations

from kafka.metrics.measurable_stat import AbstractMeasurableStat
from kafka.metrics.metric_config import MetricConfig


class Total(AbstractMeasurableStat):
    """The sum of all values from the beginning on.

    Arguments:
        value: what it begins with.
    """

    __slots__ = ("_total",)

    def __init__(self, value: float = 0.0) -> None:
        self._total = value

    def record(self, config: MetricConfig, value: float, now: float) -> None:
        """Add a value."""
        self._total += value

    def measure(self, config: MetricConfig, now: float) -> float:
        """The sum."""
        return float(self._total)
