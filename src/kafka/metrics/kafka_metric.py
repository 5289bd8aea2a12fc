"""`KafkaMetric`: a registered metric."""

from __future__ import annotations

import time

from kafka.metrics.measurable import AbstractMeasurable
from kafka.metrics.metric_config import MetricConfig
from kafka.metrics.metric_name import MetricName


class KafkaMetric:
    """A quantity under a name. Its value may be asked for in any thread.

    Arguments:
        metric_name: the name.
        measurable: the quantity.
        config: how it is worked out.

    Raises `ValueError` without a name or a quantity.
    """

    __slots__ = ("_config", "_measurable", "_metric_name")

    def __init__(self, metric_name: MetricName, measurable: AbstractMeasurable, config: MetricConfig) -> None:
        if not isinstance(metric_name, MetricName):
            raise ValueError(f"a metric needs a name, not {metric_name!r}")
        if not hasattr(measurable, "measure"):
            raise ValueError(f"a metric needs something to measure, not {measurable!r}")
        self._metric_name = metric_name
        self._measurable = measurable
        self._config = config

    @property
    def metric_name(self) -> MetricName:
        """The name."""
        return self._metric_name

    @property
    def measurable(self) -> AbstractMeasurable:
        """The quantity."""
        return self._measurable

    @property
    def config(self) -> MetricConfig:
        """How it is worked out; may be replaced."""
        return self._config

    @config.setter
    def config(self, config: MetricConfig) -> None:
        self._config = config

    def value(self, time_ms: float | None = None) -> float:
        """The value at a time in milliseconds since the epoch; None: now.

        Arguments:
            time_ms: the time.
        """
        return self._measurable.measure(self._config, time.time() * 1000 if time_ms is None else time_ms)
