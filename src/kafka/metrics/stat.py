"""Statistics: quantities computed from a sensor's values, as one metric (`AbstractMeasurableStat`) or several."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from kafka.metrics.kafka_metric import AbstractMeasurable, MetricConfig, MetricName

if TYPE_CHECKING:
    from kafka.metrics.kafka_metric import MetricConfig


class AbstractStat(ABC):
    """A quantity that is computed from the values of a `Sensor`."""

    @abstractmethod
    def record(self, config: MetricConfig, value: float, time_ms: float) -> None:
        """Record a value that was observed at the given time."""


class AbstractMeasurableStat(AbstractStat, AbstractMeasurable, ABC):
    """A quantity such as an average or a maximum; see `kafka.metrics.stats`."""


class AbstractCompoundStat(AbstractStat, ABC):
    """A quantity from which several metrics are computed."""

    @abstractmethod
    def stats(self) -> list[NamedMeasurable]:
        """Return the metrics with their names."""


class NamedMeasurable:
    """A named metric of an `AbstractCompoundStat`.

    Arguments:
        metric_name: the metric's name.
        measurable_stat: the metric's value.
    """

    __slots__ = ("_name", "_stat")

    def __init__(self, metric_name: MetricName, measurable_stat: AbstractMeasurable) -> None:
        self._name = metric_name
        self._stat = measurable_stat

    @property
    def name(self) -> MetricName:
        """The metric's name."""
        return self._name

    @property
    def stat(self) -> AbstractMeasurable:
        """The metric's value."""
        return self._stat


class Total(AbstractMeasurableStat):
    """The sum of all values since the start.

    Arguments:
        value: the initial value.
    """

    __slots__ = ("_total",)

    def __init__(self, value: float = 0.0) -> None:
        self._total = value

    def record(self, config: MetricConfig, value: float, now: float) -> None:
        """Add a value."""
        self._total += value

    def measure(self, config: MetricConfig, now: float) -> float:
        """Return the sum."""
        return float(self._total)
