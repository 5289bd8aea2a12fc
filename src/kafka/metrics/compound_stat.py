"""What is fed by a sensor and has several values, such as a histogram with its percentiles."""

from __future__ import annotations

from abc import ABC, abstractmethod

from kafka.metrics.measurable import AbstractMeasurable
from kafka.metrics.metric_name import MetricName
from kafka.metrics.stat import AbstractStat


class AbstractCompoundStat(AbstractStat, ABC):
    """A quantity of which several metrics are worked out."""

    @abstractmethod
    def stats(self) -> list[NamedMeasurable]:
        """The metrics, each with its name."""


class NamedMeasurable:
    """One of these metrics.

    Arguments:
        metric_name: its name.
        measurable_stat: its value.
    """

    __slots__ = ("_name", "_stat")

    def __init__(self, metric_name: MetricName, measurable_stat: AbstractMeasurable) -> None:
        self._name = metric_name
        self._stat = measurable_stat

    @property
    def name(self) -> MetricName:
        """Its name."""
        return self._name

    @property
    def stat(self) -> AbstractMeasurable:
        """Its value."""
        return self._stat
